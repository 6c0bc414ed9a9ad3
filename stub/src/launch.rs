//! The address that a Mini App is opened at: the app's own, and after the `#` what Telegram hands over, signed. PURE.
//!
//! Only Telegram has the key of the third-party `signature`, so a system that checks it has to be given the
//! [public half](crate::init_data::TEST_PUBLIC_KEY) of the one in its place.

use percent_encoding::utf8_percent_encode;
use serde::Deserialize;
use serde_json::Value;

use crate::init_data::{Keys, URI_COMPONENT};
use crate::world::{ChatKind, Directory};

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
    let fields = fields(opening, drawn);
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let data = Keys::of_bot(token).seal(&fields);
    let mut address = opening.url.clone();
    if let Some(start) = &opening.start_param {
        let joint = if address.contains('?') { '&' } else { '?' };
        address.extend([&joint.to_string(), "tgWebAppStartParam=", &encode(start)]);
    }
    // The data is encoded once as a form, and once more as a value of this one.
    address.extend(["#tgWebAppData=", &encode(&data), CLIENT]);
    address
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

fn encode(value: &str) -> String {
    utf8_percent_encode(value, URI_COMPONENT).to_string()
}
