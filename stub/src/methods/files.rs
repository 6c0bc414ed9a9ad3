//! Finding files again: getFile and the photos of users.

use serde_json::json;

use super::{Methods, Turn};
use crate::answer::{Done, Refusal};
use crate::world::{FileId, FileObject, Side};

pub(super) const METHODS: Methods = &[("getFile", get_file), ("getUserProfilePhotos", get_user_profile_photos)];

/// A bot may download files up to this size (<https://core.telegram.org/bots/api#getfile>).
const LARGEST_DOWNLOAD: u64 = 20 << 20;

fn get_file(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let text = turn.call.params.given("file_id").ok_or_else(|| Refusal::bad_request("file_id not specified"))?;
    let invalid = || Refusal::bad_request("invalid file_id");
    let file = FileId::read(text, turn.call.bot).ok_or_else(invalid)?;
    let files = &mut turn.telegram.world.files;
    let record = files.find(file).ok_or_else(invalid)?;
    if record.size > LARGEST_DOWNLOAD {
        return Err(Refusal::bad_request("file is too big"));
    }
    let path = files.path(file).ok_or_else(invalid)?;
    Done::of(&FileObject::at(file, record.size, path))
}

/// Every user has exactly one photo; a bot may have set its own.
fn get_user_profile_photos(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let params = &turn.call.params;
    let user = params.integer("user_id").filter(|id| *id > 0);
    let user = user.ok_or_else(|| Refusal::bad_request("invalid user_id specified"))?;
    let is_past = params.integer("offset").unwrap_or(0) > 0;
    let own = turn.noted(user, "photo").map(|photo| json!([photo]));
    let sizes = own.unwrap_or_else(|| json!(Side::ALL.map(|side| FileObject::avatar(user, side))));
    let photos = if is_past { json!([]) } else { json!([sizes]) };
    Done::of(&json!({ "total_count": 1, "photos": photos }))
}
