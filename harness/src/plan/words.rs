//! What players write: words, numbers and texts drawn anew for every planned act, and cheap enough to draw while
//! driving. Pure.

use std::fmt;

use super::Arrival;
use super::chance::below;
use crate::scenario::{Draw, Pool};

/// The word of a planned act, from nothing but the seed and where the act stands in the plan.
pub fn word(seed: u64, arrival: &Arrival) -> &'static str {
    WORDS[below(number(seed, arrival), WORDS.len() as u64) as usize]
}

/// Any number, the same for the same seed and planned act.
fn number(seed: u64, arrival: &Arrival) -> u64 {
    let visit = (u64::from(arrival.visit) << 32) | u64::from(arrival.player);
    let act = (u64::from(arrival.act) << 16) | u64::from(arrival.nth);
    mix(mix(mix(seed) ^ visit) ^ act)
}

/// What is drawn for a placeholder in a planned act, appended to `out`.
pub fn draw(seed: u64, arrival: &Arrival, draw: &Draw, out: &mut impl fmt::Write) -> fmt::Result {
    let mut drawn = number(seed ^ draw.salt, arrival);
    match &draw.pool {
        Pool::List(words) => out.write_str(&words[below(drawn, words.len() as u64) as usize]),
        Pool::Number(range) => match (range.end() - range.start()).checked_add(1) {
            Some(count) => write!(out, "{}", range.start() + below(drawn, count)),
            None => write!(out, "{drawn}"),
        },
        Pool::Text(letters) => (0..*letters).try_for_each(|_| {
            drawn = mix(drawn);
            out.write_char(char::from(LETTERS[below(drawn, LETTERS.len() as u64) as usize]))
        }),
    }
}

