//! How a system ended, in the words of the recording.

use std::fmt;
use std::time::Duration;

use floodrig_reports::recording::{Ending, EndingKind};

use super::oom::Oom;
use super::{last_words, signal};
use crate::keeper::Exit;

/// The end of the system that the rig did not order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Death {
    /// When whoever served ended, and otherwise when the keeper learned of the command's end; since the epoch.
    pub at: Duration,
    /// How.
    pub cause: Cause,
    /// Acts in flight: before the first that it cut off, or as last noted where it cut off none.
    pub in_flight: u64,
}

/// What ended the system: it ended by itself, or somebody else's signal ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause(pub Exit);

impl fmt::Display for Cause {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Exit::Signal(number) => write!(to, "killed by {} (signal {number})", signal::name(number)),
            Exit::Code(code) => match signal::behind(code) {
                Some(name) => write!(to, "exited with {code} ({name}, inferred through a wrapper)"),
                None => write!(to, "exited with {code}"),
            },
        }
    }
}

impl Cause {
    /// Whether this may be the work of the out-of-memory killer, which uses SIGKILL.
    fn may_be_oom(self) -> bool {
        match self.0 {
            Exit::Signal(number) => number == 9,
            Exit::Code(code) => code == 137,
        }
    }
}

/// What an ending says where nobody can tell.
const STRUCK_MEANWHILE: &str =
    "the machine's out-of-memory killer struck meanwhile; whether it struck this system is not known";

/// The ending of a system that died. `oom`: what is known of the killer's part in it.
pub(super) fn of_death(death: Death, tail: &[String], oom: Oom) -> Ending {
    let (kind, code, name, note) = match death.cause.0 {
        Exit::Signal(number) => (EndingKind::Signal, None, Some(signal::name(number)), None),
        Exit::Code(code) => {
            let inferred = signal::behind(code);
            let note = inferred.map(|name| format!("{name} inferred from exit status {code} of a wrapper"));
            (EndingKind::Exit, Some(code), inferred.map(str::to_owned), note)
        }
    };
    let (oom, unknown) = match if death.cause.may_be_oom() { oom } else { Oom::Spared } {
        Oom::Struck => (Some(true), None),
        Oom::Spared => (Some(false), None),
        Oom::Meanwhile => (None, Some(STRUCK_MEANWHILE.to_owned())),
        Oom::Untold => (None, None),
    };
    let at_ms = death.at.as_millis() as i64;
    // SIGKILL leaves no time to say anything: what stands there was said of something else.
    let told = if death.cause.may_be_oom() { None } else { last_words::told(tail) };
    let told = told.map(|reason| format!("its stderr says \"{reason}\""));
    let note = [note, told, unknown].into_iter().flatten().reduce(|note, more| format!("{note}; {more}"));
    let stderr_tail = last_words::quoted(tail);
    let in_flight = death.in_flight;
    Ending { kind, code, signal: name, at_ms, in_flight, stderr_tail, oom, note, stop_took_ms: None }
}

/// A stop that the rig ordered, and what came of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stop {
    /// When it was ordered.
    pub(super) ordered: Duration,
    /// What it was given before SIGKILL.
    pub(super) grace: Duration,
    /// How the command ended.
    pub(super) command: Option<Exit>,
    /// When the last process of the tree ended.
    pub(super) ended: Option<Duration>,
    /// When the last that SIGKILL ended did, the command or any other of the tree.
    pub(super) killed: Option<Duration>,
}

impl Stop {
    /// The rig's own SIGKILL comes when the grace is over, and not before.
    fn force(&self) -> Option<String> {
        let killed = self.killed?;
        Some(if killed >= self.ordered + self.grace {
            format!("needed SIGKILL after {} s", self.grace.as_secs_f64())
        } else {
            "killed by somebody else's SIGKILL while it was being stopped".to_owned()
        })
    }
}

