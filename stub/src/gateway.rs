//! What the Bot API server itself sheds before Telegram's ceilings are even asked. PURE: `now` is an argument.
//!
//! The numbers were read in its source (<https://github.com/tdlib/telegram-bot-api>, `Client.cpp` and
//! `ClientManager.cpp`). What is shed is held for [`HOLD`] and then told to come back in [`RETRY_AFTER`] seconds.

use std::collections::hash_map::Entry;
use std::time::Duration;

use crate::ids::ById;

/// How long a call that is shed is left without an answer.
pub(crate) const HOLD: Duration = Duration::from_secs(3);
/// And what it is told then.
pub(crate) const RETRY_AFTER: u32 = 60;

/// Messages under way to one chat (`MAX_CONCURRENTLY_SENT_CHAT_MESSAGES`).
const MOST_UNSENT: u32 = 310;
/// Calls under way of one bot, beside one for each update of the last minute.
const MOST_CALLS: u32 = 1000;
/// Uploads under way of one bot, beside one for each five updates of the last minute.
const MOST_UPLOADS: u32 = 100;
/// And their bytes.
const MOST_UPLOAD_BYTES: u64 = 4 << 30;
/// Only a bot that was started this long ago is held to the three above.
const SETTLED: Duration = Duration::from_secs(60);
/// Smaller uploads are not paced.
const PACED_FROM: u64 = 100_000;
/// An upload that would have to wait for longer is shed.
const LONGEST_PACING: Duration = Duration::from_secs(5);
/// What a pause earns.
const PACING_BURST: Duration = Duration::from_secs(1);
/// Paced sizes are swept for idle ones when there are this many.
const SWEEP_FROM: usize = 4096;

/// A call that comes to the gateway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coming {
    pub(crate) bot: i64,
    /// The chat that messages go to, and how many.
    pub(crate) sends: Option<(i64, u32)>,
    /// The bytes of its files, if it has any.
    pub(crate) upload: Option<u64>,
}

/// It is shed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shed;

/// Everything under way.
#[derive(Debug, Default)]
pub(crate) struct Gateway {
    bots: ById<i64, Bot>,
    unsent: ById<(i64, i64), u32>,
    paced: Paced,
}

/// When the last upload of a bot of exactly that size went on.
type Paced = ById<(i64, u64), Duration>;

#[derive(Debug)]
struct Bot {
    started: Duration,
    calls: u32,
    uploads: u32,
    upload_bytes: u64,
    updates: Minute,
}

/// How much came in the last minute, roughly: this one and the rest of the one before.
#[derive(Debug, Default)]
struct Minute {
    nth: u64,
    now: u32,
    before: u32,
}

impl Gateway {
    /// Lets a call pass, at the instant at which it may go on, or sheds it. One that passed has to
    /// [`leave`](Self::leave).
    pub(crate) fn enter(&mut self, now: Duration, coming: Coming) -> Result<Duration, Shed> {
        let bot = self.bots.entry(coming.bot).or_insert_with(|| Bot::started(now));
        if bot.is_full(now, coming.upload) {
            return Err(Shed);
        }
        let unsent = coming.sends.map(|(chat, _)| self.unsent.entry((coming.bot, chat)));
        let messages = coming.sends.map_or(0, |(_, messages)| messages);
        if let Some(Entry::Occupied(unsent)) = &unsent
            && unsent.get() + messages > MOST_UNSENT
        {
            return Err(Shed);
        }
        let goes_on = pace(&mut self.paced, now, &coming)?;
        bot.calls += 1;
        bot.uploads += u32::from(coming.upload.is_some());
        bot.upload_bytes += coming.upload.unwrap_or(0);
        if let Some(unsent) = unsent {
            *unsent.or_default() += messages;
        }
        Ok(goes_on)
    }

    /// A call that passed is answered.
    pub(crate) fn leave(&mut self, gone: Coming) {
        if let Some(bot) = self.bots.get_mut(&gone.bot) {
            bot.calls -= 1;
            bot.uploads -= u32::from(gone.upload.is_some());
            bot.upload_bytes -= gone.upload.unwrap_or(0);
        }
        let Some((chat, messages)) = gone.sends else { return };
        if let Entry::Occupied(mut unsent) = self.unsent.entry((gone.bot, chat)) {
            *unsent.get_mut() -= messages;
            if *unsent.get() == 0 {
                unsent.remove();
            }
        }
    }

    /// A bot gets an update: the more of them, the more calls it may have under way.
    pub(crate) fn note_update(&mut self, now: Duration, bot: i64) {
        self.bots.entry(bot).or_insert_with(|| Bot::started(now)).updates.note(now);
    }
}

/// Uploads of exactly the same size go on one after the other; refused ones leave no trace.
fn pace(paced: &mut Paced, now: Duration, coming: &Coming) -> Result<Duration, Shed> {
    let Some(size) = coming.upload.filter(|size| *size > PACED_FROM) else { return Ok(now) };
    if paced.len() >= SWEEP_FROM {
        paced.retain(|_, last| *last + PACING_BURST > now);
    }
    let apart =
        Duration::from_nanos(size.saturating_mul(100)).clamp(Duration::from_millis(200), Duration::from_millis(900));
    // The first one of a size finds the pause before it as long as any.
    let earned = now.saturating_sub(PACING_BURST);
    let last = paced.get(&(coming.bot, size)).map_or(earned, |last| (*last + apart).max(earned));
    if last > now + LONGEST_PACING {
        return Err(Shed);
    }
    paced.insert((coming.bot, size), last);
    Ok(last.max(now))
}

