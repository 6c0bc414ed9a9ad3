//! Sets of stickers: made, filled, ordered, emptied.

use serde_json::{Value, json};

use super::{Methods, Turn, media};
use crate::answer::{Done, Refusal};
use crate::world::{FileObject, MediaKind};

pub(super) const METHODS: Methods = &[
    ("uploadStickerFile", upload),
    ("createNewStickerSet", create),
    ("getStickerSet", get),
    ("addStickerToSet", add),
    ("deleteStickerSet", delete_set),
    ("setStickerSetTitle", set_title),
    ("deleteStickerFromSet", |turn| change(turn, |stickers, at, _| drop(stickers.remove(at)))),
    ("setStickerPositionInSet", |turn| change(turn, reposition)),
    ("setStickerEmojiList", |turn| change(turn, |stickers, at, turn| set_emoji(&mut stickers[at], turn))),
    ("replaceStickerInSet", replace),
    ("setStickerSetThumbnail", set_thumbnail),
    ("getCustomEmojiStickers", custom_emoji),
    ("setStickerMaskPosition", |turn| change(turn, |stickers, at, turn| set_mask(&mut stickers[at], turn))),
];

/// Sets belong to no bot alone.
const EVERYBODY: i64 = 0;
/// How many a set holds (<https://core.telegram.org/bots/api#addstickertoset>).
const MOST: usize = 120;
const INVALID: &str = "STICKERSET_INVALID";

fn upload(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let media = media::find(turn, MediaKind::Sticker, "sticker", turn.call.params.text("sticker"))?;
    let path = turn.telegram.world.files.path(media.file).unwrap_or_default();
    Done::of(&FileObject::at(media.file, media.record.size, path))
}

/// A `Sticker` made of an `InputSticker`; the file knows to which set it went.
fn sticker(turn: &mut Turn<'_>, input: &Value, set: &str) -> Result<Value, Refusal> {
    let media = media::find(turn, MediaKind::Sticker, "sticker", input["sticker"].as_str())?;
    let (id, unique) = (media.file.text(), media.file.unique());
    turn.note(EVERYBODY, &format!("sticker/{id}"), &json!(set));
    let first = &input["emoji_list"][0];
    let format = input["format"].as_str().unwrap_or("static");
    Ok(json!({
        "file_id": id, "file_unique_id": unique, "file_size": media.record.size, "type": "regular",
        "width": 512, "height": 512, "is_animated": format == "animated", "is_video": format == "video",
        "emoji": first.as_str().unwrap_or("😀"), "set_name": set,
    }))
}

fn create(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let name = turn.required("name")?.to_owned();
    let title = turn.required("title")?.to_owned();
    if find(turn, &name).is_ok() {
        return Err(Refusal::bad_request("sticker set name is already occupied"));
    }
    let inputs: Vec<Value> = turn.list("stickers").ok_or_else(|| Refusal::bad_request("STICKERS_EMPTY"))?;
    let stickers = inputs.iter().map(|input| sticker(turn, input, &name)).collect::<Result<Vec<_>, _>>()?;
    let kind = turn.call.params.given("sticker_type").unwrap_or("regular");
    let set = json!({ "name": name, "title": title, "sticker_type": kind, "stickers": stickers });
    keep(turn, &name, &set);
    Done::yes()
}

fn keep(turn: &mut Turn<'_>, name: &str, set: &Value) {
    turn.note(EVERYBODY, &format!("set/{name}"), set);
}

fn find(turn: &mut Turn<'_>, name: &str) -> Result<Value, Refusal> {
    turn.noted(EVERYBODY, &format!("set/{name}")).ok_or_else(|| Refusal::bad_request(INVALID))
}

fn named(turn: &mut Turn<'_>) -> Result<(String, Value), Refusal> {
    let name = turn.required("name")?.to_owned();
    let set = find(turn, &name)?;
    Ok((name, set))
}

fn get(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    Done::of(&named(turn)?.1)
}

