//! Two runs of the same plan, series by series: what a change bought.

use crate::Value;
use crate::how::SHOWN_DIGEST;
use crate::summary::{Act, Summary};

/// Two runs of the same plan side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The run compared with, by its variant's or scenario's name.
    pub baseline: String,
    /// The run compared.
    pub candidate: String,
    /// What a reader must know before any number: how the two differ beside the system.
    pub remark: Option<String>,
    /// The key series.
    pub series: Vec<Pair>,
}

/// One series of both runs. Its texts are the ones that every renderer shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Such as `guess: response p99`.
    pub series: String,
    /// Of the baseline.
    pub baseline: String,
    /// Of the candidate.
    pub candidate: String,
    /// `candidate / baseline`, when that is a number.
    pub ratio: Option<f64>,
    /// The change in words: `4.1 times less`.
    pub change: String,
}

/// The runs planned different arrivals, and whatever differs may come from that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the runs are of different plans ({baseline} and {candidate}) and cannot be compared: run both with the same seed and crowd"
)]
pub struct DifferentPlans {
    /// The plan digest of the baseline, as much of it as reports show.
    pub baseline: String,
    /// That of the candidate.
    pub candidate: String,
}

/// Puts two runs of the same plan side by side.
pub fn compare(baseline: &Summary, candidate: &Summary) -> Result<Comparison, DifferentPlans> {
    let [before, after] = [baseline, candidate].map(|summary| &summary.header.plan_digest);
    if before != after {
        let [baseline, candidate] = [before, after].map(|digest| digest.chars().take(SHOWN_DIGEST).collect());
        return Err(DifferentPlans { baseline, candidate });
    }
    let acts = baseline.header.acts.iter().flat_map(|act| act_pairs(act, baseline, candidate));
    let run = RUN_SERIES.iter().map(|(series, of)| pair((*series).to_owned(), of(baseline), of(candidate)));
    Ok(Comparison {
        baseline: baseline.header.name().to_owned(),
        candidate: candidate.header.name().to_owned(),
        remark: different_networks(baseline, candidate),
        series: acts.chain(run).collect(),
    })
}

/// Times that hold different networks compare the networks too.
fn different_networks(baseline: &Summary, candidate: &Summary) -> Option<String> {
    let [before, after] = [baseline, candidate].map(|summary| summary.header.how.network.as_ref());
    let (before, after) = before.zip(after).filter(|(before, after)| before.differs_from(after))?;
    let [before, after] =
        [before, after].map(|network| network.in_words().unwrap_or_else(|| "a plain network".to_owned()));
    Some(format!(
        "the networks of the crowd differ, and a change in times may be theirs: {} had {before}; {} had {after}",
        baseline.header.name(),
        candidate.header.name()
    ))
}

