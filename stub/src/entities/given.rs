//! Entities that the caller gives itself, as JSON.

use serde_json::Value;

use super::{Entity, Kind};

/// Reads the parameter. What is no entity is left out, as the server leaves it out.
pub(super) fn read(text: &str) -> Vec<Entity> {
    let given: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    given.iter().filter_map(entity).collect()
}

fn entity(value: &Value) -> Option<Entity> {
    let number = |name: &str| value[name].as_u64().and_then(|number| u32::try_from(number).ok());
    Some(Entity { offset: number("offset")?, length: number("length")?, kind: kind(value)? })
}

fn kind(value: &Value) -> Option<Kind> {
    Some(match value["type"].as_str()? {
        "bold" => Kind::Bold,
        "italic" => Kind::Italic,
        "underline" => Kind::Underline,
        "strikethrough" => Kind::Strikethrough,
        "spoiler" => Kind::Spoiler,
        "blockquote" => Kind::Blockquote { expandable: false },
        "expandable_blockquote" => Kind::Blockquote { expandable: true },
        "code" => Kind::Code,
        "pre" => Kind::Pre { language: value["language"].as_str().filter(|name| !name.is_empty()).map(Box::from) },
        "text_link" => Kind::link(value["url"].as_str()?)?,
        "text_mention" => Kind::TextMention { user: value["user"]["id"].as_i64()? },
        "custom_emoji" => Kind::CustomEmoji { id: value["custom_emoji_id"].as_str()?.into() },
        // The rest is found in the text whether it is given or not.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_entities_are_read_and_others_left_out() {
        let read = read(r#"[{"type":"bold","offset":0,"length":2},{"type":"url","offset":0,"length":1},{"type":"x"}]"#);
        assert_eq!(read, [Entity { offset: 0, length: 2, kind: Kind::Bold }]);
        assert!(super::read("no list").is_empty());
    }
}
