//! A text with placeholders, parsed once; whoever sends it only fills it.
//!
//! `{player.id}` is a placeholder; `{{` and `}}` stand for the braces themselves.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::complaint::{Complaint, did_you_mean};
use super::lists::Lists;
use super::spot::Spot;

/// A text with placeholders.
///
/// What fills a slot must be escaped for where the template stands: as the inside of a JSON string in
/// [`super::Body::Json`], percent-encoded in [`super::Request::path`], as it is anywhere else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// The pieces in order; never two texts in a row, and never an empty one.
    pub pieces: Vec<Piece>,
}

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Text(String),
    /// A placeholder.
    Slot(Slot),
}

/// The placeholders there are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Slot {
    /// `{system.port}`: in the system's environment only.
    SystemPort,
    /// `{stub.url}`: in the system's environment only.
    StubUrl,
    /// `{service.NAME.port}`: in an environment only.
    ServicePort(String),
    /// `{bot.token}`
    BotToken,
    /// `{player.id}`: the Telegram user id.
    PlayerId,
    /// `{player.name}`: the first name.
    PlayerName,
    /// `{chat.id}`: the Telegram id of the player's group.
    ChatId,
    /// `{chat.instance}`: the `chat_instance` of the player's group.
    ChatInstance,
    /// `{word}`: a five-letter word, drawn anew for every act.
    Word,
    /// `{nth}`: which repetition of the act this is, from 0.
    Nth,
    /// `{marker}`: a text unique to the planned act.
    Marker,
    /// `{word.city}`, `{random.1..100}` and the like: drawn once for every act.
    Drawn(Draw),
    /// `{name}`: a value captured by an earlier step of the journey.
    Captured(String),
}

/// What is drawn for every act, the same wherever it stands in the act's request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Draw {
    /// Told from the placeholder's own name, so that different ones draw apart.
    pub salt: u64,
    /// What it is drawn from.
    pub pool: Pool,
}

/// What a placeholder draws from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pool {
    /// A list of the scenario, never empty: `{word.city}`, or `{word}` itself.
    List(Arc<[String]>),
    /// Whole numbers, both ends included: `{random.1..100}`.
    Number(RangeInclusive<u64>),
    /// Texts of this many small letters and digits, at least 1: `{random.text.12}`.
    Text(u8),
}

/// Where a template stands, which decides the placeholders it may hold.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'c> {
    /// The environment of the system or of a service, with the placeholders of the services.
    Environment(&'c [String]),
    /// The `start_param` of a player's link.
    StartParam,
    /// An act of a journey.
    Act(&'c Captures),
}

/// The values that a journey captures, and the words it draws from.
#[derive(Debug, Default)]
pub(super) struct Captures {
    /// By the steps before this one.
    pub(super) so_far: BTreeSet<String>,
    /// By any step.
    pub(super) ever: BTreeSet<String>,
    /// The scenario's own words.
    pub(super) lists: Lists,
}

const ENVIRONMENT: [(&str, Slot); 3] =
    [("system.port", Slot::SystemPort), ("stub.url", Slot::StubUrl), ("bot.token", Slot::BotToken)];
const START_PARAM: [(&str, Slot); 3] =
    [("player.id", Slot::PlayerId), ("chat.id", Slot::ChatId), ("chat.instance", Slot::ChatInstance)];
const ACT: [(&str, Slot); 8] = [
    ("player.id", Slot::PlayerId),
    ("player.name", Slot::PlayerName),
    ("chat.id", Slot::ChatId),
    ("chat.instance", Slot::ChatInstance),
    ("bot.token", Slot::BotToken),
    ("word", Slot::Word),
    ("nth", Slot::Nth),
    ("marker", Slot::Marker),
];

impl Place<'_> {
    fn slots(&self) -> &'static [(&'static str, Slot)] {
        match self {
            Self::Environment(_) => &ENVIRONMENT,
            Self::StartParam => &START_PARAM,
            Self::Act(_) => &ACT,
        }
    }

    fn captured(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::Environment(_) | Self::StartParam => None,
            Self::Act(captures) => Some(captures.so_far.iter().map(String::as_str)),
        };
        names.into_iter().flatten()
    }

    fn services(&self) -> &[String] {
        match self {
            Self::Environment(services) => services,
            Self::StartParam | Self::Act(_) => &[],
        }
    }

    fn is_captured_later(&self, name: &str) -> bool {
        match self {
            Self::Environment(_) | Self::StartParam => false,
            Self::Act(captures) => captures.ever.contains(name),
        }
    }

    /// A list named `word` stands in place of the rig's own words.
    fn drawn(&self, name: &str) -> Option<Slot> {
        let Self::Act(captures) = self else { return None };
        let pool = match name.split_once('.') {
            None if name == "word" => Pool::List(Arc::clone(captures.lists.get(name)?)),
            Some(("word", list)) => Pool::List(Arc::clone(captures.lists.get(list)?)),
            Some(("random", of)) => random(of)?,
            None | Some(_) => return None,
        };
        let digest: [u8; 32] = Sha256::digest(name).into();
        let salt = u64::from_le_bytes(std::array::from_fn(|nth| digest[nth]));
        Some(Slot::Drawn(Draw { salt, pool }))
    }

    /// What is drawn by a name of the scenario's own.
    fn lists(&self) -> impl Iterator<Item = String> {
        let lists = match self {
            Self::Environment(_) | Self::StartParam => None,
            Self::Act(captures) => Some(captures.lists.keys().filter(|name| *name != "word")),
        };
        lists.into_iter().flatten().map(|name| format!("word.{name}"))
    }

    fn slot(&self, name: &str) -> Option<Slot> {
        if let Some(drawn) = self.drawn(name) {
            return Some(drawn);
        }
        let known = self.slots().iter().find(|(known, _)| *known == name).map(|(_, slot)| slot.clone());
        let service = self.services().iter().find(|known| *known == name);
        let service = service.and_then(|known| known.strip_prefix("service.")?.strip_suffix(".port"));
        let known = known.or_else(|| service.map(|service| Slot::ServicePort(service.to_owned())));
        known.or_else(|| self.captured().find(|known| *known == name).map(|name| Slot::Captured(name.to_owned())))
    }
}

