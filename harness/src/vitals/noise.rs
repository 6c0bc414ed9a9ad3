//! What disturbs a measurement from outside: others who want the processor, and a clock that changes its speed.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Reads both.
#[derive(Debug)]
pub(super) struct Noise {
    waited: Option<(Duration, Duration)>,
    frequencies: Vec<PathBuf>,
}

/// What was read at one tick; nothing where this machine does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Disturbance {
    /// Share of the time since the last tick in which some task of the machine waited for a processor.
    pub(super) pressure: Option<f64>,
    /// The lowest frequency of the cores, in MHz.
    pub(super) mhz: Option<u64>,
}

impl Noise {
    /// Of these cores.
    pub(super) fn of(cores: &[u32]) -> Self {
        let path = |core: &u32| PathBuf::from(format!("/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_cur_freq"));
        Self { waited: None, frequencies: cores.iter().map(path).filter(|path| path.exists()).collect() }
    }

    /// Since the last look.
    pub(super) fn look(&mut self, at: Duration) -> Disturbance {
        let now =
            fs::read_to_string("/proc/pressure/cpu").ok().and_then(|text| waited(&text)).map(|waited| (at, waited));
        let pressure = self.waited.zip(now).and_then(|((from, before), (to, after))| {
            let passed = to.saturating_sub(from).as_secs_f64();
            (passed > 0.0).then(|| (after.saturating_sub(before).as_secs_f64() / passed).min(1.0))
        });
        self.waited = now;
        let khz = self.frequencies.iter().filter_map(|path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok());
        Disturbance { pressure, mhz: khz.min().map(|khz| khz / 1000) }
    }
}

/// `Documentation/accounting/psi.rst`: the line of `some` ends in the microseconds in all.
fn waited(text: &str) -> Option<Duration> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.split_once("total=")?.1.trim().parse().ok().map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_all_is_read_from_the_line_of_some() {
        let text =
            "some avg10=99.65 avg60=99.25 avg300=96.81 total=8646824\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(waited(text), Some(Duration::from_micros(8_646_824)));
        assert_eq!(waited("full avg10=0.00 total=7\n"), None);
    }

    #[test]
    fn the_first_look_has_nothing_to_compare_with() {
        let mut noise = Noise::of(&[]);
        assert_eq!(noise.look(Duration::from_secs(1)), Disturbance::default());
        let told = fs::exists("/proc/pressure/cpu").unwrap();
        assert_eq!(noise.look(Duration::from_secs(2)).pressure.is_some(), told);
    }
}
