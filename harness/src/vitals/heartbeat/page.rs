//! The page that a probe writes (`probes/node.cjs`, `probes/sitecustomize.py`), decoded. Pure.
//!
//! In the machine's own byte order: a head of twelve words of eight bytes, which are the magic, the count of writes,
//! the process id and the state (four bytes each), the tick, the last beat, the time the loop's thread had run and
//! waited for a processor when it was last asked, at this beat or at one of the two before, the count of gaps kept, the
//! thread, up to four ports that the loop listens on (two bytes each), the time between two writes, and the count of
//! writes again. Then a ring of 16 gaps: from, to, and what the thread has run and waited since it was asked before, up
//! to three beats earlier. All times are nanoseconds, instants on `CLOCK_MONOTONIC`.

/// The first eight bytes of a page.
const MAGIC: &[u8; 8] = b"FHEART01";
const WORD: usize = 8;
const HEAD_WORDS: usize = 12;
const GAP_WORDS: usize = 4;
/// Gaps that a page holds. Each is longer than 60 ms and the rig looks ten times a second.
const RING: u64 = 16;
/// The bytes of a page that mean something.
pub(super) const PAGE_BYTES: usize = WORD * (HEAD_WORDS + GAP_WORDS * RING as usize);

/// What the process has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The probe is loaded; no loop has run yet.
    Hello,
    /// The loop beats.
    Beating,
    /// The loop has ended in good order.
    Ended,
}

/// A page at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) state: State,
    /// The time between two beats when all is calm.
    pub(super) tick_ns: u64,
    pub(super) beat_ns: u64,
    /// The time between two writes when all is calm: a loop at rest beats without writing.
    pub(super) write_ns: u64,
    /// Since the thread began.
    pub(super) run_ns: u64,
    pub(super) wait_ns: u64,
    /// Gaps kept so far; the ring has the last ones.
    pub(super) gaps_kept: u64,
    /// The thread that the loop runs in.
    pub(super) thread: u32,
    ports: u64,
    gaps: Vec<Gap>,
}

/// A time between two beats that was far longer than a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit ends the name of a number that the page holds")]
pub(super) struct Gap {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// The time that the loop's thread ran, and waited for a processor, in it and in up to 75 ms before.
    pub(super) run_ns: u64,
    pub(super) wait_ns: u64,
}

impl Page {
    /// Nothing: not a page, or one caught in the middle of a write.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let word = bytes.get(at * WORD..(at + 1) * WORD)?;
            Some(u64::from_ne_bytes(word.try_into().ok()?))
        };
        if bytes.get(..WORD)? != MAGIC || word(1)? != word(HEAD_WORDS - 1)? {
            return None;
        }
        let gap = |nth: u64| {
            let at = HEAD_WORDS + GAP_WORDS * (nth % RING) as usize;
            Some(Gap { from_ns: word(at)?, to_ns: word(at + 1)?, run_ns: word(at + 2)?, wait_ns: word(at + 3)? })
        };
        let gaps_kept = word(7)?;
        Some(Self {
            state: State::of(u32::from_ne_bytes(bytes.get(20..24)?.try_into().ok()?))?,
            tick_ns: word(3)?,
            beat_ns: word(4)?,
            write_ns: word(10)?,
            run_ns: word(5)?,
            wait_ns: word(6)?,
            gaps_kept,
            thread: word(8)? as u32,
            ports: word(9)?,
            gaps: (gaps_kept.saturating_sub(RING)..gaps_kept).filter_map(gap).collect(),
        })
    }

    /// Whether the loop says that it listens there.
    pub(super) fn serves(&self, port: u16) -> bool {
        (0..u64::BITS).step_by(16).any(|shift| (self.ports >> shift) as u16 == port)
    }

    /// Whether the loop says that it listens anywhere.
    pub(super) fn listens(&self) -> bool {
        self.ports != 0
    }

    /// The gaps from the `seen`th on, as far as the ring still has them.
    pub(super) fn gaps_since(&self, seen: u64) -> &[Gap] {
        let new = self.gaps_kept.saturating_sub(seen) as usize;
        &self.gaps[self.gaps.len() - new.min(self.gaps.len())..]
    }
}

impl State {
    fn of(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::Hello),
            2 => Some(Self::Beating),
            3 => Some(Self::Ended),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A page with these gaps in the order in which they were kept.
    pub(in super::super) fn page(state: u32, beat_ns: u64, gaps: &[Gap]) -> Vec<u8> {
        let count = gaps.len() as u64;
        let mut words = vec![u64::from_ne_bytes(*MAGIC), 7, 0, 20_000_000, beat_ns, 5, 6, count, 42, 0, 40_000_000, 7];
        words.resize(PAGE_BYTES / WORD, 0);
        for (nth, gap) in gaps.iter().enumerate() {
            let at = HEAD_WORDS + GAP_WORDS * (nth % RING as usize);
            words[at..at + GAP_WORDS].copy_from_slice(&[gap.from_ns, gap.to_ns, gap.run_ns, gap.wait_ns]);
        }
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes[16..20].copy_from_slice(&41_u32.to_ne_bytes());
        bytes[20..24].copy_from_slice(&state.to_ne_bytes());
        bytes
    }

    fn gap(from_ns: u64) -> Gap {
        Gap { from_ns, to_ns: from_ns + 100, run_ns: 60, wait_ns: 40 }
    }

    #[test]
    fn a_page_says_when_its_loop_was_last_there() {
        let page = Page::parse(&page(2, 99, &[gap(1)])).unwrap();
        assert_eq!((page.state, page.tick_ns, page.beat_ns), (State::Beating, 20_000_000, 99));
        assert_eq!(page.write_ns, 40_000_000);
        assert_eq!((page.run_ns, page.wait_ns, page.thread), (5, 6, 42));
        assert_eq!(page.gaps_since(0), [gap(1)]);
        assert_eq!(page.gaps_since(1), []);
    }

    #[test]
    fn a_page_says_where_its_loop_listens() {
        let mut bytes = page(2, 99, &[]);
        bytes[9 * WORD..10 * WORD].copy_from_slice(&((8080 << 16) + 443_u64).to_ne_bytes());
        let page = Page::parse(&bytes).unwrap();
        assert_eq!([443, 8080, 80].map(|port| page.serves(port)), [true, true, false]);
    }

    #[test]
    fn a_full_ring_has_the_last_gaps() {
        let gaps: Vec<Gap> = (0..RING + 2).map(gap).collect();
        let page = Page::parse(&page(2, 99, &gaps)).unwrap();
        assert_eq!(page.gaps_since(0), &gaps[2..]);
        assert_eq!(page.gaps_since(RING + 1), &gaps[RING as usize + 1..]);
    }

    #[test]
    fn a_page_in_the_middle_of_a_write_is_none() {
        let mut bytes = page(2, 99, &[]);
        bytes[8] += 1;
        assert_eq!(Page::parse(&bytes), None);
        assert_eq!(Page::parse(&[]), None);
        assert_eq!(Page::parse(&page(9, 99, &[])), None);
    }
}
