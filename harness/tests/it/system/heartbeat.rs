//! The heartbeat against what was ordered: stalls of a known instant, length and kind in a Node and a Python server.
//!
//! Orders go from the test to the server, and the server says what it really did; the rig knows of neither.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use floodrig::keeper::Identity;
use floodrig::vitals::Folder;
use floodrig_reports::recording::{Observations, Stall, StallKind};
use rustix::process::Signal;

use super::drawn::Drawn;
use super::loops::{Done, Language, Look, Loop};
use super::support::{below, signal, until};

/// Nothing is ordered for so long.
const QUIET: Duration = Duration::from_secs(60);
/// How often a measurement of real time is tried on a machine that others use too.
const TRIES: usize = 5;
/// From inside a stall is known to half a tick, and a loop comes round late by a few milliseconds.
const INSIDE: Duration = Duration::from_millis(25);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// One stall of each length and kind, ordered after a pause; each must be found, within `within`.
fn ordered(of: &Loop, lengths: &[u64], drawn: &mut Drawn, found: &mut dyn FnMut(&Done, StallKind) -> Vec<String>) {
    for kind in [StallKind::Computing, StallKind::Blocked] {
        for least in lengths {
            let mut tries = Vec::new();
            loop {
                std::thread::sleep(ms(drawn.below(300)) + ms(200));
                let done = of.stall(kind, least + drawn.below(least / 4));
                let wrong = found(&done, kind);
                if wrong.is_empty() {
                    break;
                }
                tries.extend(wrong);
                assert!(tries.len() < TRIES, "{kind}: {tries:#?}");
            }
        }
    }
}

/// The stall that was ordered is the next one recorded, but for those that the machine's other users caused.
fn is_right(done: &Done, kind: StallKind, stall: &Stall) -> bool {
    // A busy loop that had less than half a core was starved, as the server's own account of its CPU time says.
    let kind = if kind == StallKind::Computing && done.cpu < done.len / 2 { StallKind::Starved } else { kind };
    let near = done.cpu.abs_diff(done.len / 2) < done.len / 10;
    done.off(stall) <= INSIDE && (stall.kind == Some(kind) || near)
}

/// Each of these lengths, ordered of this system, is seen within 25 ms with its kind.
pub(super) fn from_inside(of: &Loop, lengths: &[u64], drawn: &mut Drawn) {
    ordered(of, lengths, drawn, &mut |done, kind| {
        let mut seen = Vec::new();
        loop {
            let stall = of.next_stall();
            if is_right(done, kind, &stall) {
                return Vec::new();
            }
            let past = Duration::from_micros(stall.from_us + stall.len_us) + ms(50) > done.from + done.len;
            seen.push(stall);
            if past {
                return vec![format!("{done:?} was recorded as {seen:?}")];
            }
        }
    });
}

#[test]
fn an_ordered_stall_is_seen_from_inside_within_25_ms_with_its_kind() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let of = Loop::start(language, Look::Inside);
        assert!(of.observations.heartbeat.starts_with("active: pid "), "{}", of.observations.heartbeat);
        assert_eq!(of.observations.black_box, "active: asked twice a second, beside the heartbeat");
        from_inside(&of, &[150, 500, 2000], &mut drawn);
        of.end();
    }
}

#[test]
fn an_ordered_stall_under_saturating_load_is_seen_from_inside_within_25_ms() {
    let mut drawn = Drawn::new();
    for language in Language::here() {
        let of = Loop::start(language, Look::Inside);
        let load = of.load(4, "/");
        from_inside(&of, &[150, 500, 2000], &mut drawn);
        load.end();
        of.end();
    }
}

/// Whether the server says that it paused there: the machine's other users do that to it, and it is rightly told.
fn is_admitted(pauses: &[[Duration; 2]], stall: &Stall) -> bool {
    let (from, to) = (Duration::from_micros(stall.from_us), Duration::from_micros(stall.from_us + stall.len_us));
    pauses.iter().any(|[begun, ended]| from + ms(60) >= *begun && to <= *ended + ms(60))
}

#[test]
fn without_an_order_nothing_is_seen_for_a_minute_from_inside_or_outside() {
    let loops: Vec<Loop> = Language::here().into_iter().map(|language| Loop::start(language, Look::Inside)).collect();
    // Asked all the time, the servers know when they served nobody.
    while loops.iter().any(|of| of.run.epoch.elapsed() < QUIET) {
        for of in &loops {
            of.order("/");
        }
        std::thread::sleep(ms(10));
    }
    for of in loops {
        let (pauses, said) = (of.pauses(), of.observations.clone());
        let (inside, outside) = of.end();
        assert!(outside.longest_delay.is_some(), "it was asked: {said:?}");
        let made_up = |stall: &&Stall| !is_admitted(&pauses, stall);
        let wrong: Vec<&Stall> = inside.iter().chain(&outside.stalls).filter(made_up).collect();
        assert!(wrong.is_empty(), "{wrong:?}, and it paused only at {pauses:?}");
    }
}

