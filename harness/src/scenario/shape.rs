//! A merged table -> what it is read as: every key known, every value of the right type.
//!
//! Serde stops at the first thing it cannot read. To report all of them at once, what was complained of is taken
//! out of the table and the rest is read again; each round takes something out, so it ends.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use super::complaint::{Complaint, in_file_order, settle};
use super::{form, words};

/// More than a person mends before looking again.
const ENOUGH: usize = 20;

/// Reads a merged table, or says all that is wrong with its shape.
pub(super) fn read<T: DeserializeOwned>(table: &DeTable<'_>, text: &str) -> Result<T, Vec<Complaint>> {
    let mut left = table.clone();
    let mut complaints = Vec::new();
    let mut accounted = BTreeSet::new();
    for at in form::no_tables(table) {
        complaints.push(words::Fault::no_table().complaint(at.clone(), text, form::help(table, &at)));
        accounted.extend(take_out(&mut left, &at));
    }
    loop {
        let error = match T::deserialize(Deserializer::from(Spanned::new(0..text.len(), left.clone()))) {
            Ok(file) => return settle(file, complaints),
            Err(error) => error,
        };
        let at = error.span().unwrap_or(0..0);
        let fault = words::Fault::of(&error);
        let heard = fault.missing().is_some_and(|name| accounted.contains(name));
        accounted.extend(fault.accounts_for().map(str::to_owned));
        if !heard {
            complaints.push(fault.complaint(header(&at, text), text, form::help(&left, &at)));
        }
        let gone = take_out(&mut left, &at);
        if gone.is_empty() || complaints.len() == ENOUGH {
            return Err(in_file_order(complaints));
        }
        accounted.extend(gone);
    }
}

/// The caret for something missing in the whole file belongs on its first line, not on all of them.
fn header(at: &Range<usize>, text: &str) -> Range<usize> {
    if *at == (0..text.len()) { 0..0 } else { at.clone() }
}

/// Takes out the entry or element at these bytes, and with it every table that it leaves empty. Says which keys
/// they had; an element has none, and is told by an empty one.
fn take_out(table: &mut DeTable<'_>, at: &Range<usize>) -> Vec<String> {
    let here = table.iter().find(|(key, value)| key.span() == *at || value.span() == *at);
    if let Some(key) = here.map(|(key, _)| key.get_ref().clone()) {
        table.remove(key.as_ref());
        return vec![key.into_owned()];
    }
    let mut gone = Vec::new();
    let mut emptied = None;
    for (key, value) in table.iter_mut() {
        gone = take_out_of(value.get_mut(), at);
        if !gone.is_empty() {
            emptied = value.get_ref().as_table().is_some_and(DeTable::is_empty).then(|| key.get_ref().clone());
            break;
        }
    }
    if let Some(key) = emptied {
        table.remove(key.as_ref());
        gone.push(key.into_owned());
    }
    gone
}

fn take_out_of(value: &mut DeValue<'_>, at: &Range<usize>) -> Vec<String> {
    match value {
        DeValue::Table(table) => take_out(table, at),
        DeValue::Array(list) => {
            let count = list.len();
            // The parser's own list cannot be shortened in place.
            let old = std::mem::replace(list, DeArray::new());
            *list = old.into_iter().filter(|item| item.span() != *at).collect();
            if list.len() < count {
                return vec![String::new()];
            }
            let mut deeper = list.iter_mut().map(|item| take_out_of(item.get_mut(), at));
            deeper.find(|gone| !gone.is_empty()).unwrap_or_default()
        }
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            Vec::new()
        }
    }
}