/// A series by its name and how it is read from a run.
type Series<From> = (&'static str, fn(&From) -> Value);

const ACT_SERIES: [Series<Act>; 5] = [
    ("did not succeed", |act| Value::Count(act.failed())),
    ("response p50", |act| Value::quantile(act.response_us.p50)),
    ("response p99", |act| Value::quantile(act.response_us.p99)),
    ("response max", |act| Value::quantile(act.response_us.max)),
    ("p99 of all planned", Act::judged_p99),
];

const RUN_SERIES: [Series<Summary>; 19] = [
    ("unserved", |run| Value::Count(run.acts.values().map(|act| act.unserved).sum())),
    ("late connects", |run| Value::Count(run.acts.values().map(|act| act.late_connect).sum())),
    ("peak memory", |run| Value::size(run.system.rss_peak_bytes)),
    ("longest stall", |run| Value::millis(run.system.stall_max_ms)),
    ("stalls", |run| Value::count(run.system.stalls)),
    ("longest probe delay", |run| Value::millis(run.system.probe_delay_max_ms)),
    ("longest wait to be accepted", |run| Value::millis(run.system.accept_delay_max_ms)),
    ("CPU time", |run| Value::millis(run.system.cpu_seconds.map(|seconds| seconds * 1e3))),
    ("most handles", |run| Value::count(run.system.handles_peak)),
    ("most threads", |run| Value::count(run.system.threads_peak)),
    ("error lines", |run| Value::count(run.system.stderr_errors)),
    ("Telegram calls", |run| Value::count(run.telegram.measured(|telegram| telegram.calls))),
    ("429s", |run| Value::count(run.telegram.measured(|telegram| telegram.throttled))),
    ("calls while throttled", |run| Value::count(run.telegram.measured(|telegram| telegram.calls_while_throttled))),
    ("uploaded", |run| Value::size(run.telegram.measured(|telegram| telegram.upload_bytes))),
    ("deliveries", |run| Value::count(run.deliveries.delivered)),
    ("late", |run| Value::count(run.deliveries.late)),
    ("lost", |run| Value::count(run.deliveries.lost)),
    ("staleness p99", |run| Value::millis(run.deliveries.staleness_ms.p99)),
];

impl Act {
    /// The 99th percentile over all planned acts, unbounded when more than one in a hundred did not succeed.
    pub(crate) fn judged_p99(&self) -> Value {
        match self.judged_us.count {
            0 => Value::Absent,
            _ => self.judged_us.p99.map_or(Value::Unbounded, Value::Time),
        }
    }
}

fn act_pairs(act: &str, baseline: &Summary, candidate: &Summary) -> Vec<Pair> {
    let (Some(before), Some(after)) = (baseline.acts.get(act), candidate.acts.get(act)) else {
        return Vec::new();
    };
    let series = ACT_SERIES.iter().map(|(series, of)| (series, of(before), of(after)));
    // Of an act of which none succeeded on either side there is nothing to compare.
    let told = series.filter(|(_, before, after)| (*before, *after) != (Value::Absent, Value::Absent));
    told.map(|(series, before, after)| pair(format!("{act}: {series}"), before, after)).collect()
}

fn pair(series: String, before: Value, after: Value) -> Pair {
    Pair {
        series,
        baseline: before.to_string(),
        candidate: after.to_string(),
        ratio: after.ratio_to(before),
        change: change(before, after),
    }
}

/// The change in words, so that no reader has to know which number was divided by which.
fn change(before: Value, after: Value) -> String {
    let (more, less) = (after.exceeds(before), before.exceeds(after));
    let factor = if more { after.ratio_to(before) } else { before.ratio_to(after) };
    match (more, less, factor) {
        (false, false, _) => String::new(),
        (_, _, Some(factor)) if factor < 1.05 => "about the same".to_owned(),
        (true, _, Some(factor)) => format!("{} times more", times(factor)),
        (false, _, Some(factor)) => format!("{} times less", times(factor)),
        (true, _, None) => "more".to_owned(),
        (false, _, None) => "less".to_owned(),
    }
}

fn times(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.1}") } else { Value::Count(factor.round() as u64).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::Network;
    use crate::summary::Quantiles;

    fn before() -> Summary {
        let mut before = fixture::summary();
        before.header.variant = Some("before".to_owned());
        before.system.rss_peak_bytes = Some(120 << 20);
        before.system.stall_max_ms = Some(3_200.0);
        before.telegram.throttled = 213;
        before
    }

    fn series<'a>(comparison: &'a Comparison, name: &str) -> &'a Pair {
        comparison.series.iter().find(|pair| pair.series == name).unwrap()
    }

    #[test]
    fn a_change_is_said_in_words_with_its_ratio() {
        let comparison = compare(&before(), &fixture::summary()).unwrap();
        assert_eq!((comparison.baseline.as_str(), comparison.candidate.as_str()), ("before", "after"));
        let memory = series(&comparison, "peak memory");
        assert_eq!((memory.baseline.as_str(), memory.candidate.as_str()), ("120.0 MiB", "30.0 MiB"));
        assert_eq!((memory.ratio, memory.change.as_str()), (Some(0.25), "4.0 times less"));
    }

    #[test]
    fn a_change_to_or_from_nothing_has_no_ratio_and_still_a_direction() {
        let (before, after) = (before(), fixture::summary());
        let better = compare(&before, &after).unwrap();
        assert_eq!(series(&better, "429s").change, "less");
        assert_eq!(series(&better, "longest stall").change, "less");
        let worse = compare(&after, &before).unwrap();
        assert_eq!((series(&worse, "429s").ratio, series(&worse, "429s").change.as_str()), (None, "more"));
    }

    #[test]
    fn what_is_the_same_or_was_not_measured_has_no_change() {
        let comparison = compare(&fixture::summary(), &fixture::summary()).unwrap();
        assert!(comparison.series.iter().all(|pair| pair.change.is_empty()));
        let mut unmeasured = fixture::summary();
        unmeasured.system.rss_peak_bytes = None;
        let memory = compare(&before(), &unmeasured).unwrap();
        let memory = series(&memory, "peak memory");
        assert_eq!((memory.candidate.as_str(), memory.ratio, memory.change.as_str()), ("not measured", None, ""));
    }

    #[test]
    fn networks_that_differ_are_told_before_the_numbers_and_equal_ones_are_not() {
        let (plain, mut far) = (before(), fixture::summary());
        assert_eq!(compare(&plain, &far).unwrap().remark, None);
        far.header.how.network = Some(Network { rtt_us: Some((40_000, 300_000)), ..Network::default() });
        let remark = compare(&plain, &far).unwrap().remark.unwrap();
        assert!(remark.ends_with("before had a plain network; after had rtt 40ms..300ms"), "{remark}");
        far.header.how.network = None;
        assert_eq!(compare(&plain, &far).unwrap().remark, None, "an old recording's is not known");
    }

    #[test]
    fn every_act_is_compared() {
        let comparison = compare(&before(), &fixture::summary()).unwrap();
        for act in ["open", "guess"] {
            assert_eq!(series(&comparison, &format!("{act}: response p99")).change, "");
        }
    }

    #[test]
    fn response_times_that_neither_run_has_are_left_out() {
        let mut hopeless = fixture::summary();
        hopeless.acts.get_mut("open").unwrap().response_us = Quantiles::default();
        let of_open = |one: &Summary, other: &Summary| {
            let series = compare(one, other).unwrap().series;
            series.iter().filter(|pair| pair.series.starts_with("open: response")).count()
        };
        assert_eq!((of_open(&hopeless, &hopeless), of_open(&hopeless, &fixture::summary())), (0, 3));
    }

    #[test]
    fn runs_of_different_plans_are_refused() {
        let mut other = fixture::summary();
        other.header.plan_digest = "decaf0decaf0decaf0".to_owned();
        let refused = compare(&fixture::summary(), &other).unwrap_err();
        assert!(refused.to_string().contains("(c0ffee and decaf0decaf0)"), "{refused}");
    }
}
