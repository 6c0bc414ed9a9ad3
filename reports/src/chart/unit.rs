//! What an axis counts: how its values are written and which steps between its marks look round.

/// What an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Things, or things in a second; the panel's title says which.
    Count,
    /// Processor cores.
    Cores,
    /// Bytes, in binary multiples.
    Bytes,
    /// A duration in microseconds.
    Micros,
    /// The time of the run in seconds.
    Seconds,
    /// A quantile, written as a percentile.
    Quantile,
}

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;

/// Round steps of time in seconds, beyond those of one digit.
const TIME_STEPS: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, MINUTE, 120.0, 300.0, 600.0, 1800.0, HOUR, 2.0 * HOUR, 6.0 * HOUR];

impl Unit {
    /// A value as an axis writes it: `1,200`, `256 MiB`, `10 ms`, `99.9 %`.
    pub(crate) fn label(self, value: f64) -> String {
        match self {
            Self::Bytes | Self::Micros if value == 0.0 => "0".to_owned(),
            Self::Count | Self::Cores => grouped(value),
            Self::Bytes => {
                scaled(value, &[(1024.0 * 1024.0 * 1024.0, "GiB"), (1024.0 * 1024.0, "MiB"), (1024.0, "KiB")], "B")
            }
            Self::Micros => scaled(value, &[(60e6 * 2.0, "min"), (1e6, "s"), (1e3, "ms")], "us"),
            Self::Seconds => scaled(value, &[(HOUR, "h"), (MINUTE, "min")], "s"),
            Self::Quantile => format!("{} %", short(value * 100.0)),
        }
    }

    /// The smallest round step that is at least `least`.
    pub(crate) fn step(self, least: f64) -> f64 {
        match self {
            Self::Bytes => 2f64.powf(least.max(1.0).log2().ceil()),
            Self::Count => decimal_step(least).max(1.0),
            Self::Seconds if least > 0.5 => {
                TIME_STEPS.into_iter().find(|step| *step >= least).unwrap_or_else(|| decimal_step(least))
            }
            Self::Cores | Self::Micros | Self::Seconds | Self::Quantile => decimal_step(least),
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn decimal_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// The value in the largest unit that it reaches.
fn scaled(value: f64, units: &[(f64, &str)], smallest: &str) -> String {
    let fitting = units.iter().find(|(size, _)| value.abs() >= *size * (1.0 - 1e-9));
    match fitting {
        Some((size, "min")) if *size > MINUTE => format!("{} min", short(value / 60e6)),
        Some((size, name)) => format!("{} {name}", short(value / size)),
        None => format!("{} {smallest}", short(value)),
    }
}

/// At most two decimals, and no more than are needed.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Thousands set apart by commas.
fn grouped(value: f64) -> String {
    let text = short(value);
    let whole = text.find('.').unwrap_or(text.len());
    let mut out = String::new();
    for (at, digit) in text.char_indices() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_in_the_largest_unit_they_reach() {
        let written = [
            (Unit::Count, 0.0, "0"),
            (Unit::Count, 999.0, "999"),
            (Unit::Count, 1_234_567.0, "1,234,567"),
            (Unit::Cores, 0.25, "0.25"),
            (Unit::Bytes, 0.0, "0"),
            (Unit::Bytes, 1023.0, "1023 B"),
            (Unit::Bytes, 1024.0, "1 KiB"),
            (Unit::Bytes, 1.5 * 1024.0 * 1024.0 * 1024.0, "1.5 GiB"),
            (Unit::Micros, 999.0, "999 us"),
            (Unit::Micros, 1_000.0, "1 ms"),
            (Unit::Micros, 60e6, "60 s"),
            (Unit::Micros, 180e6, "3 min"),
            (Unit::Seconds, 0.2, "0.2 s"),
            (Unit::Seconds, -2.0, "-2 s"),
            (Unit::Seconds, 90.0, "1.5 min"),
            (Unit::Seconds, 7200.0, "2 h"),
            (Unit::Quantile, 0.999, "99.9 %"),
        ];
        for (unit, value, text) in written {
            assert_eq!(unit.label(value), text);
        }
    }

    #[test]
    fn steps_are_round_in_their_own_unit() {
        let steps = [
            (Unit::Count, 0.2, 1.0),
            (Unit::Count, 120.0, 200.0),
            (Unit::Cores, 0.21, 0.5),
            (Unit::Cores, 0.2, 0.2),
            (Unit::Bytes, 1000.0, 1024.0),
            (Unit::Seconds, 0.3, 0.5),
            (Unit::Seconds, 11.0, 15.0),
            (Unit::Seconds, 61.0, 120.0),
            (Unit::Seconds, 30_000.0, 50_000.0),
        ];
        for (unit, least, step) in steps {
            assert!((unit.step(least) - step).abs() < 1e-9, "{unit:?} of {least}: {}", unit.step(least));
        }
    }
}
