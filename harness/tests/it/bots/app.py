"""A Mini App in nothing but the standard library: what it is told over HTTP it says in the chat. It goes wrong as its
environment says; the pre-flight's message is the first and is not counted.

KEEP         so many messages are accepted and put aside; everything else is said before it is answered
ON_TERM      what SIGTERM does with those put aside: `drain` says them, `lose` does not
EXIT_MS      how long it then takes to exit
LEAK_MIB     memory taken at the first message, for ever, or for half a second with GIVE_BACK
HANDLES      files opened at the first message and never closed
BLOCK_AFTER  after so many messages nothing is answered any more
"""

import http.client
import http.server
import itertools
import json
import os
import signal
import threading
import time
from urllib.parse import urlsplit

ROOT = urlsplit(os.environ["TELEGRAM_API_ROOT"])
PATH = f"/bot{os.environ['BOT_TOKEN']}/"


def number(name):
    return int(os.environ.get(name, "0"))


KEEP, BLOCK_AFTER = number("KEEP"), number("BLOCK_AFTER")
put_aside, leaked = [], []
numbers = itertools.count(0)
one_at_a_time = threading.Lock()


def say(message):
    line = http.client.HTTPConnection(ROOT.hostname, ROOT.port)
    text = {"chat_id": message["chat"], "text": message["text"]}
    line.request("POST", PATH + "sendMessage", json.dumps(text), {"Content-Type": "application/json"})
    line.getresponse().read()
    line.close()


def go_wrong():
    if number("LEAK_MIB"):
        leaked.append(bytearray(os.urandom(1) * (number("LEAK_MIB") << 20)))
    if "GIVE_BACK" in os.environ:
        threading.Timer(0.5, leaked.clear).start()
    leaked.extend(open(__file__) for _ in range(number("HANDLES")))


class App(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        one_at_a_time.acquire()
        nth = next(numbers)
        if nth == 1:
            go_wrong()
        if 1 <= nth <= KEEP:
            put_aside.append(message)
        else:
            say(message)
        self.answer()
        if not BLOCK_AFTER or nth < BLOCK_AFTER:
            one_at_a_time.release()

    def do_GET(self):
        self.answer()

    def answer(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def terminate(*_):
    def end():
        if os.environ.get("ON_TERM") == "drain":
            for message in put_aside:
                say(message)
        time.sleep(number("EXIT_MS") / 1000)
        os._exit(0)

    threading.Thread(target=end).start()


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


signal.signal(signal.SIGTERM, terminate)
Server(("127.0.0.1", int(os.environ["PORT"])), App).serve_forever()
