//! A world file: what `floodrig stub --world` starts from, read as a scenario is, with the same complaints.

use std::collections::HashMap;
use std::time::Duration;

use floodrig_stub::described::{Described, DescribedChat, DescribedKind};
use toml::de::{DeTable, DeValue};

use super::complaint::{Complaint, settle};
use super::spot::Spot;
use super::{shape, words};

/// Ids of users and bots lie below this one (<https://core.telegram.org/bots/api#user>: at most 52 significant bits).
const ID_BOUND: i64 = 1 << 52;
/// Ids of supergroups and channels lie below this one (<https://core.telegram.org/api/bots/ids>).
const FIRST_SUPERGROUP: i64 = -1_000_000_000_000;
/// The longest title of a chat (<https://core.telegram.org/bots/api#setchattitle>).
const LONGEST_TITLE: usize = 128;
/// The longest pause of slow mode that Telegram offers.
const SLOWEST: Duration = Duration::from_secs(3600);

/// Reads a world from its text.
pub fn world(text: &str) -> Result<Described, Vec<Complaint>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let table = settle(table.into_inner(), errors.iter().map(|error| words::syntax(error, text)).collect())?;
    let described: Described = shape::read(&table, text)?;
    let mut complaints = Complaints(Vec::new());
    complaints.people(&described, &table);
    for (at, chat) in described.chats.iter().enumerate() {
        complaints.chat(chat, &Spot::top(&table, "chat").item(at));
    }
    complaints.twice(&table, &["bot", "user"], "id");
    complaints.twice(&table, &["chat"], "id");
    complaints.twice(&table, &["bot", "user", "chat"], "username");
    settle(described, complaints.0)
}

struct Complaints(Vec<Complaint>);

impl Complaints {
    fn people(&mut self, described: &Described, table: &DeTable<'_>) {
        for (at, bot) in described.bots.iter().enumerate() {
            let spot = Spot::top(table, "bot").item(at);
            self.person(bot.id, &spot.key("id"), "write the number that its token begins with");
            self.username(bot.username.as_deref(), &spot.key("username"));
            let is_bots = bot.username.as_ref().is_none_or(|name| name.to_lowercase().ends_with("bot"));
            self.unless(
                is_bots,
                &spot.key("username"),
                "a bot's username ends with `bot`",
                "add it, as in `puzzle_bot`",
            );
        }
        for (at, user) in described.users.iter().enumerate() {
            let spot = Spot::top(table, "user").item(at);
            self.person(user.id, &spot.key("id"), "write a positive number; a negative one is a group's");
            self.username(user.username.as_deref(), &spot.key("username"));
            self.unless(!user.name.is_empty(), &spot.key("name"), "the name is empty", "write a first name");
        }
    }

    fn person(&mut self, id: i64, spot: &Spot<'_>, help: &str) {
        self.unless((1..ID_BOUND).contains(&id), spot, &format!("`{id}` is nobody's id"), help);
    }

    fn chat(&mut self, chat: &DescribedChat, spot: &Spot<'_>) {
        let (says, help) = match chat.kind {
            DescribedKind::Group => ("is not the id of a basic group", "write one between -999999999999 and -1"),
            DescribedKind::Supergroup => ("is not the id of a supergroup", "write -100 and ten digits or more"),
            DescribedKind::Channel => ("is not the id of a channel", "write -100 and ten digits or more"),
        };
        let is_basic = chat.kind == DescribedKind::Group;
        let fits = if is_basic { (FIRST_SUPERGROUP + 1..0).contains(&chat.id) } else { chat.id < FIRST_SUPERGROUP };
        self.unless(fits, &spot.key("id"), &format!("`{}` {says}", chat.id), help);
        let title = (1..=LONGEST_TITLE).contains(&chat.title.chars().count());
        self.unless(title, &spot.key("title"), "a title has 1 to 128 characters", "write another one");
        let named = "a basic group has no username";
        self.unless(!is_basic || chat.username.is_none(), &spot.key("username"), named, "make it a supergroup");
        self.username(chat.username.as_deref(), &spot.key("username"));
        for list in ["members", "admins"] {
            let ids = if list == "members" { &chat.members } else { &chat.admins };
            for (at, id) in ids.iter().enumerate() {
                self.person(*id, &spot.key(list).item(at), "write the id of a user or a bot");
            }
        }
        self.slow_mode(chat, &spot.key("slow_mode"));
    }

    fn slow_mode(&mut self, chat: &DescribedChat, spot: &Spot<'_>) {
        let Some(delay) = chat.slow_mode else { return };
        let is_supergroup = chat.kind == DescribedKind::Supergroup;
        self.unless(is_supergroup, spot, "only a supergroup has a slow mode", "leave it out, or make it a supergroup");
        let is_whole = delay.subsec_nanos() == 0 && !delay.is_zero() && delay <= SLOWEST;
        self.unless(is_whole, spot, "slow mode is whole seconds, up to an hour", "write one such as `\"30s\"`");
    }

    fn username(&mut self, name: Option<&str>, spot: &Spot<'_>) {
        let Some(name) = name else { return };
        if let Some(bare) = name.strip_prefix('@') {
            self.unless(false, spot, "a username stands without its `@`", &format!("write `\"{bare}\"`"));
            return;
        }
        let fits = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
            && (4..=32).contains(&name.len());
        self.unless(
            fits,
            spot,
            &format!("`{name}` is no username"),
            "write 4 to 32 letters, digits and `_`, a letter first",
        );
    }

