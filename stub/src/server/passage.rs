//! A call's way through the gateway: shed, held for its turn, or let pass; counted until it is answered.

use tokio::time::sleep;

use super::Shared;
use crate::answer::Refusal;
use crate::call::Call;
use crate::gateway::{HOLD, Passing, RETRY_AFTER};

/// A call under way.
pub(super) struct Passage<'a> {
    shared: &'a Shared,
    passing: Passing,
}

/// Methods that the gateway answers itself, and never sheds.
const LOCAL: &[&str] = &["getMe", "getUpdates", "setWebhook", "deleteWebhook", "getWebhookInfo", "close", "logOut"];

impl<'a> Passage<'a> {
    /// Lets the call in; `None` when nothing is shed here at all.
    pub(super) async fn enter(shared: &'a Shared, call: &Call) -> Result<Option<Self>, Refusal> {
        let name = call.method.name();
        if !shared.sheds || LOCAL.contains(&name) {
            return Ok(None);
        }
        let is_message = ["send", "copy", "forward"].iter().any(|verb| name.starts_with(verb));
        let chat = call.params.integer("chat_id").filter(|_| is_message);
        let passing = Passing { bot: call.bot, chat, upload: call.params.upload_size() };
        let begun = shared.telegram().gateway.begin(shared.clock.now(), passing);
        let Ok(wait) = begun else { return Err(shed(shared, call).await) };
        let passage = Self { shared, passing };
        sleep(wait).await;
        Ok(Some(passage))
    }
}

/// The refusal, when it has been held for its time.
async fn shed(shared: &Shared, call: &Call) -> Refusal {
    sleep(HOLD).await;
    let refusal = Refusal::too_many(RETRY_AFTER);
    shared.telegram().journal.answered(shared.clock.now(), call.method, refusal.code);
    refusal
}

impl Drop for Passage<'_> {
    fn drop(&mut self) {
        self.shared.telegram().gateway.end(self.passing);
    }
}
