"""pyTelegramBotAPI: `apihelper.API_URL` and `apihelper.FILE_URL` name the server for all bots of the process."""

import asyncio
import io
from contextlib import asynccontextmanager
from functools import partial
from socket import create_connection, create_server
from threading import Thread

from report import Refusal
from telebot import TeleBot, apihelper, types
from telebot.apihelper import ApiTelegramException
from telebot.util import antiflood


class Client:
    def __init__(self, root, token, on_text=None, on_press=None):
        apihelper.API_URL = root + "/bot{0}/{1}"
        apihelper.FILE_URL = root + "/file/bot{0}/{1}"
        self.bot = TeleBot(token)
        self.bot.message_handler(content_types=["text"])(lambda message: on_text(message))
        self.bot.callback_query_handler(func=lambda _query: True)(lambda query: on_press(query))

    def call(self, method, **params):
        return asyncio.to_thread(getattr(self.bot, method), **params)

    async def start(self):
        """It has no start sequence that could be waited for: the first text shows that it polls."""
        polling = partial(self.bot.infinity_polling, long_polling_timeout=3)
        self.polling = Thread(target=polling, daemon=True)
        self.polling.start()

    async def stop(self):
        self.bot.stop_polling()
        await asyncio.to_thread(self.polling.join)

    @asynccontextmanager
    async def webhook(self, path, secret, certificates=None):
        port = free_port()
        serve = partial(self.bot.run_webhooks, port=port, url_path=path, secret_token=secret)
        if certificates is not None:
            pair = {"certificate": certificates / "cert.pem", "certificate_key": certificates / "key.pem"}
            serve = partial(serve, **{name: str(file) for name, file in pair.items()})
        # It serves until the process ends.
        Thread(target=serve, daemon=True).start()
        await listening(port)
        yield f"{'http' if certificates is None else 'https'}://127.0.0.1:{port}/{path}/"

    @staticmethod
    def keyboard(text, data):
        return types.InlineKeyboardMarkup([[types.InlineKeyboardButton(text, callback_data=data)]])

    @staticmethod
    def file(content, name):
        return types.InputFile(io.BytesIO(content), name)

    @staticmethod
    def photo(media, caption):
        return types.InputMediaPhoto(media, caption=caption)

    def document(self, content, name):
        return {"document": content, "visible_file_name": name}

    async def download(self, file_id):
        file = await self.call("get_file", file_id=file_id)
        return await self.call("download_file", file_path=file.file_path)

    @staticmethod
    def refusal(error):
        if not isinstance(error, ApiTelegramException):
            return None
        retry_after = error.result_json.get("parameters", {}).get("retry_after")
        return Refusal(error.error_code, error.description, retry_after)

    async def patient(self):
        return partial(asyncio.to_thread, antiflood, self.bot.send_message)


def free_port():
    with create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


async def listening(port):
    while True:
        try:
            create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            await asyncio.sleep(0.02)
