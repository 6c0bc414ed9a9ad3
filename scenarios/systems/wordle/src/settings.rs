//! Everything the environment may order, parsed once into types that cannot be wrong.
//!
//! Each flaw of the published story and its fix is a value here. Nothing else reads the environment.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::orders::{Order, Timed};

/// What one process was told to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// `PORT` on 127.0.0.1; 0 takes a free one.
    pub(crate) port: u16,
    /// `BOT_TOKEN`.
    pub(crate) token: String,
    /// `TELEGRAM_API_ROOT`, without a slash at its end.
    pub(crate) telegram: String,
    /// `BACKLOG`: how many connections may wait to be accepted.
    pub(crate) backlog: u16,
    /// `REFRESH_INTERVAL`: how long a board rests after it was drawn.
    pub(crate) refresh_interval: Duration,
    /// `ROLLOVER_AFTER`: how long after the first session the puzzle changes; nothing: it never does.
    pub(crate) rollover_after: Option<Duration>,
    /// `STOP_WITHIN`: how long work in flight may take after SIGTERM.
    pub(crate) stop_within: Duration,
    /// How boards become pictures.
    pub(crate) drawing: Drawing,
    /// How pictures reach Telegram.
    pub(crate) sending: Sending,
    /// The database.
    pub(crate) database: Database,
    /// `AVATARS`: how profile photos are read.
    pub(crate) avatars: Avatars,
    /// What the process does wrong on order; nothing: `CALIBRATE` is not 1.
    pub(crate) calibration: Option<Calibration>,
}

/// How boards become pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Drawing {
    /// `RENDERS_AT_ONCE`.
    pub(crate) renders: RendersAtOnce,
    /// `SCALE`: pixels per point, 1 or 2.
    pub(crate) scale: u32,
    /// `CRASH_AT_BOARDS`: more boards than this in flight kill the process, as a broken native library would.
    pub(crate) crash_at_boards: Option<usize>,
}

/// Where boards are drawn, and how many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RendersAtOnce {
    /// On the thread that serves requests.
    Inline,
    /// In the background, as many as there are to draw.
    Unbounded,
    /// In the background, this many.
    Limited(usize),
}

/// How pictures reach Telegram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sending {
    /// `SEND_QUEUE`.
    pub(crate) queue: SendQueue,
    /// `RECOVERY`.
    pub(crate) recovery: Recovery,
}

/// Whether one queue stands in front of every send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendQueue {
    /// Every board is sent as soon as it is drawn.
    Off,
    /// Sends are spaced, and a refusal pauses them all.
    On,
}

/// What follows a rejected edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Delete the message and post a new one: two more calls.
    Repost,
    /// Wait as long as Telegram says, then edit again.
    Wait,
}

/// The database and its pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Database {
    /// `DATABASE`: a file kept in WAL mode; nothing: memory.
    pub(crate) file: Option<PathBuf>,
    /// `DB_POOL`: how many queries run at once.
    pub(crate) pool: usize,
    /// `QUERY_TIME`: how long each query holds its slot.
    pub(crate) query_time: Duration,
}

/// How profile photos are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Avatars {
    /// Not at all.
    Off,
    /// All of a board's at once, again for every board.
    Unbounded,
    /// This many at once, each player's once.
    Limited(usize),
}

/// What the process does wrong on order, so that a rig can be held against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Calibration {
    /// `CALIBRATE_ORDERS`, such as `stall=300ms@5s,exit=3@9s`: orders and how long after the start they are due.
    pub(crate) orders: Vec<Timed<Order>>,
    /// `IGNORE_SIGTERM`: only SIGKILL ends it.
    pub(crate) ignores_sigterm: bool,
}

/// A setting that cannot be obeyed.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum BadSetting {
    /// It has no default and was not given.
    #[error("{name} is not set; it wants {wants}")]
    Missing { name: &'static str, wants: &'static str },
    /// Its value is not one of those it may have.
    #[error("{name} is `{value}`; it wants {wants}")]
    Wrong { name: &'static str, value: String, wants: &'static str },
    /// It would be ignored.
    #[error("{name} is only obeyed with CALIBRATE=1")]
    NeedsCalibrate { name: &'static str },
}

