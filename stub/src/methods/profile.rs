//! What a bot is, and what it says of itself.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::{Methods, Turn, media};
use crate::answer::{Done, Refusal};
use crate::catalogue;
use crate::world::described::DescribedBot;
use crate::world::{FileObject, MediaKind, Named, User};

pub(super) const METHODS: Methods = &[
    ("getMe", get_me),
    ("setMyName", |turn| set(turn, "name", 64)),
    ("getMyName", |turn| get(turn, "name")),
    ("setMyDescription", |turn| set(turn, "description", 512)),
    ("getMyDescription", |turn| get(turn, "description")),
    ("setMyShortDescription", |turn| set(turn, "short_description", 120)),
    ("getMyShortDescription", |turn| get(turn, "short_description")),
    ("setMyDefaultAdministratorRights", set_rights),
    ("getMyDefaultAdministratorRights", get_rights),
    ("setMyProfilePhoto", set_photo),
    ("removeMyProfilePhoto", remove_photo),
];

fn get_me(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let people = &turn.telegram.world.people;
    Done::of(&Me(people.named(User::Bot(turn.call.bot)), people.bot(turn.call.bot)))
}

/// A `User` as only getMe shows it.
struct Me<'a>(Named<'a>, Option<&'a DescribedBot>);

impl Serialize for Me<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        let Self(named, described) = self;
        named.show(&mut map)?;
        map.serialize_entry("can_join_groups", &described.is_none_or(|bot| bot.can_join_groups))?;
        let reads = described.is_some_and(|bot| bot.can_read_all_group_messages);
        map.serialize_entry("can_read_all_group_messages", &reads)?;
        let is_inline = described.is_some_and(|bot| bot.supports_inline_queries);
        map.serialize_entry("supports_inline_queries", &is_inline)?;
        map.serialize_entry("can_connect_to_business", &false)?;
        map.serialize_entry("has_main_web_app", &false)?;
        map.end()
    }
}

/// Texts are kept for each language; the lengths stand in <https://core.telegram.org/bots/api#setmyname> and
/// after it.
fn set(turn: &mut Turn<'_>, what: &str, longest: usize) -> Result<Done, Refusal> {
    let params = &turn.call.params;
    let text = params.text(what).unwrap_or_default().trim();
    if text.chars().count() > longest {
        return Err(Refusal::bad_request(format!("{} is too long", what.replace('_', " "))));
    }
    let key = format!("{what}/{}", params.given("language_code").unwrap_or_default());
    turn.note(turn.call.bot, &key, &json!(text));
    Done::yes()
}

/// A language without a text of its own shows the one for everybody.
fn get(turn: &mut Turn<'_>, what: &str) -> Result<Done, Refusal> {
    let bot = turn.call.bot;
    let language = turn.call.params.given("language_code").unwrap_or_default().to_owned();
    let of_language = turn.noted(bot, &format!("{what}/{language}")).filter(|text| *text != "");
    let text = of_language.or_else(|| turn.noted(bot, &format!("{what}/")));
    let unset = if what == "name" { own_name(turn, bot) } else { String::new() };
    Done::of(&json!({ what: text.filter(|text| *text != "").unwrap_or_else(|| json!(unset)) }))
}

fn own_name(turn: &Turn<'_>, bot: i64) -> String {
    let described = turn.telegram.world.people.bot(bot).and_then(|described| described.name.clone());
    described.unwrap_or_else(|| format!("Bot {bot}"))
}

fn rights_for(turn: &Turn<'_>) -> &'static str {
    if turn.call.params.is_true("for_channels") { "rights/channels" } else { "rights/groups" }
}

fn set_rights(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let rights = turn.value("rights").unwrap_or_default();
    let key = rights_for(turn);
    turn.note(turn.call.bot, key, &rights);
    Done::yes()
}

fn get_rights(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let given = turn.noted(turn.call.bot, rights_for(turn)).unwrap_or_default();
    Done::of(&catalogue::filled("ChatAdministratorRights", given))
}

/// getUserProfilePhotos shows it.
fn set_photo(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let photo = turn.value("photo").unwrap_or_default();
    let input = photo["photo"].as_str().or_else(|| photo["animation"].as_str());
    let media = media::find(turn, MediaKind::Photo, "photo", input)?;
    let photo = json!(FileObject::photo(&media));
    turn.note(turn.call.bot, "photo", &photo);
    Done::yes()
}

fn remove_photo(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    turn.telegram.world.facts.forget(turn.call.bot, "photo");
    Done::yes()
}
