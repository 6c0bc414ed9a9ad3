//! The Bot API as data: every method with the type it returns, every type with its fields.
//!
//! `bot-api-10.3.json` holds names and types only. Methods and types were taken from `@gramio/types` 10.3.1
//! (npm, MIT), the split of numbers into integers and floats from
//! `aiogram` 3.31.0 (the Python index, MIT). Its grammar of types: `A|B` is a choice,
//! `Array<T>` a list, `="text"` a literal.

mod default_value;

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

pub(crate) use default_value::{default_value, filled};

/// A method of the catalogue, by its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MethodId(u16);

impl MethodId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The catalogue's spelling.
    pub(crate) fn name(self) -> &'static str {
        CATALOGUE.methods[self.index()].0
    }

    /// The type that it declares to return.
    pub(crate) fn returns(self) -> &'static str {
        CATALOGUE.methods[self.index()].1
    }
}

/// The method of that name, in any case: the server lower-cases it too.
pub(crate) fn method(name: &str) -> Option<MethodId> {
    if let Some(exact) = CATALOGUE.by_name.get(name) {
        return Some(*exact);
    }
    let lower = name.to_ascii_lowercase();
    let renamed = FORMER_NAMES.iter().find(|(former, _)| *former == lower).map(|(_, now)| now.to_ascii_lowercase());
    CATALOGUE.by_lower_name.get(renamed.as_deref().unwrap_or(&lower)).copied()
}

/// All methods, in the catalogue's order.
pub(crate) fn methods() -> impl ExactSizeIterator<Item = MethodId> {
    (0..CATALOGUE.methods.len() as u16).map(MethodId)
}

/// The kind of an update in the catalogue's own lifetime, if there is one of that name.
pub(crate) fn update_kind(name: &str) -> Option<&'static str> {
    let (kind, _) = CATALOGUE.types["Update"].get_key_value(name)?;
    (*kind != "update_id").then_some(*kind)
}

/// Spellings from before a method was renamed, which the server still answers.
const FORMER_NAMES: &[(&str, &str)] = &[
    ("kickchatmember", "banChatMember"),
    ("getchatmemberscount", "getChatMemberCount"),
    ("setstickersetthumb", "setStickerSetThumbnail"),
    ("stopmessagelivelocation", "stopMessageLiveLocation"),
];

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::read);

struct Catalogue {
    methods: Vec<(&'static str, &'static str)>,
    by_name: HashMap<&'static str, MethodId>,
    by_lower_name: HashMap<String, MethodId>,
    types: HashMap<&'static str, BTreeMap<&'static str, Field>>,
    unions: HashMap<&'static str, String>,
}

#[derive(Deserialize)]
struct File {
    #[serde(borrow)]
    methods: BTreeMap<&'static str, Declared>,
    #[serde(borrow)]
    types: HashMap<&'static str, BTreeMap<&'static str, Field>>,
    #[serde(borrow)]
    unions: HashMap<&'static str, String>,
}

#[derive(Deserialize)]
struct Declared {
    returns: &'static str,
}

#[derive(Deserialize)]
struct Field {
    r#type: String,
    required: bool,
}

impl Catalogue {
    fn read() -> Self {
        let file: File = serde_json::from_str(include_str!("bot-api-10.3.json")).expect("the catalogue is well formed");
        let methods: Vec<_> = file.methods.into_iter().map(|(name, declared)| (name, declared.returns)).collect();
        let ids = || methods.iter().enumerate().map(|(at, (name, _))| (*name, MethodId(at as u16)));
        let by_name = ids().collect();
        let by_lower_name = ids().map(|(name, id)| (name.to_ascii_lowercase(), id)).collect();
        Self { by_name, by_lower_name, methods, types: file.types, unions: file.unions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_found_in_any_case_and_by_its_former_name() {
        let found = |name| method(name).map(MethodId::name);
        assert_eq!(found("sendMessage"), Some("sendMessage"));
        assert_eq!(found("SENDMESSAGE"), Some("sendMessage"));
        assert_eq!(found("setWebHook"), Some("setWebhook"));
        assert_eq!(found("kickChatMember"), Some("banChatMember"));
        assert_eq!(found("sendMesage"), None);
    }

    #[test]
    fn the_catalogue_holds_the_185_methods_of_10_3() {
        assert_eq!(methods().count(), 185);
    }

    #[test]
    fn update_kinds_are_the_fields_of_an_update() {
        assert_eq!(update_kind("callback_query"), Some("callback_query"));
        assert_eq!((update_kind("update_id"), update_kind("gossip")), (None, None));
    }
}
