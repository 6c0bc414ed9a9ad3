"""python-telegram-bot: `base_url` and `base_file_url` of the builder name the server."""

from contextlib import asynccontextmanager
from functools import partial
from socket import create_server

from report import Refusal
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, InputFile, InputMediaPhoto
from telegram.error import BadRequest, RetryAfter, TelegramError
from telegram.ext import AIORateLimiter, ApplicationBuilder, CallbackQueryHandler, MessageHandler, filters


class Client:
    def __init__(self, root, token, on_text=None, on_press=None):
        self.builder = ApplicationBuilder().token(token).base_url(f"{root}/bot").base_file_url(f"{root}/file/bot")
        self.app = self.builder.build()

        async def message(update, _context):
            on_text(update.message)

        async def callback_query(update, _context):
            on_press(update.callback_query)

        self.app.add_handler(MessageHandler(filters.TEXT, message))
        self.app.add_handler(CallbackQueryHandler(callback_query))

    async def call(self, method, **params):
        return await getattr(self.app.bot, method)(**params)

    async def start(self):
        await self.app.initialize()
        await self.app.updater.start_polling()
        await self.app.start()

    async def stop(self):
        await self.app.updater.stop()

    @asynccontextmanager
    async def webhook(self, path, secret, certificates=None):
        port = free_port()
        start = partial(self.app.updater.start_webhook, "127.0.0.1", port, path, secret_token=secret)
        if certificates is None:
            url = f"http://127.0.0.1:{port}/{path}"
            await start(webhook_url=url)
        else:
            # Without an address of its own it makes one, which is https when there is a certificate.
            url = f"https://127.0.0.1:{port}/{path}"
            await start(cert=certificates / "cert.pem", key=certificates / "key.pem")
        yield url
        await self.app.updater.stop()

    @staticmethod
    def keyboard(text, data):
        return InlineKeyboardMarkup([[InlineKeyboardButton(text, callback_data=data)]])

    @staticmethod
    def file(content, name):
        return InputFile(content, name)

    @staticmethod
    def photo(media, caption):
        return InputMediaPhoto(media, caption=caption)

    def document(self, content, name):
        return {"document": content, "filename": name}

    async def download(self, file_id):
        return bytes(await (await self.app.bot.get_file(file_id)).download_as_bytearray())

    @staticmethod
    def refusal(error):
        if isinstance(error, RetryAfter):
            return Refusal(429, error.message, error.retry_after)
        if isinstance(error, BadRequest):
            return Refusal(400, error.message)
        return Refusal(0, error.message) if isinstance(error, TelegramError) else None

    async def patient(self):
        """Its limiter, told to try again: it is off by default."""
        app = self.builder.rate_limiter(AIORateLimiter(max_retries=5)).build()
        await app.initialize()
        return app.bot.send_message


def free_port():
    with create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
