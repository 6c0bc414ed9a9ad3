//! What the rig itself uses, what the host and others leave it, and how busy the system's cores are: the part of a vital
//! that is told of cores and not of the system's processes.

use std::time::Duration;

use floodrig_reports::recording::Vital;

use super::cpu::{self, Counters, Shares};
use super::noise::Noise;
use crate::drive::Seat;

/// Watches the cores of both, and the rig's own CPU time.
#[derive(Debug)]
pub struct OwnUse {
    rig_cores: Vec<u32>,
    system_cores: Vec<u32>,
    threads: Threads,
    counters: Option<Counters>,
    noise: Noise,
}

/// Threads of the rig that can be its limit by themselves, since one thread can use one core.
#[derive(Debug, Clone, Default)]
pub struct Threads {
    /// The stub's, whose CPU time is told apart from the rig's.
    pub stub: Vec<u32>,
    /// Where the driving thread is found, once it drives.
    pub seat: Seat,
}

impl OwnUse {
    /// Of the rig's cores, of how busy the system's are, and of what the host steals from both.
    pub fn of(rig: &[u32], system: &[u32], threads: Threads) -> Self {
        let (rig_cores, system_cores) = (rig.to_vec(), system.to_vec());
        Self { noise: Noise::of(rig), rig_cores, system_cores, threads, counters: Counters::read() }
    }

    /// A vital of `at`, with nothing in it yet of the system.
    pub fn look(&mut self, at: Duration) -> Vital {
        let counters = Counters::read();
        let shares = match (&counters, &self.counters) {
            (Some(now), Some(before)) => now.since(before, &self.rig_cores, &self.system_cores),
            (None, _) | (_, None) => Shares::default(),
        };
        self.counters = counters;
        let own = cpu::own(&self.threads.stub);
        let driver = self.threads.seat.thread().and_then(|thread| cpu::thread_time(&[thread]));
        let noise = self.noise.look(at);
        Vital {
            at_us: at.as_micros() as u64,
            rig_core_busy: shares.rig_busy,
            system_core_busy: shares.system_busy,
            steal: shares.stolen,
            pressure: noise.pressure,
            core_mhz: noise.mhz,
            rig_cpu_us: Some(own.rig.as_micros() as u64),
            stub_cpu_us: own.stub.map(|stub| stub.as_micros() as u64),
            driver_cpu_us: driver.map(|driver| driver.as_micros() as u64),
            ..Vital::default()
        }
    }
}
