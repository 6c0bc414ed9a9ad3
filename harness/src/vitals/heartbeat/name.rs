//! What a page is called: by its process, and by its thread too where another loop of that process came first. Pure.

use std::fmt;
use std::str::FromStr;

/// `12`, or `12-15` for a loop in thread 15 of process 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) pid: u32,
    pub(super) thread: Option<u32>,
}

/// Another file, as of stacks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoPage;

impl FromStr for Name {
    type Err = NoPage;

    fn from_str(name: &str) -> Result<Self, NoPage> {
        let number = |text: &str| text.parse::<u32>().map_err(|_| NoPage);
        match name.split_once('-') {
            Some((pid, thread)) => Ok(Self { pid: number(pid)?, thread: Some(number(thread)?) }),
            None => Ok(Self { pid: number(name)?, thread: None }),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.thread {
            Some(thread) => write!(to, "{}-{thread}", self.pid),
            None => write!(to, "{}", self.pid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_found_by_its_name_and_other_files_are_none() {
        assert_eq!("12".parse(), Ok(Name { pid: 12, thread: None }));
        assert_eq!("12-15".parse(), Ok(Name { pid: 12, thread: Some(15) }));
        assert_eq!(Name { pid: 12, thread: Some(15) }.to_string(), "12-15");
        for other in ["12.stack", "12-15.stack", "12-", "-1", ""] {
            assert_eq!(other.parse::<Name>(), Err(NoPage), "{other}");
        }
    }
}
