//! Reads the pages, ten times a second: stalls that have ended, and those under way.
//!
//! A page keeps every gap by itself, so a rig that was late misses none and adds nothing: only the age of a beat is
//! the rig's to read, and its clock is read before the page. A stall began somewhere within a tick after the last
//! beat; the middle is taken, which is wrong by 10 ms at most. One under way, or one that its process died in, began
//! within the time between two writes after the last: at rest that is wrong by 20 ms at most.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use floodrig_reports::recording::{Source, Stack, Stall, StallKind};
use procfs::process::Process;

use super::charge::Charge;
use super::kind::{Time, kind};
use super::name::Name;
use super::page::{Gap, PAGE_BYTES, Page, State};
use super::stack::frames;
use super::standing::Door;
use super::throttle::Throttle;
use crate::keeper::monotonic_ns;
use crate::system::Clock;

/// Since its last beat a loop is calm for this long; the probes keep every longer gap. Beats that were not written are
/// allowed for on top.
const CALM_NS: u64 = 60_000_000;
/// Pages watched at once; a system of more processes than this makes its point with the first ones.
const WATCHED: usize = 256;

/// Watches every page of a folder, and tells of the loops that serve.
#[derive(Debug)]
pub(in crate::vitals) struct Watch {
    pages: PathBuf,
    /// What a loop does that serves.
    door: Door,
    clock: Clock,
    /// What ended before this is no part of the observation.
    from: Duration,
    beating: BTreeMap<Name, Beating>,
}

/// What one look found.
#[derive(Debug, Default)]
pub(in crate::vitals) struct Look {
    /// Stalls that have ended since the last look, by themselves or with their process.
    pub(in crate::vitals) stalls: Vec<Stall>,
    /// Where the loop was in one of them.
    pub(in crate::vitals) stacks: Vec<Stack>,
    /// The longest one under way.
    pub(in crate::vitals) stalling: Option<Duration>,
}

impl Watch {
    /// Of the pages in this folder, from now on.
    pub(in crate::vitals) fn new(pages: PathBuf, door: Door, clock: Clock) -> Self {
        Self { pages, door, clock, from: clock.now(), beating: BTreeMap::new() }
    }

    /// Looks at every page.
    pub(in crate::vitals) fn look(&mut self) -> Look {
        self.meet();
        let (clock, from, pages) = (self.clock, self.from, &self.pages);
        let mut look = Look::default();
        self.beating.retain(|name, beating| {
            let lives = beating.look(clock, &mut look);
            if !lives {
                // The number may come to another process, which then writes a page of its own.
                drop(fs::remove_file(pages.join(name.to_string())));
            }
            lives
        });
        look.stalls.retain(|stall| Duration::from_micros(stall.from_us + stall.len_us) > from);
        look
    }

    /// The last look; what is under way counts as far as it was seen.
    pub(in crate::vitals) fn finish(mut self) -> Look {
        let mut look = self.look();
        let clock = self.clock;
        for beating in self.beating.values_mut() {
            beating.unended(clock, false, &mut look);
        }
        look
    }

    /// Opens the pages of loops that have come since.
    fn meet(&mut self) {
        let entries = fs::read_dir(&self.pages).into_iter().flatten().flatten();
        for name in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<Name>().ok()) {
            if self.beating.len() < WATCHED && !self.beating.contains_key(&name) {
                self.beating.extend(Beating::meet(&self.pages, name, self.door).map(|beating| (name, beating)));
            }
        }
    }
}

/// One loop and its open page, which stays readable when both are gone.
#[derive(Debug)]
struct Beating {
    name: Name,
    page: File,
    process: Process,
    pages: PathBuf,
    door: Door,
    charge: Charge,
    stacks: PathBuf,
    stacks_read: usize,
    gaps_seen: u64,
    throttle: Option<Throttle>,
    /// When the loop was last calm.
    throttled_before: Duration,
    under_way: Option<UnderWay>,
}

