//! The load: everything that watches is started, the plan is driven, deliveries settle, everything is joined.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use floodrig_reports::recording::{Event, EventKind, Header, Probed, Row, Seal, Towards};

use floodrig_stub::{Sighting, Stub};

use super::ordered::{Ordered, excused_from};
use super::preflight::Visits;
use super::recovery::{Rested, rest};
use super::telegram::Telegram;
use super::trouble::Trouble;
use super::under_test::UnderTest;
use super::watch::{Watch, Watched, Watching};
use super::{Live, News, Phase, Rig, Side, Speedometer, bot, header, outside};
use crate::drive::{DriveError, Driven, End, Job, Pace, Seat, drive};
use crate::init_data::{CannotSign, Signed};
use crate::record::{Intervals, interval_length};
use crate::scenario::Outside;
use crate::stop::Cut;
use crate::vitals::{self, Observed, Observer, Subject, Threads};

/// How far ahead the load is planned: time to sign the first opens, at some 30 us each, while everything starts.
pub(super) const LEAD: Duration = Duration::from_millis(500);
/// How often the progress is told.
pub(super) const TELL_EVERY: Duration = Duration::from_millis(250);
/// Sightings that may wait for the watch, which looks every interval: at 30 accepted sends a second, half a minute.
const SIGHTINGS: usize = 1024;

