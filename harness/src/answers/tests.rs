//! Both sides of every rule, and what holds whatever happens.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

const GROUP: i64 = -100;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The update of an act.
fn update_of(ticket: u32, at: u64) -> i64 {
    i64::from(ticket) * 1_000_000 + at as i64
}

impl Answers {
    /// An act waits, and the bot is handed its update at once.
    fn begins(&mut self, done: Done, chat: i64, user: i64) {
        self.open(done, chat, user);
        self.taken(done.update_id.unwrap(), done.at);
    }
}

/// An act that wrote this message.
fn wrote(ticket: u32, at: u64, message_id: i64) -> Done {
    Done { ticket, at: ms(at), message_id, callback_query_id: None, update_id: Some(update_of(ticket, at)) }
}

/// An act that tapped a button of this message.
fn tapped(ticket: u32, at: u64, message_id: i64, query: i64) -> Done {
    Done { callback_query_id: Some(query), ..wrote(ticket, at, message_id) }
}

/// A call begun then, in this chat, that says nothing of whom it answers.
fn call(begun: u64, chat: i64) -> BotCall {
    BotCall {
        begun: ms(begun),
        at: ms(begun + 1),
        chat: Some(chat),
        user: None,
        callback_query_id: None,
        reply_to: None,
        edits: None,
    }
}

/// Two acts in one group: 1 wrote message 11, 2 tapped on message 12 by query 22.
fn two() -> Answers {
    let mut answers = Answers::default();
    answers.begins(wrote(1, 10, 11), GROUP, 71);
    answers.begins(tapped(2, 20, 12, 22), GROUP, 72);
    answers
}

#[test]
fn a_callback_query_is_answered_by_its_id_alone() {
    let query = |id| BotCall { callback_query_id: Some(id), chat: None, ..call(30, GROUP) };
    let mut answers = two();
    assert_eq!(answers.answer(&query(23)), Match::Nobody, "no query of ours");
    assert_eq!(answers.answer(&query(22)), Match::Ends(2));
    assert_eq!(answers.answer(&query(22)), Match::Nobody, "it is answered already");
    assert_eq!(answers.unmatched(), 2);
}

#[test]
fn a_reply_answers_the_act_that_wrote_or_tapped_that_message_and_no_other() {
    let reply = |to| BotCall { reply_to: Some(to), ..call(30, GROUP) };
    let mut answers = two();
    assert_eq!(answers.answer(&reply(13)), Match::Nobody, "nobody's message");
    assert_eq!(answers.answer(&reply(12)), Match::Ends(2));
    assert_eq!(answers.answer(&reply(11)), Match::Ends(1));
    assert_eq!(answers.answer(&reply(11)), Match::Nobody);
}

#[test]
fn an_edit_answers_a_tap_on_that_message_and_otherwise_the_chat_in_order() {
    let edit = |of| BotCall { edits: Some(of), ..call(30, GROUP) };
    let mut answers = two();
    assert_eq!(answers.answer(&edit(12)), Match::Ends(2));
    assert_eq!(answers.answer(&edit(12)), Match::Ends(1), "a board that shows what was written");
    assert_eq!(answers.answer(&edit(12)), Match::Nobody);
}

#[test]
fn a_call_shown_to_one_user_alone_answers_that_users_act_and_no_other() {
    let shown_to = |user| BotCall { user: Some(user), ..call(30, GROUP) };
    let mut answers = two();
    assert_eq!(answers.answer(&shown_to(73)), Match::Nobody);
    assert_eq!(answers.answer(&shown_to(72)), Match::Ends(2));
}

#[test]
fn a_call_that_says_nothing_answers_the_one_open_act_of_its_chat_or_the_oldest() {
    let mut answers = two();
    answers.begins(wrote(3, 25, 1), 73, 73);
    assert_eq!(answers.answer(&call(30, 74)), Match::Nobody, "a chat where nobody waits");
    assert_eq!(answers.answer(&call(30, 73)), Match::Ends(3));
    assert_eq!(answers.answer(&call(30, 73)), Match::Nobody);
    assert_eq!(answers.answer(&call(30, GROUP)), Match::Ends(1));
    assert_eq!(answers.answer(&call(30, GROUP)), Match::Ends(2));
}

#[test]
fn a_call_that_had_begun_before_the_act_is_no_answer_to_it() {
    let mut answers = two();
    assert_eq!(answers.answer(&call(9, GROUP)), Match::Nobody);
    assert_eq!(answers.answer(&BotCall { callback_query_id: Some(22), ..call(19, GROUP) }), Match::Nobody);
    assert_eq!(answers.answer(&call(10, GROUP)), Match::Ends(1));
}

