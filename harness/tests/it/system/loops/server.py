"""The same server on asyncio: POST /stall?ms=500&kind=computing (or blocked) is obeyed, everything else is `ok`."""

import asyncio
import os
import time
import urllib.parse


def stall(kind, ms):
    start, cpu = time.monotonic_ns(), time.process_time_ns()
    if kind == "blocked":
        time.sleep(ms / 1000)
    else:
        while time.monotonic_ns() < start + ms * 1_000_000:
            pass
    return f"{start} {time.monotonic_ns()} {time.process_time_ns() - cpu}"


async def serve(reader, writer):
    try:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            url = urllib.parse.urlsplit(line.split()[1].decode())
            words = dict(urllib.parse.parse_qsl(url.query))
            said = stall(words["kind"], int(words["ms"])) if url.path == "/stall" else "ok"
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(said)}\r\n\r\n{said}".encode())
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()


asyncio.run(main())