/// A stall that was seen while its process lived.
#[derive(Debug, Clone, Copy)]
struct UnderWay {
    gap: Gap,
    /// How long after its first instant the loop may still have come round, unseen.
    since_beat_ns: u64,
    stopped: bool,
    throttled: Duration,
}

impl UnderWay {
    /// Whether this is what became of it: the gap begins at a beat that may not have been written.
    fn is_of(&self, gap: &Gap) -> bool {
        let from_ns = self.gap.from_ns;
        (from_ns..from_ns + self.since_beat_ns).contains(&gap.from_ns)
    }
}

impl Beating {
    fn meet(pages: &Path, name: Name, door: Door) -> Option<Self> {
        let page = File::open(pages.join(name.to_string())).ok()?;
        let process = Process::new(name.pid as i32).ok()?;
        let stacks = pages.join(format!("{name}.stack"));
        let throttle = Throttle::of(&process);
        let throttled_before = throttle.as_ref().and_then(Throttle::so_far).unwrap_or_default();
        let mut beating = Self {
            name,
            page,
            charge: Charge::Unknown,
            process,
            pages: pages.to_owned(),
            door,
            stacks,
            stacks_read: 0,
            gaps_seen: 0,
            throttle,
            throttled_before,
            under_way: None,
        };
        let thread = beating.read().map_or(name.thread.unwrap_or(name.pid), |page| page.thread);
        beating.charge = Charge::met(&beating.process, thread, door);
        Some(beating)
    }

    /// False once the process, or the thread that the page is of, has ended.
    fn look(&mut self, clock: Clock, to: &mut Look) -> bool {
        let now_ns = monotonic_ns();
        let Some(page) = self.read() else { return self.lives() };
        self.charge.hear(&page);
        let throttled = self.throttled();
        // Another thread of the same number has begun the page anew.
        self.gaps_seen = if page.gaps_kept < self.gaps_seen { 0 } else { self.gaps_seen };
        for gap in page.gaps_since(self.gaps_seen) {
            let seen = self.under_way.filter(|seen| seen.is_of(gap));
            self.ask(&page);
            let stopped = seen.is_some_and(|seen| seen.stopped);
            let ended = UnderWay { gap: *gap, since_beat_ns: page.tick_ns, stopped, throttled };
            self.tell(stall(clock, self.name.pid, &ended, false), to);
        }
        self.gaps_seen = page.gaps_kept;
        let unwritten_ns = page.write_ns.saturating_sub(page.tick_ns);
        let late = now_ns.saturating_sub(page.beat_ns) > CALM_NS + unwritten_ns;
        match (page.state, late) {
            (State::Beating, true) => return self.late(&page, now_ns, clock, to),
            (State::Beating, false) => {
                self.under_way = None;
                self.throttled_before += throttled;
            }
            (State::Hello | State::Ended, _) => {
                self.under_way = None;
                return self.lives();
            }
        }
        true
    }

    fn read(&self) -> Option<Page> {
        let mut bytes = [0; PAGE_BYTES];
        // A page is caught in the middle of a write once in a long while, and then the next try succeeds.
        (0..3).find_map(|_| {
            let read = self.page.read_at(&mut bytes, 0).ok()?;
            Page::parse(&bytes[..read])
        })
    }

    /// The loop has not been there for a while: it stalls, or it is gone.
    fn late(&mut self, page: &Page, now_ns: u64, clock: Clock, to: &mut Look) -> bool {
        let Some(state) = self.state() else {
            self.unended(clock, true, to);
            return false;
        };
        if self.process.task_from_tid(page.thread as i32).is_err() {
            // A thread that was ended in a stall, as by `terminate()`, kept nobody waiting afterwards.
            self.unended(clock, false, to);
            self.under_way = None;
            return self.lives();
        }
        let (run_ns, wait_ns) = self.scheduled(page.thread).unwrap_or((page.run_ns, page.wait_ns));
        let gap = Gap {
            from_ns: page.beat_ns,
            to_ns: now_ns,
            run_ns: run_ns.saturating_sub(page.run_ns),
            wait_ns: wait_ns.saturating_sub(page.wait_ns),
        };
        if self.under_way.is_none() {
            self.ask(page);
        }
        let stopped = matches!(state, 'T' | 't') || self.under_way.is_some_and(|seen| seen.stopped);
        self.under_way = Some(UnderWay { gap, since_beat_ns: page.write_ns, stopped, throttled: self.throttled() });
        let so_far = Duration::from_nanos(now_ns.saturating_sub(page.beat_ns + page.write_ns / 2));
        to.stalling = to.stalling.max(self.charge.counts().then_some(so_far));
        true
    }

