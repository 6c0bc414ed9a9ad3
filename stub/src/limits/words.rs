//! What a bot is held to, in words with their evidence, for the report.

use std::time::Duration;

use super::{AlbumWeight, Family, Limits, Rule, Scope, ThrottleScope, UnknownChats, spread};

impl Limits {
    /// Everything that holds, one sentence each.
    pub fn describe(&self) -> Vec<String> {
        let rules = self.ceilings();
        let mut says: Vec<String> = rules.iter().filter(|rule| rule.limit > 0).map(Rule::in_words).collect();
        says.extend(self.refusals());
        says.extend(self.uploads());
        says.push(format!("every answer takes {}", spread::words(&self.answer_time)));
        says
    }

    fn refusals(&self) -> Vec<String> {
        let mut says = Vec::new();
        let mut say = |holds: bool, text: &str| says.extend(holds.then(|| text.to_owned()));
        let paid = format!(
            "{} of one bot in any second with allow_paid_broadcast (core.telegram.org/bots/api#paid-broadcasts)",
            self.paid_sends_per_second
        );
        say(self.paid_sends_per_second > 0, &paid);
        let one = self.album == AlbumWeight::One;
        say(one, "an album counts as one message (not known; its items count by default)");
        let closes_bot = self.throttle_scope == ThrottleScope::Bot;
        say(closes_bot, "a 429 closes the whole bot (reported; see github.com/tdlib/td/issues/1062)");
        let growth = humantime::format_duration(self.penalty_growth);
        let grows = format!(
            "each send into a 429's wait puts its end off by {growth} (reported; github.com/tdlib/telegram-bot-api/issues/535)"
        );
        say(!self.penalty_growth.is_zero(), &grows);
        let absorbs = "waits of up to 8s, 2s for sendChatAction, are slow answers, in line by chat (NetQueryCreator.cpp of github.com/tdlib/td)";
        say(self.absorb_short_waits, absorbs);
        let sheds = "310 unsent messages of a chat, 1000 calls and 100 uploads under way of a bot, 4GiB of them, equal uploads paced; else 3s of silence and a 429 for 60s (Client.cpp of github.com/tdlib/telegram-bot-api)";
        say(self.gateway_shedding, sheds);
        say(self.unknown_chats == UnknownChats::Refuse, "chats that nobody wrote in are not found (the scenario)");
        says
    }

    fn uploads(&self) -> Vec<String> {
        let mut says = Vec::new();
        if let Some(rate) = self.upload_bytes_per_second {
            says.push(format!("{} a second of one bot's uploads together (no public number)", rate.display().iec()));
        }
        if let Some(rate) = self.upload_bytes_per_second_in_all {
            says.push(format!("{} a second of all bots' uploads together (the scenario)", rate.display().iec()));
        }
        if self.uploads_at_once > 0 {
            says.push(format!("{} uploads of one bot at once (reported, no public number)", self.uploads_at_once));
        }
        if *self.upload_time.end() > Duration::ZERO {
            says.push(format!("every upload takes {} more", spread::words(&self.upload_time)));
        }
        says
    }
}

impl Rule {
    /// What it holds bots to.
    fn in_words(&self) -> String {
        let Self { limit, burst, evidence, .. } = self;
        let (what, whose) = (self.what(), self.whose());
        let window = match self.window.as_secs() {
            1 if self.window.subsec_nanos() == 0 => "second".to_owned(),
            _ => humantime::format_duration(self.window).to_string(),
        };
        if *burst == 0 {
            format!("{limit} {what} {whose} in any {window} ({evidence})")
        } else {
            format!("{limit} {what} {whose} each {window}, {burst} at once after a pause ({evidence})")
        }
    }

    fn what(&self) -> String {
        let names: Vec<&str> = self.families.iter().map(|family| family.in_words()).collect();
        match names.split_last() {
            None => "of nothing".to_owned(),
            Some((last, [])) => (*last).to_owned(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
        }
    }

    fn whose(&self) -> &'static str {
        match self.scope {
            Scope::Bot => "of one bot",
            Scope::Chat => "to one private chat",
            Scope::Group => "to one group",
            Scope::Channel => "to one channel",
            Scope::Uploads => "of one bot with a file",
        }
    }
}

impl Family {
    fn in_words(self) -> &'static str {
        match self {
            Self::Sends => "sends",
            Self::Edits => "edits",
            Self::Deletes => "deletes",
            Self::ChatActions => "chat actions",
            Self::Pins => "pins",
            Self::Reads => "reads",
            Self::Answers => "answers",
            Self::Others => "other calls",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Profile;

    #[test]
    fn the_defaults_say_what_they_hold_bots_to() {
        let says = Limits::default().describe();
        assert_eq!(
            says,
            [
                "30 sends and edits of one bot in any second (core.telegram.org/bots/faq)",
                "20 sends and edits to one group in any 1m (core.telegram.org/bots/faq)",
                "20 sends and edits to one channel in any 1m (Telegram's support, in the wiki of python-telegram-bot)",
                "1 sends and edits to one private chat each second, 3 at once after a pause (core.telegram.org/bots/faq)",
                "every answer takes 40ms..120ms",
            ]
        );
    }

    #[test]
    fn a_rule_that_is_off_is_not_said() {
        assert_eq!(Profile::Off.limits().describe(), ["every answer takes 40ms..120ms"]);
    }

    #[test]
    fn every_knob_that_is_turned_is_said_with_its_evidence() {
        let second = Duration::from_secs(1);
        let documented = Limits::default().describe().len();
        let turned = Limits {
            slow_mode: second,
            paid_sends_per_second: 1000,
            album: AlbumWeight::One,
            unknown_chats: UnknownChats::Refuse,
            throttle_scope: ThrottleScope::Bot,
            penalty_growth: second,
            absorb_short_waits: true,
            gateway_shedding: true,
            rules: vec![Limits::default().ceilings().remove(0)],
            upload_time: second..=second,
            upload_bytes_per_second: Some(bytesize::ByteSize::mib(1)),
            upload_bytes_per_second_in_all: Some(bytesize::ByteSize::mib(1)),
            uploads_at_once: 2,
            ..Limits::default()
        };
        let says = turned.describe();
        assert_eq!(says.len(), documented + 13, "{says:#?}");
        let evident = says.iter().filter(|says| says.ends_with(')')).count();
        assert_eq!(evident, says.len() - 2, "only the two times of answers are the scenario's own: {says:#?}");
    }
}
