//! Recorded arrival times, read from a file: one a line, in seconds or as an RFC 3339 time, in any order. Only their
//! distances count: the earliest is the start of the load.
//!
//! Only the first of several columns is read. Blank lines and those that begin with `#` are nothing, and so is a first
//! line that begins with no digit: the name of the column.

use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::Arrive;
use super::beside;
use super::check::LONGEST_RUN;
use super::complaint::Complaint;
use super::spot::Spot;

/// Reads the recorded arrivals of this file.
pub(super) fn read(scenario: &Path, name: &str, spot: &Spot<'_>) -> Result<Arrive, Complaint> {
    let text = beside::read(scenario, name, spot)?;
    let instants = instants(&text).map_err(|flaw| match flaw {
        Flaw::NoTime { line, found } => {
            let help = "write seconds, such as 12.5, or a time, such as 2026-11-30T09:00:00.5Z";
            beside::of_line(name, line, &format!("`{found}` is no time"), help, spot)
        }
        Flaw::TooLate { line } => {
            beside::of_line(name, line, "more than a day after the first", "a run lasts a day at most", spot)
        }
        Flaw::Nobody => spot.complain(format!("nobody arrives in `{name}`"), "write one arrival time a line"),
    })?;
    Ok(Arrive::Replay { file: name.to_owned(), instants: instants.into(), digest: Sha256::digest(&text).into() })
}

#[derive(Debug, PartialEq, Eq)]
enum Flaw {
    NoTime { line: usize, found: String },
    TooLate { line: usize },
    Nobody,
}

/// The instants in order, from the earliest on.
fn instants(text: &str) -> Result<Vec<Duration>, Flaw> {
    let mut times = Vec::new();
    let lines = (1..).zip(text.lines().map(first_column)).filter(|(_, field)| !is_nothing(field));
    for (nth, (line, field)) in lines.enumerate() {
        match micros(field) {
            Some(time) => times.push((time, line)),
            None if nth == 0 && !field.starts_with(|first: char| first.is_ascii_digit() || first == '-') => {}
            None => return Err(Flaw::NoTime { line, found: field.chars().take(40).collect() }),
        }
    }
    times.sort_unstable();
    let Some(&(first, _)) = times.first() else { return Err(Flaw::Nobody) };
    let since = |&(time, line): &(i64, usize)| {
        let since = Duration::from_micros(time.abs_diff(first));
        if since > LONGEST_RUN { Err(Flaw::TooLate { line }) } else { Ok(since) }
    };
    times.iter().map(since).collect()
}

fn first_column(line: &str) -> &str {
    line.split([',', ';', '\t']).next().unwrap_or_default().trim().trim_matches('"')
}

fn is_nothing(field: &str) -> bool {
    field.is_empty() || field.starts_with('#')
}

/// A time in whole microseconds, since whenever the file counts from.
fn micros(field: &str) -> Option<i64> {
    // Beyond this a double no longer holds every microsecond; the seconds since 1970 are far below.
    const EXACT: f64 = 9e9;
    match field.parse::<f64>() {
        Ok(seconds) => (seconds.abs() < EXACT).then(|| libm::round(seconds * 1e6) as i64),
        Err(_) => field.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond),
    }
}

impl Arrive {
    /// Recorded arrivals, for those who have them in hand.
    #[cfg(test)]
    pub(crate) fn replay(instants: &[Duration]) -> Self {
        Self::Replay { file: "arrivals.csv".to_owned(), instants: instants.into(), digest: [0; 32] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Result<Vec<u128>, Flaw> {
        Ok(instants(text)?.iter().map(Duration::as_millis).collect())
    }

    #[test]
    fn times_are_counted_from_the_earliest_whatever_their_order_and_clock() {
        assert_eq!(millis("3\n1.5\n2\n"), Ok(vec![0, 500, 1500]));
        assert_eq!(millis("1790000001.25\n1790000000"), Ok(vec![0, 1250]));
        assert_eq!(millis("2026-11-30T09:00:00Z\n2026-11-30T12:00:01.5+03:00"), Ok(vec![0, 1500]));
    }

    #[test]
    fn a_heading_remarks_blank_lines_and_further_columns_are_left_out() {
        assert_eq!(millis("at,path\r\n# recorded\r\n\r\n\"1\",/api\r\n2;x\r\n"), Ok(vec![0, 1000]));
    }

    #[test]
    fn the_line_that_is_no_time_is_named() {
        assert_eq!(millis("at\n1\nsoon\n"), Err(Flaw::NoTime { line: 3, found: "soon".to_owned() }));
        assert_eq!(millis("at\nat\n1"), Err(Flaw::NoTime { line: 2, found: "at".to_owned() }));
        assert_eq!(millis("1x\n"), Err(Flaw::NoTime { line: 1, found: "1x".to_owned() }));
        assert_eq!(millis("inf\n1\nnan"), Err(Flaw::NoTime { line: 3, found: "nan".to_owned() }));
    }

    #[test]
    fn a_day_is_replayed_and_a_millisecond_more_is_not() {
        assert_eq!(millis("0\n86400").unwrap().len(), 2);
        assert_eq!(millis("0\n86400.001"), Err(Flaw::TooLate { line: 2 }));
    }

    #[test]
    fn nobody_is_no_crowd() {
        assert_eq!(millis("at\n"), Err(Flaw::Nobody));
    }
}
