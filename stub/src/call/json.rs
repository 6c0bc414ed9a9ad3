//! A JSON body into parameters: strings decoded, every other value kept as its own JSON text.
//!
//! A body that breaks off gives the parameters before the fault, as the server does; so does an empty one.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Params;

/// Adds what the body holds.
pub(super) fn read(body: &[u8], params: &mut Params) {
    let mut parser = serde_json::Deserializer::from_slice(body);
    // The fault itself is of no use to a bot: the server logs it and goes on with what it has.
    if parser.deserialize_any(Body(params)).is_err() {
        params.has_broken_text |= std::str::from_utf8(body).is_err();
    }
}

struct Body<'a>(&'a mut Params);

impl<'de> Visitor<'de> for Body<'_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object of parameters")
    }

    fn visit_str<E>(self, content: &str) -> Result<(), E> {
        self.0.push_text("content", content);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let value = map.next_value::<&RawValue>()?;
            match text_of(value) {
                Ok(text) => self.0.push_text(name, text),
                Err(NotUtf8) => self.0.has_broken_text = true,
            }
        }
        Ok(())
    }
}

/// A string of half a surrogate pair.
struct NotUtf8;

fn text_of(value: &RawValue) -> Result<String, NotUtf8> {
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => Ok(text),
        Err(_) if value.get().starts_with('"') => Err(NotUtf8),
        Err(_) => Ok(value.get().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(body: &str) -> Vec<(String, String)> {
        let mut params = Params::default();
        read(body.as_bytes(), &mut params);
        params.texts
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn strings_are_decoded_and_the_rest_stays_json_text() {
        let read = params(r#"{"chat_id": -5, "text":"a\u00e9\n", "flag":true, "reply_markup":{"a": [1]}, "x":null}"#);
        let expected =
            [("chat_id", "-5"), ("text", "aé\n"), ("flag", "true"), ("reply_markup", r#"{"a": [1]}"#), ("x", "null")];
        assert_eq!(read, expected.map(|(name, value)| pair(name, value)));
    }

    #[test]
    fn what_stands_before_a_fault_is_kept() {
        assert_eq!(params(r#"{"chat_id":1,"text":"#), [pair("chat_id", "1")]);
        assert_eq!(params(""), []);
        assert_eq!(params("[1]"), []);
    }

    #[test]
    fn a_text_that_is_no_utf8_is_known_as_such() {
        for body in [&b"{\"text\":\"\xff\"}"[..], br#"{"text":"\ud800"}"#] {
            let mut params = Params::default();
            read(body, &mut params);
            assert!(params.has_broken_text(), "{body:?}");
        }
    }

    #[test]
    fn a_string_alone_is_the_content() {
        assert_eq!(params(r#""hello""#), [pair("content", "hello")]);
    }
}
