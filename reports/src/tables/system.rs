//! The system under test and what ran beside it, as tables.

use super::Table;
use crate::Value;
use crate::outbound::Connections;
use crate::recording::{Confined, Ending, EndingKind, Stack, Towards};
use crate::summary::{ProcessStalls, Service, Summary, System};
use crate::verdict::ending_words;

pub(crate) fn system(summary: &Summary) -> Table {
    let system = &summary.system;
    let seconds = system.cpu_seconds.map(|seconds| seconds * 1e3);
    let ready = system.ready_after_ms.map(|ms| ms as f64);
    let by_process = stalls_by_process(system);
    let stacks = stall_stacks(summary);
    let counted = |what: &str| format!("{what}, {}", summary.observations.counted_in());
    let (overflows, drops) = (counted("dropped at a full listen queue"), counted("dropped by listeners"));
    let resent = counted("SYNs sent again");
    let mut values = vec![
        ("ready after", Value::millis(ready).to_string()),
        ("peak memory", Value::size(system.rss_peak_bytes).to_string()),
        ("CPU time", Value::millis(seconds).to_string()),
        ("most handles", Value::count(system.handles_peak).to_string()),
        ("most handles of a process, of its limit", Value::share(system.handles_share_peak).to_string()),
        ("most threads", Value::count(system.threads_peak).to_string()),
        ("memory at the end, shared pages divided", Value::size(system.pss_bytes).to_string()),
        ("threads waited for a processor", Value::millis(system.run_queue_wait_ms).to_string()),
        ("its cores, used by others during the load", Value::share(system.cores_used_by_others).to_string()),
        ("threads lost the processor", Value::count(system.switches_forced).to_string()),
        ("threads gave the processor up", Value::count(system.switches_voluntary).to_string()),
        ("pages read from disk", Value::count(system.major_faults).to_string()),
        ("stalls", Value::count(system.stalls).to_string()),
        ("longest stall", Value::millis(system.stall_max_ms).to_string()),
        ("longest probe delay", Value::millis(system.probe_delay_max_ms).to_string()),
        ("longest wait to be accepted", Value::millis(system.accept_delay_max_ms).to_string()),
        ("longest listen queue", Value::count(system.listen_queue_peak).to_string()),
        ("room in the listen queue", Value::count(system.listen_backlog).to_string()),
        (overflows.as_str(), Value::count(system.listen_overflows).to_string()),
        (drops.as_str(), Value::count(system.listen_drops).to_string()),
        (resent.as_str(), Value::count(system.syn_retransmits).to_string()),
        ("lines on stderr", Value::count(system.stderr_lines).to_string()),
        ("error lines", Value::count(system.stderr_errors).to_string()),
    ];
    values.extend(by_process.iter().map(|(process, stalls)| (process.as_str(), stalls.clone())));
    values.extend(stacks.iter().map(|(stall, frames)| (stall.as_str(), frames.clone())));
    values.extend(system.stall_remark.iter().map(|remark| ("where those who watch disagree", remark.clone())));
    values.extend(system.listen_remark.iter().map(|remark| ("why nobody was refused", remark.clone())));
    for (name, value) in system.confined.iter().flat_map(confined) {
        values.push((name, value));
    }
    values.extend(system.ending.as_ref().map(|ending| ("ended", ended(summary, ending))));
    Table::of_values("The system", &values)
}

/// Where the loop was, innermost first, for the first stalls that were caught at it.
fn stall_stacks(summary: &Summary) -> Vec<(String, String)> {
    let line = |stack: &Stack| {
        let at_s = (stack.at_us as f64 - summary.header.load_us.0 as f64) / 1e6;
        (format!("stalled at {at_s:.1} s (pid {}) in", stack.pid), stack.frames.join(" < "))
    };
    summary.system.stall_stacks.iter().map(line).collect()
}

/// What each process's own loop did while it stalled, a line for each kind.
fn stalls_by_process(system: &System) -> Vec<(String, String)> {
    let line = |stalls: &ProcessStalls| {
        let kind = stalls.kind.map_or_else(|| "of an unknown kind".to_owned(), |kind| kind.to_string());
        let died = if stalls.died { "; it died in the last" } else { "" };
        let (count, longest) = (Value::Count(stalls.count), Value::millis(Some(stalls.max_ms)));
        (format!("stalls of {} (pid {})", stalls.name, stalls.pid), format!("{count} {kind}, longest {longest}{died}"))
    };
    system.stalls_by_process.iter().map(line).collect()
}

/// The limits that were in force, with what became of them.
fn confined(limits: &Confined) -> Vec<(&'static str, String)> {
    let mut values = Vec::new();
    if let Some(bytes) = limits.memory_limit_bytes {
        let kills = Value::count(limits.oom_kills);
        values.push(("memory limit", Value::Size(bytes).to_string()));
        values.push(("killed for memory", kills.to_string()));
    }
    if let Some(cpu) = limits.cpu_limit {
        let throttled = limits.throttled_us.map(|us| us as f64 / 1e3);
        values.push(("CPU limit", format!("{cpu} cores")));
        values.push(("kept waiting by the CPU limit", Value::millis(throttled).to_string()));
    }
    values
}

/// The system's own connections, port by port.
pub(crate) fn connections(summary: &Summary) -> Table {
    let row = |(port, one): (&u16, &Connections)| {
        let peaks = [one.established_peak, one.waiting_peak].map(|peak| Value::Count(peak).to_string());
        std::iter::once(Towards::place(*port, one.name.as_deref())).chain(peaks).collect()
    };
    let rows = summary.system.outbound.iter().flatten().map(row).collect();
    Table::new("The system's own connections", &["to", "most at once", "most that waited for an answer"], rows)
}

/// What ran beside the system.
pub(crate) fn services(summary: &Summary) -> Table {
    let row = |(name, service): (&String, &Service)| {
        let values = [
            Value::Count(service.processes_peak),
            Value::size(service.rss_peak_bytes),
            Value::millis(service.cpu_seconds.map(|seconds| seconds * 1e3)),
            Value::count(service.handles_peak),
        ];
        std::iter::once(name.clone()).chain(values.map(|value| value.to_string())).collect()
    };
    let head = ["service", "processes", "peak memory", "CPU time", "most handles"];
    Table::new("Beside the system", &head, summary.services.iter().map(row).collect())
}

fn ended(summary: &Summary, ending: &Ending) -> String {
    match ending.kind {
        EndingKind::Stopped => stopped(ending),
        EndingKind::Exit | EndingKind::Signal => ending_words(ending, summary.header.load_us.0),
    }
}

/// A slow stop is worth its time, and one by force its reason.
fn stopped(ending: &Ending) -> String {
    let took = ending.stop_took_ms.map(|ms| format!(", {} after SIGTERM", Value::millis(Some(ms as f64))));
    let note = ending.note.as_ref().map(|note| format!(", {note}"));
    let words = ["when the rig stopped it".to_owned()].into_iter().chain(took).chain(note);
    words.collect()
}