    /// Complains of the second of two entries that say the same in that key, in any case.
    fn twice(&mut self, table: &DeTable<'_>, lists: &[&str], key: &str) {
        let mut said: HashMap<String, &str> = HashMap::new();
        for list in lists {
            let list_spot = Spot::top(table, list);
            let count = list_spot.value().and_then(DeValue::as_array).map_or(0, |items| items.len());
            for at in 0..count {
                let spot = list_spot.item(at).key(key);
                let Some(value) = spot.value().and_then(written) else { continue };
                let says = format!("`{value}` is here twice");
                let before = said.insert(value.to_lowercase(), list);
                let help =
                    format!("there is a `[[{}]]` with it above; every {key} is one's own", before.unwrap_or(list));
                self.unless(before.is_none(), &spot, &says, &help);
            }
        }
    }

    fn unless(&mut self, holds: bool, spot: &Spot<'_>, says: &str, help: &str) {
        if !holds {
            self.0.push(spot.complain(says, help));
        }
    }
}

/// A number or a text as it is compared.
fn written(value: &DeValue<'_>) -> Option<String> {
    let number = value.as_integer().map(ToString::to_string);
    number.or_else(|| value.as_str().map(str::to_owned)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is complained of: the text underlined, and what is said of it.
    fn wrong(text: &str) -> Vec<(String, String)> {
        let complaints = world(text).expect_err("it is wrong");
        complaints.into_iter().map(|complaint| (text[complaint.span].to_owned(), complaint.says)).collect()
    }

    fn only(text: &str) -> (String, String) {
        let mut found = wrong(text);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    fn chat(more: &str) -> String {
        format!("[[chat]]\nid = -1001234567890\ntype = \"supergroup\"\ntitle = \"Puzzlers\"\n{more}")
    }

    #[test]
    fn an_empty_world_and_a_full_one_are_read() {
        assert_eq!(world("").unwrap(), Described::default());
        let full = include_str!("../../../stub/examples/world.toml");
        let described = world(full).unwrap();
        let found = (described.bots.len(), described.users.len(), described.chats.len());
        assert_eq!(found, (1, 3, 3), "the shipped example");
    }

    #[test]
    fn a_misspelt_key_is_told_with_the_nearest() {
        let text = chat("adminz = [77]");
        let complaints = world(&text).unwrap_err();
        assert_eq!(&text[complaints[0].span.clone()], "adminz");
        assert_eq!(complaints[0].help.as_deref(), Some("did you mean `admins`?"));
    }

    #[test]
    fn ids_are_of_their_kind() {
        assert_eq!(only("[[user]]\nid = 0\nname = \"Ada\"").1, "`0` is nobody's id");
        assert_eq!(only("[[bot]]\nid = 4503599627370496").0, "4503599627370496");
        assert!(world("[[bot]]\nid = 4503599627370495").is_ok());
        let of =
            |id: &str, kind: &str| world(&format!("[[chat]]\nid = {id}\ntype = \"{kind}\"\ntitle = \"a\"")).is_ok();
        assert!(
            of("-1", "group") && of("-999999999999", "group") && !of("-1000000000000", "group") && !of("1", "group")
        );
        assert!(of("-1000000000001", "channel") && !of("-1000000000000", "channel") && !of("-5", "supergroup"));
    }

    #[test]
    fn what_is_there_twice_is_told_at_the_second() {
        let (at, says) = only("[[user]]\nid = 5\nname = \"a\"\n[[bot]]\nid = 6\n[[user]]\nid = 6\nname = \"b\"");
        assert_eq!((at.as_str(), says.as_str()), ("6", "`6` is here twice"));
        let (at, _) =
            only(&format!("[[user]]\nid = 5\nname = \"a\"\nusername = \"Puzz\"\n{}", chat("username = \"puzz\"")));
        assert_eq!(at, "\"puzz\"");
    }

    #[test]
    fn usernames_stand_without_their_at_and_are_of_letters() {
        assert_eq!(only(&chat("username = \"@puzzlers\"")).1, "a username stands without its `@`");
        assert!(world(&chat("username = \"puzz\"")).is_ok());
        for wrong in ["puz", "1puzz", "puzz-lers", "a23456789012345678901234567890123"] {
            assert_eq!(only(&chat(&format!("username = \"{wrong}\""))).1, format!("`{wrong}` is no username"));
        }
        assert_eq!(only("[[bot]]\nid = 5\nusername = \"puzzle\"").1, "a bot's username ends with `bot`");
    }

    #[test]
    fn slow_mode_is_whole_seconds_of_a_supergroup() {
        assert!(world(&chat("slow_mode = \"1s\"")).is_ok() && world(&chat("slow_mode = \"1h\"")).is_ok());
        for wrong in ["0s", "1500ms", "3601s"] {
            assert_eq!(only(&chat(&format!("slow_mode = \"{wrong}\""))).0, format!("\"{wrong}\""));
        }
        let group = "[[chat]]\nid = -5\ntype = \"group\"\ntitle = \"a\"\nslow_mode = \"5s\"";
        assert_eq!(only(group).1, "only a supergroup has a slow mode");
    }

    #[test]
    fn members_are_ids_and_titles_are_there() {
        assert_eq!(only(&chat("members = [77, -5]")).0, "-5");
        let (at, says) = only("[[chat]]\nid = -5\ntype = \"group\"\ntitle = \"\"");
        assert_eq!((at.as_str(), says.as_str()), ("\"\"", "a title has 1 to 128 characters"));
    }
}
