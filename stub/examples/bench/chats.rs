//! Memory after many messages to many chats, half of them private and half groups.

use floodrig_stub::Stub;

use crate::client::{Connection, address_of, rss_mib, send, stub};
use crate::row::Row;

const CHATS: usize = 100_000;
const CONNECTIONS: usize = 64;

/// Every chat has had one message.
pub(crate) fn idle() -> Vec<Row> {
    let stub = stub();
    send_all(&stub, 0..CHATS);
    vec![row("RSS with 100,000 idle chats", rss_mib(), Some(40.0))]
}

/// Ten messages to each, then a fifth as many again: memory has to stay as it is.
pub(crate) fn busy() -> Vec<Row> {
    let stub = stub();
    send_all(&stub, 0..10 * CHATS);
    let after = rss_mib();
    send_all(&stub, 10 * CHATS..12 * CHATS);
    vec![
        row("RSS after 1,000,000 sendMessage over 100,000 chats", after, Some(96.0)),
        row("what 200,000 more add to it", rss_mib() - after, Some(4.0)),
    ]
}

fn send_all(stub: &Stub, messages: std::ops::Range<usize>) {
    let address = address_of(stub);
    let mut connections: Vec<_> = (0..CONNECTIONS).map(|_| Connection::to(&address)).collect();
    for nth in messages.step_by(CONNECTIONS) {
        for (at, connection) in connections.iter_mut().enumerate() {
            connection.write(&send(chat(nth + at), nth));
        }
        for connection in &mut connections {
            // Groups and private chats whose turn came round too soon are refused, which costs memory too.
            assert!(matches!(connection.status(), 200 | 429), "neither accepted nor refused");
        }
    }
}

/// The ids of real users and supergroups.
fn chat(nth: usize) -> i64 {
    let chat = (nth % CHATS) as i64;
    if chat % 2 == 0 { 5_000_000_000 + chat } else { -1_001_000_000_000 - chat }
}

fn row(what: &str, figure: f64, most: Option<f64>) -> Row {
    Row { what: what.to_owned(), figure, unit: "MiB", most }
}
