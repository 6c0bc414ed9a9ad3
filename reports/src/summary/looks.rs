//! Which looks tell of the load alone: each tells of the time since the one before, so that the first one in the load
//! tells of the time before it as well.

use crate::recording::Header;

/// Tells them apart, being shown all of them in order.
#[derive(Debug, Default)]
pub(super) struct Looks {
    load_us: (u64, u64),
    begun: bool,
}

impl Looks {
    pub(super) fn of(header: &Header) -> Self {
        Self { load_us: header.load_us, begun: false }
    }

    /// Whether a look of this instant tells of the load alone.
    pub(super) fn is_of_load(&mut self, at_us: u64) -> bool {
        let (from_us, to_us) = self.load_us;
        from_us <= at_us && at_us <= to_us && std::mem::replace(&mut self.begun, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_look_in_the_load_and_those_before_and_after_it_are_not_of_the_load_alone() {
        let mut looks = Looks::of(&Header { load_us: (100, 200), ..Header::default() });
        let are = [99, 100, 150, 200, 201].map(|at_us| looks.is_of_load(at_us));
        assert_eq!(are, [false, false, true, true, false]);
    }
}
