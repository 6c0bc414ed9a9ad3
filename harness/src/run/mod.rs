//! The main path: stub up, system up, pre-flight, load, settle, rest, stop, seal the recording. Start reading here.
//!
//! Whatever happens on the way, what was recorded until then is kept, and its seal says how far the run came.

mod bot;
mod calibrated;
mod detected;
mod ground;
mod header;
mod load;
mod news;
mod order;
mod ordered;
mod outside;
mod preflight;
mod recovery;
mod telegram;
mod trouble;
mod turned;
mod under_test;
mod watch;

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::{fs, io};

use floodrig_reports::recording::{Calibration, FILE_NAME, Header, Observations, Row, Seal};

pub use bot::is_spoken_to;
pub use news::{Live, News, Phase, Speedometer};
pub use order::{Order, Places, Running, StubAt};
pub use trouble::RunError;

use self::ground::Ground;
use self::preflight::Visits;
use self::telegram::Telegram;
use self::trouble::Trouble;
use self::under_test::{Last, UnderTest};
use crate::record::{Progress, Recorder, hand_over};
use crate::redirect::{Lookout, Redirect};
use crate::scenario::{Heartbeat, Ready, Scenario};
use crate::stop::{Cut, Stop};
use crate::system::{Launch, Service, ServiceError, StartError, System, Watch};
use crate::vitals::Folder;

/// Runs a scenario and leaves its recording. An error means that nothing was recorded.
pub fn run(order: &Order, stop: &Stop, tell: &mut dyn FnMut(News<'_>)) -> Result<(), RunError> {
    let ground = Ground::survey(order)?;
    let _pinned = ground.pin_rig()?;
    let calibration = calibrated::calibrated(order, &ground, stop, tell)?;
    fs::create_dir_all(&order.dir).map_err(|cause| RunError::folder(&order.dir, &cause))?;
    let progress = Arc::new(Progress::default());
    let recorder = Recorder::create(&order.dir.join(FILE_NAME), Arc::clone(&progress))?;
    let (heartbeat, stop) = (heartbeat(order), &stop.of_run());
    let redirect = Redirect::prepare(order.isolated).map(Arc::new).map_err(|cause| RunError::hooks(&cause))?;
    let (rows, lookout) = (recorder.rows(), Lookout::over_run(stop));
    let rig = Rig { order, ground: &ground, calibration, progress, rows, stop, heartbeat, redirect, lookout };
    let seal = match rig.run(tell) {
        Ok(seal) => seal,
        Err(Trouble::Impossible(says)) => {
            drop((rig, recorder));
            // The folder goes only if it held nothing else.
            drop(fs::remove_file(order.dir.join(FILE_NAME)).and_then(|()| fs::remove_dir(&order.dir)));
            return Err(says);
        }
        Err(Trouble::NotReady(why)) => Seal { not_ready: Some(why), ..Seal::default() },
        Err(Trouble::Interrupted) => Seal { partial: true, ..Seal::default() },
        Err(Trouble::Failed(why)) => Seal { failed: Some(why), ..Seal::default() },
    };
    recorder.finish(sealed(seal, stop))?;
    Ok(())
}

/// A run that nobody has interrupted is not partial, for whatever reason it was cut short.
fn sealed(seal: Seal, stop: &Stop) -> Seal {
    let partial = seal.partial && stop.interrupted_at().is_some();
    match stop.why_cut() {
        Some(Cut::RigFailed(why)) => Seal { partial: false, not_ready: None, failed: Some(why.clone()), ..seal },
        Some(Cut::Died) => Seal { partial, ..seal },
        // Whatever else it has shown was not shown of a system that is turned to the stub.
        Some(Cut::Strayed(why)) => Seal { partial, not_ready: Some(why.clone()), ..seal },
        None => seal,
    }
}

/// The probes that go into the system, unless the scenario keeps them out.
fn heartbeat(order: &Order) -> Result<Arc<Folder>, String> {
    if order.places.attach.is_some() {
        return Err("the system was not started here, and has no probe inside".to_owned());
    }
    let folder = |made: io::Result<Folder>| {
        made.map(Arc::new).map_err(|cause| format!("no folder could be made in /dev/shm: {cause}"))
    };
    match order.scenario.system.heartbeat {
        Heartbeat::On => folder(Folder::create()),
        Heartbeat::Stacks => folder(Folder::create().map(Folder::with_stacks)),
        Heartbeat::Off => Err("the scenario says heartbeat = \"off\"".to_owned()),
    }
}

/// Limits that are asked for are worth a line, whether they are in force or could not be had; none at all is not.
fn tell_limits(scenario: &Scenario, observations: &Observations, tell: &mut dyn FnMut(News<'_>)) {
    let (memory, cpu) = (scenario.system.memory, scenario.system.cpu);
    if memory.is_some() || cpu.is_some() {
        tell(News::Fact(&format!("limits: {}", observations.cgroup)));
    }
}

/// What runs on the other side.
struct Side<'a> {
    system: &'a UnderTest,
    services: &'a [Service],
}

/// One run in the making.
struct Rig<'a> {
    order: &'a Order,
    ground: &'a Ground,
    calibration: Option<Calibration>,
    progress: Arc<Progress>,
    rows: SyncSender<Row>,
    stop: &'a Stop,
    /// Where the probes inside the system write, or why there are none.
    heartbeat: Result<Arc<Folder>, String>,
    /// What turns the system to the stub.
    redirect: Arc<Redirect>,
    /// Sees where its connections go.
    lookout: Lookout,
}

