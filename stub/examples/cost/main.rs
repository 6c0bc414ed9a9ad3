//! What an answer of the stub costs, held against a bare axum route that answers the same bytes.
//!
//! CPU time of the serving thread per call, over kept-alive connections with one call each under way. Run by
//! `cargo run --release --package floodrig-stub --example cost`.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that cannot go on ends; it prints")]

mod crowd;
mod memory;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use crowd::{Crowd, request};
use floodrig_stub::Limits;

const CONNECTIONS: usize = 32;
const ROUNDS: usize = 3000;
const CHATS: usize = 100_000;

fn main() {
    memory::table();
    let answer = r#"{"ok":true,"result":{"id":1,"is_bot":true,"first_name":"Bot 1","username":"stub_1_bot"}}"#;
    let (bare, bare_thread) = bare_axum(answer);
    let stub = stub();
    let address = stub.url().trim_start_matches("http://").to_owned();
    let stub_thread = stub.thread_id().unwrap();

    let get_me = |_: usize| request("getMe", "{}");
    let send = |nth: usize| {
        let chat = 1 + nth % CHATS;
        request("sendMessage", &format!(r#"{{"chat_id":{chat},"text":"Round {nth}: 7 of 10 players have finished"}}"#))
    };
    let base = cost(&bare, bare_thread, get_me);
    println!("\n{:<28} {:>8} {:>6}", "call", "CPU us", "ratio");
    println!("{:<28} {:>8.2} {:>6.2}", "a bare axum route", base, 1.0);
    for (name, spent) in [
        ("getMe", cost(&address, stub_thread, get_me)),
        ("sendMessage, ceilings held", cost(&address, stub_thread, send)),
    ] {
        println!("{name:<28} {spent:>8.2} {:>6.2}", spent / base);
    }
}

/// A stub whose answers take no time; the ceiling of the bot is out of reach but held all the same.
#[expect(clippy::disallowed_methods, reason = "the caller whose epoch it is")]
pub(crate) fn stub() -> floodrig_stub::Stub {
    let limits =
        Limits { answer_time: Duration::ZERO..=Duration::ZERO, sends_per_second: 1_000_000, ..Limits::default() };
    floodrig_stub::start(limits, TcpListener::bind("127.0.0.1:0").unwrap(), Instant::now(), 1).unwrap()
}

fn bare_axum(answer: &'static str) -> (String, u32) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, thread) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        tell.send(own_thread_id()).unwrap();
        let router = Router::new().fallback(move || async move { ([(CONTENT_TYPE, "application/json")], answer) });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), router).await.unwrap();
        });
    });
    (address, thread.recv().unwrap())
}

fn own_thread_id() -> u32 {
    std::fs::read_link("/proc/thread-self").unwrap().file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// Microseconds of that thread for each call.
fn cost(address: &str, thread: u32, request: impl Fn(usize) -> Vec<u8>) -> f64 {
    let mut crowd = Crowd::connect(address, CONNECTIONS);
    let mut round = |nth: usize| crowd.round(|at| request(nth * CONNECTIONS + at));
    (0..ROUNDS / 10).for_each(&mut round);
    let before = cpu(thread);
    (0..ROUNDS).for_each(&mut round);
    (cpu(thread) - before) / 1000.0 / (CONNECTIONS * ROUNDS) as f64
}

/// Nanoseconds that a thread has run.
fn cpu(thread: u32) -> f64 {
    let told = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).unwrap();
    told.split_whitespace().next().unwrap().parse().unwrap()
}