/// `1..100`, or `text.12`.
fn random(of: &str) -> Option<Pool> {
    if let Some((low, high)) = of.split_once("..") {
        let (low, high) = (low.parse::<u64>().ok()?, high.parse::<u64>().ok()?);
        return (low <= high).then_some(Pool::Number(low..=high));
    }
    let letters = of.strip_prefix("text.")?.parse().ok()?;
    (letters > 0).then_some(Pool::Text(letters))
}

/// Whether an act has a placeholder of this name from the start, so that no captured value may take it.
pub(super) fn is_taken(name: &str) -> bool {
    ACT.iter().any(|(known, _)| *known == name)
}

impl Template {
    /// Parses the text at this spot; what is wrong with it is complained of, and left out.
    pub(super) fn parse(text: &str, spot: &Spot<'_>, place: Place<'_>, complaints: &mut Vec<Complaint>) -> Self {
        let mut template = Self::default();
        let mut at = 0;
        while let Some(brace) = text[at..].find(['{', '}']).map(|found| at + found) {
            template.push_text(&text[at..brace]);
            at = match piece(text, brace) {
                Ok(Found::Brace(character)) => {
                    template.push_text(character);
                    brace + 2
                }
                Ok(Found::Placeholder(name)) => {
                    match resolve(&text[name.clone()], place) {
                        Ok(slot) => template.pieces.push(Piece::Slot(slot)),
                        Err((says, help)) => complaints.push(spot.complain_within(brace..name.end + 1, says, help)),
                    }
                    name.end + 1
                }
                Err((says, help)) => {
                    complaints.push(spot.complain_within(brace..brace + 1, says, help));
                    brace + 1
                }
            };
        }
        template.push_text(&text[at..]);
        template
    }

    /// Adds text as it stands.
    pub(super) fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(last)) => last.push_str(text),
            Some(Piece::Slot(_)) | None => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// The parts that stand as they are.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Slot(_) => None,
        })
    }
}

enum Found {
    /// `{{` or `}}`.
    Brace(&'static str),
    /// The bytes between the braces.
    Placeholder(Range<usize>),
}

type Flaw = (String, String);

/// What begins with the brace at this byte.
fn piece(text: &str, brace: usize) -> Result<Found, Flaw> {
    let rest = &text[brace..];
    if rest.starts_with("{{") {
        return Ok(Found::Brace("{"));
    }
    if rest.starts_with("}}") {
        return Ok(Found::Brace("}"));
    }
    if rest.starts_with('}') {
        return Err(("this brace was never opened".to_owned(), "write `}}` for the brace itself".to_owned()));
    }
    match rest[1..].find(['{', '}']) {
        Some(end) if rest[1 + end..].starts_with('}') => Ok(Found::Placeholder(brace + 1..brace + 1 + end)),
        Some(_) | None => Err(("this brace is never closed".to_owned(), "write `{{` for the brace itself".to_owned())),
    }
}

fn resolve(name: &str, place: Place<'_>) -> Result<Slot, Flaw> {
    if let Some(slot) = place.slot(name) {
        return Ok(slot);
    }
    if place.is_captured_later(name) {
        return Err((format!("`{{{name}}}` is not captured yet"), "capture it in an earlier step".to_owned()));
    }
    if let (Some(list), Place::Act(captures)) = (name.strip_prefix("word."), place) {
        let known: Vec<&str> = captures.lists.keys().map(String::as_str).collect();
        let help = if known.is_empty() { format!("add `words.{list} = [..]`") } else { did_you_mean(list, &known) };
        return Err((format!("the scenario has no list of words `{list}`"), help));
    }
    if name.starts_with("random.") && matches!(place, Place::Act(_)) {
        let help = "write `{random.1..100}` for a number, or `{random.text.12}` for letters and digits, 255 at most";
        return Err((format!("`{{{name}}}` draws nothing"), help.to_owned()));
    }
    let names = place.slots().iter().map(|(known, _)| *known).chain(place.captured());
    let names = names.chain(place.services().iter().map(String::as_str)).map(str::to_owned);
    let known: Vec<String> = names.chain(place.lists()).map(|known| format!("{{{known}}}")).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let name = format!("{{{name}}}");
    Err((format!("unknown placeholder `{name}`"), did_you_mean(&name, &known)))
}
