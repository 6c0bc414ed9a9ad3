//! Stalls of both sources -> the ones that count, by process and kind, and what it means where the two disagree.

use std::collections::BTreeMap;

use super::ProcessStalls;
use crate::Value;
use crate::recording::{Observations, PidVital, Source, Stack, Stall};

/// Beside a heartbeat the probe asks twice a second: one longer than this cannot have passed between two questions.
const PROBE_CANNOT_MISS_US: u64 = 600_000;

/// Different stacks that are shown.
const STACKS: usize = 10;

/// Gathers stalls as they come.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    inside: Vec<Stall>,
    outside: Vec<Stall>,
    stacks: Vec<Stack>,
    names: BTreeMap<u32, String>,
}

/// What they come to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counted {
    /// Who saw the ones that count: from inside where the system's own loop was seen, else from outside.
    pub(super) source: Option<Source>,
    /// They, in time order.
    pub(super) stalls: Vec<Stall>,
    pub(super) by_process: Vec<ProcessStalls>,
    pub(super) stacks: Vec<Stack>,
    pub(super) remark: Option<String>,
}

impl Stalls {
    pub(super) fn take(&mut self, stall: Stall) {
        match stall.source {
            Source::Inside => self.inside.push(stall),
            Source::Outside => self.outside.push(stall),
        }
    }

    /// The first ones: what stalls once more is mostly the same.
    pub(super) fn take_stack(&mut self, stack: Stack) {
        if self.stacks.len() < STACKS && !self.stacks.iter().any(|known| known.frames == stack.frames) {
            self.stacks.push(stack);
        }
    }

    /// Remembers what each process is called.
    pub(super) fn name(&mut self, pids: &[PidVital]) {
        for PidVital { pid, name, .. } in pids {
            if self.names.get(pid) != Some(name) {
                self.names.insert(*pid, name.clone());
            }
        }
    }

    pub(super) fn counted(mut self, watched: &Observations) -> Counted {
        let active = Observations::is_active;
        let source = match (active(&watched.heartbeat), active(&watched.black_box)) {
            (true, _) => Some(Source::Inside),
            (false, true) => Some(Source::Outside),
            (false, false) => None,
        };
        let remark = self.remark().filter(|_| active(&watched.heartbeat) && active(&watched.black_box));
        let by_process = self.by_process();
        let mut stalls = match source {
            Some(Source::Inside) => std::mem::take(&mut self.inside),
            Some(Source::Outside) => std::mem::take(&mut self.outside),
            None => Vec::new(),
        };
        stalls.sort_by_key(|stall| stall.from_us);
        Counted { source, stalls, by_process, stacks: self.stacks, remark }
    }

    fn by_process(&self) -> Vec<ProcessStalls> {
        let mut found: BTreeMap<_, (u64, u64, bool)> = BTreeMap::new();
        for stall in &self.inside {
            let Some(pid) = stall.pid else { continue };
            let (count, longest, died) = found.entry((pid, stall.kind)).or_default();
            *count += 1;
            *longest = stall.len_us.max(*longest);
            *died |= stall.died;
        }
        let row = |((pid, kind), (count, longest, died))| ProcessStalls {
            pid,
            name: self.names.get(&pid).cloned().unwrap_or_default(),
            kind,
            count,
            max_ms: longest as f64 / 1e3,
            died,
        };
        found.into_iter().map(row).collect()
    }

    fn remark(&self) -> Option<String> {
        let apart = |these: &[Stall], those: &[Stall], least_us: u64| {
            let alone = |stall: &&Stall| stall.len_us > least_us && !those.iter().any(|other| overlap(stall, other));
            let alone: Vec<u64> = these.iter().filter(alone).map(|stall| stall.len_us).collect();
            alone.iter().max().map(|longest| (Value::Count(alone.len() as u64), Value::Time(*longest)))
        };
        let outside = apart(&self.outside, &self.inside, 0).map(|(count, longest)| {
            format!(
                "the probe waited {count} times, up to {longest}, while every loop was calm: that wait was not in a loop \
                 but before it (the accept queue) or behind it (a pool, a lock, another process)"
            )
        });
        let inside = apart(&self.inside, &self.outside, PROBE_CANNOT_MISS_US).map(|(count, longest)| {
            format!(
                "{count} stalls of a loop, up to {longest}, kept the probe from no answer: another process or thread \
                 answered it meanwhile"
            )
        });
        let both: Vec<String> = [outside, inside].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join("; "))
    }
}

