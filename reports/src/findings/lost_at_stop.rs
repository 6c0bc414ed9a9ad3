//! The system was ordered to stop and took with it what it had promised.

use super::{Finding, FindingId};
use crate::summary::Shutdown;
use crate::{Summary, Value};

pub(super) fn find(summary: &Summary) -> Option<Finding> {
    let stop = summary.shutdown?;
    let evidence: Vec<String> = [lost(stop), unacted(stop), killed(stop)].into_iter().flatten().collect();
    (!evidence.is_empty()).then(|| Finding {
        id: FindingId::LostAtStop,
        text: "work was lost when the system stopped: on SIGTERM stop taking new work, finish or store what was \
               accepted, and only then exit."
            .to_owned(),
        evidence,
    })
}

fn lost(stop: Shutdown) -> Option<String> {
    let lost = stop.lost.filter(|lost| *lost > 0)?;
    let waiting = Value::count(stop.waiting);
    Some(format!(
        "{} messages were accepted and never delivered; {waiting} were on their way when SIGTERM came",
        Value::Count(lost)
    ))
}

fn unacted(stop: Shutdown) -> Option<String> {
    let unacted = stop.unacted.filter(|unacted| *unacted > 0)?;
    Some(format!("{} updates were acknowledged to Telegram and never acted on", Value::Count(unacted)))
}

fn killed(stop: Shutdown) -> Option<String> {
    let ms = stop.exit_ms.filter(|_| stop.killed)?;
    Some(format!("it had not exited {} after SIGTERM, and SIGKILL ended it", Value::Time(ms * 1_000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn found(stop: Option<Shutdown>) -> Vec<String> {
        let mut summary = fixture::summary();
        summary.shutdown = stop;
        find(&summary).map(|finding| finding.evidence).unwrap_or_default()
    }

    #[test]
    fn a_stop_that_loses_nothing_and_no_stop_are_no_findings() {
        assert!(found(None).is_empty());
        let drained =
            Shutdown { exit_ms: Some(900), waiting: Some(7), lost: Some(0), unacted: Some(0), ..Shutdown::default() };
        assert!(found(Some(drained)).is_empty());
    }

    #[test]
    fn what_was_lost_is_said_with_its_number() {
        let stop = Shutdown {
            exit_ms: Some(10_000),
            killed: true,
            waiting: Some(7),
            lost: Some(3),
            unacted: Some(2),
            ..Shutdown::default()
        };
        assert_eq!(
            found(Some(stop)),
            [
                "3 messages were accepted and never delivered; 7 were on their way when SIGTERM came",
                "2 updates were acknowledged to Telegram and never acted on",
                "it had not exited 10 s after SIGTERM, and SIGKILL ended it",
            ]
        );
    }
}
