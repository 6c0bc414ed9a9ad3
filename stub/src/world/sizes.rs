//! The sizes in which a photo is shown, smallest first. Nothing is scaled: the smaller ones are named and measured as
//! Telegram's are, and have the bytes of the whole.

use serde::{Serialize, Serializer};

use super::files::{FileId, Media};
use super::picture::Sides;

/// The longer side of the boxes `s`, `m`, `x` and `y` that a photo is fitted into
/// (<https://core.telegram.org/api/files#image-thumbnail-types>; the first is 90 wide, as bots see it).
const BOXES: [u32; 4] = [90, 320, 800, 1280];

/// One of them, as the Bot API shows it.
#[derive(Debug, Serialize)]
struct PhotoSize {
    file_id: String,
    file_unique_id: String,
    file_size: u64,
    width: u32,
    height: u32,
}

/// All sizes of a photo.
pub(super) struct Sizes<'a>(pub(super) &'a Media, pub(super) Sides);

impl Serialize for Sizes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(media, whole) = self;
        let smaller = BOXES.iter().filter(|side| **side < whole.longer());
        let smaller = smaller.filter_map(|side| Some((media.file.scaled(*side)?, whole.within(*side))));
        let sizes = smaller.chain([(media.file, *whole)]);
        to.collect_seq(sizes.map(|(file, sides)| PhotoSize::of(file, media.record.size, sides)))
    }
}

impl PhotoSize {
    fn of(file: FileId, file_size: u64, Sides { width, height }: Sides) -> Self {
        Self { file_id: file.text(), file_unique_id: file.unique(), file_size, width, height }
    }
}
