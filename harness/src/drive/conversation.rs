//! A message over the visit's WebSocket, and the answer that is waited for.

use std::pin::Pin;

use serde_json::Value;

use super::desk::Desk;
use super::floor::Ended;
use super::hands::Hands;
use super::judge::text;
use crate::exchange::{Body, Timer, Words};
use crate::plan::Arrival;
use crate::scenario::{Conversation, Sought};
use crate::template::{Escape, Values, fill};

/// What an answer is recognised by, its templates filled.
#[derive(Debug)]
enum Sign {
    Anything,
    Containing(String),
    Equal { pointer: String, value: String },
}

impl Desk {
    /// Says what the step says, and waits for the answer if it wants one.
    pub(super) async fn converse(
        &self,
        conversation: &Conversation,
        arrival: &Arrival,
        hands: &mut Hands,
        timer: Pin<&mut Timer>,
    ) -> Ended {
        let values = self.requests.values(arrival, &hands.memory.captured);
        let sign = conversation.answer.as_ref().map(|sought| Sign::of(sought, &values));
        let greeting =
            |out: &mut String| self.requests.write_greeting(conversation, arrival, &hands.memory.captured, out);
        let message =
            |out: &mut String| self.requests.write_message(conversation, arrival, &hands.memory.captured, out);
        let is_answer = |heard: &str| sign.as_ref().is_some_and(|sign| sign.is_in(heard));
        let told = self.teller(arrival);
        let words = Words {
            ask: self.ask(arrival, Body::Drained, &told),
            greeting: &greeting,
            message: conversation.message.as_ref().map(|_| &message as &dyn Fn(&mut String)),
            answer: sign.as_ref().map(|_| &is_answer as &dyn Fn(&str) -> bool),
        };
        let exchanged = self.wire.converse(&mut hands.socket, timer, &words).await;
        self.judge(arrival, hands, &exchanged)
    }
}

impl Sign {
    fn of(sought: &Sought, values: &Values<'_>) -> Self {
        let filled = |template| {
            let mut text = String::new();
            let filled = fill(template, values, Escape::None, &mut text);
            debug_assert!(filled.is_ok(), "an answer's placeholders have values: {filled:?}");
            text
        };
        match sought {
            Sought::Anything => Self::Anything,
            Sought::Containing(template) => Self::Containing(filled(template)),
            Sought::Equal { pointer, value } => Self::Equal { pointer: pointer.clone(), value: filled(value) },
        }
    }

    fn is_in(&self, heard: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Containing(part) => heard.contains(part),
            Self::Equal { pointer, value } => {
                let read: Option<Value> = serde_json::from_str(heard).ok();
                let found = read.as_ref().and_then(|read| read.pointer(pointer)).and_then(text);
                found.as_ref() == Some(value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_recognised_by_its_text_or_by_a_value_in_it() {
        let equal = Sign::Equal { pointer: "/type".to_owned(), value: "7".to_owned() };
        let containing = Sign::Containing("type".to_owned());
        for (heard, holds, equals) in [
            (r#"{"type":7}"#, true, true),
            (r#"{"type":"7"}"#, true, true),
            (r#"{"type":8}"#, true, false),
            (r#"{"kind":7}"#, false, false),
            ("type 7", true, false),
        ] {
            assert_eq!((containing.is_in(heard), equal.is_in(heard)), (holds, equals), "{heard}");
            assert!(Sign::Anything.is_in(heard));
        }
    }
}
