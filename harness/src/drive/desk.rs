//! The driving thread's desk: everything that the pacer and the players' tasks share.

use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use floodrig_reports::recording::Outcome;
use tokio::sync::Notify;

use crate::exchange::{Answered, Ask, Body, Endpoint, Exchanged, Network, Stage, Timer, Wire};
use crate::plan::{Arrival, Plan, networks};

use super::bot::{Bot, BotSide};
use super::clock::Clock;
use super::floor::{Ended, Floor, InFlight, Rules};
use super::hands::Hands;
use super::impatience;
use super::judge::{Accepted, judge, wants, wants_headers};
use super::memory::Ending;
use super::page::Pages;
use super::request::Requests;
use super::retries::Retries;
use super::source::{Sources, most_of_a_player};
use super::{Job, Unfit, most_open};
use crate::deliveries::Expected;
use crate::scenario::{Does, OnFailure, Request, Step};

/// Shared by all tasks of the driving thread. The floor is borrowed for single steps, never across a wait.
pub(super) struct Desk {
    pub(super) plan: Arc<Plan>,
    pub(super) clock: Clock,
    pub(super) floor: RefCell<Floor>,
    /// Rouses the pacer: the last planned act has ended, or a try is due before anything that its alarm is set to.
    pub(super) stir: Notify,
    pub(super) retries: RefCell<Retries>,
    /// Where acts towards the bot go.
    pub(super) bot: Option<Bot>,
    /// How long an answer may take.
    pub(super) answer_within: Duration,
    pub(super) requests: Requests,
    pub(super) wire: Wire,
    /// What was found in the document of each act that loads a page.
    pub(super) pages: RefCell<Pages>,
    sources: Sources,
    /// By player; empty: all are near.
    networks: Vec<Network>,
    load_from: Duration,
    expected: RefCell<Awaited>,
    unfit: Option<Unfit>,
}

/// Where awaited effects go.
struct Awaited {
    to: Option<SyncSender<Expected>>,
    dropped: u64,
}

impl Desk {
    pub(super) fn new(job: Job) -> Self {
        let crowd = &job.scenario.crowd;
        let endpoint = Endpoint {
            address: job.target.address,
            speech: job.scenario.system.speech.clone(),
            connect_timeout: crowd.connect_timeout,
            timeout: crowd.timeout,
        };
        let rules = Rules { pace: job.pace, connections: crowd.connections, most_open: most_open() };
        let floor = Floor::new(Arc::clone(&job.plan), job.load_from, rules, job.sink);
        let plan = Arc::clone(&job.plan);
        let sources = Sources::new(job.target.address.ip(), most_of_a_player(&job.scenario, &plan));
        let networks = networks(job.scenario.seed, crowd, plan.players.len() as u32);
        Self {
            networks,
            clock: Clock::since(job.epoch),
            floor: RefCell::new(floor),
            stir: Notify::new(),
            retries: RefCell::default(),
            bot: job.crowd.map(Bot::new),
            answer_within: crowd.timeout,
            requests: Requests::new(job.scenario, job.plan, job.signed, job.target.host, job.bot_token),
            wire: Wire::new(endpoint),
            pages: RefCell::default(),
            sources,
            load_from: job.load_from,
            expected: RefCell::new(Awaited { to: job.expected, dropped: 0 }),
            unfit: job.unfit,
            plan,
        }
    }

    /// Sends every act and every further try that is due by `now` on its way. Called by the pacer and at the end of
    /// each act, so that under load an arrival waits for neither the timer nor the other tasks.
    pub(super) fn fire_due(self: &Rc<Self>, now: Duration) {
        self.retries.borrow_mut().ring(now);
        loop {
            let due = self.floor.borrow_mut().take_due(now);
            let Some(index) = due else { return };
            tokio::task::spawn_local(turn(Rc::clone(self), index));
        }
    }

    /// Whether every planned act has its sample.
    pub(super) fn is_done(&self) -> bool {
        self.floor.borrow().is_done()
    }

    /// Gives every act that has not ended its sample.
    pub(super) fn end_all(&self, in_flight: Outcome) {
        let to_bot = match (&self.bot, in_flight) {
            (Some(bot), Outcome::Timeout) => bot.unanswered(),
            _ => in_flight,
        };
        self.floor.borrow_mut().end_all(InFlight { wired: in_flight, to_bot }, self.clock.now());
    }

    /// What is known of the acts towards the bot beside their samples.
    pub(super) fn bot_side(&self) -> BotSide {
        self.bot.as_ref().map(Bot::side).unwrap_or_default()
    }

