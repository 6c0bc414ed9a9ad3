// A grammY bot as its documentation begins one: Telegram's address is the library's own.
import { Bot, InputFile } from 'grammy';

const token = process.env.BOT_TOKEN;
const bot = new Bot(token);
bot.on('message:text', async (context) => {
  const { document } = await context.replyWithDocument(new InputFile(Buffer.from('kept'), 'kept.txt'));
  const { file_path } = await context.api.getFile(document.file_id);
  const file = await fetch(`https://api.telegram.org/file/bot${token}/${file_path}`);
  await context.reply(`read ${await file.text()}`);
});
bot.start();
