// node-telegram-bot-api 2: `apiRoot` names the server.
import { Api, Bot, InputFile, TelegramApiError } from 'node-telegram-bot-api';
import { createWebhookServer } from 'node-telegram-bot-api/node';

export function connect({ root, token, onText, onPress }) {
  // It retries by itself, and waits as long as it is told to; refusals are seen only without that.
  const bot = new Bot(token, { apiRoot: root, maxRetries: 0 });
  bot.on('message', (context) => onText(context.update.message));
  bot.on('callback_query', (context) => onPress(context.update.callback_query));
  let polling;
  const call = (method, ...params) => bot.api[method](...params);
  return {
    call,
    // It has no start sequence: the first call is getUpdates.
    start: () => void (polling = bot.startPolling()),
    async stop() {
      bot.stop();
      await polling;
    },
    hook: (path, secretToken) => createWebhookServer(bot, { path, secretToken }).listeners('request')[0],
    file: (bytes, filename) => new InputFile(bytes, { filename }),
    async download(file_id) {
      const { file_path } = await call('getFile', { file_id });
      return Buffer.from(await (await fetch(`${root}/file/bot${token}/${file_path}`)).arrayBuffer());
    },
    refusal(error) {
      if (!(error instanceof TelegramApiError)) return undefined;
      return { code: error.errorCode, description: error.description, retryAfter: error.retryAfter };
    },
    // What it does by default: two more tries, each after `retry_after`.
    patient() {
      const { api } = new Bot(token, { apiRoot: root });
      return (params) => api.sendMessage(params);
    },
  };
}
