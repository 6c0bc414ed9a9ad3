//! How the numbers were taken, in sentences: a report states this before it states a number.

use crate::Value;
use crate::recording::{Calibration, Cores, Header, Part, Sample};
use crate::verdict::LATE_SHARE;

/// As much of a plan's digest as tells two plans apart.
pub(crate) const SHOWN_DIGEST: usize = 12;

/// How the numbers were taken, a line for each thing that a doubting reader would ask.
pub fn how_measured(header: &Header) -> Vec<String> {
    let mut lines = vec![
        "open loop: every act has its planned instant, whatever the system does, and response time runs from that instant".to_owned(),
        "percentiles are over the acts that succeeded; latency budgets are judged over all planned acts, one that did not succeed ranking slowest".to_owned(),
        plan(header),
        cores(&header.cores),
        connections(header),
    ];
    lines.extend(header.judge_latency.then(tolerance));
    lines.extend(network(header));
    lines.extend([machine(header), calibration(header)]);
    lines.extend(listen_queue(header));
    lines.extend(shards(header));
    lines.extend(header.cores.note.clone());
    lines.extend(header.how.quick.then(|| "a quick run: the crowd was made smaller".to_owned()));
    lines.extend(header.not_judged.as_ref().map(|why| format!("latency budgets are shown and not judged: {why}")));
    lines
}

/// How late the rig itself may be.
fn tolerance() -> String {
    let (late, share) = (Value::from(Sample::LATE), Value::Share(LATE_SHARE));
    format!(
        "of the acts whose players were free to go, {share} may leave more than {late} late; with more the run is \
         invalid"
    )
}

/// What of the plan this is, and who drove it.
fn shards(header: &Header) -> Vec<String> {
    if let Some(shard) = header.shard {
        return vec![format!("this is shard {shard} of the plan: the acts of one player in {}", shard.of)];
    }
    let Some(last) = header.parts.last() else { return Vec::new() };
    let joint = format!(
        "joined exactly from {} rigs, each with its share of the players; the first owned the stub, the system and the \
         observation, and all began by their own machines' clocks",
        last.shard.of
    );
    std::iter::once(joint).chain(header.parts.iter().map(rig)).collect()
}

fn rig(part: &Part) -> String {
    let (machine, cores) = (&part.machine, list(&part.cores.rig));
    let calibration = part.calibration.as_ref().map_or_else(|| "not calibrated".to_owned(), Calibration::in_words);
    format!("shard {} on {cores} of {} x {}: {calibration}", part.shard, machine.cpus, machine.cpu)
}

fn plan(header: &Header) -> String {
    let planned = Value::Count(header.planned.values().sum());
    let digest: String = header.plan_digest.chars().take(SHOWN_DIGEST).collect();
    let length = match header.load_us {
        (_, 0) => ", and the load never began".to_owned(),
        (from, to) => format!(" over {}", Value::Time(to.saturating_sub(from))),
    };
    format!("seed {}: {planned} acts planned{length} (plan {digest})", header.seed)
}

fn cores(cores: &Cores) -> String {
    let (system, rig) = (list(&cores.system), list(&cores.rig));
    let shared = if cores.shared { ", a core in both" } else { "" };
    format!("the system had {system}, the rig and its stub {rig}{shared}")
}

fn list(cores: &[u32]) -> String {
    let numbers: Vec<String> = cores.iter().map(u32::to_string).collect();
    match numbers.as_slice() {
        [] => "no core of its own".to_owned(),
        [only] => format!("core {only}"),
        several => format!("cores {}", several.join(", ")),
    }
}

fn connections(header: &Header) -> String {
    let how = &header.how;
    let [connect, answer, settle] =
        [how.connect_timeout_ms, how.timeout_ms, how.settle_ms].map(|ms| Value::Time(ms * 1_000));
    format!("{}; {connect} to connect, {answer} to answer, {settle} for deliveries to settle", how.connections)
}

