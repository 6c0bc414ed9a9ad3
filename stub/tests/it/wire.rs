//! Wire forms: every encoding that real clients use, and bytes that are none.

use std::io::Write;
use std::net::Shutdown;

use serde_json::json;

use crate::client::{Client, TOKEN, free, stub};
use crate::shape;

/// A form as node-fetch writes it: chunked, lower case, no spaces, the file name raw and unquoted.
fn node_form() -> Vec<u8> {
    let form = "--b\r\ncontent-disposition:form-data;name=\"chat_id\"\r\n\r\n-7\r\n\
        --b\r\ncontent-disposition:form-data;name=\"document\"\r\n\r\nattach://x1\r\n\
        --b\r\ncontent-disposition:form-data;name=\"x1\";filename=my é file.txt\r\ncontent-type:text/plain\r\n\r\nhe\r\nllo\r\n--b--\r\n";
    form.as_bytes().to_vec()
}

fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut wire = Vec::new();
    for chunk in body.chunks(size) {
        wire.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        wire.extend_from_slice(chunk);
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"0\r\n\r\n");
    wire
}

fn head(method: &str, headers: &str) -> String {
    format!("POST /bot{TOKEN}/{method} HTTP/1.1\r\nHost: stub\r\n{headers}\r\n")
}

#[test]
fn a_chunked_form_with_a_raw_unquoted_file_name_is_read() {
    let stub = stub(free());
    for size in [1, 2, 3, 7, 1000] {
        let mut client = Client::of(&stub);
        client.write(head(
            "sendDocument",
            "Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n",
        ));
        client.write(chunked(&node_form(), size));
        let response = client.read();
        assert_eq!(response.status, 200, "{}", response.text());
        let document = &response.json()["result"]["document"];
        assert_eq!((&document["file_name"], &document["file_size"]), (&json!("my é file.txt"), &json!(7)));
    }
}

#[test]
fn line_ends_may_be_split_over_packets() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let form = node_form();
    client.stream.get_ref().set_nodelay(true).unwrap();
    client.write(head(
        "sendDocument",
        &format!("Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n", form.len()),
    ));
    for byte in form {
        client.write([byte]);
    }
    assert_eq!(client.read().json()["result"]["document"]["file_size"], 7);
}

#[test]
fn a_form_cut_short_is_answered_400_without_a_body_and_the_connection_closed() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let form = node_form();
    client.write(head("sendDocument", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 60\r\n"));
    client.write(&form[..60]);
    let response = client.read();
    assert_eq!((response.status, response.body.len()), (400, 0));
    assert!(client.is_closed());
}

#[test]
fn a_body_that_ends_before_its_length_leaves_the_stub_as_it_was() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.write(head("sendDocument", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 6000\r\n"));
    client.write(node_form());
    client.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.read().status, 400);
    assert_eq!(stub.take_interval().by_method.len(), 0);
    Client::of(&stub).result("getMe", &json!({}));
}

#[test]
fn a_second_request_in_the_same_packet_is_answered_after_the_first() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let one = |text: &str| {
        let body = format!("chat_id=5&text={text}");
        let headers = format!("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n", body.len());
        head("sendMessage", &headers) + &body
    };
    client.write(one("first") + &one("second"));
    assert_eq!(client.read().json()["result"]["text"], "first");
    assert_eq!(client.read().json()["result"]["text"], "second");
}

#[test]
fn a_client_that_half_closes_still_gets_its_answer() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.write(head("getMe", "Content-Length: 0\r\n"));
    client.stream.get_ref().shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.read().status, 200);
}

#[test]
fn a_connection_ends_with_the_answer_when_its_client_says_so() {
    let stub = stub(free());
    for (version, says, told) in [("1.1", "close", "close"), ("1.1", "Close, TE", "close"), ("1.0", "x", "close")] {
        let mut client = Client::of(&stub);
        client.write(format!("GET /bot{TOKEN}/getMe HTTP/{version}\r\nHost: stub\r\nConnection: {says}\r\n\r\n"));
        let response = client.read();
        let connection: Vec<&str> =
            response.head.lines().filter_map(|line| line.strip_prefix("Connection: ")).collect();
        assert!(response.status == 200 && client.is_closed(), "{version} {says}");
        assert!(connection.iter().all(|said| *said == told), "{connection:?}");
    }
    let mut client = Client::of(&stub);
    for (version, says) in [("1.0", "keep-alive"), ("1.1", "TE"), ("1.1", "keep-alive")] {
        client.write(format!("GET /bot{TOKEN}/getMe HTTP/{version}\r\nHost: stub\r\nConnection: {says}\r\n\r\n"));
        assert!(client.read().has_header("Connection: keep-alive"), "{version} {says}");
    }
}

