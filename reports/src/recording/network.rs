//! What lay between the crowd and the system: it is in every response time, and is none of the system's doing.

use serde::{Deserialize, Serialize};

use crate::value::many;

/// How the crowd reached the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Whether the system was spoken to under TLS.
    pub tls: bool,
    /// Whether that was in HTTP/2; under TLS, whether it was offered.
    pub http2: bool,
    /// What a system under TLS chose of what was offered (ALPN): in the pre-flight, and once the load is over, on all
    /// of its connections. Nothing where there was no choice, no connection that saw it, or not the same on all.
    pub chosen: Option<Protocol>,
    /// The load's connections by what was chosen on each; nothing as long as none has seen a choice.
    #[serde(default)]
    pub spoken: Option<Spoken>,
    /// Whose connections there were, in the scenario's word.
    pub connections: String,
    /// The least and the longest round trip of a player; nothing: none was added.
    pub rtt_us: Option<(u64, u64)>,
    /// How many bytes a second the slowest and the fastest player read; nothing: as many as came.
    pub reads_at_bytes: Option<(u64, u64)>,
}

/// A version of HTTP, by its name in ALPN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.1.
    #[serde(rename = "http/1.1")]
    Http1,
    /// HTTP/2.
    #[serde(rename = "h2")]
    Http2,
}

/// Connections on which the peer had a choice, by what it chose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spoken {
    /// Those that came to HTTP/1.1.
    pub http1: u64,
    /// Those that came to HTTP/2.
    pub http2: u64,
}

impl Spoken {
    /// Counts one connection.
    pub fn count(&mut self, protocol: Protocol) {
        match protocol {
            Protocol::Http1 => self.http1 += 1,
            Protocol::Http2 => self.http2 += 1,
        }
    }

    /// Adds another's connections.
    pub fn merge(&mut self, other: Self) {
        self.http1 += other.http1;
        self.http2 += other.http2;
    }

    /// What all of them came to, if there are any and it is the same.
    pub fn alike(self) -> Option<Protocol> {
        match (self.http1, self.http2) {
            (0, 0) | (1.., 1..) => None,
            (_, 0) => Some(Protocol::Http1),
            (0, _) => Some(Protocol::Http2),
        }
    }
}

/// Every player near, with connections of their own, in HTTP/1.1.
impl Default for Network {
    fn default() -> Self {
        Self {
            tls: false,
            http2: false,
            chosen: None,
            spoken: None,
            connections: "player".to_owned(),
            rtt_us: None,
            reads_at_bytes: None,
        }
    }
}

impl Network {
    /// What the load's own connections came to stands in the place of what the pre-flight saw.
    pub fn hear(&mut self, spoken: Spoken) {
        if spoken != Spoken::default() {
            (self.chosen, self.spoken) = (spoken.alike(), Some(spoken));
        }
    }

