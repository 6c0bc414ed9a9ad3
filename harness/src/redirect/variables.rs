//! The variables that libraries and bots read, as far as they are known. PURE.
//!
//! Only names whose value is the root alone are here: `TELEGRAM_BASE_URL`, for one, is read by some with `/bot` at its end.

/// A variable that an API root is read from, and who reads it.
pub(super) const API_ROOTS: [(&str, &str); 9] = [
    ("TELEGRAM_API_ROOT", "elizaOS's Telegram plugin, and bots on grammY and Telegraf, whose option is `apiRoot`"),
    ("BOT_API_ROOT", "bots on grammY and Telegraf"),
    ("TELEGRAM_BOT_API_ROOT", "bots on Telegraf"),
    (
        "TELEGRAM_API_URL",
        "telegram-bot-raw (Rust), <https://docs.rs/telegram-bot-raw/0.8.0/src/telegram_bot_raw/url.rs.html>",
    ),
    ("TELEGRAM_BOT_API_URL", "bots in Python and Go with a Bot API server of their own"),
    ("TELEGRAM_API_BASE_URL", "bots on Vercel's Chat SDK, whose option is `apiBaseUrl`, and in Python"),
    ("TELEGRAM_API_SERVER", "bots on aiogram and pyTelegramBotAPI, after aiogram's `TelegramAPIServer`"),
    ("BOT_API_SERVER", "bots on pyTelegramBotAPI"),
    ("TELOXIDE_API_URL", "teloxide's `Bot::from_env`"),
];

/// Variables that a bot's token is read from: those of the libraries' own examples.
pub(super) const TOKENS: [&str; 6] =
    ["BOT_TOKEN", "TELEGRAM_BOT_TOKEN", "TELEGRAM_TOKEN", "TELOXIDE_TOKEN", "TG_BOT_TOKEN", "TG_TOKEN"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_is_named_twice() {
        let mut names: Vec<&str> = API_ROOTS.iter().map(|(name, _)| *name).chain(TOKENS).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
    }

    #[test]
    fn every_variable_says_who_reads_it() {
        assert!(API_ROOTS.iter().all(|(_, reader)| !reader.is_empty()));
    }
}
