//! Processes of the system were killed for want of memory, and it went on without them.

use super::{Finding, FindingId};
use crate::{Summary, Value};

pub(super) fn find(summary: &Summary) -> Option<Finding> {
    let system = &summary.system;
    let confined = system.confined.as_ref()?;
    let kills = confined.oom_kills.filter(|kills| *kills > 0)?;
    // A death is the verdict itself.
    if system.own_ending().is_some() {
        return None;
    }
    Some(Finding {
        id: FindingId::KilledForMemory,
        text: "processes of the system were killed for want of memory, and it went on without them: let it need less, \
               or allow it more `memory`."
            .to_owned(),
        evidence: vec![
            format!("{} killed by the kernel", Value::Count(kills)),
            format!(
                "a limit of {}, and {} at the most",
                Value::size(confined.memory_limit_bytes),
                Value::size(confined.memory_peak_bytes)
            ),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::recording::Confined;

    fn found(change: impl FnOnce(&mut Summary)) -> Option<Vec<String>> {
        let mut summary = fixture::summary();
        change(&mut summary);
        find(&summary).map(|finding| finding.evidence)
    }

    fn killed(kills: u64) -> Confined {
        let (memory_limit_bytes, memory_peak_bytes) = (Some(64 << 20), Some(60 << 20));
        Confined { memory_limit_bytes, memory_peak_bytes, oom_kills: Some(kills), ..Confined::default() }
    }

    #[test]
    fn a_system_that_lost_nobody_or_has_no_limit_is_no_finding() {
        assert_eq!(found(|summary| summary.system.confined = None), None);
        assert_eq!(found(|summary| summary.system.confined = Some(killed(0))), None);
    }

    #[test]
    fn who_was_killed_while_the_system_went_on_is_told_with_the_limit() {
        let evidence = found(|summary| summary.system.confined = Some(killed(2))).unwrap();
        assert_eq!(evidence, ["2 killed by the kernel", "a limit of 64.0 MiB, and 60.0 MiB at the most"]);
    }

    #[test]
    fn a_system_that_died_of_it_has_its_verdict() {
        let died = |summary: &mut Summary| {
            summary.system.confined = Some(killed(1));
            summary.system.ending = Some(fixture::ending(crate::recording::EndingKind::Signal, Some("SIGKILL"), 900));
        };
        assert_eq!(found(died), None);
    }
}
