//! `summary.json`: the contract that scripts and CI read. Keys are added, never renamed; what was not measured is `null`.

use serde::Serialize;

use crate::recording::Network;
use crate::verdict::{Breach, Verdict, VerdictKind};
use crate::{Finding, Summary};

/// The number of this file's format; it rises when a key's meaning changes.
const FORMAT: u32 = 1;

/// Verdict and findings before the numbers.
#[derive(Serialize)]
struct File<'a> {
    format: u32,
    scenario: &'a str,
    variant: Option<&'a str>,
    seed: u64,
    plan_digest: &'a str,
    verdict: VerdictKind,
    exit_code: u8,
    breaches: &'a [Breach],
    invalid_because: &'a [String],
    findings: &'a [Finding],
    network: Option<&'a Network>,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// `summary.json` of a run, with a line break at its end.
pub fn json(summary: &Summary, verdict: &Verdict, findings: &[Finding]) -> String {
    let file = file(summary, verdict, findings);
    let mut text = serde_json::to_string_pretty(&file).expect("a summary has only text keys and plain values");
    text.push('\n');
    text
}

/// The same in one line, without its end.
pub fn json_line(summary: &Summary, verdict: &Verdict, findings: &[Finding]) -> String {
    serde_json::to_string(&file(summary, verdict, findings)).expect("a summary has only text keys and plain values")
}

