//! How the system is spoken to: `system.tls` and `system.http2`, checked.

use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::beside;
use super::complaint::Complaint;
use super::spot::Spot;
use crate::exchange::{Speech, TlsError};

/// The certificates of all authorities that browsers trust are a quarter of that.
const LONGEST_FILE: u64 = 1 << 20;

/// Whom to trust.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Tls")]
pub(super) struct TlsTable {
    /// A PEM file, from the scenario's own folder: the system's certificate, or that of who signed it.
    pub(super) ca: String,
    /// The name that a signed certificate bears; a self-signed one is trusted whatever it bears.
    #[serde(default = "loopback")]
    pub(super) name: String,
}

fn loopback() -> String {
    "127.0.0.1".to_owned()
}

/// Reads the certificates from a file beside the scenario at this path.
pub(super) fn checked(
    tls: Option<&TlsTable>,
    http2: bool,
    scenario: &Path,
    spot: &Spot<'_>,
    complaints: &mut Vec<Complaint>,
) -> Speech {
    let Some(TlsTable { ca, name }) = tls else { return said(Speech::new(None, http2), spot, complaints) };
    match beside::bytes(scenario, ca, LONGEST_FILE, &spot.key("ca")) {
        Ok(pem) => said(Speech::new(Some((&pem, name)), http2), spot, complaints),
        Err(complaint) => {
            complaints.push(complaint);
            Speech::default()
        }
    }
}

fn said(speech: Result<Speech, TlsError>, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Speech {
    speech.unwrap_or_else(|error| {
        let (key, help) = match &error {
            TlsError::NoCertificate | TlsError::Certificate { .. } => {
                ("ca", "name a PEM file that holds the certificate of the system, or of who signed it")
            }
            TlsError::Name(_) => ("name", "write the host name that the certificate bears, such as \"localhost\""),
            TlsError::Setup(_) => ("ca", "another certificate may do"),
        };
        complaints.push(spot.key(key).complain(error.to_string(), help));
        Speech::default()
    })
}
