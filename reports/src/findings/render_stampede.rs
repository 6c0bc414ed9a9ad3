//! Memory and stalls rise with a burst of uploads or edits: everything is drawn at once and held until it is sent.
//!
//! It takes all three. Memory alone may be a leak or a cache, a stall alone slow work, a burst alone good pacing.

use super::{Finding, FindingId};
use crate::Value;
use crate::recording::Stall;
use crate::timeline::{CallPoint, Timeline, VitalPoint};

/// A stampede is over in seconds; what rises more slowly is a leak or a cache.
const RISE_WITHIN_S: f64 = 10.0;

/// At least this much, the size of eight full-HD bitmaps at four bytes a pixel..
const RISE_BYTES: u64 = 64 << 20;

/// ..and at least to this many times what it was, so that a large process at its ordinary work is left alone.
const RISE_TIMES: u64 = 2;

/// An answer later than this is felt (the bound of a good Interaction to Next Paint, <https://web.dev/articles/inp>).
const STALL_US: u64 = 200_000;

/// Encoding follows drawing: a stall may begin this long after memory was at its highest.
const STALL_AFTER_S: f64 = 10.0;

/// Sending follows encoding, and is slowed down by Telegram.
const CALLS_AFTER_S: f64 = 30.0;

/// Fewer pictures than this are no burst.
const CALLS: u64 = 10;

/// Memory at one instant.
#[derive(Debug, Clone, Copy)]
struct Level {
    at_s: f64,
    rss_bytes: u64,
}

/// Memory at its lowest and at its highest within one window.
#[derive(Debug, Clone, Copy)]
struct Rise {
    from: Level,
    to: Level,
}

impl Level {
    fn of(vital: &VitalPoint) -> Option<Self> {
        Some(Self { at_s: vital.at_s, rss_bytes: vital.rss_bytes? })
    }
}

impl Rise {
    fn bytes(&self) -> u64 {
        self.to.rss_bytes.saturating_sub(self.from.rss_bytes)
    }

    fn is_steep(&self) -> bool {
        self.bytes() >= RISE_BYTES && self.to.rss_bytes >= RISE_TIMES * self.from.rss_bytes
    }
}

pub(super) fn find(timeline: &Timeline, load_from_s: f64) -> Option<Finding> {
    let rise = steepest_rise(&timeline.vitals, load_from_s).filter(Rise::is_steep)?;
    let stall = longest_stall(&timeline.stalls, &rise).filter(|stall| stall.len_us >= STALL_US)?;
    let calls = calls_with_pictures(&timeline.calls, &rise);
    (calls >= CALLS).then(|| finding(&rise, stall, calls, load_from_s))
}

fn steepest_rise(vitals: &[VitalPoint], load_from_s: f64) -> Option<Rise> {
    let levels: Vec<Level> = vitals.iter().filter_map(Level::of).filter(|level| level.at_s >= load_from_s).collect();
    let rises = levels.iter().enumerate().filter_map(|(place, to)| rise_up_to(&levels[..=place], *to));
    rises.max_by_key(Rise::bytes)
}

/// From the lowest within the window that ends at `to`.
fn rise_up_to(levels: &[Level], to: Level) -> Option<Rise> {
    let window = levels.iter().rev().take_while(|level| level.at_s >= to.at_s - RISE_WITHIN_S);
    window.min_by_key(|level| level.rss_bytes).map(|from| Rise { from: *from, to })
}

fn longest_stall(stalls: &[Stall], rise: &Rise) -> Option<Stall> {
    let overlaps = |stall: &&Stall| {
        let from_s = stall.from_us as f64 / 1e6;
        let to_s = from_s + stall.len_us as f64 / 1e6;
        to_s >= rise.from.at_s && from_s <= rise.to.at_s + STALL_AFTER_S
    };
    stalls.iter().filter(overlaps).max_by_key(|stall| stall.len_us).copied()
}

fn calls_with_pictures(calls: &[CallPoint], rise: &Rise) -> u64 {
    let near = |calls: &&CallPoint| {
        calls.from_s + calls.len_s >= rise.from.at_s && calls.from_s <= rise.to.at_s + CALLS_AFTER_S
    };
    let methods = calls.iter().filter(near).flat_map(|calls| &calls.by_method);
    methods.filter(|(method, _)| carries_a_picture(method)).map(|(_, counts)| counts.calls).sum()
}

/// Methods of the Bot API that upload a file or change a message.
fn carries_a_picture(method: &str) -> bool {
    const UPLOADS: [&str; 10] = [
        "sendPhoto",
        "sendDocument",
        "sendVideo",
        "sendAnimation",
        "sendAudio",
        "sendVoice",
        "sendVideoNote",
        "sendSticker",
        "sendMediaGroup",
        "sendPaidMedia",
    ];
    method.starts_with("edit") || UPLOADS.contains(&method)
}

