"""One line per check, and waiting that ends."""

import asyncio
import time
from dataclasses import dataclass


@dataclass
class Refusal:
    """What a library's typed error says."""

    code: int
    description: str
    retry_after: int | None = None


class Report:
    """Prints `ok` or `FAILED` and why, and remembers a failure."""

    def __init__(self, library):
        self.library, self.failed = library, False

    async def __call__(self, name, run, seconds=30):
        line, begun = f"{self.library:<22} {name}", time.monotonic()
        try:
            await asyncio.wait_for(run, seconds)
        except Exception as error:
            self.failed = True
            print(f"FAILED  {line}: {type(error).__name__} {error}".replace("\n", " "), flush=True)
        else:
            print(f"ok      {line} ({(time.monotonic() - begun) * 1000:.0f} ms)", flush=True)


class Soon:
    """What comes later, in order. `came` may be called from any thread."""

    def __init__(self, what):
        self.what, self.here, self.loop = what, asyncio.Queue(), asyncio.get_running_loop()

    def came(self, value):
        self.loop.call_soon_threadsafe(self.here.put_nowait, value)

    async def next(self):
        try:
            return await asyncio.wait_for(self.here.get(), 10)
        except TimeoutError:
            raise AssertionError(f"no {self.what} within 10 s") from None
