//! What the rig can do on these cores: measured against its own null server, by the path that scenarios take.

use std::time::Duration;

use floodrig_reports::recording::{Calibration, Cores};
use floodrig_reports::{Summary, summarise};

use super::null::Null;
use super::order::{Load, Order};
use super::{BenchError, Place, bench};
use crate::drive::Target;
use crate::run::News;
use crate::stop::Stop;
use crate::system::cores::CoreSets;

/// As many connections as the published comparisons of load generators use.
const CONNECTIONS: u32 = 64;

/// Requests a second of the steady part: several times what a Mini App sees, and far from saturation.
const STEADY: u32 = 2_000;

/// How long each half takes before a run: the figures move by some 10 % from one to the next, which is enough to see a
/// machine that is half as fast or a core that somebody else is on, and the two halves together cost a run half a
/// second.
pub const BRIEF: Duration = Duration::from_millis(250);
/// How long each half takes by itself.
pub const WHOLE: Duration = Duration::from_secs(1);

/// Measures for `each` saturated and for as long at a steady rate, from the calling thread, which has the rig's cores.
pub fn calibrate(cores: &CoreSets, each: Duration, stop: &Stop) -> Result<Calibration, BenchError> {
    let null = Null::start(&cores.system)?;
    let measure = |load| {
        let target = Target { address: null.address, host: null.address.to_string() };
        let (path, timeout) = ("/".to_owned(), Duration::from_secs(1));
        let order = Order { target, path, tls: None, http2: false, load, length: each, timeout };
        let cores = Cores { system: cores.system.clone(), rig: cores.rig.clone(), shared: cores.shared(), note: None };
        let place = Place { cores, apart: vec![null.thread_id] };
        let rows = bench(&order, place, stop, &mut |_: News<'_>| {})?;
        // The rows were made a moment ago and begin with their header.
        summarise(rows.into_iter().map(Ok)).map(|(summary, _)| summary).map_err(|_| BenchError::Panicked("summary"))
    };
    let saturated = measure(Load::Closed { connections: CONNECTIONS })?;
    let steady = measure(Load::Open { rate: f64::from(STEADY) })?;
    Ok(calibration(&saturated, &steady))
}

fn calibration(saturated: &Summary, steady: &Summary) -> Calibration {
    Calibration {
        connections: CONNECTIONS,
        requests_per_second: saturated.acts.values().filter_map(|act| act.ok_per_second).sum(),
        cpu_us_per_request: saturated.rig.cpu_us_per_request,
        steady_per_second: STEADY,
        lag_p50_us: steady.rig.lag_us.p50,
        lag_p99_us: steady.rig.lag_us.p99,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use crate::system::cores::{machine, pin_this_thread, split};

    #[test]
    fn the_rig_measures_itself_against_a_server_of_its_own() {
        let cores = split(&scenario::Cores::Count(1), &machine().unwrap()).unwrap();
        pin_this_thread(&cores.rig).unwrap();
        let calibration = calibrate(&cores, Duration::from_millis(100), &Stop::default()).unwrap();
        assert!(calibration.requests_per_second > 100.0, "{calibration:?}");
        assert!(calibration.cpu_us_per_request.is_some_and(|us| us > 0.0), "{calibration:?}");
        assert!(calibration.lag_p50_us <= calibration.lag_p99_us && calibration.lag_p99_us.is_some());
    }
}
