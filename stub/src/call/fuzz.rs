//! Any bytes in any encoding: the decoder ends, in words, whatever came and wherever its packets end.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{Decoder, Inflate, Keeping, Params, Undecodable};

/// What a request says of its body, and the body.
#[derive(Debug, Clone)]
struct Request {
    query: Option<String>,
    content_type: Option<&'static str>,
    encoding: Option<&'static str>,
    body: Vec<u8>,
}

const FORM: &str = "multipart/form-data; boundary=b";
const TYPES: &[Option<&str>] = &[
    None,
    Some("application/x-www-form-urlencoded"),
    Some("application/json"),
    Some(FORM),
    Some("multipart/form-data"),
    Some("image/png"),
];
/// The pieces that bodies are made of; a body of a type is seldom of its form.
const PIECES: &[&[u8]] = &[
    b"chat_id=5&text=a+b",
    b"&%ff=%",
    br#"{"chat_id":5,"text":"a\u00e9","reply_markup":{"a":[1]}"#,
    br#"{"a":"#,
    b"}",
    br#""\ud800""#,
    b"[[[[[[",
    b"\xff\xfe\0",
    b"--b\r\n",
    b"--b--\r\n",
    b"Content-Disposition: form-data; name=\"text\"\r\n\r\n",
    b"content-disposition:form-data;name=f;filename=my \xc3\xa9.png\r\n\r\n",
    b"Content-Type: application/x-www-form-urlencoded\r\n",
    b"\r\n",
    b"123456789",
];

fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn packed(encoding: Option<&str>, body: &[u8]) -> Vec<u8> {
    match encoding {
        Some("gzip") => {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(body).unwrap();
            packer.finish().unwrap()
        }
        Some("deflate") => {
            let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
            packer.write_all(body).unwrap();
            packer.finish().unwrap()
        }
        Some(_) | None => body.to_vec(),
    }
}

/// Packed as it says, then now and then cut short or spoilt in one byte.
fn request() -> impl Strategy<Value = Request> {
    let query = prop::option::of("[a-z=&%+0-9]{0,20}");
    let kinds = (prop::sample::select(TYPES), prop::sample::select(&[None, Some("gzip"), Some("deflate")][..]));
    let harm =
        (prop::option::weighted(0.3, any::<Index>()), prop::option::weighted(0.3, (any::<Index>(), any::<u8>())));
    (query, kinds, body(), harm).prop_map(|(query, (content_type, encoding), body, (cut, spoilt))| {
        let mut body = packed(encoding, &body);
        if let (Some((at, byte)), false) = (spoilt, body.is_empty()) {
            let at = at.index(body.len());
            body[at] = byte;
        }
        if let (Some(cut), false) = (cut, body.is_empty()) {
            body.truncate(cut.index(body.len()));
        }
        Request { query, content_type, encoding, body }
    })
}

fn decode(request: &Request, packets: &[usize]) -> Result<Params, Undecodable> {
    let mut decoder = Decoder::new(request.query.as_deref(), request.content_type, &Keeping::bounded(1 << 20));
    let mut inflate = Inflate::of(request.encoding).expect("all of these are taken");
    let mut rest = request.body.as_slice();
    for length in packets.iter().copied().chain([usize::MAX]) {
        let (packet, after) = rest.split_at(length.min(rest.len()));
        inflate.feed(packet, |plain| decoder.feed(plain))?;
        rest = after;
    }
    decoder.finish()
}

/// Names and texts, and the fields, names and sizes of files.
type Told = (Vec<(String, String)>, Vec<(String, String, u64)>);

fn told(params: Params) -> Told {
    let files = params.files.into_iter().map(|file| (file.field, file.name, file.size));
    (params.texts, files.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_body_in_any_encoding_reads_alike_wherever_its_packets_end(
        request in request(),
        packets in prop::collection::vec(0..30_usize, 0..8),
    ) {
        let whole = decode(&request, &[]).map(told);
        prop_assert_eq!(&decode(&request, &packets).map(told), &whole);
        if let Ok((texts, files)) = whole {
            // What was kept can be no more than what came, unpacked a thousandfold at most.
            let kept: usize = texts.iter().map(|(name, text)| name.len() + text.len()).sum();
            let named: usize = files.iter().map(|(field, name, _)| field.len() + name.len()).sum();
            let given = request.body.len() + request.query.map_or(0, |query| query.len());
            prop_assert!(kept + named <= 1100 * given + 4, "{} of {}", kept + named, given);
        }
    }
}
