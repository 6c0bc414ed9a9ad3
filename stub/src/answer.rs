//! What a call is answered: a result, or a refusal in Telegram's words.
//!
//! The forms were read in the server's source (<https://github.com/tdlib/telegram-bot-api>, `Query.cpp`,
//! `Client.cpp`): the keys in this order, `error_code` equal to the HTTP status, strings in ASCII.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

/// A value already written as JSON, with every character above ASCII escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Json(Box<str>);

impl Json {
    pub(crate) fn of(value: &impl Serialize) -> Self {
        let mut written = Vec::with_capacity(256);
        write(&mut written, value);
        Self(String::from_utf8(written).expect("the writer is fed with strings").into_boxed_str())
    }

    /// What was written, to be looked into.
    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).expect("what was written as JSON reads as such")
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

fn write(to: &mut Vec<u8>, value: &impl Serialize) {
    let written = value.serialize(&mut Serializer::with_formatter(to, Ascii(CompactFormatter)));
    written.expect("values of ours have string keys and are written into memory");
}

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&serde_json::value::RawValue>(&self.0).map_err(serde::ser::Error::custom)?.serialize(to)
    }
}

/// A call that worked: its body, but for the last brace.
#[derive(Debug)]
pub(crate) struct Done(Vec<u8>);

#[expect(clippy::unnecessary_wraps, reason = "the last step of every method, all of which may refuse")]
impl Done {
    pub(crate) fn of(result: &impl Serialize) -> Result<Self, Refusal> {
        let mut body = Vec::with_capacity(512);
        body.extend_from_slice(b"{\"ok\":true,\"result\":");
        write(&mut body, result);
        Ok(Self(body))
    }

    pub(crate) fn yes() -> Result<Self, Refusal> {
        Self::of(&true)
    }

    /// True, and a sentence: only setWebhook and deleteWebhook say anything.
    pub(crate) fn saying(description: &'static str) -> Result<Self, Refusal> {
        let mut body = b"{\"ok\":true,\"result\":true,\"description\":".to_vec();
        write(&mut body, &description);
        Ok(Self(body))
    }
}

/// A call that did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) description: Cow<'static, str>,
    pub(crate) retry_after: Option<u32>,
    pub(crate) migrate_to_chat_id: Option<i64>,
    /// What refused it, of a 429; it is not told to the bot.
    pub(crate) rule: Option<Cow<'static, str>>,
}

impl Refusal {
    pub(crate) const CONFLICT: u16 = 409;

    fn new(code: u16, description: impl Into<Cow<'static, str>>) -> Self {
        Self { code, description: description.into(), retry_after: None, migrate_to_chat_id: None, rule: None }
    }

    /// 400; the prefix is added.
    pub(crate) fn bad_request(says: impl AsRef<str>) -> Self {
        Self::new(400, format!("Bad Request: {}", says.as_ref()))
    }

    /// A refusal of that status in the usual words.
    pub(crate) fn of(code: u16) -> Self {
        let says = match code {
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden: bot was blocked by the user",
            404 => "Not Found",
            409 => "Conflict",
            500 => "Internal Server Error",
            502 => "Bad Gateway",
            503 => "Service Unavailable",
            504 => "Gateway Timeout",
            _ => "Error",
        };
        Self::new(code, says)
    }

    /// 429.
    pub(crate) fn too_many(retry_after: u32) -> Self {
        let description = format!("Too Many Requests: retry after {retry_after}");
        Self { retry_after: Some(retry_after), ..Self::new(429, description) }
    }

    /// The same, and which rule it was.
    pub(crate) fn too_many_by(retry_after: u32, rule: impl Into<Cow<'static, str>>) -> Self {
        Self { rule: Some(rule.into()), ..Self::too_many(retry_after) }
    }

    /// The group is a supergroup now.
    pub(crate) fn upgraded(supergroup: i64) -> Self {
        let refusal = Self::bad_request("group chat was upgraded to a supergroup chat");
        Self { migrate_to_chat_id: Some(supergroup), ..refusal }
    }

    /// 403; the prefix is added.
    pub(crate) fn forbidden(says: impl AsRef<str>) -> Self {
        Self::new(403, format!("Forbidden: {}", says.as_ref()))
    }

    pub(crate) fn conflict(says: &str) -> Self {
        Self::new(Self::CONFLICT, format!("Conflict: {says}"))
    }

    pub(crate) fn invalid_token() -> Self {
        Self::new(401, "Unauthorized: invalid token specified")
    }

    pub(crate) fn unallowed_token() -> Self {
        Self::new(421, "Misdirected Request: unallowed token specified")
    }

    pub(crate) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }

    pub(crate) fn no_such_method() -> Self {
        Self::new(404, "Not Found: method not found")
    }

    /// As the proxy before the public server says it, not the server.
    pub(crate) fn too_large() -> Self {
        Self::new(413, "Request Entity Too Large")
    }
}

/// The body of a response.
pub(crate) fn body(answer: Result<Done, &Refusal>) -> Vec<u8> {
    match answer {
        Ok(Done(mut body)) => {
            body.push(b'}');
            body
        }
        Err(refusal) => refused(refusal).into_bytes(),
    }
}

fn refused(refusal: &Refusal) -> String {
    let Refusal { code, description, retry_after, migrate_to_chat_id, rule: _ } = refusal;
    let description = Json::of(description);
    let description = description.as_str();
    let retry_after = retry_after.map(|seconds| format!("\"retry_after\":{seconds}"));
    let parameter = retry_after.or_else(|| migrate_to_chat_id.map(|chat| format!("\"migrate_to_chat_id\":{chat}")));
    let parameters = parameter.map(|parameter| format!(",\"parameters\":{{{parameter}}}")).unwrap_or_default();
    format!("{{\"ok\":false,\"error_code\":{code},\"description\":{description}{parameters}}}")
}

/// Writes strings as the server does: `\uXXXX` for everything above ASCII.
struct Ascii(CompactFormatter);

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.is_ascii() {
            return self.0.write_string_fragment(writer, fragment);
        }
        for character in fragment.chars() {
            if character.is_ascii() {
                writer.write_all(&[character as u8])?;
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_above_ascii_is_escaped_in_utf16_units() {
        assert_eq!(Json::of(&"a/é😀\n").as_str(), r#""a/\u00e9\ud83d\ude00\n""#);
    }

    #[test]
    fn a_429_tells_its_seconds_in_words_and_in_its_parameters() {
        assert_eq!(
            text(Err(&Refusal::too_many(37))),
            r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 37","parameters":{"retry_after":37}}"#
        );
    }

    #[test]
    fn a_result_may_carry_a_description() {
        let set = Done::saying("Webhook was set").unwrap();
        assert_eq!(text(Ok(set)), r#"{"ok":true,"result":true,"description":"Webhook was set"}"#);
        assert_eq!(text(Ok(Done::of(&5).unwrap())), r#"{"ok":true,"result":5}"#);
    }

    fn text(answer: Result<Done, &Refusal>) -> String {
        String::from_utf8(body(answer)).unwrap()
    }
}
