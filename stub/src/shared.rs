//! What every connection, every webhook and whoever holds the stub share: its state under one lock, its clock, and the
//! bells that wake those who wait.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::pki_types::CertificateDer;
use tokio::sync::Notify;

use crate::call::Keeping;
use crate::clock::Clock;
use crate::launch::{self, Drawn, Opening};
use crate::limits::Limits;
use crate::records::Records;
use crate::server::absorbing::Errands;
use crate::stub::NotPushed;
use crate::telegram::Telegram;
use crate::users::{self, Moment, UserAction};
use crate::world::MOST_BYTES;

/// What they share.
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) keeping: Keeping,
    /// Rings when there may be something to post to a webhook.
    pub(crate) post: Notify,
    /// Rings when a bot may have sent something.
    pub(crate) sent: Notify,
    /// Authorities of the stub's own certificates, which webhooks may be signed by.
    authorities: Mutex<Vec<CertificateDer<'static>>>,
    /// Calls that wait for room.
    pub(crate) errands: Errands,
    /// Short waits are waited out here.
    pub(crate) absorbs: bool,
    /// Calls pass a gateway that sheds.
    pub(crate) sheds: bool,
    telegram: Mutex<Telegram>,
    pub(crate) records: Records,
}

impl Shared {
    pub(crate) fn new(clock: Clock, limits: Limits, seed: u64) -> Self {
        let (absorbs, sheds) = (limits.absorb_short_waits, limits.gateway_shedding);
        let telegram = Mutex::new(Telegram::new(limits, seed));
        let keeping = Keeping::bounded(MOST_BYTES);
        let (post, sent, errands) = (Notify::new(), Notify::new(), Errands::default());
        let authorities = Mutex::default();
        Self { clock, keeping, post, sent, authorities, errands, absorbs, sheds, telegram, records: Records::default() }
    }

    /// Lets webhooks be signed by that authority too.
    pub(crate) fn trust(&self, authority: CertificateDer<'static>) {
        self.authorities.lock().unwrap_or_else(PoisonError::into_inner).push(authority);
    }

    /// With the authorities whose certificates webhooks may show.
    pub(crate) fn trusting<T>(&self, with: impl FnOnce(&[CertificateDer<'static>]) -> T) -> T {
        with(&self.authorities.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The state. A call that panicked leaves it as consistent as one that was refused halfway, so the lock
    /// survives it.
    pub(crate) fn telegram(&self) -> MutexGuard<'_, Telegram> {
        self.telegram.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address that a user opens a Mini App at.
    pub(crate) fn open_app(&self, token: &str, opening: &Opening) -> String {
        let (query_id, people) = {
            let mut telegram = self.telegram();
            (telegram.chance(1..=i64::MAX).to_string(), telegram.world.people.clone())
        };
        let date = self.clock.unix(self.clock.now());
        launch::address(token, opening, Drawn { query_id: &query_id, date, people: &people })
    }

    /// Lets a user do something; the id of the update that came of it.
    pub(crate) fn do_as_user(&self, bot: i64, action: &UserAction) -> Result<i64, NotPushed> {
        let now = self.clock.now();
        let at = Moment { now, date: self.clock.unix(now), bot };
        let pushed = users::act(&mut self.telegram(), at, action);
        self.post.notify_one();
        pushed
    }
}
