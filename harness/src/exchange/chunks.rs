//! The chunked transfer coding (RFC 9112, section 7.1), decoded piece by piece as it arrives. Pure.

use super::answer::Malformed;

/// Where in a chunked body the next byte falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunks {
    /// In the hexadecimal size of a chunk, with what was read of it.
    Size { value: u64, digits: u8 },
    /// In what follows the size on its line, which is ignored.
    Extension { value: u64 },
    /// In a chunk's data, with that many bytes to come.
    Data { left: u64 },
    /// In the line end after a chunk's data.
    DataEnd,
    /// In the trailer, after that many bytes of a line.
    Trailer { line: usize },
    /// After the body.
    Done,
}

/// Sixteen digits are all a 64-bit size can have.
const MOST_DIGITS: u8 = 16;

/// Longer trailer lines come from nothing well meant.
const LONGEST_TRAILER_LINE: usize = 16 * 1024;

impl Chunks {
    /// Before the first chunk.
    pub(super) const START: Self = Self::Size { value: 0, digits: 0 };

    /// Takes bytes from the front of `piece` until the body or the piece ends, handing out the data among them.
    pub(super) fn feed(&mut self, piece: &mut &[u8], mut data: impl FnMut(&[u8])) -> Result<(), Malformed> {
        while let (false, Some((&byte, rest))) = (*self == Self::Done, piece.split_first()) {
            if let Self::Data { left } = *self {
                let (now, later) = piece.split_at(left.min(piece.len() as u64) as usize);
                data(now);
                *piece = later;
                *self = Self::after_data(left - now.len() as u64);
            } else {
                *piece = rest;
                *self = self.step(byte)?;
            }
        }
        Ok(())
    }

    fn after_data(left: u64) -> Self {
        if left == 0 { Self::DataEnd } else { Self::Data { left } }
    }

    /// One byte outside of a chunk's data.
    fn step(self, byte: u8) -> Result<Self, Malformed> {
        match (self, byte) {
            (Self::Size { digits: 0, .. }, b'\r' | b'\n' | b';') => Err(Malformed),
            (Self::Size { value, .. } | Self::Extension { value }, b'\n') => Ok(Self::after_size(value)),
            (Self::Size { value, .. }, b'\r' | b';' | b' ' | b'\t') => Ok(Self::Extension { value }),
            (Self::Size { value, digits }, digit) => Self::digit(value, digits, digit),
            (Self::Extension { .. }, _) | (Self::DataEnd | Self::Trailer { .. }, b'\r') => Ok(self),
            (Self::DataEnd, b'\n') => Ok(Self::START),
            (Self::Trailer { line: 0 }, b'\n') => Ok(Self::Done),
            (Self::Trailer { .. }, b'\n') => Ok(Self::Trailer { line: 0 }),
            (Self::Trailer { line: line @ ..LONGEST_TRAILER_LINE }, _) => Ok(Self::Trailer { line: line + 1 }),
            (Self::DataEnd | Self::Trailer { .. }, _) => Err(Malformed),
            (Self::Data { .. } | Self::Done, _) => unreachable!("`feed` takes data whole and stops when done"),
        }
    }

    fn after_size(value: u64) -> Self {
        if value == 0 { Self::Trailer { line: 0 } } else { Self::Data { left: value } }
    }

    fn digit(value: u64, digits: u8, byte: u8) -> Result<Self, Malformed> {
        let digit = char::from(byte).to_digit(16).ok_or(Malformed)?;
        if digits == MOST_DIGITS {
            return Err(Malformed);
        }
        Ok(Self::Size { value: value << 4 | u64::from(digit), digits: digits + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` cut into pieces of `size` bytes; returns the data, the end state and what was left over.
    fn decode(text: &[u8], size: usize) -> Result<(Vec<u8>, Chunks, Vec<u8>), Malformed> {
        let (mut chunks, mut data, mut surplus) = (Chunks::START, Vec::new(), Vec::new());
        for mut piece in text.chunks(size) {
            chunks.feed(&mut piece, |bytes| data.extend_from_slice(bytes))?;
            surplus.extend_from_slice(piece);
        }
        Ok((data, chunks, surplus))
    }

    #[test]
    fn a_body_reads_the_same_however_it_is_cut() {
        let text = b"4\r\nWiki\r\n6;name=value\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n0\r\nExpires: never\r\n\r\n";
        for size in 1..=text.len() {
            let (data, end, surplus) = decode(text, size).unwrap();
            assert_eq!(data, b"Wikipedia in \r\n\r\nchunks.", "cut into {size}");
            assert_eq!((end, surplus.len()), (Chunks::Done, 0), "cut into {size}");
        }
    }

    #[test]
    fn what_follows_the_body_is_left_alone() {
        let (data, end, surplus) = decode(b"1\r\nx\r\n0\r\n\r\nHTTP", 64).unwrap();
        assert_eq!((data.as_slice(), end, surplus.as_slice()), (&b"x"[..], Chunks::Done, &b"HTTP"[..]));
    }

    #[test]
    fn a_size_must_be_hexadecimal_and_fit() {
        assert!(decode(b"ffffffffffffffff\r\n", 64).is_ok());
        for text in [&b"10000000000000000\r\n"[..], b"\r\n", b"g\r\n", b"-1\r\n", b";\r\n"] {
            assert!(decode(text, 64).is_err(), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn data_longer_than_its_size_is_malformed() {
        assert!(decode(b"1\r\nxy\r\n", 64).is_err());
    }
}
