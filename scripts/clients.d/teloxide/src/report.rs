//! One line per check, and waiting that ends.

use std::fmt::Debug;
use std::future::Future;
use std::time::{Duration, Instant};

use tokio::time::timeout;

/// What a check came to; the text says what was wrong.
pub type Checked = Result<(), String>;

/// Prints the lines and remembers a failure.
#[derive(Default)]
pub struct Report {
    pub failed: bool,
}

impl Report {
    pub async fn check(&mut self, name: &str, within: Duration, run: impl Future<Output = Checked>) {
        let begun = Instant::now();
        let line = format!("{:<22} {name}", "teloxide");
        match timeout(within, run).await.unwrap_or_else(|_| Err(format!("no end within {within:?}"))) {
            Ok(()) => println!("ok      {line} ({} ms)", begun.elapsed().as_millis()),
            Err(says) => {
                self.failed = true;
                println!("FAILED  {line}: {}", says.replace('\n', " "));
            }
        }
    }
}

/// Both have to be the same.
pub fn equal<T: PartialEq + Debug>(found: T, wanted: T) -> Checked {
    that(found == wanted, format!("{found:?} instead of {wanted:?}"))
}

/// It has to hold.
pub fn that(holds: bool, otherwise: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// An error in words.
pub fn says(error: impl Debug) -> String {
    format!("{error:?}")
}
