//! What each method does: one file per family, each with the list of its methods.
//!
//! A real method that no family names is answered by its declared type alone and counted as unmodelled.

mod admission;
mod commands;
mod edits;
mod files;
mod markup;
mod media;
mod messages;
mod profile;
mod queries;
mod turn;
mod unmodelled;
mod webhooks;

use std::sync::LazyLock;

pub(crate) use turn::Turn;

use crate::answer::{Done, Refusal};
use crate::catalogue;

/// Does what a method does.
type Method = fn(&mut Turn<'_>) -> Result<Done, Refusal>;

/// A family: names in the catalogue's spelling and what they do.
type Family = &'static [(&'static str, Method)];

const FAMILIES: &[Family] = &[
    commands::METHODS,
    edits::METHODS,
    files::METHODS,
    media::METHODS,
    messages::METHODS,
    profile::METHODS,
    queries::METHODS,
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
    turn.admit_at_the_door()?;
    match METHODS[turn.call.method.index()] {
        Some(method) => method(turn),
        None => unmodelled::answer(turn),
    }
}
