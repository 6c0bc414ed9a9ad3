//! Deliveries: which effects of acts became visible in the chats, and when.
//!
//! An act that `shows` something is *expected* in its chat from its end on; an accepted call of that chat that
//! shows it *delivers* it. A sighting can be reported before the act it belongs to, since two threads tell
//! the story, so the latest sightings of each chat are kept. Pure: both sides bring their own times.

mod markers;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use floodrig_reports::recording::DeliveryInterval;
use floodrig_stub::Sighting;

use self::markers::Markers;

/// Sightings kept for each chat until their acts are known. Acts are told within milliseconds and a chat
/// sees at most 20 accepted calls a minute under the documented ceilings: 64 are minutes of them.
const REMEMBERED: usize = 64;

/// What an act that succeeded should show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The chat it becomes visible in.
    pub chat: i64,
    /// How it is recognised.
    pub sign: Awaited,
    /// The act's planned instant, since the epoch.
    pub scheduled: Duration,
    /// When the act ended, since the epoch.
    pub ended: Duration,
}

/// How an effect is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Awaited {
    /// The first accepted call begun after the act ended.
    Any,
    /// This text occurs.
    Marker(String),
    /// `v<n>` occurs, n at least this.
    Version(i64),
}

/// The deliveries of one run.
#[derive(Debug)]
pub struct Deliveries {
    late_after: Option<Duration>,
    chats: BTreeMap<i64, Chat>,
    interval: DeliveryInterval,
}

#[derive(Debug, Default)]
struct Chat {
    /// By their markers.
    marked: Markers<Expected>,
    /// Without one.
    unmarked: Vec<Expected>,
    seen: VecDeque<Seen>,
    /// Markers delivered, with the message that showed each.
    shown_by: Markers<i64>,
    duplicates: HashSet<(String, i64)>,
}

/// A sighting, and the newest version that it shows.
#[derive(Debug)]
struct Seen {
    sighting: Sighting,
    version: Option<i64>,
}

impl Deliveries {
    /// Effects older than `late_after` when they become visible are late.
    pub fn new(late_after: Option<Duration>) -> Self {
        Self { late_after, chats: BTreeMap::new(), interval: DeliveryInterval::default() }
    }

    /// An act succeeded and its effect is awaited from now on.
    pub fn expect(&mut self, expected: Expected) {
        self.interval.expected += 1;
        let chat = self.chats.entry(expected.chat).or_default();
        let first = chat.seen.iter().find(|seen| seen.shows(&expected)).map(|seen| &seen.sighting);
        let Some((message_id, at)) = first.map(|sighting| (sighting.message_id, sighting.at)) else {
            chat.wait_for(expected);
            return;
        };
        chat.remember_marker(&expected, message_id);
        self.deliver(&expected, at);
        self.interval.staleness.record(at.saturating_sub(expected.ended));
    }

    /// The stub accepted a call that shows a text in a chat.
    pub fn sight(&mut self, sighting: Sighting) {
        let chat = self.chats.entry(sighting.chat).or_default();
        self.interval.duplicated += chat.count_duplicates(&sighting);
        let at = sighting.at;
        let seen = Seen { version: versions(&sighting.text).max(), sighting };
        let delivered = chat.take_shown(&seen);
        chat.remember(seen);
        if let Some(oldest) = delivered.iter().map(|expected| expected.ended).min() {
            self.interval.staleness.record(at.saturating_sub(oldest));
        }
        for expected in &delivered {
            self.deliver(expected, at);
        }
    }

    /// Whether nothing is awaited.
    pub fn all_seen(&self) -> bool {
        self.chats.values().all(|chat| chat.awaited().next().is_none())
    }

    /// How many effects are awaited.
    pub fn awaited(&self) -> u64 {
        self.chats.values().map(|chat| chat.awaited().count() as u64).sum()
    }

    /// The interval that ends now; the next one begins.
    pub fn take_interval(&mut self, from: Duration, until: Duration) -> DeliveryInterval {
        let mut interval = std::mem::take(&mut self.interval);
        interval.from_us = from.as_micros() as u64;
        interval.len_us = until.saturating_sub(from).as_micros() as u64;
        interval
    }

    /// The end of settle: what is still awaited is lost, and was stale until now.
    pub fn close(&mut self, now: Duration) {
        for chat in self.chats.values_mut() {
            if let Some(oldest) = chat.awaited().map(|expected| expected.ended).min() {
                self.interval.staleness.record(now.saturating_sub(oldest));
            }
            self.interval.lost += chat.awaited().count() as u64;
            (chat.marked, chat.unmarked) = Default::default();
        }
    }

    fn deliver(&mut self, expected: &Expected, at: Duration) {
        self.interval.delivered += 1;
        self.interval.latency.record(at.saturating_sub(expected.scheduled));
        let age = at.saturating_sub(expected.ended);
        self.interval.late += u64::from(self.late_after.is_some_and(|bound| age > bound));
    }
}

impl Chat {
    fn awaited(&self) -> impl Iterator<Item = &Expected> {
        self.marked.values().chain(&self.unmarked)
    }

    fn wait_for(&mut self, expected: Expected) {
        match &expected.sign {
            Awaited::Marker(marker) => self.marked.insert(marker.clone(), expected),
            Awaited::Any | Awaited::Version(_) => self.unmarked.push(expected),
        }
    }

    /// What was awaited and is shown now.
    fn take_shown(&mut self, seen: &Seen) -> Vec<Expected> {
        let mut shown = Vec::new();
        for (marker, expected) in self.marked.take_within(&seen.sighting.text) {
            shown.extend(expected);
            self.shown_by.insert(marker, seen.sighting.message_id);
        }
        shown.extend(self.unmarked.extract_if(.., |expected| seen.shows(expected)));
        shown
    }