/// Drives the plan and records it; the answer is the recording's last line.
pub(super) fn load(
    rig: &Rig<'_>,
    mut header: Header,
    (telegram, before): (&Telegram, &Visits),
    side: &Side<'_>,
    tell: &mut dyn FnMut(News<'_>),
) -> Result<Seal, Trouble> {
    let (ground, system) = (rig.ground, side.system);
    // It may wait for a first answer, so it comes before the load has an instant to begin at.
    let seat = Seat::among(&ground.cores.rig);
    let observer = observe(rig, telegram, side, (&header.cores.system, seat.clone()));
    observer.describe(&mut header.observations);
    if let Some(remark) = observer.remark() {
        tell(News::Fact(&format!("note: {remark}")));
    }
    header.observations.deliveries = header::deliveries(&rig.order.scenario, telegram);
    rig.lookout.under_load();
    let load_from = ground.start_at.unwrap_or_else(|| ground.clock.now() + LEAD);
    let load_to = load_from + ground.load_length;
    header.load_us = (micros(load_from), micros(load_to));
    rig.write(Row::Header(Box::new(header)));
    let ahead = Arc::new(AtomicU64::new(0));
    let signed = sign(rig, load_from, &ahead)?;
    // What is not signed by then is signed during the load, on a core that the driving thread would rather have.
    signed.wait(ground.load_length, LEAD / 2);
    let (watching, job) = prepare(rig, telegram, (Arc::new(signed), seat), load_from)?;
    spare(rig, system, load_from);
    event(rig, load_from, EventKind::LoadStarted, "the load");
    let mut teller = Teller { rig, load_from, load_to, speed: Speedometer::default() };
    let mut ordered = Ordered::of(rig, system, watching.as_ref(), load_from);
    let driven = drive_apart(job, ordered.as_mut(), || {
        spare(rig, system, load_from);
        teller.tell(Phase::Load, tell);
    })?;
    event(rig, driven.ended, EventKind::LoadEnded, "the last act has ended");
    note_capped(rig, &driven);
    telegram.stub().into_iter().for_each(|stub| bot::note(rig, stub, system, &driven));
    let settled = settle(rig, watching.as_ref(), (system, ordered.as_mut()), || teller.tell(Phase::Settle, tell));
    if let Some(ordered) = ordered {
        ordered.finish(telegram.stub().map(|stub| &**stub), &driven.bot);
    }
    let watched = watching.map(Watching::finish).transpose();
    let watched =
        watched.map_err(|_| Trouble::Failed("the watch on Telegram panicked".to_owned()))?.unwrap_or_default();
    let rested = if settled { rest(rig, telegram, system, before, &mut *tell)? } else { Rested::CutShort };
    let observed = observer.finish();
    observed.stalls.iter().for_each(|stall| rig.write(Row::Stall(*stall)));
    rig.write(Row::Probed(Probed {
        longest_delay_us: observed.longest_delay.map(micros),
        longest_accept_us: observed.longest_accept.map(micros),
        pss_bytes: observed.pss_bytes,
        unseen: observed.unseen.is_some(),
    }));
    if let Some(unseen) = &observed.unseen {
        let text = format!("stalls of a loop that came later were not seen from inside: {unseen}");
        event(rig, ground.clock.now(), EventKind::Note, &text);
    }
    let seal = seal(&driven, watched, &observed);
    let signed_ahead_us = ahead.load(Ordering::Relaxed);
    Ok(Seal { partial: seal.partial || rested == Rested::CutShort, signed_ahead_us, ..seal })
}

/// Signs, and counts what that costs before the load, in microseconds of CPU time: the vitals tell of the load alone.
fn sign(rig: &Rig<'_>, load_from: Duration, ahead: &Arc<AtomicU64>) -> Result<Signed, CannotSign> {
    let (ground, ahead) = (rig.ground, Arc::clone(ahead));
    let clock = ground.clock;
    let meter = move || {
        if clock.now() < load_from {
            ahead.store(micros(vitals::cpu_of_this_thread()), Ordering::Relaxed);
        }
    };
    Signed::start_metered(&rig.order.scenario, &ground.plan, ground.bot_token, ground.epoch_unix + load_from, meter)
}

/// Acts that were not sent for want of a connection, or too late, are the rig's own bounds at work, and the report says so,
/// and whose doing it was that the bound was met.
fn note_capped(rig: &Rig<'_>, driven: &Driven) {
    let Driven { open_peak, capped, held_back, too_late, .. } = driven;
    if *too_late > 0 {
        let text = format!("{too_late} acts were abandoned: the rig itself was a second or more late for them");
        event(rig, driven.ended, EventKind::Note, &text);
    }
    let open = format!("{open_peak} connections were open, as many as the limit on open files allows");
    if *capped > 0 {
        let text = format!("{capped} acts were abandoned: {open}, and those were waiting for answers");
        event(rig, driven.ended, EventKind::Note, &text);
    }
    if *held_back > 0 {
        let text = format!(
            "{held_back} acts could not be sent: {open}, and the crowd needs more: raise `ulimit -n`, or set \
             connections = \"shared\""
        );
        event(rig, driven.ended, EventKind::Note, &text);
    }
}

/// What listens on a port that the system may connect to.
fn neighbours(telegram: &Telegram, side: &Side<'_>) -> BTreeMap<u16, String> {
    let services = side.services.iter().map(|service| (service.port(), service.name.clone()));
    services.chain(telegram.stub().map(|stub| (stub.port(), Towards::STUB.to_owned()))).collect()
}

/// Of several rigs that load one system the first observes it; the others watch only themselves.
fn observe(rig: &Rig<'_>, telegram: &Telegram, side: &Side<'_>, (seen_cores, seat): (&[u32], Seat)) -> Observer {
    let ground = rig.ground;
    let here = if rig.order.places.observes() { Ok(()) } else { Err("the first shard observes".to_owned()) };
    let subject = Subject {
        tree: here.clone().and_then(|()| side.system.tree()),
        command: side.system.command(),
        address: here.and_then(|()| outside::listens(&rig.order.scenario.system.ready)).map(|()| ground.target.address),
        path: outside::asked(&rig.order.scenario.system),
        connects: outside::bears_silence(&rig.order.scenario.system),
        often: rig.order.scenario.system.outside == Outside::Often,
        system_cores: ground.cores.system.clone(),
        seen_cores: seen_cores.to_vec(),
        rig_cores: ground.cores.rig.clone(),
        threads: Threads { stub: telegram.stub().and_then(|stub| stub.thread_id()).into_iter().collect(), seat },
        heartbeat: rig.heartbeat.clone(),
        neighbours: neighbours(telegram, side),
        services: side.services.iter().map(|service| (service.name.clone(), service.root())).collect(),
    };
    Observer::start(subject, ground.epoch, rig.rows.clone())
}

/// The watch on Telegram's side, started, and the job of the driving thread.
fn prepare(
    rig: &Rig<'_>,
    telegram: &Telegram,
    (signed, seat): (Arc<Signed>, Seat),
    load_from: Duration,
) -> Result<(Option<Watching>, Job), Trouble> {
    let (ground, scenario) = (rig.ground, &rig.order.scenario);
    let length = interval_length(ground.load_length);
    let (show, expected) = sync_channel(ground.plan.arrivals.len().max(1));
    let watching = telegram.stub().map(|stub| watch(rig, stub, length).start(expected, sightings(stub)));
    let watching = watching.transpose().map_err(Trouble::failed("start the watch on Telegram"))?;
    let names = ground.plan.acts.iter().map(|act| act.name.clone()).collect();
    let job = Job {
        scenario: Arc::clone(scenario),
        plan: Arc::clone(&ground.plan),
        pace: Pace::Planned,
        seat,
        target: ground.target.clone(),
        bot_token: ground.bot_token.to_owned(),
        signed,
        epoch: ground.epoch,
        load_from,
        stop: rig.stop.clone(),
        crowd: bot::crowd(rig, telegram.stub(), &ground.plan)?,
        expected: watching.is_some().then_some(show),
        unfit: None,
        sink: Intervals::new(names, load_from, length, rig.rows.clone(), Arc::clone(&rig.progress))
            .excusing(excused_from(rig, load_from)),
    };
    Ok((watching, job))
}

fn sightings(stub: &Stub) -> Receiver<Sighting> {
    let (see, sightings) = sync_channel(SIGHTINGS);
    stub.watch(see);
    sightings
}

fn watch(rig: &Rig<'_>, stub: &Arc<Stub>, interval: Duration) -> Watch {
    Watch {
        stub: Arc::clone(stub),
        rows: rig.rows.clone(),
        clock: rig.ground.clock,
        interval,
        late_after: rig.order.scenario.budgets.staleness,
        progress: Arc::clone(&rig.progress),
    }
}

/// A system that died before its load gets none of it.
fn spare(rig: &Rig<'_>, system: &UnderTest, load_from: Duration) {
    if system.died_before(load_from, rig.ground.clock.now()) {
        rig.stop.cut_short(Cut::Died);
    }
}

/// Drives on a thread of its own; this one tells how it goes.
fn drive_apart(job: Job, mut ordered: Option<&mut Ordered<'_>>, mut tell: impl FnMut()) -> Result<Driven, Trouble> {
    let start = thread::Builder::new().name("drive".to_owned());
    let driving = start.spawn(move || drive(job)).map_err(Trouble::failed("start the driving thread"))?;
    while !driving.is_finished() {
        wait(ordered.as_deref_mut());
        tell();
    }
    let driven: Result<Driven, DriveError> =
        driving.join().map_err(|_| Trouble::Failed("the driving thread panicked".to_owned()))?;
    Ok(driven?)
}

/// Waits a little, and gives the scenario's order to stop if it comes due.
fn wait(ordered: Option<&mut Ordered<'_>>) {
    thread::park_timeout(ordered.as_ref().map_or(TELL_EVERY, |ordered| ordered.until_due()));
    ordered.into_iter().for_each(Ordered::look);
}

/// Waits until everything expected is visible, for no longer than `settle`. A system that is gone shows nothing more. A
/// stop that is ordered for later, or under way, is waited for first. False when the wait was cut short: what is unseen
/// by then is not known to be lost.
fn settle(
    rig: &Rig<'_>,
    watching: Option<&Watching>,
    (system, mut ordered): (&UnderTest, Option<&mut Ordered<'_>>),
    mut tell: impl FnMut(),
) -> bool {
    while ordered.as_ref().is_some_and(|ordered| ordered.is_open() || ordered.is_under_way()) && !rig.stop.asked() {
        wait(ordered.as_deref_mut());
        tell();
    }
    let last_calls = ordered.and_then(|ordered| ordered.last_calls_until());
    let until = rig.ground.clock.now() + rig.order.scenario.crowd.settle;
    let all_seen = || watching.is_none_or(Watching::all_seen);
    let over = || system.is_gone() && last_calls.is_none_or(|until| rig.ground.clock.now() >= until);
    while !all_seen() && !over() && !rig.stop.asked() && rig.ground.clock.now() < until {
        thread::park_timeout(TELL_EVERY);
        tell();
    }
    let settled = !rig.stop.asked();
    let (kind, text) = match rig.lookout.seen() {
        Some(stray) => (EventKind::Interrupted, stray.to_string()),
        None if settled => (EventKind::Settled, "deliveries have settled".to_owned()),
        None => (EventKind::Interrupted, "interrupted".to_owned()),
    };
    event(rig, rig.ground.clock.now(), kind, &text);
    settled
}

pub(super) fn event(rig: &Rig<'_>, at: Duration, kind: EventKind, text: &str) {
    rig.write(Row::Event(Event { at_us: micros(at), kind, text: text.to_owned() }));
}

fn seal(driven: &Driven, watched: Watched, observed: &Observed) -> Seal {
    Seal {
        partial: driven.end == End::Stopped,
        samples: driven.samples,
        not_ready: None,
        failed: None,
        dropped: driven.exemplars_dropped + observed.dropped,
        deliveries_dropped: driven.expected_dropped + watched.sightings_dropped,
        signed_ahead_us: 0,
        spoken: driven.spoken,
    }
}

/// Tells how the load goes.
struct Teller<'a> {
    rig: &'a Rig<'a>,
    load_from: Duration,
    load_to: Duration,
    speed: Speedometer,
}

impl Teller<'_> {
    fn tell(&mut self, phase: Phase, to: &mut dyn FnMut(News<'_>)) {
        let now = self.rig.ground.clock.now();
        let (at, of) = (now.saturating_sub(self.load_from), self.load_to.saturating_sub(self.load_from));
        to(News::Live(Live { phase, at, of, ..self.speed.read(now, self.rig.progress.standing()) }));
    }
}

pub(super) fn micros(time: Duration) -> u64 {
    time.as_micros() as u64
}
