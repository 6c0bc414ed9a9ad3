//! The hooks in programs of Node's and Python's own libraries: what is meant for Telegram comes to the stub, and what
//! cannot come there goes nowhere.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Instant;

use floodrig::redirect::{BOT_TOKEN, Redirect};
use floodrig_stub::{Limits, Stub};

use crate::system::loops::Language;

#[expect(clippy::disallowed_methods, reason = "a test stands in for `run`, which reads the epoch")]
fn stub() -> Stub {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    floodrig_stub::start(Limits::default(), listener, Instant::now(), 1).unwrap()
}

/// What a program prints that runs with the hook.
fn printed(language: Language, stub: &Stub, redirect: &Redirect, program: &str) -> String {
    let mut env = BTreeMap::from([("BOT_TOKEN".to_owned(), BOT_TOKEN.to_owned())]);
    redirect.put_into(&mut env, &stub.url()).unwrap();
    let option: &[&str] = match language {
        Language::Node => &["--input-type=module", "-e"],
        Language::Python => &["-c"],
    };
    let ran =
        Command::new(language.program()).args(option).arg(program).envs(env).stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{program}");
    String::from_utf8(ran.stdout).unwrap()
}

const NODE: &str = r"
import https, { request } from 'node:https';
import { text } from 'node:stream/consumers';
const url = `https://API.telegram.org./bot${process.env.BOT_TOKEN}/getMe`;
const asked = (send) => new Promise((done, wrong) => send(url, (answer) => text(answer).then(done)).on('error', wrong).end());
const answers = [await asked(request), await asked(https.get), await (await fetch(url)).text()];
console.log(answers.map((answer) => JSON.parse(answer).result.is_bot).join());
";

const PYTHON: &str = r"
import asyncio, http.client, json, os, ssl, urllib.request
path = '/bot' + os.environ['BOT_TOKEN'] + '/getMe'
def classic():
    line = http.client.HTTPSConnection('API.telegram.org.')
    line.request('GET', path)
    return line.getresponse().read()
async def modern():
    reader, writer = await asyncio.open_connection('api.telegram.org', 443, ssl=True)
    writer.write(f'GET {path} HTTP/1.1\r\nHost: api.telegram.org\r\nConnection: close\r\n\r\n'.encode())
    answer = await reader.read()
    writer.close()
    return answer.partition(b'\r\n\r\n')[2]
answers = [urllib.request.urlopen('https://api.telegram.org' + path).read(), classic(), asyncio.run(modern())]
print(','.join(str(json.loads(answer)['result']['is_bot']).lower() for answer in answers))
";

#[test]
fn every_client_of_the_runtimes_own_libraries_comes_to_the_stub() {
    for language in Language::here() {
        let (stub, redirect) = (stub(), Redirect::prepare(false).unwrap());
        let program = if language == Language::Node { NODE } else { PYTHON };
        assert_eq!(printed(language, &stub, &redirect, program), "true,true,true\n");
        assert_eq!(stub.attendance().calls, 3);
        let standing = redirect.standing(3);
        assert!(standing.starts_with("active: https://api.telegram.org is the stub inside pid "), "{standing}");
    }
}

#[test]
fn other_hosts_are_reached_as_before() {
    for language in Language::here() {
        let (stub, redirect) = (stub(), Redirect::prepare(false).unwrap());
        let path = format!("{}/bot{BOT_TOKEN}/getMe", stub.url());
        let program = match language {
            Language::Node => format!("console.log((await (await fetch('{path}')).json()).ok)"),
            Language::Python => {
                format!("import json, urllib.request as r; print(json.load(r.urlopen('{path}'))['ok'])")
            }
        };
        assert_eq!(printed(language, &stub, &redirect, &program).to_lowercase(), "true\n");
        assert_eq!(redirect.standing(1), "active: the system takes its API root from its environment");
    }
}

#[test]
fn in_node_what_is_not_https_is_refused_by_name() {
    if !Language::here().contains(&Language::Node) {
        return;
    }
    let (stub, redirect) = (stub(), Redirect::prepare(false).unwrap());
    let program = "import { connect } from 'node:net'; import dns from 'node:dns/promises';
        connect(443, 'api.telegram.org').on('error', (refused) => console.log(refused.message));
        await dns.lookup('api.telegram.org').catch((refused) => console.log(refused.code));";
    let printed = printed(Language::Node, &stub, &redirect, program);
    assert!(printed.contains("floodrig refuses a connection to api.telegram.org"), "{printed}");
    assert!(printed.contains("ENOTFOUND"), "{printed}");
    assert_eq!(stub.attendance().calls, 0);
}

#[test]
fn in_python_even_a_bare_connection_meant_for_telegram_ends_at_the_stub() {
    if !Language::here().contains(&Language::Python) {
        return;
    }
    let (stub, redirect) = (stub(), Redirect::prepare(false).unwrap());
    let program = "import socket; print(socket.create_connection(('api.telegram.org', 80)).getpeername())\n\
                   bare = socket.socket(); bare.connect(('api.telegram.org', 443)); print(bare.getpeername())";
    let (host, port) =
        stub.url().trim_start_matches("http://").split_once(':').map(|(h, p)| (h.to_owned(), p.to_owned())).unwrap();
    let peer = format!("('{host}', {port})\n");
    assert_eq!(printed(Language::Python, &stub, &redirect, program), format!("{peer}{peer}"));
}