#[test]
fn a_death_during_a_stall_is_told_with_the_stall() {
    for language in Language::here() {
        for how in [Signal::KILL, Signal::SEGV] {
            let of = Loop::start(language, Look::Inside);
            of.stall_alone(20_000);
            of.under_way();
            signal(of.system.pid(), how);
            let stall = until("the death", || Some(of.next_stall()).filter(|stall| stall.died));
            assert!(stall.len_us > 300_000 && stall.pid == Some(of.system.pid()), "{stall:?}");
            of.end();
        }
    }
}

#[test]
fn a_death_in_calm_is_no_stall() {
    for language in Language::here() {
        let of = Loop::start(language, Look::Inside);
        signal(of.system.pid(), Signal::KILL);
        until("its end", || of.next_vital().pids.is_empty().then_some(()));
        assert!(of.end().0.iter().all(|stall| !stall.died));
    }
}

#[test]
fn a_process_that_a_signal_stopped_is_told_from_one_that_stalls_by_itself() {
    for language in Language::here() {
        let of = Loop::start(language, Look::Inside);
        signal(of.system.pid(), Signal::STOP);
        of.under_way();
        signal(of.system.pid(), Signal::CONT);
        let stall = until("the stop", || Some(of.next_stall()).filter(|stall| stall.len_us > 300_000));
        assert_eq!(stall.kind, Some(StallKind::Stopped), "{stall:?}");
        of.end();
    }
}

/// A cgroup that may use a tenth of a core; nothing where this user may make none.
fn tenth_of_a_core() -> Option<std::path::PathBuf> {
    let (one, two) = (Path::new("/sys/fs/cgroup/cpu"), Path::new("/sys/fs/cgroup"));
    let name = format!("floodrig-test-{}", std::process::id());
    let (group, limits) = if one.join("cpu.cfs_quota_us").exists() {
        (one.join(name), vec![("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")])
    } else {
        (two.join(name), vec![("cpu.max", "10000 100000")])
    };
    let made = fs::create_dir(&group).and_then(|()| {
        limits.iter().try_for_each(|(file, limit)| {
            fs::OpenOptions::new().write(true).open(group.join(file)).and_then(|mut to| to.write_all(limit.as_bytes()))
        })
    });
    made.ok().map(|()| group.clone()).or_else(|| {
        drop(fs::remove_dir(&group));
        None
    })
}

#[test]
fn a_system_that_has_spent_its_quota_of_cpu_is_told_from_one_that_others_starve() {
    let Some(language) = Language::here().first().copied() else { return };
    let of = Loop::start(language, Look::Inside);
    // The observer looks for a cgroup when it meets a process, so the process is in it before there is an observer.
    let Some(group) = tenth_of_a_core() else {
        println!("left out: this user may make no cgroup with a quota of CPU");
        return;
    };
    let of = of.observed_again(|pid| fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap());
    of.stall_alone(600);
    let stall = until("the stall", || Some(of.next_stall()).filter(|stall| stall.len_us > 500_000));
    assert_eq!(stall.kind, Some(StallKind::Throttled), "{stall:?}");
    of.end();
    until("the group's end", || fs::remove_dir(&group).ok());
}

#[test]
fn where_a_stall_was_in_the_code_is_told_on_order() {
    for language in Language::here() {
        let of = Loop::start(language, Look::Stacks);
        for kind in [StallKind::Computing, StallKind::Blocked] {
            // A machine that others use too may keep the watcher away for a whole stall.
            let stack = (0..5).find_map(|_| of.stack_of(of.stall(kind, 600).from)).expect("a stack of five stalls");
            // It may be caught in what the stalling function calls at that instant.
            let named = |frame: &String| frame.starts_with("stall (") && frame.contains("/server.");
            assert!(stack.frames.iter().take(3).any(named), "{stack:?}");
        }
        of.end();
    }
}

#[test]
fn every_process_of_a_cluster_has_its_own_page_and_a_worker_thread_none() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    let of = Loop::of(&format!("exec node {}", Language::Node.server()), &[("CLUSTER", "1")], Look::Inside);
    let tree: Vec<u32> = below(of.system.root()).iter().map(|process| process.pid).collect();
    let mut pages: Vec<u32> = fs::read_dir(of.folder.pages())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap())
        .collect();
    pages.sort_unstable();
    assert_eq!((pages.len(), pages.iter().all(|page| tree.contains(page))), (2, true), "{pages:?} of {tree:?}");
    of.stall_alone(400);
    let stall = until("the worker's stall", || Some(of.next_stall()).filter(|stall| stall.len_us > 300_000));
    assert!(stall.pid != Some(of.system.pid()) && tree.contains(&stall.pid.unwrap()), "{stall:?}");
    of.end();
}

/// What is said of a system that listens and does not beat.
fn silence(script: &str) -> Observations {
    let of = Loop::of(script, &[], Look::Inside);
    let observations = of.observations.clone();
    of.end();
    observations
}

