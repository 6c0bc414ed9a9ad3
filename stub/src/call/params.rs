//! The parameters of a call: names and texts, the first of a name wins, and the files beside them.
//!
//! Numbers and booleans are read as leniently as the server reads them: `"12abc"` is 12, `"abc"` is 0 and
//! only `true`, `yes` and `1` are true (<https://github.com/tdlib/telegram-bot-api>, `Client.cpp`).

use bytes::Bytes;
use percent_encoding::percent_decode;

/// What a call was given.
#[derive(Debug, Default)]
pub(crate) struct Params {
    pub(super) texts: Vec<(String, String)>,
    pub(super) files: Vec<FilePart>,
    /// Some text was not UTF-8, and what could be read of it stands in its place.
    pub(super) has_broken_text: bool,
}

/// A file that came with a call.
#[derive(Debug, Clone)]
pub(crate) struct FilePart {
    /// The name of the form's field.
    pub(crate) field: String,
    pub(crate) name: String,
    pub(crate) mime: Option<String>,
    pub(crate) size: u64,
    pub(crate) digest: [u8; 32],
    /// Its bytes, unless they were too many to keep.
    pub(crate) bytes: Option<Bytes>,
}

/// What stands for bytes that are no UTF-8.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

impl Params {
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The text, unless it is empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        self.given(name).map(leading_integer)
    }

    /// The integer brought into the range; absent: `default`.
    pub(crate) fn clamped(&self, name: &str, range: std::ops::RangeInclusive<i64>, default: i64) -> i64 {
        self.integer(name).unwrap_or(default).clamp(*range.start(), *range.end())
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.text(name).is_some_and(|value| {
            let value = value.trim();
            ["true", "yes", "1"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
        })
    }

    /// How many bytes its files have together, if there are any.
    pub(crate) fn file_bytes(&self) -> Option<u64> {
        (!self.files.is_empty()).then(|| self.files.iter().map(|file| file.size).sum())
    }

    /// True when some text was not UTF-8.
    pub(crate) fn has_broken_text(&self) -> bool {
        self.has_broken_text
    }

    /// The file part of that field name.
    pub(crate) fn file(&self, field: &str) -> Option<&FilePart> {
        self.files.iter().find(|file| file.field == field)
    }

    pub(super) fn push_text(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.texts.push((name.into(), value.into()));
    }

    pub(super) fn push_urlencoded(&mut self, encoded: &[u8]) {
        let before = self.texts.len();
        for (name, value) in form_urlencoded::parse(encoded) {
            self.push_text(name, value);
        }
        // What could not be read was replaced; only then is it looked for, since hardly any text is broken.
        let is_replaced = |(name, value): &(String, String)| name.contains(REPLACEMENT) || value.contains(REPLACEMENT);
        if self.texts[before..].iter().any(is_replaced) {
            self.has_broken_text |= percent_decode(encoded).decode_utf8().is_err();
        }
    }
}

/// The integer that a text begins with; 0 when it begins with none; the nearest bound when it is too large.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
    if digits.is_empty() {
        return 0;
    }
    let bound = if negative { i64::MIN } else { i64::MAX };
    digits.parse::<i64>().map_or(bound, |value| if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(encoded: &str) -> Params {
        let mut params = Params::default();
        params.push_urlencoded(encoded.as_bytes());
        params
    }

    #[test]
    fn the_first_of_a_name_wins() {
        assert_eq!(params("a=1&a=2").text("a"), Some("1"));
    }

    #[test]
    fn text_that_is_no_utf8_is_known_as_such_and_a_replacement_character_is_text() {
        assert!(params("a=%ff").has_broken_text() && params("%c3=a").has_broken_text());
        assert!(!params("a=%EF%BF%BD&b=%c3%a9+").has_broken_text());
    }

    #[test]
    fn integers_are_read_as_far_as_they_go() {
        let read = |text: &str| params(&format!("n={text}")).integer("n");
        assert_eq!(read("1795980875.49"), Some(1_795_980_875));
        assert_eq!(read("-12x"), Some(-12));
        assert_eq!((read("abc"), read("")), (Some(0), None));
        assert_eq!(read("99999999999999999999"), Some(i64::MAX));
    }

    #[test]
    fn numbers_out_of_range_are_clamped() {
        let limit = |text: &str| params(text).clamped("limit", 1..=100, 100);
        assert_eq!((limit("limit=0"), limit("limit=1"), limit("limit=101"), limit("")), (1, 1, 100, 100));
    }

    #[test]
    fn only_true_yes_and_1_are_true() {
        let read = |text: &str| params(&format!("b={text}")).is_true("b");
        assert!(read("true") && read("True") && read("YES") && read("1") && read("+1+"));
        assert!(!read("on") && !read("0") && !read("") && !params("").is_true("b"));
    }
}
