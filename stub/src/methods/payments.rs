//! Stars: what was paid and given back, and media that cost some.

use serde_json::{Value, json};

use super::{Methods, Turn, media, members, things};
use crate::answer::{Done, Json, Refusal};
use crate::telegram::Telegram;
use crate::world::{Content, MediaKind, Message, Shown, User};

pub(super) const METHODS: Methods = &[
    ("getMyStarBalance", balance),
    ("getStarTransactions", transactions),
    ("refundStarPayment", refund),
    ("sendPaidMedia", send_paid_media),
];

const LEDGER: &str = "transactions";
/// How many of a bot's transactions are kept.
const MOST: usize = 1000;

fn ledger(telegram: &mut Telegram, bot: i64) -> Vec<Value> {
    let kept = telegram.world.facts.get(bot, LEDGER);
    kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default()
}

/// Notes that a user paid that many stars to a bot, under this charge id.
pub(crate) fn paid(telegram: &mut Telegram, bot: i64, transaction: Value) {
    let mut ledger = ledger(telegram, bot);
    ledger.push(transaction);
    let from = ledger.len().saturating_sub(MOST);
    telegram.world.facts.set(bot, LEDGER, &json!(ledger[from..]));
}

/// Notes that an invoice of that payload asks for the way of shipping, or that it does not.
pub(super) fn note_flexible(turn: &mut Turn<'_>, payload: &str) {
    let is_flexible = turn.call.params.is_true("is_flexible");
    if is_flexible || turn.noted(turn.call.bot, &flexible(payload)).is_some() {
        turn.note(turn.call.bot, &flexible(payload), &json!(is_flexible));
    }
}

pub(crate) fn is_flexible(telegram: &mut Telegram, bot: i64, payload: &str) -> bool {
    telegram.world.facts.get(bot, &flexible(payload)) == Some(json!(true))
}

fn flexible(payload: &str) -> String {
    format!("flexible/{payload}")
}

/// A transaction with a user: in when it has a source, out when it has a receiver.
pub(crate) fn transaction(charge: &str, user: &Value, amount: i64, date: i64, side: &str) -> Value {
    let partner = json!({ "type": "user", "transaction_type": "invoice_payment", "user": user });
    json!({ "id": charge, "amount": amount, "date": date, side: partner })
}

fn balance(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let signed = |transaction: &Value| {
        let amount = transaction["amount"].as_i64().unwrap_or(0);
        if transaction.get("source").is_some() { amount } else { -amount }
    };
    let amount: i64 = ledger(turn.telegram, turn.call.bot).iter().map(signed).sum();
    Done::of(&json!({ "amount": amount }))
}

fn transactions(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let offset = turn.call.params.clamped("offset", 0..=i64::MAX, 0) as usize;
    let limit = turn.call.params.clamped("limit", 1..=100, 100) as usize;
    let page: Vec<Value> = ledger(turn.telegram, turn.call.bot).into_iter().skip(offset).take(limit).collect();
    Done::of(&json!({ "transactions": page }))
}

fn refund(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let user = members::user(turn)?;
    let charge = turn.required("telegram_payment_charge_id")?.to_owned();
    let ledger = ledger(turn.telegram, turn.call.bot);
    let of_charge = |side: &str| ledger.iter().find(|kept| kept["id"] == charge.as_str() && kept.get(side).is_some());
    let payment = of_charge("source").filter(|payment| payment["source"]["user"]["id"] == user);
    let payment = payment.ok_or_else(|| Refusal::bad_request("CHARGE_NOT_FOUND"))?;
    if of_charge("receiver").is_some() {
        return Err(Refusal::bad_request("CHARGE_ALREADY_REFUNDED"));
    }
    let amount = payment["amount"].as_i64().unwrap_or(0);
    let user = payment["source"]["user"].clone();
    paid(turn.telegram, turn.call.bot, transaction(&charge, &user, amount, turn.date, "receiver"));
    Done::yes()
}

fn send_paid_media(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    let inputs: Vec<Value> =
        turn.list("media").ok_or_else(|| Refusal::bad_request("expected an Array of InputPaidMedia"))?;
    let items = inputs.iter().map(|input| item(turn, input)).collect::<Result<Vec<_>, _>>()?;
    if items.is_empty() {
        return Err(Refusal::bad_request("there are no media to send"));
    }
    let stars = turn.call.params.integer("star_count").unwrap_or(0);
    turn.send(&chat, things::content("paid_media", &json!({ "star_count": stars, "paid_media": items })))
}

/// A `PaidMedia`: what a message would show of the same file.
fn item(turn: &mut Turn<'_>, input: &Value) -> Result<Value, Refusal> {
    let kind = input["type"].as_str().and_then(MediaKind::of);
    let kind = kind.ok_or_else(|| Refusal::bad_request("type of the media is invalid or not specified"))?;
    let media = media::find(turn, kind, "media", input["media"].as_str())?;
    let content = Content::Media { media, caption: crate::entities::Formatted::default() };
    let message = Message::new(1, User::Bot(turn.call.bot), 0, content);
    let chat = turn.chat()?;
    let people = &turn.telegram.world.people;
    let shown = Json::of(&Shown { people, message: &message, chat: &chat, reply_to: None }).value();
    Ok(json!({ "type": kind.field(), kind.field(): shown[kind.field()] }))
}
