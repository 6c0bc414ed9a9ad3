//! Bots that wait: their memory, and how fast an update reaches one of them.

use std::net::TcpListener;
use std::time::Instant;

use serde_json::json;

use crate::client::{Connection, address_of, request, rss_mib, stub};
use crate::row::Row;

/// Bots that poll, and as many that have a webhook.
const BOTS: usize = 2000;

#[expect(clippy::disallowed_methods, reason = "an edge that measures")]
pub(crate) fn measure() -> Vec<Row> {
    let stub = stub();
    let address = address_of(&stub);
    // Nothing is posted to it, so nobody has to accept.
    let hook = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = json!({ "url": format!("http://{}/", hook.local_addr().unwrap()) }).to_string();
    let mut setting = Connection::to(&address);
    for bot in BOTS + 1..=2 * BOTS {
        setting.write(&request(bot, "setWebhook", &url));
        assert_eq!(setting.status(), 200);
    }
    let mut polls: Vec<_> = (1..=BOTS).map(|_| Connection::to(&address)).collect();
    for (bot, poll) in polls.iter_mut().enumerate() {
        poll.write(&request(bot + 1, "getUpdates", r#"{"timeout":50}"#));
    }
    // A call after all of them is answered after all of them were parked.
    setting.write(&request(1, "getMe", "{}"));
    assert_eq!(setting.status(), 200);
    let rss = rss_mib();
    let mut took: Vec<f64> = Vec::with_capacity(BOTS);
    for (bot, poll) in polls.iter_mut().enumerate() {
        let begun = Instant::now();
        stub.write(&format!("{}:a", bot + 1), 7, 7, "hello").unwrap();
        assert_eq!(poll.status(), 200);
        took.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    took.sort_by(f64::total_cmp);
    let row = |what: &str, figure, unit, most| Row { what: what.to_owned(), figure, unit, most: Some(most) };
    vec![
        row("RSS with 2,000 parked long polls and 2,000 bots with webhooks", rss, "MiB", 64.0),
        row("from an injected update to its parked poll, p99", took[BOTS * 99 / 100], "ms", 5.0),
    ]
}
