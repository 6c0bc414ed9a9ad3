//! Passes calls through the gateway, which may keep them waiting or shed them.

use serde::de::IgnoredAny;
use tokio::time::{sleep, sleep_until};

use crate::answer::Refusal;
use crate::call::Call;
use crate::gateway::{Coming, HOLD, RETRY_AFTER};
use crate::limits::Family;
use crate::shared::Shared;

/// A call under way; the gateway counts it until this is dropped.
pub(super) struct Pass<'a> {
    shared: &'a Shared,
    coming: Coming,
}

/// What the server answers by itself is never shed (`is_local_method` of
/// <https://github.com/tdlib/telegram-bot-api>, `Client.cpp`).
const LOCAL: &[&str] = &["getMe", "getUpdates", "setWebhook", "deleteWebhook", "getWebhookInfo", "close", "logOut"];

/// Waits until a call may go on; `None`: nobody counts it.
pub(super) async fn pass<'a>(shared: &'a Shared, call: &Call) -> Result<Option<Pass<'a>>, Refusal> {
    if !shared.sheds || LOCAL.contains(&call.method.name()) {
        return Ok(None);
    }
    let coming = coming(call);
    let now = shared.clock.now();
    let entered = shared.telegram().gateway.enter(now, coming);
    let Ok(goes_on) = entered else {
        sleep(HOLD).await;
        return Err(shared.telegram().throttled(call, shared.clock.now(), RETRY_AFTER, "the gateway"));
    };
    let pass = Pass { shared, coming };
    if goes_on > now {
        sleep_until(shared.clock.instant(goes_on)).await;
    }
    Ok(Some(pass))
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.shared.telegram().gateway.leave(self.coming);
    }
}

fn coming(call: &Call) -> Coming {
    let sends = match Family::of(call.method) {
        Family::Sends => call.chat().map(|chat| (chat, messages(call))),
        Family::Edits
        | Family::Deletes
        | Family::ChatActions
        | Family::Pins
        | Family::Reads
        | Family::Answers
        | Family::Others => None,
    };
    Coming { bot: call.bot, sends, upload: call.params.file_bytes() }
}

/// How many messages a send makes.
fn messages(call: &Call) -> u32 {
    let list = match call.method.name() {
        "sendMediaGroup" => call.params.given("media"),
        "forwardMessages" | "copyMessages" => call.params.given("message_ids"),
        _ => None,
    };
    let items = list.and_then(|list| serde_json::from_str::<Vec<IgnoredAny>>(list).ok());
    items.map_or(1, |items| items.len().max(1) as u32)
}
