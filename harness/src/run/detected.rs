//! What a system speaks that was asked in another way than it understands, in the words of a scenario.

use std::time::Duration;

use super::Rig;
use crate::exchange::{Detected, Speech, detect, get_once};

/// How long each way of asking may take: there was an answer of some kind a moment ago.
const LOOK: Duration = Duration::from_secs(1);

/// What to change in `[system]`, if the system speaks something else than is written there.
pub(super) fn advice(rig: &Rig<'_>) -> Option<&'static str> {
    let target = &rig.ground.target;
    to_change(&rig.order.scenario.system.speech, detect(target.address, &get_once(&target.host, "/"), LOOK)?)
}

fn to_change(written: &Speech, spoken: Detected) -> Option<&'static str> {
    match (spoken, written.is_secure(), written.has_http2()) {
        (Detected::Tls, false, _) => Some("it speaks TLS: name its certificate in `system.tls`"),
        (Detected::Http1 | Detected::Http2, true, _) => Some("it speaks HTTP without TLS: leave `system.tls` out"),
        (Detected::Http1, false, true) => Some("it speaks HTTP/1.1: leave `system.http2` out"),
        (Detected::Http2, false, false) => Some("it speaks HTTP/2 alone: write `system.http2 = true`"),
        (Detected::Tls, true, _) | (Detected::Http1, false, false) | (Detected::Http2, false, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_changed_only_where_something_else_is_spoken() {
        let written = |http2| Speech::new(None, http2).unwrap();
        for (written, spoken, key) in [
            (written(false), Detected::Tls, Some("`system.tls`")),
            (written(true), Detected::Http1, Some("leave `system.http2` out")),
            (written(false), Detected::Http2, Some("`system.http2 = true`")),
            (written(false), Detected::Http1, None),
            (written(true), Detected::Http2, None),
        ] {
            let advice = to_change(&written, spoken);
            assert_eq!(advice.is_some(), key.is_some(), "{advice:?}");
            assert!(key.is_none_or(|key| advice.is_some_and(|advice| advice.contains(key))), "{advice:?}");
        }
    }
}
