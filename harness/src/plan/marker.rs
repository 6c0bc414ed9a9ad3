//! Markers: a text that belongs to one planned act and to no other, so that its effect is recognised in a chat. Pure.

use std::fmt;

use super::Arrival;

/// The marker of a planned act: `fr-` and thirteen letters or digits.
///
/// All are of one length, so none is found inside another, and they hold nothing that HTML or Markdown would change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker(u64);

impl Marker {
    /// Visit, act and repetition name a planned act; the player follows from the visit.
    pub fn of(arrival: &Arrival) -> Self {
        Self((u64::from(arrival.visit) << 32) | (u64::from(arrival.act) << 16) | u64::from(arrival.nth))
    }
}

/// The alphabet of RFC 4648 base32 in small letters.
const ALPHABET: [char; 32] = [
    'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w',
    'x', 'y', 'z', '2', '3', '4', '5', '6', '7',
];

impl fmt::Display for Marker {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("fr-")?;
        // Thirteen digits of five bits hold 64.
        (0..13).rev().try_for_each(|digit| {
            let value = (self.0 >> (5 * digit)) & 31;
            fmt::Write::write_char(to, ALPHABET[value as usize])
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn marker(visit: u32, act: u16, nth: u16) -> String {
        Marker::of(&Arrival { at: Duration::ZERO, player: 0, visit, act, nth }).to_string()
    }

    #[test]
    fn the_first_and_the_last_planned_act_that_can_be_have_markers_of_one_length() {
        assert_eq!(marker(0, 0, 0), "fr-aaaaaaaaaaaaa");
        assert_eq!(marker(u32::MAX, u16::MAX, u16::MAX), "fr-p777777777777");
    }

    #[test]
    fn every_index_of_an_act_is_in_its_marker() {
        let markers = [marker(1, 0, 0), marker(0, 1, 0), marker(0, 0, 1), marker(0, 0, 0)];
        assert_eq!(markers, ["fr-aaaaaaeaaaaaa", "fr-aaaaaaaaacaaa", "fr-aaaaaaaaaaaab", "fr-aaaaaaaaaaaaa"]);
    }
}
