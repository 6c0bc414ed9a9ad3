//! Users who block the bot, remove it from their group, or let the group become a supergroup.

use floodrig_stub::{NotPushed, UserAction};
use serde_json::json;

use crate::client::{Client, TOKEN, free, stub};

#[test]
fn a_user_who_blocked_the_bot_gets_nothing_until_they_unblock_it() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let text = json!({ "chat_id": 5, "text": "a" });
    client.result("sendMessage", &text);
    stub.act(TOKEN, &UserAction::Block { user_id: 5 }).unwrap();
    let blocked = client.call("sendMessage", &text);
    let says = "Forbidden: bot was blocked by the user";
    assert_eq!((blocked.status, blocked.json()["description"].as_str()), (403, Some(says)));
    assert_eq!(client.refusal("sendChatAction", &json!({ "chat_id": 5, "action": "typing" })), says);
    client.result("sendMessage", &json!({ "chat_id": 6, "text": "a" }));
    stub.act(TOKEN, &UserAction::Unblock { user_id: 5 }).unwrap();
    client.result("sendMessage", &text);
    let updates = client.result("getUpdates", &json!({}));
    let statuses = [0, 1].map(|at| {
        let update = &updates[at]["my_chat_member"];
        assert_eq!((&update["chat"]["id"], &update["new_chat_member"]["user"]["id"]), (&json!(5), &json!(123_456)));
        [&update["old_chat_member"]["status"], &update["new_chat_member"]["status"]]
    });
    assert_eq!(statuses, [["member", "kicked"], ["kicked", "member"]]);
}

#[test]
fn nor_is_anything_edited_before_a_user_who_blocked_the_bot() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let sent = client.result("sendMessage", &json!({ "chat_id": 5, "text": "a" }));
    let edit = json!({ "chat_id": 5, "message_id": sent["message_id"], "text": "b" });
    stub.act(TOKEN, &UserAction::Block { user_id: 5 }).unwrap();
    assert_eq!(client.refusal("editMessageText", &edit), "Forbidden: bot was blocked by the user");
    stub.act(TOKEN, &UserAction::Unblock { user_id: 5 }).unwrap();
    assert_eq!(client.result("editMessageText", &edit)["text"], "b");
}

#[test]
fn a_bot_that_leaves_is_told_so_and_may_do_nothing_there_any_more() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let here = |more: serde_json::Value| {
        let mut body = json!({ "chat_id": -5, "text": "b" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let sent = client.result("sendMessage", &here(json!({})))["message_id"].clone();
    client.result("leaveChat", &here(json!({})));
    let update = client.result("getUpdates", &json!({}))[0]["my_chat_member"].clone();
    assert_eq!((&update["from"]["id"], &update["chat"]["id"]), (&json!(123_456), &json!(-5)));
    let statuses = ["old_chat_member", "new_chat_member"].map(|member| &update[member]["status"]);
    assert_eq!(statuses, ["administrator", "left"]);
    let message = here(json!({ "message_id": sent, "user_id": 77 }));
    let methods = ["editMessageText", "deleteMessage", "pinChatMessage", "getChatMember", "getChatMemberCount"];
    for method in methods {
        assert_eq!(client.refusal(method, &message), "Forbidden: bot is not a member of the group chat", "{method}");
    }
}

#[test]
fn a_block_stands_even_when_the_bot_takes_no_update_of_it() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.result("getUpdates", &json!({ "allowed_updates": ["message"] }));
    assert_eq!(stub.act(TOKEN, &UserAction::Block { user_id: 5 }), Err(NotPushed::Unwanted));
    assert!(client.refusal("sendMessage", &json!({ "chat_id": 5, "text": "a" })).starts_with("Forbidden"));
}

#[test]
fn a_bot_removed_from_a_group_is_out_until_it_is_taken_in_again() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let text = json!({ "chat_id": -5, "text": "a" });
    stub.act(TOKEN, &UserAction::Kick { chat_id: -5, user_id: 77 }).unwrap();
    assert_eq!(client.refusal("sendMessage", &text), "Forbidden: bot was kicked from the group chat");
    stub.act(TOKEN, &UserAction::Add { chat_id: -5, user_id: 77 }).unwrap();
    client.result("sendMessage", &text);
    let updates = client.result("getUpdates", &json!({}));
    assert_eq!(updates[0]["my_chat_member"]["old_chat_member"]["status"], "administrator");
    assert_eq!(updates[0]["my_chat_member"]["new_chat_member"]["status"], "kicked");
    assert_eq!(updates[1]["my_chat_member"]["new_chat_member"]["status"], "member");
    assert_eq!(stub.act(TOKEN, &UserAction::Kick { chat_id: 5, user_id: 5 }), Err(NotPushed::NoGroup(5)));
}

#[test]
fn a_group_that_became_a_supergroup_says_where_it_went() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.result("setChatTitle", &json!({ "chat_id": -5, "title": "Puzzles" }));
    stub.act(TOKEN, &UserAction::Migrate { chat_id: -5, user_id: 77 }).unwrap();
    let refused = client.call("sendMessage", &json!({ "chat_id": -5, "text": "a" }));
    let supergroup = refused.json()["parameters"]["migrate_to_chat_id"].clone();
    let says = "Bad Request: group chat was upgraded to a supergroup chat";
    assert_eq!((refused.status, refused.json()["description"].as_str()), (400, Some(says)));
    let sent = client.result("sendMessage", &json!({ "chat_id": supergroup, "text": "a" }));
    assert_eq!((&sent["chat"]["type"], &sent["chat"]["title"]), (&json!("supergroup"), &json!("Puzzles")));
    let updates = client.result("getUpdates", &json!({}));
    let (to, from) = (&updates[0]["message"], &updates[1]["message"]);
    assert_eq!((&to["chat"]["id"], &to["migrate_to_chat_id"]), (&json!(-5), &supergroup));
    assert_eq!((&from["chat"]["id"], &from["migrate_from_chat_id"]), (&supergroup, &json!(-5)));
    assert_eq!((&from["message_id"], &sent["message_id"]), (&json!(1), &json!(2)));
    let again = stub.act(TOKEN, &UserAction::Migrate { chat_id: -5, user_id: 77 });
    assert_eq!(again, Err(NotPushed::NoGroup(-5)));
}
