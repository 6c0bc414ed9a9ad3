//! The address that a Mini App is opened at: the app's own, and after the `#` what Telegram hands over, signed. PURE.
//!
//! The rules are those of <https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app>. The
//! `hash` is the real one, since the bot's token is known. Only Telegram has the key of the third-party `signature`;
//! this one is made with a key whose halves are both public, so a system that checks it has to be given that key.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;
use sha2::Sha256;

use crate::world::{ChatKind, Directory};

/// The seed of the Ed25519 key; it proves nothing. Its public half is in this crate's README.
const SEED: [u8; 32] = [
    0xe8, 0x12, 0x07, 0x23, 0xb9, 0xb2, 0xc5, 0xa9, 0xab, 0x93, 0x16, 0x43, 0x71, 0x88, 0xaa, 0x93, 0xa1, 0xe0, 0xbb,
    0xf8, 0x85, 0xcd, 0xb4, 0x33, 0xef, 0x6b, 0xc1, 0xf7, 0x57, 0x5f, 0x6d, 0x17,
];

/// What `encodeURIComponent` of ECMA-262 escapes.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// What the app is told of the client that it runs in. The theme has to be there, if with no colour in it.
const CLIENT: &str = "&tgWebAppVersion=9.1&tgWebAppPlatform=tdesktop&tgWebAppThemeParams=%7B%7D";

/// A user opens a Mini App: by a link when there is a start parameter or the chat is a group, otherwise by a button
/// that the bot sent them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The app's own address.
    pub url: String,
    /// Who opens it.
    pub user_id: i64,
    /// Where; absent: in the chat with the bot.
    pub chat_id: Option<i64>,
    /// What the link says after `startapp=`.
    pub start_param: Option<String>,
    /// The Unix second; absent: now.
    pub auth_date: Option<i64>,
}

/// What the world adds to an opening.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) query_id: &'a str,
    pub(crate) date: i64,
    pub(crate) people: &'a Directory,
}

type Field = (&'static str, String);

/// The address, with everything that the app asks for.
pub(crate) fn address(token: &str, opening: &Opening, drawn: Drawn<'_>) -> String {
    let data = init_data(token, opening, drawn);
    let mut address = opening.url.clone();
    if let Some(start) = &opening.start_param {
        let joint = if address.contains('?') { '&' } else { '?' };
        address.extend([&joint.to_string(), "tgWebAppStartParam=", &encode(start)]);
    }
    // The data is encoded once as a form, and once more as a value of this one.
    address.extend(["#tgWebAppData=", &encode(&data), CLIENT]);
    address
}

fn init_data(token: &str, opening: &Opening, drawn: Drawn<'_>) -> String {
    let mut fields = fields(opening, drawn);
    let bot = token.split(':').next().unwrap_or_default();
    let covered = format!("{bot}:WebAppData\n{}", lines(&fields));
    let signature = SigningKey::from_bytes(&SEED).sign(covered.as_bytes());
    fields.push(("signature", URL_SAFE_NO_PAD.encode(signature.to_bytes())));
    // "WebAppData" is the key and the token the message, not the other way round.
    let secret = mac(b"WebAppData", token);
    let hash = hex::encode(mac(&secret, &lines(&fields)));
    // The last one: there are validators that take all the rest for it.
    fields.push(("hash", hash));
    let encoded: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    encoded.join("&")
}

/// The fields in the order of real clients.
fn fields(opening: &Opening, drawn: Drawn<'_>) -> Vec<Field> {
    let chat = drawn.people.chat(opening.chat_id.unwrap_or(opening.user_id));
    let by_link = opening.start_param.is_some() || chat.kind != ChatKind::Private;
    let mut fields = Vec::new();
    if !by_link {
        fields.push(("query_id", drawn.query_id.to_owned()));
    }
    fields.push(("user", user(opening.user_id, drawn.people)));
    if by_link {
        fields.push(("chat_instance", chat.id.to_string()));
        fields.push(("chat_type", kind(chat.kind).to_owned()));
    }
    fields.extend(opening.start_param.clone().map(|start| ("start_param", start)));
    fields.push(("auth_date", opening.auth_date.unwrap_or(drawn.date).to_string()));
    fields
}

/// Telegram escapes the slashes, which catches whoever hashes what they have parsed and written anew.
fn user(id: i64, people: &Directory) -> String {
    let described = people.user(id);
    let name = described.map_or_else(|| format!("User {id}"), |user| user.name.clone());
    let last_name = described.and_then(|user| user.last_name.clone()).unwrap_or_default();
    let language = described.and_then(|user| user.language.clone()).unwrap_or_else(|| "en".to_owned());
    let username = described.and_then(|user| user.username.as_deref());
    let username = username.map(|name| format!(r#","username":{}"#, quoted(name))).unwrap_or_default();
    let premium = if described.is_some_and(|user| user.premium) { r#","is_premium":true"# } else { "" };
    let photo = format!(r"https:\/\/t.me\/i\/userpic\/320\/stub_{id}.svg");
    let (name, last_name, language) = (quoted(&name), quoted(&last_name), quoted(&language));
    format!(
        r#"{{"id":{id},"first_name":{name},"last_name":{last_name}{username},"language_code":{language}{premium},"allows_write_to_pm":true,"photo_url":"{photo}"}}"#
    )
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('/', r"\/")
}

fn kind(kind: ChatKind) -> &'static str {
    match kind {
        ChatKind::Private => "sender",
        ChatKind::Group => "group",
        ChatKind::Supergroup => "supergroup",
        ChatKind::Channel => "channel",
    }
}

/// One field a line, sorted by name.
fn lines(fields: &[Field]) -> String {
    let mut lines: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn mac(key: &[u8], message: &str) -> Vec<u8> {
    let mac: Hmac<Sha256> = Hmac::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.chain_update(message).finalize().into_bytes().to_vec()
}

fn encode(value: &str) -> String {
    utf8_percent_encode(value, COMPONENT).to_string()
}
