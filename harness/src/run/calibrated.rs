//! What the rig can do on the cores it has, measured before anything else runs on them.
//!
//! It takes half a second of a run that lasts a minute and whose system takes a second or more to come up, and it
//! answers the first question of anybody who doubts a report: was the rig itself good for this load, here, today?
//! A figure kept from an earlier day would not: the machine that ran then may have had quieter neighbours. A quick run
//! judges no latency, so it does without.

use floodrig_reports::recording::Calibration;

use super::ground::Ground;
use super::trouble::RunError;
use super::{News, Order};
use crate::bench::{BRIEF, calibrate};
use crate::stop::Stop;

/// Measures the rig from the calling thread, which has the rig's cores.
pub(super) fn calibrated(
    order: &Order,
    ground: &Ground,
    stop: &Stop,
    tell: &mut dyn FnMut(News<'_>),
) -> Result<Option<Calibration>, RunError> {
    if order.quick || stop.asked() {
        return Ok(None);
    }
    tell(News::Waiting("calibrating the rig"));
    let calibration = calibrate(&ground.cores, BRIEF, stop)
        .map_err(|cause| RunError::Failed(format!("could not calibrate the rig: {cause}")))?;
    tell(News::Fact(&format!("calibrated {}", calibration.in_words())));
    Ok(Some(calibration))
}
