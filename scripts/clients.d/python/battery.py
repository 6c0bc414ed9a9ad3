"""What every bot does, asked of one library of Python; `libraries/<name>.py` says how that one does it.

usage: ROOT=http://127.0.0.1:8081 PHOTO=one.png python battery.py LIBRARY BOT quick|limiter
       ROOT=https://127.0.0.1:8443 CERTIFICATES=DIR SSL_CERT_FILE=DIR/ca.pem REQUESTS_CA_BUNDLE=DIR/ca.pem ... secure
"""

import asyncio
import importlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from report import Report, Soon

library, bot, part = sys.argv[1:]
Client = importlib.import_module(f"libraries.{library}").Client
ROOT = os.environ["ROOT"]
TOKEN = f"{bot}:AAFakeTokenOfTheClientsBattery-0001"
SECRET = "only_the_stub_knows"
GROUP = -4001
CERTIFICATES = Path(os.environ.get("CERTIFICATES", "."))
PNG = Path(os.environ["PHOTO"]).read_bytes()

check = Report(library)
# A chat of its own for every check, so that none waits for another's ceiling.
chats = count(1001)


def post(url, body, headers=()):
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **dict(headers)})
    try:
        with urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


async def user(does, **what):
    status, says = await asyncio.to_thread(post, f"{ROOT}/_stub/bot{TOKEN}/{does}", what)
    assert status == 200, f"the stub refused to let a user {does}: {says}"


def equal(found, wanted):
    assert found == wanted, f"{found!r} instead of {wanted!r}"


async def refusal_of(client, call):
    try:
        await call
    except Exception as error:
        refusal = client.refusal(error)
        assert refusal, f"no typed error of the library: {error!r}"
        return refusal
    raise AssertionError("it was accepted")


class Checks:
    """The checks that share one client."""

    def __init__(self):
        self.texts, self.presses = Soon("text"), Soon("press")
        self.client = Client(ROOT, TOKEN, self.texts.came, self.presses.came)
        self.call = self.client.call

    async def writes(self, text):
        chat = next(chats)
        await user("message", chat_id=chat, user_id=chat, text=text)
        message = await self.texts.next()
        equal((message.text, message.chat.id, message.from_user.id), (text, chat, chat))

    async def long_polling(self):
        await self.writes("hello & <good> день 🎈")

    async def callback(self):
        chat = next(chats)
        markup = self.client.keyboard("Play", "play:1")
        sent = await self.call("send_message", chat_id=chat, text="a game", reply_markup=markup)
        await user("callback", chat_id=chat, user_id=chat, message_id=sent.message_id, data="play:1")
        query = await self.presses.next()
        equal((query.data, query.from_user.id, query.message.message_id), ("play:1", chat, sent.message_id))
        equal(await self.call("answer_callback_query", callback_query_id=query.id, text="seen"), True)

    async def webhook(self):
        async with self.client.webhook("hook", SECRET) as url:
            await self.writes("by webhook")
            status, _ = await asyncio.to_thread(post, url, {"update_id": 1})
            assert status >= 400, f"without the secret it answered {status}"
            equal((await self.call("get_webhook_info")).url, url)
        await self.call("delete_webhook")

    async def own_webhook(self):
        """Its own start-up makes the address https and uploads the certificate."""
        async with self.client.webhook("hook", SECRET, CERTIFICATES) as url:
            assert url.startswith("https://"), url
            await self.writes("by its own webhook")
            equal((await self.call("get_webhook_info")).has_custom_certificate, True)
        await self.call("delete_webhook")

    async def entities(self):
        text = '<b>bold</b> 🎈 <a href="https://example.com/">link</a> &amp; <code>code</code>'
        message = await self.call("send_message", chat_id=next(chats), text=text, parse_mode="HTML")
        equal(message.text, "bold 🎈 link & code")
        found = [(entity.type, entity.offset, entity.length) for entity in message.entities]
        equal(found, [("bold", 0, 4), ("text_link", 8, 4), ("code", 15, 4)])

    async def edit(self):
        chat = next(chats)
        sent = await self.call("send_message", chat_id=chat, text="one")
        where = {"chat_id": chat, "message_id": sent.message_id}
        edited = await self.call("edit_message_text", text="two", **where)
        equal((edited.text, edited.message_id), ("two", sent.message_id))
        assert edited.edit_date
        refusal = await refusal_of(self.client, self.call("edit_message_text", text="two", **where))
        equal(refusal.code, 400)
        assert "message is not modified: " in refusal.description.lower(), refusal.description

    async def photo(self):
        async def sent(photo):
            return (await self.call("send_photo", chat_id=next(chats), photo=photo)).photo[-1]

        first = await sent(self.client.file(PNG, "one.png"))
        equal((await sent(first.file_id)).file_unique_id, first.file_unique_id)
        assert (await sent("https://example.com/cat.jpg")).file_id

    async def album(self):
        media = [self.client.photo(self.client.file(PNG, name), caption=name) for name in ("one.png", "two.png")]
        album = await self.call("send_media_group", chat_id=next(chats), media=media)
        equal([message.caption for message in album], ["one.png", "two.png"])
        assert isinstance(album[0].media_group_id, str)
        equal(len({message.media_group_id for message in album}), 1)

    async def document(self):
        content, name = os.urandom(3 << 20), "my é report.bin"
        params = self.client.document(content, name)
        sent = await self.call("send_document", chat_id=next(chats), caption="день", **params)
        found = (sent.document.file_name, sent.document.file_size, sent.caption)
        equal(found, (name, len(content), "день"))
        assert await self.client.download(sent.document.file_id) == content, "other bytes came back"

    async def profile_photos(self):
        found = await self.call("get_user_profile_photos", user_id=next(chats))
        equal(found.total_count, 1)
        assert await self.client.download(found.photos[0][-1].file_id)