#[test]
fn a_call_that_had_begun_before_the_bot_was_handed_the_update_answers_somebody_else() {
    let mut answers = Answers::default();
    let tap = tapped(2, 20, 12, 22);
    answers.open(tap, GROUP, 72);
    let query = |begun| BotCall { callback_query_id: Some(22), ..call(begun, GROUP) };
    assert_eq!(answers.answer(&call(30, GROUP)), Match::Nobody, "it is still in the inbox");
    answers.taken(update_of(9, 9), ms(35));
    answers.taken(tap.update_id.unwrap(), ms(40));
    answers.taken(tap.update_id.unwrap(), ms(50));
    for late in [call(39, GROUP), query(39), edit(39, 12), BotCall { user: Some(72), ..call(39, GROUP) }] {
        assert_eq!(answers.answer(&late), Match::Nobody, "{late:?}");
    }
    assert_eq!(answers.answer(&query(40)), Match::Ends(2));
}

#[test]
fn a_late_answer_to_an_earlier_try_is_told_from_one_to_the_present_by_all_that_it_names_and_by_what_is_in_hand() {
    let mut answers = Answers::default();
    answers.begins(tapped(1, 10, 12, 21), GROUP, 71);
    answers.close(1);
    answers.open(wrote(1, 20, 14), GROUP, 71);
    let late = call(30, GROUP);
    assert_eq!(answers.answer(&late), Match::Nobody, "the second try is still in the inbox");
    answers.taken(update_of(1, 20), ms(30));
    assert_eq!(answers.answer(&BotCall { callback_query_id: Some(21), ..late }), Match::Nobody);
    assert_eq!(answers.answer(&BotCall { reply_to: Some(12), ..late }), Match::Nobody);
    assert_eq!(answers.answer(&late), Match::Ends(1), "whose it is cannot be told, and the user has an answer");
}

#[test]
fn an_act_that_was_given_up_is_answered_by_nothing() {
    let mut answers = two();
    answers.close(1);
    assert_eq!(answers.answer(&BotCall { reply_to: Some(11), ..call(30, GROUP) }), Match::Nobody);
    assert_eq!(answers.answer(&call(30, GROUP)), Match::Ends(2));
}

#[test]
fn the_edit_that_follows_an_answered_tap_belongs_to_it_and_is_not_unmatched() {
    let edit = |begun, of| BotCall { edits: Some(of), ..call(begun, GROUP) };
    let mut answers = Answers::default();
    answers.begins(tapped(1, 20, 12, 22), GROUP, 72);
    assert_eq!(answers.answer(&edit(19, 12)), Match::Nobody, "it had begun before the tap");
    assert_eq!(answers.answer(&BotCall { callback_query_id: Some(22), ..call(30, GROUP) }), Match::Ends(1));
    assert_eq!(answers.answer(&edit(31, 12)), Match::Belongs);
    assert_eq!(answers.answer(&edit(31, 13)), Match::Nobody, "another message");
    assert_eq!(answers.answer(&BotCall { chat: Some(7), ..edit(31, 12) }), Match::Nobody, "another chat");
    assert_eq!(answers.answer(&edit(41, 12)), Match::Belongs, "a further edit that nobody waits for");
    assert_eq!(answers.unmatched(), 3);
}

/// A call begun then that edits this message of the group.
fn edit(begun: u64, of: i64) -> BotCall {
    BotCall { edits: Some(of), ..call(begun, GROUP) }
}

/// Bob wrote message 13 and waits; Alice tapped on message 12 after that, and her query is answered.
fn alice_is_owed_an_edit() -> Answers {
    let mut answers = Answers::default();
    answers.begins(wrote(1, 10, 13), GROUP, 71);
    answers.begins(tapped(2, 20, 12, 22), GROUP, 72);
    assert_eq!(answers.answer(&BotCall { callback_query_id: Some(22), ..call(30, GROUP) }), Match::Ends(2));
    answers
}

#[test]
fn the_edit_that_a_tap_is_owed_ends_nobody_elses_act_and_a_second_one_may() {
    let mut answers = alice_is_owed_an_edit();
    assert_eq!(answers.answer(&edit(31, 12)), Match::Belongs);
    assert_eq!(answers.answer(&edit(32, 12)), Match::Ends(1), "a board that shows what was written");
    assert_eq!((answers.answer(&edit(33, 12)), answers.unmatched()), (Match::Belongs, 0));
}

