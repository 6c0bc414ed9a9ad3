//! How many came in a span, counted to a thousandth of it: whatever comes, a thousand numbers hold it.

use std::collections::VecDeque;
use std::time::Duration;

/// Numbers by the thousandth of the span in which they came, oldest first.
#[derive(Debug, Default)]
pub(super) struct Tally {
    runs: VecDeque<(u64, u32)>,
    total: u32,
}

impl Tally {
    /// Lets go of what came a span ago.
    pub(super) fn expire(&mut self, now: Duration, span: Duration) {
        let now = thousandths(now, span);
        while let Some((_, count)) = self.runs.pop_front_if(|(came, _)| *came + 1000 <= now) {
            self.total -= count;
        }
    }

    /// Notes more at `now`.
    pub(super) fn push(&mut self, now: Duration, span: Duration, more: u32) {
        let now = thousandths(now, span);
        self.total = self.total.saturating_add(more);
        match self.runs.back_mut() {
            Some((came, count)) if *came == now => *count = count.saturating_add(more),
            Some(_) | None => self.runs.push_back((now, more)),
        }
    }

    pub(super) fn total(&self) -> u32 {
        self.total
    }
}

fn thousandths(at: Duration, span: Duration) -> u64 {
    (at.as_nanos() / (span.as_nanos() / 1000).max(1)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_leaves_a_span_later() {
        let (mut tally, second) = (Tally::default(), Duration::from_secs(1));
        tally.push(Duration::from_millis(1), second, 3);
        tally.push(Duration::from_millis(2), second, 1);
        tally.expire(Duration::from_millis(1000), second);
        assert_eq!(tally.total(), 4);
        tally.expire(Duration::from_millis(1001), second);
        assert_eq!(tally.total(), 1);
    }

    #[test]
    fn a_flood_takes_a_thousand_numbers_at_most() {
        let (mut tally, minute) = (Tally::default(), Duration::from_secs(60));
        for nth in 0..200_000 {
            let at = Duration::from_millis(nth);
            tally.push(at, minute, 1);
            tally.expire(at, minute);
        }
        assert!(tally.runs.len() <= 1000, "{}", tally.runs.len());
    }
}