/// How the crowd reached the system, where that is anything but plain.
pub(crate) fn network(header: &Header) -> Option<String> {
    let network = header.how.network.as_ref()?;
    let (words, fineness) =
        (network.in_words()?, network.rtt_us.map_or("", |_| "; a round trip is kept to a millisecond"));
    Some(format!("the crowd's network, which is in every response time: {words}{fineness}"))
}

fn machine(header: &Header) -> String {
    let machine = &header.machine;
    let memory = Value::Size(machine.memory_bytes);
    let (cpus, cpu, os, kernel) = (machine.cpus, &machine.cpu, &machine.os, &machine.kernel);
    format!("{cpus} x {cpu}, {memory}, {os} {kernel}, floodrig {}", header.versions.floodrig)
}

/// The kernel's settings that decide on connections at a full listen queue.
fn listen_queue(header: &Header) -> Option<String> {
    let settings: Vec<String> =
        header.machine.network.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    (!settings.is_empty()).then(|| format!("a full listen queue was subject to {}", settings.join(", ")))
}

fn calibration(header: &Header) -> String {
    match &header.calibration {
        Some(calibration) => format!("calibrated right before: {}", calibration.in_words()),
        None => "not calibrated: `floodrig calibrate` says what the rig can do on these cores".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::{Calibration, Network};

    #[test]
    fn a_doubting_reader_finds_seed_cores_timeouts_and_machine() {
        let said = how_measured(&fixture::header()).join("\n");
        for words in [
            "seed 7: 300 acts planned over 10 s (plan c0ffee)",
            "the system had core 1, the rig and its stub core 0",
            "10 s to connect, 30 s to answer, 30 s for deliveries to settle",
            "2 x Some CPU @ 2.50GHz, 8.0 GiB, Linux 6.8.0, floodrig 0.1.0",
        ] {
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn what_the_rig_could_do_is_said_or_that_nobody_asked() {
        let mut header = fixture::header();
        assert!(how_measured(&header).iter().any(|line| line.starts_with("not calibrated")));
        header.calibration = Some(Calibration {
            connections: 64,
            requests_per_second: 151_234.4,
            cpu_us_per_request: Some(5.2),
            steady_per_second: 2_000,
            lag_p50_us: Some(61),
            lag_p99_us: None,
        });
        let said = how_measured(&header).join("\n");
        let words = "151,234 requests/s over 64 connections at 5.2 us of the rig's CPU each; at 2,000/s, lag p50 61 us";
        assert!(said.contains(words), "{said}");
    }

    #[test]
    fn a_network_that_shapes_the_figures_is_said_and_a_plain_one_is_not() {
        let mut header = fixture::header();
        let said = |header: &Header| how_measured(header).join("\n");
        assert!(!said(&header).contains("network"));
        header.how.network = Some(Network { rtt_us: Some((40_000, 300_000)), ..Network::default() });
        let words = "the crowd's network, which is in every response time: rtt 40ms..300ms; a round trip is kept to a millisecond";
        assert!(said(&header).contains(words), "{}", said(&header));
    }

    #[test]
    fn how_late_the_rig_may_be_is_said_before_it_is_broken_and_where_it_is_judged() {
        let said = |judge_latency| how_measured(&Header { judge_latency, ..fixture::header() }).join("\n");
        let words = "of the acts whose players were free to go, 1 % may leave more than 50 ms late";
        assert!(said(true).contains(words), "{}", said(true));
        assert!(!said(false).contains(words));
    }

    #[test]
    fn a_load_that_never_began_has_no_length() {
        let header = Header { load_us: (0, 0), ..fixture::header() };
        let said = how_measured(&header).join("\n");
        assert!(said.contains("seed 7: 300 acts planned, and the load never began (plan c0ffee)"), "{said}");
    }

    #[test]
    fn what_departs_from_the_ideal_is_said() {
        let mut header = fixture::header();
        header.cores = Cores { shared: true, note: Some("1 core of 2".to_owned()), ..header.cores };
        header.how.quick = true;
        header.not_judged = Some("quick".to_owned());
        let said = how_measured(&header).join("\n");
        for words in ["a core in both", "1 core of 2", "the crowd was made smaller", "shown and not judged: quick"] {
            assert!(said.contains(words), "{said}");
        }
    }
}
