// A bot on axios alone, as many begin: Telegram's address is written in.
import axios from 'axios';

const token = process.env.BOT_TOKEN;
const telegram = axios.create({ baseURL: `https://api.telegram.org/bot${token}` });
const call = async (method, body) => (await telegram.post(method, body)).data.result;

let offset = 0;
for (;;) {
  for (const update of await call('/getUpdates', { offset, timeout: 20 })) {
    offset = update.update_id + 1;
    const form = new FormData();
    form.append('chat_id', String(update.message.chat.id));
    form.append('document', new Blob(['kept']), 'kept.txt');
    const { document } = await call('/sendDocument', form);
    const { file_path } = await call('/getFile', { file_id: document.file_id });
    const file = await axios.get(`https://api.telegram.org/file/bot${token}/${file_path}`, { responseType: 'text' });
    await call('/sendMessage', { chat_id: update.message.chat.id, text: `read ${file.data}` });
  }
}
