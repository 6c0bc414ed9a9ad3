//! Any bytes over real sockets, for as long as one likes: every encoding, chunked and packed, cut short and spoilt.
//! The stub has to go on answering others, and must not grow.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::client::{Connection, address_of, request, rss_mib, stub};
use crate::row::Row;

/// How long it takes when nobody says.
const USUAL_SECONDS: u64 = 30;
/// An answer, or an end, has to come by then.
const PATIENCE: Duration = Duration::from_secs(20);

/// No getUpdates: the stub makes one that spins wait for seconds.
const METHODS: &[&str] = &[
    "sendMessage",
    "SENDPHOTO",
    "sendMediaGroup",
    "editMessageText",
    "getWebhookInfo",
    "setMyCommands",
    "answerInlineQuery",
    "sendPoll",
    "setWebhook",
    "getFile",
    "",
    "test/getMe",
    "no%20such",
    "createNewStickerSet",
    "sendRichMessage",
];
const TYPES: &[&str] =
    &["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "image/png", ""];
const PIECES: &[&[u8]] = &[
    b"chat_id=5&text=a+b&parse_mode=HTML",
    br#"{"chat_id":5,"text":"<b>a\u00e9","parse_mode":"HTML","media":[{"type":"photo","media":"attach://f"}]}"#,
    br#"{"chat_id":-7,"text":"_a*[x](","parse_mode":"MarkdownV2","offset":-1,"results":"[[[[[[","#,
    b"--b\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n",
    b"--b\r\ncontent-disposition:form-data;name=\"f\";filename=\xc3\xa9 x.png\r\n\r\n\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
    b"--b--\r\n",
    b"\xff\xfe\0\xd8",
    b"\r\n\r\n",
];

pub(crate) fn measure() -> Vec<Row> {
    let seconds = std::env::args().nth(2).map_or(USUAL_SECONDS, |told| told.parse().expect("a number of seconds"));
    let seed = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    println!("{seconds} s of any bytes, drawn from the seed {seed}");
    throw(Duration::from_secs(seconds), seed)
}

#[expect(clippy::disallowed_methods, reason = "an edge that measures")]
fn throw(length: Duration, seed: u64) -> Vec<Row> {
    let stub = stub();
    let address = address_of(&stub);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bystander = Connection::to(&address);
    let (begun, mut thrown, mut early) = (Instant::now(), 0_u32, rss_mib());
    while begun.elapsed() < length {
        throw_one(&address, &mut random);
        thrown += 1;
        bystander.write(&request(1, "getMe", "{}"));
        assert_eq!(bystander.status(), 200, "a bystander is answered");
        if begun.elapsed() < length / 2 {
            early = rss_mib();
        }
    }
    let row = |what: &str, figure, unit, most| Row { what: what.to_owned(), figure, unit, most };
    vec![
        row("requests of any bytes, each of which ended", f64::from(thrown), "", None),
        row("what the second half of them added to the RSS", rss_mib() - early, "MiB", Some(32.0)),
    ]
}

/// One request, and all that comes of it: an answer or an end.
fn throw_one(address: &str, random: &mut ChaCha8Rng) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The stub may have had enough before all of it was sent.
    drop(stream.write_all(&bytes(random)));
    drop(stream.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{answer:?}"),
        // Closed over what it had not read: an end as well. A time-out is none.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
    }
}

fn bytes(random: &mut ChaCha8Rng) -> Vec<u8> {
    let pieces = (0..random.random_range(0..8)).map(|_| *PIECES.choose(random).unwrap());
    let mut body = pieces.collect::<Vec<_>>().concat();
    let mut heads = format!("Content-Type: {}\r\n", TYPES.choose(random).unwrap());
    if random.random_bool(0.2) {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(&body).unwrap();
        body = packer.finish().unwrap();
        heads += "Content-Encoding: gzip\r\n";
    }
    if random.random_bool(0.3) {
        heads += "Transfer-Encoding: chunked\r\n";
        body = chunked(&body, random);
    } else {
        heads.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    let method = METHODS.choose(random).unwrap();
    let head =
        format!("POST /bot{}:a/{method}?timeout=0 HTTP/1.1\r\nHost: stub\r\n{heads}\r\n", random.random_range(1..9));
    harmed([head.as_bytes(), &body].concat(), random)
}

fn chunked(body: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let chunk = |chunk: &[u8]| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
    let chunks: Vec<Vec<u8>> = body.chunks(random.random_range(1..200)).map(chunk).collect();
    [chunks.concat(), b"0\r\n\r\n".to_vec()].concat()
}

fn harmed(mut bytes: Vec<u8>, random: &mut ChaCha8Rng) -> Vec<u8> {
    if random.random_bool(0.3) {
        let at = random.random_range(0..bytes.len());
        bytes[at] = random.random();
    }
    if random.random_bool(0.3) {
        bytes.truncate(random.random_range(0..bytes.len()));
    }
    bytes
}
