//! Stalls of both sources -> the ones that count, by process and kind, and what it means where the two disagree.

use std::collections::BTreeMap;

use super::ProcessStalls;
use super::apart::{self, one_after_the_other};
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
    /// Whether a loop came to serve that was not seen from inside.
    pub(super) unseen: bool,
    stacks: Vec<Stack>,
    names: BTreeMap<u32, String>,
}

/// What they come to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counted {
    /// Who saw the ones that count: from inside where the system's own loops were seen, else from outside. Where not
    /// every loop that serves was seen from inside, those that were seen from outside alone count as well.
    pub(super) source: Option<Source>,
    /// They, in time order.
    pub(super) stalls: Vec<Stall>,
    pub(super) by_process: Vec<ProcessStalls>,
    pub(super) stacks: Vec<Stack>,
    pub(super) remark: Option<String>,
}

/// Who watched for stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Every loop that serves tells of itself.
    Loops,
    LoopsAndProbe,
    /// One that serves does not.
    SomeLoops,
    SomeLoopsAndProbe,
    Probe,
    Nothing,
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
        let seen = Seen::of(watched, self.unseen);
        let remark = one_after_the_other([self.remark(seen), apart::remark(&self.outside)]);
        let by_process = self.by_process();
        let (source, mut stalls) = match seen {
            Seen::Loops | Seen::LoopsAndProbe => (Some(Source::Inside), std::mem::take(&mut self.inside)),
            Seen::SomeLoopsAndProbe => (Some(Source::Inside), self.both()),
            Seen::Probe => (Some(Source::Outside), std::mem::take(&mut self.outside)),
            Seen::SomeLoops | Seen::Nothing => (None, Vec::new()),
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

    /// Those from inside, and those from outside that none of them explains.
    fn both(&self) -> Vec<Stall> {
        let alone = self.outside.iter().filter(|stall| is_alone(stall, &self.inside));
        self.inside.iter().chain(alone).copied().collect()
    }

    fn remark(&self, seen: Seen) -> Option<String> {
        let outside = alone(&self.outside, &self.inside, 0);
        match seen {
            Seen::LoopsAndProbe => one_after_the_other([outside.map(elsewhere), self.several_loops()]),
            Seen::SomeLoopsAndProbe => outside.map(|(count, longest)| {
                format!(
                    "{count} of the stalls, up to {longest}, were seen from outside alone, while every loop that is watched \
                     was calm: they count, since not every loop that serves is watched"
                )
            }),
            Seen::SomeLoops => {
                Some("a loop came to serve that is not watched, and nothing watched from outside".to_owned())
            }
            Seen::Loops | Seen::Probe | Seen::Nothing => None,
        }
    }

    fn several_loops(&self) -> Option<String> {
        alone(&self.inside, &self.outside, PROBE_CANNOT_MISS_US).map(|(count, longest)| {
            format!(
                "{count} stalls of a loop, up to {longest}, kept the probe from no answer: another process or thread \
                 answered it meanwhile"
            )
        })
    }
}

impl Seen {
    fn of(watched: &Observations, unseen: bool) -> Self {
        let (loops, probe) = (Observations::is_active(&watched.heartbeat), Observations::is_active(&watched.black_box));
        match (loops, unseen || watched.sees_loops_in_part(), probe) {
            (true, false, true) => Self::LoopsAndProbe,
            (true, false, false) => Self::Loops,
            (true, true, true) => Self::SomeLoopsAndProbe,
            (true, true, false) => Self::SomeLoops,
            // Who accepts may not be the one that is not watched: only where no loop is, connects alone are enough.
            (false, _, _) if watched.sees_outside() => Self::Probe,
            (false, _, _) => Self::Nothing,
        }
    }
}

fn elsewhere((count, longest): (Value, Value)) -> String {
    format!(
        "the probe waited {count} times, up to {longest}, while every loop was calm: that wait was not in a loop but before \
         it (the accept queue) or behind it (a pool, a lock, another process)"
    )
}

/// How many of these, longer than this, none of those explains, and the longest.
fn alone(these: &[Stall], those: &[Stall], least_us: u64) -> Option<(Value, Value)> {
    let alone = these.iter().filter(|stall| stall.len_us > least_us && is_alone(stall, those));
    let alone: Vec<u64> = alone.map(|stall| stall.len_us).collect();
    alone.iter().max().map(|longest| (Value::Count(alone.len() as u64), Value::Time(*longest)))
}

fn is_alone(stall: &Stall, those: &[Stall]) -> bool {
    !those.iter().any(|other| stall.overlaps(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::StallKind;

    fn inside(from_us: u64, len_us: u64, kind: StallKind) -> Stall {
        Stall { from_us, len_us, source: Source::Inside, kind: Some(kind), pid: Some(7), ..Stall::default() }
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
    fn where_a_loop_that_serves_is_not_seen_what_no_other_explains_counts_from_outside() {
        let stalls = [outside(0, 400_000), inside(900_000, 200_000, StallKind::Blocked), outside(950_000, 140_000)];
        let in_part = counted(&stalls, "active in part: pid 7 (node); not seen: thread 9 of pid 7 (node)");
        assert_eq!((in_part.source, in_part.stalls), (Some(Source::Inside), stalls[..2].to_vec()));
        let remark = in_part.remark.unwrap();
        assert!(remark.starts_with("1 of the stalls, up to 400 ms, were seen from outside alone"), "{remark}");
    }

    #[test]
    fn a_loop_that_came_to_serve_unseen_is_one_that_is_not_seen_and_without_a_probe_nothing_was_measured() {
        let of = |black_box: &str| {
            let mut all = Stalls { unseen: true, ..Stalls::default() };
            all.take(outside(0, 400_000));
            let (heartbeat, black_box) = ("active: pid 7 (node)".to_owned(), black_box.to_owned());
            all.counted(&Observations { heartbeat, black_box, ..Observations::default() })
        };
        assert_eq!(of("active").stalls, [outside(0, 400_000)]);
        assert_eq!(of("inactive: no answer").source, None);
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
