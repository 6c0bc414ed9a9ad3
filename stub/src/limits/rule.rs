//! One ceiling as data, and the ceilings that a table stands for.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Family, Limits};

/// At most `limit` calls in any `window`, for each thing of its scope by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Names it in reports.
    pub id: Cow<'static, str>,
    /// What it is about.
    pub scope: Scope,
    /// Which methods it counts.
    pub families: Vec<Family>,
    /// How many calls; 0: they are counted and never refused.
    pub limit: u32,
    /// In any span this long: a call leaves exactly this long after it came.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub window: Duration,
    /// 0: a sliding window. Otherwise a pace: `limit` in a `window` on average, and so many at once after a pause.
    #[serde(default)]
    pub burst: u32,
    /// What `limit` is for calls with `allow_paid_broadcast`; 0: the same.
    #[serde(skip)]
    pub paid_limit: u32,
    /// Where the numbers come from.
    #[serde(skip, default = "own")]
    pub evidence: &'static str,
}

/// What a ceiling is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All calls of one bot, wherever they go.
    Bot,
    /// One private chat of a bot.
    Chat,
    /// One group or supergroup.
    Group,
    /// One channel.
    Channel,
    /// All calls of one bot that carry a file.
    Uploads,
}

/// The span of the ceiling per bot: "30 messages per second".
const SECOND: Duration = Duration::from_secs(1);
/// The span of the ceiling per group: "20 messages per minute".
const MINUTE: Duration = Duration::from_secs(60);

/// What the ceilings of bots, groups and channels are called: their fullest windows are told whatever the limits are.
pub(crate) const OF_BOT: &str = "bot";
pub(crate) const OF_GROUP: &str = "group";
pub(crate) const OF_CHANNEL: &str = "channel";

const FAQ: &str = "core.telegram.org/bots/faq";

fn own() -> &'static str {
    "the scenario"
}

impl Limits {
    /// Every ceiling, those that only count included; the scenario's own come last.
    pub fn ceilings(&self) -> Vec<Rule> {
        let mut rules = vec![
            Rule { paid_limit: self.paid_sends_per_second, ..self.window(OF_BOT, Scope::Bot, self.sends_per_second) },
            self.window(OF_GROUP, Scope::Group, self.group_sends_per_minute),
            Rule {
                evidence: "Telegram's support, in the wiki of python-telegram-bot",
                ..self.window(OF_CHANNEL, Scope::Channel, self.channel_sends_per_minute)
            },
        ];
        if self.chat_sends_per_second > 0 {
            let burst = self.chat_burst.max(1);
            rules.push(Rule { burst, ..self.window("chat", Scope::Chat, self.chat_sends_per_second) });
        }
        if !self.slow_mode.is_zero() {
            let families = vec![Family::Sends];
            let evidence = "NetQueryDelayer.cpp of github.com/tdlib/td";
            let (limit, window) = (1, self.slow_mode);
            rules.push(Rule { families, limit, window, evidence, ..self.window("slow mode", Scope::Group, 1) });
        }
        rules.extend(self.rules.iter().cloned());
        rules
    }

    fn window(&self, id: &'static str, scope: Scope, limit: u32) -> Rule {
        let window = match scope {
            Scope::Bot | Scope::Chat | Scope::Uploads => SECOND,
            Scope::Group | Scope::Channel => MINUTE,
        };
        let families = self.counts.clone();
        Rule { id: id.into(), scope, families, limit, window, burst: 0, paid_limit: 0, evidence: FAQ }
    }
}
