//! A request's body as it comes in, in whichever encoding its Content-Type names. No clock, no socket.
//!
//! Types are matched by substring and in any case, as the server matches them
//! (<https://github.com/tdlib/td>, `HttpReader.cpp`). An empty body is no fault under any of them.

use sha2::{Digest, Sha256};

use super::disposition::{self, PartHead};
use super::kept::{Keeping, Kept};
use super::multipart::{Event, Multipart};
use super::{FilePart, Params, json};

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Undecodable {
    /// A form whose framing is wrong, or that broke off.
    #[error("the body is malformed")]
    Malformed,
    /// More than the server takes.
    #[error("the body is too large")]
    TooLarge,
}

/// The server takes 1 MiB of parameters in one call (`HttpReader.h`).
const MOST_PARAMETERS: usize = 1 << 20;
/// And this many files.
const MOST_FILES: usize = 50;
/// A boundary is at most this long (RFC 2046, section 5.1.1; `HttpReader.cpp` holds to it).
const LONGEST_BOUNDARY: usize = 70;
/// The largest file that a bot may upload (<https://core.telegram.org/bots/api#sending-files>).
const LARGEST_FILE: u64 = 50 << 20;
/// A larger file cannot be downloaded again by getFile, so there is no use in keeping it.
const MOST_KEPT: usize = 20 << 20;

/// A body on its way in.
#[derive(Debug)]
pub(crate) struct Decoder {
    params: Params,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Urlencoded(Vec<u8>),
    Json(Vec<u8>),
    Form(Box<(Multipart, Parts)>),
    /// A form whose type names no boundary that may be one.
    Unframed,
    /// Any other type: the body is a file named `file`.
    File(Option<Box<Incoming>>, Keeping),
}

#[derive(Debug)]
struct Parts {
    keeping: Keeping,
    open: Option<Part>,
    text_bytes: usize,
    too_large: bool,
}

#[derive(Debug)]
enum Part {
    Text { head: PartHead, value: Vec<u8> },
    File(Box<Incoming>),
}

#[derive(Debug)]
struct Incoming {
    head: PartHead,
    digest: Sha256,
    size: u64,
    kept: Kept,
}

impl Decoder {
    /// Starts with the parameters of the query.
    pub(crate) fn new(query: Option<&str>, content_type: Option<&str>, keeping: &Keeping) -> Self {
        let mut params = Params::default();
        if let Some(query) = query {
            params.push_urlencoded(query.as_bytes());
        }
        Self { params, body: Body::of(content_type.unwrap_or_default(), keeping) }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), Undecodable> {
        match &mut self.body {
            Body::Urlencoded(body) | Body::Json(body) => {
                body.extend_from_slice(bytes);
                if body.len() > MOST_PARAMETERS { Err(Undecodable::TooLarge) } else { Ok(()) }
            }
            Body::Form(form) => {
                let (form, parts) = &mut **form;
                let params = &mut self.params;
                form.feed(bytes, |event| parts.take(event, params)).map_err(|_| Undecodable::Malformed)?;
                if parts.too_large { Err(Undecodable::TooLarge) } else { Ok(()) }
            }
            Body::Unframed if bytes.is_empty() => Ok(()),
            Body::Unframed => Err(Undecodable::Malformed),
            Body::File(file, keeping) => {
                let file = file.get_or_insert_with(|| Box::new(Incoming::begin(PartHead::unnamed(), keeping)));
                if file.extend(bytes) { Ok(()) } else { Err(Undecodable::TooLarge) }
            }
        }
    }

    /// True once a file has begun: the call is an upload.
    pub(crate) fn has_file(&self) -> bool {
        match &self.body {
            Body::Urlencoded(_) | Body::Json(_) | Body::Unframed => false,
            Body::Form(form) => !self.params.files.is_empty() || matches!(form.1.open, Some(Part::File(_))),
            Body::File(file, _) => file.is_some(),
        }
    }

