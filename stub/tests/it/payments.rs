//! Paying: nothing is paid before the bot has agreed, in time.

use floodrig_stub::{NotPushed, Stub, UserAction};
use serde_json::{Value, json};

use crate::client::{Client, TOKEN, free, stub};

fn pay(stub: &Stub, currency: &str, payload: &str) -> Result<i64, NotPushed> {
    let (currency, payload) = (currency.to_owned(), payload.to_owned());
    stub.act(TOKEN, &UserAction::Payment { chat_id: 5, user_id: 5, currency, total_amount: 900, payload })
}

/// The next update of that kind; everything before it is confirmed.
fn next(client: &mut Client, kind: &str) -> Value {
    let updates = client.result("getUpdates", &json!({ "limit": 1 }));
    let id = updates[0]["update_id"].as_i64().unwrap_or_else(|| panic!("no update instead of {kind}"));
    client.result("getUpdates", &json!({ "offset": id + 1 }));
    assert!(updates[0][kind].is_object(), "{updates} instead of {kind}");
    updates[0][kind].clone()
}

fn nothing(client: &mut Client) {
    assert_eq!(client.result("getUpdates", &json!({})), json!([]));
}

#[test]
fn a_bot_that_agrees_is_paid() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    pay(&stub, "XTR", "p").unwrap();
    let query = next(&mut client, "pre_checkout_query");
    let asked = (&query["from"]["id"], &query["currency"], &query["total_amount"], &query["invoice_payload"]);
    assert_eq!(asked, (&json!(5), &json!("XTR"), &json!(900), &json!("p")));
    assert_eq!(client.result("getMyStarBalance", &json!({}))["amount"], 0, "nothing is paid yet");
    nothing(&mut client);
    let answer = json!({ "pre_checkout_query_id": query["id"], "ok": true });
    client.result("answerPreCheckoutQuery", &answer);
    let paid = next(&mut client, "message")["successful_payment"].clone();
    assert_eq!((&paid["total_amount"], &paid["invoice_payload"]), (&json!(900), &json!("p")));
    assert_eq!(client.result("getMyStarBalance", &json!({}))["amount"], 900);
    let again = client.refusal("answerPreCheckoutQuery", &answer);
    assert!(again.starts_with("Bad Request: query is too old"), "{again}");
    assert_eq!(client.result("getMyStarBalance", &json!({}))["amount"], 900);
}

#[test]
fn a_bot_that_does_not_agree_is_not_paid() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    pay(&stub, "XTR", "p").unwrap();
    let query = next(&mut client, "pre_checkout_query");
    let no = json!({ "pre_checkout_query_id": query["id"], "ok": false, "error_message": "sold out" });
    client.result("answerPreCheckoutQuery", &no);
    nothing(&mut client);
    assert_eq!(client.result("getMyStarBalance", &json!({}))["amount"], 0);
}

#[test]
fn only_stars_come_into_the_balance_of_stars() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    pay(&stub, "EUR", "p").unwrap();
    let query = next(&mut client, "pre_checkout_query");
    client.result("answerPreCheckoutQuery", &json!({ "pre_checkout_query_id": query["id"], "ok": true }));
    assert_eq!(next(&mut client, "message")["successful_payment"]["currency"], "EUR");
    assert_eq!(client.result("getMyStarBalance", &json!({}))["amount"], 0);
}

#[test]
fn a_flexible_invoice_asks_for_the_way_of_shipping_first() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let prices = json!([{ "label": "Board", "amount": 900 }]);
    let invoice = json!({
        "chat_id": 5, "title": "Board", "description": "Wood", "payload": "p", "currency": "EUR", "prices": prices,
        "is_flexible": true,
    });
    client.result("sendInvoice", &invoice);
    pay(&stub, "EUR", "p").unwrap();
    let query = next(&mut client, "shipping_query");
    assert_eq!((&query["invoice_payload"], query["shipping_address"].is_object()), (&json!("p"), true));
    let option = json!({ "id": "post", "title": "Post", "prices": [{ "label": "Stamp", "amount": 50 }] });
    let ships = json!({ "shipping_query_id": query["id"], "ok": true, "shipping_options": [option] });
    client.result("answerShippingQuery", &ships);
    let query = next(&mut client, "pre_checkout_query");
    assert_eq!((&query["total_amount"], &query["shipping_option_id"]), (&json!(950), &json!("post")));
    client.result("answerPreCheckoutQuery", &json!({ "pre_checkout_query_id": query["id"], "ok": true }));
    let paid = next(&mut client, "message")["successful_payment"].clone();
    assert_eq!((&paid["total_amount"], &paid["shipping_option_id"]), (&json!(950), &json!("post")));
}

#[test]
fn a_bot_that_cannot_ship_is_asked_nothing_more() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let prices = json!([{ "label": "Board", "amount": 900 }]);
    let invoice = json!({
        "chat_id": 5, "title": "Board", "description": "Wood", "payload": "p", "currency": "EUR", "prices": prices,
        "is_flexible": true,
    });
    client.result("sendInvoice", &invoice);
    pay(&stub, "EUR", "p").unwrap();
    let query = next(&mut client, "shipping_query");
    let nowhere = json!({ "shipping_query_id": query["id"], "ok": true, "shipping_options": [] });
    let says = client.refusal("answerShippingQuery", &nowhere);
    assert_eq!(says, "Bad Request: can't parse shipping options JSON object");
    let no = json!({ "shipping_query_id": query["id"], "ok": false, "error_message": "too far" });
    client.result("answerShippingQuery", &no);
    nothing(&mut client);
}

#[test]
fn a_bot_that_takes_no_such_query_cannot_be_paid() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.result("getUpdates", &json!({ "allowed_updates": ["message"] }));
    assert_eq!(pay(&stub, "XTR", "p"), Err(NotPushed::Unwanted));
    nothing(&mut client);
}
