//! The headers of one part of a form, read as generously as real clients need.
//!
//! node-fetch writes `content-disposition:form-data;name="id";filename=my é.png`: no space, the name unquoted,
//! in raw UTF-8 and with spaces in it. Everybody else quotes.

use percent_encoding::percent_decode_str;

/// What a part says of itself.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PartHead {
    pub(super) name: String,
    /// Present for a file, be it empty.
    pub(super) filename: Option<String>,
    pub(super) mime: Option<String>,
}

/// Reads the lines of a part's head.
pub(super) fn read(head: &[u8]) -> PartHead {
    let mut part = PartHead::default();
    for line in String::from_utf8_lossy(head).split("\r\n") {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.trim().eq_ignore_ascii_case("content-disposition") {
            read_disposition(value, &mut part);
        } else if name.trim().eq_ignore_ascii_case("content-type") {
            part.mime = Some(value.trim().to_owned());
        }
    }
    part
}

fn read_disposition(value: &str, part: &mut PartHead) {
    for (key, value) in Attributes(value) {
        if key.eq_ignore_ascii_case("name") {
            part.name = decoded(value);
        } else if key.eq_ignore_ascii_case("filename") {
            part.filename.get_or_insert_with(|| decoded(value));
        } else if key.eq_ignore_ascii_case("filename*") {
            // RFC 5987: charset'language'value, and it is the better one of the two.
            part.filename = Some(decoded(value.rsplit('\'').next().unwrap_or(value)));
        }
    }
}

fn decoded(value: &str) -> String {
    percent_decode_str(value).decode_utf8_lossy().into_owned()
}

/// `form-data; key=value; key="quoted; value"`: the pairs.
struct Attributes<'a>(&'a str);

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.0.trim_start_matches([';', ' ', '\t']);
            if text.is_empty() {
                return None;
            }
            let end = text.find(['=', ';']).unwrap_or(text.len());
            let (key, rest) = text.split_at(end);
            if let Some(value) = rest.strip_prefix('=') {
                let (value, rest) = value_of(value);
                self.0 = rest;
                return Some((key.trim(), value));
            }
            self.0 = rest;
        }
    }
}

/// A value and what follows it: in quotes up to the closing one, else up to the semicolon.
fn value_of(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split_once('"').unwrap_or((quoted, ""));
    }
    let (value, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
    (value.trim(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(head: &str) -> (String, Option<String>, Option<String>) {
        let PartHead { name, filename, mime } = read(head.as_bytes());
        (name, filename, mime)
    }

    #[test]
    fn an_unquoted_name_in_raw_utf8_keeps_its_spaces() {
        let read = part("content-disposition:form-data;name=\"id\";filename=my é.png\r\ncontent-type:image/png");
        assert_eq!(read, ("id".to_owned(), Some("my é.png".to_owned()), Some("image/png".to_owned())));
    }

    #[test]
    fn quotes_may_hold_semicolons_and_percent_escapes() {
        let read = part("Content-Disposition: form-data; name=\"photo\"; filename=\"a;b %22c%22.png\"");
        assert_eq!(read, ("photo".to_owned(), Some("a;b \"c\".png".to_owned()), None));
    }

    #[test]
    fn a_part_without_a_file_name_is_a_parameter() {
        let read = part("CONTENT-TYPE: text/plain; charset=utf-8\r\nCONTENT-DISPOSITION: form-data; name=\"chat_id\"");
        assert_eq!(read, ("chat_id".to_owned(), None, Some("text/plain; charset=utf-8".to_owned())));
    }

    #[test]
    fn the_extended_file_name_wins_over_the_plain_one() {
        let read = part("Content-Disposition: form-data; name=a; filename=x.png; filename*=UTF-8''%C3%A9.png");
        assert_eq!(read, ("a".to_owned(), Some("é.png".to_owned()), None));
    }
}
