//! How large a picture is, read from the head of its bytes. Nothing is decoded.

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sides {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Width and height of a photo together are at most this (<https://core.telegram.org/bots/api#sendphoto>).
const MOST_TOGETHER: u64 = 10_000;
/// And one is at most so many times the other.
const MOST_APART: u64 = 20;

/// The sides of a BMP, GIF, JPEG, PNG, TIFF or WebP; `None` for any other bytes.
pub(super) fn sides(bytes: &[u8]) -> Option<Sides> {
    let size = imagesize::blob_size(bytes).ok()?;
    Some(Sides { width: u32::try_from(size.width).ok()?, height: u32::try_from(size.height).ok()? })
}

impl Sides {
    pub(super) fn longer(self) -> u32 {
        self.width.max(self.height)
    }

    /// Those of the same picture, its longer side at most so long.
    pub(super) fn within(self, longer: u32) -> Self {
        let whole = u64::from(self.longer().max(1));
        let fit = |side: u32| (u64::from(side) * u64::from(longer.min(self.longer())) / whole).max(1) as u32;
        Self { width: fit(self.width), height: fit(self.height) }
    }

    /// Whether a photo may have them.
    pub(crate) fn fit_a_photo(self) -> bool {
        let (width, height) = (u64::from(self.width), u64::from(self.height));
        let (short, long) = (width.min(height), width.max(height));
        short > 0 && short + long <= MOST_TOGETHER && long <= MOST_APART * short
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::avatar::{self, Side};

    fn fit(width: u32, height: u32) -> bool {
        Sides { width, height }.fit_a_photo()
    }

    #[test]
    fn a_picture_tells_its_sides_and_other_bytes_have_none() {
        let photo = avatar::bytes(7, Side::Middle);
        assert_eq!(sides(&photo), Some(Sides { width: 320, height: 320 }));
        assert_eq!((sides(b"no picture at all"), sides(&photo[..3]), sides(b"")), (None, None, None));
    }

    #[test]
    fn a_smaller_picture_keeps_its_shape_and_at_least_a_pixel() {
        let within = |width, height, longer| {
            let Sides { width, height } = Sides { width, height }.within(longer);
            (width, height)
        };
        assert_eq!((within(640, 480, 320), within(480, 640, 90)), ((320, 240), (67, 90)));
        assert_eq!((within(200, 10, 10), within(64, 48, 90), within(0, 0, 90)), ((10, 1), (64, 48), (1, 1)));
    }

    #[test]
    fn the_sides_of_a_photo_add_up_to_10000_and_are_20_to_1_at_most() {
        assert!(fit(5000, 5000) && !fit(5001, 5000));
        assert!(fit(400, 20) && !fit(401, 20) && fit(20, 400) && !fit(20, 401));
        assert!(!fit(0, 10));
    }
}
