//! What the rig itself uses, and what the host and others leave it: the part of a vital that is not the system's.

use std::time::Duration;

use floodrig_reports::recording::Vital;

use super::cpu::{self, Counters, Shares};
use super::noise::Noise;

/// Watches the rig's own cores and CPU time.
#[derive(Debug)]
pub struct OwnUse {
    cores: Vec<u32>,
    apart: Vec<u32>,
    counters: Option<Counters>,
    noise: Noise,
}

impl OwnUse {
    /// Of these cores; the threads `apart` are the stub's, whose CPU time is told apart from the rig's.
    pub fn new(cores: Vec<u32>, apart: Vec<u32>) -> Self {
        Self { noise: Noise::of(&cores), cores, apart, counters: Counters::read() }
    }

    /// A vital of `at`, with nothing in it yet of the system.
    pub fn look(&mut self, at: Duration) -> Vital {
        let counters = Counters::read();
        let shares = match (&counters, &self.counters) {
            (Some(now), Some(before)) => now.since(before, &self.cores),
            (None, _) | (_, None) => Shares::default(),
        };
        self.counters = counters;
        let own = cpu::own(&self.apart);
        let noise = self.noise.look(at);
        Vital {
            at_us: at.as_micros() as u64,
            rig_core_busy: shares.busy,
            steal: shares.stolen,
            pressure: noise.pressure,
            core_mhz: noise.mhz,
            rig_cpu_us: Some(own.rig.as_micros() as u64),
            stub_cpu_us: own.stub.map(|stub| stub.as_micros() as u64),
            ..Vital::default()
        }
    }
}
