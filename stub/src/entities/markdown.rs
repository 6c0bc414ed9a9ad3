//! `parse_mode=Markdown`, the old one: no nesting, and what is not closed is an error.

use super::builder::Builder;
use super::{Entity, Kind};

pub(super) fn parse(text: &str) -> Result<(String, Vec<Entity>), String> {
    let mut built = Builder::default();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        match character {
            '\\' if text[at + 1..].starts_with(['_', '*', '`', '[']) => {
                built.push(char::from(text.as_bytes()[at + 1]));
                at += 2;
            }
            '_' | '*' | '`' | '[' => at = entity(text, at, character, &mut built)?,
            plain => {
                built.push(plain);
                at += plain.len_utf8();
            }
        }
    }
    Ok(built.finish())
}

/// Reads one entity and says where it ended.
fn entity(text: &str, begin: usize, opener: char, built: &mut Builder) -> Result<usize, String> {
    let is_pre = text[begin..].starts_with("```");
    let (closer, mut at, language) = if is_pre {
        let (language, at) = language(text, begin + 3);
        ("```", at, language)
    } else {
        let closer = match opener {
            '_' => "_",
            '*' => "*",
            '`' => "`",
            _ => "]",
        };
        (closer, begin + 1, None)
    };
    let length = text[at..].find(closer);
    let length = length.ok_or_else(|| format!("Can't find end of the entity starting at byte offset {begin}"))?;
    let inner = &text[at..at + length];
    let mark = built.mark();
    inner.chars().for_each(|character| built.push(character));
    at += length + closer.len();
    let kind = match opener {
        '_' => Some(Kind::Italic),
        '*' => Some(Kind::Bold),
        '`' if is_pre => Some(Kind::Pre { language: language.map(Box::from) }),
        '`' => Some(Kind::Code),
        _ => {
            let (url, end) = address(text, at, inner);
            at = end;
            Kind::link(url)
        }
    };
    if let Some(kind) = kind {
        built.end(mark, kind);
    }
    Ok(at)
}

/// The address behind a link's text; without one the text is its own address.
fn address<'a>(text: &'a str, at: usize, inner: &'a str) -> (&'a str, usize) {
    let Some(rest) = text[at..].strip_prefix('(') else { return (inner, at) };
    let length = rest.find(')').unwrap_or(rest.len());
    (&rest[..length], (at + 1 + length + 1).min(text.len()))
}

/// The language after three backticks, and where the code begins: one line end before it is skipped.
pub(super) fn language(text: &str, at: usize) -> (Option<&str>, usize) {
    let rest = &text[at..];
    let end = rest.find(|character: char| character.is_ascii_whitespace() || character == '`').unwrap_or(rest.len());
    let (language, code) = if end > 0 && end < rest.len() && !rest[end..].starts_with('`') {
        (Some(&rest[..end]), &rest[end..])
    } else {
        (None, rest)
    };
    let skipped = ["\r\n", "\n\r", "\n", "\r"]
        .iter()
        .find(|line_end| code.starts_with(**line_end))
        .map_or(0, |found| found.len());
    (language, text.len() - code.len() + skipped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (String, Vec<(u32, u32, Kind)>) {
        let (text, entities) = parse(text).unwrap();
        (text, entities.into_iter().map(|entity| (entity.offset, entity.length, entity.kind)).collect())
    }

    #[test]
    fn each_mark_is_an_entity() {
        let link = Kind::TextLink { url: "http://a.b/".into() };
        let (text, entities) = read("*a* _b_ `c` [d](http://a.b/)");
        assert_eq!(text, "a b c d");
        assert_eq!(entities, [(0, 1, Kind::Bold), (2, 1, Kind::Italic), (4, 1, Kind::Code), (6, 1, link)]);
    }

    #[test]
    fn code_may_name_its_language() {
        let (text, entities) = read("```rust\nlet a;\n``` ```b```");
        assert_eq!(text, "let a;\n b");
        assert_eq!(entities[0].2, Kind::Pre { language: Some("rust".into()) });
        assert_eq!(entities[1].2, Kind::Pre { language: None });
    }

    #[test]
    fn marks_are_escaped_by_a_backslash_and_nothing_else_is() {
        assert_eq!(read("\\*a\\_ \\b"), ("*a_ \\b".to_owned(), vec![]));
    }

    #[test]
    fn what_is_not_closed_is_told_with_its_byte_offset() {
        assert_eq!(parse("é *a"), Err("Can't find end of the entity starting at byte offset 3".to_owned()));
    }

    proptest! {
        #[test]
        fn no_text_brings_it_down(text in "[*_`\\[\\]()\\\\ aé😀\n]{0,40}") {
            drop(parse(&text));
        }
    }
}
