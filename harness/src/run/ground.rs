//! What a run stands on, decided before anything starts: its epoch, its plan, who gets which cores, the port.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use floodrig_reports::recording::{Cores, Shard};

use super::telegram::Telegram;
use super::trouble::RunError;
use super::under_test::UnderTest;
use super::{News, Order};
use crate::drive::Target;
use crate::exchange::Speech;
use crate::keeper::Program;
use crate::plan::{Plan, plan};
use crate::redirect::{BOT_TOKEN, Redirect, hide_tokens};
use crate::scenario::{Scenario, Service, Template};
use crate::system::cores::{self, CoreSets, pin_this_thread, ranges};
use crate::system::{Clock, Launch, Limits, ServiceLaunch, port};
use crate::template::{Escape, Values, fill};
use crate::vitals::Folder;

/// The variables that held a real bot's token.
pub(super) type Hidden = Vec<String>;

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

    /// Keeps this thread, and every thread it starts from now on, on the rig's cores for as long as the answer lives.
    pub(super) fn pin_rig(&self) -> Result<Pinned<'_>, RunError> {
        pin_this_thread(&self.cores.rig)
            .map_err(|cause| RunError::Failed(format!("could not pin the rig to its cores: {cause}")))?;
        Ok(Pinned { machine: &self.machine })
    }

    /// What a system must have been started with that the rig does not start.
    pub(super) fn advice(&self, stub_url: Option<&str>) -> String {
        let root = stub_url.map(|url| format!(" and TELEGRAM_API_ROOT={url}")).unwrap_or_default();
        format!("it must have been started with BOT_TOKEN={}{root}", self.bot_token)
    }

    /// What to start the system with.
    pub(super) fn launch(
        &self,
        scenario: &Scenario,
        telegram: &Telegram,
        heartbeat: Option<&Folder>,
        redirect: &Arc<Redirect>,
    ) -> io::Result<(Launch, Hidden)> {
        let system = &scenario.system;
        let stub_url = telegram.url().unwrap_or_default();
        let (mut env, hidden) = self.environment(scenario, &stub_url);
        redirect.put_into(&mut env, &stub_url)?;
        if let Some(folder) = heartbeat {
            folder.put_into(&mut env);
        }
        let folders = heartbeat.map(Folder::root).into_iter().chain([redirect.root()]);
        let launch = Launch {
            program: Program::default(),
            dir: system.dir.clone(),
            command: system.command.clone(),
            env,
            port: self.port,
            cores: self.cores.clone(),
            open_files: self.open_files,
            speech: system.speech.clone(),
            remove: folders.map(Path::to_owned).collect(),
            open_files_at_most: system.open_files,
            limits: Limits { memory: system.memory, cpu: system.cpu },
            scratch: None,
            ready: system.ready.clone(),
            stub: telegram.stub().cloned(),
            redirect: Some(Arc::clone(redirect)),
            ready_within: system.ready_within,
            stop_within: system.stop_within,
        };
        Ok((launch, hidden))
    }

    /// `PORT`, and all that names the stub and its bot; the scenario's own over them. No real token is left in it.
    fn environment(&self, scenario: &Scenario, stub_url: &str) -> (BTreeMap<String, String>, Hidden) {
        let mut env = BTreeMap::from([("PORT".to_owned(), self.port.to_string())]);
        env.extend(self.filled(&scenario.system.env, stub_url));
        Redirect::name_stub(&mut env, stub_url, self.bot_token);
        let hidden = hide_tokens(&mut env, self.bot_token);
        (env, hidden)
    }

    fn filled(&self, templates: &BTreeMap<String, Template>, stub_url: &str) -> BTreeMap<String, String> {
        let values = Values {
            system_port: Some(self.port),
            service_ports: Some(&self.service_ports),
            stub_url: Some(stub_url),
            bot_token: Some(self.bot_token),
            ..Values::default()
        };
        let fill = |template: &Template| {
            let mut value = String::new();
            let filled = fill(template, &values, Escape::None, &mut value);
            assert!(filled.is_ok(), "a checked scenario's environment has only placeholders that have a value there");
            value
        };
        templates.iter().map(|(name, template)| (name.clone(), fill(template))).collect()
    }

    /// What to start a service with: on the rig's cores, where the system's own figures are not touched by it.
    pub(super) fn service(&self, scenario: &Scenario, service: &Service, stub_url: &str) -> ServiceLaunch {
        let port = self.service_ports[&service.name];
        let mut env = BTreeMap::from([("PORT".to_owned(), port.to_string())]);
        env.extend(self.filled(&service.env, stub_url));
        hide_tokens(&mut env, self.bot_token);
        let launch = Launch {
            program: Program::default(),
            dir: scenario.system.dir.clone(),
            command: service.start.clone(),
            env,
            port,
            cores: CoreSets { system: self.cores.rig.clone(), rig: self.cores.rig.clone(), note: None },
            speech: Speech::default(),
            open_files: self.open_files,
            remove: Vec::new(),
            open_files_at_most: None,
            limits: Limits::default(),
            // The port tells it from the other services of this rig, and the process from other rigs.
            scratch: Some(std::env::temp_dir().join(format!("floodrig-{}-{port}", std::process::id()))),
            stub: None,
            redirect: None,
            ready: service.ready.clone(),
            ready_within: service.ready_within,
            stop_within: service.stop_within,
        };
        ServiceLaunch { name: service.name.clone(), launch, stop: service.stop.clone() }
    }

    /// The cores as the system's threads really have them.
    pub(super) fn verified(&self, system: &UnderTest, tell: &mut dyn FnMut(News<'_>)) -> Cores {
        let Some(pinning) = system.pinning(&self.cores.system) else { return self.assumed(tell) };
        let strays = pinning
            .strays
            .iter()
            .map(|stray| format!("{} (pid {}) may use cores {}", stray.name, stray.pid, ranges(&stray.cores)));
        let notes: Vec<String> = self.cores.note.iter().cloned().chain(strays).collect();
        let (system, rig) = (ranges(&pinning.seen), ranges(&self.cores.rig));
        tell(News::Fact(&format!("cores: system {system}, rig and stub {rig}")));
        for note in &notes {
            tell(News::Fact(&format!("note: {note}")));
        }
        Cores {
            shared: pinning.seen.iter().any(|core| self.cores.rig.contains(core)),
            system: pinning.seen,
            rig: self.cores.rig.clone(),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
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

impl Ground {
    /// The cores of a system whose processes are not known.
    fn assumed(&self, tell: &mut dyn FnMut(News<'_>)) -> Cores {
        let rig = ranges(&self.cores.rig);
        let note = if self.cores.system.is_empty() {
            "which cores the system has is not known: it is not on this machine".to_owned()
        } else {
            let system = ranges(&self.cores.system);
            format!(
                "that the system keeps to cores {system} and off the rig's ({rig}) is assumed, since its pid is not known"
            )
        };
        tell(News::Fact(&format!("cores: rig and stub {rig}")));
        tell(News::Fact(&format!("note: {note}")));
        let CoreSets { system, rig, .. } = self.cores.clone();
        Cores { shared: self.cores.shared(), system, rig, note: Some(note) }
    }
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

/// The rig keeps off the system's cores where that is on this machine.
fn core_sets(order: &Order, target: &Target) -> Result<CoreSets, RunError> {
    if target.address.ip().is_loopback() {
        return Ok(cores::split(&order.scenario.system.cores, &order.machine)?);
    }
    Ok(CoreSets { system: Vec::new(), rig: order.machine.clone(), note: None })
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
