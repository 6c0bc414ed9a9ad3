//! A measured value or a bound, written out once: every renderer shows this text, so all agree to the digit.

use std::fmt;
use std::time::Duration;

use bytesize::ByteSize;

/// A measured value or a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// How many.
    Count(u64),
    /// How long, in microseconds.
    Time(u64),
    /// How much memory or traffic.
    Size(u64),
    /// A part of a whole, `0.0..=1.0`.
    Share(f64),
    /// Any other number.
    Number(f64),
    /// Longer than any bound: that many acts did not succeed.
    Unbounded,
    /// Not measured; never shown as zero.
    Unmeasured,
    /// Measured, and there was nothing: a quantile of no acts.
    Absent,
}

impl Value {
    /// A count, if there is one.
    pub fn count(count: Option<u64>) -> Self {
        count.map_or(Self::Unmeasured, Self::Count)
    }

    /// A quantile in microseconds of what was counted, if anything was.
    pub fn quantile(us: Option<u64>) -> Self {
        us.map_or(Self::Absent, Self::Time)
    }

    /// Milliseconds, if there are any.
    pub fn millis(ms: Option<f64>) -> Self {
        ms.map_or(Self::Unmeasured, |ms| Self::Time((ms * 1e3).round() as u64))
    }

    /// Bytes, if there are any.
    pub fn size(bytes: Option<u64>) -> Self {
        bytes.map_or(Self::Unmeasured, Self::Size)
    }

    /// A part of a whole, if there is one.
    pub fn share(share: Option<f64>) -> Self {
        share.map_or(Self::Unmeasured, Self::Share)
    }

    /// Any other number, if there is one.
    pub fn number(number: Option<f64>) -> Self {
        number.map_or(Self::Unmeasured, Self::Number)
    }

    /// This value over another; nothing when that is no finite number.
    pub fn ratio_to(self, other: Self) -> Option<f64> {
        let ratio = self.magnitude()? / other.magnitude()?;
        ratio.is_finite().then_some(ratio)
    }

    /// Whether this value is greater than a bound of the same kind; an unmeasured one never is.
    pub fn exceeds(self, limit: Self) -> bool {
        match (self.magnitude(), limit.magnitude()) {
            (Some(value), Some(limit)) => value > limit,
            (None, _) | (_, None) => false,
        }
    }

    fn magnitude(self) -> Option<f64> {
        match self {
            Self::Count(number) | Self::Time(number) | Self::Size(number) => Some(number as f64),
            Self::Share(number) | Self::Number(number) => Some(number),
            Self::Unbounded => Some(f64::INFINITY),
            Self::Unmeasured | Self::Absent => None,
        }
    }
}

/// `1 act`, `1,200 acts`.
pub(crate) fn many(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", Value::Count(count))
}

impl From<Duration> for Value {
    fn from(duration: Duration) -> Self {
        Self::Time(duration.as_micros() as u64)
    }
}

impl From<ByteSize> for Value {
    fn from(size: ByteSize) -> Self {
        Self::Size(size.as_u64())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Self::Count(count) => grouped(*count),
            Self::Time(us) => time(*us),
            Self::Size(bytes) => ByteSize::b(*bytes).to_string(),
            Self::Share(share) => format!("{} %", trimmed(share * 100.0, 1)),
            Self::Number(number) => trimmed(*number, 2),
            Self::Unbounded => "unbounded".to_owned(),
            Self::Unmeasured => "not measured".to_owned(),
            Self::Absent => "none".to_owned(),
        })
    }
}

/// Digits in groups of three: `12,345`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three or four digits, as many as the histograms hold, in the unit that a person would choose.
fn time(us: u64) -> String {
    match us {
        0 => "0 s".to_owned(),
        1..1_000 => format!("{us} us"),
        1_000..10_000 => format!("{} ms", trimmed(us as f64 / 1e3, 2)),
        10_000..999_950 => format!("{} ms", trimmed(us as f64 / 1e3, 1)),
        999_950..10_000_000 => format!("{} s", trimmed(us as f64 / 1e6, 3)),
        10_000_000..100_000_000 => format!("{} s", trimmed(us as f64 / 1e6, 2)),
        100_000_000.. => format!("{} s", trimmed(us as f64 / 1e6, 1)),
    }
}

/// At most so many decimals, and none that are zero.
fn trimmed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_for_people() {
        let written = [
            (Value::Count(0), "0"),
            (Value::Count(999), "999"),
            (Value::Count(1_000), "1,000"),
            (Value::Count(12_345_678), "12,345,678"),
            (Value::Time(0), "0 s"),
            (Value::Time(999), "999 us"),
            (Value::Time(1_000), "1 ms"),
            (Value::Time(1_234), "1.23 ms"),
            (Value::Time(200_063), "200.1 ms"),
            (Value::Time(250_000), "250 ms"),
            (Value::Time(999_949), "999.9 ms"),
            (Value::Time(999_950), "1 s"),
            (Value::Time(3_214_567), "3.215 s"),
            (Value::Time(12_345_678), "12.35 s"),
            (Value::Time(100_000_000), "100 s"),
            (Value::Time(123_456_789), "123.5 s"),
            (Value::Size(400 << 20), "400.0 MiB"),
            (Value::Share(0.018), "1.8 %"),
            (Value::Share(1.0), "100 %"),
            (Value::Number(4.0), "4"),
            (Value::Number(1.25), "1.25"),
            (Value::Unbounded, "unbounded"),
            (Value::Unmeasured, "not measured"),
            (Value::quantile(None), "none"),
        ];
        for (value, text) in written {
            assert_eq!(value.to_string(), text);
        }
    }

    #[test]
    fn one_of_a_thing_is_singular() {
        assert_eq!([0, 1, 1_200].map(|count| many(count, "act")), ["0 acts", "1 act", "1,200 acts"]);
    }

    #[test]
    fn a_value_at_its_bound_does_not_exceed_it() {
        assert!(!Value::Count(5).exceeds(Value::Count(5)));
        assert!(Value::Count(6).exceeds(Value::Count(5)));
        assert!(Value::Unbounded.exceeds(Value::Time(u64::MAX)));
        assert!(!Value::Unmeasured.exceeds(Value::Count(0)));
    }

    #[test]
    fn a_ratio_that_is_no_number_is_not_given() {
        assert_eq!(Value::Count(6).ratio_to(Value::Count(4)), Some(1.5));
        assert_eq!(Value::Count(6).ratio_to(Value::Count(0)), None);
        assert_eq!(Value::Unbounded.ratio_to(Value::Time(1)), None);
        assert_eq!(Value::Unmeasured.ratio_to(Value::Time(1)), None);
    }
}
