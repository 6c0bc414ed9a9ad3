//! Whether the ceilings let a call do what it asks for.

use super::Turn;
use crate::answer::Refusal;
use crate::limits::{AlbumWeight, Family};
use crate::throttle::{Admission, Counted};
use crate::world::Chat;

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
                let chat = self.call.chat().map(Chat::of);
                self.ask(chat.map(|chat| (chat.id, chat.kind)), 1)
            }
        }
    }

    fn ask(&mut self, chat: Option<(i64, crate::world::ChatKind)>, weight: u32) -> Result<(), Refusal> {
        let params = &self.call.params;
        let is_album = self.call.method.name() == "sendMediaGroup";
        let counts_once = is_album && self.telegram.limits.album_weight == AlbumWeight::One;
        let counted = Counted {
            bot: self.call.bot,
            chat,
            family: self.family(),
            weight: if counts_once { 1 } else { weight },
            carries_file: params.file_bytes().is_some(),
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
                Err(Refusal::too_many(retry_after))
            }
        }
    }

    fn family(&self) -> Family {
        Family::of(self.call.method)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::call::{Call, Decoder, Keeping};
    use crate::catalogue;
    use crate::limits::{Limits, Profile};
    use crate::telegram::{Patience, Telegram};

    /// How many messages of a minute to one group are left after an album of ten.
    fn left_after_an_album(album_weight: AlbumWeight) -> usize {
        let limits = Limits { album_weight, group_sends_per_minute: 20, ..Limits::of(Profile::Off) };
        let mut telegram = Telegram::new(limits, 1);
        let mut admitted = |method, weight| {
            let params = Decoder::new(None, None, &Keeping::bounded(0)).finish().unwrap();
            let method = catalogue::method(method).unwrap();
            let call = Call { bot: 1, method, params, begun: Duration::ZERO };
            let (now, patience) = (Duration::ZERO, Patience::default());
            let mut turn = Turn { call: &call, telegram: &mut telegram, now, date: 0, patience, held: None };
            turn.admit(Some(&Chat::of(-5)), weight).is_ok()
        };
        assert!(admitted("sendMediaGroup", 10));
        (0..20).filter(|_| admitted("sendMessage", 1)).count()
    }

    #[test]
    fn an_album_counts_as_its_items_or_once() {
        assert_eq!((left_after_an_album(AlbumWeight::Items), left_after_an_album(AlbumWeight::One)), (10, 19));
    }
}
