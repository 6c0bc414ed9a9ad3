//! What every bot does, asked of teloxide.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use serde_json::json;
use teloxide::adaptors::throttle::Limits;
use teloxide::net::Download;
use teloxide::prelude::*;
use teloxide::requests::RequesterExt;
use teloxide::types::{
    FileId, InlineKeyboardButton, InlineKeyboardMarkup, InputFile, InputMedia, InputMediaPhoto, MessageEntityKind,
    ParseMode,
};
use teloxide::update_listeners::webhooks;
use teloxide::{ApiError, RequestError};
use tokio::task::JoinSet;

use crate::report::{Checked, equal, says, that};
use crate::running::Running;
use crate::user::{Users, post};

const GROUP: ChatId = ChatId(-4001);
const SECRET: &str = "only_the_stub_knows";
const PNG: &[u8] = include_bytes!("../../one.png");

/// It panics when an answer of its start sequence has another shape than it knows.
pub async fn start_up(bot: &Bot, running: &Running) -> Checked {
    that(bot.get_me().await.map_err(says)?.is_bot, "getMe is no bot")?;
    that(running.goes_on(), "the dispatcher ended")
}

pub async fn long_polling(users: &Users, running: &mut Running) -> Checked {
    let (chat, text) = (1001, "hello & <good> день 🎈");
    users.write(chat, text).await?;
    let message = running.texts.recv().await.ok_or("the dispatcher ended")?;
    equal((message.text(), message.chat.id.0), (Some(text), chat))
}

pub async fn callback(bot: &Bot, users: &Users, running: &mut Running) -> Checked {
    let chat = ChatId(1002);
    let keyboard = InlineKeyboardMarkup::new([[InlineKeyboardButton::callback("Play", "play:1")]]);
    let sent = bot.send_message(chat, "a game").reply_markup(keyboard).await.map_err(says)?;
    users.press(chat.0, sent.id.0, "play:1").await?;
    let query = running.presses.recv().await.ok_or("the dispatcher ended")?;
    let message = query.message.as_ref().map(|message| message.id());
    equal((query.data.as_deref(), message), (Some("play:1"), Some(sent.id)))?;
    bot.answer_callback_query(query.id).text("seen").await.map(drop).map_err(says)
}

pub async fn webhook(bot: &Bot, users: &Users) -> Checked {
    let port = free_port()?;
    let url = format!("http://127.0.0.1:{port}/hook");
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let options = webhooks::Options::new(address, url.parse().map_err(says)?).secret_token(SECRET.to_owned());
    let listener = webhooks::axum(bot.clone(), options).await.map_err(says)?;
    let mut running = Running::listening(bot, listener);
    users.write(1003, "by webhook").await?;
    let message = running.texts.recv().await.ok_or("the dispatcher ended")?;
    equal(message.text(), Some("by webhook"))?;
    let forged = post(&url, json!({ "update_id": 1 })).await?;
    that(forged >= 400, format!("without the secret it answered {forged}"))?;
    let told = bot.get_webhook_info().await.map_err(says)?.url;
    equal(told.map(String::from), Some(url))?;
    running.stop().await
}

pub async fn entities(bot: &Bot) -> Checked {
    let text = r#"<b>bold</b> 🎈 <a href="https://example.com/">link</a> &amp; <code>code</code>"#;
    let message = bot.send_message(ChatId(1004), text).parse_mode(ParseMode::Html).await.map_err(says)?;
    equal(message.text(), Some("bold 🎈 link & code"))?;
    let entities = message.entities().unwrap_or_default();
    let found: Vec<_> = entities.iter().map(|entity| (&entity.kind, entity.offset, entity.length)).collect();
    let link = MessageEntityKind::TextLink { url: "https://example.com/".parse().map_err(says)? };
    equal(found, vec![(&MessageEntityKind::Bold, 0, 4), (&link, 8, 4), (&MessageEntityKind::Code, 15, 4)])
}

pub async fn edit(bot: &Bot) -> Checked {
    let sent = bot.send_message(ChatId(1005), "one").await.map_err(says)?;
    let edit = || bot.edit_message_text(sent.chat.id, sent.id, "two");
    let edited = edit().await.map_err(says)?;
    equal((edited.text(), edited.id), (Some("two"), sent.id))?;
    that(edited.edit_date().is_some(), "no date of the edit")?;
    let again = edit().await;
    let typed = matches!(again, Err(RequestError::Api(ApiError::MessageNotModified)));
    that(typed, format!("{again:?} instead of its MessageNotModified"))
}

