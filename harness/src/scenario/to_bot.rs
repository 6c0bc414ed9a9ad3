//! What a step does towards the bot, checked: `says` or `taps`, and `in` which chat.

use schemars::JsonSchema;
use serde::Deserialize;

use super::act::{Does, Sign, Step, StepTable};
use super::complaint::Complaint;
use super::spot::Spot;
use super::template::{self, Captures, Template};

/// Telegram's longest text, in characters (<https://core.telegram.org/bots/api#sendmessage>).
const LONGEST_TEXT: usize = 4096;

/// What a user does towards the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToBot {
    /// In which chat.
    pub chat: Where,
    /// What.
    pub gesture: Gesture,
}

/// In which chat a user does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// Their own with the bot.
    Private,
    /// Their group.
    Group,
}

/// What a user does in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gesture {
    /// Writes this; a command is a text that begins with a slash.
    Says(Template),
    /// Taps the button of this label or callback data, on the bot's last message with a keyboard.
    Taps(Template),
}

/// A chat of a player.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "`private` or `group`")]
#[schemars(rename = "Chat")]
pub(super) enum ChatWord {
    /// Their own with the bot.
    Private,
    /// Their group.
    Group,
}

/// What the step does towards the bot; nothing: it does something else.
pub(super) fn checked(
    file: &StepTable,
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Option<ToBot> {
    let (key, text, gesture): (_, _, fn(Template) -> Gesture) = match (&file.says, &file.taps) {
        (Some(text), None) => ("says", text, Gesture::Says),
        (None, Some(label)) => ("taps", label, Gesture::Taps),
        (Some(_), Some(_)) => {
            let help = "make it two steps";
            complaints.push(
                spot.key("taps").complain_of_key("a step does one thing, and this one says something as well", help),
            );
            return None;
        }
        (None, None) => {
            let help = "add `says` or `taps`, or drop it: a request goes to the system, not into a chat";
            complaints.extend(file.place.map(|_| spot.key("in").complain_of_key("nothing is done in a chat", help)));
            return None;
        }
    };
    let at = spot.key(key);
    if text.is_empty() {
        complaints.push(at.complain("nothing at all", "write a text such as \"/start\", or the label of a button"));
    }
    if text.chars().count() > LONGEST_TEXT {
        complaints.push(at.complain("Telegram takes 4096 characters", "write a shorter text"));
    }
    only_for_requests(file, key, spot, complaints);
    let chat = file.place.map_or(Where::Private, |place| match place {
        ChatWord::Private => Where::Private,
        ChatWord::Group => Where::Group,
    });
    let text = Template::parse(text, &at, template::Place::Act(captures), complaints);
    Some(ToBot { chat, gesture: gesture(text) })
}

/// What goes with a request has no meaning in a chat.
fn only_for_requests(file: &StepTable, key: &str, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let others = [
        ("get", file.get.is_some()),
        ("post", file.post.is_some()),
        ("put", file.put.is_some()),
        ("patch", file.patch.is_some()),
        ("delete", file.delete.is_some()),
        ("page", file.page.is_some()),
        ("assets", file.assets.is_some()),
        ("websocket", file.websocket.is_some()),
        ("answer", file.answer.is_some()),
        ("headers", !file.headers.is_empty()),
        ("json", file.json.is_some()),
        ("text", file.text.is_some()),
        ("capture", !file.capture.is_empty()),
        ("check", !file.check.is_empty()),
        ("expect_status", file.expect_status.is_some()),
    ];
    for (other, _) in others.iter().filter(|(_, given)| *given) {
        let says = format!("`{other}` is a request's, and this step {key} something to the bot");
        complaints.push(spot.key(other).complain_of_key(says, "drop it, or make it two steps"));
    }
}

/// What cannot be: a version that a chat never tells, and a button that nobody has been shown.
pub(super) fn possible(step: &Step, is_first: bool, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let Does::Bot(to_bot) = &step.does else { return };
    if step.shows.as_ref().is_some_and(|shows| matches!(shows.sign, Sign::Version(_))) {
        let says = "a version is read from the answer to a request, and this step sends none";
        let at = spot.key("shows").key("version");
        complaints.push(at.complain_of_key(says, "keep `chat`, or add `marker = \"{marker}\"`"));
    }
    if is_first && matches!(to_bot.gesture, Gesture::Taps(_)) {
        let says = "no button has been shown to anybody yet";
        complaints.push(spot.key("taps").complain(says, "begin with a step that `says` something, such as \"/start\""));
    }
}
