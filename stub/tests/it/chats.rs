//! Chats, their members, links and topics: every change is seen through another call.

use serde_json::{Value, json};

use crate::client::{Client, free, stub};

const GROUP: i64 = -1_000_000_000_009;

/// The same chat and something more.
fn here(more: &Value) -> Value {
    let mut body = json!({ "chat_id": GROUP });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn what_a_chat_is_set_to_be_is_shown_by_get_chat() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.result("setChatTitle", &here(&json!({ "title": "Puzzlers" })));
    client.result("setChatDescription", &here(&json!({ "description": "Daily" })));
    client.result("setChatPermissions", &here(&json!({ "permissions": { "can_send_messages": true } })));
    client.result("setChatStickerSet", &here(&json!({ "sticker_set_name": "cats" })));
    let link = client.result("exportChatInviteLink", &here(&json!({})));
    let chat = client.result("getChat", &here(&json!({})));
    assert_eq!((&chat["title"], &chat["description"]), (&json!("Puzzlers"), &json!("Daily")));
    assert_eq!(chat["permissions"]["can_send_messages"], true);
    assert_eq!((&chat["sticker_set_name"], &chat["invite_link"]), (&json!("cats"), &link));
    let sent = client.result("sendMessage", &here(&json!({ "text": "a" })));
    assert_eq!(sent["chat"]["title"], "Puzzlers");
    client.result("deleteChatStickerSet", &here(&json!({})));
    assert_eq!(client.result("getChat", &here(&json!({}))).get("sticker_set_name"), None);
    let same = client.refusal("setChatDescription", &here(&json!({ "description": "Daily" })));
    assert_eq!(same, "Bad Request: chat description is not modified");
}

#[test]
fn the_last_pinned_message_is_shown_until_it_is_unpinned() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut send = |text: &str| client.result("sendMessage", &here(&json!({ "text": text })))["message_id"].clone();
    let (first, second) = (send("a"), send("b"));
    let pinned = |client: &mut Client| client.result("getChat", &here(&json!({})))["pinned_message"]["text"].clone();
    client.result("pinChatMessage", &here(&json!({ "message_id": first })));
    client.result("pinChatMessage", &here(&json!({ "message_id": second })));
    assert_eq!(pinned(&mut client), "b");
    client.result("unpinChatMessage", &here(&json!({ "message_id": second })));
    assert_eq!(pinned(&mut client), "a");
    client.result("unpinAllChatMessages", &here(&json!({})));
    assert_eq!(pinned(&mut client), json!(null));
    let missing = client.refusal("pinChatMessage", &here(&json!({ "message_id": 99 })));
    assert_eq!(missing, "Bad Request: message to pin not found");
}

#[test]
fn members_are_banned_restricted_promoted_and_counted() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let user = |more: Value| {
        let mut body = here(&json!({ "user_id": 77 }));
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let status = |client: &mut Client| client.result("getChatMember", &user(json!({})))["status"].clone();
    let count = |client: &mut Client| client.result("getChatMemberCount", &here(&json!({}))).as_i64().unwrap();
    assert_eq!(status(&mut client), "member");
    client.result("restrictChatMember", &user(json!({ "permissions": { "can_send_messages": false } })));
    assert_eq!((status(&mut client), count(&mut client)), (json!("restricted"), 3));
    client.result("promoteChatMember", &user(json!({ "can_pin_messages": true })));
    client.result("setChatAdministratorCustomTitle", &user(json!({ "custom_title": "Judge" })));
    let administrators = client.result("getChatAdministrators", &here(&json!({})));
    assert_eq!(administrators.as_array().unwrap().len(), 2);
    assert_eq!(client.result("getChatMember", &user(json!({})))["custom_title"], "Judge");
    let refused = client.refusal("banChatMember", &user(json!({})));
    assert_eq!(refused, "Bad Request: user is an administrator of the chat");
    client.result("promoteChatMember", &user(json!({})));
    client.result("banChatMember", &user(json!({})));
    assert_eq!((status(&mut client), count(&mut client)), (json!("kicked"), 2));
    client.result("unbanChatMember", &user(json!({})));
    assert_eq!(status(&mut client), "left");
    client.result("approveChatJoinRequest", &user(json!({})));
    assert_eq!(status(&mut client), "member");
    client.result("declineChatJoinRequest", &user(json!({})));
    assert_eq!(status(&mut client), "left");
}

#[test]
fn a_bot_that_left_is_not_a_member_any_more() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.result("leaveChat", &here(&json!({})));
    let response = client.call("sendMessage", &here(&json!({ "text": "a" })));
    assert_eq!(response.status, 403);
    assert_eq!(response.json()["description"], "Forbidden: bot is not a member of the supergroup chat");
}

#[test]
fn invite_links_are_made_edited_and_revoked() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for method in ["createChatInviteLink", "createChatSubscriptionInviteLink"] {
        let link = client.result(method, &here(&json!({ "name": "a", "member_limit": 5 })));
        assert_eq!(
            (&link["name"], &link["member_limit"], &link["is_revoked"]),
            (&json!("a"), &json!(5), &json!(false))
        );
        let address = &link["invite_link"];
        let edit = method.replace("create", "edit");
        let edited = client.result(&edit, &here(&json!({ "invite_link": address, "name": "b" })));
        assert_eq!((&edited["name"], &edited["member_limit"]), (&json!("b"), &json!(5)));
        let revoked = client.result("revokeChatInviteLink", &here(&json!({ "invite_link": address })));
        assert_eq!((&revoked["is_revoked"], &revoked["name"]), (&json!(true), &json!("b")));
    }
    let unknown = client.refusal("revokeChatInviteLink", &here(&json!({ "invite_link": "https://t.me/+x" })));
    assert_eq!(unknown, "Bad Request: INVITE_HASH_EXPIRED");
}

#[test]
fn a_topic_takes_messages_while_it_is_open() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let topic = client.result("createForumTopic", &here(&json!({ "name": "Boards" })));
    let thread = here(&json!({ "message_thread_id": topic["message_thread_id"], "text": "a", "name": "Scores" }));
    assert_eq!(client.result("sendMessage", &thread)["message_thread_id"], topic["message_thread_id"]);
    client.result("editForumTopic", &thread);
    assert_eq!(client.refusal("editForumTopic", &thread), "Bad Request: TOPIC_NOT_MODIFIED");
    client.result("closeForumTopic", &thread);
    assert_eq!(client.refusal("sendMessage", &thread), "Bad Request: TOPIC_CLOSED");
    client.result("reopenForumTopic", &thread);
    client.result("sendMessage", &thread);
    client.result("deleteForumTopic", &thread);
    assert_eq!(client.refusal("sendMessage", &thread), "Bad Request: message thread not found");
}

#[test]
fn the_general_topic_closes_and_opens() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let general = here(&json!({ "message_thread_id": 1, "text": "a" }));
    client.result("closeGeneralForumTopic", &here(&json!({})));
    assert_eq!(client.refusal("sendMessage", &general), "Bad Request: TOPIC_CLOSED");
    client.result("reopenGeneralForumTopic", &here(&json!({})));
    client.result("sendMessage", &general);
}