fn file<'a>(summary: &'a Summary, verdict: &'a Verdict, findings: &'a [Finding]) -> File<'a> {
    let header = &summary.header;
    File {
        format: FORMAT,
        scenario: &header.scenario,
        variant: header.variant.as_deref(),
        seed: header.seed,
        plan_digest: &header.plan_digest,
        verdict: verdict.kind(),
        exit_code: verdict.kind().exit_code(),
        breaches: verdict.breaches(),
        invalid_because: verdict.invalid_because(),
        findings,
        network: header.how.network.as_ref(),
        summary,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::fixture;
    use crate::recording::{EndingKind, Protocol};
    use crate::summary::{Deliveries, System};
    use crate::verdict::judge;

    fn written(summary: &Summary) -> Value {
        let verdict = judge(summary, &summary.header.budgets);
        serde_json::from_str(&json(summary, &verdict, &[])).unwrap()
    }

    fn has_keys(value: &Value, keys: &str) {
        for key in keys.split_whitespace() {
            assert!(value.get(key).is_some(), "{key} is missing in {value}");
        }
    }

    /// The keys as scripts know them.
    fn has_every_key(file: &Value) {
        has_keys(file, "format scenario variant seed plan_digest verdict exit_code breaches invalid_because findings");
        has_keys(
            file,
            "network acts rig system services services_died telegram deliveries recovery shutdown observations",
        );
        let quantiles = "count mean p50 p90 p99 p999 max";
        let act = &file["acts"]["guess"];
        has_keys(act, "planned ok outcomes late_connect unserved left requests amplification ok_per_second");
        for series in ["response_us", "service_us", "blocked_us", "failed_response_us"] {
            has_keys(&act[series], quantiles);
        }
        has_keys(&act["outcomes"], "check_failed status_1xx status_2xx status_3xx status_4xx status_5xx refused reset");
        has_keys(
            &act["outcomes"],
            "connect_timeout closed malformed timeout unanswered abandoned stopped skipped rig_fault",
        );
        has_keys(&file["rig"], "lag_us cpu_us_per_request core_busy steal cores_shared");
        has_keys(&file["rig"]["lag_us"], "p50 p99 max");
        has_keys(&file["system"], "stderr_lines stderr_errors top_messages rss_peak_bytes cpu_seconds handles_peak");
        has_keys(&file["system"], "threads_peak stall_max_ms stalls listen_queue_peak listen_overflows pool_hint");
        has_keys(&file["system"], "ending ready_after_ms cores_used_by_others");
        has_keys(&file["telegram"], "calls accepted throttled calls_while_throttled uploads upload_bytes by_method");
        has_keys(
            &file["telegram"],
            "peak_uploads_at_once worst_second_sends worst_minute_group_sends unmodelled unmatched",
        );
        has_keys(&file["telegram"], "throttled_by");
        has_keys(&file["deliveries"], "expected delivered late lost duplicated latency_us staleness_ms");
        has_keys(&file["deliveries"]["staleness_ms"], "p50 p99 max");
        has_keys(&file["observations"], "heartbeat black_box bare_connects proc listen_queue tcp_info cgroup outbound");
    }

    #[test]
    fn every_key_of_the_contract_is_there() {
        let file = written(&fixture::summary());
        has_every_key(&file);
        has_keys(&file["system"]["ending"], "kind code signal at_ms in_flight stderr_tail oom");
        assert_eq!((&file["verdict"], &file["exit_code"]), (&Value::from("pass"), &Value::from(0)));
    }

    #[test]
    fn how_the_crowd_reached_the_system_is_told_also_where_it_is_plain() {
        let mut summary = fixture::summary();
        has_keys(&written(&summary)["network"], "tls http2 chosen spoken connections rtt_us reads_at_bytes");
        let network = summary.header.how.network.as_mut().unwrap();
        (network.chosen, network.rtt_us) = (Some(Protocol::Http2), Some((40_000, 300_000)));
        let file = written(&summary);
        assert_eq!((&file["network"]["chosen"], &file["network"]["rtt_us"][1]), (&"h2".into(), &300_000.into()));
    }

    #[test]
    fn what_was_not_measured_is_null_and_keeps_its_key() {
        let mut summary = fixture::summary();
        summary.system = System::default();
        summary.deliveries = Deliveries::default();
        let file = written(&summary);
        has_every_key(&file);
        for key in ["rss_peak_bytes", "stall_max_ms", "stderr_errors", "ending"] {
            assert_eq!(file["system"][key], Value::Null);
        }
        assert_eq!(file["deliveries"]["lost"], Value::Null);
    }

    #[test]
    fn a_line_holds_the_same_as_the_file() {
        let summary = fixture::summary();
        let verdict = judge(&summary, &summary.header.budgets);
        let line = json_line(&summary, &verdict, &[]);
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), written(&summary));
    }

    #[test]
    fn ok_and_outcomes_are_the_planned_acts() {
        let file = written(&fixture::summary());
        for act in file["acts"].as_object().unwrap().values() {
            let outcomes: u64 =
                act["outcomes"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
            assert_eq!(act["planned"].as_u64().unwrap(), act["ok"].as_u64().unwrap() + outcomes);
        }
    }

    #[test]
    fn a_broken_run_lists_its_breaches_and_an_invalid_one_its_reasons() {
        let mut summary = fixture::summary();
        summary.telegram.throttled = 213;
        let breach = &written(&summary)["breaches"][0];
        assert_eq!(
            (&breach["series"], &breach["value"], &breach["ratio"]),
            (&"throttled".into(), &"213".into(), &Value::Null)
        );
        summary.rig.lag_us.max = Some(2_000_000);
        let file = written(&summary);
        assert_eq!((&file["verdict"], &file["exit_code"]), (&"invalid".into(), &4.into()));
        assert!(file["invalid_because"][0].as_str().unwrap().starts_with("the rig stood still"));
        assert_eq!(file["breaches"], Value::Array(Vec::new()));
    }

    #[test]
    fn a_death_is_told_with_its_signal() {
        let mut summary = fixture::summary();
        summary.system.ending = Some(fixture::ending(EndingKind::Signal, Some("SIGSEGV"), 5_100));
        let file = written(&summary);
        let ending = &file["system"]["ending"];
        assert_eq!((&ending["kind"], &ending["signal"]), (&"signal".into(), &"SIGSEGV".into()));
        assert_eq!((&file["verdict"], &file["exit_code"]), (&"died".into(), &5.into()));
    }
}
