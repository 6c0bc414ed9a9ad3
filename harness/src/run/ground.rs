//! What a run stands on, decided before anything starts: its epoch, its plan, who gets which cores, the port.

mod cores;
mod launches;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use floodrig_reports::recording::Shard;

use self::cores::core_sets;
use super::Order;
use super::trouble::RunError;
use crate::drive::Target;
use crate::plan::{Plan, plan};
use crate::redirect::BOT_TOKEN;
use crate::scenario::Scenario;
use crate::system::cores::{CoreSets, beside_the_driver, pin_this_thread};
use crate::system::{Clock, port};

/// What a run stands on.
#[derive(Debug)]
pub(super) struct Ground {
    /// Every recorded time is a duration since this.
    pub(super) epoch: Instant,
    /// The same instant on the wall clock, since 1970.
    pub(super) epoch_unix: Duration,
    /// Reads the time since the epoch.
    pub(super) clock: Clock,
    /// What this rig will send, and when.
    pub(super) plan: Arc<Plan>,
    /// The planned instant of the whole plan's last arrival, since the start of the load.
    pub(super) load_length: Duration,
    /// The start of the load, where it was ordered.
    pub(super) start_at: Option<Duration>,
    /// Where acts go.
    pub(super) target: Target,
    /// Who gets which cores.
    pub(super) cores: CoreSets,
    /// Where a system that is started here will listen.
    port: u16,
    /// Where each service that is started here will listen.
    service_ports: BTreeMap<String, u16>,
    /// What initData is signed with.
    pub(super) bot_token: &'static str,
    machine: Vec<u32>,
    open_files: Option<u64>,
}

impl Ground {
    /// Reads the clock, the one time that an epoch is read, and decides.
    #[expect(clippy::disallowed_methods, reason = "the epoch")]
    pub(super) fn survey(order: &Order) -> Result<Self, RunError> {
        let (epoch, wall) = (Instant::now(), SystemTime::now());
        let (scenario, places) = (&order.scenario, &order.places);
        let epoch_unix = since_1970(wall)?;
        let whole = plan(scenario);
        let target = match &places.attach {
            Some(running) => running.target.clone(),
            None => local(port::choose(scenario.system.port)?),
        };
        Ok(Self {
            epoch,
            epoch_unix,
            clock: Clock::new(epoch),
            load_length: whole.arrivals.last().map_or(Duration::ZERO, |last| last.at),
            start_at: places.start_at.map(|at| at.saturating_sub(epoch_unix)),
            plan: Arc::new(part(whole, places.shard)),
            cores: core_sets(order, &target)?,
            port: target.address.port(),
            // A system that runs already has its services already.
            service_ports: if places.attach.is_none() { service_ports(scenario)? } else { BTreeMap::new() },
            target,
            bot_token: BOT_TOKEN,
            machine: order.machine.clone(),
            open_files: order.open_files,
        })
    }

    /// Keeps this thread, and every thread it starts from now on, on the rig's cores for as long as the answer lives. The
    /// driving thread takes the first of them, and the others keep off it where they have another.
    pub(super) fn pin_rig(&self) -> Result<Pinned<'_>, RunError> {
        pin_this_thread(beside_the_driver(&self.cores.rig))
            .map_err(|cause| RunError::Failed(format!("could not pin the rig to its cores: {cause}")))?;
        Ok(Pinned { machine: &self.machine })
    }

    /// What a system must have been started with that the rig does not start.
    pub(super) fn advice(&self, stub_url: Option<&str>) -> String {
        let root = stub_url.map(|url| format!(" and TELEGRAM_API_ROOT={url}")).unwrap_or_default();
        format!("it must have been started with BOT_TOKEN={}{root}", self.bot_token)
    }
}

/// The ports asked for, if nobody listens there, and free ones, no two the same.
fn service_ports(scenario: &Scenario) -> Result<BTreeMap<String, u16>, RunError> {
    let mut ports = BTreeMap::new();
    for service in &scenario.services {
        let mut port = port::choose(service.port);
        // The kernel may offer a free port twice, since nobody listens on it yet.
        while service.port.is_none() && port.as_ref().is_ok_and(|port| ports.values().any(|taken| taken == port)) {
            port = port::choose(None);
        }
        let named = |cause: port::PortError| RunError::Service(format!("the service `{}`: {cause}", service.name));
        ports.insert(service.name.clone(), port.map_err(named)?);
    }
    Ok(ports)
}

/// Where acts go when the system listens on this port.
fn local(port: u16) -> Target {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    Target { address, host: address.to_string() }
}

fn part(whole: Plan, shard: Option<Shard>) -> Plan {
    match shard {
        Some(shard) => whole.part(shard),
        None => whole,
    }
}

/// A clock before 1970 would sign initData that every system has to refuse.
fn since_1970(wall: SystemTime) -> Result<Duration, RunError> {
    let says =
        "this machine's clock says that it is before 1970, and initData signed by it would be stale: set the clock";
    wall.duration_since(SystemTime::UNIX_EPOCH).map_err(|_| RunError::Failed(says.to_owned()))
}

/// The rig's threads are pinned; dropped, they may use the whole machine again, as a build should.
#[derive(Debug)]
pub(super) struct Pinned<'a> {
    machine: &'a [u32],
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        // Only a core that has gone since could refuse it, and then the run that follows says so.
        drop(pin_this_thread(self.machine));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_is_an_error_and_1970_itself_is_not() {
        let nanosecond = Duration::from_nanos(1);
        assert!(since_1970(SystemTime::UNIX_EPOCH - nanosecond).is_err());
        assert_eq!(since_1970(SystemTime::UNIX_EPOCH).ok(), Some(Duration::ZERO));
    }
}
