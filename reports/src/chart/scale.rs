//! From a value to its place on an axis, as a share of the axis's length.

/// How values are laid out along an axis. A value beyond the ends is drawn at the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// Equal steps.
    Linear {
        /// The value at the start.
        from: f64,
        /// The value at the end.
        to: f64,
    },
    /// Equal factors; both ends are positive.
    Log {
        /// The value at the start.
        from: f64,
        /// The value at the end.
        to: f64,
    },
    /// Quantiles, as `HdrHistogram` plots them: 0.9, 0.99 and 0.999 stand at equal distances.
    Nines {
        /// How many nines the axis holds.
        nines: f64,
    },
}

impl Scale {
    /// Where a value stands, in `0.0..=1.0`; a value that is no number stands at the start.
    pub(crate) fn share(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { from, to } => (value - from) / (to - from),
            Self::Log { from, to } => (value.max(from).ln() - from.ln()) / (to.ln() - from.ln()),
            Self::Nines { nines } => nines_of(value) / nines,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Whether a value lies between the ends.
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::Linear { from, to } | Self::Log { from, to } => (from..=to).contains(&value),
            Self::Nines { nines } => (0.0..=nines).contains(&nines_of(value)),
        }
    }
}

/// How many nines a quantile has: 0 for 0.0, 1 for 0.9, 2 for 0.99.
fn nines_of(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-12).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn stands(scale: Scale, value: f64, at: f64) {
        assert!((scale.share(value) - at).abs() < 1e-9, "{value} stands at {}", scale.share(value));
    }

    #[test]
    fn a_linear_scale_has_equal_steps_and_keeps_outsiders_at_its_ends() {
        let scale = Scale::Linear { from: -10.0, to: 10.0 };
        stands(scale, -10.0, 0.0);
        stands(scale, 5.0, 0.75);
        stands(scale, 11.0, 1.0);
        stands(scale, -11.0, 0.0);
    }

    #[test]
    fn a_log_scale_has_equal_factors_and_takes_zero() {
        let scale = Scale::Log { from: 1.0, to: 10_000.0 };
        stands(scale, 100.0, 0.5);
        stands(scale, 0.0, 0.0);
    }

    #[test]
    fn each_nine_takes_the_same_room() {
        let scale = Scale::Nines { nines: 3.0 };
        stands(scale, 0.0, 0.0);
        stands(scale, 0.9, 1.0 / 3.0);
        stands(scale, 0.99, 2.0 / 3.0);
        stands(scale, 0.999, 1.0);
        stands(scale, 1.0, 1.0);
    }

    #[test]
    fn what_is_no_number_stands_at_the_start() {
        stands(Scale::Linear { from: 0.0, to: 0.0 }, 0.0, 0.0);
        stands(Scale::Linear { from: 0.0, to: 1.0 }, f64::NAN, 0.0);
    }

    #[test]
    fn a_scale_holds_its_ends_and_nothing_beyond() {
        let scale = Scale::Linear { from: 0.0, to: 1.0 };
        assert!(scale.holds(0.0) && scale.holds(1.0));
        assert!(!scale.holds(-0.001) && !scale.holds(1.001) && !scale.holds(f64::NAN));
    }
}