    /// Effects that nobody was told of because the queue was full.
    pub(super) fn expected_dropped(&self) -> u64 {
        self.expected.borrow().dropped
    }

    /// Performs one act and says what the same player does next.
    async fn act(self: &Rc<Self>, index: u32, timer: Pin<&mut Timer>) -> Option<u32> {
        let arrival = &self.plan.arrivals[index as usize];
        let way = self.requests.way(arrival.act);
        let mut hands = self.floor.borrow_mut().take_hands(index, way);
        let ended = match self.begin(arrival, index, &mut hands) {
            Ok(begun) => self.persist(index, begun, &mut hands, timer).await,
            Err(outcome) => Ended { at: self.clock.now(), outcome, tries: 0 },
        };
        self.fire_due(ended.at);
        let next = self.floor.borrow_mut().end(index, hands, &ended);
        if self.is_done() {
            self.stir.notify_one();
        }
        if !matches!(ended.outcome, Outcome::Ok) {
            // What cannot be sent fails without waiting for anything; the others must have their turn all the same.
            tokio::task::yield_now().await;
        }
        next
    }

    /// When an act was begun, or what becomes of it instead.
    fn begin(&self, arrival: &Arrival, index: u32, hands: &mut Hands) -> Result<Duration, Outcome> {
        let forbidden = hands.memory.forbids(self.requests.step(arrival.act));
        if let Some(obstacle) = forbidden.or_else(|| self.requests.obstacle(arrival, &hands.memory.captured)) {
            return Err(obstacle);
        }
        let (way, now) = (self.requests.way(arrival.act), self.clock.now());
        self.floor.borrow_mut().begin(index, hands, way, now).map(|()| now)
    }

    /// Tries until an act succeeds or its player gives up: a sample, however many requests it took.
    async fn persist(&self, index: u32, begun: Duration, hands: &mut Hands, mut timer: Pin<&mut Timer>) -> Ended {
        let arrival = &self.plan.arrivals[index as usize];
        let OnFailure { retry, leave } = self.requests.on_failure(arrival.act);
        let (mut nth, mut tries) = (0, 0);
        // One place that waits for an answer, so that a task has room for one exchange and not for two.
        let ended = loop {
            let last = self.perform(arrival, index, hands, timer.as_mut()).await;
            tries += last.tries;
            let ended = Ended { tries, ..last };
            nth += 1;
            let due = retry.and_then(|retry| impatience::due(retry, nth, begun, (ended.at, ended.outcome)));
            let Some(due) = due else { break ended };
            self.floor.borrow_mut().pause(index, &ended);
            self.wait(index, due).await;
            self.floor.borrow_mut().go_on(index);
        };
        if leave && ended.outcome.has_failed() {
            hands.memory.leave();
        }
        ended
    }

    /// Waits until an arrival's next try is due.
    async fn wait(&self, index: u32, due: Duration) {
        let rung = self.retries.borrow_mut().wait(due, index);
        if self.retries.borrow().next_due() == Some(due) {
            self.stir.notify_one();
        }
        // Whoever rings outlives whoever waits, until all of them are ended together.
        drop(rung.await);
    }

    async fn talk(&self, arrival: &Arrival, index: u32, hands: &mut Hands) -> Ended {
        let (place, gesture) = self.requests.gesture(arrival, &hands.memory.captured);
        let ended = self.gesture(index, place, gesture).await;
        let ok = matches!(ended.outcome, Outcome::Ok);
        self.note(arrival, hands, Ending { ok, status: None });
        if ok {
            self.follow(arrival, hands, Accepted::default(), ended.at);
        }
        ended
    }

    /// One try.
    async fn perform(&self, arrival: &Arrival, index: u32, hands: &mut Hands, timer: Pin<&mut Timer>) -> Ended {
        match &self.requests.step(arrival.act).does {
            Does::Request(request) => self.exchange(request, arrival, hands, timer).await,
            Does::Bot(_) => self.talk(arrival, index, hands).await,
            // Boxed, so that a plain request need not have room for them.
            Does::Page(page) => Box::pin(self.load(page, arrival, hands, timer)).await,
            Does::Converse(conversation) => Box::pin(self.converse(conversation, arrival, hands, timer)).await,
        }
    }

    async fn exchange(&self, request: &Request, arrival: &Arrival, hands: &mut Hands, timer: Pin<&mut Timer>) -> Ended {
        let told = self.teller(arrival);
        let ask = self.ask(arrival, self.keeps_body(self.requests.step(arrival.act)), &told);
        let fill = |out: &mut String| self.requests.write(request, arrival, &hands.memory.captured, out);
        let exchanged = self.wire.exchange(&mut hands.connection, timer, ask, fill).await;
        self.judge(arrival, hands, &exchanged)
    }

