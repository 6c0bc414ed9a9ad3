//! Complaints about a scenario file, drawn: the file and line, a caret, what to do.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::scenario::{Complaint, Source};

/// The complaints as text with colours; `anstream` takes these out where there is no terminal.
pub(super) fn render(source: &Source, complaints: &[Complaint]) -> String {
    let path = source.path.display().to_string();
    let drawn: Vec<String> = complaints.iter().map(|complaint| one(&path, &source.text, complaint)).collect();
    let mut text = drawn.join("\n\n");
    text.push('\n');
    text
}

fn one(path: &str, text: &str, complaint: &Complaint) -> String {
    let caret = AnnotationKind::Primary.span(on_one_line(&complaint.span, text));
    let snippet = Snippet::source(text).path(path).annotation(caret);
    let wrong = Level::ERROR.primary_title(complaint.says.as_str()).element(snippet);
    let help = complaint.help.as_deref().map(|help| Group::with_title(Level::HELP.secondary_title(help)));
    let report: Vec<Group<'_>> = std::iter::once(wrong).chain(help).collect();
    Renderer::styled().render(&report)
}

/// The bytes at fault up to the end of their first line, so that a caret never spreads over a whole table.
fn on_one_line(span: &Range<usize>, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let line = text[start..].find('\n').map_or(text.len(), |end| start + end);
    start..text.ceil_char_boundary(span.end.clamp(start, line))
}

#[cfg(test)]
mod tests;
