//! Setting a webhook and asking what became of it.

use std::net::IpAddr;

use hyper::Uri;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;

use super::{Methods, Turn};
use crate::answer::{Done, Refusal};
use crate::call::Params;
use crate::updates::{Kinds, Target, Uploaded};

pub(super) const METHODS: Methods =
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
        uploaded: certificate(params)?,
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
        shown["has_custom_certificate"] = json!(target.uploaded.is_some());
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

/// Telegram insists on https; the stub never leaves this machine, where plain http is what most bots speak.
fn check(url: &str) -> Result<(), Refusal> {
    let uri: Uri = url.parse().map_err(|_| Refusal::bad_request("invalid webhook URL specified"))?;
    match (uri.scheme_str(), is_here(uri.host().unwrap_or_default())) {
        (Some("http" | "https"), true) => Ok(()),
        (Some("http"), false) => Err(Refusal::bad_request("bad webhook: An HTTPS URL must be provided for webhook")),
        (Some("https"), false) => Err(Refusal::bad_request(ELSEWHERE)),
        _ => Err(Refusal::bad_request("invalid webhook URL specified")),
    }
}

const ELSEWHERE: &str = "bad webhook: this stub keeps all traffic on this machine and delivers to localhost, 127.0.0.1 \
    and [::1] only";

/// Whether a host is this machine, by what it says and not by what a name server would.
fn is_here(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_| host.eq_ignore_ascii_case("localhost"), |address| address.is_loopback())
}

/// The largest certificate (`Client.cpp` of <https://github.com/tdlib/telegram-bot-api>).
const LARGEST_CERTIFICATE: u64 = 3 << 20;

/// The certificates that were uploaded, under their own field or by `attach://`; PEM, as the server insists.
fn certificate(params: &Params) -> Result<Option<Uploaded>, Refusal> {
    let attached = params.text("certificate").and_then(|text| text.strip_prefix("attach://"));
    let Some(file) = params.file(attached.unwrap_or("certificate")) else { return Ok(None) };
    if file.size > LARGEST_CERTIFICATE {
        return Err(Refusal::bad_request("certificate size is too big"));
    }
    let read = CertificateDer::pem_slice_iter(file.bytes.as_deref().unwrap_or_default()).collect::<Result<Vec<_>, _>>();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(Some(certificates.into())),
        Ok(_) | Err(_) => Err(Refusal::bad_request("bad webhook: Failed to set custom certificate file")),
    }
}

/// The longest secret token (<https://core.telegram.org/bots/api#setwebhook>).
const LONGEST_SECRET: usize = 256;

fn secret(text: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    if text.len() > LONGEST_SECRET {
        return Err(Refusal::bad_request("secret token is too long"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Err(Refusal::bad_request("secret token contains unallowed characters"));
    }
    Ok(Some(text.to_owned()))
}
