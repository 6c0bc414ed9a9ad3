//! A page load: the document, and then everything that belongs to it over the browser's connections at the same time.
//!
//! All of it is one act and one sample, which ends when the last part is in. A browser goes on when a part fails, and so
//! does this; the first part that failed, in the order of the page, then decides the outcome.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::{Pin, pin};
use std::rc::Rc;

use floodrig_reports::recording::{Outcome, RigFault};
use futures_util::future::join_all;

use super::assets::assets;
use super::desk::Desk;
use super::floor::Ended;
use super::hands::Hands;
use super::memory::Ending;
use super::request::{Captured, Part};
use crate::exchange::{Body, Connection, Exchanged, Timer, Trunk};
use crate::plan::Arrival;
use crate::scenario::{Assets, Page, Piece, Template};

/// Connections that browsers open to one host: Chrome, Firefox and Safari all stop at six.
pub(super) const MOST_CONNECTIONS: usize = 6;

/// Requests under way at once on one connection of HTTP/2: the fewest that a server should allow (RFC 9113, section 6.5.2).
const MOST_STREAMS: usize = 100;

/// What was found in documents, by act. A crowd is served the same document over and over, so it is read once.
#[derive(Debug, Default)]
pub(super) struct Pages {
    of_act: BTreeMap<u16, Found>,
}

/// What was found in a document.
#[derive(Debug)]
struct Found {
    path: String,
    document: Vec<u8>,
    parts: Rc<[Template]>,
}

/// The parts of a page, handed out one after the other.
struct Parts<'a> {
    page: &'a Page,
    paths: &'a [Template],
    next: Cell<usize>,
    arrival: &'a Arrival,
    captured: &'a Captured,
}

/// What fetches one part after the other.
enum Lane<'a> {
    /// Over a connection of its own, made when there is none.
    Own(Option<Connection>),
    /// Over the one that all share.
    Shared(&'a Trunk<'a>),
}

/// What one lane fetched.
#[derive(Default)]
struct Fetched {
    connection: Option<Connection>,
    tries: u16,
    /// The first part that failed, by its place in the page.
    failed: Option<(usize, Outcome)>,
}

impl Desk {
    /// Loads a page.
    pub(super) async fn load(
        &self,
        page: &Page,
        arrival: &Arrival,
        hands: &mut Hands,
        timer: Pin<&mut Timer>,
    ) -> Ended {
        let document = self.document(page, arrival, hands, timer).await;
        let ended = self.judge(arrival, hands, &document);
        let (true, Ok(answered)) = (matches!(ended.outcome, Outcome::Ok), &document.result) else {
            return ended;
        };
        let found;
        let paths: &[Template] = match &page.assets {
            Assets::Listed(paths) => paths,
            Assets::Found if answered.too_long => {
                self.note(arrival, hands, Ending { ok: false, status: Some(answered.status) });
                self.tell_unfit(arrival, None);
                return Ended { outcome: Outcome::RigFault(RigFault::AnswerTooLong), ..ended };
            }
            Assets::Found => {
                found = self.found(page, arrival, hands, &answered.body);
                &found
            }
        };
        let fetched = self.fetch_all(page, paths, arrival, hands).await;
        let whole = self.sum_up(&ended, fetched, hands);
        let ok = matches!(whole.outcome, Outcome::Ok);
        if !ok {
            self.tell_unfit(arrival, None);
        }
        self.note(arrival, hands, Ending { ok, status: Some(answered.status) });
        whole
    }

    async fn document(&self, page: &Page, arrival: &Arrival, hands: &mut Hands, timer: Pin<&mut Timer>) -> Exchanged {
        let body = match page.assets {
            Assets::Found => Body::Kept,
            Assets::Listed(_) => self.keeps_body(self.requests.step(arrival.act)),
        };
        let fill = |out: &mut String| {
            self.requests.write_part(Part { page, path: &page.path }, arrival, &hands.memory.captured, out);
        };
        let told = self.teller(arrival);
        self.wire.exchange(&mut hands.connection, timer, self.ask(arrival, body, &told), fill).await
    }

    /// What a document names, read anew only when the document is another one than last time.
    fn found(&self, page: &Page, arrival: &Arrival, hands: &Hands, document: &[u8]) -> Rc<[Template]> {
        let path = self.requests.path(&page.path, arrival, &hands.memory.captured);
        let mut pages = self.pages.borrow_mut();
        if let Some(found) =
            pages.of_act.get(&arrival.act).filter(|found| found.document == document && found.path == path)
        {
            return Rc::clone(&found.parts);
        }
        let part = |path| Template { pieces: vec![Piece::Text(path)] };
        let parts: Rc<[Template]> = assets(document, &path).into_iter().map(part).collect();
        pages.of_act.insert(arrival.act, Found { path, document: document.to_owned(), parts: Rc::clone(&parts) });
        parts
    }

