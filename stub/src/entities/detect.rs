//! What is found in a text without being marked: commands, mentions, tags, addresses.
//!
//! Simpler than the server: a web address needs its scheme or `www.`, phone and card numbers are not looked
//! for.

use super::{Entity, Kind};

/// Adds what is found outside of code and links.
pub(super) fn find(text: &str, entities: &mut Vec<Entity>) {
    // Most texts hold none of these, and this is on the path of every message.
    if !text.bytes().any(|byte| matches!(byte, b'/' | b'@' | b'#' | b'$' | b'.')) {
        return;
    }
    let marked = entities.len();
    let (mut at, mut units) = (0, 0);
    let mut before = ' ';
    while let Some(character) = text[at..].chars().next() {
        let found = if is_word(before) { None } else { found(&text[at..], before) };
        let length = found.as_ref().map_or(character.len_utf8(), |(length, _)| *length);
        let piece = &text[at..at + length];
        let length_in_units = super::units(piece);
        if let Some((_, kind)) = found {
            let entity = Entity { offset: units, length: length_in_units, kind };
            if entities[..marked].iter().all(|other| !other.kind.is_opaque() || apart(other, &entity)) {
                entities.push(entity);
            }
        }
        before = piece.chars().next_back().unwrap_or(' ');
        at += length;
        units += length_in_units;
    }
}

fn apart(a: &Entity, b: &Entity) -> bool {
    a.offset + a.length <= b.offset || b.offset + b.length <= a.offset
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// What begins right here, and how many bytes it takes.
fn found(text: &str, before: char) -> Option<(usize, Kind)> {
    match text.as_bytes()[0] {
        b'/' if !"/>".contains(before) => command(text).map(|length| (length, Kind::BotCommand)),
        b'@' => name(&text[1..], 3..=32).map(|length| (1 + length, Kind::Mention)),
        b'#' => hashtag(&text[1..]).map(|length| (1 + length, Kind::Hashtag)),
        b'$' => cashtag(&text[1..]).map(|length| (1 + length, Kind::Cashtag)),
        _ => url(text).map(|length| (length, Kind::Url)).or_else(|| Some((email(text)?, Kind::Email))),
    }
}

/// A run of name characters, if it is as long as it has to be.
fn name(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    lengths.contains(&length).then_some(length)
}

/// `/name` or `/name@some_bot`.
fn command(text: &str) -> Option<usize> {
    let length = 1 + name(&text[1..], 1..=64)?;
    let rest = &text[length..];
    match rest.strip_prefix('@').and_then(|bot| name(bot, 3..=32)) {
        Some(bot) => Some(length + 1 + bot),
        None if rest.starts_with(['/', '@']) => None,
        None => Some(length),
    }
}

fn hashtag(text: &str) -> Option<usize> {
    let tag = &text[..text.find(|character| !is_word(character)).unwrap_or(text.len())];
    tag.contains(|character: char| !character.is_numeric()).then_some(tag.len())
}

fn cashtag(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let ends = !text[length..].starts_with(is_word);
    ((3..=8).contains(&length) && ends).then_some(length)
}

fn url(text: &str) -> Option<usize> {
    let head = ["https://", "http://", "tg://", "www."]
        .iter()
        .find(|head| text.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head)))?;
    let end =
        text.find(|character: char| character.is_whitespace() || "<>\"".contains(character)).unwrap_or(text.len());
    let address = text[..end].trim_end_matches(['.', ',', '!', '?', ':', ';', ')', '\'']);
    let host = address.get(head.len()..).unwrap_or_default();
    let leads_somewhere = *head == "tg://" || host.contains('.') || host.starts_with("localhost");
    (leads_somewhere && !host.is_empty()).then_some(address.len())
}

fn email(text: &str) -> Option<usize> {
    let local = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte)).count();
    let domain = text[local..].strip_prefix('@')?;
    let length = domain.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte)).count();
    let domain = domain[..length].trim_end_matches(['.', '-']);
    let is_domain = domain.rsplit_once('.').is_some_and(|(host, top)| !host.is_empty() && top.len() >= 2);
    (local > 0 && is_domain).then_some(local + 1 + domain.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(text: &str) -> Vec<(&str, &'static str)> {
        let mut entities = Vec::new();
        find(text, &mut entities);
        let part = |entity: &Entity| &text[entity.offset as usize..(entity.offset + entity.length) as usize];
        entities.iter().map(|entity| (part(entity), entity.kind.name())).collect()
    }

    #[test]
    fn commands_are_found_where_words_begin() {
        assert_eq!(parts("/start now"), [("/start", "bot_command")]);
        assert_eq!(parts("a /go@some_bot x"), [("/go@some_bot", "bot_command")]);
        assert_eq!(parts("and/or 1/2 // /a/b"), []);
    }

    #[test]
    fn mentions_tags_and_addresses_are_found() {
        assert_eq!(parts("@ab @abc"), [("@abc", "mention")]);
        assert_eq!(parts("#1 #a1 $USD $US"), [("#a1", "hashtag"), ("$USD", "cashtag")]);
        assert_eq!(parts("see https://a.b/c?d=e, ok"), [("https://a.b/c?d=e", "url")]);
        assert_eq!(parts("x@y.org."), [("x@y.org", "email")]);
    }

    #[test]
    fn nothing_is_found_inside_code() {
        let mut entities = vec![Entity { offset: 0, length: 2, kind: Kind::Code }];
        find("/a /b", &mut entities);
        assert_eq!(entities.len(), 2);
        assert_eq!(entities[1].offset, 3);
    }

    proptest! {
        #[test]
        fn no_text_brings_it_down(text in "[/@#$.:a1é😀 A-]{0,40}") {
            find(&text, &mut Vec::new());
        }
    }
}
