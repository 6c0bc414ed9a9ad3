//! Facts -> `run.jsonl`.
//!
//! The driving thread gathers its samples into [`Intervals`] and hands each over as one row without ever
//! waiting; a writer thread of its own ([`Recorder`]) puts rows on disk. Counts for the eye are in [`Progress`].
//! It judges nothing.

mod header;
mod in_flight;
mod intervals;
mod patient;
mod progress;
mod recorder;
mod slowest;

pub use header::{nothing_watched, of_plan};
pub use in_flight::InFlight;
pub use intervals::{Intervals, Recorded, interval_length};
pub use patient::hand_over;
pub use progress::{Progress, Standing};
pub use recorder::{RecordError, Recorder};
