//! A place in the merged table, with the bytes that a complaint about it should underline.
//!
//! Asking for what is not there gives the place that should hold it: a missing key is underlined at its table.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::complaint::Complaint;

/// A place in the merged table.
#[derive(Debug, Clone)]
pub(super) struct Spot<'t> {
    value: Option<&'t DeValue<'t>>,
    span: Range<usize>,
    key: Range<usize>,
}

impl<'t> Spot<'t> {
    /// The value of a key of the whole file.
    pub(super) fn top(table: &'t DeTable<'t>, name: &str) -> Self {
        let missing = Self { value: None, span: 0..0, key: 0..0 };
        entry(table, name).unwrap_or(missing)
    }

    /// The value of a key of this table.
    pub(super) fn key(&self, name: &str) -> Self {
        let found = self.value.and_then(DeValue::as_table).and_then(|table| entry(table, name));
        found.unwrap_or_else(|| self.missing())
    }

    /// An element of this list.
    pub(super) fn item(&self, index: usize) -> Self {
        let found = self.value.and_then(DeValue::as_array).and_then(|list| list.get(index));
        match found {
            Some(item) => Self { value: Some(item.get_ref()), span: item.span(), key: item.span() },
            None => self.missing(),
        }
    }

    /// The entries of this table in file order.
    pub(super) fn entries(&self) -> Vec<(&'t str, Self)> {
        let Some(table) = self.value.and_then(DeValue::as_table) else { return Vec::new() };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| {
                let spot = Self { value: Some(value.get_ref()), span: value.span(), key: key.span() };
                (key.get_ref().as_ref(), spot)
            })
            .collect()
    }

    /// The bytes at fault, if something is at fault here.
    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The key of this value, as if it were a value.
    pub(super) fn as_key(&self) -> Self {
        Self { value: None, span: self.key.clone(), key: self.key.clone() }
    }

    /// Whether a table is written here.
    pub(super) fn is_table(&self) -> bool {
        self.value.is_some_and(DeValue::is_table)
    }

    /// What is written here, if anything is.
    pub(super) fn value(&self) -> Option<&'t DeValue<'t>> {
        self.value
    }

    /// A complaint about the value here.
    pub(super) fn complain(&self, says: impl Into<String>, help: impl Into<String>) -> Complaint {
        Complaint::new(self.span.clone(), says, help)
    }

    /// A complaint about the key of the value here.
    pub(super) fn complain_of_key(&self, says: impl Into<String>, help: impl Into<String>) -> Complaint {
        Complaint::new(self.key.clone(), says, help)
    }

    /// A complaint about some bytes of the text here; about all of it where escapes make the bytes differ.
    pub(super) fn complain_within(
        &self,
        within: Range<usize>,
        says: impl Into<String>,
        help: impl Into<String>,
    ) -> Complaint {
        let as_written = self.value.and_then(DeValue::as_str).is_some_and(|text| text.len() + 2 == self.span.len());
        let first = self.span.start + 1;
        let span = if as_written { first + within.start..first + within.end } else { self.span.clone() };
        Complaint::new(span, says, help)
    }

    fn missing(&self) -> Self {
        Self { value: None, span: self.span.clone(), key: self.key.clone() }
    }
}

fn entry<'t>(table: &'t DeTable<'t>, name: &str) -> Option<Spot<'t>> {
    let (key, value) = table.get_key_value(name)?;
    Some(Spot { value: Some(value.get_ref()), span: value.span(), key: key.span() })
}
