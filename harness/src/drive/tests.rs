//! Whole loads against real sockets: each planned act has one sample, whatever the system does.

mod journeys;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use floodrig_reports::recording::{ActInterval, Histogram, Outcomes, Row};

use super::*;
use crate::deliveries::Awaited;
use crate::exchange::Speech;
use crate::exchange::rough::{Freezing, FullQueue, Manner, Rough, answer, eventually, nobody, ok};
use crate::plan::by_hand::{SECOND, journey, scenario, step};
use crate::plan::{ActSpec, Arrival, Visit, crowd};
use crate::record::Progress;
use crate::scenario::{
    Arrive, Body, Connections, Does, Fault, Faults, InAnswer, Piece, Request, Shows, Sign, Slot, Step, Template,
};

mod outcomes;
mod pacing;
mod pages;
mod sockets;

/// Longer than any load of a test takes.
const PATIENCE: Duration = Duration::from_secs(20);

const MILLISECOND: Duration = Duration::from_millis(1);

/// A load in the making.
struct Load {
    steps: Vec<Step>,
    /// Milliseconds, player and act.
    arrivals: Vec<(u64, u32, u16)>,
    /// How much later than that each is than the one before.
    every: Duration,
    timeout: Duration,
    /// Half of `timeout` where it is not said.
    connect_timeout: Option<Duration>,
    init_data: Option<crate::scenario::Place>,
    /// What is wrong with it, in every visit.
    faults: Option<(Faults, Fault)>,
    stop: Stop,
    expected: Option<SyncSender<Expected>>,
    progress: Arc<Progress>,
    pace: Pace,
    connections: Connections,
    speech: Speech,
    rtt: Option<Duration>,
}

/// What a load came to.
struct Outcome {
    epoch: Instant,
    load_from: Duration,
    driven: Driven,
    rows: Vec<Row>,
    /// All intervals together.
    total: ActInterval,
}

fn text(text: &str) -> Template {
    Template { pieces: vec![Piece::Text(text.to_owned())] }
}

fn get(act: &str) -> Step {
    let mut step = step(act, 1, Duration::ZERO..=Duration::ZERO);
    let does = Request { method: "GET".to_owned(), path: text("/"), headers: Vec::new(), body: None };
    step.does = Does::Request(does);
    step
}

fn capturing(act: &str) -> Step {
    Step { capture: BTreeMap::from([("token".to_owned(), InAnswer::Pointer("/token".to_owned()))]), ..get(act) }
}

fn using(act: &str) -> Step {
    let mut step = get(act);
    let Does::Request(request) = &mut step.does else { panic!("a request") };
    request.body = Some(Body::Text(Template { pieces: vec![Piece::Slot(Slot::Captured("token".to_owned()))] }));
    step
}

/// One act of one step, at each of these milliseconds, each by a player of its own.
fn apart(at: impl IntoIterator<Item = u64>) -> Load {
    load((0..).zip(at).map(|(player, at)| (at, player, 0)).collect())
}

fn load(arrivals: Vec<(u64, u32, u16)>) -> Load {
    Load {
        steps: vec![get("act")],
        arrivals,
        every: Duration::ZERO,
        timeout: PATIENCE,
        connect_timeout: None,
        init_data: None,
        faults: None,
        stop: Stop::default(),
        expected: None,
        progress: Arc::default(),
        pace: Pace::Planned,
        connections: Connections::Player,
        speech: Speech::default(),
        rtt: None,
    }
}

