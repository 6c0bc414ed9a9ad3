// grammY: `client.apiRoot` names the server.
import { autoRetry } from '@grammyjs/auto-retry';
import { apiThrottler } from '@grammyjs/transformer-throttler';
import { Bot, GrammyError, InputFile, webhookCallback } from 'grammy';

export function connect({ root, token, onText, onPress }) {
  const bot = new Bot(token, { client: { apiRoot: root } });
  bot.on('message:text', (context) => onText(context.message));
  bot.on('callback_query:data', (context) => onPress(context.callbackQuery));
  const call = (method, ...params) => bot.api.raw[method](...params);
  return {
    call,
    start: () => new Promise((onStart, failed) => bot.start({ onStart }).catch(failed)),
    stop: () => bot.stop(),
    hook: (path, secretToken) => webhookCallback(bot, 'http', { secretToken }),
    file: (bytes, name) => new InputFile(bytes, name),
    async download(file_id) {
      const { file_path } = await call('getFile', { file_id });
      return Buffer.from(await (await fetch(`${root}/file/bot${token}/${file_path}`)).arrayBuffer());
    },
    refusal(error) {
      if (!(error instanceof GrammyError)) return undefined;
      return { code: error.error_code, description: error.description, retryAfter: error.parameters.retry_after };
    },
    // The documented pair: the throttler alone has nothing to spare in the second minute.
    patient() {
      bot.api.config.use(autoRetry(), apiThrottler());
      return (params) => call('sendMessage', params);
    },
  };
}
