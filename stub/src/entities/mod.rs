//! Formatted text: what it says and which parts of it are bold, links, code and so on. PURE.
//!
//! Each parse mode is a file; their errors and the odd corners of their grammars were read in the server's
//! source (<https://github.com/tdlib/td>, `MessageEntity.cpp`). Offsets and lengths count UTF-16 units.

mod builder;
mod detect;
mod given;
mod html;
mod kind;
mod markdown;
mod markdown_v2;

pub(crate) use kind::Kind;

/// A text and its entities.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Formatted {
    pub(crate) text: Box<str>,
    pub(crate) entities: Box<[Entity]>,
}

/// A `MessageEntity`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entity {
    pub(crate) offset: u32,
    pub(crate) length: u32,
    pub(crate) kind: Kind,
}

/// More entities than this are cut off (<https://limits.tginfo.me/en>; the server cuts silently).
const MOST: usize = 100;

/// Reads a text under a parse mode, or with the entities that were given as JSON; then finds links, mentions
/// and commands, and trims the ends. The error is what follows `Bad Request: `.
pub(crate) fn read(text: &str, parse_mode: Option<&str>, given: Option<&str>) -> Result<Formatted, String> {
    let (text, mut entities) = match parse_mode.map(str::to_ascii_lowercase).as_deref() {
        None | Some("none") => (text.to_owned(), given.map_or(Vec::new(), given::read)),
        Some("html") => html::parse(text).map_err(|why| unparsable(&why))?,
        Some("markdown") => markdown::parse(text).map_err(|why| unparsable(&why))?,
        Some("markdownv2") => markdown_v2::parse(text).map_err(|why| unparsable(&why))?,
        Some(_) => return Err("unsupported parse_mode".to_owned()),
    };
    detect::find(&text, &mut entities);
    Ok(trimmed(&text, entities))
}

fn unparsable(why: &str) -> String {
    format!("can't parse entities: {why}")
}

fn trimmed(text: &str, mut entities: Vec<Entity>) -> Formatted {
    let from = units(&text[..text.len() - text.trim_start().len()]);
    let text = text.trim();
    let end = units(text);
    for entity in &mut entities {
        let until = (entity.offset + entity.length).saturating_sub(from).min(end);
        entity.offset = entity.offset.saturating_sub(from);
        entity.length = until.saturating_sub(entity.offset);
    }
    entities.retain(|entity| entity.length > 0);
    // The outer one first, as it is in the server's answers.
    entities.sort_by_key(|entity| (entity.offset, u32::MAX - entity.length, entity.kind.rank()));
    entities.truncate(MOST);
    Formatted { text: text.into(), entities: entities.into() }
}

/// The length in UTF-16 units.
fn units(text: &str) -> u32 {
    if text.is_ascii() { text.len() as u32 } else { text.encode_utf16().count() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entities(text: &str, mode: &str) -> Vec<(u32, u32, &'static str)> {
        let read = read(text, Some(mode), None).unwrap();
        read.entities.iter().map(|entity| (entity.offset, entity.length, entity.kind.name())).collect()
    }

    #[test]
    fn ends_are_trimmed_and_entities_move_along() {
        let read = read(" \n<b> é😀 </b> \n", Some("HTML"), None).unwrap();
        assert_eq!(&*read.text, "é😀");
        assert_eq!(entities(" \n<b> é😀 </b> \n", "HTML"), [(0, 3, "bold")]);
    }

    #[test]
    fn the_outer_entity_comes_first() {
        assert_eq!(entities("<b><i>ab</i>c</b>", "html"), [(0, 3, "bold"), (0, 2, "italic")]);
    }

    #[test]
    fn an_unknown_mode_is_refused() {
        assert_eq!(read("a", Some("latex"), None), Err("unsupported parse_mode".to_owned()));
        assert_eq!(
            read("<b>", Some("HTML"), None).unwrap_err(),
            "can't parse entities: Can't find end tag corresponding to start tag \"b\""
        );
    }

    #[test]
    fn more_than_a_hundred_entities_are_cut_off() {
        assert_eq!(entities(&"<b>a</b> ".repeat(101), "HTML").len(), 100);
    }
}
