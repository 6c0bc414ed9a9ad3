//! Whether the kernel's out-of-memory killer was at work, from its own count in `/proc/vmstat` (Linux 4.13).
//!
//! The count is the whole machine's, so a kill elsewhere at the same time would be taken for this one.

/// The count before the system started; nothing: this kernel does not tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kills(Option<u64>);

impl Kills {
    /// Reads the count.
    pub(super) fn so_far() -> Self {
        Self(std::fs::read_to_string("/proc/vmstat").ok().and_then(|text| count(&text)))
    }

    /// Whether the killer has struck between the two.
    pub(super) fn struck_since(self, before: Self) -> Option<bool> {
        Some(self.0? > before.0?)
    }
}

fn count(vmstat: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill "))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_by_its_whole_name() {
        assert_eq!(count("oom_kill_other 9\noom_kill 3\nnr_free 1\n"), Some(3));
        assert_eq!(count("nr_free 1\n"), None);
    }

    #[test]
    fn unknown_on_either_side_is_unknown() {
        assert_eq!(Kills(Some(2)).struck_since(Kills(Some(1))), Some(true));
        assert_eq!(Kills(Some(1)).struck_since(Kills(Some(1))), Some(false));
        assert_eq!(Kills(Some(1)).struck_since(Kills(None)), None);
        assert_eq!(Kills(None).struck_since(Kills(Some(1))), None);
    }
}
