//! A page load: `page = "/index.html"`, checked.

use super::act::StepTable;
use super::complaint::Complaint;
use super::spot::Spot;
use super::step::{headers, path_template};
use super::template::{Captures, Template};

/// A document and what belongs to it.
#[derive(Debug, Clone)]
pub struct Page {
    /// Path and query of the document.
    pub path: Template,
    /// Headers of every request of the page.
    pub headers: Vec<(String, Template)>,
    /// What belongs to it.
    pub assets: Assets,
}

/// What belongs to a page.
#[derive(Debug, Clone)]
pub enum Assets {
    /// What the document names, as far as it is of the same origin.
    Found,
    /// These paths.
    Listed(Vec<Template>),
}

/// Checks a step that loads the page of this path.
pub(super) fn checked(
    path: &str,
    file: &StepTable,
    spot: &Spot<'_>,
    captures: &Captures,
    complaints: &mut Vec<Complaint>,
) -> Page {
    for (key, given) in [("json", file.json.is_some()), ("text", file.text.is_some())] {
        if given {
            complaints.push(spot.key(key).complain_of_key("a page is fetched without a body", "drop it"));
        }
    }
    reads_no_json(file, spot, complaints);
    let of_assets =
        |(index, path): (usize, &String)| path_template(path, &spot.key("assets").item(index), captures, complaints);
    let assets = match &file.assets {
        None => Assets::Found,
        Some(paths) => Assets::Listed(paths.iter().enumerate().map(of_assets).collect()),
    };
    Page {
        path: path_template(path, &spot.key("page"), captures, complaints),
        headers: headers(&file.headers, &spot.key("headers"), captures, complaints),
        assets,
    }
}

/// A document is HTML: only its headers can be read.
fn reads_no_json(file: &StepTable, spot: &Spot<'_>, complaints: &mut Vec<Complaint>) {
    let help = "keep it of another step, or take a header: { header = \"etag\" }";
    for name in file.capture.iter().filter(|(_, from)| from.is_in_body()).map(|(name, _)| name) {
        complaints.push(spot.key("capture").key(name).complain("a page's document is no JSON", help));
    }
    let version = file.shows.as_ref().is_some_and(|shows| shows.version.is_some());
    let version = version.then(|| spot.key("shows").key("version"));
    let check = (!file.check.is_empty()).then(|| spot.key("check"));
    for at in check.into_iter().chain(version) {
        let help = "drop it, or make it a step of its own: `get` what the page's script would";
        complaints.push(at.complain_of_key("a page's document is no JSON", help));
    }
}