fn overlap(one: &Stall, other: &Stall) -> bool {
    one.from_us < other.from_us + other.len_us && other.from_us < one.from_us + one.len_us
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::StallKind;

    fn inside(from_us: u64, len_us: u64, kind: StallKind) -> Stall {
        Stall { from_us, len_us, source: Source::Inside, kind: Some(kind), pid: Some(7), died: false }
    }

    fn outside(from_us: u64, len_us: u64) -> Stall {
        Stall { from_us, len_us, ..Stall::default() }
    }

    fn counted(stalls: &[Stall], heartbeat: &str) -> Counted {
        let mut all = Stalls::default();
        all.name(&[PidVital { pid: 7, name: "node".to_owned(), ..PidVital::default() }]);
        for stall in stalls {
            all.take(*stall);
        }
        let watched =
            Observations { heartbeat: heartbeat.into(), black_box: "active".into(), ..Observations::default() };
        all.counted(&watched)
    }

    #[test]
    fn where_the_loop_is_seen_the_probe_does_not_count() {
        let both = [outside(10, 900_000), inside(0, 100_000, StallKind::Blocked)];
        let from_inside = counted(&both, "active: pid 7 (node)");
        assert_eq!((from_inside.source, from_inside.stalls), (Some(Source::Inside), vec![both[1]]));
        let from_outside = counted(&both[..1], "inactive: Rust");
        assert_eq!((from_outside.source, from_outside.stalls), (Some(Source::Outside), vec![both[0]]));
    }

    #[test]
    fn stalls_are_counted_by_process_and_kind() {
        let of = |kind, count, max_ms| ProcessStalls {
            pid: 7,
            name: "node".to_owned(),
            kind: Some(kind),
            count,
            max_ms,
            died: false,
        };
        let stalls = [
            inside(0, 60_000, StallKind::Blocked),
            inside(1, 90_000, StallKind::Computing),
            inside(2, 70_000, StallKind::Blocked),
        ];
        let rows = counted(&stalls, "active").by_process;
        assert_eq!(rows, [of(StallKind::Computing, 1, 90.0), of(StallKind::Blocked, 2, 70.0)]);
    }

    #[test]
    fn a_stack_that_comes_again_is_told_once() {
        let mut all = Stalls::default();
        for (at_us, frame) in [(1, "draw"), (2, "draw"), (3, "encode")] {
            all.take_stack(Stack { at_us, pid: 7, frames: vec![frame.to_owned()] });
        }
        let told: Vec<u64> = all.counted(&Observations::default()).stacks.iter().map(|stack| stack.at_us).collect();
        assert_eq!(told, [1, 3]);
    }

    #[test]
    fn a_wait_while_the_loop_was_calm_was_elsewhere() {
        let remark = counted(&[outside(0, 800_000)], "active").remark.unwrap();
        assert!(remark.starts_with("the probe waited 1 times, up to 800 ms, while every loop was calm"), "{remark}");
        assert_eq!(counted(&[outside(0, 800_000)], "inactive: Rust").remark, None);
        let agreed = [outside(50_000, 750_000), inside(0, 800_000, StallKind::Computing)];
        assert_eq!(counted(&agreed, "active").remark, None);
    }

    #[test]
    fn a_stall_that_the_probe_must_have_met_and_did_not_was_one_of_several_loops() {
        let one = |len_us| counted(&[inside(0, len_us, StallKind::Computing)], "active").remark;
        assert_eq!(one(PROBE_CANNOT_MISS_US), None);
        assert!(one(PROBE_CANNOT_MISS_US + 1).unwrap().contains("another process or thread"));
    }
}
