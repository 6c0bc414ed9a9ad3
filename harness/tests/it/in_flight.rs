//! What was in flight when the system died, through a whole run, against what the system itself held at that instant.

use std::fs;

use crate::rig::Rig;
use crate::system::drawn::Drawn;
use crate::tools;

/// How often a death of a drawn instant is tried on a machine that others use too.
const TRIES: usize = 5;

/// With TAKES it answers everybody after so many ms; without, it answers ANSWERS of them at once when ALL have come. It
/// dies 20 ms after the last of ANSWERS, or with TAKES 6 ms. Right before, it writes how many it holds, and whether its
/// loop came round late in the last 100 ms: then it may not know of all that has come.
const HOLDS: &str = r#"
const fs = require("fs"), { ALL, ANSWERS, TAKES, PORT } = process.env;
const held = new Set();
let come = 0, answered = 0, last = performance.now(), late = -1e9;
setInterval(() => {
  const now = performance.now();
  if (now - last > 12) late = now;
  last = now;
}, 4);
const dies = () => {
  fs.writeFileSync("held", `${held.size} ${performance.now() - late < 100 || performance.now() - last > 12}`);
  process.kill(process.pid, "SIGKILL");
};
const tell = (answer) => {
  held.delete(answer);
  answer.end();
  if (TAKES && ++answered === Number(ANSWERS)) setTimeout(dies, 6);
};
const atOnce = () => {
  [...held].slice(0, Number(ANSWERS)).forEach(tell);
  setTimeout(dies, 20);
};
require("http").createServer((request, answer) => {
  if (request.url !== "/held") return answer.end();
  // The first one comes before the load, to see whether it is answered.
  if (!TAKES && come++ === 0) return answer.end();
  held.add(answer);
  if (TAKES) setTimeout(tell, Number(TAKES), answer);
  else if (come > Number(ALL)) setTimeout(atOnce, 50);
}).listen(PORT, "127.0.0.1");
"#;

const SCENARIO: &str = r#"
name = "held"

[system]
dir = "."
command = ["node", "holds.js"]
ready = "/"
env = { ENV }

[crowd]
groups = GROUPS
players_per_group = 1
settle = "0s"

[[journey]]
name = "come"
ARRIVE
steps = [{ act = "held", get = "/held" }]
"#;

/// What the system says that it held, whether it may not know of all that had come, and what the run says.
fn death(env: &str, groups: u64, arrive: &str) -> (u64, bool, u64) {
    let scenario = SCENARIO.replace("ENV", env).replace("GROUPS", &groups.to_string()).replace("ARRIVE", arrive);
    let rig = Rig::new(&scenario).holding("holds.js", HOLDS);
    let summary = rig.run().ended(5).complete().summary();
    let said = fs::read_to_string(rig.path().join("held")).expect("it has died by itself");
    let (held, late) = said.split_once(' ').expect("two words");
    assert_eq!(summary["system"]["ending"]["signal"], "SIGKILL");
    let in_flight = summary["system"]["ending"]["in_flight"].as_u64().expect("a count");
    (held.parse().expect("a number"), late == "true", in_flight)
}

/// So many come, of which so many are answered at once, and the system is dead 20 ms later.
fn dies_holding(all: u64, answered: u64) {
    if tools::here(&["node"]) {
        let env = format!("ALL = '{all}', ANSWERS = '{answered}'");
        // A quick run has half the groups.
        let (held, _, in_flight) = death(&env, 2 * all, "arrive.burst.over = '1s'");
        assert_eq!((held, in_flight), (all - answered, all - answered), "{answered} of {all} were answered");
    }
}

#[test]
fn what_a_killed_system_held_is_what_the_ending_says() {
    dies_holding(1 + Drawn::new().below(60), 0);
}

#[test]
fn what_was_in_flight_a_moment_before_and_was_answered_is_not_in_flight() {
    let mut drawn = Drawn::new();
    let all = 2 + drawn.below(60);
    dies_holding(all, 1 + drawn.below(all));
}

/// One comes each 25 ms and is answered 260 ms later, so that no two things happen within 10 ms of each other.
#[test]
fn under_constant_traffic_what_the_system_held_as_it_died_is_what_the_ending_says() {
    if !tools::here(&["node"]) {
        return;
    }
    let mut drawn = Drawn::new();
    let mut tries = Vec::new();
    while tries.len() < TRIES {
        let answers = 10 + drawn.below(20);
        let env = format!("ANSWERS = '{answers}', TAKES = '260'");
        let (held, late, in_flight) = death(&env, 100, "arrive.constant = { rate = 40, over = '4s' }");
        if held == in_flight {
            return;
        }
        // The system's loop may have been late, or the rig: it hears of the last answer 6 ms before the end.
        tries.push((answers, held, in_flight, late));
    }
    panic!("answered, held, in flight, the system's loop late: {tries:?}");
}
