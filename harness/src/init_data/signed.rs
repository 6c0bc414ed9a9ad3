//! Signing ahead of time: a thread of its own signs each visit's initData in the order of the openings, so that the
//! driving thread only ever picks up a finished text. Memory is one text for each visit.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Keys, Launch, forge, sign};
use crate::plan::{Plan, Player, Visit};
use crate::scenario::{Fault, Journey, Scenario, Slot, Template};
use crate::template::{Escape, Values, fill};

/// So many visits are told of at once: a word for each would cost a tenth of what signing it does (`perf`, on a full step
/// of `scripts/bench load`).
const TOLD_AT_ONCE: usize = 64;

/// Why signing could not begin.
#[derive(Debug, thiserror::Error)]
pub enum CannotSign {
    /// The link holds something that is not known when a player opens it.
    #[error("crowd.start_param: {0:?} has no value when the app is opened; use a player's or a chat's")]
    StartParam(Slot),
    /// No thread.
    #[error("cannot start the thread that signs: {0}")]
    Thread(#[from] io::Error),
}

/// The initData of every visit, now or soon.
pub struct Signed {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the two threads have in common.
struct Shared {
    plan: Arc<Plan>,
    slots: Vec<OnceLock<Box<str>>>,
    /// How many visits, from the first on, are done with.
    done: Mutex<usize>,
    moved: Condvar,
    stop: AtomicBool,
}

/// What signs.
struct Pen {
    keys: Keys,
    start_param: Template,
    /// By visit: whether anybody goes through it, and with initData.
    carried: Vec<bool>,
    /// By journey: how old stale initData is.
    stale_by: Vec<Duration>,
    /// The start of the load, since 1970.
    load_from: Duration,
}

impl Signed {
    /// Starts signing for all visits of `plan`; `load_from` is the start of the load since 1970.
    pub fn start(
        scenario: &Scenario,
        plan: &Arc<Plan>,
        bot_token: &str,
        load_from: Duration,
    ) -> Result<Self, CannotSign> {
        Self::start_metered(scenario, plan, bot_token, load_from, || ())
    }

    /// The same, with a word now and then and at the end, on the thread that signs.
    pub fn start_metered(
        scenario: &Scenario,
        plan: &Arc<Plan>,
        bot_token: &str,
        load_from: Duration,
        mut signed_some: impl FnMut() + Send + 'static,
    ) -> Result<Self, CannotSign> {
        let pen = Pen {
            keys: Keys::of_bot(bot_token),
            start_param: scenario.crowd.start_param.clone(),
            carried: carried(scenario, plan),
            stale_by: scenario.journeys.iter().map(stale_by).collect(),
            load_from,
        };
        if let Some(player) = plan.players.first() {
            pen.start_param_of(player).map_err(|slot| CannotSign::StartParam(slot.clone()))?;
        }
        let shared = Arc::new(Shared::new(plan));
        let writer = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("sign".into()).spawn(move || writer.sign_all(&pen, &mut signed_some))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The initData of a visit, percent-encoded: nothing if it is not signed yet, or is never sent.
    pub fn get(&self, visit: u32) -> Option<&str> {
        self.shared.slots.get(visit as usize)?.get().map(|text| &**text)
    }

    /// Waits until all visits that begin by `until` are signed, for as long as `within`; whether they are known
    /// to be.
    pub fn wait(&self, until: Duration, within: Duration) -> bool {
        let wanted = self.shared.plan.visits.partition_point(|visit| visit.at <= until);
        let behind = |done: &mut usize| *done < wanted;
        let waited = self.shared.moved.wait_timeout_while(self.shared.done(), within, behind);
        *waited.unwrap_or_else(PoisonError::into_inner).0 >= wanted
    }
}

/// A visit of which the plan has no act, since it is another shard's, needs no initData.
fn carried(scenario: &Scenario, plan: &Plan) -> Vec<bool> {
    let mut carried = vec![false; plan.visits.len()];
    for arrival in &plan.arrivals {
        let visit = &plan.visits[arrival.visit as usize];
        carried[arrival.visit as usize] = scenario.journeys[usize::from(visit.journey)].init_data.is_some();
    }
    carried
}

impl Drop for Signed {
    /// A panic of the thread has been printed by then, and its visits stay unsigned.
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

impl Shared {
    fn new(plan: &Arc<Plan>) -> Self {
        Self {
            plan: Arc::clone(plan),
            slots: plan.visits.iter().map(|_| OnceLock::new()).collect(),
            done: Mutex::new(0),
            moved: Condvar::new(),
            stop: AtomicBool::new(false),
        }
    }

