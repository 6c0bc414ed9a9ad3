//! Values under markers, which are found wherever their marker occurs in a text: at a price that grows with the text
//! and with how many lengths markers have, and not with how many markers there are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Values under markers.
#[derive(Debug)]
pub(super) struct Markers<V> {
    values: HashMap<String, Vec<V>>,
    /// How many markers there are of each length in bytes.
    lengths: BTreeMap<usize, usize>,
}

impl<V> Default for Markers<V> {
    fn default() -> Self {
        Self { values: HashMap::new(), lengths: BTreeMap::new() }
    }
}

impl<V> Markers<V> {
    /// Keeps one more value under a marker.
    pub(super) fn insert(&mut self, marker: String, value: V) {
        let length = marker.len();
        let values = self.values.entry(marker).or_insert_with(|| {
            *self.lengths.entry(length).or_default() += 1;
            Vec::new()
        });
        values.push(value);
    }

    /// The markers that occur in the text, each once, with their values.
    pub(super) fn within<'t>(&self, text: &'t str) -> BTreeMap<&'t str, &[V]> {
        let mut found = BTreeMap::new();
        for length in self.lengths.keys() {
            // A part that would begin or end inside a character is no text, and so no marker.
            let parts = (0..=text.len().saturating_sub(*length)).filter_map(|from| text.get(from..from + length));
            found.extend(parts.filter_map(|part| Some((part, self.values.get(part)?.as_slice()))));
        }
        found
    }

    /// Takes out the markers that occur in the text, with their values.
    pub(super) fn take_within(&mut self, text: &str) -> Vec<(String, Vec<V>)> {
        let markers: BTreeSet<&str> = self.within(text).into_keys().collect();
        markers.into_iter().filter_map(|marker| self.take(marker)).collect()
    }

    fn take(&mut self, marker: &str) -> Option<(String, Vec<V>)> {
        let taken = self.values.remove_entry(marker)?;
        if let Some(count) = self.lengths.get_mut(&marker.len()) {
            *count -= 1;
        }
        self.lengths.retain(|_, count| *count > 0);
        Some(taken)
    }

    /// All values.
    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.values.values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_wherever_it_occurs_and_once_however_often() {
        let mut markers = Markers::default();
        for (value, marker) in ["ab", "bc", "é😀", "ab"].into_iter().enumerate() {
            markers.insert(marker.to_owned(), value);
        }
        assert_eq!(markers.within("abc ab"), BTreeMap::from([("ab", [0, 3].as_slice()), ("bc", &[1])]));
        assert_eq!(markers.within("aé😀a"), BTreeMap::from([("é😀", [2].as_slice())]));
        assert!(markers.within("a").is_empty() && markers.within("").is_empty() && markers.within("é").is_empty());
    }

    #[test]
    fn what_was_taken_out_is_not_there_any_more() {
        let mut markers = Markers::default();
        markers.insert("ab".to_owned(), 1);
        markers.insert("abc".to_owned(), 2);
        assert_eq!(markers.take_within("xab"), [("ab".to_owned(), vec![1])]);
        assert_eq!(markers.take_within("xabc"), [("abc".to_owned(), vec![2])]);
        assert!(markers.lengths.is_empty() && markers.values().next().is_none());
    }
}