/// Small letters and digits, which stand as they are in a path, a header and JSON.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Spreads every bit of a number over all of it: the finalizer of `SplitMix64` (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Common English words of five letters.
const WORDS: &[&str] = &[
    "about", "above", "actor", "acute", "admit", "adopt", "after", "again", "agent", "agree", "ahead", "alarm",
    "album", "alert", "alike", "alive", "allow", "alone", "along", "angle", "apple", "apply", "arena", "argue",
    "arise", "array", "aside", "asset", "audio", "avoid", "award", "awake", "basic", "basin", "beach", "begin",
    "below", "bench", "berry", "birth", "black", "blade", "blame", "blank", "blaze", "blend", "block", "bloom",
    "board", "boost", "brain", "brand", "brave", "bread", "break", "brick", "brief", "bring", "broad", "brown",
    "brush", "build", "cabin", "cable", "candy", "cargo", "carry", "catch", "cause", "chain", "chair", "chalk",
    "charm", "chart", "chase", "cheap", "check", "chess", "chest", "chief", "child", "civil", "claim", "class",
    "clean", "clear", "climb", "clock", "close", "cloud", "coach", "coast", "coral", "couch", "count", "court",
    "cover", "craft", "crane", "cream", "crowd", "crown", "curve", "cycle", "daily", "dance", "delay", "depth",
    "dough", "draft", "drama", "dream", "dress", "drift", "drink", "drive", "eager", "early", "earth", "eight",
    "elbow", "empty", "enjoy", "enter", "equal", "error", "event", "every", "exact", "exist", "extra", "fable",
    "faith", "false", "fancy", "favor", "feast", "fence", "field", "fifth", "final", "flame", "flash", "fleet",
    "float", "flood", "floor", "flour", "fluid", "focus", "force", "forge", "forum", "fresh", "front", "frost",
    "fruit", "giant", "given", "glass", "globe", "glove", "grace", "grade", "grain", "grand", "grape", "graph",
    "grass", "great", "green", "greet", "group", "guard", "guess", "guest", "guide", "habit", "happy", "heart",
    "heavy", "hedge", "hello", "honey", "horse", "hotel", "house", "human", "ideal", "image", "index", "inner",
    "input", "ivory", "jelly", "jewel", "joint", "judge", "juice", "kayak", "knife", "knock", "label", "large",
    "laser", "later", "laugh", "layer", "learn", "lemon", "level", "light", "limit", "linen", "local", "lodge",
    "logic", "loose", "lucky", "lunch", "magic", "major", "maple", "march", "match", "maybe",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    const GUESS: Arrival = Arrival { at: Duration::ZERO, player: 1, visit: 2, act: 3, nth: 4 };

    #[test]
    fn every_word_is_five_small_letters_and_stands_once() {
        assert!(WORDS.iter().all(|word| word.len() == 5 && word.bytes().all(|letter| letter.is_ascii_lowercase())));
        assert_eq!(WORDS.iter().collect::<BTreeSet<_>>().len(), WORDS.len());
    }

    #[test]
    fn the_same_planned_act_gets_the_same_word_in_every_version() {
        assert_eq!(word(7, &GUESS), "cream");
    }

    fn drawn(pool: Pool, salt: u64, nth: u16) -> String {
        let mut out = String::new();
        draw(7, &Arrival { nth, ..GUESS }, &Draw { salt, pool }, &mut out).unwrap();
        out
    }

    #[test]
    fn the_same_planned_act_draws_the_same_in_every_version() {
        assert_eq!(drawn(Pool::Number(0..=u64::MAX), 1, 0), "2503823676870037197");
        assert_eq!(drawn(Pool::Text(12), 1, 0), "3x71enzc4xso");
    }

    #[test]
    fn a_number_reaches_both_its_ends_and_no_further() {
        let numbers: BTreeSet<String> = (0..100).map(|nth| drawn(Pool::Number(9..=11), 1, nth)).collect();
        assert_eq!(numbers.iter().collect::<Vec<_>>(), ["10", "11", "9"]);
        assert_eq!(drawn(Pool::Number(5..=5), 1, 0), "5");
    }

    #[test]
    fn a_list_is_drawn_from_evenly_and_a_text_is_as_long_as_asked() {
        let list: Arc<[String]> = ["a", "b", "c"].map(str::to_owned).into();
        let uses = (0..3000).filter(|nth| drawn(Pool::List(Arc::clone(&list)), 1, *nth) == "a").count();
        assert!(uses.abs_diff(1000) < 130, "{uses}");
        let text = drawn(Pool::Text(200), 1, 0);
        assert!(text.len() == 200 && text.bytes().all(|letter| LETTERS.contains(&letter)), "{text}");
    }

    #[test]
    fn different_placeholders_draw_apart() {
        let equal = (0..100).filter(|nth| drawn(Pool::Number(1..=2), 1, *nth) == drawn(Pool::Number(1..=2), 2, *nth));
        assert!((25..75).contains(&equal.count()));
    }

    #[test]
    fn every_word_is_used_about_equally_often() {
        let mut uses = vec![0_u32; WORDS.len()];
        for nth in 0..u16::MAX {
            let drawn = word(7, &Arrival { nth, ..GUESS });
            uses[WORDS.iter().position(|word| *word == drawn).unwrap()] += 1;
        }
        let fair = u32::from(u16::MAX) / WORDS.len() as u32;
        assert!(uses.iter().all(|used| used.abs_diff(fair) < fair / 2), "{uses:?}");
    }

    #[test]
    fn the_seed_and_every_index_change_what_is_drawn() {
        let drawn = |from: &dyn Fn(u16) -> (u64, Arrival)| {
            (0..20).map(|n| word(from(n).0, &from(n).1)).collect::<BTreeSet<_>>().len()
        };
        assert!(drawn(&|n| (u64::from(n), GUESS)) > 10);
        assert!(drawn(&|n| (7, Arrival { player: n.into(), ..GUESS })) > 10);
        assert!(drawn(&|n| (7, Arrival { visit: n.into(), ..GUESS })) > 10);
        assert!(drawn(&|act| (7, Arrival { act, ..GUESS })) > 10);
    }
}