#[test]
fn what_is_not_the_edit_that_a_tap_is_owed_goes_to_whoever_waits() {
    for (other, is) in [(edit(19, 12), "begun before"), (edit(31, 11), "of another message"), (call(31, GROUP), "none")]
    {
        let mut answers = alice_is_owed_an_edit();
        assert_eq!(answers.answer(&other), Match::Ends(1), "{is}");
        assert_eq!(answers.answer(&edit(32, 12)), Match::Belongs, "it is owed all the same");
    }
}

#[test]
fn an_edit_begun_with_the_tap_itself_is_the_one_that_it_is_owed() {
    let mut answers = alice_is_owed_an_edit();
    assert_eq!(answers.answer(&edit(20, 12)), Match::Belongs);
    assert_eq!(answers.answer(&edit(20, 12)), Match::Ends(1));
}

#[test]
fn one_edit_pays_for_all_taps_that_began_before_it_and_for_none_that_began_later() {
    let mut answers = alice_is_owed_an_edit();
    for (ticket, at) in [(3, 40), (4, 50)] {
        let query = i64::from(ticket);
        answers.begins(tapped(ticket, at, 12, query), GROUP, 73);
        let answered = BotCall { callback_query_id: Some(query), ..call(60, GROUP) };
        assert_eq!(answers.answer(&answered), Match::Ends(ticket));
    }
    assert_eq!(answers.answer(&edit(40, 12)), Match::Belongs, "for the first and the second");
    assert_eq!(answers.answer(&edit(50, 12)), Match::Belongs, "for the third");
    assert_eq!(answers.answer(&edit(60, 12)), Match::Ends(1));
}

#[test]
fn an_edit_for_a_tap_that_still_waits_pays_for_those_that_were_answered_too() {
    let mut answers = alice_is_owed_an_edit();
    answers.begins(tapped(3, 40, 12, 23), GROUP, 73);
    assert_eq!(answers.answer(&edit(41, 12)), Match::Ends(3));
    assert_eq!(answers.answer(&BotCall { callback_query_id: Some(23), ..call(42, GROUP) }), Match::Belongs);
    assert_eq!(answers.answer(&edit(43, 12)), Match::Ends(1));
}

#[test]
fn the_query_of_a_tap_that_an_edit_answered_belongs_to_it_once() {
    let query = BotCall { callback_query_id: Some(22), chat: None, ..call(31, GROUP) };
    let mut answers = two();
    assert_eq!(answers.answer(&BotCall { edits: Some(12), ..call(30, GROUP) }), Match::Ends(2));
    assert_eq!(answers.answer(&query), Match::Belongs);
    assert_eq!(answers.answer(&query), Match::Nobody);
}

#[test]
fn what_comes_after_a_tap_was_given_up_is_unmatched() {
    let mut answers = two();
    answers.close(1);
    answers.close(2);
    assert_eq!(answers.answer(&BotCall { callback_query_id: Some(22), ..call(30, GROUP) }), Match::Nobody);
    assert_eq!(answers.answer(&BotCall { edits: Some(12), ..call(30, GROUP) }), Match::Nobody);
}

/// What happens in a few chats: an act begins, a call comes, an act is given up.
#[derive(Debug, Clone)]
enum Happens {
    Opens { chat: i64, user: i64, tap: bool },
    Calls { chat: i64, names: Names, late: u64 },
    GivesUp { nth: usize },
}

#[derive(Debug, Clone)]
enum Names {
    Nothing,
    Query(i64),
    Reply(i64),
    Edit(i64),
    User(i64),
}

fn happens() -> impl Strategy<Value = Happens> {
    let names = prop_oneof![
        Just(Names::Nothing),
        (0..40_i64).prop_map(Names::Query),
        (0..40_i64).prop_map(Names::Reply),
        (0..40_i64).prop_map(Names::Edit),
        (0..4_i64).prop_map(Names::User),
    ];
    prop_oneof![
        (0..3_i64, 0..4_i64, any::<bool>()).prop_map(|(chat, user, tap)| Happens::Opens { chat, user, tap }),
        (0..3_i64, names, 0..3_u64).prop_map(|(chat, names, late)| Happens::Calls { chat, names, late }),
        (0..40_usize).prop_map(|nth| Happens::GivesUp { nth }),
    ]
}

/// Everything told to the room and everything it answered.
#[derive(Debug, Default)]
struct Story {
    answers: Answers,
    opened: Vec<(Done, i64, i64)>,
    waiting: BTreeSet<u32>,
    /// Chat, message and beginning of the taps that are owed an edit.
    owed: Vec<(i64, i64, Duration)>,
    calls: u64,
    answered: u64,
    belonged: u64,
}

