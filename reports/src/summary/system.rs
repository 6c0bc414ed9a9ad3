//! Vitals, stalls, log lines and the ending -> the system of a summary, tick by tick and as a whole.

use std::collections::BTreeMap;

use super::System;
use super::listening::Listening;
use super::processes::Counters;
use super::stalls::{Counted, Stalls};
use crate::outbound;
use crate::recording::{
    Confined, Ending, EndingKind, Header, Logs, Observations, PidVital, Probed, Source, Stack, Stall, Vital,
};
use crate::timeline::{Timeline, VitalPoint};

/// Gathers what the vitals say of the system's whole process tree.
#[derive(Debug, Default)]
pub(super) struct Tree {
    ticks: u64,
    last_at_us: u64,
    /// By process id and start: the id alone may come to another process.
    cpu_us: BTreeMap<(u32, u64), u64>,
    rss_peak_bytes: Option<u64>,
    handles_peak: Option<u64>,
    handles_hidden: bool,
    threads_peak: Option<u64>,
    listening: Listening,
    probe_delay_us: Option<u64>,
    accept_delay_us: Option<u64>,
    stalls: Stalls,
    /// The stall that was under way at the last tick.
    running: Option<Stall>,
    /// Whether the observation came to its end; stalls from outside are written only then.
    ended: bool,
    counters: Counters,
    pss_bytes: Option<u64>,
}

/// What is known of the system only at the end.
pub(super) struct Last {
    pub(super) logs: Option<Logs>,
    pub(super) confined: Option<Confined>,
    pub(super) ending: Option<Ending>,
}

impl Tree {
    /// Takes one tick and gives its point on the charts.
    pub(super) fn take(&mut self, vital: &Vital) -> VitalPoint {
        let point = VitalPoint {
            at_s: vital.at_us as f64 / 1e6,
            rss_bytes: PidVital::whole(&vital.pids, |pid| Some(pid.rss_bytes)),
            cpu: self.cores_busy(vital),
            handles: PidVital::whole(&vital.pids, |pid| pid.handles),
            threads: PidVital::whole(&vital.pids, |pid| Some(pid.threads)),
            probe_delay_ms: vital.probe_delay_us.map(|us| us as f64 / 1e3),
            accept_delay_ms: vital.accept_delay_us.map(|us| us as f64 / 1e3),
            listen_queue: vital.listen_queue,
            listen_backlog: vital.listen_backlog,
            network: vital.network,
        };
        self.stalls.name(&vital.pids);
        self.running = vital.stalling_us.map(|us| running(vital.at_us, us));
        self.ticks += 1;
        self.last_at_us = vital.at_us;
        self.raise_peaks(vital, &point);
        self.counters.take(&vital.pids);
        point
    }

    pub(super) fn take_stall(&mut self, stall: Stall) {
        if stall.source == Source::Inside {
            self.running = self.running.filter(|running| !running.overlaps(&stall));
        }
        self.stalls.take(stall);
    }

    pub(super) fn take_stack(&mut self, stack: Stack) {
        self.stalls.take_stack(stack);
    }

    pub(super) fn take_probed(&mut self, probed: Probed) {
        self.ended = true;
        self.probe_delay_us = self.probe_delay_us.max(probed.longest_delay_us);
        self.accept_delay_us = self.accept_delay_us.max(probed.longest_accept_us);
        self.pss_bytes = probed.pss_bytes.or(self.pss_bytes);
        self.stalls.unseen |= probed.unseen;
    }

    /// The kernel keeps each process's own peak, which a tick may have missed.
    fn raise_peaks(&mut self, vital: &Vital, point: &VitalPoint) {
        let own_peak = vital.pids.iter().map(|pid| pid.hwm_bytes).max();
        self.rss_peak_bytes = self.rss_peak_bytes.max(point.rss_bytes).max(own_peak);
        self.handles_peak = self.handles_peak.max(point.handles);
        self.handles_hidden |= point.handles.is_none() && !vital.pids.is_empty();
        self.threads_peak = self.threads_peak.max(point.threads);
        self.listening.take(vital);
        self.probe_delay_us = self.probe_delay_us.max(vital.probe_delay_us);
        self.accept_delay_us = self.accept_delay_us.max(vital.accept_delay_us);
    }

    /// Cores busy since the last tick; a process that has gone keeps what it had used.
    fn cores_busy(&mut self, vital: &Vital) -> Option<f64> {
        let used = vital.pids.iter().map(|pid| self.cpu_since_last_tick(pid)).reduce(|sum, one| sum + one)?;
        let passed = vital.at_us.saturating_sub(self.last_at_us);
        (self.ticks > 0 && passed > 0).then_some(used as f64 / passed as f64)
    }

