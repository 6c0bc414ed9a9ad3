"""An aiogram bot as its documentation begins one: Telegram's address is the library's own."""

import asyncio
import os

from aiogram import Bot, Dispatcher
from aiogram.types import BufferedInputFile

dispatcher = Dispatcher()


@dispatcher.message()
async def answer(message):
    sent = await message.answer_document(BufferedInputFile(b"kept", "kept.txt"))
    file = await message.bot.download(sent.document)
    await message.answer(f"read {file.read().decode()}")


asyncio.run(dispatcher.start_polling(Bot(os.environ["BOT_TOKEN"])))