impl Story {
    fn goes_on(&mut self, at: u64, what: &Happens) {
        match what {
            Happens::Opens { chat, user, tap } => {
                let ticket = self.opened.len() as u32;
                let id = i64::from(ticket);
                let done = if *tap { tapped(ticket, at, id, id) } else { wrote(ticket, at, id) };
                self.answers.begins(done, *chat, *user);
                self.opened.push((done, *chat, *user));
                self.waiting.insert(ticket);
            }
            Happens::Calls { chat, names, late } => self.calls(at.saturating_sub(*late), *chat, names),
            Happens::GivesUp { nth } => {
                if let Some(ticket) = self.waiting.iter().nth(*nth).copied() {
                    self.answers.close(ticket);
                    self.waiting.remove(&ticket);
                }
            }
        }
    }

    fn calls(&mut self, begun: u64, chat: i64, names: &Names) {
        let plain = call(begun, chat);
        let call = match *names {
            Names::Nothing => plain,
            Names::Query(id) => BotCall { callback_query_id: Some(id), ..plain },
            Names::Reply(to) => BotCall { reply_to: Some(to), ..plain },
            Names::Edit(of) => BotCall { edits: Some(of), ..plain },
            Names::User(user) => BotCall { user: Some(user), ..plain },
        };
        self.calls += 1;
        let pays = self.pays(&call);
        let ticket = match self.answers.answer(&call) {
            Match::Ends(ticket) => ticket,
            other => {
                self.belonged += u64::from(other == Match::Belongs);
                return if pays { assert_eq!(other, Match::Belongs) } else { self.nobody_was_left_out(&call, names) };
            }
        };
        self.answered += 1;
        let (done, of, user) = self.opened[ticket as usize];
        assert!(self.waiting.remove(&ticket), "{ticket} was not waiting");
        assert!(done.at <= call.begun, "{done:?} began after {call:?}");
        match *names {
            Names::Query(id) => {
                assert_eq!(done.callback_query_id, Some(id));
                self.owed.push((of, done.message_id, done.at));
            }
            Names::Edit(message) if pays => assert_eq!((of, done.message_id), (chat, message)),
            Names::Reply(to) => assert_eq!((of, done.message_id), (chat, to)),
            Names::User(named) => assert_eq!((of, user), (chat, named)),
            Names::Nothing => assert_eq!(ticket, self.oldest_before(&call, ticket)),
            Names::Edit(_) => assert_eq!(of, chat),
        }
    }

    /// Whether the call is an edit that is owed; then it is no longer.
    fn pays(&mut self, call: &BotCall) -> bool {
        let before = self.owed.len();
        let is_of = |chat, message| call.chat == Some(chat) && call.edits == Some(message);
        self.owed.retain(|(chat, message, begun)| !is_of(*chat, *message) || *begun > call.begun);
        self.owed.len() < before
    }

    /// Of the acts of that chat that the call could answer, no older one waits.
    fn oldest_before(&self, call: &BotCall, answered: u32) -> u32 {
        let here = |ticket: &&u32| {
            let (done, chat, _) = self.opened[**ticket as usize];
            Some(chat) == call.chat && done.at <= call.begun
        };
        self.waiting.iter().find(here).map_or(answered, |oldest| answered.min(*oldest))
    }

    /// A call that names nobody is unmatched only where nobody waits.
    fn nobody_was_left_out(&self, call: &BotCall, names: &Names) {
        if matches!(names, Names::Nothing | Names::Edit(_)) {
            assert_eq!(self.oldest_before(call, u32::MAX), u32::MAX, "{call:?} answered nobody");
        }
    }
}

proptest! {
    /// Each call answers one act at most, each act is answered once at most, and never against the rules.
    #[test]
    fn whatever_happens_nothing_is_guessed_and_nobody_is_left_out(all in prop::collection::vec(happens(), 0..60)) {
        let mut story = Story::default();
        for (at, what) in (5..).zip(&all) {
            story.goes_on(at, what);
        }
        prop_assert_eq!(story.answers.unmatched(), story.calls - story.answered - story.belonged);
        prop_assert_eq!(story.answers.open.keys().copied().collect::<BTreeSet<_>>(), story.waiting);
        let by_chat: usize = story.answers.by_chat.values().map(VecDeque::len).sum();
        prop_assert_eq!(by_chat, story.answers.open.len(), "what is over takes no memory");
        prop_assert!(story.answers.by_query.len() <= story.answers.open.len());
        prop_assert_eq!(story.answers.by_update.len(), story.answers.open.len());
    }
}
