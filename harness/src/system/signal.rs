//! Names of signals, and those that a wrapper's exit status hides.

/// Signals by number, as Linux counts them on x86-64 and arm64 (`signal(7)`).
const NAMES: [(i32, &str); 31] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (16, "SIGSTKFLT"),
    (17, "SIGCHLD"),
    (18, "SIGCONT"),
    (19, "SIGSTOP"),
    (20, "SIGTSTP"),
    (21, "SIGTTIN"),
    (22, "SIGTTOU"),
    (23, "SIGURG"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (27, "SIGPROF"),
    (28, "SIGWINCH"),
    (29, "SIGIO"),
    (30, "SIGPWR"),
    (31, "SIGSYS"),
];

/// `SIGSEGV` for 11; a real-time signal by its number.
pub(super) fn name(signal: i32) -> String {
    named(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

/// The signal that a shell or npm reports as 128 + its number, when that is one that ends a process.
pub(super) fn behind(code: i32) -> Option<&'static str> {
    named(code.checked_sub(128)?)
}

fn named(signal: i32) -> Option<&'static str> {
    NAMES.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_named_and_unknown_ones_numbered() {
        assert_eq!(name(11), "SIGSEGV");
        assert_eq!(name(34), "signal 34");
    }

    #[test]
    fn a_signal_is_inferred_from_a_wrappers_status_only() {
        assert_eq!(behind(139), Some("SIGSEGV"));
        assert_eq!(behind(129), Some("SIGHUP"));
        assert_eq!(behind(128), None);
        assert_eq!(behind(1), None);
        assert_eq!(behind(255), None);
    }
}