    /// Whether this loop, which has stalled, serves.
    fn ask(&mut self, page: &Page) {
        self.charge.ask(&self.process, page.thread, &self.pages, self.door);
    }

    fn unended(&mut self, clock: Clock, died: bool, to: &mut Look) {
        if let Some(seen) = self.under_way {
            self.tell(stall(clock, self.name.pid, &seen, died), to);
        }
    }

    /// A stall, and where it was if that has been written down; of a loop that serves nobody, nothing.
    fn tell(&mut self, stall: Stall, to: &mut Look) {
        let frames = self.frames();
        if !self.charge.counts() {
            return;
        }
        to.stalls.push(stall);
        if !frames.is_empty() {
            to.stacks.push(Stack { at_us: stall.from_us, pid: self.name.pid, frames });
        }
    }

    /// Of what has been written down since.
    fn frames(&mut self) -> Vec<String> {
        let Ok(dump) = fs::read(&self.stacks) else { return Vec::new() };
        let new = String::from_utf8_lossy(dump.get(self.stacks_read..).unwrap_or_default()).into_owned();
        self.stacks_read = dump.len();
        frames(&new)
    }

    /// By its quota, since its loop was last calm.
    fn throttled(&self) -> Duration {
        let so_far = self.throttle.as_ref().and_then(Throttle::so_far).unwrap_or_default();
        so_far.saturating_sub(self.throttled_before)
    }

    fn lives(&self) -> bool {
        let thread = self.name.thread.map(|thread| self.process.task_from_tid(thread as i32));
        self.state().is_some() && thread.is_none_or(|thread| thread.is_ok())
    }

    /// The letter of `proc_pid_stat(5)`; nothing when the process has ended.
    fn state(&self) -> Option<char> {
        self.process.stat().ok().map(|stat| stat.state).filter(|state| !matches!(state, 'Z' | 'X'))
    }

    /// The time that the thread has run, and has waited for a processor.
    fn scheduled(&self, thread: u32) -> Option<(u64, u64)> {
        let all = self.process.task_from_tid(thread as i32).ok()?.schedstat().ok()?;
        Some((all.sum_exec_runtime, all.run_delay))
    }
}

fn stall(clock: Clock, pid: u32, seen: &UnderWay, died: bool) -> Stall {
    let Gap { from_ns, to_ns, run_ns, wait_ns } = seen.gap;
    let from = clock.of_monotonic_ns(from_ns + seen.since_beat_ns / 2);
    let len = clock.of_monotonic_ns(to_ns).saturating_sub(from);
    let throttled_ns = seen.throttled.as_nanos() as u64;
    let time = Time { all_ns: to_ns.saturating_sub(from_ns), run_ns, wait_ns, throttled_ns };
    Stall {
        from_us: from.as_micros() as u64,
        len_us: len.as_micros() as u64,
        source: Source::Inside,
        kind: if seen.stopped { Some(StallKind::Stopped) } else { kind(time) },
        pid: Some(pid),
        died,
        apart: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_of_a_stall_under_way_though_its_first_beat_was_not_written() {
        let gap = |from_ns| Gap { from_ns, to_ns: 900, run_ns: 0, wait_ns: 0 };
        let stalls = UnderWay { gap: gap(100), since_beat_ns: 40, stopped: true, throttled: Duration::ZERO };
        assert_eq!([99, 100, 120, 140].map(|from_ns| stalls.is_of(&gap(from_ns))), [false, true, true, false]);
    }
}
