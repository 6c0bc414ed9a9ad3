//! Something wrong in a scenario file: where, what, and what to do about it.

use std::ops::Range;

/// Something wrong in a scenario file; rendered with the file's line and a caret by the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The bytes at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub says: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Complaint {
    pub(super) fn new(span: Range<usize>, says: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, says: says.into(), help: Some(help.into()) }
    }
}

/// The value, unless there is something to complain about; complaints in file order, each once.
pub(super) fn settle<T>(value: T, complaints: Vec<Complaint>) -> Result<T, Vec<Complaint>> {
    if complaints.is_empty() { Ok(value) } else { Err(in_file_order(complaints)) }
}

/// The complaints in file order, each once.
pub(super) fn in_file_order(mut complaints: Vec<Complaint>) -> Vec<Complaint> {
    complaints.sort_by(|one, other| (one.span.start, &one.says).cmp(&(other.span.start, &other.says)));
    complaints.dedup();
    complaints
}

/// Help for a name that is none of the known ones: the nearest, or all of them when none is near.
pub(super) fn did_you_mean(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none here".to_owned(),
        None => format!("there are {}", list(known)),
    }
}

/// The known name that a person who wrote `name` probably meant.
pub(super) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    // 0.7 takes one slip in three letters and turns down words that merely share some.
    const ALIKE: f64 = 0.7;
    let likeness = |known: &&str| strsim::normalized_damerau_levenshtein(name, known).max(prefix(name, known));
    let best = known.iter().copied().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(&best) >= ALIKE).then_some(best)
}

/// A name cut short, or with an ending too many, is near however long the rest is.
fn prefix(name: &str, known: &str) -> f64 {
    let short = name.len().min(known.len());
    if short >= 4 && (known.starts_with(name) || name.starts_with(known)) { 0.9 } else { 0.0 }
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, nearest};

    #[test]
    fn a_slip_of_the_finger_is_near_and_another_word_is_not() {
        let known = ["groups", "players_per_group", "timeout"];
        assert_eq!(nearest("gruops", &known), Some("groups"));
        assert_eq!(nearest("players", &known), Some("players_per_group"));
        assert_eq!(nearest("colour", &known), None);
    }

    #[test]
    fn without_a_near_name_all_are_listed() {
        assert_eq!(did_you_mean("x", &["before", "after"]), "there are `before`, `after`");
        assert_eq!(did_you_mean("x", &[]), "there are none here");
    }
}
