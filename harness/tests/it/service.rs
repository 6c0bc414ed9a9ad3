//! A service beside the system, run: its environment reaches it, and its own command stops it.

use std::fs;

use crate::rig::Rig;

const SERVICE: &str = r#"
[[service]]
name = "beside"
start = ["sh", "-c", "echo $SAID > read; until [ -e asked ]; do sleep 0.02; done; echo by itself > ended"]
ready.command = ["test", "-e", "read"]
stop = ["sh", "-c", "echo $SAID > asked; until [ -e ended ]; do sleep 0.02; done"]
env = { SAID = "hello {service.beside.port}" }
"#;

#[test]
fn a_service_reads_its_environment_and_is_stopped_by_its_own_command() {
    let rig = Rig::small(&[]).and(SERVICE);
    rig.run().ended(0).complete();
    let read = |name| fs::read_to_string(rig.path().join(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"));
    let port = read("read").trim().strip_prefix("hello ").and_then(|port| port.parse::<u16>().ok());
    assert!(port > Some(1024), "{}", read("read"));
    assert_eq!((read("asked"), read("ended").as_str()), (read("read"), "by itself\n"));
}
