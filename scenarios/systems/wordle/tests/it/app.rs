//! The app as a process, and what its players send.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Response, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sha2::Sha256;

/// The bot of every test.
pub(crate) const TOKEN: &str = "7:test";

/// How long a process may take to end before a test fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a process left.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code.
    pub(crate) code: Option<i32>,
    /// The signal it died of.
    pub(crate) signal: Option<i32>,
    /// What it wrote to standard error.
    pub(crate) errors: String,
}

/// A running app; dropped, it is killed.
#[derive(Debug)]
pub(crate) struct App {
    child: Child,
    address: String,
    http: reqwest::Client,
}

/// A player of a test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Player {
    /// Their id.
    pub(crate) id: i64,
    /// Their group.
    pub(crate) group: Option<i64>,
}

impl App {
    /// Starts it with these settings and waits until it listens.
    pub(crate) fn start(telegram: &str, settings: &[(&str, &str)]) -> Self {
        let mut child = spawn(&[&[("TELEGRAM_API_ROOT", telegram)], settings].concat());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on ") else { panic!("{:?}", end(child)) };
        Self { address: address.to_owned(), child, http: reqwest::Client::new() }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Whether it has not ended yet.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// A request without a body or a player.
    pub(crate) async fn post(&self, path: &str) -> reqwest::Result<Response> {
        self.http.post(format!("http://{}{path}", self.address)).send().await
    }

    /// The status of `/healthz`.
    pub(crate) async fn health(&self) -> reqwest::Result<StatusCode> {
        Ok(self.http.get(format!("http://{}/healthz", self.address)).send().await?.status())
    }

    /// Opens the app with this `Authorization`.
    pub(crate) async fn open_as(&self, authorization: &str) -> Response {
        let request = self.http.post(format!("http://{}/api/session", self.address));
        request.header("authorization", authorization).send().await.unwrap()
    }

    /// A player opens the app.
    pub(crate) async fn open(&self, player: Player) -> Value {
        let answer = self.open_as(&player.authorization()).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.json().await.unwrap()
    }

    /// A player guesses a word.
    pub(crate) async fn try_word(&self, player: Player, word: &str) -> Response {
        let request = self.http.post(format!("http://{}/api/guess", self.address));
        let request = request.header("authorization", player.authorization()).json(&json!({ "word": word }));
        request.send().await.unwrap()
    }

    /// A player guesses a word that is not the answer.
    pub(crate) async fn guess(&self, player: Player) -> Value {
        let answer = self.try_word(player, "zzzzz").await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.json().await.unwrap()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) async fn ended(mut self) -> Ended {
        let waited = tokio::time::timeout(PATIENCE, async {
            while self.is_running() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        assert!(waited.await.is_ok(), "the app did not end");
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let status = self.child.wait().unwrap();
        Ended { code: status.code(), signal: status.signal(), errors }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Runs it with settings that it refuses.
pub(crate) fn refused(settings: &[(&str, &str)]) -> Ended {
    end(spawn(settings))
}

fn spawn(settings: &[(&str, &str)]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordle"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("PORT", "0").env("BOT_TOKEN", TOKEN);
    command.envs(settings.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    Ended { code: output.status.code(), signal: output.status.signal(), errors }
}

impl Player {
    /// The header that says who they are, signed now.
    pub(crate) fn authorization(self) -> String {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs().to_string();
        let user = json!({ "id": self.id, "first_name": "Юля & Co" }).to_string();
        let mut fields = vec![("auth_date", now), ("user", user)];
        fields.extend(self.group.map(|group| ("start_param", group.to_string())));
        format!("tma {}", signed(fields))
    }
}

fn signed(mut fields: Vec<(&str, String)>) -> String {
    fields.sort();
    let lines: Vec<String> = fields.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let hash = hex::encode(keyed(&keyed(b"WebAppData", TOKEN), &lines.join("\n")));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).append_pair("hash", &hash).finish()
}

fn keyed(key: &[u8], message: &str) -> Vec<u8> {
    Hmac::<Sha256>::new_from_slice(key).unwrap().chain_update(message).finalize().into_bytes().to_vec()
}
