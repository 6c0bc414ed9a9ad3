//! Who gets which cores, and who really has them once everything runs.

use floodrig_reports::recording::Cores;

use super::super::trouble::RunError;
use super::super::under_test::UnderTest;
use super::super::{News, Order};
use super::Ground;
use crate::drive::Target;
use crate::system::cores::{self, CoreSets, ranges};

/// The rig keeps off the system's cores where that is on this machine.
pub(super) fn core_sets(order: &Order, target: &Target) -> Result<CoreSets, RunError> {
    if target.address.ip().is_loopback() {
        return Ok(cores::split(&order.scenario.system.cores, &order.machine)?);
    }
    Ok(CoreSets { system: Vec::new(), rig: order.machine.clone(), note: None })
}

impl Ground {
    /// The cores as the system's threads really have them.
    pub(in crate::run) fn verified(&self, system: &UnderTest, tell: &mut dyn FnMut(News<'_>)) -> Cores {
        let Some(pinning) = system.pinning(&self.cores.system) else { return self.assumed(tell) };
        let strays = pinning
            .strays
            .iter()
            .map(|stray| format!("{} (pid {}) may use cores {}", stray.name, stray.pid, ranges(&stray.cores)));
        let notes: Vec<String> = self.cores.note.iter().cloned().chain(strays).collect();
        let (system, rig) = (ranges(&pinning.seen), ranges(&self.cores.rig));
        tell(News::Fact(&format!("cores: system {system}, rig and stub {rig}")));
        for note in &notes {
            tell(News::Fact(&format!("note: {note}")));
        }
        Cores {
            shared: pinning.seen.iter().any(|core| self.cores.rig.contains(core)),
            system: pinning.seen,
            rig: self.cores.rig.clone(),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }

    /// The cores of a system whose processes are not known.
    fn assumed(&self, tell: &mut dyn FnMut(News<'_>)) -> Cores {
        let rig = ranges(&self.cores.rig);
        let note = if self.cores.system.is_empty() {
            "which cores the system has is not known: it is not on this machine".to_owned()
        } else {
            let system = ranges(&self.cores.system);
            format!(
                "that the system keeps to cores {system} and off the rig's ({rig}) is assumed, since its pid is not known"
            )
        };
        tell(News::Fact(&format!("cores: rig and stub {rig}")));
        tell(News::Fact(&format!("note: {note}")));
        let CoreSets { system, rig, .. } = self.cores.clone();
        Cores { shared: self.cores.shared(), system, rig, note: Some(note) }
    }
}
