//! Which call of a bot answers which act of its users. Pure: the calls and the acts bring their own times.
//!
//! A call answers an open act by the first of these that says anything:
//!
//! 1. the callback query that it names: the tap of that id, and no other act;
//! 2. the message that it replies to: the oldest open act that wrote or tapped that message, and no other act;
//! 3. the message that it edits: the oldest open act that tapped that message, if there is one, and no other act if
//!    that message was owed an edit;
//! 4. the user that it is shown to alone: the one open act of that user in that chat, and no other act;
//! 5. the chat: its open acts in the order in which they began. In a private chat that is the one user's one act.
//!
//! A call that had begun before the bot was handed an act's update cannot answer it: it is a late answer to another
//! act, or to an earlier try of the same one, and only those who answer out of order or hold several updates of a chat
//! in hand leave that open. Such a call, if it names nothing, goes to the chat's open acts in their order all the same:
//! an act that nobody waits for any more takes no call away from those that follow, or a single update that the bot has
//! lost would fail every later act of its chat. A call that answers none is counted as unmatched: nobody
//! waits for it, and it is not guessed to be an answer. So of two messages in answer to one act the first ends the
//! act, and the second is unmatched unless another act of the chat is open by then.
//!
//! A tap has an answer of two halves, in either order: its query is answered, and the tapped message is edited. The first
//! of them ends the act. The other still says whose it is and belongs to that act: it ends nothing and is not unmatched.
//! So a message is owed one edit for the taps on it whose queries were answered first, and one that begins after them
//! pays for all of them. Any further edit of it may be for whoever waits; where nobody does, it still belongs to the taps.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use floodrig_stub::{BotCall, Done};

/// The acts that wait for an answer.
#[derive(Debug, Default)]
pub struct Answers {
    open: HashMap<u32, Open>,
    by_query: HashMap<i64, u32>,
    by_update: HashMap<i64, u32>,
    /// Oldest first.
    by_chat: HashMap<i64, VecDeque<u32>>,
    /// By chat and message, the taps on it whose query was answered first.
    to_edit: HashMap<(i64, i64), Tapped>,
    /// Queries of taps that another call answered first, until they are answered too: one for each tap at most.
    to_answer: HashSet<i64>,
    unmatched: u64,
}

/// What a call is to the acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// It answers this act, which waits no longer.
    Ends(u32),
    /// It is the other half of an answer that was given already.
    Belongs,
    /// Nobody waits for it.
    Nobody,
}

/// Taps on a message whose query was answered first, by when they began.
#[derive(Debug, Default)]
struct Tapped {
    earliest: Option<Duration>,
    /// Those that no edit has come for so far: each of them at most.
    owed: Vec<Duration>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    done: Done,
    chat: i64,
    user: i64,
    /// When the bot was first handed its update.
    taken: Option<Duration>,
}

impl Answers {
    /// An act of that user in that chat waits from now on; acts are opened in the order in which they began.
    pub fn open(&mut self, done: Done, chat: i64, user: i64) {
        self.open.insert(done.ticket, Open { done, chat, user, taken: None });
        self.by_update.extend(done.update_id.map(|update| (update, done.ticket)));
        self.by_query.extend(done.callback_query_id.map(|query| (query, done.ticket)));
        self.by_chat.entry(chat).or_default().push_back(done.ticket);
    }

    /// The bot was handed an update.
    pub fn taken(&mut self, update_id: i64, at: Duration) {
        let ticket = self.by_update.get(&update_id);
        if let Some(open) = ticket.and_then(|ticket| self.open.get_mut(ticket)) {
            open.taken.get_or_insert(at);
        }
    }

    /// What the call is to the acts; one that it answers waits no longer.
    pub fn answer(&mut self, call: &BotCall) -> Match {
        let named = self.named(call);
        let ticket = if self.pay(call) { named } else { named.or_else(|| self.placed(call)) };
        if let Some(ticket) = ticket {
            self.remember_half(call, ticket);
            self.close(ticket);
            return Match::Ends(ticket);
        }
        if self.is_other_half(call) {
            return Match::Belongs;
        }
        self.unmatched += 1;
        Match::Nobody
    }

    /// An act waits no longer, whether it was answered or not.
    pub fn close(&mut self, ticket: u32) {
        let Some(Open { done, chat, .. }) = self.open.remove(&ticket) else { return };
        if let Some(update) = done.update_id {
            self.by_update.remove(&update);
        }
        if let Some(query) = done.callback_query_id {
            self.by_query.remove(&query);
        }
        if let Some(waiting) = self.by_chat.get_mut(&chat) {
            waiting.retain(|other| *other != ticket);
            if waiting.is_empty() {
                self.by_chat.remove(&chat);
            }
        }
    }

    /// Calls that answered nothing, so far.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// Notes of a tap that is about to end which half of its answer may still come.
    fn remember_half(&mut self, call: &BotCall, ticket: u32) {
        let Open { done, chat, .. } = self.open[&ticket];
        let Some(query) = done.callback_query_id else { return };
        if call.callback_query_id.is_some() {
            let tapped = self.to_edit.entry((chat, done.message_id)).or_default();
            tapped.earliest = Some(tapped.earliest.map_or(done.at, |earliest| earliest.min(done.at)));
            tapped.owed.push(done.at);
        } else {
            self.to_answer.insert(query);
        }
    }

    /// Whether the message that the call edits was owed an edit by then; it no longer is.
    fn pay(&mut self, call: &BotCall) -> bool {
        let edited = call.chat.zip(call.edits);
        let Some(tapped) = edited.and_then(|message| self.to_edit.get_mut(&message)) else { return false };
        let before = tapped.owed.len();
        tapped.owed.retain(|begun| *begun > call.begun);
        tapped.owed.len() < before
    }

    fn is_other_half(&mut self, call: &BotCall) -> bool {
        if let Some(query) = call.callback_query_id {
            return self.to_answer.remove(&query);
        }
        let edited = call.chat.zip(call.edits).and_then(|message| self.to_edit.get(&message));
        edited.and_then(|tapped| tapped.earliest).is_some_and(|begun| begun <= call.begun)
    }

    /// The act that a call names by a query or a message.
    fn named(&self, call: &BotCall) -> Option<u32> {
        if let Some(query) = call.callback_query_id {
            let ticket = *self.by_query.get(&query)?;
            return self.may_answer(call, ticket).then_some(ticket);
        }
        let chat = call.chat?;
        if let Some(message) = call.reply_to {
            return self.oldest(call, chat, |open| open.done.message_id == message);
        }
        let edited = call.edits?;
        self.oldest(call, chat, |open| open.done.callback_query_id.is_some() && open.done.message_id == edited)
    }

    /// The act that a call which cannot name one answers by its user or its chat.
    fn placed(&self, call: &BotCall) -> Option<u32> {
        let chat = call.chat.filter(|_| call.callback_query_id.is_none() && call.reply_to.is_none())?;
        match call.user {
            Some(user) => self.oldest(call, chat, |open| open.user == user),
            None => self.oldest(call, chat, |_| true),
        }
    }

    fn oldest(&self, call: &BotCall, chat: i64, fits: impl Fn(&Open) -> bool) -> Option<u32> {
        let mut waiting = self.by_chat.get(&chat)?.iter().copied();
        waiting.find(|ticket| self.may_answer(call, *ticket) && fits(&self.open[ticket]))
    }

    fn may_answer(&self, call: &BotCall, ticket: u32) -> bool {
        self.open.get(&ticket).and_then(|open| open.taken).is_some_and(|taken| taken <= call.begun)
    }
}

#[cfg(test)]
mod tests;
