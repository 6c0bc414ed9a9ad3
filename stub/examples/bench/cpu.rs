//! CPU time of the serving thread for each call, against a bare axum route that answers JSON. The two take
//! turns, so that a machine that slows down slows both, and the median round counts.

use std::net::TcpListener;

use axum::Router;
use axum::http::header::CONTENT_TYPE;

use crate::client::{Connection, address_of, cpu, request, send, stub};
use crate::row::Row;

const ROUNDS: usize = 5;
const CONNECTIONS: usize = 32;
/// Calls on each connection in a round.
const CALLS: usize = 1000;
const CHATS: usize = 100_000;

/// What the bare route answers: as much as getMe does.
const ANSWER: &str = r#"{"ok":true,"result":{"id":1,"is_bot":true,"first_name":"Bot 1","username":"stub_1_bot"}}"#;

pub(crate) fn measure() -> Vec<Row> {
    let stub = stub();
    let (bare_address, bare_thread) = bare_axum();
    let mut bare = Served::by(&bare_address, bare_thread);
    let mut stub_side = Served::by(&address_of(&stub), stub.thread_id().unwrap());
    let get_me = |_: usize| request(1, "getMe", "{}");
    let send = |nth: usize| send(1 + (nth % CHATS) as i64, nth);
    let mut costs: [Vec<f64>; 3] = [vec![], vec![], vec![]];
    for _ in 0..=ROUNDS {
        costs[0].push(bare.cost(get_me));
        costs[1].push(stub_side.cost(get_me));
        costs[2].push(stub_side.cost(send));
    }
    // The first round only warms up.
    let [bare, get_me, send] = costs.map(|costs| costs[1..].to_vec());
    let ratios = |of: &[f64]| median(of.iter().zip(&bare).map(|(cost, bare)| cost / bare).collect());
    let row = |what: &str, figure, unit, most| Row { what: what.to_owned(), figure, unit, most };
    vec![
        row("a bare axum route that answers JSON", median(bare.clone()), "us CPU", None),
        row("getMe", median(get_me.clone()), "us CPU", None),
        row("getMe, against the bare route", ratios(&get_me), "times", Some(1.25)),
        row("sendMessage, all ceilings held", median(send.clone()), "us CPU", None),
        row("sendMessage, all ceilings held, against the bare route", ratios(&send), "times", Some(1.6)),
    ]
}

struct Served {
    connections: Vec<Connection>,
    thread: u32,
    made: usize,
}

impl Served {
    fn by(address: &str, thread: u32) -> Self {
        let connections = (0..CONNECTIONS).map(|_| Connection::to(address)).collect();
        Self { connections, thread, made: 0 }
    }

    /// Microseconds of the serving thread for each call, with one call under way on each connection.
    fn cost(&mut self, request: impl Fn(usize) -> Vec<u8>) -> f64 {
        let before = cpu(self.thread);
        for _ in 0..CALLS {
            for connection in &mut self.connections {
                connection.write(&request(self.made));
                self.made += 1;
            }
            let all_accepted = self.connections.iter_mut().all(|connection| connection.status() == 200);
            assert!(all_accepted, "what is measured is an accepted call");
        }
        (cpu(self.thread) - before) / 1000.0 / (CONNECTIONS * CALLS) as f64
    }
}

fn median(mut costs: Vec<f64>) -> f64 {
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}

fn bare_axum() -> (String, u32) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, thread) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        tell.send(own_thread_id()).unwrap();
        let router = Router::new().fallback(|| async { ([(CONTENT_TYPE, "application/json")], ANSWER) });
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
