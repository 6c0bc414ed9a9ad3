//! A pool of connections is the bottleneck: all of it waits for answers, acts queue up, and the loop has nothing to do.

use super::{Finding, FindingId};
use crate::outbound::{Saturated, saturated};
use crate::recording::Towards;
use crate::timeline::Timeline;
use crate::{Summary, Value};

pub(super) fn find(summary: &Summary, timeline: &Timeline) -> Option<Finding> {
    summary.system.pool_hint.as_ref()?;
    saturated(timeline).map(|pool| finding(&pool))
}

fn finding(pool: &Saturated) -> Finding {
    let Saturated { port, name, size, us, in_flight, stalled_us } = pool;
    let place = Towards::place(*port, name.as_deref());
    Finding {
        id: FindingId::PoolSaturated,
        text: format!(
            "a saturated pool: all of about {size} connections to {place} waited for answers while up to {} acts were \
             in flight and the event loop had nothing to do. Give the pool more connections, or hold each for a \
             shorter time.",
            Value::Count(*in_flight)
        ),
        evidence: vec![
            format!("{size} connections to {place}, four fifths of them and more waiting for {}", Value::Time(*us)),
            format!("{} acts in flight meanwhile, at most", Value::Count(*in_flight)),
            format!("the loop stood still for {} of that time", Value::Time(*stalled_us)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saturated_pool_is_named_by_its_size_and_place() {
        let pool =
            Saturated { port: 5432, name: Some("db".into()), size: 10, us: 9_000_000, in_flight: 1_100, stalled_us: 0 };
        let finding = finding(&pool);
        assert!(finding.text.starts_with("a saturated pool: all of about 10 connections to port 5432 (db) waited"));
        assert!(finding.text.contains("up to 1,100 acts"), "{}", finding.text);
    }
}
