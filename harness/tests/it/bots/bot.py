"""A bot in nothing but the standard library. It polls, or takes a webhook on PORT, and does as its environment says.

AFTER_MS      how long after an update it answers
SILENT_EVERY  every so many updates it does not answer at all
TALKATIVE     a second message follows every answer
EDITS         it edits the message of a tap once it has answered the tap
REFUSES_FROM  from this update on its webhook answers 500
"""

import http.client
import http.server
import itertools
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

ROOT = urlsplit(os.environ["TELEGRAM_API_ROOT"])
PATH = f"/bot{os.environ['BOT_TOKEN']}/"
AFTER = int(os.environ.get("AFTER_MS", "0")) / 1000
SILENT_EVERY = int(os.environ.get("SILENT_EVERY", "0"))
REFUSES_FROM = int(os.environ.get("REFUSES_FROM", "0"))
KEYBOARD = {"inline_keyboard": [[{"text": "Play", "callback_data": "play"}]]}

kept = threading.local()
numbers = itertools.count(1)
opened = itertools.count(1)
workers = ThreadPoolExecutor(64)


def call(method, **params):
    """A refusal that names its wait is waited out, as a well-behaved bot does."""
    while True:
        if not hasattr(kept, "line"):
            kept.line = http.client.HTTPConnection(ROOT.hostname, ROOT.port)
        kept.line.request("POST", PATH + method, json.dumps(params), {"Content-Type": "application/json"})
        answer = json.loads(kept.line.getresponse().read())
        wait = answer.get("parameters", {}).get("retry_after")
        if wait is None:
            return answer.get("result")
        time.sleep(wait)


def answer(update, number, came):
    if SILENT_EVERY and number % SILENT_EVERY == 0:
        return
    time.sleep(max(0, came + AFTER - time.monotonic()))
    query = update.get("callback_query")
    if query:
        call("answerCallbackQuery", callback_query_id=query["id"], text="go")
        if "EDITS" in os.environ:
            shown = query["message"]
            of = {"chat_id": shown["chat"]["id"], "message_id": shown["message_id"]}
            call("editMessageText", **of, text=f"round {number}", reply_markup=KEYBOARD)
        return
    message = update["message"]
    chat, text = message["chat"]["id"], message["text"]
    if text == "/start":
        call("sendMessage", chat_id=chat, text="Welcome", reply_markup=KEYBOARD)
    else:
        reply = {"message_id": message["message_id"]}
        call("sendMessage", chat_id=chat, text=f"you said {text}", reply_parameters=reply)
    if "TALKATIVE" in os.environ:
        call("sendMessage", chat_id=chat, text="what else?")


def take(update):
    number = next(numbers)
    if REFUSES_FROM and number >= REFUSES_FROM:
        return False
    workers.submit(answer, update, number, time.monotonic())
    return True


class Webhook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        update = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200 if take(update) else 500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self):
        """The Mini App beside the bot: every seventh request finds it busy."""
        status = 503 if next(opened) % 7 == 0 else 200
        page = json.dumps({"greeting": "hello"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


def hook():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Webhook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    call("setWebhook", url=f"http://127.0.0.1:{os.environ['PORT']}/")
    threading.Event().wait()


def poll():
    offset = 0
    while True:
        for update in call("getUpdates", offset=offset, timeout=30):
            offset = update["update_id"] + 1
            take(update)


if os.environ.get("MODE") == "idle":
    threading.Event().wait()
elif os.environ.get("MODE") == "webhook":
    hook()
else:
    poll()
