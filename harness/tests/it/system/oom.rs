//! Whether a SIGKILL was for want of memory, where the system has no limit and so no count of its own.

use std::process::Command;

use floodrig::system::{Confinement, Launch, Limits};
use floodrig_reports::recording::Ending;
use rustix::process::Signal;

use super::support::{LONG, Run, dies_by, shell, signal, until};

const EATS: &str = "head -c 1G /dev/zero | tail -c 300M";

/// A group of 64 MiB that the rig knows nothing of, and the script that enters it; nothing where none may be made.
fn small_group(name: &str) -> Option<(Confinement, String)> {
    let limits = Limits { memory: Some(64 << 20), cpu: None };
    let group = Confinement::make(limits, &format!("floodrig-test-{name}-{}", std::process::id()));
    let enter: Vec<String> =
        group.dirs().iter().map(|dir| format!("echo $$ > {}/cgroup.procs; ", dir.display())).collect();
    let enter = enter.concat();
    if group.dirs().is_empty() {
        skipped(&group.in_words());
        return None;
    }
    Some((group, enter))
}

#[expect(clippy::print_stderr, reason = "a test that is skipped is seen to be")]
fn skipped(why: &str) {
    eprintln!("SKIPPED: no control group may be made here: {why}");
}

/// Whether these tests are in the machine's own root of version 2 and in no group of version 1.
fn is_in_the_root() -> bool {
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    group == "0::/\n" && !std::path::Path::new("/sys/fs/cgroup/memory.events.local").exists()
}

/// Somebody else is killed for want of memory.
fn another_is_killed(enter: &str) {
    let status = Command::new("sh").args(["-c", &format!("{enter}{EATS}")]).status().unwrap();
    assert_eq!(status.code(), Some(137));
}

#[test]
fn a_kill_that_the_kernels_log_names_is_proved_and_one_that_it_may_not_read_is_not_claimed() {
    let Some((_group, enter)) = small_group("own") else { return };
    // The command itself is what is killed.
    let (dir, script) = dies_by(&format!("{enter}exec python3 -c 'b\"1\" * (300 << 20)'"));
    let run = Run::new();
    let system = run.start(&shell(&script)).unwrap();
    std::fs::write(dir.path().join("now"), "").unwrap();
    until("its death", || system.death());
    let ending = system.stop(LONG).ending;
    assert_eq!(ending.signal.as_deref(), Some("SIGKILL"));
    // In a namespace of process ids the log has other ids than the rig.
    let outermost = std::fs::read_link("/proc/self/ns/pid").unwrap().as_os_str() == "pid:[4026531836]";
    if outermost && std::fs::File::open("/dev/kmsg").is_ok() {
        assert_eq!((ending.oom, ending.note), (Some(true), None));
    } else {
        assert_unknown(&ending);
    }
}

fn assert_unknown(ending: &Ending) {
    let words = "the machine's out-of-memory killer struck meanwhile; whether it struck this system is not known";
    assert_eq!((ending.oom, ending.note.as_deref()), (None, Some(words)));
}

#[test]
fn a_kill_beside_somebody_elses_for_memory_is_not_known_to_be_one() {
    let Some((_group, enter)) = small_group("beside") else { return };
    let (dir, script) = dies_by("kill -KILL $$");
    let run = Run::new();
    // Nobody of it is seen to serve, so that it is not known where all of it is.
    let system = run.start(&shell(&script)).unwrap();
    another_is_killed(&enter);
    std::fs::write(dir.path().join("now"), "").unwrap();
    until("its death", || system.death());
    assert_unknown(&system.stop(LONG).ending);
}

#[test]
fn a_kill_in_a_group_that_has_lost_nobody_is_none_for_memory_whoever_else_was_killed() {
    let Some((_group, enter)) = small_group("else") else { return };
    let run = Run::new();
    let mut launch =
        Launch { command: vec!["python3".to_owned(), "-m".to_owned(), "http.server".to_owned()], ..shell("") };
    launch.command.extend([launch.port.to_string(), "--bind".to_owned(), "127.0.0.1".to_owned()]);
    let system = run.start_serving(&launch).unwrap();
    another_is_killed(&enter);
    signal(system.pid(), Signal::KILL);
    until("its death", || system.death());
    let ending = system.stop(LONG).ending;
    if is_in_the_root() {
        // Which has no counter of its own.
        assert_unknown(&ending);
    } else {
        assert_eq!((ending.signal.as_deref(), ending.oom, ending.note), (Some("SIGKILL"), Some(false), None));
    }
}
