// A Telegraf bot as its documentation begins one: Telegram's address is the library's own.
import { get } from 'node:https';
import { text } from 'node:stream/consumers';
import { Telegraf } from 'telegraf';

const bot = new Telegraf(process.env.BOT_TOKEN);
bot.on('text', async (context) => {
  const { document } = await context.replyWithDocument({ source: Buffer.from('kept'), filename: 'kept.txt' });
  const link = await context.telegram.getFileLink(document.file_id);
  const file = await new Promise((resolve, reject) => get(link, resolve).on('error', reject));
  await context.reply(`read ${await text(file)}`);
});
bot.launch();
