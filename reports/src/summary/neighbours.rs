//! What others used of the system's cores while the load was on: what was busy there, less what the system's own
//! processes used.

use crate::recording::Header;
use crate::timeline::VitalPoint;

/// The share of those cores' time; nothing where the rig shares one of them, or where either is not known.
pub(super) fn share(vitals: &[VitalPoint], header: &Header) -> Option<f64> {
    let cores = header.cores.system.len();
    if header.cores.shared || cores == 0 {
        return None;
    }
    let (from_us, to_us) = header.load_us;
    let [from_s, to_s] = [from_us, to_us].map(|us| us as f64 / 1e6);
    // The first look tells of the time before the load as well.
    let during = vitals.iter().filter(|vital| from_s <= vital.at_s && vital.at_s <= to_s).skip(1);
    let others: Vec<f64> = during.filter_map(|vital| Some(vital.core_busy? - vital.cpu? / cores as f64)).collect();
    // The two are read one after the other, so that a single difference may be below zero and their mean is not.
    (!others.is_empty()).then(|| (others.iter().sum::<f64>() / others.len() as f64).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Cores;

    fn header(system: &[u32], shared: bool) -> Header {
        let cores = Cores { system: system.to_vec(), shared, ..Cores::default() };
        Header { cores, load_us: (1_000_000, 2_000_000), ..Header::default() }
    }

    /// Ten looks a second, of which the first two are not of the load alone.
    fn looks(core_busy: Option<f64>, cpu: Option<f64>) -> Vec<VitalPoint> {
        let before =
            [0.9, 1.0].map(|at_s| VitalPoint { at_s, core_busy: Some(1.0), cpu: Some(0.0), ..VitalPoint::default() });
        let during = (1..10).map(|tick| VitalPoint {
            at_s: 1.0 + f64::from(tick) / 10.0,
            core_busy,
            cpu,
            ..VitalPoint::default()
        });
        before.into_iter().chain(during).collect()
    }

    fn percent(looks: &[VitalPoint], header: &Header) -> Option<f64> {
        share(looks, header).map(|share| (share * 100.0).round())
    }

    #[test]
    fn what_the_system_did_not_use_of_its_busy_cores_others_did() {
        assert_eq!(percent(&looks(Some(1.0), Some(0.3)), &header(&[1], false)), Some(70.0));
        assert_eq!(percent(&looks(Some(0.5), Some(1.0)), &header(&[1, 2], false)), Some(0.0));
        assert_eq!(percent(&looks(Some(0.30), Some(0.31)), &header(&[1], false)), Some(0.0));
    }

    #[test]
    fn where_it_cannot_be_known_nothing_is_said() {
        assert_eq!(percent(&looks(Some(1.0), Some(0.3)), &header(&[0], true)), None);
        assert_eq!(percent(&looks(None, Some(0.3)), &header(&[1], false)), None);
        assert_eq!(percent(&looks(Some(1.0), None), &header(&[1], false)), None);
        assert_eq!(percent(&looks(Some(1.0), Some(0.3)), &header(&[], false)), None);
    }
}
