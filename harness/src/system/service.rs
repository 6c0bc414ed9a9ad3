//! A service beside the system, such as a database: kept, waited for and watched as a system is, and stopped after it.

use super::launch::Launch;
use super::ready::run_once;
use super::running::System;
use super::unready::StartError;
use super::watcher::Watch;

/// A service that runs.
#[derive(Debug)]
pub struct Service {
    /// Its name.
    pub name: String,
    launch: Launch,
    stop: Option<Vec<String>>,
    running: System,
}

/// What a service is started with.
#[derive(Debug, Clone)]
pub struct ServiceLaunch {
    /// Its name.
    pub name: String,
    /// The command and all that goes with it.
    pub launch: Launch,
    /// A command that asks it to stop.
    pub stop: Option<Vec<String>>,
}

/// Why a service is not running.
#[derive(Debug, thiserror::Error)]
#[error("the service `{name}` is not running: {}", explain(.cause))]
pub struct ServiceError {
    /// Its name.
    pub name: String,
    /// Why.
    pub cause: StartError,
}

fn explain(cause: &StartError) -> String {
    match cause {
        StartError::NotReady(why) => why.to_string(),
        StartError::Port(_) | StartError::Keep(_) | StartError::Interrupted => cause.to_string(),
    }
}

impl Service {
    /// Starts it and waits until it is ready.
    pub fn start(order: ServiceLaunch, watch: Watch, progress: &mut dyn FnMut(&str)) -> Result<Self, ServiceError> {
        let ServiceLaunch { name, launch, stop } = order;
        let watch = Watch { service: Some(name.clone()), ..watch };
        match System::start(&launch, watch, progress) {
            Ok(running) => Ok(Self { name, launch, stop, running }),
            Err(cause) => Err(ServiceError { name, cause }),
        }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.launch.port
    }

    /// The process below which all of it lives; not itself part of it.
    pub fn root(&self) -> u32 {
        self.running.root()
    }

    /// Stops it: by its own command if it has one, then by SIGTERM, then by SIGKILL.
    pub fn stop(self) {
        let within = self.launch.stop_within;
        if let Some(command) = self.stop.filter(|_| self.running.death().is_none()) {
            // SIGTERM follows whatever the command came to.
            let _asked = run_once(&self.launch, &command, within);
        }
        self.running.stop(within);
    }
}
