//! What came after the load, as tables: the system at rest again, and a stop that was ordered.

use super::Table;
use crate::Value;
use crate::summary::{ProbeTimes, Summary};

/// Empty when the system was not left alone.
pub(crate) fn recovery(summary: &Summary) -> Table {
    let Some(recovery) = &summary.recovery else { return Table::of_values("After the load", &[]) };
    let beside = |after: Value, before: Value| format!("{after} ({before} before the load)");
    let memory = beside(Value::size(recovery.rss_after_bytes), Value::size(recovery.rss_before_bytes));
    let handles = beside(Value::count(recovery.handles_after), Value::count(recovery.handles_before));
    let act = |(act, times): (&String, &ProbeTimes)| {
        let before = times.before_us.map_or(Value::Unmeasured, Value::Time);
        let said = match times.after_us {
            Some(us) => beside(Value::Time(us), before),
            None => format!("not served: {} ({before} before the load)", times.outcome),
        };
        (format!("`{act}` of one player alone"), said)
    };
    let acts: Vec<(String, String)> = recovery.acts.iter().map(act).collect();
    let mut values = vec![
        ("left alone for", Value::Time(recovery.idle_ms * 1_000).to_string()),
        ("memory then", memory),
        ("handles then", handles),
    ];
    values.extend(acts.iter().map(|(act, said)| (act.as_str(), said.clone())));
    Table::of_values("After the load", &values)
}

/// Empty when no stop was ordered.
pub(crate) fn shutdown(summary: &Summary) -> Table {
    let Some(stop) = summary.shutdown else { return Table::of_values("The ordered stop", &[]) };
    let exit = match stop.exit_ms {
        Some(ms) if stop.killed => format!("not within {}: SIGKILL ended it", Value::Time(ms * 1_000)),
        Some(ms) => Value::Time(ms * 1_000).to_string(),
        None => "its end was not seen".to_owned(),
    };
    let mut values = vec![
        ("SIGTERM", format!("{:.1} s into the load", stop.at_ms as f64 / 1e3)),
        ("time to exit", exit),
        ("exited with", exited_with(summary)),
        ("acts in flight then", Value::Count(stop.in_flight).to_string()),
        ("acts begun afterwards and not served (charged to nobody)", Value::Count(stop.stopped).to_string()),
    ];
    let mut counted =
        |name, count: Option<u64>| values.extend(count.map(|count| (name, Value::Count(count).to_string())));
    counted("accepted and not yet delivered then", stop.waiting);
    counted("accepted and never delivered", stop.lost);
    counted("updates acknowledged and never acted on", stop.unacted);
    Table::of_values("The ordered stop", &values)
}

fn exited_with(summary: &Summary) -> String {
    let ending = summary.system.ending.as_ref();
    match ending.map(|ending| (ending.code, ending.signal.as_deref())) {
        Some((_, Some(signal))) => signal.to_owned(),
        Some((Some(code), None)) => format!("exit code {code}"),
        Some((None, None)) | None => "nobody saw it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::summary::{Recovery, Shutdown};

    #[test]
    fn what_was_not_measured_or_ordered_has_no_table() {
        let summary = fixture::summary();
        assert!(recovery(&summary).rows.is_empty() && shutdown(&summary).rows.is_empty());
    }

    #[test]
    fn every_level_stands_beside_the_one_before_the_load() {
        let mut summary = fixture::summary();
        let times =
            |after_us| ProbeTimes { before_us: Some(2_000), after_us, outcome: "timeout".to_owned(), rig_fault: None };
        summary.recovery = Some(Recovery {
            idle_ms: 3_000,
            rss_before_bytes: Some(30 << 20),
            rss_after_bytes: Some(80 << 20),
            acts: [("guess".to_owned(), times(None)), ("open".to_owned(), times(Some(3_000)))].into(),
            ..Recovery::default()
        });
        let rows = [
            ["left alone for", "3 s"],
            ["memory then", "80.0 MiB (30.0 MiB before the load)"],
            ["handles then", "not measured (not measured before the load)"],
            ["`guess` of one player alone", "not served: timeout (2 ms before the load)"],
            ["`open` of one player alone", "3 ms (2 ms before the load)"],
        ];
        assert_eq!(recovery(&summary).rows, rows);
    }

    #[test]
    fn a_stop_is_told_with_its_exit_and_what_it_cost() {
        let mut summary = fixture::summary();
        let stop =
            Shutdown { at_ms: 4_000, exit_ms: Some(1_250), waiting: Some(7), lost: Some(0), ..Shutdown::default() };
        summary.shutdown = Some(stop);
        let said = |summary: &Summary| shutdown(summary).rows.into_iter().map(|row| row.join(": ")).collect::<Vec<_>>();
        let rows = said(&summary);
        assert_eq!((rows[0].as_str(), rows[1].as_str()), ("SIGTERM: 4.0 s into the load", "time to exit: 1.25 s"));
        assert_eq!(rows.last().map(String::as_str), Some("accepted and never delivered: 0"));
        summary.shutdown = Some(Shutdown { killed: true, ..stop });
        assert_eq!(said(&summary)[1], "time to exit: not within 1.25 s: SIGKILL ended it");
    }
}