    fn cpu_since_last_tick(&mut self, pid: &PidVital) -> u64 {
        let before = self.cpu_us.insert((pid.pid, pid.start), pid.cpu_us).unwrap_or(0);
        pid.cpu_us.saturating_sub(before)
    }

    /// The system, and the stalls that count.
    pub(super) fn summary(mut self, header: &Header, last: Last) -> (System, Vec<Stall>) {
        let watched = &header.observations;
        let ended = self.ended;
        // Of a rig that was killed meanwhile nobody writes how the stall under way went on.
        self.running.filter(|_| !ended).into_iter().for_each(|stall| self.stalls.take(stall));
        let proc = self.ticks > 0 && Observations::is_active(&watched.proc);
        let queue = Observations::is_active(&watched.listen_queue);
        let delay = |longest: Option<u64>, seen: &str| {
            longest.filter(|_| self.ticks > 0 && Observations::is_active(seen)).map(|us| us as f64 / 1e3)
        };
        let probe_delay_max_ms = delay(self.probe_delay_us, &watched.black_box);
        let accept_delay_max_ms = delay(self.accept_delay_us, &watched.bare_connects);
        let listening = if queue { self.listening } else { Listening::default() };
        let logs = last.logs;
        let sum = |of: fn(&PidVital) -> Option<u64>| self.counters.sum(of).filter(|_| proc);
        let in_part = self.stalls.unseen || watched.sees_loops_in_part();
        let Counted { source, stalls, by_process, stacks, remark } = self.stalls.counted(watched);
        let longest_us = stalls.iter().map(|stall| stall.len_us).max().unwrap_or(0);
        let watched_for = source.filter(|source| self.ticks > 0 && (ended || (*source == Source::Inside && !in_part)));
        let system = System {
            stderr_lines: logs.as_ref().map(|logs| logs.stderr_lines),
            stderr_errors: logs.as_ref().map(|logs| logs.stderr_errors),
            top_messages: logs.map(|logs| logs.top_messages).unwrap_or_default(),
            rss_peak_bytes: self.rss_peak_bytes.filter(|_| proc),
            cpu_seconds: self.cpu_us.values().copied().reduce(|sum, one| sum + one).filter(|_| proc).map(seconds),
            handles_peak: self.handles_peak.filter(|_| proc && !self.handles_hidden),
            threads_peak: self.threads_peak.filter(|_| proc),
            handles_share_peak: self.counters.handles_share().filter(|_| proc),
            pss_bytes: self.pss_bytes.filter(|_| proc),
            run_queue_wait_ms: sum(|pid| pid.waited_us).map(|us| us as f64 / 1e3),
            switches_voluntary: sum(|pid| pid.switches_voluntary),
            switches_forced: sum(|pid| pid.switches_forced),
            major_faults: sum(|pid| pid.major_faults),
            cores_used_by_others: None,
            stall_max_ms: watched_for.map(|_| longest_us as f64 / 1e3),
            stalls: watched_for.map(|_| stalls.len() as u64),
            stall_source: watched_for,
            stalls_by_process: by_process,
            stall_stacks: stacks,
            stall_remark: remark.filter(|_| ended),
            probe_delay_max_ms,
            accept_delay_max_ms,
            listen_queue_peak: listening.peak,
            listen_backlog: listening.backlog,
            listen_overflows: listening.counts.map(|counts| counts.listen_overflows),
            listen_drops: listening.counts.map(|counts| counts.listen_drops),
            syn_retransmits: listening.counts.map(|counts| counts.syn_retransmits),
            listen_remark: listening.remark(&header.machine.network),
            pool_hint: None,
            confined: last.confined,
            outbound: None,
            ending: last.ending,
            ready_after_ms: header.ready_after_ms,
        };
        (system, stalls)
    }
}

impl System {
    /// What its own connections came to, when they were watched. A loop that nobody watched is not known to be calm.
    pub(super) fn take_outbound(&mut self, watched: &Observations, timeline: &Timeline) {
        if Observations::is_active(&watched.outbound) {
            self.outbound = Some(outbound::connections(&timeline.outbound));
            let pool = outbound::saturated(timeline).filter(|_| self.stalls.is_some());
            self.pool_hint = pool.map(|pool| pool.hint());
        }
    }

