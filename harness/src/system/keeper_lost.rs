//! A keeper that somebody else has killed or told to end: the rig's own failure, and no death of what it kept.

use std::fmt;

use super::signal;

/// What happened, and what to do, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperLost {
    /// What it kept: `the system`, say.
    pub whose: String,
    /// The signal that told it to end; nothing: it was killed.
    pub told_by: Option<i32>,
}

impl fmt::Display for KeeperLost {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whose, told_by } = self;
        let end = told_by.map_or_else(
            || "was killed by somebody else".to_owned(),
            |number| format!("was told to end by somebody else's {}", signal::name(number)),
        );
        write!(
            to,
            "the keeper of {whose}, a process of the rig's own (`floodrig __keeper`), {end}, and {whose} ended with \
             it: that says nothing about {whose}. Run it again, and to end a run send the signal to the rig itself"
        )
    }
}

impl std::error::Error for KeeperLost {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_whose_keeper_it_was_what_happened_and_what_to_do() {
        let says = |told_by| KeeperLost { whose: "the system".to_owned(), told_by }.to_string();
        assert!(says(None).contains("was killed by somebody else, and the system ended with it"), "{}", says(None));
        assert!(says(Some(15)).contains("was told to end by somebody else's SIGTERM"), "{}", says(Some(15)));
        assert!(says(None).ends_with("Run it again, and to end a run send the signal to the rig itself"));
    }
}
