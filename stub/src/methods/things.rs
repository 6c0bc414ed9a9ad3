//! Messages that are neither text nor file: dice, places, people, polls, invoices, games, lists.

use serde_json::{Map, Value, json};

use super::{Methods, Turn, edits, payments};
use crate::answer::{Done, Json, Refusal};
use crate::world::Content;

pub(super) const METHODS: Methods = &[
    ("sendDice", send_dice),
    ("sendLocation", send_location),
    ("editMessageLiveLocation", edit_live_location),
    ("stopMessageLiveLocation", stop_live_location),
    ("sendVenue", send_venue),
    ("sendContact", send_contact),
    ("sendGame", send_game),
    ("sendInvoice", send_invoice),
    ("sendChecklist", send_checklist),
    ("sendRichMessage", send_rich_message),
    ("editMessageChecklist", edit_checklist),
];

/// A message whose content is one field.
pub(super) fn content(field: &'static str, value: &Value) -> Content {
    Content::Fields(Box::new([(field, Json::of(value))]))
}

fn send(turn: &mut Turn<'_>, field: &'static str, value: &Value) -> Result<Done, Refusal> {
    let chat = turn.chat()?;
    turn.send(&chat, content(field, value))
}

/// An object of those parameters that were given, the first `required` of which have to be.
pub(super) fn object(turn: &Turn<'_>, names: &[&str], required: usize) -> Result<Value, Refusal> {
    let mut object = Map::new();
    for (nth, name) in names.iter().enumerate() {
        match turn.plain(name) {
            Some(value) => drop(object.insert((*name).to_owned(), value)),
            None if nth < required => {
                turn.required(name)?;
            }
            None => {}
        }
    }
    Ok(Value::Object(object))
}

/// What each emoji can show at most (<https://core.telegram.org/bots/api#dice>).
const DICE: &[(&str, i64)] = &[("🎲", 6), ("🎯", 6), ("🎳", 6), ("🏀", 5), ("⚽", 5), ("🎰", 64)];

fn send_dice(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let emoji = turn.call.params.given("emoji").unwrap_or("🎲").to_owned();
    let sides = DICE.iter().find(|(known, _)| *known == emoji).map(|(_, sides)| *sides);
    let sides = sides.ok_or_else(|| Refusal::bad_request("wrong emoji specified"))?;
    let value = turn.telegram.chance(1..=sides);
    send(turn, "dice", &json!({ "emoji": emoji, "value": value }))
}

const PLACE: &[&str] =
    &["latitude", "longitude", "horizontal_accuracy", "live_period", "heading", "proximity_alert_radius"];

fn send_location(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let location = object(turn, PLACE, 2)?;
    send(turn, "location", &location)
}

fn edit_live_location(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let location = object(turn, PLACE, 2)?;
    edits::edit(turn, |_| Ok(content("location", &location)))
}

fn stop_live_location(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    edits::edit(turn, |old| {
        let Some(Content::Fields(fields)) = old else { return Err(Refusal::bad_request("message can't be edited")) };
        let mut location: Value = fields
            .iter()
            .find(|(name, _)| *name == "location")
            .and_then(|(_, value)| serde_json::from_str(value.as_str()).ok())
            .ok_or_else(|| Refusal::bad_request("message can't be edited"))?;
        location["live_period"] = json!(0);
        Ok(content("location", &location))
    })
}

fn send_venue(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let mut venue = object(turn, &["title", "address", "foursquare_id", "google_place_id"], 2)?;
    venue["location"] = object(turn, &["latitude", "longitude"], 2)?;
    send(turn, "venue", &venue)
}

fn send_contact(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let mut contact = object(turn, &["phone_number", "first_name", "last_name", "vcard"], 2)?;
    // A number is a text here, however it looks.
    contact["phone_number"] = json!(turn.required("phone_number")?);
    send(turn, "contact", &contact)
}

fn send_game(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let name = turn.required("game_short_name")?.to_owned();
    let photo: [Value; 0] = [];
    send(turn, "game", &json!({ "title": name, "description": name, "photo": photo }))
}

fn send_invoice(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let mut invoice = object(turn, &["title", "description", "currency"], 3)?;
    let payload = turn.required("payload")?.to_owned();
    let prices: Vec<Value> =
        turn.list("prices").ok_or_else(|| Refusal::bad_request("can't parse prices JSON object"))?;
    invoice["total_amount"] = json!(prices.iter().filter_map(|price| price["amount"].as_i64()).sum::<i64>());
    invoice["start_parameter"] = json!(turn.call.params.given("start_parameter").unwrap_or_default());
    payments::note_flexible(turn, &payload);
    send(turn, "invoice", &invoice)
}

fn send_checklist(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let checklist = turn.value("checklist").ok_or_else(|| Refusal::bad_request("can't parse checklist JSON object"))?;
    send(turn, "checklist", &checklist)
}

fn edit_checklist(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let checklist = turn.value("checklist").ok_or_else(|| Refusal::bad_request("can't parse checklist JSON object"))?;
    edits::edit(turn, |_| Ok(content("checklist", &checklist)))
}

/// Blocks are shown as they were given; what came as HTML or Markdown is one paragraph of its own text.
fn send_rich_message(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let given = turn.value("rich_message").filter(Value::is_object);
    let given = given.ok_or_else(|| Refusal::bad_request("can't parse rich message JSON object"))?;
    let text = given.get("html").or_else(|| given.get("markdown"));
    let blocks = match (given.get("blocks"), text) {
        (Some(blocks), _) => blocks.clone(),
        (None, Some(text)) => json!([{ "type": "paragraph", "text": text }]),
        (None, None) => return Err(Refusal::bad_request("message text is empty")),
    };
    send(turn, "rich_message", &json!({ "blocks": blocks }))
}
