//! Becoming ready, or saying clearly why not.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use floodrig::keeper::Identity;
use floodrig::scenario::{Cores, Ready};
use floodrig::system::{StartError, Unready, cores};

use super::support::{LONG, Run, all_ended, below, shell};

#[test]
fn a_system_that_exits_at_its_start_says_how_and_its_last_lines() {
    let (error, _) = Run::new().start_alone(&shell("echo 'Error: 429 retry after 1128' >&2; exit 1"));
    assert_eq!(
        error.to_string(),
        "the system never became ready: it exited with 1 before that; its last lines:\n  Error: 429 retry after 1128"
    );
}

#[test]
fn whoever_serves_on_behind_a_command_that_fails_before_it_is_ready_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let serves = "import os, socket, time; s = socket.create_server((\"127.0.0.1\", int(os.environ[\"PORT\"]))); \
                  open(\"up\", \"w\"); time.sleep(1000)";
    let mut launch = shell(&format!("python3 -c '{serves}' & until test -e up; do sleep 0.01; done; exit 3"));
    launch.dir = dir.path().to_owned();
    launch.env.insert("PORT".to_owned(), launch.port.to_string());
    launch.ready = Ready::Command(vec!["false".to_owned()]);
    let (error, _) = Run::new().start_alone(&launch);
    let said = error.to_string();
    let named = format!("listens on port {}, stopped by the rig", launch.port);
    assert!(said.contains("it exited with 3 before that; and pid ") && said.contains(&named), "{said}");
}

#[test]
fn what_was_said_on_stdout_is_quoted_when_stderr_is_silent() {
    let (error, _) = Run::new().start_alone(&shell("echo 'missing BOT_TOKEN'; exit 2"));
    let StartError::NotReady(not_ready) = error else { panic!("{error}") };
    assert_eq!(not_ready.ending.stderr_tail, ["missing BOT_TOKEN"]);
    assert_eq!(not_ready.ending.code, Some(2));
}

#[test]
fn a_system_that_listens_nowhere_times_out_with_port_and_pid() {
    let mut launch = shell("echo up >&2; sleep 1000; :");
    launch.ready_within = Duration::from_secs(1);
    let (error, heard) = Run::new().start_alone(&launch);
    let StartError::NotReady(not_ready) = error else { panic!("{error}") };
    let Unready::TimedOut { waited_for, pid, listening, .. } = &not_ready.why else { panic!("{not_ready}") };
    assert_eq!(waited_for, &format!("a connection to 127.0.0.1:{}: nobody listens so far", launch.port));
    assert!(not_ready.to_string().contains(&format!("pid {pid} listens nowhere; its last lines:\n  up")));
    assert_eq!(heard[0], format!("a connection to 127.0.0.1:{}", launch.port));
    assert!(listening.is_empty());
}

#[test]
fn a_command_that_ends_with_0_is_waited_for_as_long_as_it_has_left_somebody_behind() {
    let mut launch = shell("sleep 1000 & exit 0");
    launch.ready_within = Duration::from_secs(1);
    let (error, _) = Run::new().start_alone(&launch);
    let StartError::NotReady(not_ready) = error else { panic!("{error}") };
    let Unready::TimedOut { pid, left, .. } = &not_ready.why else { panic!("{not_ready}") };
    let says = format!("pid {pid} ended with 0, and what it left behind (pid {}) listens nowhere", left[0]);
    assert!(not_ready.to_string().contains(&says), "{not_ready}");
    assert!(left.iter().all(|pid| Identity::of(*pid).is_none()));
    let (error, _) = Run::new().start_alone(&shell("exit 0"));
    assert!(error.to_string().contains("it exited with 0 before that"), "{error}");
}

#[test]
fn a_404_times_out_with_the_path_and_the_status() {
    let mut launch = shell("sleep 1000; :");
    launch.ready = Ready::Path("/healthz".to_owned());
    launch.ready_within = Duration::from_secs(1);
    let error =
        Run::new().start_answering(&launch, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap_err();
    let wanted = format!("a 2xx answer to GET /healthz on 127.0.0.1:{}: answered 404 so far", launch.port);
    assert!(error.to_string().contains(&wanted), "{error}");
}

#[test]
fn a_2xx_makes_it_ready() {
    let mut launch = shell("sleep 1000; :");
    launch.ready = Ready::Path("/healthz".to_owned());
    let system = Run::new().start_answering(&launch, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert!(system.ready_after() > Duration::ZERO);
    system.stop(LONG);
}

#[test]
fn a_port_already_held_names_the_pid_and_starts_nothing() {
    let launch = shell("sleep 1000; :");
    let _held = TcpListener::bind((Ipv4Addr::LOCALHOST, launch.port)).unwrap();
    let (error, _) = Run::new().start_alone(&launch);
    let begins = format!("port {} is already held by pid {} (", launch.port, std::process::id());
    assert!(matches!(error, StartError::Port(_)));
    assert!(error.to_string().starts_with(&begins), "{error}");
}

#[test]
fn a_command_that_does_not_exist_is_named_with_its_directory() {
    let mut launch = shell("");
    launch.command = vec!["no-such-command".to_owned()];
    let (error, _) = Run::new().start_alone(&launch);
    let text = "could not run `no-such-command` in /: could not run the command: No such file or directory (os error 2); is it installed, on PATH, or built?";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_directory_that_does_not_exist_is_named() {
    let mut launch = shell("");
    launch.dir = "/no/such/place".into();
    let (error, _) = Run::new().start_alone(&launch);
    let text = "could not run `sh` in /no/such/place: could not enter the directory: No such file or directory (os error 2); does it exist?";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_relative_command_is_looked_for_in_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("serve");
    std::fs::write(&script, "#!/bin/sh\necho here >&2\nsleep 1000; :").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut launch = shell("");
    (launch.command, launch.dir) = (vec!["./serve".to_owned()], dir.path().to_owned());
    let system = Run::new().start(&launch).unwrap();
    super::support::until("its line", || (system.logs().stderr_lines == 1).then_some(()));
    system.stop(LONG);
}

#[test]
fn the_whole_tree_stands_on_its_cores_and_a_stray_is_named() {
    let machine = cores::machine().unwrap();
    let run = Run::new();
    let launch = shell("sleep 1000 & sleep 1000; :");
    let system = run.start(&launch).unwrap();
    super::support::until("both", || (below(system.root()).len() == 3).then_some(()));
    let pinning = system.verify_cores(&launch.cores.system);
    assert_eq!((pinning.seen, pinning.strays), (launch.cores.system.clone(), Vec::new()));
    if let Some(other) = machine.iter().find(|core| !launch.cores.system.contains(core)) {
        let pinning = system.verify_cores(&[*other]);
        assert_eq!(pinning.strays.len(), 3);
        assert_eq!(pinning.strays[0].cores, launch.cores.system);
    }
    let tree = below(system.root());
    system.stop(LONG);
    assert!(all_ended(&tree));
}

#[test]
fn the_limit_on_open_files_is_the_systems_alone() {
    let mut launch = shell("ulimit -n >&2; sleep 1000; :");
    launch.open_files = Some(321);
    let system = Run::new().start(&launch).unwrap();
    super::support::until("its line", || (system.logs().stderr_lines == 1).then_some(()));
    assert_eq!(system.stop(LONG).ending.stderr_tail, ["321"]);
}

#[test]
fn cores_that_cannot_be_had_are_refused_before_anything_starts() {
    let machine = cores::machine().unwrap();
    let beyond = machine.last().unwrap() + 1;
    assert!(cores::split(&Cores::List(vec![beyond]), &machine).is_err());
}
