"""The heartbeat of a Python process: its own asyncio loops write, every 20 ms, when they were last here.

The rig puts this file on PYTHONPATH and reads the pages; the process notices nothing. It prints nothing, keeps no loop
alive, and whatever goes wrong in it is kept from the program: then there is no page, which the rig reports. One page a
process, named by its id, for the first loop that runs; a forked child gets its own. Beside that one the main thread's
loop and every loop that listens have a page each, named by the process and the thread: other threads' loops may well
keep themselves waiting. Any loop that asyncio knows of is watched, uvloop's too. A `sitecustomize` that was there
before runs as if this one were not. The layout is told in harness/src/vitals/heartbeat/page.rs, and both ends must
change together.
"""


def _probe(folder):
    import mmap
    import os
    import struct
    import sys
    from _thread import get_ident, get_native_id
    from time import monotonic_ns

    tick = 0.020
    # A gap this long between two beats is kept: 50 ms beyond the middle of a tick.
    kept_ns = 60_000_000
    ring = 16
    # Seconds after a beat from which on the loop is taken to stall.
    stack_after = 0.2
    head, gap = struct.Struct("=8sQIIQQQQQQQQQ"), struct.Struct("=QQQQ")
    hello, beating, calm = 1, 2, 3
    # A word of the page has room for so many.
    most_ports = 4
    magic = b"FHEART01"

    class Page:
        """A page is mapped, since a program that becomes a daemon closes files it does not know."""

        def __init__(self, name):
            self.pid = os.getpid()
            file = os.open(f"{folder}/{name}", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                # Room taken now cannot turn out to be missing at a write, which would be a signal.
                os.posix_fallocate(file, 0, mmap.PAGESIZE)
                self.map = mmap.mmap(file, mmap.PAGESIZE)
            finally:
                os.close(file)
            self.beats = self.gaps = self.run = self.wait = self.ports = 0
            self.state, self.thread, self.scheduled = hello, get_native_id(), None
            self.at = monotonic_ns()
            self.write()

        def write(self):
            self.beats += 1
            words = (self.beats, self.pid, self.state, int(tick * 1e9), self.at, self.run, self.wait, self.gaps)
            self.map[: head.size] = head.pack(magic, *words, self.thread, self.ports, int(tick * 1e9), self.beats)

        def begin(self):
            """A loop runs, in this thread."""
            self.thread = get_native_id()
            self.end_watch()
            try:
                # Nanoseconds that this thread has run, and has waited for a processor.
                self.scheduled = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                pass
            self.at, self.ports = monotonic_ns(), 0
            self.read_scheduled()
            self.state = beating
            self.write()

        def read_scheduled(self):
            if self.scheduled is not None:
                run, wait = os.pread(self.scheduled, 96, 0).split()[:2]
                self.run, self.wait = int(run), int(wait)

        def tick(self):
            since, run, wait = self.at, self.run, self.wait
            self.at = monotonic_ns()
            self.read_scheduled()
            if self.at - since > kept_ns:
                words = gap.pack(since, self.at, self.run - run, self.wait - wait)
                place = head.size + self.gaps % ring * gap.size
                self.map[place : place + gap.size] = words
                self.gaps += 1
            self.write()

        def rest(self):
            """The loop has ended: from now on silence is no stall."""
            self.state, self.ports = calm, 0
            self.write()
            self.end_watch()

        def serve(self, ports):
            """The loop listens on these."""
            before = [self.ports >> shift & 0xFFFF for shift in range(0, 16 * most_ports, 16)]
            words = enumerate(sorted({port for port in before + ports if port})[:most_ports])
            self.ports = sum(port << 16 * nth for nth, port in words)
            self.write()

        def end_watch(self):
            if self.scheduled is not None:
                os.close(self.scheduled)
                self.scheduled = None

    class Stacks:
        """Where the threads are when no beat comes: written by a thread that needs no interpreter lock."""

        def __init__(self, pid):
            import faulthandler

            self.faulthandler = faulthandler
            self.file = os.open(f"{folder}/{pid}.stack", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            self.inode = os.fstat(self.file).st_ino

        def arm(self):
            # A program that becomes a daemon may have closed the file and given its number to another.
            if os.fstat(self.file).st_ino == self.inode:
                self.faulthandler.dump_traceback_later(stack_after, file=self.file)

        def disarm(self):
            self.faulthandler.cancel_dump_traceback_later()

    class Heart:
        """Beats for one loop, in the loop's own thread."""

        def __init__(self, loop, page, stacks):
            self.loop, self.page, self.stacks = loop, page, stacks
            page.begin()
            self.timer = loop.call_later(tick, self.beat)

        def beat(self):
            try:
                if self.loop is not None:
                    self.page.tick()
                    self.timer = self.loop.call_later(tick, self.beat)
                    if self.stacks is not None:
                        self.stacks.arm()
            except Exception:
                pass

        def disarm(self):
            """Before a fork, whose child would wait for ever for a thread that it does not have."""
            if self.stacks is not None:
                self.stacks.disarm()

        def end(self):
            self.disarm()
            self.timer.cancel()
            self.loop = None
            self.page.rest()

    class Hearts:
        """Of the loops of this process, by thread."""

        def __init__(self):
            self.pid = os.getpid()
            self.first = Page(self.pid)
            # Whoever takes it out has it: threads may begin at the same instant.
            self.free = [self.first]
            self.beating = {}
            self.stacks = Stacks(self.pid) if os.environ.get("FLOODRIG_STACKS") else None

        def begin(self, loop):
            native = get_native_id()
            try:
                page = self.free.pop()
            except IndexError:
                page = Page(f"{self.pid}-{native}")
            # The last stack of a dump is the main thread's.
            self.beating[get_ident()] = Heart(loop, page, self.stacks if native == self.pid else None)

        def running(self, loop):
            thread = get_ident()
            if loop is None:
                heart = self.beating.pop(thread, None)
                if heart is not None:
                    heart.end()
                    if heart.page is self.first:
                        self.free.append(self.first)
            elif thread not in self.beating and (self.free or get_native_id() == self.pid):
                self.begin(loop)

        def serves(self, loop, server):
            """This thread's loop has begun to listen."""
            if get_ident() not in self.beating:
                self.begin(loop)
            names = [socket.getsockname() for socket in server.sockets]
            ports = [name[1] for name in names if isinstance(name, tuple)]
            self.beating[get_ident()].page.serve(ports)

        def forking(self):
            for heart in list(self.beating.values()):
                try:
                    heart.disarm()
                except Exception:
                    pass

        def forked(self):
            try:
                # The pages and the loops are the parent's.
                for heart in self.beating.values():
                    heart.page.end_watch()
                    heart.timer.cancel()
                self.__init__()
            except Exception:
                pass

    hearts = Hearts()
    os.register_at_fork(before=hearts.forking, after_in_child=hearts.forked)

    def look_at_servers(kind):
        """Of this kind of loop."""
        create = kind.create_server
        if getattr(create, "floodrig", False):
            return

        async def create_server(self, *words, **named):
            server = await create(self, *words, **named)
            try:
                hearts.serves(self, server)
            except Exception:
                pass
            return server

        create_server.floodrig = True
        kind.create_server = create_server

    def attach(asyncio):
        """uvloop takes the function from the package, asyncio's own loops from its module of events."""
        tell = asyncio.events._set_running_loop

        def _set_running_loop(loop):
            tell(loop)
            try:
                hearts.running(loop)
                if loop is not None:
                    look_at_servers(type(loop))
            except Exception:
                pass

        asyncio.events._set_running_loop = asyncio._set_running_loop = _set_running_loop
        look_at_servers(asyncio.base_events.BaseEventLoop)

    class Finder:
        """Waits for the program to import asyncio, which most programs never do."""

        @staticmethod
        def find_spec(name, path=None, target=None):
            if name != "asyncio" or Finder not in sys.meta_path:
                return None
            sys.meta_path.remove(Finder)
            found = (finder.find_spec(name, path, target) for finder in sys.meta_path)
            spec = next((spec for spec in found if spec is not None), None)
            if spec is None:
                return None
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                try:
                    attach(module)
                except Exception:
                    pass

            try:
                spec.loader.exec_module = exec_module
            except Exception:
                pass
            return spec

    if "asyncio" in sys.modules:
        attach(sys.modules["asyncio"])
    else:
        sys.meta_path.insert(0, Finder)


def _start():
    import os

    folder = os.environ.get("FLOODRIG_HEARTBEAT")
    if folder:
        try:
            _probe(folder)
        except Exception:
            # A probe must never be the reason why a program does not start.
            pass


_start()
