//! What a million messages leave behind, this client included.

use super::crowd::{Crowd, request};

const CONNECTIONS: usize = 64;
const CHATS: usize = 100_000;
const MESSAGES: usize = 1_000_000;

pub(crate) fn table() {
    let stub = super::stub();
    let mut crowd = Crowd::connect(stub.url().trim_start_matches("http://"), CONNECTIONS);
    println!("{:>10} {:>8}", "messages", "RSS MiB");
    println!("{:>10} {:>8}", 0, resident());
    for nth in 1..=MESSAGES / CONNECTIONS {
        crowd.round(|at| {
            let message = nth * CONNECTIONS + at;
            let chat = 1 + message % CHATS;
            request("sendMessage", &format!(r#"{{"chat_id":{chat},"text":"Round {message}: 7 of 10 have finished"}}"#))
        });
        if nth % (MESSAGES / CONNECTIONS / 10) == 0 {
            println!("{:>10} {:>8}", nth * CONNECTIONS, resident());
        }
    }
}

/// MiB of this process that are in memory.
fn resident() -> usize {
    let told = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = told.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
}
