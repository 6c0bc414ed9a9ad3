// A bot on node-telegram-bot-api as its documentation begins one: Telegram's address is the library's own.
import { Bot, InputFile } from 'node-telegram-bot-api';

const token = process.env.BOT_TOKEN;
const bot = new Bot(token);
bot.on('message', async ({ update: { message } }) => {
  const chat_id = message.chat.id;
  const sent = await bot.api.sendDocument({ chat_id, document: new InputFile(Buffer.from('kept'), { filename: 'kept.txt' }) });
  const { file_path } = await bot.api.getFile({ file_id: sent.document.file_id });
  const file = await fetch(new URL(`/file/bot${token}/${file_path}`, 'https://api.telegram.org'));
  await bot.api.sendMessage({ chat_id, text: `read ${await file.text()}` });
});
await bot.startPolling();
