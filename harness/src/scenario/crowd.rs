//! `[crowd]`: groups and players, and what their network is like.

use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::arrive::{self, Arrive, ArriveTable};
use super::check::{MOST_VISITS, bounded, positive};
use super::complaint::Complaint;
use super::connections::Connections;
use super::file::{DURATION, ten_seconds, thirty_seconds};
use super::rates::Rates;
use super::spot::Spot;
use super::spread::Spread;
use super::template::{Place, Template};

/// Groups and players, and what their network is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Crowd {
    /// How many groups.
    pub groups: u32,
    /// How many players in each.
    pub players_per_group: u32,
    /// How players arrive for the journeys that share their arrivals.
    pub arrive: Option<Arrive>,
    /// Whose connections are.
    pub connections: Connections,
    /// How long it takes from a player to the system and back; nothing: no time.
    pub rtt: Option<RangeInclusive<Duration>>,
    /// How many bytes a player reads in a second; nothing: as many as come.
    pub reads_at: Option<RangeInclusive<u64>>,
    /// How long a handshake may take.
    pub connect_timeout: Duration,
    /// How long an answer may take once connected, or the bot's once it could have the update.
    pub timeout: Duration,
    /// How long after the load deliveries are waited for.
    pub settle: Duration,
    /// How long the system is then left alone before it is looked at again; nothing: it is not said.
    pub idle: Option<Duration>,
    /// The `start_param` of a player's direct link; empty: the link has none.
    pub start_param: Template,
}

/// Groups and players.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Crowd")]
pub(super) struct CrowdTable {
    /// How many groups.
    #[schemars(range(min = 1, max = MOST_VISITS))]
    pub(super) groups: u32,
    /// How many players in each.
    #[schemars(range(min = 1, max = MOST_VISITS))]
    pub(super) players_per_group: u32,
    /// How players arrive for the journeys that have no `arrive` of their own: each arrival is for one of them, drawn
    /// by their `weight`.
    pub(super) arrive: Option<ArriveTable>,
    /// Whose connections are.
    #[serde(default)]
    pub(super) connections: Connections,
    /// How long it takes from a player to the system and back, such as `"40ms..300ms"`: drawn for each player. Their
    /// requests leave later and answers arrive later by half of it; connecting takes one more, and TLS another.
    pub(super) rtt: Option<Spread>,
    /// How many bytes a player reads in a second, such as `"200KiB..2MiB"`: drawn for each player, evenly by its
    /// logarithm. Slow readers fill the system's sockets and hold their connections.
    pub(super) reads_at: Option<Rates>,
    /// How long a handshake may take.
    #[serde(default = "ten_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) connect_timeout: Duration,
    /// How long an answer may take once connected, or the bot's once it could have the update.
    #[serde(default = "thirty_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) timeout: Duration,
    /// How long after the load deliveries are waited for.
    #[serde(default = "thirty_seconds", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) settle: Duration,
    /// How long the system is then left alone before it is looked at again: its memory, its handles, and how one
    /// player is served. 10 s where it is not said, and none with `--quick` or where `0s` is said.
    #[serde(default, with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    pub(super) idle: Option<Duration>,
    /// The `start_param` of a player's direct link; empty: it has none.
    #[serde(default = "chat_id")]
    pub(super) start_param: String,
}

fn chat_id() -> String {
    "{chat.id}".to_owned()
}

/// Checks the `[crowd]` of the scenario at this path.
pub(super) fn checked(file: &CrowdTable, scenario: &Path, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Crowd {
    for (key, count) in [("groups", file.groups), ("players_per_group", file.players_per_group)] {
        if count == 0 {
            complaints.push(spot.key(key).complain("nobody would come", "write at least 1"));
        }
    }
    positive(file.connect_timeout, &spot.key("connect_timeout"), complaints);
    positive(file.timeout, &spot.key("timeout"), complaints);
    bounded(file.settle, &spot.key("settle"), complaints);
    bounded(file.idle.unwrap_or_default(), &spot.key("idle"), complaints);
    network(file, spot, complaints);
    Crowd {
        rtt: file.rtt.as_ref().map(|rtt| rtt.0.clone()),
        reads_at: file.reads_at.as_ref().map(|rates| rates.0.clone()),
        groups: file.groups,
        players_per_group: file.players_per_group,
        arrive: file.arrive.as_ref().map(|own| arrive::checked(own, scenario, &spot.key("arrive"), complaints)),
        connections: file.connections,
        connect_timeout: file.connect_timeout,
        timeout: file.timeout,
        settle: file.settle,
        idle: file.idle,
        start_param: start_param(&file.start_param, &spot.key("start_param"), complaints),
    }
}

/// What lies between players and the system belongs to their own connections, and answers have to come through it.
fn network(file: &CrowdTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let given = [("rtt", file.rtt.is_some()), ("reads_at", file.reads_at.is_some())];
    for (key, _) in given.iter().filter(|(_, given)| *given && file.connections == Connections::Shared) {
        let says = "connections that anybody uses are nobody's network";
        complaints.push(spot.key(key).complain_of_key(says, "drop it, or say connections = \"player\""));
    }
    if file.rtt.as_ref().is_some_and(|rtt| *rtt.0.end() >= file.timeout) {
        let help = "write a shorter one, or a longer `timeout`";
        complaints.push(spot.key("rtt").complain("no answer could come back within `timeout`", help));
    }
}

/// Telegram takes `A-Z a-z 0-9 _ -`, at most 512 (docs.telegram-mini-apps.com/platform/start-parameter).
fn start_param(text: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Template {
    let template = Template::parse(text, spot, Place::StartParam, complaints);
    let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    if template.texts().any(|text| !text.chars().all(fits)) {
        let help = "Telegram allows letters, digits, `-` and `_` in it";
        complaints.push(spot.complain("a link cannot carry this start_param", help));
    }
    if text.len() > 512 {
        complaints.push(spot.complain("this start_param is too long", "Telegram allows 512 characters"));
    }
    template
}