fn add(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (name, mut set) = named(turn)?;
    let input = turn.value("sticker").ok_or_else(|| Refusal::bad_request("can't parse sticker JSON object"))?;
    let sticker = sticker(turn, &input, &name)?;
    let stickers = set["stickers"].as_array_mut().ok_or_else(|| Refusal::bad_request(INVALID))?;
    if stickers.len() >= MOST {
        return Err(Refusal::bad_request("STICKERS_TOO_MUCH"));
    }
    stickers.push(sticker);
    keep(turn, &name, &set);
    Done::yes()
}

fn delete_set(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (name, _) = named(turn)?;
    turn.telegram.world.facts.forget(EVERYBODY, &format!("set/{name}"));
    Done::yes()
}

fn set_title(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (name, mut set) = named(turn)?;
    set["title"] = json!(turn.required("title")?);
    keep(turn, &name, &set);
    Done::yes()
}

fn replace(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (name, mut set) = named(turn)?;
    let old = turn.required("old_sticker")?.to_owned();
    let input = turn.value("sticker").ok_or_else(|| Refusal::bad_request("can't parse sticker JSON object"))?;
    let new = sticker(turn, &input, &name)?;
    let stickers = set["stickers"].as_array_mut().ok_or_else(|| Refusal::bad_request(INVALID))?;
    let old = stickers.iter_mut().find(|sticker| sticker["file_id"] == old.as_str());
    *old.ok_or_else(|| Refusal::bad_request("STICKER_INVALID"))? = new;
    keep(turn, &name, &set);
    Done::yes()
}

fn set_thumbnail(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let (name, mut set) = named(turn)?;
    let media = media::find(turn, MediaKind::Photo, "thumbnail", turn.call.params.text("thumbnail"))?;
    set["thumbnail"] = json!(FileObject::photo(&media));
    keep(turn, &name, &set);
    Done::yes()
}

/// Every custom emoji exists, and looks like nothing in particular.
fn custom_emoji(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let ids: Vec<String> = turn
        .list("custom_emoji_ids")
        .ok_or_else(|| Refusal::bad_request("can't parse custom emoji identifiers JSON object"))?;
    let shown = |id: &String| {
        json!({
            "file_id": format!("CAACemoji{id}"), "file_unique_id": format!("AQADemoji{id}"), "type": "custom_emoji",
            "width": 100, "height": 100, "is_animated": false, "is_video": false, "custom_emoji_id": id,
        })
    };
    Done::of(&ids.iter().map(shown).collect::<Vec<_>>())
}

/// Changes the set that a sticker is in, at its place there.
fn change(turn: &mut Turn<'_>, change: fn(&mut Vec<Value>, usize, &Turn<'_>)) -> Result<Done, Refusal> {
    let id = turn.required("sticker")?.to_owned();
    let name = turn.noted(EVERYBODY, &format!("sticker/{id}"));
    let name = name.ok_or_else(|| Refusal::bad_request(INVALID))?.as_str().unwrap_or_default().to_owned();
    let mut set = find(turn, &name)?;
    let invalid = || Refusal::bad_request(INVALID);
    let stickers = set["stickers"].as_array_mut().ok_or_else(invalid)?;
    let at = stickers.iter().position(|sticker| sticker["file_id"] == id.as_str()).ok_or_else(invalid)?;
    change(stickers, at, turn);
    keep(turn, &name, &set);
    Done::yes()
}

fn reposition(stickers: &mut Vec<Value>, at: usize, turn: &Turn<'_>) {
    let sticker = stickers.remove(at);
    let to = turn.call.params.clamped("position", 0..=stickers.len() as i64, 0) as usize;
    stickers.insert(to, sticker);
}

fn set_emoji(sticker: &mut Value, turn: &Turn<'_>) {
    if let Some(first) = turn.list::<String>("emoji_list").and_then(|list| list.into_iter().next()) {
        sticker["emoji"] = json!(first);
    }
}

fn set_mask(sticker: &mut Value, turn: &Turn<'_>) {
    sticker["mask_position"] = turn.value("mask_position").unwrap_or_default();
}
