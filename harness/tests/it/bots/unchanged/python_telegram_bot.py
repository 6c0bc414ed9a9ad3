"""A bot on python-telegram-bot as its documentation begins one: Telegram's address is the library's own."""

import os

from telegram.ext import ApplicationBuilder, MessageHandler, filters


async def answer(update, context):
    sent = await update.message.reply_document(b"kept", filename="kept.txt")
    file = await sent.document.get_file()
    await update.message.reply_text(f"read {(await file.download_as_bytearray()).decode()}")


app = ApplicationBuilder().token(os.environ["BOT_TOKEN"]).build()
app.add_handler(MessageHandler(filters.TEXT, answer))
app.run_polling()