impl Rig<'_> {
    fn run(&self, tell: &mut dyn FnMut(News<'_>)) -> Result<Seal, Trouble> {
        let telegram = Telegram::start(self.order, self.ground.clock, tell)?;
        turned::open(self, &telegram, tell)?;
        let header = self.header(&telegram);
        let services = self.start_services(&telegram, tell);
        let services = services.inspect_err(|_| self.without_load(header.clone(), &telegram))?;
        let system = self.bring_up(&header, &telegram, tell)?;
        let watchman = system.found().and_then(|tree| self.lookout.over(tree, || {}));
        let loaded = self.check_and_load(header, &telegram, &Side { system: &system, services: &services }, tell);
        if let Some(successor) = system.successor() {
            tell(News::Fact(&format!("note: {successor}")));
        }
        tell(News::Waiting("stopping the system"));
        drop(watchman);
        let last = system.end(turned::grace(self));
        let dropped = last.events_dropped;
        self.end(last);
        // The system may still write to them while it stops.
        services.into_iter().rev().for_each(Service::stop);
        loaded.map(|seal| Seal { dropped: seal.dropped + dropped, ..seal })
    }

    /// In the order of the scenario, each once the one before is ready; beside a system that was not started here, none.
    fn start_services(
        &self,
        telegram: &Telegram,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Vec<Service>, ServiceError> {
        let mut services = Vec::new();
        if self.order.places.attach.is_some() {
            return Ok(services);
        }
        for service in &self.order.scenario.services {
            let order = self.ground.service(&self.order.scenario, service, &telegram.url().unwrap_or_default());
            let mut waits = |text: &str| tell(News::Waiting(&format!("{}: waiting for {text}", service.name)));
            let started = Service::start(order, self.watch(), &mut waits)?;
            tell(News::Fact(&format!("service `{}` up on port {}", started.name, started.port())));
            services.push(started);
        }
        Ok(services)
    }

    fn watch(&self) -> Watch {
        let in_flight = self.progress.in_flight();
        Watch {
            epoch: self.ground.epoch,
            rows: self.rows.clone(),
            in_flight,
            service: None,
            stop: self.stop.clone(),
            lookout: self.lookout.clone(),
        }
    }

    fn bring_up(
        &self,
        header: &Header,
        telegram: &Telegram,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<UnderTest, Trouble> {
        let Some(running) = &self.order.places.attach else {
            let launch = turned::launch(self, telegram, tell)?;
            let started = self.start_system(&launch, tell);
            return started
                .map(Box::new)
                .map(UnderTest::Started)
                .map_err(|cause| self.not_started(header, telegram, cause));
        };
        tell(News::Waiting(&format!("waiting for the system at {}", running.target.host)));
        let advice = self.ground.advice(telegram.url().as_deref());
        let found = UnderTest::attach(self, telegram, running, &advice);
        let system = found.inspect_err(|_| self.without_load(header.clone(), telegram))?;
        tell(News::Fact(&format!("attached to the system at {}; {advice}", running.target.host)));
        Ok(system)
    }

    fn start_system(&self, launch: &Launch, tell: &mut dyn FnMut(News<'_>)) -> Result<System, StartError> {
        let mut waits = |text: &str| tell(News::Waiting(&format!("waiting for {text}")));
        let system = System::start(launch, self.watch(), &mut waits)?;
        let after = system.ready_after();
        let up = match self.order.scenario.system.ready {
            Ready::Bot => "bot up and asking for updates".to_owned(),
            Ready::Accepts | Ready::Path(_) | Ready::Command(_) => format!("system up on port {}", launch.port),
        };
        tell(News::Fact(&format!("{up} after {after:.1?}, pid {}", system.pid())));
        Ok(system)
    }

    /// A system that never became ready leaves its ending in the recording.
    fn not_started(&self, header: &Header, telegram: &Telegram, cause: StartError) -> Trouble {
        let mut header = header.clone();
        if let StartError::NotReady(not_ready) = &cause {
            header.observations.cgroup.clone_from(&not_ready.limits.0);
        }
        self.without_load(header, telegram);
        if let StartError::NotReady(not_ready) = &cause {
            self.end(Last {
                ending: Some(not_ready.ending.clone()),
                logs: Some(not_ready.logs.clone()),
                confined: not_ready.limits.1.clone(),
                events_dropped: 0,
            });
        }
        Trouble::from(cause)
    }

    fn check_and_load(
        &self,
        mut header: Header,
        telegram: &Telegram,
        side: &Side<'_>,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Seal, Trouble> {
        let system = side.system;
        header.ready_after_ms = system.ready_after().map(|after| after.as_millis() as u64);
        header.observations.cgroup = system.confinement();
        tell_limits(&self.order.scenario, &header.observations, tell);
        header::cores_seen(&mut header, self.ground.verified(system, tell), self.order);
        let checked = self.pre_flight(telegram, system, tell).and_then(|visits| self.in_time().map(|()| visits));
        let before = checked.inspect_err(|_| self.without_load(header.clone(), telegram))?;
        if let Some(network) = &mut header.how.network {
            network.chosen = before.chosen;
        }
        header.observations.redirect = turned::standing(self, telegram, system, tell);
        header.observations.lookout = self.lookout.standing();
        load::load(self, header, (telegram, &before), side, tell)
    }

    /// A system that dies in it has died before the load, and the load is for nobody then: see [`load::load`].
    fn pre_flight(
        &self,
        telegram: &Telegram,
        system: &UnderTest,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Visits, Trouble> {
        match preflight::check(self, telegram, system) {
            Err(Trouble::NotReady(_)) if system.is_dying() => Ok(Visits::default()),
            Ok(visits) => {
                tell(News::Fact(bot::passed(&self.order.scenario)));
                Ok(visits)
            }
            Err(other) => Err(other),
        }
    }

    /// A load that is to begin at an instant that has passed would begin with a heap of acts that nobody planned.
    fn in_time(&self) -> Result<(), Trouble> {
        let earliest = self.ground.clock.now() + load::LEAD;
        let Some(late) = self.ground.start_at.and_then(|start| earliest.checked_sub(start)) else { return Ok(()) };
        Err(Trouble::Failed(format!(
            "everything was ready {late:.1?} too late for --start-at: give every shard a later one"
        )))
    }

    fn header(&self, telegram: &Telegram) -> Header {
        let header = header::of_run(self.order, self.ground, telegram);
        Header { calibration: self.calibration.clone(), ..header }
    }

    /// A run that comes to no load still tells what the system asked of Telegram: a 429 at its start, perhaps.
    fn without_load(&self, mut header: Header, telegram: &Telegram) {
        header.observations.redirect = turned::observed(self, telegram);
        self.write(Row::Header(Box::new(header)));
        telegram.calls_so_far(self.ground.clock.now()).into_iter().for_each(|calls| self.write(calls));
    }

    fn end(&self, last: Last) {
        let rows = last.confined.map(Row::Confined).into_iter().chain(last.logs.map(Row::Logs));
        rows.chain(last.ending.map(Row::Ending)).for_each(|row| self.write(row));
    }

    /// Waits for room: nothing is being measured here. A writer that is gone tells its own error at the end.
    fn write(&self, row: Row) {
        hand_over(&self.rows, row, &self.progress);
    }
}