    fn sign_all(&self, pen: &Pen, signed_some: &mut dyn FnMut()) {
        // The last visit of a player to a journey whose initData was good: kept only where some reuse theirs.
        let mut good: HashMap<(u32, u16), usize> = HashMap::new();
        let reuses = self.plan.visits.iter().any(|visit| visit.fault == Some(Fault::Reused));
        for (number, (visit, slot)) in self.plan.visits.iter().zip(&self.slots).enumerate() {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            if pen.carried[number] {
                let whose = (visit.player, visit.journey);
                let before = good.get(&whose).filter(|_| visit.fault == Some(Fault::Reused));
                let text = match before.and_then(|before| self.slots[*before].get()) {
                    Some(before) => before.clone(),
                    None => pen.sign(visit, &self.plan.players[visit.player as usize]).into_boxed_str(),
                };
                slot.get_or_init(|| text);
                if reuses && visit.fault.is_none() {
                    good.insert(whose, number);
                }
            }
            let done = number + 1;
            if done.is_multiple_of(TOLD_AT_ONCE) || done == self.slots.len() {
                signed_some();
                *self.done() = done;
                self.moved.notify_all();
            }
        }
    }

    fn done(&self) -> MutexGuard<'_, usize> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pen {
    fn sign(&self, visit: &Visit, player: &Player) -> String {
        let start_param = self.start_param_of(player).expect("what one player's link holds, every player's does");
        let opened = self.load_from + visit.at;
        let launch = |at: Duration| Launch { start_param: &start_param, auth_date: at.as_secs() };
        match visit.fault {
            None | Some(Fault::Reused) => sign(player, &launch(opened), &self.keys),
            Some(Fault::Tampered) => forge(player, &launch(opened), &self.keys),
            Some(Fault::Stale) => {
                let signed = opened.saturating_sub(self.stale_by[usize::from(visit.journey)]);
                sign(player, &launch(signed), &self.keys)
            }
        }
    }

    fn start_param_of(&self, player: &Player) -> Result<String, &Slot> {
        let mut link = String::new();
        let values = Values { player: Some(player), ..Values::default() };
        fill(&self.start_param, &values, Escape::None, &mut link).map(|()| link)
    }
}

/// Zero where nothing is stale.
fn stale_by(journey: &Journey) -> Duration {
    journey.faults.as_ref().map_or(Duration::ZERO, |faults| faults.stale_by)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use floodrig_reports::recording::Shard;

    use super::*;
    use crate::plan::by_hand::{SECOND, story};
    use crate::plan::plan;
    use crate::scenario::{Arrivals, Arrive, Faults, Piece, Place};

    const TOKEN: &str = "1:A";
    /// A bound for a hang, far beyond what signing takes.
    const PATIENCE: Duration = Duration::from_secs(60);
    const LOAD_FROM: Duration = Duration::from_millis(1_790_000_000_900);

    /// Those who play carry initData with the chat in the link, those who look do not.
    fn scenario() -> Scenario {
        let mut scenario = story();
        scenario.crowd.start_param = Template { pieces: vec![Piece::Slot(Slot::ChatId)] };
        scenario.journeys[0].init_data = Some(Place::Authorization);
        scenario
    }

    fn signed(scenario: &Scenario) -> (Arc<Plan>, Signed) {
        let plan = Arc::new(plan(scenario));
        let signed = Signed::start(scenario, &plan, TOKEN, LOAD_FROM).unwrap();
        (plan, signed)
    }

    #[test]
    fn a_word_is_said_for_so_many_visits_and_for_the_rest_at_the_end() {
        let mut scenario = scenario();
        scenario.journeys[0].arrive = Arrivals::Own(Arrive::Constant { rate: 10.0, over: 60 * SECOND });
        let plan = Arc::new(plan(&scenario));
        assert!(!plan.visits.len().is_multiple_of(TOLD_AT_ONCE) && plan.visits.len() > TOLD_AT_ONCE);
        let words = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&words);
        let said = move || _ = count.fetch_add(1, Ordering::Relaxed);
        let signed = Signed::start_metered(&scenario, &plan, TOKEN, LOAD_FROM, said).unwrap();
        assert!(signed.wait(last(&plan), PATIENCE));
        assert_eq!(words.load(Ordering::Relaxed), plan.visits.len().div_ceil(TOLD_AT_ONCE));
    }

    fn last(plan: &Plan) -> Duration {
        plan.visits.last().unwrap().at
    }

