//! How many uploads a bot may run at once, and how long its bytes take. PURE: `now` is an argument.
//!
//! No public source gives a number of slots or a rate; both are knobs, and off or generous by default. What
//! the server source does show is that all uploads of one bot share one allowance
//! (<https://github.com/tdlib/td>, `FileUploadManager`), so they share one here.

use std::time::Duration;

use crate::Limits;
use crate::ids::ById;

/// Every bot's uploads.
#[derive(Debug)]
pub(crate) struct Uploads {
    slots: u32,
    bytes_per_second: Option<u64>,
    bytes_per_second_in_all: Option<u64>,
    /// When the bytes of all bots promised so far will have been carried.
    all_free_at: Duration,
    bots: ById<i64, Lane>,
    running: u64,
    peak: u64,
}

#[derive(Debug, Default)]
struct Lane {
    running: u32,
    /// When the bytes promised so far will have been carried.
    free_at: Duration,
}

/// Every slot of the bot is taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoSlot;

impl Uploads {
    pub(crate) fn new(limits: &Limits) -> Self {
        let rate = |rate: Option<bytesize::ByteSize>| rate.map(|rate| rate.as_u64()).filter(|rate| *rate > 0);
        Self {
            slots: limits.uploads_at_once,
            bytes_per_second: rate(limits.upload_bytes_per_second),
            bytes_per_second_in_all: rate(limits.upload_bytes_per_second_in_all),
            all_free_at: Duration::ZERO,
            bots: ById::default(),
            running: 0,
            peak: 0,
        }
    }

    /// Takes a slot; whoever got one gives it back by [`Uploads::end`].
    pub(crate) fn begin(&mut self, bot: i64) -> Result<(), NoSlot> {
        let lane = self.bots.entry(bot).or_default();
        if self.slots > 0 && lane.running >= self.slots {
            return Err(NoSlot);
        }
        lane.running += 1;
        self.running += 1;
        self.peak = self.peak.max(self.running);
        Ok(())
    }

    pub(crate) fn end(&mut self, bot: i64) {
        let lane = self.bots.get_mut(&bot).expect("only a begun upload ends");
        lane.running -= 1;
        self.running -= 1;
    }

    /// When the next `bytes` of one of the bot's uploads will have been carried.
    pub(crate) fn carry(&mut self, now: Duration, bot: i64, bytes: u64) -> Duration {
        let lane = self.bots.entry(bot).or_default();
        let own = carried(&mut lane.free_at, now, bytes, self.bytes_per_second);
        own.max(carried(&mut self.all_free_at, now, bytes, self.bytes_per_second_in_all))
    }

    /// The most that ran at once since this was last asked.
    pub(crate) fn take_peak(&mut self) -> u64 {
        std::mem::replace(&mut self.peak, self.running)
    }
}

/// When `bytes` more will have gone through what is free from some instant on.
fn carried(free_at: &mut Duration, now: Duration, bytes: u64, rate: Option<u64>) -> Duration {
    let Some(rate) = rate else { return now };
    let takes = Duration::from_nanos((u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate)) as u64);
    *free_at = (*free_at).max(now) + takes;
    *free_at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uploads(slots: u32, rate: Option<u64>) -> Uploads {
        let upload_bytes_per_second = rate.map(bytesize::ByteSize::b);
        Uploads::new(&Limits { uploads_at_once: slots, upload_bytes_per_second, ..Limits::default() })
    }

    #[test]
    fn the_third_upload_of_two_slots_is_refused_until_one_ends() {
        let mut uploads = uploads(2, None);
        assert_eq!((uploads.begin(1), uploads.begin(1), uploads.begin(1)), (Ok(()), Ok(()), Err(NoSlot)));
        assert_eq!(uploads.begin(2), Ok(()), "another bot has slots of its own");
        uploads.end(1);
        assert_eq!(uploads.begin(1), Ok(()));
    }

    #[test]
    fn without_a_slot_rule_every_upload_begins_and_the_peak_is_known() {
        let mut uploads = uploads(0, None);
        for _ in 0..100 {
            assert_eq!(uploads.begin(1), Ok(()));
        }
        uploads.end(1);
        assert_eq!((uploads.take_peak(), uploads.take_peak()), (100, 99));
    }

    #[test]
    fn two_uploads_of_a_bot_share_its_rate_and_another_bot_does_not() {
        let mut uploads = uploads(0, Some(1000));
        let at = Duration::from_secs(10);
        assert_eq!(uploads.carry(at, 1, 500), Duration::from_millis(10_500));
        assert_eq!(uploads.carry(at, 1, 500), Duration::from_secs(11));
        assert_eq!(uploads.carry(at, 2, 500), Duration::from_millis(10_500));
        assert_eq!(
            uploads.carry(Duration::from_secs(20), 1, 1),
            Duration::from_millis(20_001),
            "idle time is not saved up"
        );
    }

    #[test]
    fn all_bots_share_the_rate_in_all_and_the_slower_of_both_counts() {
        let rate = |rate| Some(bytesize::ByteSize::b(rate));
        let both = (rate(1000), rate(1500));
        let (upload_bytes_per_second, upload_bytes_per_second_in_all) = both;
        let mut uploads =
            Uploads::new(&Limits { upload_bytes_per_second, upload_bytes_per_second_in_all, ..Limits::default() });
        let at = Duration::ZERO;
        assert_eq!(uploads.carry(at, 1, 1500), Duration::from_millis(1500), "its own rate is the slower one");
        assert_eq!(uploads.carry(at, 2, 1500), Duration::from_secs(2), "after the 1500 bytes of the other");
    }

    #[test]
    fn without_a_rate_bytes_take_no_time() {
        assert_eq!(uploads(0, None).carry(Duration::from_secs(3), 1, 1 << 30), Duration::from_secs(3));
    }
}