async def burst():
    # A bot of its own, so that what the other checks sent does not count.
    client = Client(ROOT, TOKEN.replace(bot, bot + "1"))
    sends = [client.call("send_message", chat_id=GROUP, text=f"{n}") for n in range(25)]
    results = await asyncio.gather(*sends, return_exceptions=True)
    refused = [result for result in results if isinstance(result, Exception)]
    equal(len(refused), 5)
    for error in refused:
        refusal = client.refusal(error)
        assert refusal and refusal.code == 429 and 1 <= refusal.retry_after <= 60, repr(error)


async def quick():
    checks = Checks()
    await check("start-up", checks.client.start())
    await check("long polling", checks.long_polling())
    await check("callback", checks.callback())
    await check("stop", checks.client.stop())
    await check("webhook with secret", checks.webhook())
    await check("text with entities", checks.entities())
    await check("edit", checks.edit())
    await check("photo by bytes, file_id and URL", checks.photo())
    await check("album", checks.album())
    await check("3 MB document there and back", checks.document())
    await check("profile photos", checks.profile_photos())
    await check("25 messages to a group at once", burst())


async def limiter():
    """The library's own rate limiter gets 40 messages at once where 20 a minute are allowed."""

    async def forty():
        send = await Client(ROOT, TOKEN).patient()
        sent = await asyncio.gather(*(send(chat_id=GROUP, text=f"{n}") for n in range(40)))
        equal(len({message.message_id for message in sent}), 40)

    await check("its rate limiter, 40 messages to a group", forty(), seconds=200)


async def secure():
    """The same stub by https, as a bot that was told nothing of http meets it."""
    checks = Checks()
    await check("start-up over https", checks.client.start())
    await check("long polling over https", checks.long_polling())
    await check("3 MB document there and back over https", checks.document())
    await check("stop over https", checks.client.stop())
    await check("its own webhook start-up, certificate uploaded", checks.own_webhook())


async def main():
    # Wide enough that a library without async sends everything at once.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(64))
    await {"quick": quick, "limiter": limiter, "secure": secure}[part]()
    sys.stdout.flush()
    # What a library leaves running is not waited for.
    os._exit(1 if check.failed else 0)


asyncio.run(main())
