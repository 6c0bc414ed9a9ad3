//! What the server in front of Telegram sheds when a bot has too much under way. PURE: `now` is an argument.
//!
//! All of it was read in the server's source (<https://github.com/tdlib/telegram-bot-api>, `Client.cpp`): a call
//! that is shed is held for 3 s and then told to come back in 60.

use std::collections::HashMap;
use std::time::Duration;

/// How long a shed call is held before it is answered.
pub(crate) const HOLD: Duration = Duration::from_secs(3);
/// And what it is told.
pub(crate) const RETRY_AFTER: u32 = 60;

/// Messages to one chat under way (`MAX_CONCURRENTLY_SENT_CHAT_MESSAGES`).
const MOST_UNSENT: u32 = 310;
/// Calls of one bot under way; the server adds the updates of its last minute, of which a fresh bot has none.
const MOST_ACTIVE: u32 = 1000;
/// Uploads of one bot under way.
const MOST_UPLOADS: u32 = 100;
/// Files below this size are not paced.
const PACED_FROM: u64 = 100_000;
/// Uploads of exactly one size follow each other at this distance, growing with the size.
const SHORTEST_GAP: f64 = 0.2;
const LONGEST_GAP: f64 = 0.9;
const GAP_PER_BYTE: f64 = 1e-7;
/// So much of the distance may be saved up, and so long a queue is waited in.
const SAVED: Duration = Duration::from_secs(1);
const LONGEST_QUEUE: Duration = Duration::from_secs(5);
/// Sizes whose turn has long passed are forgotten when there are so many.
const MOST_SIZES: usize = 10_000;

/// What wants to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passing {
    pub(crate) bot: i64,
    /// The chat that a message goes to, if this is one.
    pub(crate) chat: Option<i64>,
    /// Bytes of its files, if it has some.
    pub(crate) upload: Option<u64>,
}

/// It was shed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shed;

/// What is under way.
#[derive(Debug, Default)]
pub(crate) struct Gateway {
    active: HashMap<i64, u32>,
    uploads: HashMap<i64, u32>,
    unsent: HashMap<(i64, i64), u32>,
    turns: HashMap<(i64, u64), Duration>,
}

impl Gateway {
    /// Lets a call pass after the wait that is told, or sheds it. What passes has to [`Gateway::end`].
    pub(crate) fn begin(&mut self, now: Duration, passing: Passing) -> Result<Duration, Shed> {
        let Passing { bot, chat, upload } = passing;
        let full = self.active.get(&bot).is_some_and(|active| *active >= MOST_ACTIVE)
            || chat.is_some_and(|chat| self.unsent.get(&(bot, chat)).is_some_and(|unsent| *unsent >= MOST_UNSENT))
            || upload.is_some() && self.uploads.get(&bot).is_some_and(|uploads| *uploads >= MOST_UPLOADS);
        if full {
            return Err(Shed);
        }
        let wait = match upload {
            Some(size) if size > PACED_FROM => self.turn(now, bot, size)?,
            Some(_) | None => Duration::ZERO,
        };
        *self.active.entry(bot).or_default() += 1;
        if let Some(chat) = chat {
            *self.unsent.entry((bot, chat)).or_default() += 1;
        }
        if upload.is_some() {
            *self.uploads.entry(bot).or_default() += 1;
        }
        Ok(wait)
    }

    pub(crate) fn end(&mut self, passing: Passing) {
        let Passing { bot, chat, upload } = passing;
        decrease(&mut self.active, bot);
        if let Some(chat) = chat {
            decrease(&mut self.unsent, (bot, chat));
        }
        if upload.is_some() {
            decrease(&mut self.uploads, bot);
        }
    }

    /// The wait until it is the turn of another upload of that size.
    fn turn(&mut self, now: Duration, bot: i64, size: u64) -> Result<Duration, Shed> {
        if self.turns.len() >= MOST_SIZES {
            self.turns.retain(|_, turn| *turn + SAVED > now);
        }
        let gap = (size as f64 * GAP_PER_BYTE).clamp(SHORTEST_GAP, LONGEST_GAP);
        let earliest = now.saturating_sub(SAVED);
        let last = self.turns.get(&(bot, size)).copied();
        let turn = last.map_or(earliest, |last| (last + Duration::from_secs_f64(gap)).max(earliest));
        if turn > now + LONGEST_QUEUE {
            return Err(Shed);
        }
        self.turns.insert((bot, size), turn);
        Ok(turn.saturating_sub(now))
    }
}

fn decrease<K: Eq + std::hash::Hash>(counts: &mut HashMap<K, u32>, key: K) {
    if let std::collections::hash_map::Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(100);

    fn message(chat: i64) -> Passing {
        Passing { bot: 1, chat: Some(chat), upload: None }
    }

    fn upload(size: u64) -> Passing {
        Passing { bot: 1, chat: None, upload: Some(size) }
    }

    #[test]
    fn the_311th_unsent_message_to_a_chat_is_shed_until_one_is_sent() {
        let mut gateway = Gateway::default();
        for _ in 0..310 {
            assert_eq!(gateway.begin(NOW, message(5)), Ok(Duration::ZERO));
        }
        assert_eq!(gateway.begin(NOW, message(5)), Err(Shed));
        assert!(gateway.begin(NOW, message(6)).is_ok());
        gateway.end(message(5));
        assert!(gateway.begin(NOW, message(5)).is_ok());
    }

    #[test]
    fn the_1001st_call_and_the_101st_upload_under_way_are_shed() {
        let mut gateway = Gateway::default();
        for _ in 0..100 {
            assert!(gateway.begin(NOW, upload(10)).is_ok());
        }
        assert_eq!(gateway.begin(NOW, upload(10)), Err(Shed));
        for chat in 0..900 {
            assert!(gateway.begin(NOW, message(chat)).is_ok());
        }
        assert_eq!(gateway.begin(NOW, message(1)), Err(Shed));
    }

    #[test]
    fn uploads_of_one_size_begin_with_six_and_then_go_five_a_second() {
        let mut gateway = Gateway::default();
        let waits: Vec<_> = (0..31).map(|_| gateway.begin(NOW, upload(500_000)).unwrap()).collect();
        assert_eq!(waits.iter().filter(|wait| wait.is_zero()).count(), 6);
        assert_eq!(waits[6], Duration::from_millis(200));
        assert_eq!(gateway.begin(NOW, upload(500_000)), Err(Shed), "25 are waiting");
        assert_eq!(gateway.begin(NOW, upload(500_001)), Ok(Duration::ZERO), "another size has turns of its own");
    }

    #[test]
    fn what_has_ended_leaves_nothing_behind() {
        let mut gateway = Gateway::default();
        gateway.begin(NOW, message(5)).unwrap();
        gateway.end(message(5));
        assert!(gateway.active.is_empty() && gateway.unsent.is_empty());
    }
}