#[test]
fn a_probe_that_was_dropped_on_the_way_is_inactive_with_the_reason() {
    let (node, python) = (Language::Node.server(), Language::Python.server());
    let mut cases = Vec::new();
    if Language::here().contains(&Language::Node) {
        cases.push((format!("NODE_OPTIONS= exec node {node}"), "NODE_OPTIONS was replaced on the way to pid "));
    }
    if Language::here().contains(&Language::Python) {
        cases.push((format!("exec python3 -I {python}"), "was started with -I, with which Python loads no probe"));
        cases.push((format!("PYTHONPATH=/tmp exec python3 {python}"), "PYTHONPATH was replaced on the way to pid "));
        let bare = "exec python3 -m http.server --bind 127.0.0.1 $PORT";
        cases.push((bare.to_owned(), "(python3) runs no asyncio loop"));
    }
    for (script, why) in cases {
        let Observations { heartbeat, black_box, .. } = silence(&script);
        assert!(heartbeat.starts_with("inactive: ") && heartbeat.contains(why), "{script}: {heartbeat}");
        assert!(black_box.starts_with("active: asked 20 times a second"), "{black_box}");
    }
}

/// Runs a program to its end with the probe, and the users' own variables before it.
fn with_probe(folder: &Folder, own: (&str, String), command: &[&str]) -> Output {
    let mut env = [(own.0.to_owned(), own.1)].into();
    folder.put_into(&mut env);
    Command::new(command[0]).args(&command[1..]).envs(env).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn what_the_user_had_put_before_a_program_still_runs_and_nothing_is_printed() {
    let (folder, own) = (Folder::create().unwrap(), tempfile::tempdir().unwrap());
    let at = |name: &str| own.path().join(name).display().to_string();
    fs::create_dir(at("a b")).unwrap();
    fs::write(at("a b/own.cjs"), "globalThis.own = 'own'").unwrap();
    fs::write(at("sitecustomize.py"), "import builtins; builtins.own = 'own'").unwrap();
    let node = ("NODE_OPTIONS", format!("--require \"{}\"", at("a b/own.cjs")));
    let python = ("PYTHONPATH", at(""));
    for language in Language::here() {
        let ran = match language {
            Language::Node => with_probe(&folder, node.clone(), &["node", "-e", "console.log(own)"]),
            Language::Python => with_probe(&folder, python.clone(), &["python3", "-c", "print(own)"]),
        };
        assert_eq!((ran.stdout.as_slice(), ran.stderr.as_slice()), (b"own\n".as_slice(), b"".as_slice()));
    }
    assert_eq!(fs::read_dir(folder.pages()).unwrap().count(), Language::here().len(), "each has said hello");
}

#[test]
fn a_probe_that_nobody_listens_to_does_nothing() {
    let folder = Folder::create().unwrap();
    fs::remove_dir(folder.pages()).unwrap();
    for language in Language::here() {
        let script = match language {
            Language::Node => "setTimeout(() => console.log('done'), 50)",
            Language::Python => "import asyncio; asyncio.run(asyncio.sleep(0.05)); print('done')",
        };
        let option = if language == Language::Node { "-e" } else { "-c" };
        let ran = with_probe(&folder, ("NONE", String::new()), &[language.program(), option, script]);
        assert_eq!((ran.stdout.as_slice(), ran.stderr.as_slice()), (b"done\n".as_slice(), b"".as_slice()));
    }
}

#[test]
fn a_forked_python_has_a_page_of_its_own_and_leaves_its_parents_alone() {
    if !Language::here().contains(&Language::Python) {
        return;
    }
    let folder = Folder::create().unwrap();
    let script = "import asyncio, os\n\
        async def main():\n    \
            pid = os.fork()\n    \
            if pid == 0: os._exit(0 if os.path.exists(os.environ['FLOODRIG_HEARTBEAT'] + f'/{os.getpid()}') else 1)\n    \
            await asyncio.sleep(0.1)\n    \
            print(os.waitpid(pid, 0)[1])\n\
        asyncio.run(main())";
    let ran = with_probe(&folder, ("NONE", String::new()), &["python3", "-c", script]);
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_slice()), (b"0\n".as_slice(), b"".as_slice()));
    assert_eq!(fs::read_dir(folder.pages()).unwrap().count(), 2);
}

#[test]
fn the_folder_goes_with_the_system_though_the_rig_does_not_remove_it() {
    let Some(language) = Language::here().first().copied() else { return };
    let of = Loop::start(language, Look::Inside);
    let (root, processes) = (of.folder.root().to_owned(), below(of.system.root()));
    // As when the rig is killed: its end of the keeper's socket closes, and nothing of its own is tidied up.
    std::mem::forget(std::sync::Arc::clone(&of.folder));
    drop(of);
    until("the folder's end", || (!root.exists()).then_some(()));
    assert!(processes.iter().all(|process| Identity::of(process.pid) != Some(*process)));
}
