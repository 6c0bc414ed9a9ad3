//! Tokens of real bots in an environment: found by their form, and replaced before anything starts.

use std::collections::BTreeMap;
use std::ops::Range;

/// What stands after the colon: 35 characters, as Telegram gives them
/// (<https://core.telegram.org/bots/features#creating-a-new-bot>).
const SECRET: usize = 35;
/// The shortest number before it: ids of bots have at least eight digits today, and this leaves room.
const SHORTEST_ID: usize = 6;

/// Puts `fake` in the place of every token in these variables and in those that would be inherited, and answers the
/// names of the variables that held one.
pub fn hide_tokens(env: &mut BTreeMap<String, String>, fake: &str) -> Vec<String> {
    let inherited = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
    hide(env, inherited, fake)
}

fn hide(
    env: &mut BTreeMap<String, String>,
    inherited: impl Iterator<Item = (String, String)>,
    fake: &str,
) -> Vec<String> {
    let mut held = Vec::new();
    for (name, value) in inherited {
        let Some(hidden) = without_tokens(&value, fake) else { continue };
        env.entry(name.clone()).or_insert(hidden);
        held.push(name);
    }
    for (name, value) in env {
        if let Some(hidden) = without_tokens(value, fake) {
            *value = hidden;
            held.push(name.clone());
        }
    }
    held.sort();
    held.dedup();
    held
}

/// The text with `fake` in the place of every other token; nothing when it holds none.
fn without_tokens(text: &str, fake: &str) -> Option<String> {
    let places: Vec<Range<usize>> =
        text.match_indices(':').filter_map(|(colon, _)| token_around(text, colon)).collect();
    let mut hidden = text.to_owned();
    for place in places.into_iter().rev().filter(|place| text[place.clone()] != *fake) {
        hidden.replace_range(place, fake);
    }
    (hidden != text).then_some(hidden)
}

/// Where the token is whose colon this is.
fn token_around(text: &str, colon: usize) -> Option<Range<usize>> {
    let (before, after) = (text[..colon].bytes().rev(), text[colon + 1..].bytes());
    let digits = before.take_while(u8::is_ascii_digit).count();
    let secret = after.take_while(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)).count();
    (digits >= SHORTEST_ID && secret == SECRET).then(|| colon - digits..colon + 1 + secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAKE: &str = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const REAL: &str = "123456789:AbCdEfGhIjKlMnOpQrStUvWxYz-_0123456";

    fn hidden(text: &str) -> Option<String> {
        without_tokens(text, FAKE)
    }

    #[test]
    fn a_token_is_replaced_alone_and_inside_an_address() {
        assert_eq!(hidden(REAL).as_deref(), Some(FAKE));
        let address = format!("https://api.telegram.org/bot{REAL}/getMe");
        assert_eq!(hidden(&address), Some(format!("https://api.telegram.org/bot{FAKE}/getMe")));
        assert_eq!(hidden(&format!("{REAL},{REAL}")), Some(format!("{FAKE},{FAKE}")));
    }

    #[test]
    fn a_secret_of_34_or_36_characters_and_an_id_of_5_digits_are_no_token() {
        assert_eq!(hidden(&REAL[..REAL.len() - 1]), None);
        assert_eq!(hidden(&format!("{REAL}a")), None);
        let five = &REAL[4..];
        assert_eq!((hidden(five), hidden(&format!("1{five}")).is_some()), (None, true));
    }

    #[test]
    fn addresses_and_times_stay_as_they_are() {
        for text in ["http://127.0.0.1:8081", "12:34:56", "postgres://u:p@h:5432/db", "", "Größe: 1"] {
            assert_eq!(hidden(text), None, "{text}");
        }
    }

    #[test]
    fn the_rigs_own_token_stays_and_is_not_told_of() {
        assert_eq!(hidden(FAKE), None);
    }

    #[test]
    fn given_and_inherited_variables_are_hidden_and_named_once() {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut env = BTreeMap::from([of("MINE", REAL), of("BOT_TOKEN", FAKE)]);
        let inherited = [of("BOT_TOKEN", REAL), of("OTHER", REAL), of("HOME", "/root"), of("MINE", REAL)];
        assert_eq!(hide(&mut env, inherited.into_iter(), FAKE), ["BOT_TOKEN", "MINE", "OTHER"]);
        assert_eq!(env, [of("MINE", FAKE), of("BOT_TOKEN", FAKE), of("OTHER", FAKE)].into());
    }
}
