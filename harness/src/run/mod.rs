//! The main path: stub up, system up, pre-flight, load, settle, stop, seal the recording. Start reading here.
//!
//! Whatever happens on the way, what was recorded until then is kept, and its seal says how far the run came.

mod bot;
mod calibrated;
mod ground;
mod header;
mod load;
mod news;
mod preflight;
mod trouble;
mod watch;

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use std::{fs, io};

use floodrig_reports::recording::{Calibration, Ending, FILE_NAME, Header, Logs, Row, Seal};
use floodrig_stub::Stub;

pub use news::{Live, News, Speedometer};
pub use trouble::RunError;

use self::ground::Ground;
use self::trouble::Trouble;
use crate::record::{Progress, Recorder};
use crate::redirect::Redirect;
use crate::scenario::{Heartbeat, Ready, Scenario};
use crate::stop::Stop;
use crate::system::{Launch, StartError, System, Watch};
use crate::vitals::Folder;

/// What to run and where to leave it.
#[derive(Debug, Clone)]
pub struct Order {
    /// The scenario, with its variant merged in.
    pub scenario: Arc<Scenario>,
    /// The folder for what the run leaves; made when it is not there.
    pub dir: PathBuf,
    /// The cores of this machine.
    pub machine: Vec<u32>,
    /// The limit on open files that the user had set, before the rig raised its own: the system gets it.
    pub open_files: Option<u64>,
    /// Whether the crowd was made smaller and latency is not judged.
    pub quick: bool,
    /// Whether this process is in a network of the run's own.
    pub isolated: bool,
    /// The command that makes this run again.
    pub repeat_with: String,
}