    #[test]
    fn every_visit_of_a_journey_with_init_data_is_signed_for_its_own_opening_and_no_other() {
        let (plan, signed) = signed(&scenario());
        assert!(signed.wait(last(&plan), PATIENCE));
        for (number, visit) in (0..).zip(&plan.visits) {
            let player = &plan.players[visit.player as usize];
            let start_param = player.chat_id.to_string();
            let auth_date = (LOAD_FROM + visit.at).as_secs();
            let expected = sign(player, &Launch { start_param: &start_param, auth_date }, &Keys::of_bot(TOKEN));
            assert_eq!(signed.get(number), (visit.journey == 0).then_some(&*expected));
        }
    }

    #[test]
    fn faulty_init_data_is_old_or_names_another_or_is_that_of_the_visit_before() {
        let mut faulty = scenario();
        faulty.journeys[0].arrive = Arrivals::Own(Arrive::Constant { rate: 10.0, over: 60 * SECOND });
        let (shares, refused) = ([0.2, 0.2, 0.2], Vec::new());
        faulty.journeys[0].faults = Some(Faults { shares, stale_by: 60 * SECOND, refused, refused_with: Vec::new() });
        let (plan, signed) = signed(&faulty);
        assert!(signed.wait(last(&plan), PATIENCE));
        let mut good = HashMap::new();
        for (number, visit) in (0..).zip(&plan.visits).filter(|(_, visit)| visit.journey == 0) {
            let text = signed.get(number).unwrap();
            let date = |before| format!("&auth_date={}&", (LOAD_FROM + visit.at).saturating_sub(before).as_secs());
            let user = |id: i64| format!("user=%7B%22id%22%3A{id}%2C");
            let own = plan.players[visit.player as usize].user_id;
            match visit.fault {
                None => drop(good.insert(visit.player, text)),
                Some(Fault::Stale) => assert!(text.contains(&date(60 * SECOND)) && text.starts_with(&user(own))),
                Some(Fault::Tampered) => assert!(text.contains(&date(Duration::ZERO)) && !text.starts_with(&user(own))),
                Some(Fault::Reused) => assert_eq!(good.get(&visit.player), Some(&text)),
            }
        }
    }

    #[test]
    fn a_shard_signs_for_its_own_players_alone() {
        let (scenario, shard) = (scenario(), Shard { number: 2, of: 3 });
        let plan = Arc::new(plan(&scenario).part(shard));
        let signed = Signed::start(&scenario, &plan, TOKEN, LOAD_FROM).unwrap();
        assert!(signed.wait(last(&plan), PATIENCE));
        for (number, visit) in (0..).zip(&plan.visits) {
            assert_eq!(signed.get(number).is_some(), visit.journey == 0 && shard.holds(visit.player));
        }
    }

    #[test]
    fn the_opening_instant_is_cut_to_whole_seconds() {
        let (plan, signed) = signed(&scenario());
        assert!(signed.wait(last(&plan), PATIENCE));
        let late = plan.visits.iter().position(|visit| visit.journey == 0 && visit.at.subsec_millis() < 100).unwrap();
        let early = plan.visits.iter().position(|visit| visit.journey == 0 && visit.at.subsec_millis() > 100).unwrap();
        for (visit, second) in [(late, 0), (early, 1)] {
            let date = 1_790_000_000 + second + plan.visits[visit].at.as_secs();
            assert!(signed.get(visit as u32).unwrap().contains(&format!("&auth_date={date}&")));
        }
    }

    #[test]
    fn waiting_for_nobody_is_over_at_once() {
        let mut empty = scenario();
        empty.crowd.groups = 0;
        let (_plan, signed) = signed(&empty);
        assert!(signed.wait(SECOND, Duration::ZERO));
    }

    #[test]
    fn a_visit_that_is_not_planned_has_nothing() {
        let (plan, signed) = signed(&scenario());
        assert_eq!(signed.get(plan.visits.len() as u32), None);
    }

    #[test]
    fn dropping_it_ends_the_thread_and_lets_go_of_the_plan() {
        let mut endless = scenario();
        endless.crowd.groups = 10_000;
        let (plan, signed) = signed(&endless);
        drop(signed);
        assert_eq!(Arc::strong_count(&plan), 1);
    }

    #[test]
    fn a_link_that_needs_more_than_a_player_is_an_error() {
        let mut scenario = scenario();
        scenario.crowd.start_param = Template { pieces: vec![Piece::Slot(Slot::Word)] };
        let started = Signed::start(&scenario, &Arc::new(plan(&scenario)), TOKEN, SECOND);
        assert!(matches!(started, Err(CannotSign::StartParam(Slot::Word))));
    }
}
