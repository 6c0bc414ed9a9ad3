//! Whether a request comes from a player whom Telegram vouches for. PURE.
//!
//! Telegram signs what a Mini App is opened with; the rules are those of
//! <https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app>. The group is taken from the
//! `start_param` of the link that opened the app, since a direct link carries no chat object.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;
use thiserror::Error;

/// How old signed data may be. Telegram leaves it to the app; a day is what the common libraries choose.
const OLDEST: Duration = Duration::from_secs(86_400);

/// A chat, by its Telegram id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChatId(pub(crate) i64);

/// A player, by their Telegram id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlayerId(pub(crate) i64);

/// Someone whose initData was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Player {
    /// Who.
    pub(crate) id: PlayerId,
    /// What the board calls them.
    pub(crate) name: String,
    /// The group they play in; nothing: alone.
    pub(crate) group: Option<ChatId>,
}

/// Why initData was not accepted.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The header is not there, or of another scheme.
    #[error("initData is missing: send it as `Authorization: tma <initData>`")]
    Missing,
    /// A field that must be there once is not.
    #[error("initData has no usable `{0}`")]
    Field(&'static str),
    /// The hash is not the one this bot's token makes.
    #[error("the hash of initData does not match")]
    Hash,
    /// It was signed too long ago.
    #[error("initData is older than a day")]
    Old,
}

/// The bot's key for initData.
#[derive(Debug, Clone)]
pub(crate) struct Verifier(Hmac<Sha256>);

impl Verifier {
    /// The token is the message and the constant is the key: not the other way round.
    pub(crate) fn new(token: &str) -> Self {
        let secret = keyed(b"WebAppData").chain_update(token).finalize().into_bytes();
        Self(keyed(&secret))
    }

    /// Accepts initData as it was sent, percent-encoded, at this second since 1970.
    pub(crate) fn accept(&self, init_data: &str, unix_time: u64) -> Result<Player, Refusal> {
        let mut fields: Vec<Field> = form_urlencoded::parse(init_data.as_bytes()).into_owned().collect();
        let hash = take_hash(&mut fields)?;
        fields.sort();
        self.verify(&fields, &hash)?;
        check_age(&fields, unix_time)?;
        player(&fields)
    }

    /// `verify_slice` compares in constant time.
    fn verify(&self, fields: &[Field], hash: &[u8]) -> Result<(), Refusal> {
        let lines: Vec<String> = fields.iter().map(|(key, value)| format!("{key}={value}")).collect();
        self.0.clone().chain_update(lines.join("\n")).verify_slice(hash).map_err(|_| Refusal::Hash)
    }
}

type Field = (String, String);

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

fn take_hash(fields: &mut Vec<Field>) -> Result<Vec<u8>, Refusal> {
    let place = fields.iter().position(|(key, _)| key == "hash").ok_or(Refusal::Field("hash"))?;
    hex::decode(fields.swap_remove(place).1).map_err(|_| Refusal::Field("hash"))
}

fn value<'a>(fields: &'a [Field], key: &str) -> Option<&'a str> {
    fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

fn check_age(fields: &[Field], unix_time: u64) -> Result<(), Refusal> {
    let signed: u64 =
        value(fields, "auth_date").and_then(|text| text.parse().ok()).ok_or(Refusal::Field("auth_date"))?;
    if unix_time.saturating_sub(signed) > OLDEST.as_secs() { Err(Refusal::Old) } else { Ok(()) }
}

fn player(fields: &[Field]) -> Result<Player, Refusal> {
    #[derive(Deserialize)]
    struct User {
        id: i64,
        first_name: String,
    }
    let user: User =
        value(fields, "user").and_then(|json| serde_json::from_str(json).ok()).ok_or(Refusal::Field("user"))?;
    let group = value(fields, "start_param").and_then(group);
    Ok(Player { id: PlayerId(user.id), name: user.first_name, group })
}

/// Groups have negative ids; any other start parameter is not a group's.
fn group(start_param: &str) -> Option<ChatId> {
    let id = start_param.strip_prefix("g_").unwrap_or(start_param).parse().ok()?;
    (id < 0).then_some(ChatId(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of our own making under a made-up token, accepted by @telegram-apps/init-data-node 2.0.10,
    /// @tma.js/init-data-node 2.0.8, aiogram 3.31.0 and init-data-py 1.0.1, their tampered twins refused by all four.
    const VECTORS: &str = include_str!("../initdata-vectors.json");

    #[derive(Deserialize)]
    struct Vectors {
        vectors: Vec<Vector>,
    }

    #[derive(Deserialize)]
    struct Vector {
        name: String,
        bot_token: String,
        init_data: String,
        tampered_init_data: String,
        auth_date: u64,
    }

    fn vectors() -> Vec<Vector> {
        serde_json::from_str::<Vectors>(VECTORS).unwrap().vectors
    }

    fn vector(name: &str) -> Vector {
        vectors().into_iter().find(|vector| vector.name == name).unwrap()
    }

    #[test]
    fn every_vector_is_accepted_and_its_tampered_twin_refused() {
        for vector in vectors() {
            let verifier = Verifier::new(&vector.bot_token);
            let accepted = verifier.accept(&vector.init_data, vector.auth_date);
            assert!(accepted.is_ok(), "{}: {accepted:?}", vector.name);
            let refused = verifier.accept(&vector.tampered_init_data, vector.auth_date);
            assert_eq!(refused, Err(Refusal::Hash), "{}", vector.name);
        }
    }

    #[test]
    fn a_direct_link_names_the_group() {
        let vector = vector("group-direct-link-signed");
        let player = Verifier::new(&vector.bot_token).accept(&vector.init_data, vector.auth_date).unwrap();
        assert_eq!(player.group, Some(ChatId(-1_001_234_567_890)));
        assert_eq!(player.name, "Юля & Co = 50%+");
    }

    #[test]
    fn another_bots_token_refuses() {
        let vector = vector("group-direct-link-signed");
        let refused = Verifier::new("7:another").accept(&vector.init_data, vector.auth_date);
        assert_eq!(refused, Err(Refusal::Hash));
    }

    #[test]
    fn a_day_is_accepted_and_a_second_more_is_not() {
        let vector = vector("classic-no-signature");
        let verifier = Verifier::new(&vector.bot_token);
        assert!(verifier.accept(&vector.init_data, vector.auth_date + 86_400).is_ok());
        assert_eq!(verifier.accept(&vector.init_data, vector.auth_date + 86_401), Err(Refusal::Old));
    }

    #[test]
    fn a_start_parameter_is_a_group_with_or_without_its_prefix() {
        assert_eq!(group("-1001000000007"), Some(ChatId(-1_001_000_000_007)));
        assert_eq!(group("g_-1001000000007"), Some(ChatId(-1_001_000_000_007)));
        for other in ["", "summer", "g_", "42", "0"] {
            assert_eq!(group(other), None, "{other}");
        }
    }

    #[test]
    fn data_without_a_hash_is_refused_by_name() {
        assert_eq!(Verifier::new("7:test").accept("auth_date=1", 1), Err(Refusal::Field("hash")));
        assert_eq!(Verifier::new("7:test").accept("auth_date=1&hash=xyz", 1), Err(Refusal::Field("hash")));
    }
}