/// Runs a scenario and leaves its recording. An error means that nothing was recorded.
pub fn run(order: &Order, stop: &Stop, tell: &mut dyn FnMut(News<'_>)) -> Result<(), RunError> {
    let ground = Ground::survey(order)?;
    let _pinned = ground.pin_rig()?;
    let calibration = calibrated::calibrated(order, &ground, stop, tell)?;
    fs::create_dir_all(&order.dir).map_err(|cause| RunError::folder(&order.dir, &cause))?;
    let progress = Arc::new(Progress::default());
    let recorder = Recorder::create(&order.dir.join(FILE_NAME), Arc::clone(&progress))?;
    let heartbeat = heartbeat(&order.scenario);
    let redirect = Redirect::prepare(order.isolated).map(Arc::new).map_err(|cause| RunError::hooks(&cause))?;
    let rig = Rig { order, ground: &ground, calibration, progress, rows: recorder.rows(), stop, heartbeat, redirect };
    let seal = match rig.run(tell) {
        Ok(seal) => seal,
        Err(Trouble::Impossible(says)) => {
            drop((rig, recorder));
            // The folder goes only if it held nothing else.
            drop(fs::remove_file(order.dir.join(FILE_NAME)).and_then(|()| fs::remove_dir(&order.dir)));
            return Err(says);
        }
        Err(Trouble::NotReady(why)) => Seal { not_ready: Some(why), ..trouble::unfinished() },
        Err(Trouble::Interrupted) => Seal { partial: true, ..trouble::unfinished() },
        Err(Trouble::Failed(why)) => Seal { failed: Some(why), ..trouble::unfinished() },
    };
    recorder.finish(seal)?;
    Ok(())
}

/// The probes that go into the system, unless the scenario keeps them out.
fn heartbeat(scenario: &Scenario) -> Result<Arc<Folder>, String> {
    let folder = |made: io::Result<Folder>| {
        made.map(Arc::new).map_err(|cause| format!("no folder could be made in /dev/shm: {cause}"))
    };
    match scenario.system.heartbeat {
        Heartbeat::On => folder(Folder::create()),
        Heartbeat::Stacks => folder(Folder::create().map(Folder::with_stacks)),
        Heartbeat::Off => Err("the scenario says heartbeat = \"off\"".to_owned()),
    }
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
}

impl Rig<'_> {
    fn run(&self, tell: &mut dyn FnMut(News<'_>)) -> Result<Seal, Trouble> {
        let stub = self.start_stub(tell)?;
        let header = self.header(&stub);
        let launch = self.launch(&stub, tell)?;
        let system = match self.start_system(&launch, tell) {
            Ok(system) => system,
            Err(cause) => return Err(self.not_started(header, &stub, cause)),
        };
        let loaded = self.check_and_load(header, &stub, &system, tell);
        tell(News::Waiting("stopping the system"));
        let stopped = system.stop(self.order.scenario.system.stop_within);
        self.end(stopped.ending, stopped.logs);
        loaded.map(|seal| Seal { dropped: seal.dropped + stopped.events_dropped, ..seal })
    }

    fn start_stub(&self, tell: &mut dyn FnMut(News<'_>)) -> Result<Arc<Stub>, Trouble> {
        let scenario = &self.order.scenario;
        let listener = TcpListener::bind("127.0.0.1:0").map_err(Trouble::unrecorded("open a port for the stub"))?;
        let stub = floodrig_stub::start(scenario.telegram.clone(), listener, self.ground.epoch, scenario.seed)
            .map_err(Trouble::unrecorded("start the stub"))?;
        self.redirect.open_door(&stub).map_err(Trouble::unrecorded("open the stub's port 443"))?;
        tell(News::Fact(&format!("stub of Telegram on {}; nothing leaves this machine", stub.url())));
        if self.redirect.is_isolated() {
            tell(News::Fact(
                "isolated: api.telegram.org is the stub, and nothing outside of the run's own network can be reached, \
                 services of this machine included",
            ));
        }
        Ok(Arc::new(stub))
    }

    /// What is started, with nothing real in its environment.
    fn launch(&self, stub: &Arc<Stub>, tell: &mut dyn FnMut(News<'_>)) -> Result<Launch, Trouble> {
        let heartbeat = self.heartbeat.as_deref().ok();
        let (launch, hidden) = self
            .ground
            .launch(&self.order.scenario, stub, heartbeat, &self.redirect)
            .map_err(Trouble::unrecorded("write the certificates for the system"))?;
        if !hidden.is_empty() {
            let names = hidden.join(", ");
            tell(News::Fact(&format!("note: a bot's token in {names}: the system gets a made-up one in its place")));
        }
        Ok(launch)
    }

    fn start_system(&self, launch: &Launch, tell: &mut dyn FnMut(News<'_>)) -> Result<System, StartError> {
        let in_flight = self.progress.in_flight_count();
        let watch = Watch { epoch: self.ground.epoch, rows: self.rows.clone(), in_flight };
        let mut waits = |text: &str| tell(News::Waiting(&format!("waiting for {text}")));
        let system = System::start(launch, watch, &self.stop.flag(), &mut waits)?;
        let after = system.ready_after();
        let up = match self.order.scenario.system.ready {
            Ready::Bot => "bot up and asking for updates".to_owned(),
            Ready::Accepts | Ready::Path(_) => format!("system up on port {}", launch.port),
        };
        tell(News::Fact(&format!("{up} after {after:.1?}, pid {}", system.pid())));
        Ok(system)
    }

    /// A system that never became ready leaves its ending in the recording.
    fn not_started(&self, header: Header, stub: &Stub, cause: StartError) -> Trouble {
        self.without_load(header, stub);
        if let StartError::NotReady(not_ready) = &cause {
            self.end(not_ready.ending.clone(), not_ready.logs.clone());
        }
        Trouble::from(cause)
    }

    fn check_and_load(
        &self,
        mut header: Header,
        stub: &Arc<Stub>,
        system: &System,
        tell: &mut dyn FnMut(News<'_>),
    ) -> Result<Seal, Trouble> {
        header.ready_after_ms = Some(system.ready_after().as_millis() as u64);
        header.cores = self.ground.verified(system, tell);
        if let Err(refused) = preflight::check(self, stub, system) {
            self.without_load(header, stub);
            return Err(refused);
        }
        tell(News::Fact(bot::passed(&self.order.scenario)));
        let calls = stub.attendance().calls;
        if calls == 0 {
            tell(News::Fact(&format!("note: {}", self.redirect.advice(system.root(), &stub.url()))));
        }
        header.observations.redirect = self.redirect.standing(calls);
        load::load(self, header, stub, system, tell)
    }

    fn header(&self, stub: &Stub) -> Header {
        let header = header::of_run(self.order, self.ground, stub.ceilings());
        Header { calibration: self.calibration.clone(), ..header }
    }

    /// A run that comes to no load still tells what the system asked of Telegram: a 429 at its start, perhaps.
    fn without_load(&self, mut header: Header, stub: &Stub) {
        header.observations.redirect = self.redirect.standing(stub.attendance().calls);
        self.write(Row::Header(Box::new(header)));
        let calls = watch::call_interval(&stub.take_interval(), Duration::ZERO, self.ground.clock.now());
        self.write(Row::Calls(calls));
    }

    fn end(&self, ending: Ending, logs: Logs) {
        self.write(Row::Logs(logs));
        self.write(Row::Ending(ending));
    }

    /// Waits for room: nothing is being measured here. A writer that is gone tells its own error at the end.
    fn write(&self, row: Row) {
        drop(self.rows.send(row));
    }
}
