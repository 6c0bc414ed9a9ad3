//! `reply_markup`: only an inline keyboard stays with a message; the other kinds are the client's business.

use serde_json::{Map, Value};

use crate::answer::{Json, Refusal};
use crate::call::Params;

/// A button's data holds at most this many bytes (<https://core.telegram.org/bots/api#inlinekeyboardbutton>).
const LONGEST_DATA: usize = 64;
/// A keyboard holds as many buttons (`TOTAL_BUTTON_NUMBER` of python-telegram-bot, which saw it).
const MOST_BUTTONS: usize = 100;

/// Reads the parameter; what stays with the message.
pub(super) fn read(params: &Params) -> Result<Option<Json>, Refusal> {
    let Some(text) = params.given("reply_markup") else { return Ok(None) };
    let markup: Value = serde_json::from_str(text)
        .map_err(|_| Refusal::bad_request("can't parse reply keyboard markup JSON object"))?;
    let Value::Object(markup) = markup else { return Err(Refusal::bad_request("object expected as reply markup")) };
    match markup.get("inline_keyboard") {
        Some(Value::Array(rows)) => inline(rows),
        Some(_) => Err(Refusal::bad_request("field \"inline_keyboard\" of the InlineKeyboardMarkup must be an Array")),
        None => reply_keyboard(&markup),
    }
}

/// A keyboard in place of the user's own is the client's business, once it is one.
fn reply_keyboard(markup: &Map<String, Value>) -> Result<Option<Json>, Refusal> {
    match markup.get("keyboard") {
        None | Some(Value::Array(_)) => Ok(None),
        Some(_) => Err(Refusal::bad_request("field \"keyboard\" of the ReplyKeyboardMarkup must be an Array")),
    }
}

fn inline(rows: &[Value]) -> Result<Option<Json>, Refusal> {
    let mut buttons = rows.iter().filter_map(Value::as_array).flatten();
    buttons.try_for_each(|button| match button {
        Value::Object(button) => check(button),
        _ => Err(Refusal::bad_request("can't parse inline keyboard button: KeyboardButton must be an Object")),
    })?;
    if rows.iter().filter_map(Value::as_array).map(Vec::len).sum::<usize>() > MOST_BUTTONS {
        return Err(Refusal::bad_request("reply markup is too long"));
    }
    let has_buttons = rows.iter().any(|row| row.as_array().is_some_and(|row| !row.is_empty()));
    Ok(has_buttons.then(|| Json::of(&serde_json::json!({ "inline_keyboard": rows }))))
}

fn check(button: &Map<String, Value>) -> Result<(), Refusal> {
    let text = button.get("text").and_then(Value::as_str).unwrap_or_default();
    if text.is_empty() {
        return Err(Refusal::bad_request("inline keyboard button text must be non-empty"));
    }
    if button.len() == 1 {
        return Err(Refusal::bad_request("text buttons are unallowed in the inline keyboard"));
    }
    if button.get("url").is_some_and(|url| !is_address(url.as_str().unwrap_or_default())) {
        return Err(Refusal::bad_request("BUTTON_URL_INVALID"));
    }
    match button.get("callback_data").map(|data| data.as_str().unwrap_or_default().len()) {
        Some(1..=LONGEST_DATA) | None => Ok(()),
        Some(_) => Err(Refusal::bad_request("BUTTON_DATA_INVALID")),
    }
}

/// Something with a scheme, or a domain without one; addresses of this machine are as good as any here.
fn is_address(url: &str) -> bool {
    let has_host =
        url.split_once("://").map_or(url.contains('.'), |(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    has_host && !url.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{Decoder, Keeping};

    fn markup(text: &str) -> Result<Option<String>, String> {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("reply_markup", text).finish();
        let params = Decoder::new(Some(&query), None, &Keeping::bounded(0)).finish().unwrap();
        read(&params)
            .map(|kept| kept.map(|json| json.as_str().to_owned()))
            .map_err(|refusal| refusal.description.into_owned())
    }

    fn button(data: &str) -> String {
        format!(r#"{{"inline_keyboard":[[{{"text":"a","callback_data":"{data}"}}]]}}"#)
    }

    #[test]
    fn an_inline_keyboard_stays_with_the_message_and_others_do_not() {
        assert!(markup(&button("x")).unwrap().is_some());
        assert_eq!(markup(r#"{"keyboard":[["a"]]}"#), Ok(None));
        assert_eq!(markup(r#"{"inline_keyboard":[]}"#), Ok(None));
        assert_eq!(markup(""), Ok(None));
    }

    #[test]
    fn data_of_65_bytes_is_invalid() {
        assert!(markup(&button(&"x".repeat(64))).is_ok());
        assert_eq!(markup(&button(&"x".repeat(65))), Err("Bad Request: BUTTON_DATA_INVALID".to_owned()));
    }

    #[test]
    fn a_keyboard_of_101_buttons_is_too_long() {
        let keyboard = |buttons: usize| {
            let buttons = vec![r#"[{"text":"a","callback_data":"b"}]"#; buttons];
            format!(r#"{{"inline_keyboard":[{}]}}"#, buttons.join(","))
        };
        assert!(markup(&keyboard(100)).is_ok());
        assert_eq!(markup(&keyboard(101)), Err("Bad Request: reply markup is too long".to_owned()));
    }

    #[test]
    fn the_address_of_a_button_has_a_host() {
        let button = |url: &str| markup(&format!(r#"{{"inline_keyboard":[[{{"text":"a","url":"{url}"}}]]}}"#));
        for url in ["https://example.org/a", "http://127.0.0.1:80", "tg://user?id=5", "example.org"] {
            assert!(button(url).is_ok(), "{url}");
        }
        for url in ["", "::", "nonsense", "https://", "https://a b.c"] {
            assert_eq!(button(url), Err("Bad Request: BUTTON_URL_INVALID".to_owned()), "{url}");
        }
    }

    #[test]
    fn what_is_no_markup_is_refused_in_telegrams_words() {
        let refused = |text| markup(text).unwrap_err();
        assert_eq!(refused("null"), "Bad Request: object expected as reply markup");
        assert_eq!(refused("{"), "Bad Request: can't parse reply keyboard markup JSON object");
        assert_eq!(
            refused(r#"{"keyboard":"a"}"#),
            "Bad Request: field \"keyboard\" of the ReplyKeyboardMarkup must be an Array"
        );
        assert_eq!(
            refused(r#"{"inline_keyboard":[[{"text":"a"}]]}"#),
            "Bad Request: text buttons are unallowed in the inline keyboard"
        );
    }
}
