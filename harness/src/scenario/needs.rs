//! What a scenario needs of the machine: a program by its name, and perhaps its least version.

use std::fmt;

use super::complaint::Complaint;
use super::spot::Spot;

/// A program that must be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// Its name, looked for in `PATH`.
    pub program: String,
    /// The least version that will do; nothing: any.
    pub at_least: Option<Version>,
}

/// A version as its numbers, the most significant first. What is not written counts as zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(Vec<u64>);

impl Version {
    /// The first numbers in a text, as programs print them: `v20.11.1`, `Python 3.11.7`, `go version go1.19.8 linux/amd64`.
    pub fn first_in(text: &str) -> Option<Self> {
        let from = text.find(|c: char| c.is_ascii_digit())?;
        let rest = &text[from..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        Self::read(rest[..end].trim_end_matches('.'))
    }

    /// Whether this one will do where `least` is needed.
    pub fn reaches(&self, least: &Self) -> bool {
        let part = |version: &Self, nth: usize| version.0.get(nth).copied().unwrap_or_default();
        let parts = self.0.len().max(least.0.len());
        (0..parts).map(|nth| part(self, nth)).ge((0..parts).map(|nth| part(least, nth)))
    }

    fn read(text: &str) -> Option<Self> {
        text.split('.').map(|part| part.parse().ok()).collect::<Option<_>>().map(Self)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0.iter().map(u64::to_string).collect::<Vec<_>>().join("."))
    }
}

impl fmt::Display for Need {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at_least {
            Some(version) => write!(to, "{} >= {version}", self.program),
            None => to.write_str(&self.program),
        }
    }
}

/// Reads each, and complains of those that say something else.
pub(super) fn checked(needs: &[String], spot: &Spot<'_>, complaints: &mut Vec<Complaint>) -> Vec<Need> {
    let mut read = Vec::new();
    for (nth, text) in needs.iter().enumerate() {
        match need(text) {
            Some(need) => read.push(need),
            None => complaints.push(spot.item(nth).complain(
                format!("`{text}` is no program and version"),
                "write its name, or its name and the least version: \"node\", \"node >= 20\"",
            )),
        }
    }
    read
}

fn need(text: &str) -> Option<Need> {
    let (program, version) = text.split_once(">=").map_or((text, None), |(program, version)| (program, Some(version)));
    let program = program.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    let at_least = match version {
        Some(version) => Some(Version::read(version.trim())?),
        None => None,
    };
    let named = !program.is_empty() && program.chars().all(fits);
    named.then(|| Need { program: program.to_owned(), at_least })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::first_in(text).unwrap()
    }

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (text, found) in [
            ("v20.11.1\n", "20.11.1"),
            ("Python 3.11.7", "3.11.7"),
            ("go version go1.19.8 linux/amd64", "1.19.8"),
            ("openjdk 17.0.15 2025-04-15", "17.0.15"),
            ("psql (PostgreSQL) 15.18 (Debian 15.18-0)", "15.18"),
            ("tool 7.", "7"),
        ] {
            assert_eq!(version(text).to_string(), found, "{text}");
        }
        assert_eq!(Version::first_in("no number"), None);
    }

    #[test]
    fn versions_are_compared_number_by_number() {
        for (has, least, reaches) in [
            ("20", "20", true),
            ("20.0.0", "20", true),
            ("20", "20.0.1", false),
            ("9.9", "10", false),
            ("10", "9.9", true),
            ("3.11", "3.9", true),
        ] {
            assert_eq!(version(has).reaches(&version(least)), reaches, "{has} >= {least}");
        }
    }

    #[test]
    fn a_need_is_a_name_or_a_name_and_a_version() {
        assert_eq!(need("node >= 20").unwrap().to_string(), "node >= 20");
        assert_eq!(need(" g++>=12.2").unwrap().to_string(), "g++ >= 12.2");
        assert_eq!(need("go").unwrap(), Need { program: "go".to_owned(), at_least: None });
        for text in ["", ">= 20", "node >= ", "node >= new", "node > 20", "node = 20", "a b", "../node", "node >= 20.x"]
        {
            assert_eq!(need(text), None, "{text}");
        }
    }
}
