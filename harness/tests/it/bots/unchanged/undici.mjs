// A bot on undici alone: Telegram's address is written in.
import { FormData, Pool, fetch } from 'undici';

const token = process.env.BOT_TOKEN;
const telegram = new Pool('https://api.telegram.org');
const post = async (method, headers, body) => {
  const answer = await telegram.request({ path: `/bot${token}/${method}`, method: 'POST', headers, body });
  return (await answer.body.json()).result;
};
const call = (method, body) => post(method, { 'content-type': 'application/json' }, JSON.stringify(body));

let offset = 0;
for (;;) {
  for (const update of await call('getUpdates', { offset, timeout: 20 })) {
    offset = update.update_id + 1;
    const form = new FormData();
    form.append('chat_id', String(update.message.chat.id));
    form.append('document', new Blob(['kept']), 'kept.txt');
    const { document } = await post('sendDocument', {}, form);
    const { file_path } = await call('getFile', { file_id: document.file_id });
    const file = await fetch(`https://api.telegram.org/file/bot${token}/${file_path}`);
    await call('sendMessage', { chat_id: update.message.chat.id, text: `read ${await file.text()}` });
  }
}
