//! A bot that knows nothing of the rig, turned to the stub: by variables that it may read, by hooks in its runtime, and
//! with nothing real in its environment to call the real Telegram with.
//!
//! Three ways, all at once: the API root in the variables that libraries and bots are known to read; for a hard-coded
//! `https://api.telegram.org` a hook in every Node and Python process; for everything else [`crate::isolate`]. Which of
//! them was of use is known from the hooks' marks and from the stub's own count of calls. What none of them has turned
//! is seen by its sockets, and stopped.

mod advice;
mod hooks;
mod java;
mod lookout;
mod telegram;
mod token;
mod trust;
mod variables;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use floodrig_stub::Stub;
pub use lookout::{Lookout, Stray, Watchman};
pub use token::hide_tokens;

use self::hooks::{Hooks, Mark};
use self::trust::Trust;
use self::variables::{API_ROOTS, TOKENS};
use crate::system::preload;

/// The bot's token: well formed, and nobody's.
pub const BOT_TOKEN: &str = "7000000001:AAFloodrigTestTokenNobodyElseHasIt0";
/// Where clients look for hosts that they must not reach through a proxy.
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// What is never to be asked of a proxy, which would be another machine.
const DIRECT: &str = "127.0.0.1,localhost,api.telegram.org";

/// The hooks of one run, and what is known of their use.
#[derive(Debug)]
pub struct Redirect {
    hooks: Hooks,
    trust: Option<Trust>,
}

impl Redirect {
    /// Writes the hooks. `isolated`: whether the name `api.telegram.org` means the stub for everybody here.
    pub fn prepare(isolated: bool) -> io::Result<Self> {
        let trust = if isolated { Some(Trust::make()?) } else { None };
        Ok(Self { hooks: Hooks::write()?, trust })
    }

    /// Where everybody here takes it for Telegram's, the stub opens that door too.
    pub fn open_door(&self, stub: &Stub) -> io::Result<()> {
        self.trust.as_ref().map_or(Ok(()), |trust| trust.open(stub))
    }

    /// Whether the name means the stub for everybody here.
    pub fn is_isolated(&self) -> bool {
        self.trust.is_some()
    }

    /// The folder of the hooks, for the keeper to remove.
    pub fn root(&self) -> &Path {
        self.hooks.root()
    }

    /// The stub's root and the bot's token in every variable that one may be read from. What is there stays.
    pub fn name_stub(env: &mut BTreeMap<String, String>, stub_url: &str, bot_token: &str) {
        for (name, _) in API_ROOTS {
            env.entry(name.to_owned()).or_insert_with(|| stub_url.to_owned());
        }
        for name in TOKENS {
            env.entry(name.to_owned()).or_insert_with(|| bot_token.to_owned());
        }
    }

    /// The hooks, and no proxy between them and the stub.
    pub fn put_into(&self, env: &mut BTreeMap<String, String>, stub_url: &str) -> io::Result<()> {
        self.hooks.put_into(env, stub_url);
        for name in NO_PROXY {
            let hosts = preload::own(env, name).map_or(DIRECT.to_owned(), |own| format!("{own},{DIRECT}"));
            env.insert(name.to_owned(), hosts);
        }
        self.trust.as_ref().map_or(Ok(()), |trust| trust.put_into(env, self.root()))
    }

    /// What is observed of a system that has made so many calls.
    pub fn standing(&self, calls: u64) -> String {
        let redirected: Vec<String> = self
            .hooks
            .marks()
            .into_iter()
            .filter(|(_, mark)| *mark == Mark::Redirected)
            .map(|(pid, _)| pid.to_string())
            .collect();
        match (calls, redirected.is_empty()) {
            (0, _) => "inactive: 0 calls of the system had reached the stub by the end of the pre-flight".to_owned(),
            (_, false) => {
                format!("active: https://api.telegram.org is the stub inside pid {}, by a hook", redirected.join(", "))
            }
            (_, true) if self.is_isolated() => {
                "active: by the system's own API root, or by the hosts file of --isolate".to_owned()
            }
            (_, true) => "active: the system takes its API root from its environment".to_owned(),
        }
    }

    /// Why no call came from the processes below `root`, and what to do.
    pub fn advice(&self, root: u32, stub_url: &str) -> String {
        advice::advice(&self.hooks, self.is_isolated(), root, stub_url)
    }
}
