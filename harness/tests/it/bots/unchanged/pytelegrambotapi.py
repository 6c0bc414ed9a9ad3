"""A bot on pyTelegramBotAPI as its documentation begins one: Telegram's address is the library's own."""

import os
from urllib.request import urlopen

import telebot

token = os.environ["BOT_TOKEN"]
bot = telebot.TeleBot(token)


@bot.message_handler(func=lambda message: True)
def answer(message):
    sent = bot.send_document(message.chat.id, b"kept", visible_file_name="kept.txt")
    path = bot.get_file(sent.document.file_id).file_path
    with urlopen(f"https://api.telegram.org/file/bot{token}/{path}") as file:
        bot.send_message(message.chat.id, f"read {file.read().decode()}")


bot.infinity_polling()
