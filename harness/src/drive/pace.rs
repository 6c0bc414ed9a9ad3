//! When acts are due: at their planned instants, or again and again. Pure.

use std::time::Duration;

use crate::plan::Plan;

/// Whether the plan is done once, or again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Open loop: every act at its planned instant, once.
    Planned,
    /// Closed loop: every act again as soon as it has ended, until this long into the load. It is due at the instant
    /// its player is free, so that no time is ever spent waiting for a schedule.
    Again {
        /// Since the start of the load.
        until: Duration,
    },
}

impl Pace {
    /// How long acts come due for, since the start of the load.
    pub fn length(self, plan: &Plan) -> Duration {
        match self {
            Self::Planned => plan.arrivals.last().map_or(Duration::ZERO, |last| last.at),
            Self::Again { until } => until,
        }
    }

    /// Whether an act that ended this long into the load is due again.
    pub(super) fn is_due_again(self, ended: Duration) -> bool {
        match self {
            Self::Planned => false,
            Self::Again { until } => ended < until,
        }
    }

    /// When an act is due whose player has been free since `free`.
    pub(super) fn due(self, planned: Duration, free: Duration) -> Duration {
        match self {
            Self::Planned => planned,
            Self::Again { .. } => planned.max(free),
        }
    }

    /// The same, but nothing comes due again.
    pub(super) fn ended(self) -> Self {
        match self {
            Self::Planned => Self::Planned,
            Self::Again { .. } => Self::Again { until: Duration::ZERO },
        }
    }
}
