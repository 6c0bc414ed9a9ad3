//! The page around the sections: head, style, masthead.

use std::time::{Duration, UNIX_EPOCH};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::chart::ink;
use crate::recording::Header;

/// The style, without the colours, which come from the charts' own table.
const STYLE: &str = include_str!("style.css");

/// A whole page.
pub(super) fn page(title: &str, body: &Markup) -> String {
    let light = ink::declarations(|colour| colour.light);
    let dark = ink::declarations(|colour| colour.dark);
    let colours = format!(":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Floodrig" }
                style { (PreEscaped(colours)) (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}

/// What was run, and when.
pub(super) fn masthead(header: &Header) -> Markup {
    html! {
        header {
            p.brand { "Floodrig report" }
            h1 { (header.title()) }
            @if !header.about.is_empty() { p.about { (header.about) } }
            p.when {
                (taken_at(header))
                " · seed " (header.seed)
                " · " (header.machine.cpus) " × " (header.machine.cpu)
                @if header.how.quick { " · a quick run with a smaller crowd" }
            }
        }
    }
}

/// When the run was made, in UTC.
fn taken_at(header: &Header) -> String {
    let at = UNIX_EPOCH + Duration::from_micros(header.epoch_unix_us);
    humantime::format_rfc3339_seconds(at).to_string().replace('T', " ").replace('Z', " UTC")
}
