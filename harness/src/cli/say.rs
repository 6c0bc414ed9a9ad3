//! What is printed where: data on standard output, talk on standard error.
//!
//! Either may be closed, by a reader who has seen enough say. It takes the text with it and nothing else: what matters
//! is in files and in the exit status too. A command whose output is all that it does ends by [`Exit::printed`] instead.
//!
//! [`Exit::printed`]: super::Exit::printed

use std::io::{self, Write as _};

/// What somebody may want to keep.
pub(super) fn data(text: &str) {
    drop(writeln!(io::stdout(), "{text}"));
}

/// What somebody should know; its colours go where there is no terminal.
pub(super) fn talk(text: &str) {
    drop(writeln!(anstream::stderr(), "{text}"));
}
