//! What each method does: one file per family, each with the list of its methods.
//!
//! A real method that no family names is answered by its declared type alone and counted as unmodelled.

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

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use turn::Turn;

use crate::answer::{Done, Refusal};
use crate::catalogue::{self, MethodId};

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

static MODELLED: LazyLock<HashMap<MethodId, Method>> = LazyLock::new(|| {
    let all = FAMILIES.iter().flat_map(|family| family.iter());
    all.map(|(name, method)| (catalogue::method(name).expect("families name real methods"), *method)).collect()
});

/// Answers a call.
pub(crate) fn answer(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    match MODELLED.get(&turn.call.method) {
        Some(method) => method(turn),
        None => unmodelled::answer(turn),
    }
}