    /// The parameters, when the body has ended.
    pub(crate) fn finish(self) -> Result<Params, Undecodable> {
        let mut params = self.params;
        match self.body {
            Body::Urlencoded(body) => params.push_urlencoded(&body),
            Body::Json(body) => json::read(&body, &mut params),
            Body::Form(form) if form.0.is_over() || form.0.is_untouched() => {}
            Body::Unframed => {}
            Body::Form(_) => return Err(Undecodable::Malformed),
            Body::File(file, _) => params.files.extend(file.map(|file| file.finish())),
        }
        Ok(params)
    }
}

impl Body {
    fn of(content_type: &str, keeping: &Keeping) -> Self {
        let lower = content_type.to_ascii_lowercase();
        if lower.contains("multipart/form-data") {
            let boundary = boundary_of(content_type);
            if !(1..=LONGEST_BOUNDARY).contains(&boundary.len()) {
                return Self::Unframed;
            }
            let parts = Parts { keeping: keeping.clone(), open: None, text_bytes: 0, too_large: false };
            return Self::Form(Box::new((Multipart::new(boundary), parts)));
        }
        if lower.contains("application/json") {
            return Self::Json(Vec::new());
        }
        if lower.is_empty() || lower.contains("application/x-www-form-urlencoded") {
            return Self::Urlencoded(Vec::new());
        }
        Self::File(None, keeping.clone())
    }
}

/// The boundary keeps its case, whatever case its name is in.
fn boundary_of(content_type: &str) -> &str {
    let at =
        content_type.to_ascii_lowercase().find("boundary=").map_or(content_type.len(), |at| at + "boundary=".len());
    let value = &content_type[at..];
    match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => value.split(';').next().unwrap_or_default().trim(),
    }
}

impl Parts {
    fn take(&mut self, event: Event<'_>, params: &mut Params) {
        match event {
            Event::Head(head) => self.begin(disposition::read(head), params),
            Event::Data(data) => self.extend(data),
            Event::End => self.end(params),
        }
    }

    fn begin(&mut self, head: PartHead, params: &Params) {
        self.open = Some(if head.filename.is_none() {
            Part::Text { head, value: Vec::new() }
        } else {
            self.too_large |= params.files.len() >= MOST_FILES;
            Part::File(Box::new(Incoming::begin(head, &self.keeping)))
        });
    }

    fn extend(&mut self, data: &[u8]) {
        match &mut self.open {
            Some(Part::Text { value, .. }) => {
                self.text_bytes += data.len();
                self.too_large |= self.text_bytes > MOST_PARAMETERS;
                if !self.too_large {
                    value.extend_from_slice(data);
                }
            }
            Some(Part::File(file)) => self.too_large |= !file.extend(data),
            None => {}
        }
    }

    fn end(&mut self, params: &mut Params) {
        match self.open.take() {
            Some(Part::Text { head, value }) if head.is_urlencoded() => params.push_urlencoded(&value),
            Some(Part::Text { head, value }) => {
                params.has_broken_text |= std::str::from_utf8(&value).is_err();
                params.push_text(head.name, String::from_utf8_lossy(&value));
            }
            Some(Part::File(file)) => params.files.push(file.finish()),
            None => {}
        }
    }
}

impl PartHead {
    fn unnamed() -> Self {
        Self { name: "file".to_owned(), filename: Some(String::new()), mime: None }
    }

    fn is_urlencoded(&self) -> bool {
        self.mime.as_ref().is_some_and(|mime| mime.to_ascii_lowercase().contains("application/x-www-form-urlencoded"))
    }
}

impl Incoming {
    fn begin(head: PartHead, keeping: &Keeping) -> Self {
        Self { head, digest: Sha256::new(), size: 0, kept: keeping.begin() }
    }

    /// False when it has grown too large.
    fn extend(&mut self, data: &[u8]) -> bool {
        self.size += data.len() as u64;
        self.digest.update(data);
        self.kept.extend(data, MOST_KEPT);
        self.size <= LARGEST_FILE
    }

