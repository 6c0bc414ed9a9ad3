//! A world described beforehand: names, members, rights, slow mode.

use std::time::Duration;

use floodrig_stub::described::{Described, DescribedBot, DescribedChat, DescribedKind, DescribedUser};
use floodrig_stub::{Limits, Opening, Stub, UnknownChats, UserAction};
use serde_json::json;

use crate::client::{Client, TOKEN, free, stub};

const GROUP: i64 = -1_000_000_000_123;
const CHANNEL: i64 = -1_000_000_000_456;

fn bot() -> DescribedBot {
    DescribedBot {
        id: 123_456,
        name: Some("Puzzle".to_owned()),
        username: Some("puzzle_bot".to_owned()),
        can_join_groups: false,
        can_read_all_group_messages: true,
        supports_inline_queries: true,
    }
}

fn user(id: i64, name: &str) -> DescribedUser {
    let (last_name, username) = (Some("Lovelace".to_owned()), Some(name.to_lowercase()));
    DescribedUser { id, name: name.to_owned(), last_name, username, language: Some("en".to_owned()), premium: true }
}

fn chat(id: i64, kind: DescribedKind) -> DescribedChat {
    DescribedChat {
        id,
        kind,
        title: "Puzzlers".to_owned(),
        username: None,
        description: Some("Daily".to_owned()),
        members: vec![77],
        admins: vec![123_456],
        slow_mode: None,
    }
}

fn described(chats: Vec<DescribedChat>) -> Described {
    Described { unknown_chats: None, bots: vec![bot()], users: vec![user(77, "Ada"), user(78, "Bob")], chats }
}

fn world(limits: Limits, chats: Vec<DescribedChat>) -> Stub {
    let stub = stub(limits);
    stub.describe(described(chats));
    stub
}

#[test]
fn a_bot_is_called_what_it_was_described_as() {
    let stub = world(free(), vec![]);
    let mut client = Client::of(&stub);
    let me = client.result("getMe", &json!({}));
    assert_eq!((&me["first_name"], &me["username"]), (&json!("Puzzle"), &json!("puzzle_bot")));
    let flags = ["can_join_groups", "can_read_all_group_messages", "supports_inline_queries"].map(|flag| &me[flag]);
    assert_eq!(flags, [&json!(false), &json!(true), &json!(true)]);
    assert_eq!(client.result("getMyName", &json!({}))["name"], "Puzzle");
    let sent = client.result("sendMessage", &json!({ "chat_id": 5, "text": "a" }));
    assert_eq!(sent["from"]["username"], "puzzle_bot");
}

#[test]
fn a_user_is_called_so_where_a_text_mentions_them_and_a_stranger_by_their_number() {
    let stub = world(free(), vec![]);
    let text = "<a href=\"tg://user?id=77\">she</a> <a href=\"tg://user?id=5\">he</a>";
    let sent = Client::of(&stub).result("sendMessage", &json!({ "chat_id": 5, "text": text, "parse_mode": "HTML" }));
    let names = [0, 1].map(|nth| &sent["entities"][nth]["user"]["first_name"]);
    assert_eq!(names, [&json!("Ada"), &json!("User 5")]);
}

#[test]
fn a_user_is_called_so_in_updates_and_in_the_private_chat() {
    let stub = world(free(), vec![]);
    let mut client = Client::of(&stub);
    stub.write(TOKEN, 77, 77, "hello").unwrap();
    let message = client.result("getUpdates", &json!({}))[0]["message"].clone();
    let from = json!({
        "id": 77, "is_bot": false, "first_name": "Ada", "last_name": "Lovelace", "username": "ada",
        "language_code": "en", "is_premium": true,
    });
    assert_eq!(message["from"], from);
    let chat = json!({ "id": 77, "first_name": "Ada", "last_name": "Lovelace", "username": "ada", "type": "private" });
    assert_eq!(message["chat"], chat);
}

#[test]
fn a_mini_app_is_handed_the_names_of_its_user() {
    let stub = world(free(), vec![]);
    let opening = Opening {
        url: "https://app.example/".to_owned(),
        user_id: 77,
        chat_id: None,
        start_param: None,
        auth_date: None,
    };
    let url = stub.open_app(TOKEN, &opening).unwrap();
    // Encoded twice: once as initData, once as a value behind the `#`.
    for part in ["%2522first_name%2522%253A%2522Ada%2522", "%2522username%2522%253A%2522ada%2522"] {
        assert!(url.contains(part), "{part} in {url}");
    }
}

