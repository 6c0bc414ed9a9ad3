"""What everybody else on the machine did meanwhile: CPU time of all tasks but some, from the kernel's own account."""
import glob


class Others:
    """For the length of a `with`; `ms` is there afterwards. Tasks that came or went meanwhile are not counted."""

    def __init__(self, *but):
        self.but = but

    def __enter__(self):
        self.before = self.read()
        return self

    def __exit__(self, *_):
        after = self.read()
        self.ms = sum(after[task] - self.before[task] for task in after.keys() & self.before.keys()) / 1e6

    def read(self):
        tasks = {}
        for path in glob.glob("/proc/[0-9]*/task/[0-9]*/schedstat"):
            if int(path.split("/")[2]) in self.but:
                continue
            try:
                with open(path, encoding="utf-8") as account:
                    tasks[path] = int(account.read().split()[0])
            except OSError:
                # It has ended.
                pass
        return tasks
