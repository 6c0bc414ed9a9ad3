"""The same server on asyncio: /stall?ms=500&kind=computing (or blocked), /work, /pauses; everything else is `ok`."""

import asyncio
import os
import time
import urllib.parse


last = time.monotonic_ns()
pauses = []


def served():
    global last
    now = time.monotonic_ns()
    if now - last >= 25_000_000:
        pauses.extend((last, now))
    last = now


def compute(ms):
    until = time.monotonic_ns() + ms * 1_000_000
    while time.monotonic_ns() < until:
        pass


def stall(kind, ms):
    start, cpu = time.monotonic_ns(), time.process_time_ns()
    if kind == "blocked":
        time.sleep(ms / 1000)
    else:
        compute(ms)
    return f"{start} {time.monotonic_ns()} {time.process_time_ns() - cpu}"


async def serve(reader, writer):
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            url = urllib.parse.urlsplit(line.split()[1].decode())
            words = dict(urllib.parse.parse_qsl(url.query))
            served()
            said = "ok"
            if url.path == "/stall":
                said = stall(words["kind"], int(words["ms"]))
            elif url.path == "/work":
                compute(2)
            elif url.path == "/pauses":
                said = " ".join(map(str, pauses))
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(said)}\r\n\r\n{said}".encode())
            served()
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()


asyncio.run(main())
