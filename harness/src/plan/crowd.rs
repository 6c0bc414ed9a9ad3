//! The crowd: players and their groups, as varied as real ones, the same for the same seed. Pure.
//!
//! Ids are spaced out and drawn within their space, so that no two players or groups share one, however many there are.

use super::Player;
use super::chance::{Chance, Source};
use super::names::{AWKWARD, FIRST, HANDLES, LANGUAGES, LAST};

/// How far apart the ids of neighbours may be.
const SPACE: u64 = 1000;

/// Everyone of `groups` groups of `players_per_group`, group after group.
pub fn crowd(seed: u64, groups: u32, players_per_group: u32) -> Vec<Player> {
    let (group_source, player_source) = (Source::new(seed, "group"), Source::new(seed, "player"));
    let groups = (0..groups).map(|number| Group::draw(number, &mut group_source.stream(number)));
    groups
        .flat_map(|group| (0..players_per_group).map(move |member| (group, group.number * players_per_group + member)))
        .map(|(group, number)| player(number, group, &mut player_source.stream(number)))
        .collect()
}

/// What all players of a group share.
#[derive(Clone, Copy)]
struct Group {
    number: u32,
    chat_id: i64,
    chat_instance: i64,
}

impl Group {
    /// The id is a supergroup's: `-100` and ten digits, as <https://core.telegram.org/api/bots/ids> describes.
    fn draw(number: u32, chance: &mut Chance) -> Self {
        let channel = 1_100_000_000 + u64::from(number) * SPACE + chance.below(SPACE);
        Self { number, chat_id: -1_000_000_000_000 - channel as i64, chat_instance: chance.number() as i64 }
    }
}

fn player(number: u32, group: Group, chance: &mut Chance) -> Player {
    let user_id = user_id(number, chance);
    let first_name = if chance.one_in(5) { AWKWARD } else { FIRST };
    Player {
        user_id,
        first_name: chance.pick(first_name).to_owned(),
        last_name: chance.one_in(2).then(|| chance.pick(LAST).to_owned()),
        username: chance.one_in(3).then(|| format!("{}_{user_id}", chance.pick(HANDLES))),
        language_code: chance.pick(LANGUAGES).to_owned(),
        group: group.number,
        chat_id: group.chat_id,
        chat_instance: group.chat_instance,
    }
}

/// Accounts of recent years have ids beyond 2^32, which overflow a column of 32 bits; old ones are even here and new
/// ones odd, so that they never meet.
fn user_id(number: u32, chance: &mut Chance) -> i64 {
    let drawn = u64::from(number) * SPACE + chance.below(SPACE / 2) * 2;
    let is_new = chance.one_in(2);
    (if is_new { 5_000_000_001 + drawn } else { 20_000_000 + drawn }) as i64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn distinct<T: Ord>(players: &[Player], of: impl Fn(&Player) -> T) -> usize {
        players.iter().map(of).collect::<BTreeSet<T>>().len()
    }

    #[test]
    fn every_group_has_its_players_one_chat_and_one_chat_instance() {
        let players = crowd(7, 3, 4);
        assert_eq!(players.iter().map(|player| player.group).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(distinct(&players, |player| (player.group, player.chat_id, player.chat_instance)), 3);
        assert_eq!(distinct(&players, |player| player.chat_id), 3);
        assert_eq!(distinct(&players, |player| player.chat_instance), 3);
    }

    #[test]
    fn no_two_players_share_an_id_and_some_ids_are_beyond_32_bits() {
        let players = crowd(7, 100, 100);
        assert_eq!(distinct(&players, |player| player.user_id), 10_000);
        let beyond = players.iter().filter(|player| player.user_id > i64::from(u32::MAX)).count();
        assert!((4000..6000).contains(&beyond), "{beyond}");
    }

    #[test]
    fn chat_ids_are_those_of_supergroups() {
        let players = crowd(7, 1000, 1);
        assert!(players.iter().all(|player| {
            let id = player.chat_id.to_string();
            id.starts_with("-100") && id.len() == 14
        }));
    }

    #[test]
    fn names_are_awkward_often_enough_and_usernames_are_mostly_absent() {
        let players = crowd(7, 100, 10);
        let has = |text: &str| players.iter().any(|player| player.first_name.contains(text));
        assert!(["<script>", "&=+%", "\"", "\\", "😀", "Юля"].into_iter().all(has));
        let named = players.iter().filter(|player| player.username.is_some()).count();
        assert!((250..420).contains(&named), "{named} of 1,000 have a username");
        assert!(players.iter().any(|player| player.last_name.is_none()));
        assert!(players.iter().any(|player| player.last_name.is_some()));
    }

    #[test]
    fn names_and_usernames_are_as_long_as_telegram_allows() {
        for player in crowd(7, 100, 10) {
            assert!((1..=64).contains(&player.first_name.chars().count()), "{}", player.first_name);
            if let Some(username) = player.username {
                assert!((5..=32).contains(&username.len()), "{username}");
            }
        }
    }

    #[test]
    fn another_seed_is_another_crowd_and_more_groups_leave_the_first_ones_alone() {
        assert_ne!(crowd(7, 2, 3), crowd(8, 2, 3));
        assert_eq!(crowd(7, 2, 3), crowd(7, 5, 3)[..6]);
    }

    #[test]
    fn no_groups_or_no_players_are_nobody() {
        assert!(crowd(7, 0, 10).is_empty());
        assert!(crowd(7, 10, 0).is_empty());
    }
}
