//! The system confined as on a small server: memory, CPU time and open files, each with what the kernel counted.

use floodrig::system::{Limits, Unready};

use super::support::{LONG, Run, dies_by, shell, until};

/// Whether the kernel holds the limits, as it must where somebody says by which version of control groups.
#[expect(clippy::disallowed_methods, reason = "whoever starts the tests in a kernel knows its control groups")]
fn held_as_promised(said: &str) -> bool {
    if let Ok(version) = std::env::var("FLOODRIG_TEST_CGROUP") {
        assert!(said.starts_with("active: ") && said.contains(&format!(", by cgroup v{version}")), "{said}");
    }
    said.starts_with("active")
}

#[test]
fn a_system_beyond_its_memory_is_killed_and_the_kernels_count_proves_it() {
    let run = Run::new();
    let (dir, script) = dies_by("head -c 1G /dev/zero | tail -c 300M");
    let mut launch = shell(&script);
    launch.limits = Limits { memory: Some(64 << 20), cpu: None };
    let system = run.start(&launch).unwrap();
    let held = system.confinement();
    std::fs::write(dir.path().join("now"), "").unwrap();
    until("its death", || system.death());
    let stopped = system.stop(LONG);
    // Through the shell, whose status is 128 and the signal.
    assert_eq!((stopped.ending.code, stopped.ending.signal.as_deref()), (Some(137), Some("SIGKILL")));
    if held_as_promised(&held) {
        assert_eq!(stopped.ending.oom, Some(true), "{:?}", stopped.ending);
        let confined = stopped.confined.unwrap();
        assert_eq!((confined.memory_limit_bytes, confined.oom_kills), (Some(64 << 20), Some(1)));
        assert!(confined.memory_peak_bytes.unwrap() > 32 << 20, "{confined:?}");
    } else {
        println!("no control group here: {held}");
        assert!(stopped.ending.note.unwrap().contains("emulated cap of 64.0 MiB"));
        assert_eq!((stopped.ending.oom, stopped.confined), (Some(false), None));
    }
}

#[test]
fn another_signal_within_the_limit_is_no_want_of_memory() {
    let run = Run::new();
    let (dir, script) = dies_by("kill -KILL $$");
    let mut launch = shell(&script);
    launch.limits = Limits { memory: Some(256 << 20), cpu: None };
    let system = run.start(&launch).unwrap();
    let held = system.confinement();
    std::fs::write(dir.path().join("now"), "").unwrap();
    until("its death", || system.death());
    let stopped = system.stop(LONG);
    if held_as_promised(&held) {
        assert_eq!((stopped.ending.oom, stopped.confined.unwrap().oom_kills), (Some(false), Some(0)));
    } else {
        assert_eq!((stopped.ending.note, stopped.confined), (None, None));
    }
}

#[test]
fn a_system_beyond_its_cpu_time_is_kept_waiting_and_the_wait_is_counted() {
    let run = Run::new();
    let mut launch = shell("while :; do :; done");
    launch.limits = Limits { memory: None, cpu: Some(0.1) };
    let system = run.start(&launch).unwrap();
    let held = system.confinement();
    // Some twenty periods of 100 ms, of a tenth part each, whatever else runs.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let confined = system.stop(LONG).confined;
    if held_as_promised(&held) {
        let confined = confined.unwrap();
        assert_eq!(confined.cpu_limit, Some(0.1));
        assert!(confined.throttled_periods >= Some(5) && confined.throttled_us > Some(100_000), "{confined:?}");
    } else {
        assert!(held.ends_with("CPU time is not limited"), "{held}");
        assert_eq!(confined, None);
    }
}

#[test]
fn no_group_outlives_its_system() {
    let run = Run::new();
    let mut launch = shell("sleep 1000; :");
    launch.limits = Limits { memory: Some(256 << 20), cpu: None };
    let system = run.start(&launch).unwrap();
    let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", system.pid())).unwrap();
    let entered = groups.contains(&format!("-{}\n", launch.port));
    assert_eq!(entered, held_as_promised(&system.confinement()), "{groups}");
    let root = std::path::Path::new("/sys/fs/cgroup");
    system.stop(LONG);
    let is_left = |line: &str| {
        let path = line.rsplit(':').next().unwrap_or_default().trim_start_matches('/').to_owned();
        let places = [root.join(&path), root.join("memory").join(&path), root.join("unified").join(&path)];
        path.ends_with(&format!("-{}", launch.port)) && places.iter().any(|place| place.exists())
    };
    assert!(!groups.lines().any(is_left), "{groups}");
}

#[test]
fn a_limit_on_open_files_is_the_systems_alone_and_not_only_a_soft_one() {
    let mut launch = shell("exit $(ulimit -Hn)");
    launch.open_files_at_most = Some(64);
    let (error, _) = Run::new().start_alone(&launch);
    let floodrig::system::StartError::NotReady(not_ready) = error else { panic!("{error}") };
    assert!(matches!(not_ready.why, Unready::Died(_)));
    assert_eq!(not_ready.ending.code, Some(64));
}
