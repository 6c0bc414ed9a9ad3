//! A page load: `page = "/index.html"`, checked.

use super::complaint::Complaint;
use super::file::StepTable;
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
