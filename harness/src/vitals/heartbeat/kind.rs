//! What a loop did while it stalled, by where its thread's time went. Pure.

use floodrig_reports::recording::StallKind;

/// Where the time of a thread went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit ends the name of a number that the page holds")]
pub(super) struct Time {
    pub(super) all_ns: u64,
    pub(super) run_ns: u64,
    /// Ready to run and without a processor; a quota of the cgroup shows here too.
    pub(super) wait_ns: u64,
    /// Of all, kept from running by the quota of its cgroup; that is waiting too.
    pub(super) throttled_ns: u64,
}

/// The largest share names it; nothing when the kernel keeps no such account (`CONFIG_SCHED_INFO`).
pub(super) fn kind(time: Time) -> Option<StallKind> {
    let Time { all_ns, run_ns, wait_ns, throttled_ns } = time;
    let rest_ns = all_ns.saturating_sub(run_ns + wait_ns);
    match () {
        () if run_ns == 0 && wait_ns == 0 => None,
        () if rest_ns > run_ns && rest_ns > wait_ns => Some(StallKind::Blocked),
        () if wait_ns > run_ns && throttled_ns > wait_ns / 2 => Some(StallKind::Throttled),
        () if wait_ns > run_ns => Some(StallKind::Starved),
        () => Some(StallKind::Computing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(run_ns: u64, wait_ns: u64) -> Option<StallKind> {
        kind(Time { all_ns: 500, run_ns, wait_ns, throttled_ns: 0 })
    }

    #[test]
    fn a_stall_is_named_by_where_most_of_it_went() {
        assert_eq!(of(480, 10), Some(StallKind::Computing));
        assert_eq!(of(10, 480), Some(StallKind::Starved));
        assert_eq!(of(10, 3), Some(StallKind::Blocked));
    }

    #[test]
    fn between_two_equal_shares_the_system_is_taken_to_have_worked() {
        assert_eq!(of(250, 250), Some(StallKind::Computing));
        assert_eq!(of(249, 251), Some(StallKind::Starved));
        assert_eq!(of(166, 167), Some(StallKind::Starved));
        assert_eq!(of(166, 166), Some(StallKind::Blocked));
    }

    #[test]
    fn a_wait_that_was_mostly_the_quotas_is_told_from_one_for_others() {
        let of = |throttled_ns| kind(Time { all_ns: 500, run_ns: 90, wait_ns: 400, throttled_ns });
        assert_eq!((of(200), of(201)), (Some(StallKind::Starved), Some(StallKind::Throttled)));
    }

    #[test]
    fn without_the_kernels_account_there_is_no_name() {
        assert_eq!(of(0, 0), None);
    }
}
