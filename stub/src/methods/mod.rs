//! What each method does: one file per family, each with the list of its methods.
//!
//! A real method that no family names is answered by its declared type alone and counted as unmodelled.

mod admission;
mod albums;
mod chats;
mod commands;
mod copies;
mod edits;
mod files;
mod games;
mod invites;
mod managed;
mod markup;
mod media;
pub(crate) mod members;
mod messages;
pub(crate) mod payments;
mod polls;
mod profile;
mod queries;
mod reactions;
mod sending;
mod stickers;
mod stories;
mod things;
mod topics;
mod trimmings;
mod turn;
mod unmodelled;
mod webhooks;

use std::sync::LazyLock;

pub(crate) use queries::note_query;
pub(crate) use turn::Turn;

use crate::answer::{Done, Refusal};
use crate::catalogue::{self, MethodId};

/// Does what a method does.
type Method = fn(&mut Turn<'_>) -> Result<Done, Refusal>;

/// Those of one file: names in the catalogue's spelling and what they do.
type Methods = &'static [(&'static str, Method)];

const FAMILIES: &[Methods] = &[
    albums::METHODS,
    chats::METHODS,
    commands::METHODS,
    copies::METHODS,
    edits::METHODS,
    files::METHODS,
    games::METHODS,
    invites::METHODS,
    managed::METHODS,
    media::METHODS,
    members::METHODS,
    messages::METHODS,
    payments::METHODS,
    polls::METHODS,
    profile::METHODS,
    queries::METHODS,
    reactions::METHODS,
    stickers::METHODS,
    stories::METHODS,
    things::METHODS,
    topics::METHODS,
    webhooks::METHODS,
];

/// By the place of a method in the catalogue.
static METHODS: LazyLock<Vec<Option<Method>>> = LazyLock::new(|| {
    let mut methods = vec![None; catalogue::methods().len()];
    for (name, method) in FAMILIES.iter().flat_map(|family| family.iter()) {
        methods[catalogue::method(name).expect("families name real methods").index()] = Some(*method);
    }
    methods
});

/// Answers a call.
pub(crate) fn answer(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    if turn.call.params.has_broken_text() {
        return Err(Refusal::bad_request("strings must be encoded in UTF-8"));
    }
    turn.admit_at_the_door()?;
    match METHODS[turn.call.method.index()] {
        Some(method) => method(turn),
        None => unmodelled::answer(turn),
    }
}

/// Whether a method does anything beside answering; getUpdates is the server's own.
pub(crate) fn is_modelled(method: MethodId) -> bool {
    METHODS[method.index()].is_some() || method.name() == "getUpdates"
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../README.md");

    /// The methods that are answered by their declared type alone.
    fn unmodelled() -> Vec<&'static str> {
        catalogue::methods().filter(|method| !is_modelled(*method)).map(MethodId::name).collect()
    }

    #[test]
    fn the_readme_names_the_methods_that_are_not_modelled() {
        let list: Vec<String> = unmodelled().iter().map(|name| format!("`{name}`")).collect();
        let list = list.join(", ");
        assert!(README.replace('\n', " ").contains(&list), "stub/README.md should list: {list}");
    }

    #[test]
    fn at_most_sixty_methods_are_not_modelled() {
        assert!(unmodelled().len() <= 60, "{}: {:?}", unmodelled().len(), unmodelled());
    }
}