impl Settings {
    /// Reads every setting through `get`, which answers what the environment holds under a name.
    pub(crate) fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, BadSetting> {
        let from = Environment { get: &get };
        Ok(Self {
            port: from.required("PORT", "a port number", number)?,
            token: from.required("BOT_TOKEN", "the token of the bot", some_text)?,
            telegram: from.required("TELEGRAM_API_ROOT", "an address such as http://127.0.0.1:8081", address)?,
            backlog: from.or("BACKLOG", "a number from 1 to 65535", positive, 1024)?,
            refresh_interval: from.or("REFRESH_INTERVAL", A_TIME, time, Duration::from_secs(10))?,
            rollover_after: from.optional("ROLLOVER_AFTER", A_TIME, time)?,
            stop_within: from.or("STOP_WITHIN", A_TIME, time, Duration::from_secs(5))?,
            drawing: from.drawing()?,
            sending: from.sending()?,
            database: from.database()?,
            avatars: from.or("AVATARS", "off, unbounded or a number from 1", avatars, Avatars::Off)?,
            calibration: from.calibration()?,
        })
    }
}

const A_TIME: &str = "a time with its unit, such as 300ms or 20s";

struct Environment<'a> {
    get: &'a dyn Fn(&str) -> Option<String>,
}

impl Environment<'_> {
    fn drawing(&self) -> Result<Drawing, BadSetting> {
        Ok(Drawing {
            renders: self.or(
                "RENDERS_AT_ONCE",
                "inline, unbounded or a number from 1",
                renders_at_once,
                RendersAtOnce::Limited(2),
            )?,
            scale: self.or("SCALE", "1 or 2", scale, 1)?,
            crash_at_boards: self.optional("CRASH_AT_BOARDS", "a number", number)?,
        })
    }

    fn sending(&self) -> Result<Sending, BadSetting> {
        Ok(Sending {
            queue: self.or("SEND_QUEUE", "on or off", send_queue, SendQueue::On)?,
            recovery: self.or("RECOVERY", "repost or wait", recovery, Recovery::Wait)?,
        })
    }

    fn database(&self) -> Result<Database, BadSetting> {
        Ok(Database {
            file: self.optional("DATABASE", "the path of a file", |text| some_text(text).map(PathBuf::from))?,
            pool: self.or("DB_POOL", "a number from 1", positive, 30)?,
            query_time: self.or("QUERY_TIME", A_TIME, time, Duration::ZERO)?,
        })
    }

    fn calibration(&self) -> Result<Option<Calibration>, BadSetting> {
        let calibration = Calibration {
            orders: self.or("CALIBRATE_ORDERS", "orders such as stall=300ms@5s,exit=3@9s", Timed::list, Vec::new())?,
            ignores_sigterm: self.or("IGNORE_SIGTERM", "0 or 1", flag, false)?,
        };
        if self.or("CALIBRATE", "0 or 1", flag, false)? {
            return Ok(Some(calibration));
        }
        match (calibration.orders.is_empty(), calibration.ignores_sigterm) {
            (true, false) => Ok(None),
            (true, true) => Err(BadSetting::NeedsCalibrate { name: "IGNORE_SIGTERM" }),
            (false, true | false) => Err(BadSetting::NeedsCalibrate { name: "CALIBRATE_ORDERS" }),
        }
    }

    fn required<T>(
        &self,
        name: &'static str,
        wants: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, BadSetting> {
        self.optional(name, wants, parse)?.ok_or(BadSetting::Missing { name, wants })
    }

    fn or<T>(
        &self,
        name: &'static str,
        wants: &'static str,
        parse: impl Fn(&str) -> Option<T>,
        default: T,
    ) -> Result<T, BadSetting> {
        Ok(self.optional(name, wants, parse)?.unwrap_or(default))
    }

    fn optional<T>(
        &self,
        name: &'static str,
        wants: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, BadSetting> {
        let Some(value) = (self.get)(name) else { return Ok(None) };
        match parse(value.trim()) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(BadSetting::Wrong { name, value, wants }),
        }
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn positive<T: std::str::FromStr + Default + PartialOrd>(text: &str) -> Option<T> {
    number(text).filter(|value| *value > T::default())
}

fn time(text: &str) -> Option<Duration> {
    humantime::parse_duration(text).ok()
}

fn some_text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn address(text: &str) -> Option<String> {
    let is_http = text.starts_with("http://") || text.starts_with("https://");
    is_http.then(|| text.trim_end_matches('/').to_owned())
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn scale(text: &str) -> Option<u32> {
    number(text).filter(|scale| (1..=2).contains(scale))
}

fn renders_at_once(text: &str) -> Option<RendersAtOnce> {
    match text {
        "inline" => Some(RendersAtOnce::Inline),
        "unbounded" => Some(RendersAtOnce::Unbounded),
        other => positive(other).map(RendersAtOnce::Limited),
    }
}

fn send_queue(text: &str) -> Option<SendQueue> {
    match text {
        "off" => Some(SendQueue::Off),
        "on" => Some(SendQueue::On),
        _ => None,
    }
}

fn recovery(text: &str) -> Option<Recovery> {
    match text {
        "repost" => Some(Recovery::Repost),
        "wait" => Some(Recovery::Wait),
        _ => None,
    }
}

fn avatars(text: &str) -> Option<Avatars> {
    match text {
        "off" => Some(Avatars::Off),
        "unbounded" => Some(Avatars::Unbounded),
        other => positive(other).map(Avatars::Limited),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDED: [(&str, &str); 3] =
        [("PORT", "8080"), ("BOT_TOKEN", "7:test"), ("TELEGRAM_API_ROOT", "http://127.0.0.1:1/")];

    fn read(more: &[(&str, &str)]) -> Result<Settings, BadSetting> {
        let all: Vec<_> = NEEDED.iter().chain(more).copied().collect();
        Settings::read(|name| all.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn what_is_not_given_is_the_fixed_form() {
        let settings = read(&[]).unwrap();
        assert_eq!(settings.drawing.renders, RendersAtOnce::Limited(2));
        assert_eq!(settings.sending, Sending { queue: SendQueue::On, recovery: Recovery::Wait });
        assert_eq!(settings.telegram, "http://127.0.0.1:1");
        assert_eq!(settings.calibration, None);
    }

    #[test]
    fn the_flawed_form_is_a_set_of_switches() {
        let flawed = [("RENDERS_AT_ONCE", "unbounded"), ("SCALE", "2"), ("SEND_QUEUE", "off"), ("RECOVERY", "repost")];
        let settings = read(&flawed).unwrap();
        assert_eq!(settings.drawing.renders, RendersAtOnce::Unbounded);
        assert_eq!(settings.drawing.scale, 2);
        assert_eq!(settings.sending, Sending { queue: SendQueue::Off, recovery: Recovery::Repost });
    }

    #[test]
    fn a_value_out_of_range_is_refused_by_name() {
        let wrong = [
            ("RENDERS_AT_ONCE", "0"),
            ("SCALE", "3"),
            ("SEND_QUEUE", "yes"),
            ("REFRESH_INTERVAL", "10"),
            ("BACKLOG", "70000"),
            ("DB_POOL", "0"),
            ("TELEGRAM_API_ROOT", "127.0.0.1:1"),
        ];
        for (name, value) in wrong {
            let refused = read(&[(name, value)]).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("{name} is `{value}`; it wants")), "{refused}");
        }
    }

    #[test]
    fn a_missing_token_is_named() {
        let refused = Settings::read(|name| (name == "PORT").then(|| "1".to_owned())).unwrap_err();
        assert_eq!(refused.to_string(), "BOT_TOKEN is not set; it wants the token of the bot");
    }

    #[test]
    fn orders_without_calibrate_are_refused_rather_than_ignored() {
        assert_eq!(read(&[("IGNORE_SIGTERM", "1")]), Err(BadSetting::NeedsCalibrate { name: "IGNORE_SIGTERM" }));
        let calibrated = read(&[("IGNORE_SIGTERM", "1"), ("CALIBRATE", "1")]).unwrap();
        assert!(calibrated.calibration.is_some_and(|calibration| calibration.ignores_sigterm));
    }
}
