//! The photo that every user has: one picture in the three sizes that Telegram offers, different in its bytes
//! for every user, of a realistic weight.
//!
//! The picture is ours. Each user's bytes differ by a JPEG comment that holds the id, so that every decoder
//! takes them and caches by content tell users apart.

use bytes::Bytes;

/// The side of the square, as Telegram scales profile photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Small,
    Middle,
    Large,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::Small, Self::Middle, Self::Large];

    pub(crate) fn pixels(self) -> u32 {
        match self {
            Self::Small => 160,
            Self::Middle => 320,
            Self::Large => 640,
        }
    }

    pub(crate) fn of(pixels: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.pixels().to_string() == pixels)
    }

    fn picture(self) -> &'static [u8] {
        match self {
            Self::Small => include_bytes!("avatar-160.jpg"),
            Self::Middle => include_bytes!("avatar-320.jpg"),
            Self::Large => include_bytes!("avatar-640.jpg"),
        }
    }
}

/// A user's photo.
pub(crate) fn bytes(user: i64, side: Side) -> Bytes {
    let (start_of_image, rest) = side.picture().split_at(2);
    let comment = user.to_be_bytes();
    // A comment segment: its marker, its length with the length itself, its bytes.
    let head = [&[0xFF, 0xFE, 0, 10][..], &comment].concat();
    [start_of_image, &head, rest].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_user_has_bytes_of_its_own_and_always_the_same() {
        assert_eq!(bytes(1, Side::Large), bytes(1, Side::Large));
        assert_ne!(bytes(1, Side::Large), bytes(2, Side::Large));
        assert_eq!(&bytes(1, Side::Small)[..4], [0xFF, 0xD8, 0xFF, 0xFE]);
    }
}
