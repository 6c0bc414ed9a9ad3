

# The end of each `sitecustomize` of the rig.

def _next():
    """The `sitecustomize` that would have run without this one."""
    import sys

    import _frozen_importlib
    import _frozen_importlib_external

    own = __file__.rpartition("/")[0]
    sys.path[:] = [folder for folder in sys.path if folder != own]
    spec = _frozen_importlib_external.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None:
        return
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_next()
