//! Small pieces that several sections share.

use maud::{Markup, html};

use crate::Value;
use crate::tables::Table;

/// A value as text, set apart when there is none, so that nobody takes it for zero.
pub(super) fn said(text: &str) -> Markup {
    let none = [Value::Unmeasured, Value::Absent].iter().any(|none| none.to_string() == text);
    html! { @if none { span.none { (text) } } @else { (text) } }
}

/// A sentence of ours in which what is between backticks is code.
pub(super) fn marked(text: &str) -> Markup {
    html! {
        @for (nth, part) in text.split('`').enumerate() {
            @if nth % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// A table of two columns as a list of facts.
pub(super) fn facts(table: &Table) -> Markup {
    html! {
        dl.facts { @for row in &table.rows { div { dt { (row[0]) } @for value in &row[1..] { dd { (said(value)) } } } } }
    }
}

/// A table as it stands.
pub(super) fn table(table: &Table) -> Markup {
    let class = |column: usize| (1..=table.values).contains(&column).then_some("number");
    html! {
        div.scroll { table.full {
            thead { tr { @for (nth, head) in table.head.iter().enumerate() { th class=[class(nth)] { (head) } } } }
            tbody {
                @for row in &table.rows {
                    tr {
                        @for (nth, cell) in row.iter().enumerate() {
                            @if nth == 0 { th scope="row" { (cell) } } @else { td class=[class(nth)] { (said(cell)) } }
                        }
                    }
                }
            }
        } }
    }
}

/// Why an observation has no value: the reason it gives itself, or what its silence means.
pub(super) fn because(observation: &str) -> &str {
    match observation.strip_prefix("inactive: ") {
        Some(reason) => reason,
        None if observation.is_empty() => "nothing was recorded",
        None => "watched, and nothing was seen",
    }
}

/// With a capital letter, as a sentence begins.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
