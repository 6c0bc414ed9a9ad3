//! Photos are looked into: their sides are told, and what is no photo is refused.

use serde_json::json;

use crate::client::{Client, free, stub};
use crate::files::send;

/// The head of a PNG, which is all that anyone looks at here.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let (width, height) = (width.to_be_bytes(), height.to_be_bytes());
    [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", &width[..], &height[..], &[8, 6, 0, 0, 0]].concat()
}

#[test]
fn a_photo_and_a_sticker_tell_the_sides_of_their_picture() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut sent = |method: &str, field: &str, width, height| {
        send(&mut client, method, &[("chat_id", "5")], (field, &png(width, height))).json()["result"][field].clone()
    };
    let photo = sent("sendPhoto", "photo", 800, 600);
    let whole = photo.as_array().and_then(|sizes| sizes.last()).unwrap();
    assert_eq!((&whole["width"], &whole["height"]), (&json!(800), &json!(600)));
    let sticker = sent("sendSticker", "sticker", 512, 380);
    assert_eq!((&sticker["width"], &sticker["height"]), (&json!(512), &json!(380)));
    let again = client.result("sendPhoto", &json!({ "chat_id": 6, "photo": whole["file_id"] }));
    assert_eq!(again["photo"], photo, "and by its id too");
}

#[test]
fn what_is_no_picture_and_one_too_large_or_too_long_is_no_photo() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut says = |bytes: &[u8]| {
        let answer = send(&mut client, "sendPhoto", &[("chat_id", "5")], ("photo", bytes)).json();
        answer["description"].as_str().map(str::to_owned)
    };
    assert_eq!(says(b"no picture"), Some("Bad Request: IMAGE_PROCESS_FAILED".to_owned()));
    assert_eq!((says(&png(5000, 5000)), says(&png(400, 20))), (None, None));
    let dimensions = Some("Bad Request: PHOTO_INVALID_DIMENSIONS".to_owned());
    assert_eq!((says(&png(5001, 5000)), says(&png(401, 20))), (dimensions.clone(), dimensions));
    let document = send(&mut client, "sendDocument", &[("chat_id", "5")], ("document", b"no picture"));
    assert_eq!(document.status, 200, "a document may hold anything");
}