    /// Where it departs from the default, in the words of a scenario; nothing where it does not.
    pub fn in_words(&self) -> Option<String> {
        let rtt = self.rtt_us.map(|range| format!("rtt {}", written(range, time)));
        let reads_at = self.reads_at_bytes.map(|range| format!("reads_at {} a second", written(range, size)));
        let is_default = self.connections == Self::default().connections;
        let connections = (!is_default).then(|| format!("connections = {}", self.connections));
        let parts: Vec<String> = [self.protocol(), rtt, reads_at, connections].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// What was spoken; nothing where it was HTTP/1.1 in plain.
    pub fn protocol(&self) -> Option<String> {
        if let Some(spoken @ Spoken { http1: 1.., http2: 1.. }) = self.spoken {
            let (newer, older) = (many(spoken.http2, "connection"), spoken.http1);
            return Some(format!("HTTPS (HTTP/2 on {newer} and HTTP/1.1 on {older}, the system's choice)"));
        }
        let words = match (self.tls, self.http2, self.chosen) {
            (false, false, _) => return None,
            (false, true, _) => "HTTP/2 without TLS",
            (true, false, _) => "HTTPS (HTTP/1.1)",
            (true, true, None) => "HTTPS (HTTP/2 offered)",
            (true, true, Some(Protocol::Http1)) => "HTTPS (HTTP/1.1, the system's choice; HTTP/2 was offered)",
            (true, true, Some(Protocol::Http2)) => "HTTPS (HTTP/2, the system's choice)",
        };
        Some(words.to_owned())
    }

    /// Whether the two are known not to be the same: a choice that one of them has not seen may be the other's.
    pub fn differs_from(&self, other: &Self) -> bool {
        let known =
            |it: &Self, else_by: &Self| Self { chosen: it.chosen.or(else_by.chosen), spoken: None, ..it.clone() };
        let is_mixed = |it: &Self| it.spoken.map(|spoken| spoken.alike().is_none());
        let mixed_alike = is_mixed(self).zip(is_mixed(other)).is_none_or(|(one, another)| one == another);
        known(self, other) != known(other, self) || !mixed_alike
    }
}

/// A range as a scenario has it: `40ms..300ms`, or one value for exactly that.
fn written((low, high): (u64, u64), value: fn(u64) -> String) -> String {
    if low == high { value(low) } else { format!("{}..{}", value(low), value(high)) }
}

fn time(us: u64) -> String {
    humantime::format_duration(std::time::Duration::from_micros(us)).to_string()
}

/// In the largest unit that holds it exactly, so that it can be read back.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 6] =
        [(1 << 30, "GiB"), (1_000_000_000, "GB"), (1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB"), (1_000, "KB")];
    let exact = UNITS.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    exact.map_or_else(|| format!("{bytes}B"), |(unit, name)| format!("{}{name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_network_is_not_worth_a_word() {
        assert_eq!(Network::default().in_words(), None);
    }

    #[test]
    fn ranges_are_said_as_a_scenario_writes_them() {
        let network = Network {
            rtt_us: Some((40_000, 300_000)),
            reads_at_bytes: Some((200 << 10, 2 << 20)),
            ..Network::default()
        };
        assert_eq!(network.in_words().as_deref(), Some("rtt 40ms..300ms, reads_at 200KiB..2MiB a second"));
        let exactly =
            Network { rtt_us: Some((1_500_000, 1_500_000)), reads_at_bytes: Some((500_000, 500_001)), ..network };
        assert_eq!(exactly.in_words().as_deref(), Some("rtt 1s 500ms, reads_at 500KB..500001B a second"));
    }

    #[test]
    fn what_was_spoken_is_said_and_who_chose_it() {
        let said = |tls, http2, chosen| Network { tls, http2, chosen, ..Network::default() }.in_words();
        assert_eq!(said(false, true, None).as_deref(), Some("HTTP/2 without TLS"));
        assert_eq!(said(true, false, None).as_deref(), Some("HTTPS (HTTP/1.1)"));
        assert_eq!(said(true, true, None).as_deref(), Some("HTTPS (HTTP/2 offered)"));
        assert_eq!(said(true, true, Some(Protocol::Http2)).as_deref(), Some("HTTPS (HTTP/2, the system's choice)"));
        assert!(said(true, true, Some(Protocol::Http1)).is_some_and(|words| words.starts_with("HTTPS (HTTP/1.1, the")));
    }

    #[test]
    fn what_the_loads_connections_came_to_stands_in_the_place_of_what_the_pre_flight_saw() {
        let heard = |http1, http2| {
            let chosen = Some(Protocol::Http2);
            let mut network = Network { tls: true, http2: true, chosen, ..Network::default() };
            network.hear(Spoken { http1, http2 });
            network
        };
        for (http1, http2, words) in [
            (0, 0, "HTTPS (HTTP/2, the system's choice)"),
            (0, 5, "HTTPS (HTTP/2, the system's choice)"),
            (5, 0, "HTTPS (HTTP/1.1, the system's choice; HTTP/2 was offered)"),
            (2, 1, "HTTPS (HTTP/2 on 1 connection and HTTP/1.1 on 2, the system's choice)"),
        ] {
            assert_eq!(heard(http1, http2).protocol().as_deref(), Some(words));
        }
        assert!(heard(2, 1).differs_from(&heard(0, 5)) && !heard(0, 5).differs_from(&heard(0, 7)));
        assert!(!heard(2, 1).differs_from(&heard(9, 9)));
    }

    #[test]
    fn connections_that_are_not_every_players_own_are_said() {
        let network = Network { connections: "fresh".to_owned(), ..Network::default() };
        assert_eq!(network.in_words().as_deref(), Some("connections = fresh"));
    }

    #[test]
    fn a_choice_that_only_one_has_seen_is_no_difference() {
        let chose = |chosen| Network { tls: true, http2: true, chosen, ..Network::default() };
        assert!(!chose(None).differs_from(&chose(Some(Protocol::Http2))));
        assert!(chose(Some(Protocol::Http1)).differs_from(&chose(Some(Protocol::Http2))));
        assert!(chose(None).differs_from(&Network::default()));
    }
}
