//! Updates on their way to a bot: its inbox, and the two ways out of it, getUpdates and a webhook.

mod hook;
mod inbox;
mod inboxes;
mod kinds;
mod pinned;
mod posters;
pub(crate) mod postman;

pub(crate) use hook::{Delivery, Outcome, Target};
pub(crate) use inbox::{Asked, Inbox, Poll, Woken};
pub(crate) use inboxes::Inboxes;
pub(crate) use kinds::Kinds;
pub(crate) use posters::Uploaded;