impl Bot {
    fn started(now: Duration) -> Self {
        Self { started: now, calls: 0, uploads: 0, upload_bytes: 0, updates: Minute::default() }
    }

    fn is_full(&mut self, now: Duration, upload: Option<u64>) -> bool {
        if now < self.started + SETTLED {
            return false;
        }
        let updates = self.updates.count(now);
        let too_many_uploads = self.uploads + 1 > MOST_UPLOADS + updates / 5;
        let too_many_bytes = self.upload_bytes + upload.unwrap_or(0) > MOST_UPLOAD_BYTES;
        self.calls + 1 > MOST_CALLS + updates || (upload.is_some() && (too_many_uploads || too_many_bytes))
    }
}

impl Minute {
    fn note(&mut self, at: Duration) {
        self.turn(at);
        self.now += 1;
    }

    fn count(&mut self, at: Duration) -> u32 {
        self.turn(at);
        let left = 60 - (at.as_secs() % 60) as u32;
        self.now + (u64::from(self.before) * u64::from(left) / 60) as u32
    }

    fn turn(&mut self, at: Duration) {
        let nth = at.as_secs() / 60;
        match nth - self.nth {
            0 => {}
            1 => *self = Self { nth, now: 0, before: self.now },
            _ => *self = Self { nth, now: 0, before: 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Coming = Coming { bot: 1, sends: None, upload: None };

    fn at(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    fn passing(gateway: &mut Gateway, now: Duration, coming: Coming, tries: usize) -> usize {
        (0..tries).filter(|_| gateway.enter(now, coming).is_ok()).count()
    }

    #[test]
    fn the_311th_unsent_message_of_a_chat_is_shed_until_one_is_sent() {
        let mut gateway = Gateway::default();
        let send = Coming { sends: Some((-5, 1)), ..CALL };
        assert_eq!(passing(&mut gateway, at(0.0), send, 400), 310);
        assert!(gateway.enter(at(0.0), Coming { sends: Some((-6, 1)), ..CALL }).is_ok(), "another chat");
        gateway.leave(send);
        assert_eq!(passing(&mut gateway, at(0.0), send, 2), 1);
    }

    #[test]
    fn an_album_counts_as_its_items_under_way() {
        let mut gateway = Gateway::default();
        let album = Coming { sends: Some((-5, 10)), ..CALL };
        assert_eq!(passing(&mut gateway, at(0.0), album, 40), 31);
        gateway.leave(album);
        assert_eq!(passing(&mut gateway, at(0.0), Coming { sends: Some((-5, 1)), ..CALL }, 40), 10);
    }

    #[test]
    fn a_settled_bot_has_a_thousand_calls_under_way_and_one_more_for_each_update() {
        let mut gateway = Gateway::default();
        assert_eq!(passing(&mut gateway, at(0.0), CALL, 1), 1);
        assert_eq!(passing(&mut gateway, at(60.0), CALL, 2000), 999);
        gateway.note_update(at(60.0), 1);
        assert_eq!(passing(&mut gateway, at(60.0), CALL, 2), 1);
        assert_eq!(passing(&mut gateway, at(60.0), Coming { bot: 2, ..CALL }, 2000), 2000, "it has just started");
    }

    #[test]
    fn a_settled_bot_has_a_hundred_uploads_under_way_and_four_gibibytes() {
        let mut gateway = Gateway::default();
        gateway.note_update(at(0.0), 1);
        let upload = Coming { upload: Some(10), ..CALL };
        assert_eq!(passing(&mut gateway, at(61.0), upload, 200), 100);
        assert!(gateway.enter(at(61.0), CALL).is_ok(), "a call without a file is none");
        gateway.note_update(at(0.0), 2);
        let large = |nth: u64| Coming { bot: 2, sends: None, upload: Some((1 << 30) + nth) };
        let passed = (0..6).filter(|nth| gateway.enter(at(61.0), large(*nth)).is_ok()).count();
        assert_eq!(passed, 3);
    }

    #[test]
    fn equal_uploads_go_six_at_once_then_five_a_second_until_five_seconds_wait() {
        let mut gateway = Gateway::default();
        let picture = Coming { upload: Some(500_000), ..CALL };
        let now = at(100.0);
        let went: Vec<_> =
            (0..40).filter_map(|_| gateway.enter(now, picture).ok()).map(|at| at.saturating_sub(now)).collect();
        assert_eq!(went[..6], [Duration::ZERO; 6]);
        assert_eq!((went[6], went[7]), (at(0.2), at(0.4)));
        assert_eq!((went.len(), went.last()), (31, Some(&at(5.0))), "25 wait, the next is shed");
        assert!(gateway.enter(now, Coming { upload: Some(500_001), ..CALL }).is_ok(), "another size");
        assert_eq!(gateway.enter(at(100.2), picture), Ok(at(105.2)), "what was shed put nothing off");
    }

    #[test]
    fn large_uploads_are_nine_tenths_of_a_second_apart_and_small_ones_are_not_paced() {
        let mut gateway = Gateway::default();
        let large = Coming { upload: Some(20_000_000), ..CALL };
        let went: Vec<_> = (0..3).filter_map(|_| gateway.enter(at(10.0), large).ok()).collect();
        assert_eq!(went, [at(10.0), at(10.0), at(10.8)]);
        assert_eq!(passing(&mut gateway, at(10.0), Coming { upload: Some(100_000), ..CALL }, 90), 90);
    }
}