#[test]
fn the_first_of_a_name_wins_and_the_query_comes_before_the_body() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let form = "application/x-www-form-urlencoded";
    let body = "text=second&chat_id=5&text=third";
    assert_eq!(client.post("sendMessage", form, body).json()["result"]["text"], "second");
    assert_eq!(client.post("sendMessage?text=first", form, body).json()["result"]["text"], "first");
}

#[test]
fn all_encodings_mean_the_same() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.write(format!("GET /bot{TOKEN}/sendMessage?chat_id=5&text=a%20b HTTP/1.1\r\nHost: stub\r\n\r\n"));
    let mut texts = vec![client.read().json()["result"]["text"].clone()];
    let form = "--b\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\na b\r\n--b--\r\n";
    for (method, kind, body) in [
        ("sendMessage", "application/x-www-form-urlencoded", "chat_id=5&text=a+b"),
        ("SENDMESSAGE", "application/json; charset=utf-8", r#"{"chat_id":5,"text":"a b"}"#),
        ("test/sendMessage?chat_id=5", "multipart/form-data; boundary=b", form),
        ("?method=sendMessage&chat_id=5", "application/json", r#"{"text":"a b"}"#),
    ] {
        texts.push(client.post(method, kind, body).json()["result"]["text"].clone());
    }
    assert_eq!(texts, vec![json!("a b"); 5]);
}

#[test]
fn an_empty_body_is_fine_under_any_type() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for kind in ["application/json", "multipart/form-data; boundary=b", "application/x-www-form-urlencoded"] {
        assert_eq!(client.post("getMe", kind, "").status, 200, "{kind}");
    }
}

#[test]
fn a_packed_body_is_read_and_an_unknown_packing_is_answered_415() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(br#"{"chat_id":5,"text":"packed"}"#).unwrap();
    let body = packer.finish().unwrap();
    let headers = |encoding: &str| {
        let length = body.len();
        format!("Content-Type: application/json\r\nContent-Encoding: {encoding}\r\nContent-Length: {length}\r\n")
    };
    client.write([head("sendMessage", &headers("gzip")).as_bytes(), &body].concat());
    assert_eq!(client.read().json()["result"]["text"], "packed");
    client.write([head("sendMessage", &headers("br")).as_bytes(), &body].concat());
    let response = client.read();
    assert_eq!((response.status, response.body.len()), (415, 0));
}

#[test]
fn a_head_of_200_kib_is_read() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.write(head("getMe", &format!("X-Long: {}\r\nContent-Length: 0\r\n", "a".repeat(200 << 10))));
    assert_eq!(client.read().status, 200);
}

#[test]
fn a_body_over_the_limit_is_answered_413_in_json() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    client.write(head("sendDocument", "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99000000\r\n"));
    let response = client.read();
    assert_eq!(response.status, 413);
    assert_eq!(response.text(), r#"{"ok":false,"error_code":413,"description":"Request Entity Too Large"}"#);
}

#[test]
fn unknown_methods_verbs_paths_and_tokens_are_refused_as_such() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    assert_eq!(client.refusal("sendMesage", &json!({})), "Not Found: method not found");
    let mut get = |path: &str| {
        client.write(format!("GET {path} HTTP/1.1\r\nHost: stub\r\n\r\n"));
        let response = client.read();
        (response.status, response.json()["description"].as_str().unwrap().to_owned())
    };
    assert_eq!(get("/"), (404, "Not Found".to_owned()));
    assert_eq!(get("/bot123/getMe"), (401, "Unauthorized: invalid token specified".to_owned()));
    client.write(format!("PUT /bot{TOKEN}/getMe HTTP/1.1\r\nHost: stub\r\n\r\n"));
    let response = client.read();
    assert_eq!((response.status, response.body.len()), (501, 0));
    assert!(client.is_closed());
}

#[test]
fn a_real_method_that_is_not_modelled_answers_in_its_shape_and_is_counted() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    assert_eq!(client.result("setPassportDataErrors", &json!({ "user_id": 5, "errors": [] })), json!(true));
    let link = client.result("getBusinessConnection", &json!({ "business_connection_id": "x" }));
    assert_eq!(link["user"]["is_bot"], false);
    let counts = stub.take_interval();
    assert_eq!(counts.unmodelled["setPassportDataErrors"], 1);
    assert_eq!(counts.unmodelled["getBusinessConnection"], 1);
}

#[test]
fn every_method_of_the_catalogue_answers_in_its_declared_shape_or_refuses_in_words() {
    let stub = stub(free());
    let mut client = Client::of(&stub);
    for method in shape::methods() {
        let given = json!({ "chat_id": -5, "user_id": 77, "business_connection_id": "b" });
        let response = client.call(method, &given);
        match response.status {
            200 => assert_eq!(shape::fault(method, &response.json()["result"]), None),
            status => {
                assert!((400..404).contains(&status), "{method}: {status}");
                assert!(response.json()["description"].as_str().is_some_and(|says| !says.is_empty()), "{method}");
            }
        }
    }
}
