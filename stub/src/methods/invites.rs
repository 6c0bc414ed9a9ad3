//! Invite links and requests to join.

use serde_json::{Value, json};

use super::chats::shared_chat;
use super::{Methods, Turn, members};
use crate::answer::{Done, Refusal};
use crate::world::{Chat, User};

pub(super) const METHODS: Methods = &[
    ("exportChatInviteLink", export),
    ("createChatInviteLink", create),
    ("editChatInviteLink", edit),
    ("createChatSubscriptionInviteLink", create),
    ("editChatSubscriptionInviteLink", edit),
    ("revokeChatInviteLink", revoke),
    ("approveChatJoinRequest", approve),
    ("declineChatJoinRequest", decline),
];

/// What the calls may say of a link, and it then says of itself.
const SAID: &[&str] =
    &["name", "expire_date", "member_limit", "creates_join_request", "subscription_period", "subscription_price"];

fn new_link(turn: &mut Turn<'_>) -> String {
    format!("https://t.me/+{:016x}", turn.telegram.chance(1..=i64::MAX))
}

/// A new primary link; getChat shows it.
fn export(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let link = json!(new_link(turn));
    turn.note(chat.id, "invite_link", &link);
    Done::of(&link)
}

fn create(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let link = json!({
        "invite_link": new_link(turn),
        "creator": turn.telegram.world.people.show(User::Bot(turn.call.bot)),
        "creates_join_request": turn.call.params.is_true("creates_join_request"),
        "is_primary": false,
        "is_revoked": false,
    });
    change(turn, &chat, link)
}

fn edit(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let link = known(turn, &chat)?;
    change(turn, &chat, link)
}

fn revoke(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let mut link = known(turn, &chat)?;
    link["is_revoked"] = json!(true);
    change(turn, &chat, link)
}

fn known(turn: &mut Turn<'_>, chat: &Chat) -> Result<Value, Refusal> {
    let name = turn.required("invite_link")?.to_owned();
    turn.noted(chat.id, &name).ok_or_else(|| Refusal::bad_request("INVITE_HASH_EXPIRED"))
}

fn change(turn: &mut Turn<'_>, chat: &Chat, mut link: Value) -> Result<Done, Refusal> {
    for name in SAID {
        if let Some(value) = turn.plain(name) {
            link[*name] = value;
        }
    }
    let address = link["invite_link"].as_str().unwrap_or_default().to_owned();
    turn.note(chat.id, &address, &link);
    Done::of(&link)
}

fn approve(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    settle(turn, "member")
}

fn decline(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    settle(turn, "left")
}

fn settle(turn: &mut Turn<'_>, status: &str) -> Result<Done, Refusal> {
    let chat = shared_chat(turn)?;
    let user = members::user(turn)?;
    members::set(turn, &chat, user, &json!({ "status": status }));
    Done::yes()
}