/// The ending of a system that the rig stopped: never a crash, whatever its last status says.
pub(super) fn of_stop(stop: Stop, at: Duration, tail: &[String]) -> Ending {
    let (code, name, note) = match stop.command {
        Some(Exit::Code(code)) => (Some(code), None, None),
        Some(Exit::Signal(9)) => (None, Some("SIGKILL".to_owned()), None),
        Some(Exit::Signal(15)) => (None, Some("SIGTERM".to_owned()), None),
        Some(Exit::Signal(number)) => {
            let name = signal::name(number);
            (None, Some(name.clone()), Some(format!("ended by {name} while it was being stopped")))
        }
        None => (None, None, Some("its end was not seen".to_owned())),
    };
    let at_ms = at.as_millis() as i64;
    Ending {
        kind: EndingKind::Stopped,
        code,
        signal: name,
        at_ms,
        in_flight: 0,
        stderr_tail: last_words::quoted(tail),
        oom: Some(false),
        note: stop.force().or(note),
        stop_took_ms: stop.ended.map(|ended| ended.saturating_sub(stop.ordered).as_millis() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(how: Exit) -> Ending {
        of_death(Death { at: Duration::from_millis(1500), cause: Cause(how), in_flight: 7 }, &[], Oom::Struck)
    }

    #[test]
    fn a_signal_is_named() {
        let ending = died(Exit::Signal(11));
        assert_eq!((ending.kind, ending.code, ending.signal.as_deref()), (EndingKind::Signal, None, Some("SIGSEGV")));
        assert_eq!((ending.at_ms, ending.in_flight, ending.note), (1500, 7, None));
    }

    #[test]
    fn a_signal_behind_a_wrapper_is_inferred_and_said_to_be() {
        let ending = died(Exit::Code(139));
        assert_eq!(
            (ending.kind, ending.code, ending.signal.as_deref()),
            (EndingKind::Exit, Some(139), Some("SIGSEGV"))
        );
        assert_eq!(ending.note.as_deref(), Some("SIGSEGV inferred from exit status 139 of a wrapper"));
    }

    #[test]
    fn only_sigkill_can_be_the_out_of_memory_killer() {
        assert_eq!(died(Exit::Signal(9)).oom, Some(true));
        assert_eq!(died(Exit::Code(137)).oom, Some(true));
        assert_eq!(died(Exit::Signal(11)).oom, Some(false));
        assert_eq!(died(Exit::Code(1)).oom, Some(false));
    }

    #[test]
    fn a_kill_that_may_have_been_for_memory_is_neither_claimed_nor_denied() {
        let ending = |cause, oom| {
            let ending = of_death(Death { at: Duration::ZERO, cause: Cause(cause), in_flight: 0 }, &[], oom);
            (ending.oom, ending.note)
        };
        assert_eq!(ending(Exit::Signal(9), Oom::Meanwhile), (None, Some(STRUCK_MEANWHILE.to_owned())));
        assert_eq!(ending(Exit::Signal(11), Oom::Meanwhile), (Some(false), None));
        assert_eq!(ending(Exit::Signal(9), Oom::Untold), (None, None));
        assert_eq!(ending(Exit::Signal(9), Oom::Spared), (Some(false), None));
        let behind = ending(Exit::Code(137), Oom::Meanwhile).1.unwrap();
        assert!(behind.ends_with(&format!("of a wrapper; {STRUCK_MEANWHILE}")), "{behind}");
    }

    #[test]
    fn a_stop_is_never_a_crash() {
        let stopped = |command| of_stop(Stop { command, ..Stop::default() }, Duration::from_secs(1), &[]);
        for last in [None, Some(Exit::Code(1)), Some(Exit::Signal(9)), Some(Exit::Signal(11)), Some(Exit::Signal(15))] {
            assert_eq!(stopped(last).kind, EndingKind::Stopped);
        }
        assert_eq!(stopped(Some(Exit::Signal(15))).note, None);
    }

    #[test]
    fn the_rigs_own_sigkill_is_told_from_somebody_elses_by_the_grace() {
        let (ordered, grace) = (Duration::from_secs(1), Duration::from_secs(10));
        let note = |killed| of_stop(Stop { ordered, grace, killed, ..Stop::default() }, ordered, &[]).note.unwrap();
        assert_eq!(note(Some(ordered + grace)), "needed SIGKILL after 10 s");
        assert_eq!(
            note(Some(Duration::from_nanos(10_999_999_999))),
            "killed by somebody else's SIGKILL while it was being stopped"
        );
        assert_eq!(note(None), "its end was not seen");
    }

    #[test]
    fn a_slow_stop_is_timed_to_its_last_process() {
        let (ordered, ended) = (Duration::from_millis(1000), Some(Duration::from_millis(4200)));
        assert_eq!(of_stop(Stop { ordered, ended, ..Stop::default() }, ordered, &[]).stop_took_ms, Some(3200));
    }

    #[test]
    fn a_death_by_abort_quotes_its_reason_and_one_by_sigkill_does_not() {
        let tail = ["FATAL ERROR: heap".to_owned()];
        let note = |number| {
            let death = Death { at: Duration::ZERO, cause: Cause(Exit::Signal(number)), in_flight: 0 };
            of_death(death, &tail, Oom::Spared).note
        };
        assert_eq!(note(6).as_deref(), Some("its stderr says \"FATAL ERROR: heap\""));
        assert_eq!(note(9), None);
    }
}
