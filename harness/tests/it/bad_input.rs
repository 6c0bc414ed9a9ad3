//! Bad input: a clear message, the documented status, nothing left running.

use std::net::TcpListener;

use crate::rig::{Rig, processes_in};

fn refused(rig: &Rig, status: i32, says: &[&str]) {
    let left = rig.run().ended(status);
    for words in says {
        let said = format!("{}{}", left.stderr, left.stdout);
        assert!(said.contains(words), "{words:?} is missing from:\n{said}");
    }
    assert!(processes_in(rig.path()).is_empty());
}

#[test]
fn a_misspelt_key_is_shown_with_line_caret_and_suggestion() {
    refused(&Rig::small(&[("groups = 8", "gruops = 8")]), 2, &["s.toml:12", "^", "did you mean `groups`"]);
}

#[test]
fn a_number_without_its_unit_says_so() {
    refused(&Rig::small(&[("settle = \"5s\"", "settle = 5")]), 2, &["s.toml:14", "unit", "\"5s\""]);
}

#[test]
fn a_program_that_is_needed_and_not_there_is_shown_and_so_is_one_too_old() {
    let needing = |need: &str| Rig::small(&[("seed", &format!("needs = [\"{need}\"]\nseed"))]);
    refused(&needing("no-such-program"), 2, &["s.toml:3", "no `no-such-program` is in PATH"]);
    refused(&needing("cargo >= 1000"), 2, &["s.toml:3", "install a newer one"]);
    refused(&needing("true >= 1000"), 2, &["s.toml:3", "true"]);
    needing("cargo >= 1.0").run().ended(0);
    needing("sh").run().ended(0);
}

#[test]
fn a_program_that_leaves_something_running_and_its_output_open_is_asked_for_its_version_all_the_same() {
    let rig = Rig::small(&[("seed", "needs = [\"lingers >= 2\"]\nseed")]);
    let lingers = rig.path().join("lingers");
    std::fs::write(&lingers, "#!/bin/sh\n(sleep 3600 &)\necho lingers 1.5\n").expect("a program");
    std::fs::set_permissions(&lingers, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it may be run");
    let path = format!("{}:{}", rig.path().display(), std::env::var("PATH").expect("a PATH"));
    refused(&rig.exporting("PATH", &path), 2, &["lingers is 1.5: install a newer one"]);
}

#[test]
fn a_system_that_runs_already_needs_nothing_of_this_machine() {
    let soon = ("command = [", "ready_within = \"1s\"\ncommand = [");
    let rig = Rig::small(&[("seed", "needs = [\"no-such-program\"]\nseed"), soon]);
    let left = rig.with(&["--target", "http://127.0.0.1:1"]).run();
    assert!(!left.stderr.contains("no-such-program"), "{}", left.stderr);
}

#[test]
fn a_scenario_of_a_folder_whose_needs_are_not_met_is_skipped_in_plain_sight() {
    let rig = Rig::small(&[]);
    let text = std::fs::read_to_string(rig.path().join("s.toml")).expect("the scenario is read");
    let needing = text.replacen("seed", "needs = [\"no-such-program\"]\nseed", 1);
    std::fs::write(rig.path().join("t.toml"), needing).expect("another is written");
    let left = rig.with(&["."]).run();
    assert!(left.stderr.contains("t.toml: skipped: `no-such-program` is needed"), "{}", left.stderr);
    assert_eq!(left.status, Some(0), "{}", left.stderr);
}

#[test]
fn a_missing_file_is_named() {
    let rig = Rig::small(&[]).with(&["nowhere.toml"]);
    refused(&rig, 2, &["nowhere.toml"]);
}

#[test]
fn a_command_that_does_not_exist_is_shown_where_it_stands() {
    refused(&Rig::small(&[("WORDLE", "./no-such-program")]), 2, &["s.toml:7", "no-such-program"]);
}

#[test]
fn a_core_that_does_not_exist_is_shown_where_it_stands() {
    refused(&Rig::small(&[("dir = \".\"", "dir = \".\"\ncores = [4095]")]), 2, &["s.toml:7", "4095"]);
}

#[test]
fn more_open_files_than_the_kernel_allows_are_shown_where_they_stand() {
    let most = std::fs::read_to_string("/proc/sys/fs/nr_open").expect("the kernel's limit");
    let more: u64 = most.trim().parse::<u64>().expect("a number") + 1;
    let rig = Rig::small(&[("dir = \".\"", &format!("dir = \".\"\nopen_files = {more}"))]);
    refused(&rig, 2, &["s.toml:7", "could not set the limit on open files", "ulimit -Hn"]);
}

#[test]
fn a_port_already_taken_names_its_holder() {
    let held = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = held.local_addr().expect("an address").port();
    let rig = Rig::small(&[("dir = \".\"", &format!("dir = \".\"\nport = {port}"))]);
    refused(&rig, 2, &[&format!("{port}"), &format!("pid {}", std::process::id())]);
}

#[test]
fn a_file_in_the_way_of_the_runs_folder_is_named_before_anything_runs() {
    let rig = Rig::small(&[]);
    std::fs::write(rig.path().join("out"), "").expect("a file");
    refused(&rig, 2, &["out is not a folder"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    for command in [&["schema"][..], &["sign", "--count", "9"], &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut floodrig = std::process::Command::new(env!("CARGO_BIN_EXE_floodrig"));
        let status = floodrig.args(command).stdout(writer).status().expect("the rig starts");
        assert_eq!(status.code(), Some(0), "{command:?}");
    }
}

#[test]
fn a_system_that_exits_at_start_is_not_ready_and_its_last_words_are_shown() {
    let rig = Rig::small(&[("[\"WORDLE\"]", "[\"sh\", \"-c\", \"echo no database >&2; exit 7\"]")]);
    refused(&rig, 3, &["no database", "7"]);
}

#[test]
fn a_system_that_refuses_signed_players_is_not_ready_and_the_reason_is_said() {
    let rig = Rig::small(&[("CALIBRATE = \"1\"", "CALIBRATE = \"1\", BOT_TOKEN = \"1:other\"")]);
    refused(&rig, 3, &["was answered 401 (`", "signature"]);
}
