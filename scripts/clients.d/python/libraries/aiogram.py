"""aiogram: the session's `TelegramAPIServer.from_base` names the server."""

import asyncio
import os
import ssl
from contextlib import asynccontextmanager

from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramAPIError, TelegramBadRequest, TelegramRetryAfter
from aiogram.types import BufferedInputFile, FSInputFile, InlineKeyboardButton, InlineKeyboardMarkup, InputMediaPhoto
from aiogram.webhook.aiohttp_server import SimpleRequestHandler
from aiohttp import web
from report import Refusal


class Client:
    def __init__(self, root, token, on_text=None, on_press=None):
        session = AiohttpSession(api=TelegramAPIServer.from_base(root))
        if authority := os.environ.get("SSL_CERT_FILE"):
            # It trusts certifi's roots whatever the environment says; this is the way in that it leaves.
            session._connector_init["ssl"] = ssl.create_default_context(cafile=authority)
        self.bot = Bot(token, session)
        self.dispatcher = Dispatcher()

        @self.dispatcher.message()
        async def message(message):
            on_text(message)

        @self.dispatcher.callback_query()
        async def callback_query(query):
            on_press(query)

    def call(self, method, **params):
        return getattr(self.bot, method)(**params)

    async def start(self):
        started = asyncio.Event()
        self.dispatcher.startup.register(lambda: started.set())
        polling = self.dispatcher.start_polling(self.bot, handle_signals=False, close_bot_session=False)
        self.polling = asyncio.create_task(polling)
        waiting = asyncio.create_task(started.wait())
        await asyncio.wait({waiting, self.polling}, return_when=asyncio.FIRST_COMPLETED)
        assert started.is_set(), self.polling.exception()

    async def stop(self):
        await self.dispatcher.stop_polling()
        await self.polling

    @asynccontextmanager
    async def webhook(self, path, secret, certificates=None):
        app = web.Application()
        SimpleRequestHandler(self.dispatcher, self.bot, secret_token=secret).register(app, f"/{path}")
        runner = web.AppRunner(app)
        await runner.setup()
        secured = certificates and ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        if secured:
            secured.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=secured)
        await site.start()
        url = f"{'https' if secured else 'http'}://127.0.0.1:{runner.addresses[0][1]}/{path}"
        uploaded = FSInputFile(certificates / "cert.pem") if secured else None
        await self.bot.set_webhook(url, certificate=uploaded, secret_token=secret)
        yield url
        await runner.cleanup()

    @staticmethod
    def keyboard(text, data):
        return InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text=text, callback_data=data)]])

    @staticmethod
    def file(content, name):
        return BufferedInputFile(content, name)

    @staticmethod
    def photo(media, caption):
        return InputMediaPhoto(media=media, caption=caption)

    def document(self, content, name):
        return {"document": self.file(content, name)}

    async def download(self, file_id):
        return (await self.bot.download(file_id)).read()

    @staticmethod
    def refusal(error):
        if isinstance(error, TelegramRetryAfter):
            return Refusal(429, error.message, error.retry_after)
        if isinstance(error, TelegramBadRequest):
            return Refusal(400, error.message)
        return Refusal(0, error.message) if isinstance(error, TelegramAPIError) else None

    async def patient(self):
        """It has no limiter; what its documentation shows is to wait as long as the error says."""

        async def send(**params):
            while True:
                try:
                    return await self.bot.send_message(**params)
                except TelegramRetryAfter as refusal:
                    await asyncio.sleep(refusal.retry_after)

        return send
