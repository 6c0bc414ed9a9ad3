//! The framing of a form: fed with bytes as they come, it tells of parts as they begin, go on and end.
//!
//! Ours because the reader must stay in charge: the usual crate reads ahead of its user until the socket is
//! dry, and a slow upload would not be felt by who sends it.

/// What was found in the bytes fed so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// A part begins; these are the lines of its head.
    Head(&'a [u8]),
    /// The next bytes of its content.
    Data(&'a [u8]),
    /// It is over.
    End,
}

/// The bytes are no form of this boundary.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// A form as far as it has come.
#[derive(Debug)]
pub(super) struct Multipart {
    /// `\r\n--boundary`
    delimiter: Vec<u8>,
    buffer: Vec<u8>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Preamble,
    /// Right after a delimiter.
    Between,
    Head,
    Data,
    Over,
}

/// The server takes heads of this size at most.
const LONGEST_HEAD: usize = 16 << 10;

impl Multipart {
    pub(super) fn new(boundary: &str) -> Self {
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        // The first delimiter stands at the very start, without a line before it.
        Self { delimiter, buffer: b"\r\n".to_vec(), state: State::Preamble }
    }

    /// Takes more bytes and tells what they complete.
    pub(super) fn feed(&mut self, bytes: &[u8], mut tell: impl FnMut(Event<'_>)) -> Result<(), Malformed> {
        self.buffer.extend_from_slice(bytes);
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = buffer.as_slice();
        while let Some(taken) = self.step(rest, &mut tell)? {
            rest = &rest[taken..];
        }
        self.buffer = rest.to_vec();
        Ok(())
    }

    /// True when not a byte has come.
    pub(super) fn is_untouched(&self) -> bool {
        self.state == State::Preamble && self.buffer == b"\r\n"
    }

    /// True when the closing delimiter has come.
    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Does one thing with the bytes at hand and says how many that used; `None`: more are needed.
    fn step(&mut self, bytes: &[u8], tell: &mut impl FnMut(Event<'_>)) -> Result<Option<usize>, Malformed> {
        match self.state {
            State::Preamble => Ok(self.until_delimiter(bytes, &mut |_| ())),
            State::Data => {
                let taken = self.until_delimiter(bytes, &mut |data| tell(Event::Data(data)));
                if self.state == State::Between {
                    tell(Event::End);
                }
                Ok(taken)
            }
            State::Between => self.after_delimiter(bytes),
            State::Head => self.head(bytes, tell),
            State::Over => Ok((!bytes.is_empty()).then_some(bytes.len())),
        }
    }

    fn until_delimiter(&mut self, bytes: &[u8], tell: &mut impl FnMut(&[u8])) -> Option<usize> {
        if let Some(at) = find(bytes, &self.delimiter) {
            tell_unless_empty(&bytes[..at], tell);
            self.state = State::Between;
            return Some(at + self.delimiter.len());
        }
        // What may be the beginning of a delimiter stays until it is known.
        let sure = bytes.len().saturating_sub(self.delimiter.len() - 1);
        tell_unless_empty(&bytes[..sure], tell);
        (sure > 0).then_some(sure)
    }

    fn after_delimiter(&mut self, bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        let padding = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match bytes.get(padding..padding + 2) {
            None => Ok(None),
            Some(b"--") => {
                self.state = State::Over;
                Ok(Some(padding + 2))
            }
            // The line end stays: a head without any line is then `\r\n\r\n` like any other.
            Some(b"\r\n") => {
                self.state = State::Head;
                Ok(Some(padding))
            }
            Some(_) => Err(Malformed),
        }
    }

    fn head(&mut self, bytes: &[u8], tell: &mut impl FnMut(Event<'_>)) -> Result<Option<usize>, Malformed> {
        match find(bytes, b"\r\n\r\n") {
            Some(at) if at <= LONGEST_HEAD => {
                tell(Event::Head(&bytes[..at]));
                self.state = State::Data;
                Ok(Some(at + 4))
            }
            None if bytes.len() <= LONGEST_HEAD => Ok(None),
            Some(_) | None => Err(Malformed),
        }
    }
}

fn tell_unless_empty(data: &[u8], tell: &mut impl FnMut(&[u8])) {
    if !data.is_empty() {
        tell(data);
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| *byte == wanted[0])?;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default, PartialEq, Clone)]
    struct Part {
        head: String,
        data: Vec<u8>,
        ended: bool,
    }

    fn parts(pieces: &[&[u8]]) -> Result<(Vec<Part>, bool), Malformed> {
        let mut form = Multipart::new("xx");
        let mut parts: Vec<Part> = Vec::new();
        for piece in pieces {
            form.feed(piece, |event| match event {
                Event::Head(head) => {
                    parts.push(Part { head: String::from_utf8_lossy(head).into_owned(), ..Part::default() });
                }
                Event::Data(data) => parts.last_mut().unwrap().data.extend_from_slice(data),
                Event::End => parts.last_mut().unwrap().ended = true,
            })?;
        }
        Ok((parts, form.is_over()))
    }

    const TWO: &[u8] = b"--xx\r\nA: 1\r\n\r\none\r\n--x\r\n--xx\r\n\r\n\r\n--xx--\r\nepilogue";

    fn two() -> Vec<Part> {
        let first = Part { head: "\r\nA: 1".to_owned(), data: b"one\r\n--x".to_vec(), ended: true };
        vec![first, Part { ended: true, ..Part::default() }]
    }

    #[test]
    fn parts_are_told_with_their_heads_and_bytes() {
        assert_eq!(parts(&[TWO]), Ok((two(), true)));
    }

    #[test]
    fn a_form_that_breaks_off_is_not_over() {
        let (parts, over) = parts(&[&TWO[..20]]).unwrap();
        assert!(!over && !parts[0].ended);
    }

    #[test]
    fn what_follows_a_delimiter_is_a_line_end_or_two_dashes() {
        assert_eq!(parts(&[b"--xxyy\r\n"]), Err(Malformed));
        assert!(parts(&[b"--xx \t\r\n\r\n"]).is_ok());
    }

    #[test]
    fn an_endless_head_is_malformed() {
        assert_eq!(parts(&[b"--xx\r\n", &vec![b'a'; LONGEST_HEAD + 1]]), Err(Malformed));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_packets_end(cuts in prop::collection::vec(0..TWO.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let ends = cuts.iter().copied().chain([TWO.len()]);
            let starts = [0].into_iter().chain(cuts.iter().copied());
            let pieces: Vec<&[u8]> = starts.zip(ends).map(|(from, to)| &TWO[from..to]).collect();
            prop_assert_eq!(parts(&pieces), Ok((two(), true)));
        }

        #[test]
        fn no_bytes_bring_it_down(bytes in prop::collection::vec(prop_oneof![Just(b'-'), Just(b'x'), Just(b'\r'), Just(b'\n'), any::<u8>()], 0..400)) {
            drop(parts(&[&bytes]));
        }
    }
}
