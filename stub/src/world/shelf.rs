//! A map that forgets what was not used for longest when it grows over its bound.
//!
//! Every entry gets a second chance: one that was looked up since it last came to the front goes to the back
//! again. So a board that is edited for hours stays, and forgetting costs a little each time instead of much
//! at once.

use std::collections::VecDeque;
use std::hash::Hash;

use crate::ids::ById;

/// Entries up to a total weight.
#[derive(Debug)]
pub(crate) struct Shelf<K, V> {
    entries: ById<K, Entry<V>>,
    order: VecDeque<K>,
    weight: usize,
    bound: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    weight: usize,
    used: bool,
}

impl<K: Eq + Hash + Clone, V> Shelf<K, V> {
    pub(crate) fn bounded(bound: usize) -> Self {
        Self { entries: ById::default(), order: VecDeque::new(), weight: 0, bound }
    }

    /// Puts an entry there, in place of the one of that key, and forgets others first if it must.
    pub(crate) fn insert(&mut self, key: K, value: V, weight: usize) {
        while self.weight + weight > self.bound && !self.order.is_empty() {
            self.forget_one();
        }
        self.weight += weight;
        match self.entries.insert(key.clone(), Entry { value, weight, used: false }) {
            Some(replaced) => self.weight -= replaced.weight,
            None => self.order.push_back(key),
        }
    }

    pub(crate) fn get(&mut self, key: &K) -> Option<&V> {
        let entry = self.entries.get_mut(key)?;
        entry.used = true;
        Some(&entry.value)
    }

    fn forget_one(&mut self) {
        let Some(key) = self.order.pop_front() else { return };
        let entry = self.entries.get_mut(&key).expect("what has an order is there");
        if std::mem::take(&mut entry.used) {
            self.order.push_back(key);
            return;
        }
        self.weight -= entry.weight;
        self.entries.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_oldest_unused_goes() {
        let mut shelf = Shelf::bounded(3);
        for key in [1, 2, 3] {
            shelf.insert(key, key * 10, 1);
        }
        shelf.get(&1);
        shelf.insert(4, 40, 1);
        assert_eq!([1, 2, 3, 4].map(|key| shelf.get(&key).copied()), [Some(10), None, Some(30), Some(40)]);
    }

    #[test]
    fn a_replaced_entry_weighs_what_the_new_one_weighs() {
        let mut shelf = Shelf::bounded(10);
        for _ in 0..100 {
            shelf.insert(1, (), 6);
        }
        assert_eq!((shelf.weight, shelf.order.len()), (6, 1));
        shelf.insert(2, (), 4);
        assert!(shelf.get(&1).is_some() && shelf.get(&2).is_some());
    }

    #[test]
    fn one_entry_over_the_bound_stays_until_the_next_comes() {
        let mut shelf = Shelf::bounded(1);
        shelf.insert(1, (), 5);
        assert!(shelf.get(&1).is_some());
        shelf.insert(2, (), 1);
        assert!(shelf.get(&1).is_none() && shelf.get(&2).is_some());
    }
}