    fn finish(self) -> FilePart {
        FilePart {
            field: self.head.name,
            name: self.head.filename.unwrap_or_default(),
            mime: self.head.mime,
            size: self.size,
            digest: self.digest.finalize().into(),
            bytes: self.kept.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(query: Option<&str>, content_type: Option<&str>, body: &[u8]) -> Result<Params, Undecodable> {
        let mut decoder = Decoder::new(query, content_type, &Keeping::bounded(1 << 20));
        decoder.feed(body)?;
        decoder.finish()
    }

    const FORM: &str = "Multipart/Form-Data; Boundary=\"xY\"";

    #[test]
    fn query_and_body_go_together_and_the_query_wins() {
        let params = decode(Some("a=1&b=2"), Some("application/json"), br#"{"b":3,"c":4}"#).unwrap();
        assert_eq!((params.text("a"), params.text("b"), params.text("c")), (Some("1"), Some("2"), Some("4")));
    }

    #[test]
    fn an_empty_body_is_no_fault_under_any_type() {
        for content_type in [None, Some("application/json"), Some(FORM), Some("text/plain")] {
            assert!(decode(None, content_type, b"").is_ok(), "{content_type:?}");
        }
    }

    #[test]
    fn a_form_gives_texts_and_files() {
        let body = b"--xY\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n\
            --xY\r\ncontent-disposition:form-data;name=\"f\";filename=a b.png\r\ncontent-type:image/png\r\n\r\nPNG\r\n--xY--\r\n";
        let params = decode(None, Some(FORM), body).unwrap();
        let file = params.file("f").unwrap();
        assert_eq!(params.text("chat_id"), Some("5"));
        assert_eq!((file.name.as_str(), file.size, file.bytes.as_deref()), ("a b.png", 3, Some(&b"PNG"[..])));
        assert_eq!(file.digest, <[u8; 32]>::from(Sha256::digest(b"PNG")));
    }

    #[test]
    fn a_form_cut_short_is_malformed() {
        let body = b"--xY\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n--x";
        assert_eq!(decode(None, Some(FORM), body).unwrap_err(), Undecodable::Malformed);
    }

    #[test]
    fn a_form_without_a_boundary_or_with_one_too_long_is_malformed_unless_it_is_empty() {
        let form = |boundary: &str| format!("multipart/form-data; boundary={boundary}");
        let body = |boundary: &str| format!("--{boundary}--\r\n");
        let (most, more) = ("b".repeat(70), "b".repeat(71));
        assert!(decode(None, Some(&form(&most)), body(&most).as_bytes()).is_ok());
        for kind in [form(&more), form(""), "multipart/form-data".to_owned()] {
            assert_eq!(
                decode(None, Some(&kind), body(&more).as_bytes()).unwrap_err(),
                Undecodable::Malformed,
                "{kind}"
            );
            assert!(decode(None, Some(&kind), b"").is_ok(), "{kind}");
        }
        assert_eq!(decode(None, Some(FORM), b"no form").unwrap_err(), Undecodable::Malformed);
    }

    #[test]
    fn a_body_of_another_type_is_a_file() {
        let params = decode(Some("chat_id=1"), Some("image/png"), b"PNG").unwrap();
        assert_eq!(params.file("file").unwrap().size, 3);
    }

    #[test]
    fn parameters_over_a_mebibyte_are_too_large() {
        let most = vec![b'a'; MOST_PARAMETERS];
        assert!(decode(None, None, &most).is_ok());
        assert_eq!(decode(None, None, &[&most[..], b"a"].concat()).unwrap_err(), Undecodable::TooLarge);
    }

    #[test]
    fn a_file_over_the_limit_is_too_large() {
        let mut decoder = Decoder::new(None, Some("image/png"), &Keeping::bounded(0));
        decoder.feed(&vec![0; LARGEST_FILE as usize]).unwrap();
        assert_eq!(decoder.feed(&[0]), Err(Undecodable::TooLarge));
    }
}
