//! How much of a scenario is drawn, and from which seed: the same for a run and for its plan.

use crate::scenario::Scenario;

/// What to draw.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct Draw {
    /// Draw everything from this seed instead of the scenario's
    #[arg(long)]
    seed: Option<u64>,
    /// Smaller crowds, latency budgets reported but not judged: to try a scenario out, or on a shared machine
    #[arg(long, env = "FLOODRIG_QUICK", value_parser = clap::builder::BoolishValueParser::new(), num_args = 0, default_missing_value = "true", default_value = "false")]
    pub(super) quick: bool,
}

impl Draw {
    /// The scenario as it is drawn.
    pub(super) fn of(&self, mut scenario: Scenario) -> Scenario {
        scenario.seed = self.seed.unwrap_or(scenario.seed);
        if self.quick { scenario.quick() } else { scenario }
    }
}
