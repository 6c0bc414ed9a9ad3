//! The system under test: build, cores, port, start, readiness, death, stop.
//!
//! It is started under a keeper, so that it outlives the rig in no case; its death is noticed at once and told
//! apart from the rig's own stop. What it does wrong is data ([`Ending`]); only what kept it from becoming
//! ready is an error. This room knows nothing of journeys, budgets or Telegram.
//!
//! [`Ending`]: floodrig_reports::recording::Ending

mod attached;
mod build;
mod cap;
mod cgroup;
mod clock;
pub mod cores;
mod death;
mod doubt;
mod handles;
mod in_flight;
mod keeper_lost;
mod known;
mod last_words;
mod launch;
mod logs;
mod main_process;
mod needs;
mod oom;
pub mod port;
pub mod preload;
mod ready;
mod running;
mod servers;
mod service;
mod signal;
mod stranger;
mod unready;
mod watcher;

pub use attached::{Attached, Left, NotThere, Sought};
pub use build::{Build, BuildError, build};
pub use cgroup::{Confinement, Limits};
pub use clock::Clock;
pub use death::{Cause, Death};
pub use handles::raise_open_files;
pub use keeper_lost::KeeperLost;
pub use launch::Launch;
pub use needs::unmet;
pub use running::{Stopped, System};
pub use service::{Service, ServiceError, ServiceLaunch};
pub use unready::{NotReady, StartError, Unready};
pub use watcher::Watch;
