//! A share of a journey's visits that carry stale, tampered or reused initData: `init_data_faults`.
//!
//! The question it answers: does the system refuse forged initData under load as well? So a visit that must be refused
//! succeeds with the refusal, and its acts are counted apart, as `open.tampered` beside `open`: quick refusals neither
//! flatter the latency of the others nor hide among their failures.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::complaint::Complaint;
use super::file::DURATION;
use super::number_or_list::NumberOrList;
use super::spot::Spot;
use super::step::statuses;
use super::{Arrivals, Arrive};

/// What is wrong with a visit's initData.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Signed well, but long ago.
    Stale,
    /// Names another user under the hash of the player's own.
    Tampered,
    /// That of the player's visit before.
    Reused,
}

impl Fault {
    /// Each kind once.
    pub const ALL: [Self; 3] = [Self::Stale, Self::Tampered, Self::Reused];

    /// Ends the name of an act that is done with it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Tampered => "tampered",
            Self::Reused => "reused",
        }
    }
}

/// How many visits carry which faulty initData, and what becomes of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Faults {
    /// The share of visits of each kind, in the order of [`Fault::ALL`]; together at most 1.
    pub shares: [f64; 3],
    /// How old stale initData is when the app is opened.
    pub stale_by: Duration,
    /// The kinds that the system must refuse; the others succeed as good ones do.
    pub refused: Vec<Fault>,
    /// The statuses that refuse.
    pub refused_with: Vec<u16>,
}

impl Faults {
    /// The share of visits with this fault.
    pub fn share(&self, fault: Fault) -> f64 {
        self.shares[fault as usize]
    }

    /// The statuses that a visit with this fault must be refused with; nothing: it succeeds as a good one does.
    pub fn refusal(&self, fault: Fault) -> Option<&[u16]> {
        self.refused.contains(&fault).then_some(self.refused_with.as_slice())
    }
}

/// Shares of visits with faulty initData. Their acts are counted apart, as `open.stale` beside `open`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "InitDataFaults")]
pub(super) struct FaultsTable {
    /// The share of visits whose initData is older than a system should take.
    #[serde(default)]
    stale: f64,
    /// The share of visits whose initData names another user under the player's own hash.
    #[serde(default)]
    tampered: f64,
    /// The share of visits that send the initData of the same player's visit before.
    #[serde(default)]
    reused: f64,
    /// How old stale initData is when the app is opened.
    #[serde(default = "two_days", with = "humantime_serde")]
    #[schemars(with = "String", extend("pattern" = DURATION))]
    stale_by: Duration,
    /// The kinds that the system must refuse; the others succeed as good ones do.
    #[serde(default = "stale_and_tampered")]
    refused: Vec<Fault>,
    /// The status or statuses that refuse; by default 401 and 403.
    refused_with: Option<NumberOrList>,
}

/// Twice the day that validators allow by default (`expiresIn` of `@telegram-apps/init-data-node`).
fn two_days() -> Duration {
    Duration::from_hours(48)
}

/// Reused initData is good by every rule that Telegram has.
fn stale_and_tampered() -> Vec<Fault> {
    vec![Fault::Stale, Fault::Tampered]
}

/// Checks the shares of a journey that arrives so.
pub(super) fn checked(
    file: FaultsTable,
    arrivals: &Arrivals,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> Faults {
    let shares = [file.stale, file.tampered, file.reused];
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    for (fault, share) in Fault::ALL.iter().zip(shares).filter(|(_, share)| !is_share(*share)) {
        let help = "write a part of the visits, such as 0.02 for two in a hundred";
        complaints.push(spot.key(fault.name()).complain(format!("{share} is no share"), help));
    }
    if shares.into_iter().all(is_share) && shares.iter().sum::<f64>() > 1.0 {
        complaints.push(spot.complain("more than all visits", "let the shares add up to 1 at most"));
    }
    if file.reused > 0.0 && matches!(arrivals, Arrivals::Own(Arrive::Burst { .. })) {
        let help = "drop it, or let players come round, such as `arrive.constant = { rate = 50, over = \"60s\" }`";
        complaints.push(spot.key("reused").complain("in a burst everyone comes once, with nothing to reuse", help));
    }
    if file.stale_by.is_zero() {
        complaints.push(spot.key("stale_by").complain("that is not stale", "write a longer time, such as \"2days\""));
    }
    let refused_with = match file.refused_with {
        None => vec![401, 403],
        given @ Some(_) => statuses(given, &spot.key("refused_with"), complaints),
    };
    Faults { shares, stale_by: file.stale_by, refused: file.refused, refused_with }
}