    fn remember(&mut self, seen: Seen) {
        if self.seen.len() == REMEMBERED {
            self.seen.pop_front();
        }
        self.seen.push_back(seen);
    }

    fn remember_marker(&mut self, expected: &Expected, message_id: i64) {
        if let Awaited::Marker(text) = &expected.sign {
            self.shown_by.insert(text.clone(), message_id);
        }
    }

    /// Markers already delivered that this sighting shows again in another message.
    fn count_duplicates(&mut self, sighting: &Sighting) -> u64 {
        let shown = self.shown_by.within(&sighting.text);
        let again = shown.iter().filter(|(_, by)| by.iter().any(|message| *message != sighting.message_id));
        again.filter(|(marker, _)| self.duplicates.insert(((**marker).to_owned(), sighting.message_id))).count() as u64
    }
}

impl Seen {
    fn shows(&self, expected: &Expected) -> bool {
        match &expected.sign {
            Awaited::Any => self.sighting.begun >= expected.ended,
            Awaited::Marker(text) => self.sighting.text.contains(text.as_str()),
            Awaited::Version(wanted) => self.version.is_some_and(|version| version >= *wanted),
        }
    }
}

/// Every `v<n>` that begins a word of the text.
fn versions(text: &str) -> impl Iterator<Item = i64> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter_map(|word| word.strip_prefix('v')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: i64 = -100;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn expected(sign: Awaited, ended: u64) -> Expected {
        Expected { chat: CHAT, sign, scheduled: ms(ended.saturating_sub(10)), ended: ms(ended) }
    }

    fn sighting(text: &str, at: u64, message_id: i64) -> Sighting {
        Sighting { begun: ms(at - 5), at: ms(at), bot: 1, chat: CHAT, message_id, text: text.to_owned() }
    }

    fn closed(mut deliveries: Deliveries, at: u64) -> DeliveryInterval {
        deliveries.close(ms(at));
        deliveries.take_interval(Duration::ZERO, ms(at))
    }

    #[test]
    fn a_board_delivers_every_version_up_to_its_own() {
        let mut deliveries = Deliveries::new(None);
        for version in 1..=3 {
            deliveries.expect(expected(Awaited::Version(version), 100 * version as u64));
        }
        deliveries.sight(sighting("Wordle · v2", 400, 7));
        let interval = closed(deliveries, 1000);
        assert_eq!((interval.expected, interval.delivered, interval.lost), (3, 2, 1));
    }

    #[test]
    fn staleness_is_the_age_of_the_oldest_effect_that_a_call_shows() {
        let mut deliveries = Deliveries::new(None);
        deliveries.expect(expected(Awaited::Version(1), 100));
        deliveries.expect(expected(Awaited::Version(2), 350));
        deliveries.sight(sighting("v2", 400, 7));
        let interval = closed(deliveries, 1000);
        assert_eq!(interval.staleness.count(), 1);
        assert_eq!(interval.staleness.max_us().map(|us| us / 1000), Some(300));
    }

    #[test]
    fn a_lost_effect_is_stale_until_the_end() {
        let mut deliveries = Deliveries::new(None);
        deliveries.expect(expected(Awaited::Version(5), 100));
        deliveries.sight(sighting("v4", 200, 7));
        let interval = closed(deliveries, 1100);
        assert_eq!(interval.lost, 1);
        assert_eq!(interval.staleness.max_us().map(|us| us / 1000), Some(1000));
    }

    #[test]
    fn a_call_reported_before_its_act_still_delivers_it() {
        let mut deliveries = Deliveries::new(None);
        deliveries.sight(sighting("v3", 90, 7));
        deliveries.expect(expected(Awaited::Version(3), 100));
        assert!(deliveries.all_seen());
        assert_eq!(closed(deliveries, 200).delivered, 1);
    }

    #[test]
    fn without_a_sign_only_a_call_begun_after_the_act_counts() {
        let mut deliveries = Deliveries::new(None);
        deliveries.expect(expected(Awaited::Any, 100));
        deliveries.sight(sighting("hello", 104, 7));
        assert!(!deliveries.all_seen());
        deliveries.sight(sighting("hello", 105, 8));
        assert!(deliveries.all_seen());
    }

    #[test]
    fn late_is_beyond_the_bound_and_not_at_it() {
        let mut deliveries = Deliveries::new(Some(ms(300)));
        deliveries.expect(expected(Awaited::Marker("fr-a".into()), 100));
        deliveries.expect(expected(Awaited::Marker("fr-b".into()), 99));
        deliveries.sight(sighting("fr-a fr-b", 400, 7));
        let interval = closed(deliveries, 500);
        assert_eq!((interval.delivered, interval.late), (2, 1));
    }

    #[test]
    fn the_same_marker_in_another_message_is_a_duplicate_once() {
        let mut deliveries = Deliveries::new(None);
        deliveries.expect(expected(Awaited::Marker("fr-a".into()), 100));
        deliveries.sight(sighting("fr-a", 200, 7));
        deliveries.sight(sighting("fr-a edited", 210, 7));
        deliveries.sight(sighting("fr-a", 220, 8));
        deliveries.sight(sighting("fr-a", 230, 8));
        assert_eq!(closed(deliveries, 500).duplicated, 1);
    }

    #[test]
    fn a_version_is_a_word_of_its_own() {
        assert_eq!(versions("Wordle v12, vv3 v4x (v5) dev6 v-7").collect::<Vec<_>>(), [12, 5]);
    }
}
