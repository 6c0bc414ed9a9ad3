//! Whether the ceilings let a call do what it asks for.

use std::time::Duration;

use super::{Turn, members};
use crate::answer::Refusal;
use crate::limits::Family;
use crate::throttle::{Admission, Counted};
use crate::world::{Chat, ChatKind};

impl Turn<'_> {
    /// Asks the ceilings for `weight` messages to that chat, when everything else about them is right.
    pub(super) fn admit(&mut self, chat: Option<&Chat>, weight: u32) -> Result<(), Refusal> {
        match self.family() {
            Family::Sends | Family::Edits => self.ask(chat.map(|chat| (chat.id, chat.kind)), weight),
            // They were asked for before.
            Family::Deletes | Family::ChatActions | Family::Pins | Family::Reads | Family::Answers | Family::Others => {
                Ok(())
            }
        }
    }

    /// Asks them for a method that does not ask by itself, if any of them counts it.
    pub(super) fn admit_at_the_door(&mut self) -> Result<(), Refusal> {
        let family = self.family();
        match family {
            Family::Sends | Family::Edits | Family::Answers => Ok(()),
            Family::Deletes | Family::ChatActions | Family::Pins | Family::Reads | Family::Others => {
                if !self.telegram.throttle.counts(family) {
                    return Ok(());
                }
                let chat = self.call.chat().map(|id| self.telegram.world.chat(id));
                self.ask(chat.map(|chat| (chat.id, chat.kind)), 1)
            }
        }
    }

    fn ask(&mut self, chat: Option<(i64, ChatKind)>, weight: u32) -> Result<(), Refusal> {
        let slow_mode = chat.and_then(|(id, _)| self.slow_mode(id));
        let params = &self.call.params;
        let counted = Counted {
            bot: self.call.bot,
            chat,
            family: self.family(),
            weight,
            carries_file: params.file_bytes().is_some(),
            slow_mode,
            is_paid: params.is_true("allow_paid_broadcast"),
            patience: self.patience.seconds,
            again: self.patience.again,
        };
        match self.telegram.throttle.admit(self.now, counted) {
            Admission::Accepted => Ok(()),
            Admission::Absorbed { seconds } => {
                self.held = Some(seconds);
                Err(Refusal::too_many(seconds))
            }
            Admission::Refused { retry_after, rule } => {
                self.telegram.journal.throttled_by(rule);
                Err(Refusal::too_many_by(retry_after, rule.to_owned()))
            }
        }
    }

    /// The pause that a described chat asks for, unless the bot is one of its administrators.
    fn slow_mode(&mut self, chat: i64) -> Option<Duration> {
        let delay = self.telegram.world.people.described(chat)?.slow_mode?;
        let is_held = self.family() == Family::Sends
            && members::this_bot(&mut self.telegram.world, self.call.bot, chat)["status"] != "administrator";
        is_held.then_some(delay)
    }

    fn family(&self) -> Family {
        Family::of(self.call.method)
    }
}