impl Load {
    fn steps(self, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), ..self }
    }

    fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    fn scenario(&self) -> Scenario {
        let mut journey = journey(Arrive::Burst { over: SECOND }, self.steps.clone());
        journey.init_data = self.init_data.clone();
        journey.faults = self.faults.as_ref().map(|(faults, _)| faults.clone());
        let mut scenario = scenario(vec![journey]);
        scenario.crowd.timeout = self.timeout;
        scenario.crowd.connect_timeout = self.connect_timeout.unwrap_or(self.timeout / 2);
        scenario.crowd.connections = self.connections;
        scenario.system.speech = self.speech.clone();
        scenario.crowd.rtt = self.rtt.map(|rtt| rtt..=rtt);
        scenario
    }

    /// Every player makes one visit, from the start of the load on.
    fn plan(&self) -> Plan {
        let fault = self.faults.as_ref().map(|(_, fault)| *fault);
        let acts = self.steps.iter().enumerate();
        let acts = acts.map(|(step, of)| ActSpec { name: of.act.clone(), journey: 0, step, fault }).collect();
        let count = self.arrivals.iter().map(|(_, player, _)| player + 1).max().unwrap_or(0);
        let players = crowd(7, 1, count);
        let visits = (0..count).map(|player| Visit { at: Duration::ZERO, player, journey: 0, fault }).collect();
        let at = |nth, ms| Duration::from_millis(ms) + self.every * nth;
        let arrivals = (0..).zip(&self.arrivals);
        let arrivals =
            arrivals.map(|(nth, &(ms, player, act))| Arrival { at: at(nth, ms), player, visit: player, act, nth: 0 });
        Plan { acts, players, visits, arrivals: arrivals.collect(), digest: [0; 32] }
    }

    #[expect(clippy::disallowed_methods, reason = "a load needs an epoch")]
    fn against(&self, address: SocketAddr) -> Outcome {
        let (scenario, plan) = (Arc::new(self.scenario()), Arc::new(self.plan()));
        let signed = Signed::start(&scenario, &plan, "1:A", Duration::ZERO).unwrap();
        assert!(signed.wait(Duration::MAX, PATIENCE));
        let names = self.steps.iter().map(|step| step.act.clone()).collect();
        let (rows, queue) = sync_channel(10_000);
        let load_from = 20 * MILLISECOND;
        let sink = Intervals::new(names, load_from, 100 * MILLISECOND, rows, Arc::clone(&self.progress));
        let epoch = Instant::now();
        let driven = drive(Job {
            scenario,
            plan,
            pace: self.pace,
            seat: Seat::default(),
            target: Target { address, host: "system.test".to_owned() },
            bot_token: "1:A".to_owned(),
            signed: Arc::new(signed),
            epoch,
            load_from,
            stop: self.stop.clone(),
            crowd: None,
            expected: self.expected.clone(),
            unfit: None,
            sink,
        });
        let planned = match self.pace {
            Pace::Planned => Some(self.arrivals.len() as u64),
            Pace::Again { .. } => None,
        };
        Outcome::of(driven.unwrap(), &queue, planned, (epoch, load_from))
    }
}

impl Outcome {
    fn of(driven: Driven, queue: &Receiver<Row>, planned: Option<u64>, began: (Instant, Duration)) -> Self {
        let rows: Vec<Row> = queue.iter().collect();
        let mut total = ActInterval::default();
        let mut end = 20_000;
        for row in &rows {
            let Row::Interval(interval) = row else { continue };
            assert_eq!(interval.from_us, end, "intervals leave no gap");
            end += interval.len_us;
            interval.acts.values().for_each(|act| add(&mut total, act));
        }
        let of_total = total.ok + failures(&total.outcomes).values().sum::<u64>();
        let planned = planned.unwrap_or(total.offered);
        assert_eq!((driven.samples, of_total), (planned, planned), "each planned act has its sample");
        Self { epoch: began.0, load_from: began.1, driven, rows, total }
    }

    fn failures(&self) -> BTreeMap<String, u64> {
        failures(&self.total.outcomes)
    }
}

fn add(total: &mut ActInterval, act: &ActInterval) {
    total.offered += act.offered;
    total.ok += act.ok;
    total.requests += act.requests;
    total.late_connect += act.late_connect;
    total.left += act.left;
    let before = failures(&total.outcomes);
    let sum = failures(&act.outcomes).into_iter().chain(before).fold(BTreeMap::new(), |mut sum, (class, count)| {
        *sum.entry(class).or_insert(0) += count;
        sum
    });
    total.outcomes = outcomes(sum);
    let merges: [(&mut Histogram, &Histogram); 5] = [
        (&mut total.lag, &act.lag),
        (&mut total.response, &act.response),
        (&mut total.service, &act.service),
        (&mut total.blocked, &act.blocked),
        (&mut total.failed_response, &act.failed_response),
    ];
    for (total, act) in merges {
        total.merge(act);
    }
}

/// The classes that occurred.
fn failures(outcomes: &Outcomes) -> BTreeMap<String, u64> {
    let classes: BTreeMap<String, u64> = serde_json::from_value(serde_json::to_value(outcomes).unwrap()).unwrap();
    classes.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn outcomes(occurred: BTreeMap<String, u64>) -> Outcomes {
    let mut classes: BTreeMap<String, u64> =
        serde_json::from_value(serde_json::to_value(Outcomes::default()).unwrap()).unwrap();
    classes.extend(occurred);
    serde_json::from_value(serde_json::to_value(classes).unwrap()).unwrap()
}

fn classes<const N: usize>(of: [(&str, u64); N]) -> BTreeMap<String, u64> {
    of.map(|(class, count)| (class.to_owned(), count)).into()
}
