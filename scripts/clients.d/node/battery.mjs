// What every bot does, asked of one library of Node; `libraries/<name>.mjs` says how that one does it.
//
// usage: ROOT=http://127.0.0.1:8081 PHOTO=one.png node battery.mjs LIBRARY BOT quick|limiter
//        ROOT=https://127.0.0.1:8443 CERTIFICATES=DIR NODE_EXTRA_CA_CERTS=DIR/ca.pem ... node battery.mjs LIBRARY BOT secure
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { ok, equal, deepEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { report, soon } from './report.mjs';

const [library, bot, part] = process.argv.slice(2);
const { connect } = await import(`./libraries/${library}.mjs`);
const root = process.env.ROOT;
const token = `${bot}:AAFakeTokenOfTheClientsBattery-0001`;
const secret = 'only_the_stub_knows';
const group = -4001;
const png = readFileSync(process.env.PHOTO);

const texts = soon('text');
const presses = soon('press');
const client = connect({ root, token, onText: texts.came, onPress: presses.came });
const check = report(library);
let nextChat = 1000;
// A chat of its own for every check, so that none waits for another's ceiling.
const chat = () => (nextChat += 1);

async function user(does, what) {
  const response = await fetch(`${root}/_stub/bot${token}/${does}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(what),
  });
  equal(response.status, 200, `the stub refused to let a user ${does}: ${await response.clone().text()}`);
}

async function writes(text) {
  const id = chat();
  await user('message', { chat_id: id, user_id: id, text });
  const message = await texts.next();
  deepEqual([message.text, message.chat.id, message.from.id], [text, id, id]);
}

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex');

async function refusalOf(promise) {
  try {
    await promise;
  } catch (error) {
    const refusal = client.refusal(error);
    ok(refusal, `no typed error of the library: ${error}`);
    return refusal;
  }
  throw new Error('it was accepted');
}

async function quick() {
  await check('start-up', () => client.start());
  await check('long polling', () => writes('hello & <good> день 🎈'));
  await check('callback', async () => {
    const id = chat();
    const reply_markup = { inline_keyboard: [[{ text: 'Play', callback_data: 'play:1' }]] };
    const { message_id } = await client.call('sendMessage', { chat_id: id, text: 'a game', reply_markup });
    await user('callback', { chat_id: id, user_id: id, message_id, data: 'play:1' });
    const query = await presses.next();
    deepEqual([query.data, query.from.id, query.message.message_id], ['play:1', id, message_id]);
    const answered = await client.call('answerCallbackQuery', { callback_query_id: query.id, text: 'seen' });
    equal(answered, true);
  });
  await check('stop', () => client.stop());
  await check('webhook with secret', webhook);
  await check('text with entities', async () => {
    const text = '<b>bold</b> 🎈 <a href="https://example.com/">link</a> &amp; <code>code</code>';
    const message = await client.call('sendMessage', { chat_id: chat(), text, parse_mode: 'HTML' });
    equal(message.text, 'bold 🎈 link & code');
    const entities = message.entities.map(({ type, offset, length }) => [type, offset, length]);
    deepEqual(entities, [['bold', 0, 4], ['text_link', 8, 4], ['code', 15, 4]]);
  });
  await check('edit', async () => {
    const { chat: { id: chat_id }, message_id } = await client.call('sendMessage', { chat_id: chat(), text: 'one' });
    const edited = await client.call('editMessageText', { chat_id, message_id, text: 'two' });
    deepEqual([edited.text, edited.message_id], ['two', message_id]);
    ok(edited.edit_date > 0);
    const refusal = await refusalOf(client.call('editMessageText', { chat_id, message_id, text: 'two' }));
    equal(refusal.code, 400);
    ok(refusal.description.startsWith('Bad Request: message is not modified: '), refusal.description);
  });
  await check('photo by bytes, file_id and URL', async () => {
    const photo = async (photo) => (await client.call('sendPhoto', { chat_id: chat(), photo })).photo.at(-1);
    const sent = await photo(client.file(png, 'one.png'));
    const again = await photo(sent.file_id);
    equal(again.file_unique_id, sent.file_unique_id);
    ok((await photo('https://example.com/cat.jpg')).file_id);
  });
  await check('album', async () => {
    const media = ['one.png', 'two.png'].map((name) => ({ type: 'photo', media: client.file(png, name), caption: name }));
    const album = await client.call('sendMediaGroup', { chat_id: chat(), media });
    deepEqual(album.map((message) => message.caption), ['one.png', 'two.png']);
    equal(typeof album[0].media_group_id, 'string');
    equal(new Set(album.map((message) => message.media_group_id)).size, 1);
  });
  await check('3 MB document there and back', document);
  await check('profile photos', async () => {
    const { total_count, photos } = await client.call('getUserProfilePhotos', { user_id: chat() });
    equal(total_count, 1);
    ok((await client.download(photos[0].at(-1).file_id)).length > 0);
  });
  await check('25 messages to a group at once', async () => {
    // A bot of its own, so that what the other checks sent does not count.
    const client = connect({ root, token: token.replace(bot, `${bot}1`) });
    const sends = Array.from({ length: 25 }, (_, n) => client.call('sendMessage', { chat_id: group, text: `${n}` }));
    const refused = (await Promise.allSettled(sends)).filter((sent) => sent.status === 'rejected');
    equal(refused.length, 5, `${refused.length} of 25 were refused`);
    for (const refusal of refused.map(({ reason }) => client.refusal(reason))) {
      equal(refusal?.code, 429);
      ok(Number.isInteger(refusal.retryAfter) && refusal.retryAfter >= 1 && refusal.retryAfter <= 60, refusal);
    }
  });
}

async function document() {
  const bytes = randomBytes(3 << 20);
  const name = 'my é report.bin';
  const params = { chat_id: chat(), document: client.file(bytes, name), caption: 'день' };
  const { document, caption } = await client.call('sendDocument', params);
  deepEqual([document.file_name, document.file_size, caption], [name, bytes.length, 'день']);
  equal(digest(await client.download(document.file_id)), digest(bytes));
}

async function webhook() {
  const server = createServer(client.hook('/hook', secret)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await hooked(server, `http://127.0.0.1:${server.address().port}/hook`);
}

// The bot's own server shows a certificate of the stub's authority, so that none needs to be uploaded.
async function secureWebhook() {
  const server = createSecureServer(certificate(), client.hook('/hook', secret)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await hooked(server, `https://localhost:${server.address().port}/hook`);
}

async function hooked(server, url) {
  try {
    await client.call('setWebhook', { url, secret_token: secret });
    await writes('by webhook');
    const forged = await fetch(url, { method: 'POST', body: '{"update_id":1}' });
    ok(forged.status >= 400, `without the secret it answered ${forged.status}`);
    equal((await client.call('getWebhookInfo')).url, url);
  } finally {
    await client.call('deleteWebhook');
    server.closeAllConnections();
    server.close();
  }
}

function certificate() {
  const read = (name) => readFileSync(join(process.env.CERTIFICATES, name));
  return { cert: read('cert.pem'), key: read('key.pem') };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

// The same stub by https, as a bot that was told nothing of http meets it.
async function secure() {
  await check('start-up over https', () => client.start());
  await check('long polling over https', () => writes('hello'));
  await check('3 MB document there and back over https', document);
  await check('stop over https', () => client.stop());
  await check('webhook with secret over https', secureWebhook);
  if (!client.launch) return;
  await check('its own webhook start-up, certificate uploaded', async () => {
    // A bot may set its webhook once a second, and has just set one.
    await sleep(1000);
    await client.launch({ port: await freePort(), path: '/hook', secret, ...certificate() });
    await writes('by its own webhook');
    equal((await client.call('getWebhookInfo')).has_custom_certificate, true);
    await client.call('deleteWebhook');
  });
}

// The library's own rate limiter gets 40 messages at once where 20 a minute are allowed.
async function limiter() {
  await check('its rate limiter, 40 messages to a group', async () => {
    const send = await client.patient();
    const sends = Array.from({ length: 40 }, (_, n) => send({ chat_id: group, text: `${n}` }));
    const sent = await Promise.all(sends);
    equal(new Set(sent.map(({ message_id }) => message_id)).size, 40);
  }, 200);
}

await { quick, limiter, secure }[part]();
// What a library leaves running is not waited for.
process.exit(process.exitCode ?? 0);
