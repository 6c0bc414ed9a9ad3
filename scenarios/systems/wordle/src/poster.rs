//! One chat's board in Telegram: posted once, then edited in place, and what follows when Telegram says no.

use std::sync::Arc;
use std::time::Duration;

use crate::complain::complain;
use crate::init_data::ChatId;
use crate::queue::{Outgoing, Turn};
use crate::settings::Recovery;
use crate::telegram::{CallError, MessageId, Picture, Telegram};

/// How boards reach Telegram, the same for every chat.
#[derive(Debug)]
pub(crate) struct Poster {
    /// The Bot API.
    pub(crate) telegram: Arc<Telegram>,
    /// The way out.
    pub(crate) outgoing: Outgoing,
    /// What follows a rejected edit.
    pub(crate) recovery: Recovery,
}

/// One chat's board in Telegram.
#[derive(Debug)]
pub(crate) struct Board {
    /// Where it is shown.
    pub(crate) chat: ChatId,
    /// The message it is; nothing: not posted yet.
    pub(crate) message: Option<MessageId>,
}

/// What became of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Posted {
    /// It is in the chat.
    Shown,
    /// It is not; where Telegram said for how long to wait, that.
    Failed { wait: Option<Duration> },
}

impl Poster {
    /// Shows a picture on a board, in a turn of its own and in as many more as a recovery takes.
    pub(crate) async fn show(&self, turn: Turn<'_>, board: &mut Board, picture: &Picture) -> Posted {
        let Some(message) = board.message else { return self.post(turn, board, picture).await };
        let edited = self.telegram.edit_photo(board.chat, message, picture).await;
        drop(turn);
        match self.heard(edited) {
            Ok(()) => Posted::Shown,
            Err(error) => self.recover(board, picture, &error).await,
        }
    }

    async fn recover(&self, board: &mut Board, picture: &Picture, error: &CallError) -> Posted {
        match (self.recovery, error.is_message_gone()) {
            (Recovery::Wait, false) => return Posted::Failed { wait: error.retry_after() },
            (Recovery::Wait, true) => board.message = None,
            (Recovery::Repost, true | false) => self.delete(board).await,
        }
        self.post(self.outgoing.turn().await, board, picture).await
    }

    async fn post(&self, turn: Turn<'_>, board: &mut Board, picture: &Picture) -> Posted {
        let sent = self.telegram.send_photo(board.chat, picture).await;
        drop(turn);
        match self.heard(sent) {
            Ok(posted) => {
                board.message = Some(posted);
                Posted::Shown
            }
            Err(error) => Posted::Failed { wait: error.retry_after() },
        }
    }

    /// Whether or not it could be deleted, the old message is no longer the board.
    async fn delete(&self, board: &mut Board) {
        let Some(old) = board.message.take() else { return };
        let turn = self.outgoing.turn().await;
        let deleted = self.telegram.delete_message(board.chat, old).await;
        drop(turn);
        drop(self.heard(deleted));
    }

    /// Complains of a failed call, and has the queue pause if Telegram asks for it.
    fn heard<T>(&self, answer: Result<T, CallError>) -> Result<T, CallError> {
        if let Err(error) = &answer {
            complain(error);
            if let Some(retry_after) = error.retry_after() {
                self.outgoing.pause(retry_after);
            }
        }
        answer
    }
}
