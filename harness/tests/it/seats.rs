//! Who of the rig's threads has which cores while a load is on.

use std::collections::BTreeMap;

use floodrig::system::cores::machine;
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
