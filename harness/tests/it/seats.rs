//! Who has which cores while a load is on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use floodrig::system::cores::{machine, pin_this_thread};
use procfs::process::Process;

use crate::rig::{Rig, ended, eventually, kill};

/// The cores that each thread of a process may use, by the thread's name.
fn seats(pid: u32) -> BTreeMap<String, Vec<u32>> {
    let tasks = Process::new(pid as i32).and_then(|process| process.tasks());
    let statuses = tasks.into_iter().flatten().flatten().filter_map(|task| task.status().ok());
    let cores = |allowed: Option<Vec<(u32, u32)>>| allowed.into_iter().flatten().flat_map(|(from, to)| from..=to);
    statuses.map(|status| (status.name, cores(status.cpus_allowed_list).collect())).collect()
}

#[test]
fn the_driving_thread_has_one_core_and_the_rigs_others_keep_off_it_where_they_have_another() {
    // Its folder lives as long as this.
    let scenario = Rig::small(&[("over = \"2s\"", "over = \"60s\"")]);
    let rig = scenario.start();
    let mut seen = BTreeMap::new();
    eventually("the load is on", || {
        seen = seats(rig.id());
        ["drive", "stub", "observer"].iter().all(|name| seen.contains_key(*name))
    });
    // The thread takes its seat a moment after it has begun.
    eventually("the driving thread sits", || {
        seen = seats(rig.id());
        seen.get("drive").is_some_and(|cores| cores.len() == 1)
    });
    let (driver, of_the_rig) = (seen["drive"][0], machine().expect("the machine's cores").len().saturating_sub(1));
    for name in ["stub", "observer"] {
        assert_eq!(seen[name].contains(&driver), of_the_rig <= 1, "{seen:?}");
    }
    kill(rig.id(), "INT");
    assert_eq!(ended(rig).status.code(), Some(130));
}

/// Keeps a core busy until it is dropped, but for whoever has something to do there: other tests have their systems on it.
struct Other {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Other {
    fn takes(core: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            pin_this_thread(&[core]).expect("it is to be had");
            rustix::process::nice(19).expect("it is nobody's privilege");
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join).expect("it was started").expect("it does nothing that panics");
    }
}

#[test]
fn what_others_use_of_the_systems_cores_is_told_and_stands_beside_a_breach() {
    let cores = machine().expect("the machine's cores");
    // The last one is the system's.
    let other = Other::takes(*cores.last().expect("there is one"));
    let rig = Rig::small(&[("[crowd]", "[budgets]\nlatency.open = { p99 = \"1us\" }\n\n[crowd]")]);
    let left = rig.judged().run().ended(1);
    drop(other);
    let share = left.summary()["system"]["cores_used_by_others"].as_f64();
    if cores.len() == 1 {
        assert_eq!(share, None, "the rig is on the system's only core");
        return;
    }
    assert!(share > Some(0.4), "{share:?}");
    assert!(left.stdout.contains("of the system's cores meanwhile, which may be why: end what"), "{}", left.stdout);
}
