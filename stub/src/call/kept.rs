//! Bytes of files on their way in, kept only while all of them together stay under a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// How many bytes may be held by all calls that are being read.
#[derive(Debug, Clone)]
pub(crate) struct Keeping {
    held: Arc<AtomicUsize>,
    bound: usize,
}

/// One file's bytes so far; once they were too many, none of them.
#[derive(Debug)]
pub(super) struct Kept {
    keeping: Keeping,
    bytes: Option<Vec<u8>>,
}

impl Keeping {
    pub(crate) fn bounded(bound: usize) -> Self {
        Self { held: Arc::default(), bound }
    }

    pub(super) fn begin(&self) -> Kept {
        Kept { keeping: self.clone(), bytes: Some(Vec::new()) }
    }
}

impl Kept {
    /// Adds to what is kept, or lets all of it go when it grows over `most` or over what everybody may hold.
    pub(super) fn extend(&mut self, more: &[u8], most: usize) {
        let Some(bytes) = &mut self.bytes else { return };
        let held = self.keeping.held.fetch_add(more.len(), Ordering::Relaxed) + more.len();
        bytes.extend_from_slice(more);
        if bytes.len() > most || held > self.keeping.bound {
            self.release();
        }
    }

    /// All of the bytes, if they were kept.
    pub(super) fn finish(mut self) -> Option<Bytes> {
        self.release().map(Bytes::from)
    }

    fn release(&mut self) -> Option<Vec<u8>> {
        let bytes = self.bytes.take()?;
        self.keeping.held.fetch_sub(bytes.len(), Ordering::Relaxed);
        Some(bytes)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_over_the_bound_of_one_file_are_let_go() {
        let keeping = Keeping::bounded(100);
        let (mut fits, mut does_not) = (keeping.begin(), keeping.begin());
        fits.extend(&[1; 10], 10);
        does_not.extend(&[1; 11], 10);
        assert_eq!((fits.finish().map(|bytes| bytes.len()), does_not.finish()), (Some(10), None));
    }

    #[test]
    fn the_bound_of_all_is_freed_by_whoever_ends() {
        let keeping = Keeping::bounded(100);
        let mut first = keeping.begin();
        first.extend(&[1; 60], 100);
        let mut second = keeping.begin();
        second.extend(&[1; 60], 100);
        assert_eq!(second.finish(), None);
        drop(first);
        let mut third = keeping.begin();
        third.extend(&[1; 100], 100);
        assert!(third.finish().is_some());
    }
}