    /// Keeps how far a player's exchange has come, for when it is cut short.
    pub(super) fn teller(&self, arrival: &Arrival) -> impl Fn(Stage) {
        let player = arrival.player;
        move |stage| self.floor.borrow_mut().come_to(player, stage)
    }

    /// Whether an answer's body is kept: to be judged, or to be told of.
    pub(super) fn keeps_body(&self, step: &Step) -> Body {
        if self.unfit.is_some() { Body::Kept } else { wants(step) }
    }

    pub(super) fn ask<'a>(&self, arrival: &Arrival, body: Body, told: &'a dyn Fn(Stage)) -> Ask<'a> {
        let network = self.networks.get(arrival.player as usize).copied().unwrap_or_default();
        let headers = wants_headers(self.requests.step(arrival.act));
        Ask { body, headers, source: self.sources.of(arrival.player), network, told }
    }

    /// The end of an exchange is the moment its answer was whole; what it is judged by comes after.
    pub(super) fn judge(&self, arrival: &Arrival, hands: &mut Hands, exchanged: &Exchanged) -> Ended {
        let at = self.clock.now();
        let judged = match &exchanged.result {
            Ok(answered) => self.judge_answer(arrival, hands, answered),
            Err(failure) => Err(Outcome::from(*failure)),
        };
        let status = exchanged.result.as_ref().ok().map(|answered| answered.status);
        self.note(arrival, hands, Ending { ok: judged.is_ok(), status });
        let outcome = match judged {
            Ok(accepted) => {
                self.follow(arrival, hands, accepted, at);
                Outcome::Ok
            }
            Err(outcome) => {
                self.tell_unfit(arrival, exchanged.result.as_ref().map(|answered| answered.body.as_slice()).ok());
                outcome
            }
        };
        Ended { at, outcome, tries: exchanged.tries }
    }

    /// Of several tries the last one's answer stands, or that there was none.
    pub(super) fn tell_unfit(&self, arrival: &Arrival, body: Option<&[u8]>) {
        if let Some(unfit) = &self.unfit {
            let mut unfit = unfit.lock().unwrap_or_else(PoisonError::into_inner);
            unfit.insert(arrival.act, body.unwrap_or_default().to_owned());
        }
    }

    /// Remembers how an act ended, where a later one asks.
    pub(super) fn note(&self, arrival: &Arrival, hands: &mut Hands, ending: Ending) {
        if let Some(step) = self.requests.asked_of(arrival.act) {
            hands.memory.note(step, ending);
        }
    }

    /// Where the system must refuse, a refusal is the success, and nothing else is expected of it.
    fn judge_answer(&self, arrival: &Arrival, hands: &Hands, answered: &Answered) -> Result<Accepted, Outcome> {
        let step = self.requests.step(arrival.act);
        match self.requests.refusal(arrival.act) {
            Some(statuses) if statuses.contains(&answered.status) => Ok(Accepted::default()),
            Some(_) => Err(Outcome::Status(answered.status)),
            None => judge(step, answered, &self.requests.values(arrival, &hands.memory.captured)),
        }
    }

    /// Keeps what was captured and announces what the act shows.
    fn follow(&self, arrival: &Arrival, hands: &mut Hands, mut accepted: Accepted, ended: Duration) {
        accepted.keep(&mut hands.memory.captured);
        let shows = self.requests.step(arrival.act).shows.as_ref();
        let Some(shows) = shows.filter(|_| self.requests.refusal(arrival.act).is_none()) else { return };
        let values = self.requests.values(arrival, &hands.memory.captured);
        let scheduled = self.load_from + arrival.at;
        let expected = accepted.shows(shows, &values).map(|(chat, sign)| Expected { chat, sign, scheduled, ended });
        self.expected.borrow_mut().announce(expected);
    }
}

impl Awaited {
    fn announce(&mut self, expected: Option<Expected>) {
        let Some(to) = &self.to else { return };
        let told = expected.is_some_and(|expected| to.try_send(expected).is_ok());
        self.dropped += u64::from(!told);
    }
}

/// One player acts, and goes on for as long as there is something due to do.
async fn turn(desk: Rc<Desk>, first: u32) {
    let (mut next, mut timer) = (Some(first), pin!(None));
    while let Some(index) = next {
        next = desk.act(index, timer.as_mut()).await;
    }
}
