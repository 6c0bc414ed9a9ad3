// telegraf: `telegram.apiRoot` names the server.
import { Telegraf, TelegramError } from 'telegraf';
import { telegrafThrottler } from 'telegraf-throttler';

// As it comes, its second minute begins 60 s after it was made, not after its first message, and nothing is tried
// again: now and then the 21st message is some milliseconds early, refused and lost. One more second mends that.
const group = {
  maxConcurrent: 1,
  minTime: 333,
  reservoir: 20,
  reservoirRefreshAmount: 20,
  reservoirRefreshInterval: 61_000,
};

export function connect({ root, token, onText, onPress }) {
  const bot = new Telegraf(token, { telegram: { apiRoot: root } });
  bot.on('text', (context) => onText(context.message));
  bot.on('callback_query', (context) => onPress(context.callbackQuery));
  return {
    call: (method, params = {}) => bot.telegram.callApi(method, params),
    start: () => new Promise((started, failed) => bot.launch(started).catch(failed)),
    stop: () => bot.stop(),
    // It makes its address https whatever it is told, and serves that itself when it has a key.
    launch: ({ port, path, secret: secretToken, cert, key }) =>
      bot.launch({
        webhook: {
          domain: `127.0.0.1:${port}`,
          port,
          host: '127.0.0.1',
          path,
          secretToken,
          tlsOptions: { cert, key },
          certificate: { source: cert },
        },
      }),
    hook: (path, secretToken) => bot.webhookCallback(path, { secretToken }),
    file: (source, filename) => ({ source, filename }),
    async download(file_id) {
      return Buffer.from(await (await fetch(await bot.telegram.getFileLink(file_id))).arrayBuffer());
    },
    refusal(error) {
      if (!(error instanceof TelegramError)) return undefined;
      return { code: error.code, description: error.description, retryAfter: error.parameters?.retry_after };
    },
    // It is a middleware, so it holds for what is sent while an update is handled.
    patient: () =>
      new Promise((ready) => {
        const throttled = new Telegraf(token, { telegram: { apiRoot: root } });
        throttled.use(telegrafThrottler({ group }), ({ telegram }) => ready((params) => telegram.callApi('sendMessage', params)));
        throttled.botInfo = { id: Number.parseInt(token, 10), is_bot: true, first_name: 'bot', username: 'bot' };
        const from = { id: 1, is_bot: false, first_name: 'user' };
        throttled.handleUpdate({ update_id: 1, message: { message_id: 1, date: 1, from, chat: { id: 1, type: 'private' } } });
      }),
  };
}
