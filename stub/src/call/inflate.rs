//! Compressed bodies, unpacked as they come and a little at a time, so that a small body cannot become a huge
//! one unseen.

use std::io::{self, Write};

use flate2::write::{MultiGzDecoder, ZlibDecoder};

use super::Undecodable;

/// How a body is packed.
#[derive(Debug)]
pub(crate) enum Inflate {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

/// An encoding that the server does not take either.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unsupported;

/// So much is unpacked before anyone looks at how much it has become.
const BITE: usize = 1 << 10;

impl Inflate {
    /// By the Content-Encoding.
    pub(crate) fn of(encoding: Option<&str>) -> Result<Self, Unsupported> {
        match encoding.map(|name| name.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Ok(Self::Plain),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))),
            Some("deflate") => Ok(Self::Deflate(Box::new(ZlibDecoder::new(Vec::new())))),
            Some(_) => Err(Unsupported),
        }
    }

    /// Unpacks what came and hands it on.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        mut on: impl FnMut(&[u8]) -> Result<(), Undecodable>,
    ) -> Result<(), Undecodable> {
        if matches!(self, Self::Plain) {
            return on(bytes);
        }
        for bite in bytes.chunks(BITE) {
            on(&self.unpack(bite).map_err(|_| Undecodable::Malformed)?)?;
        }
        Ok(())
    }

    fn unpack(&mut self, bite: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain => Ok(bite.to_vec()),
            Self::Gzip(decoder) => {
                decoder.write_all(bite)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Deflate(decoder) => {
                decoder.write_all(bite)?;
                decoder.flush()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn unpacked(encoding: &str, bytes: &[u8], piece: usize) -> Result<Vec<u8>, Undecodable> {
        let mut inflate = Inflate::of(Some(encoding)).unwrap();
        let mut all = Vec::new();
        for piece in bytes.chunks(piece) {
            inflate.feed(piece, |more| {
                all.extend_from_slice(more);
                if all.len() > 1 << 20 { Err(Undecodable::TooLarge) } else { Ok(()) }
            })?;
        }
        Ok(all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_packed_body_is_unpacked_wherever_its_packets_end() {
        let text = b"chat_id=5&text=hello".repeat(100);
        for piece in [1, 7, 10_000] {
            assert_eq!(unpacked("GZIP", &gzip(&text), piece).unwrap(), text);
        }
        assert_eq!(unpacked("identity", b"a", 1).unwrap(), b"a");
    }

    #[test]
    fn a_bomb_is_noticed_on_the_way() {
        assert_eq!(unpacked("gzip", &gzip(&vec![0; 64 << 20]), 1 << 20), Err(Undecodable::TooLarge));
    }

    #[test]
    fn other_encodings_are_not_supported_and_garbage_is_malformed() {
        assert!(Inflate::of(Some("br")).is_err());
        assert_eq!(unpacked("gzip", b"no gzip at all", 100), Err(Undecodable::Malformed));
    }
}
