//! The system's own end, told rightly and at once.

use floodrig_reports::recording::{EndingKind, EventKind, Row};

use super::support::{LONG, Run, dies_by, shell, until};

fn ending_of(act: &str) -> floodrig_reports::recording::Ending {
    let (dir, script) = dies_by(act);
    let run = Run::new();
    run.begin(12);
    let system = run.start(&shell(&script)).unwrap();
    let before = run.epoch.elapsed();
    std::fs::write(dir.path().join("now"), "").unwrap();
    let death = until("the death", || system.death());
    assert!(before <= death.at && death.at <= run.epoch.elapsed(), "{death:?}");
    let Row::Event(event) = run.rows.recv().unwrap() else { panic!("the first row is the death") };
    assert_eq!((event.kind, event.at_us), (EventKind::Died, death.at.as_micros() as u64));
    let ending = system.stop(LONG).ending;
    assert_eq!(ending.in_flight, 12);
    ending
}

#[test]
fn a_segmentation_fault_is_named() {
    let ending = ending_of("kill -SEGV $$");
    assert_eq!((ending.kind, ending.code, ending.signal.as_deref()), (EndingKind::Signal, None, Some("SIGSEGV")));
    assert_eq!(ending.oom, Some(false));
}

// Whether a kill was for want of memory is asked in `limits` and `oom`: other tests' kills count on this machine too.
#[test]
fn a_kill_is_named() {
    let ending = ending_of("kill -KILL $$");
    assert_eq!((ending.kind, ending.code, ending.signal.as_deref()), (EndingKind::Signal, None, Some("SIGKILL")));
}

#[test]
fn an_exit_keeps_its_status() {
    let ending = ending_of("exit 1");
    assert_eq!((ending.kind, ending.code, ending.signal, ending.note), (EndingKind::Exit, Some(1), None, None));
}

#[test]
fn an_exit_with_zero_is_a_death_too() {
    let ending = ending_of("exit 0");
    assert_eq!((ending.kind, ending.code), (EndingKind::Exit, Some(0)));
}

#[test]
fn a_signal_behind_a_shell_is_inferred() {
    let ending = ending_of("sh -c 'kill -SEGV $$'; exit $?");
    assert_eq!((ending.kind, ending.code, ending.signal.as_deref()), (EndingKind::Exit, Some(139), Some("SIGSEGV")));
    assert_eq!(ending.note.as_deref(), Some("SIGSEGV inferred from exit status 139 of a wrapper"));
}

#[test]
fn the_last_lines_on_stderr_are_quoted_and_errors_counted() {
    let (dir, script) = dies_by("echo 'Error: job 1 lost' >&2; echo 'Error: job 2 lost' >&2; echo bye >&2; exit 3");
    let run = Run::new();
    let system = run.start(&shell(&script)).unwrap();
    std::fs::write(dir.path().join("now"), "").unwrap();
    until("the death", || system.death());
    let stopped = system.stop(LONG);
    assert_eq!(stopped.ending.stderr_tail, ["Error: job 1 lost", "Error: job 2 lost", "bye"]);
    assert_eq!((stopped.logs.stderr_lines, stopped.logs.stderr_errors), (3, 2));
    assert_eq!(stopped.logs.top_messages[0].text, "Error: job # lost");
}