    /// Fetches all parts over as many connections as a browser would use and there is room for; over HTTP/2, all on one.
    async fn fetch_all(&self, page: &Page, paths: &[Template], arrival: &Arrival, hands: &mut Hands) -> Vec<Fetched> {
        if let Some(shared) = hands.connection.take_if(|connection| connection.takes_many()) {
            return self.fetch_along(shared, (page, paths), arrival, hands).await;
        }
        let lanes = paths.len().min(MOST_CONNECTIONS);
        self.floor.borrow_mut().widen(arrival.player, hands, lanes as u64);
        let lanes = lanes.min(hands.room.connections as usize);
        let mut connections: Vec<_> = hands.connection.take().into_iter().chain(hands.further.drain(..)).collect();
        let parts = Parts { page, paths, next: Cell::new(0), arrival, captured: &hands.memory.captured };
        let lanes: Vec<_> = (0..lanes).map(|_| self.fetch(&parts, Lane::Own(connections.pop()))).collect();
        let mut fetched = join_all(lanes).await;
        // Those that a small page had no use for are kept as they are.
        fetched.extend(connections.into_iter().map(Fetched::nothing_over));
        fetched
    }

    /// Fetches all parts at the same time over one connection. One that takes its place while the peer still ends what
    /// it has begun on the old one is one more, for which there must be room.
    async fn fetch_along(
        &self,
        shared: Connection,
        (page, paths): (&Page, &[Template]),
        arrival: &Arrival,
        hands: &mut Hands,
    ) -> Vec<Fetched> {
        let (beside, room) = (hands.further.len() as u64, RefCell::new(&mut hands.room));
        let allows = |count: u64| {
            let mut room = room.borrow_mut();
            beside + count <= room.connections || self.floor.borrow_mut().one_more(arrival.player, &mut room)
        };
        let trunk = Trunk::new(shared, &allows);
        let parts = Parts { page, paths, next: Cell::new(0), arrival, captured: &hands.memory.captured };
        let lanes: Vec<_> =
            (0..paths.len().min(MOST_STREAMS)).map(|_| self.fetch(&parts, Lane::Shared(&trunk))).collect();
        let mut fetched = join_all(lanes).await;
        fetched.extend(trunk.into_connection().map(Fetched::nothing_over));
        fetched
    }

    /// Fetches one part after the other in one lane, for as long as there are any.
    async fn fetch(&self, parts: &Parts<'_>, mut lane: Lane<'_>) -> Fetched {
        let (mut timer, mut fetched) = (pin!(None), Fetched::default());
        let told = self.teller(parts.arrival);
        while let Some(path) = parts.paths.get(parts.next.replace(parts.next.get() + 1)) {
            let place = parts.next.get() - 1;
            let part = Part { page: parts.page, path };
            let fill = |out: &mut String| self.requests.write_part(part, parts.arrival, parts.captured, out);
            let ask = self.ask(parts.arrival, Body::Drained, &told);
            let exchanged = match &mut lane {
                Lane::Own(connection) => self.wire.exchange(connection, timer.as_mut(), ask, fill).await,
                Lane::Shared(trunk) => self.wire.exchange_along(trunk, timer.as_mut(), ask, fill).await,
            };
            fetched.add(place, &exchanged);
        }
        match lane {
            Lane::Own(connection) => Fetched { connection, ..fetched },
            Lane::Shared(_) => fetched,
        }
    }

    /// The end of the whole page, whose document ended so.
    fn sum_up(&self, document: &Ended, fetched: Vec<Fetched>, hands: &mut Hands) -> Ended {
        let tries = fetched.iter().fold(document.tries, |tries, lane| tries.saturating_add(lane.tries));
        let failed = fetched.iter().filter_map(|lane| lane.failed).min_by_key(|(place, _)| *place);
        let mut connections = fetched.into_iter().filter_map(|lane| lane.connection);
        hands.connection = connections.next();
        hands.further.extend(connections);
        let outcome = failed.map_or(document.outcome, |(_, failed)| failed);
        Ended { at: self.clock.now(), outcome, tries }
    }
}

impl Fetched {
    fn nothing_over(connection: Connection) -> Self {
        Self { connection: Some(connection), ..Self::default() }
    }

    fn add(&mut self, place: usize, exchanged: &Exchanged) {
        self.tries = self.tries.saturating_add(exchanged.tries);
        let failed = match &exchanged.result {
            Ok(answered) if (200..300).contains(&answered.status) => return,
            Ok(answered) => Outcome::Status(answered.status),
            Err(failure) => Outcome::from(*failure),
        };
        self.failed.get_or_insert((place, failed));
    }
}
