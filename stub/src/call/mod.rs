//! One request of a bot, whatever its encoding: which bot, which method, which parameters and files.

mod decoder;
mod disposition;
#[cfg(test)]
mod fuzz;
mod inflate;
mod json;
mod kept;
mod multipart;
mod params;

use std::time::Duration;

pub(crate) use decoder::{Decoder, Undecodable};
pub(crate) use inflate::Inflate;
pub(crate) use kept::Keeping;
pub(crate) use params::{FilePart, Params};

use crate::catalogue::MethodId;
use crate::world::Chat;

/// A call, read to its end.
#[derive(Debug)]
pub(crate) struct Call {
    /// The bot's id: its token up to the colon.
    pub(crate) bot: i64,
    pub(crate) method: MethodId,
    pub(crate) params: Params,
    /// When its head had arrived, since the epoch.
    pub(crate) begun: Duration,
}

impl Call {
    /// The chat that it names, if it does so rightly.
    pub(crate) fn chat(&self) -> Option<i64> {
        let text = self.params.given("chat_id")?;
        match text.strip_prefix('@') {
            Some(name) => Some(Chat::named(name).id),
            None => text.trim().parse().ok(),
        }
    }
}
