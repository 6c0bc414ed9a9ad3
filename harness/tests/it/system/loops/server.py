"""The same server on asyncio: /stall?ms=500&kind=computing (or blocked), /work, /pauses, /leak?bytes=10000000,
/handles?n=100; everything else is `ok`, or is left without an answer where MUTE is set.

LOOPS says which thread answers: "elsewhere" a second one with a loop of its own, "unseen" one that needs none, both
beside a loop in the main thread; "accept" and "poll" such a one too, beside a loop that answers on the same port; "behind" the main one, in which a loop came later than in another. With "pool"
/compute?ms=500 keeps a second loop waiting, and with "twice" the loop that answers is the second of the main thread.
"""

import asyncio
import http.server
import os
import socket
import threading
import time
import urllib.parse


last = time.monotonic_ns()
pauses = []
kept = []


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
            elif url.path == "/leak":
                kept.append(b"x" * int(words["bytes"]))
            elif url.path == "/handles":
                kept.extend(os.dup(0) for _ in range(int(words["n"])))
            elif url.path == "/compute":
                said = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(wait(int(words["ms"])), pool))
            elif "MUTE" in os.environ:
                served()
                continue
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(said)}\r\n\r\n{said}".encode())
            served()
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def main():
    if loops == "pool":
        beside(pool.run_forever)
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]), reuse_port=True)
    await server.serve_forever()


async def wait(ms):
    time.sleep(ms / 1000)
    return "ok"


class Unseen(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        words = dict(urllib.parse.parse_qsl(url.query))
        said = stall(words["kind"], int(words["ms"])) if url.path == "/stall" else "ok"
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said.encode())

    do_GET = do_POST

    def log_message(self, *_):
        pass


def answer_too(loops, begun):
    address = ("127.0.0.1", int(os.environ["PORT"]))
    server = http.server.HTTPServer(address, Unseen, bind_and_activate=False)
    server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    server.server_bind()
    server.server_activate()
    begun.set()
    while loops == "accept":
        server._handle_request_noblock()
    server.serve_forever()


def beside(other):
    threading.Thread(target=other, daemon=True).start()


def beside_first(other):
    begun = threading.Event()
    beside(lambda: other(begun))
    begun.wait()


async def rest(begun):
    begun.set()
    await asyncio.sleep(3600)


loops = os.environ.get("LOOPS")
if loops == "pool":
    pool = asyncio.new_event_loop()
if loops == "twice":
    asyncio.run(asyncio.sleep(0.1))
if loops == "elsewhere":
    beside(lambda: asyncio.run(main()))
    asyncio.run(asyncio.sleep(3600))
elif loops == "unseen":
    beside(http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Unseen).serve_forever)
    asyncio.run(asyncio.sleep(3600))
else:
    if loops in ("accept", "poll"):
        beside_first(lambda begun: answer_too(loops, begun))
    if loops == "behind":
        beside_first(lambda begun: asyncio.run(rest(begun)))
    asyncio.run(main())