    /// Its commonest error lines, each with how often it came.
    pub fn commonest_errors(&self) -> Vec<String> {
        self.top_messages.iter().map(|message| format!("{} x {}", message.count, message.text)).collect()
    }

    /// How it ended by itself, if it did: the rig's own stop is never a crash.
    pub fn own_ending(&self) -> Option<&Ending> {
        let ending = self.ending.as_ref()?;
        match ending.kind {
            EndingKind::Stopped => None,
            EndingKind::Exit | EndingKind::Signal => Some(ending),
        }
    }

    /// The last lines on its stderr, when it ended by itself.
    pub fn last_words(&self) -> &[String] {
        self.own_ending().map_or(&[], |ending| &ending.stderr_tail)
    }
}

/// One that has not ended, as long as it was seen.
fn running(at_us: u64, len_us: u64) -> Stall {
    Stall { from_us: at_us.saturating_sub(len_us), len_us, source: Source::Inside, ..Stall::default() }
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const MIB: u64 = 1 << 20;

    fn pid(pid: u32, rss_bytes: u64, cpu_us: u64) -> PidVital {
        PidVital { pid, rss_bytes, hwm_bytes: rss_bytes, cpu_us, threads: 2, handles: Some(10), ..PidVital::default() }
    }

    fn tick(at_us: u64, pids: Vec<PidVital>) -> Vital {
        Vital { at_us, pids, ..Vital::default() }
    }

    fn stall(len_us: u64) -> Stall {
        Stall { len_us, ..Stall::default() }
    }

    fn summary(tree: Tree) -> System {
        tree.summary(&fixture::header(), Last { logs: None, confined: None, ending: None }).0
    }

    #[test]
    fn a_tree_is_summed_process_by_process() {
        let mut tree = Tree::default();
        let point = tree.take(&tick(0, vec![pid(1, 30 * MIB, 0), pid(2, 20 * MIB, 0)]));
        assert_eq!((point.rss_bytes, point.handles, point.threads), (Some(50 * MIB), Some(20), Some(4)));
        assert_eq!(summary(tree).rss_peak_bytes, Some(50 * MIB));
    }

    #[test]
    fn handles_that_cannot_be_counted_are_not_measured_rather_than_none() {
        let mut tree = Tree::default();
        tree.take(&tick(0, vec![pid(1, MIB, 0)]));
        let point = tree.take(&tick(1, vec![pid(1, MIB, 0), PidVital { handles: None, ..pid(2, MIB, 0) }]));
        assert_eq!((point.handles, summary(tree).handles_peak), (None, None));
    }

    #[test]
    fn a_peak_between_two_ticks_is_known_from_the_kernel() {
        let mut tree = Tree::default();
        tree.take(&tick(0, vec![PidVital { hwm_bytes: 90 * MIB, ..pid(1, 30 * MIB, 0) }]));
        assert_eq!(summary(tree).rss_peak_bytes, Some(90 * MIB));
    }

    #[test]
    fn cpu_is_what_was_used_since_the_last_tick_and_outlives_its_process() {
        let mut tree = Tree::default();
        tree.take(&tick(1_000_000, vec![pid(1, 0, 700_000), pid(2, 0, 300_000)]));
        let point = tree.take(&tick(1_100_000, vec![pid(1, 0, 750_000)]));
        assert!((point.cpu.unwrap() - 0.5).abs() < 1e-9);
        assert!((summary(tree).cpu_seconds.unwrap() - 1.05).abs() < 1e-9);
    }

    #[test]
    fn a_process_that_is_given_the_id_of_one_that_has_ended_takes_nothing_of_its_cpu() {
        let mut tree = Tree::default();
        tree.take(&tick(1_000_000, vec![PidVital { start: 5, ..pid(1, 0, 700_000) }]));
        let point = tree.take(&tick(1_100_000, vec![PidVital { start: 9, ..pid(1, 0, 50_000) }]));
        assert!((point.cpu.unwrap() - 0.5).abs() < 1e-9);
        assert!((summary(tree).cpu_seconds.unwrap() - 0.75).abs() < 1e-9);
    }

    #[test]
    fn a_tick_that_saw_no_process_is_a_gap_and_no_zero() {
        let mut tree = Tree::default();
        let point = tree.take(&tick(0, Vec::new()));
        assert_eq!((point.rss_bytes, point.cpu, point.handles, point.threads), (None, None, None, None));
        tree.take(&tick(1, vec![pid(1, MIB, 0)]));
        tree.take(&tick(2, Vec::new()));
        let system = summary(tree);
        assert_eq!((system.rss_peak_bytes, system.handles_peak, system.threads_peak), (Some(MIB), Some(10), Some(2)));
    }

    #[test]
    fn a_system_of_which_no_tick_saw_a_process_has_no_figures() {
        let mut tree = Tree::default();
        tree.take(&tick(0, Vec::new()));
        let system = summary(tree);
        assert_eq!((system.rss_peak_bytes, system.handles_peak, system.threads_peak), (None, None, None));
        assert_eq!((system.cpu_seconds, system.major_faults), (None, None));
    }

    #[test]
    fn the_longest_stall_counts_and_an_unstalled_system_has_none() {
        let mut tree = Tree::default();
        tree.take(&Vital { probe_delay_us: Some(20_000), ..tick(0, Vec::new()) });
        let calm = Tree { ended: true, ..tree };
        let mut stalled = Tree { ticks: 1, ended: true, ..Tree::default() };
        stalled.take_stall(stall(80_000));
        stalled.take_stall(stall(60_000));
        let calm = summary(calm);
        assert_eq!((calm.stalls, calm.stall_max_ms, calm.probe_delay_max_ms), (Some(0), Some(0.0), Some(20.0)));
        let stalled = summary(stalled);
        assert_eq!((stalled.stalls, stalled.stall_max_ms), (Some(2), Some(80.0)));
    }

    fn killed(heartbeat: &str, ticks: &[Option<u64>]) -> (System, Vec<Stall>) {
        let mut header = fixture::header();
        header.observations.heartbeat = heartbeat.to_owned();
        let mut tree = Tree::default();
        for (nth, stalling_us) in (1..).zip(ticks) {
            tree.take(&Vital { stalling_us: *stalling_us, ..tick(nth * 100_000, vec![pid(1, MIB, 0)]) });
        }
        tree.summary(&header, Last { logs: None, confined: None, ending: None })
    }

    #[test]
    fn stalls_from_outside_are_not_known_of_a_rig_that_was_killed_before_it_wrote_them() {
        let (system, stalls) = killed("inactive: Rust", &[None]);
        assert_eq!((system.stalls, system.stall_max_ms, system.stall_source), (None, None, None));
        assert_eq!((system.rss_peak_bytes, stalls), (Some(MIB), Vec::new()));
    }

    #[test]
    fn a_stall_from_inside_that_was_under_way_when_the_rig_was_killed_counts_as_long_as_it_was_seen() {
        let (system, stalls) = killed("active: pid 1 (node)", &[None, Some(60_000), Some(160_000)]);
        assert_eq!(
            (system.stalls, system.stall_max_ms, system.stall_source),
            (Some(1), Some(160.0), Some(Source::Inside))
        );
        assert_eq!(stalls, [Stall { source: Source::Inside, from_us: 140_000, ..stall(160_000) }]);
        assert_eq!(system.stall_remark, None, "what the probe saw was not written");
    }

    #[test]
    fn a_stall_that_ended_before_the_rig_was_killed_is_not_told_twice() {
        assert_eq!(killed("active: pid 1 (node)", &[Some(60_000), None]).0.stalls, Some(0));
        let mut tree = Tree::default();
        tree.take(&Vital { stalling_us: Some(60_000), ..tick(100_000, Vec::new()) });
        tree.take_probed(Probed::default());
        assert_eq!(summary(tree).stalls, Some(0));
    }

    #[test]
    fn the_longest_delays_are_told_even_when_no_tick_saw_them() {
        let mut tree = Tree::default();
        let (probe_delay_us, accept_delay_us) = (Some(20_000), Some(2000));
        tree.take(&Vital { probe_delay_us, accept_delay_us, ..tick(0, Vec::new()) });
        let (longest_delay_us, longest_accept_us) = (Some(45_000), Some(7000));
        tree.take_probed(Probed { longest_delay_us, longest_accept_us, pss_bytes: None, unseen: false });
        let told = summary(tree);
        assert_eq!((told.probe_delay_max_ms, told.accept_delay_max_ms), (Some(45.0), Some(7.0)));
    }

    #[test]
    fn an_inactive_observation_leaves_nothing_not_zero() {
        let mut header = fixture::header();
        header.observations = Observations::default();
        let mut tree = Tree::default();
        tree.take(&Vital { listen_queue: Some(3), probe_delay_us: Some(9), ..tick(0, vec![pid(1, MIB, 1)]) });
        let (system, _) = tree.summary(&header, Last { logs: None, confined: None, ending: None });
        assert_eq!(System { ready_after_ms: header.ready_after_ms, ..System::default() }, system);
    }
}