pub async fn photo(bot: &Bot) -> Checked {
    let first = sent_photo(bot, 1006, png("one.png")).await?;
    let again = sent_photo(bot, 1007, InputFile::file_id(first.id)).await?;
    equal(again.unique_id, first.unique_id)?;
    let url = "https://example.com/cat.jpg".parse().map_err(says)?;
    sent_photo(bot, 1008, InputFile::url(url)).await.map(drop)
}

async fn sent_photo(bot: &Bot, chat: i64, photo: InputFile) -> Result<teloxide::types::FileMeta, String> {
    let message = bot.send_photo(ChatId(chat), photo).await.map_err(says)?;
    let largest = message.photo().and_then(<[_]>::last).ok_or("no photo in the answer")?;
    Ok(largest.file.clone())
}

pub async fn album(bot: &Bot) -> Checked {
    let names = ["one.png", "two.png"];
    let media = names.map(|name| InputMedia::Photo(InputMediaPhoto::new(png(name)).caption(name)));
    let album = bot.send_media_group(ChatId(1009), media).await.map_err(says)?;
    let captions: Vec<_> = album.iter().map(Message::caption).collect();
    equal(captions, names.map(Some).to_vec())?;
    let groups: BTreeSet<_> = album.iter().map(|message| message.media_group_id().map(|id| &id.0)).collect();
    that(groups.len() == 1 && !groups.contains(&None), format!("{groups:?} is no one group"))
}

pub async fn document(bot: &Bot) -> Checked {
    let bytes: Vec<u8> = (0_u32..3 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let name = "my é report.bin";
    let file = InputFile::memory(bytes.clone()).file_name(name);
    let message = bot.send_document(ChatId(1010), file).caption("день").await.map_err(says)?;
    let document = message.document().ok_or("no document in the answer")?;
    equal((document.file_name.as_deref(), document.file.size as usize), (Some(name), bytes.len()))?;
    equal(message.caption(), Some("день"))?;
    that(download(bot, document.file.id.clone()).await? == bytes, "other bytes came back")
}

async fn download(bot: &Bot, id: FileId) -> Result<Vec<u8>, String> {
    let file = bot.get_file(id).await.map_err(says)?;
    let mut bytes = Vec::new();
    bot.download_file(&file.path, &mut bytes).await.map_err(says)?;
    Ok(bytes)
}

pub async fn profile_photos(bot: &Bot) -> Checked {
    let found = bot.get_user_profile_photos(UserId(1011)).await.map_err(says)?;
    equal(found.total_count, 1)?;
    let largest = found.photos.first().and_then(|sizes| sizes.last()).ok_or("no photo")?;
    that(!download(bot, largest.file.id.clone()).await?.is_empty(), "an empty photo")
}

pub async fn burst(bot: Bot) -> Checked {
    let refused: Vec<_> = sent_at_once(bot, 25).await.into_iter().filter_map(Result::err).collect();
    equal(refused.len(), 5)?;
    let stray = refused
        .iter()
        .find(|error| !matches!(error, RequestError::RetryAfter(wait) if (1..=60).contains(&wait.seconds())));
    that(stray.is_none(), format!("{stray:?} instead of its RetryAfter"))
}

/// Its throttle gets 40 messages at once where 20 a minute are allowed.
pub async fn limiter(bot: Bot) -> Checked {
    let sent = sent_at_once(bot.throttle(Limits::default()), 40).await;
    let ids = sent.into_iter().map(|sent| sent.map(|message| message.id.0)).collect::<Result<BTreeSet<_>, _>>();
    equal(ids.map_err(says)?.len(), 40)
}

async fn sent_at_once<B>(bot: B, count: u32) -> Vec<Result<Message, B::Err>>
where
    B: Requester<Err: Send> + Clone + Send + Sync + 'static,
    B::SendMessage: Send,
    <B::SendMessage as IntoFuture>::IntoFuture: Send,
{
    let mut sends = JoinSet::new();
    for n in 0..count {
        let bot = bot.clone();
        sends.spawn(async move { bot.send_message(GROUP, n.to_string()).await });
    }
    sends.join_all().await
}

fn png(name: &'static str) -> InputFile {
    InputFile::memory(PNG).file_name(name)
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(says)?;
    Ok(listener.local_addr().map_err(says)?.port())
}
