//! Setting a webhook and asking what became of it.

use hyper::Uri;
use serde_json::json;

use super::{Family, Turn};
use crate::answer::{Done, Refusal};
use crate::updates::{Kinds, Target};

pub(super) const METHODS: Family =
    &[("setWebhook", set_webhook), ("deleteWebhook", delete_webhook), ("getWebhookInfo", get_webhook_info)];

/// Connections to one webhook (<https://core.telegram.org/bots/api#setwebhook>).
const MOST_CONNECTIONS: i64 = 100;
const USUAL_CONNECTIONS: i64 = 40;

fn set_webhook(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let params = &turn.call.params;
    let Some(url) = params.given("url") else { return delete_webhook(turn) };
    check(url)?;
    let target = Target {
        url: url.to_owned(),
        secret: secret(params.given("secret_token"))?,
        max_connections: params.clamped("max_connections", 1..=MOST_CONNECTIONS, USUAL_CONNECTIONS) as usize,
        has_certificate: params.file("certificate").is_some(),
    };
    let kinds = Kinds::read(params.given("allowed_updates"));
    let now = turn.now;
    if !turn.inbox().admits_hook(now) {
        return Err(Refusal::too_many(1));
    }
    drop_pending_if_asked(turn);
    let inbox = turn.inbox();
    if let Some(kinds) = kinds {
        inbox.kinds = kinds;
    }
    turn.telegram.is_asked_for_updates = true;
    let changed = turn.telegram.inboxes.set_hook(turn.call.bot, target);
    Done::saying(if changed { "Webhook was set" } else { "Webhook is already set" })
}

fn delete_webhook(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    drop_pending_if_asked(turn);
    Done::saying(if turn.inbox().delete_hook() { "Webhook was deleted" } else { "Webhook is already deleted" })
}

fn get_webhook_info(turn: &mut Turn<'_>) -> Result<Done, Refusal> {
    let inbox = turn.inbox();
    let mut shown = json!({ "url": "", "has_custom_certificate": false, "pending_update_count": inbox.len() });
    let kinds = inbox.kinds.named().map(|kinds| json!(kinds));
    let hook = inbox.hook().map(|hook| (hook.target.clone(), hook.last_error.clone()));
    if let Some((target, last_error)) = hook {
        shown["url"] = json!(target.url);
        shown["has_custom_certificate"] = json!(target.has_certificate);
        shown["max_connections"] = json!(target.max_connections);
        shown["ip_address"] = json!("127.0.0.1");
        if let Some((at, says)) = last_error {
            shown["last_error_date"] = json!(turn.date - turn.now.saturating_sub(at).as_secs() as i64);
            shown["last_error_message"] = json!(says);
        }
    }
    if let Some(kinds) = kinds {
        shown["allowed_updates"] = kinds;
    }
    Done::of(&shown)
}

fn drop_pending_if_asked(turn: &mut Turn<'_>) {
    if turn.call.params.is_true("drop_pending_updates") {
        turn.inbox().clear();
    }
}

/// Telegram insists on https; the stub never leaves this machine, where plain http is what there is.
fn check(url: &str) -> Result<(), Refusal> {
    let uri: Uri = url.parse().map_err(|_| Refusal::bad_request("invalid webhook URL specified"))?;
    let host = uri.host().unwrap_or_default();
    let is_here = host == "localhost" || host == "[::1]" || host.starts_with("127.");
    match (uri.scheme_str(), is_here) {
        (Some("http"), true) => Ok(()),
        (Some("http"), false) => Err(Refusal::bad_request("bad webhook: An HTTPS URL must be provided for webhook")),
        (Some("https"), _) => {
            Err(Refusal::bad_request("bad webhook: this stub delivers to http://127.0.0.1 and http://localhost only"))
        }
        _ => Err(Refusal::bad_request("invalid webhook URL specified")),
    }
}

fn secret(text: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    if text.len() > 256 {
        return Err(Refusal::bad_request("secret token is too long"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Err(Refusal::bad_request("secret token contains unallowed characters"));
    }
    Ok(Some(text.to_owned()))
}