fn finding(rise: &Rise, stall: Stall, calls: u64, load_from_s: f64) -> Finding {
    let (low, high) = (Value::Size(rise.from.rss_bytes), Value::Size(rise.to.rss_bytes));
    let (from_s, to_s) = (rise.from.at_s - load_from_s, rise.to.at_s - load_from_s);
    let (stalled, calls) = (Value::Time(stall.len_us), Value::Count(calls));
    let stall_s = stall.from_us as f64 / 1e6 - load_from_s;
    Finding {
        id: FindingId::RenderStampede,
        text: format!(
            "a render stampede: memory rose from {low} to {high} and the system stalled for {stalled} while it drew \
             and sent a burst of pictures. Draw a few at a time (a semaphore around draw, encode and upload), and let \
             a newer picture of a chat replace the one that still waits."
        ),
        evidence: vec![
            format!("memory {low} -> {high} between {from_s:.1} s and {to_s:.1} s of the load"),
            format!("a stall of {stalled} at {stall_s:.1} s"),
            format!("{calls} uploads and edits from then until {CALLS_AFTER_S:.0} s after the peak"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::MethodCounts;

    const MIB: u64 = 1 << 20;
    const LOAD_FROM_S: f64 = 2.0;

    /// A stampede at its least: every threshold is just reached.
    struct Story {
        low_mib: u64,
        high_mib: u64,
        rise_takes_s: f64,
        stall_at_s: f64,
        stall_us: u64,
        method: &'static str,
        calls: u64,
        calls_at_s: f64,
    }

    const AT_EVERY_THRESHOLD: Story = Story {
        low_mib: 64,
        high_mib: 128,
        rise_takes_s: RISE_WITHIN_S,
        stall_at_s: 12.0,
        stall_us: STALL_US,
        method: "editMessageMedia",
        calls: CALLS,
        calls_at_s: 14.0,
    };

    fn found(story: &Story) -> Option<Finding> {
        let vital = |at_s, mib| VitalPoint { at_s, rss_bytes: Some(mib * MIB), ..VitalPoint::default() };
        let counts = MethodCounts { calls: story.calls, throttled: 0, errors: 0 };
        let timeline = Timeline {
            vitals: vec![vital(5.0, story.low_mib), vital(5.0 + story.rise_takes_s, story.high_mib)],
            stalls: vec![Stall {
                from_us: (story.stall_at_s * 1e6) as u64,
                len_us: story.stall_us,
                ..Stall::default()
            }],
            calls: vec![CallPoint {
                from_s: story.calls_at_s,
                len_s: 1.0,
                by_method: [(story.method.to_owned(), counts)].into(),
                ..CallPoint::default()
            }],
            ..Timeline::default()
        };
        find(&timeline, LOAD_FROM_S)
    }

    #[test]
    fn memory_a_stall_and_a_burst_of_pictures_together_are_a_stampede() {
        let finding = found(&AT_EVERY_THRESHOLD).unwrap();
        assert_eq!(finding.id, FindingId::RenderStampede);
        assert_eq!(
            finding.evidence,
            [
                "memory 64.0 MiB -> 128.0 MiB between 3.0 s and 13.0 s of the load",
                "a stall of 200 ms at 10.0 s",
                "10 uploads and edits from then until 30 s after the peak",
            ]
        );
    }

    #[test]
    fn just_under_any_threshold_it_is_none() {
        let almost = [
            Story { high_mib: 127, ..AT_EVERY_THRESHOLD },
            Story { low_mib: 65, high_mib: 129, ..AT_EVERY_THRESHOLD },
            Story { low_mib: 60, high_mib: 123, ..AT_EVERY_THRESHOLD },
            Story { rise_takes_s: RISE_WITHIN_S + 0.1, ..AT_EVERY_THRESHOLD },
            Story { stall_us: STALL_US - 1, ..AT_EVERY_THRESHOLD },
            Story { calls: CALLS - 1, ..AT_EVERY_THRESHOLD },
        ];
        for (nth, story) in almost.iter().enumerate() {
            assert_eq!(found(story), None, "story {nth}");
        }
    }

    #[test]
    fn stalls_and_calls_far_from_the_rise_have_nothing_to_do_with_it() {
        let far = [
            Story { stall_at_s: 4.0, ..AT_EVERY_THRESHOLD },
            Story { stall_at_s: 15.0 + STALL_AFTER_S + 0.1, ..AT_EVERY_THRESHOLD },
            Story { calls_at_s: 3.9, ..AT_EVERY_THRESHOLD },
            Story { calls_at_s: 15.0 + CALLS_AFTER_S + 0.1, ..AT_EVERY_THRESHOLD },
        ];
        for (nth, story) in far.iter().enumerate() {
            assert_eq!(found(story), None, "story {nth}");
        }
        let near = [
            Story { stall_at_s: 15.0 + STALL_AFTER_S, ..AT_EVERY_THRESHOLD },
            Story { calls_at_s: 15.0 + CALLS_AFTER_S, ..AT_EVERY_THRESHOLD },
        ];
        assert!(near.iter().all(|story| found(story).is_some()));
    }

    #[test]
    fn texts_and_reads_are_no_pictures() {
        assert_eq!(found(&Story { method: "sendMessage", ..AT_EVERY_THRESHOLD }), None);
        assert_eq!(found(&Story { method: "getFile", ..AT_EVERY_THRESHOLD }), None);
        assert!(found(&Story { method: "sendPhoto", ..AT_EVERY_THRESHOLD }).is_some());
    }

    #[test]
    fn what_the_system_takes_to_start_is_no_stampede() {
        let vital = |at_s, mib| VitalPoint { at_s, rss_bytes: Some(mib * MIB), ..VitalPoint::default() };
        let starting = [vital(0.5, 5), vital(1.9, 300), vital(2.1, 300), vital(3.0, 301)];
        assert_eq!(steepest_rise(&starting, LOAD_FROM_S).unwrap().bytes(), MIB);
    }
}