#[test]
fn a_chat_has_its_title_type_and_members() {
    let named = DescribedChat { username: Some("Riddles".to_owned()), ..chat(CHANNEL, DescribedKind::Channel) };
    let stub = world(free(), vec![chat(GROUP, DescribedKind::Supergroup), named]);
    let mut client = Client::of(&stub);
    let full = client.result("getChat", &json!({ "chat_id": GROUP }));
    assert_eq!((&full["title"], &full["description"]), (&json!("Puzzlers"), &json!("Daily")));
    let mut status =
        |user: i64| client.result("getChatMember", &json!({ "chat_id": GROUP, "user_id": user }))["status"].clone();
    assert_eq!([status(123_456), status(77), status(78)], ["administrator", "member", "left"]);
    assert_eq!(client.result("getChatMemberCount", &json!({ "chat_id": GROUP })), 2);
    let administrators = client.result("getChatAdministrators", &json!({ "chat_id": GROUP }));
    assert_eq!((administrators.as_array().unwrap().len(), &administrators[0]["user"]["id"]), (1, &json!(123_456)));
    let sent = client.result("sendMessage", &json!({ "chat_id": "@riddles", "text": "a" }));
    assert_eq!((&sent["chat"]["id"], &sent["chat"]["type"]), (&json!(CHANNEL), &json!("channel")));
    client.result("setChatTitle", &json!({ "chat_id": GROUP, "title": "Solvers" }));
    assert_eq!(client.result("getChat", &json!({ "chat_id": GROUP }))["title"], "Solvers", "a bot may change it");
}

#[test]
fn what_happens_later_lies_over_what_was_described() {
    let stub = world(free(), vec![chat(GROUP, DescribedKind::Supergroup)]);
    let mut client = Client::of(&stub);
    stub.act(TOKEN, &UserAction::Leave { chat_id: GROUP, user_id: 77 }).unwrap();
    assert_eq!(client.result("getChatMemberCount", &json!({ "chat_id": GROUP })), 1);
}

#[test]
fn a_described_bot_is_only_in_the_chats_that_name_it() {
    let stub = world(free(), vec![DescribedChat { admins: vec![], ..chat(GROUP, DescribedKind::Supergroup) }]);
    let mut client = Client::of(&stub);
    let says = client.refusal("sendMessage", &json!({ "chat_id": GROUP, "text": "a" }));
    assert_eq!(says, "Forbidden: bot is not a member of the supergroup chat");
    stub.act(TOKEN, &UserAction::Add { chat_id: GROUP, user_id: 77 }).unwrap();
    client.result("sendMessage", &json!({ "chat_id": GROUP, "text": "a" }));
}

#[test]
fn a_member_waits_in_slow_mode_and_an_administrator_does_not() {
    let slow_mode = Some(Duration::from_secs(600));
    let (members, admins) = (vec![123_456], vec![]);
    let slow = DescribedChat { slow_mode, members, admins, ..chat(GROUP, DescribedKind::Supergroup) };
    let free_of_it = DescribedChat { slow_mode, ..chat(CHANNEL, DescribedKind::Supergroup) };
    let stub = world(free(), vec![slow, free_of_it]);
    let mut client = Client::of(&stub);
    let send = |chat: i64| json!({ "chat_id": chat, "text": "a" });
    let sent = client.result("sendMessage", &send(GROUP));
    let refused = client.call("sendMessage", &send(GROUP));
    let wait = refused.json()["parameters"]["retry_after"].as_u64().unwrap();
    assert!(refused.status == 429 && (590..=600).contains(&wait), "{}", refused.text());
    let edit = json!({ "chat_id": GROUP, "message_id": sent["message_id"], "text": "b" });
    client.result("editMessageText", &edit);
    for _ in 0..2 {
        client.result("sendMessage", &send(CHANNEL));
    }
    assert_eq!(client.result("getChat", &json!({ "chat_id": GROUP }))["slow_mode_delay"], 600);
}

#[test]
fn where_unknown_chats_are_refused_the_described_ones_are_there() {
    let limits = Limits { unknown_chats: UnknownChats::Refuse, ..free() };
    let stub = world(limits, vec![chat(GROUP, DescribedKind::Supergroup)]);
    let mut client = Client::of(&stub);
    for chat in [GROUP, 77] {
        client.result("sendMessage", &json!({ "chat_id": chat, "text": "a" }));
    }
    for chat in [json!(-5), json!(79), json!("@riddles")] {
        let says = client.refusal("sendMessage", &json!({ "chat_id": chat, "text": "a" }));
        assert_eq!(says, "Bad Request: chat not found");
    }
}
