//! Who is in a chat and what they may do there.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{Methods, Turn, chats::shared_chat};
use crate::answer::{Done, Refusal};
use crate::catalogue;
use crate::world::{Chat, ChatKind, Rank, User, World};

pub(super) const METHODS: Methods = &[
    ("getChatMember", get_chat_member),
    ("getChatMemberCount", get_chat_member_count),
    ("getChatAdministrators", get_chat_administrators),
    ("banChatMember", ban),
    ("unbanChatMember", unban),
    ("restrictChatMember", restrict),
    ("promoteChatMember", promote),
    ("setChatAdministratorCustomTitle", set_custom_title),
    ("setChatMemberTag", set_tag),
];

/// The user that `user_id` names.
pub(super) fn user(turn: &Turn<'_>) -> Result<i64, Refusal> {
    let id = turn.call.params.integer("user_id").filter(|id| *id > 0);
    id.ok_or_else(|| Refusal::bad_request("invalid user_id specified"))
}

/// A `ChatMember`; a bot is an administrator and everybody else a member until something else was set.
fn member(turn: &mut Turn<'_>, chat: &Chat, id: i64) -> Value {
    if id == turn.call.bot {
        return this_bot(&mut turn.telegram.world, id, chat.id);
    }
    let noted = turn.noted(chat.id, &format!("member/{id}"));
    let people = &turn.telegram.world.people;
    let user = people.whose(id);
    let mut member = noted.unwrap_or_else(|| of_rank(people.rank(chat.id, user).unwrap_or(Rank::Member)));
    member["user"] = people.show(user);
    member
}

/// What a bot is in a chat.
pub(crate) fn this_bot(world: &mut World, bot: i64, chat: i64) -> Value {
    let noted = world.facts.get(chat, &format!("member/{bot}"));
    let rank = world.people.rank(chat, User::Bot(bot)).unwrap_or(Rank::Administrator);
    let mut member = noted.unwrap_or_else(|| of_rank(rank));
    member["user"] = world.people.show(User::Bot(bot));
    member
}

fn of_rank(rank: Rank) -> Value {
    match rank {
        Rank::Administrator => administrator(&Map::new()),
        Rank::Member => json!({ "status": "member" }),
        Rank::Outside => json!({ "status": "left" }),
    }
}

/// Notes what somebody is in a chat.
pub(super) fn set(turn: &mut Turn<'_>, chat: &Chat, id: i64, member: &Value) {
    turn.note(chat.id, &format!("member/{id}"), member);
    turn.telegram.world.note_member(chat.id, id);
}

/// Whoever was ever set to be something, after those that were described.
fn known(turn: &mut Turn<'_>, chat: &Chat) -> Vec<i64> {
    let set = turn.telegram.world.noted_members(chat.id);
    let mut known = turn.telegram.world.people.within(chat.id);
    let described: HashSet<i64> = known.iter().copied().collect();
    known.extend(set.into_iter().filter(|id| !described.contains(id)));
    known
}

/// A bot that left a chat has no business there.
pub(super) fn must_be_in(turn: &mut Turn<'_>, chat: &Chat) -> Result<(), Refusal> {
    let of = match chat.kind {
        ChatKind::Private => return Ok(()),
        ChatKind::Group => "group",
        ChatKind::Supergroup => "supergroup",
        ChatKind::Channel => "channel",
    };
    let bot = turn.call.bot;
    let noted = turn.noted(chat.id, &format!("member/{bot}")).unwrap_or_default();
    match noted["status"].as_str() {
        None if turn.telegram.world.people.rank(chat.id, User::Bot(bot)) == Some(Rank::Outside) => {
            Err(Refusal::forbidden(format!("bot is not a member of the {of} chat")))
        }
        Some("left") => Err(Refusal::forbidden(format!("bot is not a member of the {of} chat"))),
        Some("kicked") => Err(Refusal::forbidden(format!("bot was kicked from the {of} chat"))),
        Some(_) | None => Ok(()),
    }
}

/// Nor has a bot that may not even write to the user.
pub(super) fn must_be_let_write(turn: &mut Turn<'_>, chat: &Chat) -> Result<(), Refusal> {
    if turn.telegram.world.standing.has_blocked(turn.call.bot, chat.id) {
        return Err(Refusal::forbidden("bot was blocked by the user"));
    }
    must_be_in(turn, chat)
}

fn get_chat_member(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    must_be_in(turn, &chat)?;
    let user = user(turn)?;
    Done::of(&member(turn, &chat, user))
}

