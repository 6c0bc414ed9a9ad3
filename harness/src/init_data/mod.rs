//! initData: what Telegram hands to a Mini App that a player opens, signed as Telegram signs it. Pure.
//!
//! How it is sealed is the stub's to know, as all that Telegram does: here is what it says of a player.

mod signed;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
pub use floodrig_stub::init_data::{Keys, TEST_PUBLIC_KEY, URI_COMPONENT};
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use self::signed::{CannotSign, Signed};

use crate::plan::Player;

/// How a player opened the app.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// What the direct link says after `startapp=`; empty: it says nothing.
    pub start_param: &'a str,
    /// The instant, in seconds since 1970.
    pub auth_date: u64,
}

/// The initData of a direct link that `player` opened in their group, percent-encoded.
///
/// Such a launch has no `query_id` and no `chat`; the fields come in the order in which clients send them.
pub fn sign(player: &Player, launch: &Launch<'_>, keys: &Keys) -> String {
    let user = user(player);
    let (chat_instance, auth_date) = (player.chat_instance.to_string(), launch.auth_date.to_string());
    let mut fields = vec![("user", &*user), ("chat_instance", &chat_instance), ("chat_type", "supergroup")];
    if !launch.start_param.is_empty() {
        fields.push(("start_param", launch.start_param));
    }
    fields.push(("auth_date", &auth_date));
    keys.seal(&fields)
}

/// What a forger makes of it: another user, under the hash and the signature of the player's own.
pub(crate) fn forge(player: &Player, launch: &Launch<'_>, keys: &Keys) -> String {
    let other = Player { user_id: player.user_id + 1, ..player.clone() };
    let (own, mut forged) = (sign(player, launch, keys), sign(&other, launch, keys));
    // An ampersand stands between fields and nowhere else: in values it is encoded.
    let seal = |text: &str| text.find("&signature=").unwrap_or(text.len());
    forged.truncate(seal(&forged));
    forged + &own[seal(&own)..]
}

/// The `user` field. Absent last names are empty and absent usernames missing, as in what real clients send.
#[derive(Serialize)]
struct User<'a> {
    id: i64,
    first_name: &'a str,
    last_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<&'a str>,
    language_code: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_premium: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    allows_write_to_pm: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    photo_url: Option<String>,
}

/// Telegram escapes slashes in this JSON, which catches every system that hashes what it has parsed and written anew.
fn user(player: &Player) -> String {
    let traits = Sha256::digest(player.user_id.to_le_bytes());
    let user = User {
        id: player.user_id,
        first_name: &player.first_name,
        last_name: player.last_name.as_deref().unwrap_or_default(),
        username: player.username.as_deref(),
        language_code: &player.language_code,
        is_premium: traits[0] < 32,
        allows_write_to_pm: traits[1] < 224,
        photo_url: (traits[2] < 192).then(|| photo_url(&traits)),
    };
    let json = serde_json::to_string(&user).expect("strings and numbers always serialise");
    json.replace('/', "\\/")
}

/// Looks like the address of a profile photo; nothing is there.
fn photo_url(traits: &[u8]) -> String {
    format!("https://t.me/i/userpic/320/{}.svg", URL_SAFE_NO_PAD.encode(traits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "7000000001:AAFakeTokenForLoadTests-abc_DEF0123456";

    fn player() -> Player {
        Player {
            user_id: 5_000_000_001,
            first_name: "Юля & Co".into(),
            last_name: None,
            username: None,
            language_code: "ru".into(),
            group: 0,
            chat_id: -1_001_234_567_890,
            chat_instance: -3_788_475_317_572_404_878,
        }
    }

    fn signed(player: &Player, start_param: &str) -> String {
        sign(player, &Launch { start_param, auth_date: 1_790_000_060 }, &Keys::of_bot(TOKEN))
    }

    fn names(init_data: &str) -> Vec<&str> {
        init_data.split('&').map(|field| field.split_once('=').unwrap().0).collect()
    }

    #[test]
    fn the_fields_come_in_the_order_of_real_clients_with_the_hash_last() {
        let expected = ["user", "chat_instance", "chat_type", "start_param", "auth_date", "signature", "hash"];
        assert_eq!(names(&signed(&player(), "g_1")), expected);
    }

    #[test]
    fn a_forgery_names_another_user_under_a_hash_that_is_the_players_own() {
        let launch = Launch { start_param: "g_1", auth_date: 1_790_000_060 };
        let forged = forge(&player(), &launch, &Keys::of_bot(TOKEN));
        let own = signed(&player(), "g_1");
        assert_eq!(names(&forged), names(&own));
        let differ: Vec<_> = forged.split('&').zip(own.split('&')).filter(|(forged, own)| forged != own).collect();
        assert!(differ.len() == 1 && differ[0].0.starts_with("user=%7B%22id%22%3A5000000002%2C"), "{differ:?}");
    }

    #[test]
    fn a_link_without_a_start_param_has_no_such_field() {
        let expected = ["user", "chat_instance", "chat_type", "auth_date", "signature", "hash"];
        assert_eq!(names(&signed(&player(), "")), expected);
    }

    #[test]
    fn the_user_is_telegrams_json_percent_encoded_once() {
        let expected = "user=%7B%22id%22%3A5000000001%2C%22first_name%22%3A%22%D0%AE%D0%BB%D1%8F%20%26%20Co%22%2C\
            %22last_name%22%3A%22%22%2C%22language_code%22%3A%22ru%22%2C";
        assert!(signed(&player(), "").starts_with(expected), "{}", signed(&player(), ""));
    }

    #[test]
    fn slashes_in_the_user_are_escaped_whether_in_names_or_in_the_photo() {
        let players = (1..).map(|user_id| Player { user_id, last_name: Some("A/\\B".into()), ..player() });
        let with_photo = players.map(|player| user(&player)).find(|user| user.contains("photo_url")).unwrap();
        assert!(with_photo.contains(r#""last_name":"A\/\\B""#), "{with_photo}");
        assert!(with_photo.contains(r#""photo_url":"https:\/\/t.me\/i\/userpic\/320\/"#), "{with_photo}");
    }

    #[test]
    fn all_of_a_crowd_are_signed_as_json_that_says_what_the_player_is() {
        for player in crate::plan::crowd(7, 20, 10) {
            let user: serde_json::Value = serde_json::from_str(&user(&player)).unwrap();
            assert_eq!(user["id"], player.user_id);
            assert_eq!(user["first_name"], player.first_name);
            assert_eq!(user["last_name"].as_str(), player.last_name.as_deref().or(Some("")));
            assert_eq!(user["username"].as_str(), player.username.as_deref());
        }
    }
}
