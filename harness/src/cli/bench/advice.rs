//! What to do about a bench that found no TLS session, or in which nothing succeeded at all.
//!
//! The requests tell how they failed. When none succeeded the server is asked once more, in other ways too, so that
//! what to change can be said.

use std::time::Duration;

use floodrig_reports::Summary;
use floodrig_reports::recording::Outcomes;

use crate::bench::Order;
use crate::exchange::{Detected, Speech, detect, get_once, glance};

/// How long each of the further looks may take: whoever listens on this machine answers in a moment.
const LOOK: Duration = Duration::from_secs(1);

/// What went wrong and what to do, if there is something to say.
pub(super) fn on(order: &Order, summary: &Summary) -> Option<String> {
    let (mut planned, mut ok, mut outcomes) = (0, 0, Outcomes::default());
    for act in summary.acts.values() {
        (planned, ok) = (planned + act.planned, ok + act.ok);
        outcomes.merge(&act.outcomes);
    }
    let failed = outcomes.tls_failed;
    let says = format!("{failed} of {planned} requests found no TLS session");
    match ok {
        0 if planned == 0 || summary.partial => None,
        0 if failed > 0 => Some(format!("{says}\nhelp: {}", without_tls(order))),
        0 => Some(format!("none of {planned} requests succeeded\nhelp: {}", without_success(order, &outcomes))),
        _ if failed > 0 => Some(format!("{says}\nhelp: {}", untrusted(order))),
        _ => None,
    }
}

fn request(order: &Order) -> String {
    get_once(&order.target.host, &order.path)
}

fn without_tls(order: &Order) -> String {
    let is_newer = || !order.http2 && speech(order, true).is_some_and(|speech| look(order, &speech).is_some());
    match detect(order.target.address, &request(order), LOOK) {
        Some(Detected::Http1 | Detected::Http2) => {
            "the server speaks HTTP without TLS: write http://, and leave --ca out".to_owned()
        }
        Some(Detected::Tls) if is_newer() => "the server speaks HTTP/2 alone: add --http2".to_owned(),
        Some(Detected::Tls) | None => untrusted(order),
    }
}

fn untrusted(order: &Order) -> String {
    let name = order.tls.as_ref().map_or(order.target.host.as_str(), |trust| &trust.name);
    format!(
        "--ca has to hold the server's own certificate, or that of who signed it; one that was signed has to bear the \
         name `{name}`"
    )
}

fn without_success(order: &Order, outcomes: &Outcomes) -> String {
    let secure = order.tls.is_some();
    match detect(order.target.address, &request(order), LOOK) {
        Some(Detected::Tls) if !secure => {
            "the server speaks TLS: write https://, and name its certificate with --ca FILE".to_owned()
        }
        Some(Detected::Http1) if order.http2 && !secure => "the server speaks HTTP/1.1: leave --http2 out".to_owned(),
        Some(Detected::Http2) if !order.http2 && !secure => "the server speaks HTTP/2 alone: add --http2".to_owned(),
        Some(Detected::Tls | Detected::Http1 | Detected::Http2) => {
            let status = speech(order, order.http2).and_then(|speech| look(order, &speech));
            status.and_then(|status| answered(order, status)).unwrap_or_else(|| failed(order, outcomes))
        }
        None => failed(order, outcomes),
    }
}

/// How the server is spoken to.
fn speech(order: &Order, http2: bool) -> Option<Speech> {
    let order = Order { http2, ..order.clone() };
    order.scenario().ok().map(|scenario| scenario.system.speech)
}

/// The status that the server answers with.
fn look(order: &Order, speech: &Speech) -> Option<u16> {
    glance(order.target.address, speech, &request(order), LOOK).ok()
}

/// What to do about an answer that is no success.
fn answered(order: &Order, status: u16) -> Option<String> {
    let path = &order.path;
    let help = match status {
        200..=299 => return None,
        300..=399 => "redirects are not followed: write the URL that it leads to, which `curl -i` shows".to_owned(),
        401 | 403 => {
            "it wants to know who asks, which a bench does not say: write a scenario, which signs (`floodrig run`)"
                .to_owned()
        }
        404 | 410 => format!("there is nothing at `{path}`: write the path that it serves"),
        405 => format!(
            "it does not take GET at `{path}`, and a bench sends nothing else: write a scenario (`floodrig run`)"
        ),
        429 | 503 => "it turns load away: ask for less with --rate or --connections, or lift its limits".to_owned(),
        _ => "its own log may say why".to_owned(),
    };
    Some(format!("the server answers {status}: {help}"))
}

/// What to do about no answer, by how most requests ended.
fn failed(order: &Order, outcomes: &Outcomes) -> String {
    let most = outcomes.named().into_iter().max_by_key(|(_, count)| *count);
    match most.map_or("", |(class, _)| class) {
        "refused" => "nobody listens there any more: has the server ended? Its own log may say why".to_owned(),
        "timeout" | "connect_timeout" => {
            let timeout = humantime::format_duration(order.timeout);
            format!("no answer came within {timeout}: ask for less, or wait longer with --timeout")
        }
        "rig_fault" => "it was not the server but the rig itself that kept them, and why is said above".to_owned(),
        "malformed" => "what listens there speaks neither HTTP nor TLS: is it the right port?".to_owned(),
        _ => "its own log may say why; `curl -i` shows what a single request comes to".to_owned(),
    }
}