fn is_in(member: &Value) -> bool {
    !matches!(member["status"].as_str(), Some("left" | "kicked"))
}

/// The bot and everybody who was described or set to be something and is still there; in a chat that nobody
/// described one user more, who is always there.
fn get_chat_member_count(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    must_be_in(turn, &chat)?;
    let known = known(turn, &chat);
    let others: Vec<i64> = known.into_iter().filter(|id| *id != turn.call.bot).collect();
    let there = others.into_iter().filter(|id| is_in(&member(turn, &chat, *id))).count();
    let always = if turn.telegram.world.people.described(chat.id).is_some() { 1 } else { 2 };
    Done::of(&(always + there))
}

fn get_chat_administrators(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let mut ids = known(turn, &chat);
    if !ids.contains(&turn.call.bot) {
        ids.insert(0, turn.call.bot);
    }
    let members: Vec<Value> = ids.into_iter().map(|id| member(turn, &chat, id)).collect();
    let administrators = members.into_iter().filter(|member| member["status"] == "administrator");
    Done::of(&administrators.collect::<Vec<_>>())
}

fn ban(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, user) = (shared_chat(turn)?, user(turn)?);
    if member(turn, &chat, user)["status"] == "administrator" {
        return Err(Refusal::bad_request("user is an administrator of the chat"));
    }
    let until = turn.call.params.integer("until_date").unwrap_or(0);
    set(turn, &chat, user, &json!({ "status": "kicked", "until_date": until }));
    Done::yes()
}

fn unban(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, user) = (shared_chat(turn)?, user(turn)?);
    let only_banned = turn.call.params.is_true("only_if_banned");
    if !only_banned || member(turn, &chat, user)["status"] == "kicked" {
        set(turn, &chat, user, &json!({ "status": "left" }));
    }
    Done::yes()
}

fn restrict(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, user) = (shared_chat(turn)?, user(turn)?);
    let permissions = turn.value("permissions").and_then(|value| value.as_object().cloned());
    let mut restricted = permissions.ok_or_else(|| Refusal::bad_request("can't parse permissions JSON object"))?;
    restricted.insert("status".to_owned(), json!("restricted"));
    restricted.insert("is_member".to_owned(), json!(true));
    restricted.insert("until_date".to_owned(), json!(turn.call.params.integer("until_date").unwrap_or(0)));
    set(turn, &chat, user, &catalogue::filled("ChatMemberRestricted", Value::Object(restricted)));
    Done::yes()
}

/// A promotion without any right is a demotion.
fn promote(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, user) = (shared_chat(turn)?, user(turn)?);
    let given = RIGHTS.iter().filter(|right| turn.call.params.is_true(right));
    let rights: Map<String, Value> = given.map(|right| ((*right).to_owned(), json!(true))).collect();
    let member = if rights.is_empty() { json!({ "status": "member" }) } else { administrator(&rights) };
    set(turn, &chat, user, &member);
    Done::yes()
}

fn set_custom_title(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, user) = (shared_chat(turn)?, user(turn)?);
    let mut member = member(turn, &chat, user);
    if member["status"] != "administrator" {
        return Err(Refusal::bad_request("user is not an administrator"));
    }
    member["custom_title"] = json!(turn.required("custom_title")?);
    set(turn, &chat, user, &member);
    Done::yes()
}

fn set_tag(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (chat, user) = (shared_chat(turn)?, user(turn)?);
    let mut member = member(turn, &chat, user);
    member["tag"] = json!(turn.call.params.text("tag").unwrap_or_default());
    set(turn, &chat, user, &member);
    Done::yes()
}

/// Rights of an administrator (<https://core.telegram.org/bots/api#chatmemberadministrator>).
const RIGHTS: &[&str] = &[
    "is_anonymous",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_post_messages",
    "can_edit_messages",
    "can_pin_messages",
    "can_manage_topics",
    "can_manage_direct_messages",
    "can_manage_tags",
    "can_send_welcome_messages",
];

/// An administrator with those rights; with none named, as with a bot nobody restricted, all of them.
fn administrator(rights: &Map<String, Value>) -> Value {
    let has = |right: &str| rights.is_empty() && right != "is_anonymous" || rights.contains_key(right);
    let mut member: Map<String, Value> = RIGHTS.iter().map(|right| ((*right).to_owned(), json!(has(right)))).collect();
    member.insert("status".to_owned(), json!("administrator"));
    member.insert("can_be_edited".to_owned(), json!(false));
    catalogue::filled("ChatMemberAdministrator", Value::Object(member))
}
