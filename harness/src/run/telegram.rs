//! Telegram's side of a run: this rig's own stub, or one that another rig owns and counts for.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use floodrig_reports::recording::Row;
use floodrig_stub::Stub;

use super::trouble::Trouble;
use super::{News, Order, StubAt, watch};
use crate::system::Clock;
use crate::system::port::check_free;

/// Where the calls of the system go.
pub(super) enum Telegram {
    /// To this rig.
    Here(Arc<Stub>),
    /// To another's stub, whose URL may be known.
    Elsewhere(Option<String>),
}

impl Telegram {
    /// Starts the stub, unless it is another's.
    pub(super) fn start(order: &Order, clock: Clock, tell: &mut dyn FnMut(News<'_>)) -> Result<Self, Trouble> {
        let address = match &order.places.stub {
            StubAt::AnyPort => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            StubAt::Address(address) => *address,
            StubAt::Elsewhere(url) => return Ok(Self::elsewhere(url.clone(), tell)),
        };
        if address.port() != 0 {
            check_free(address.port()).map_err(Trouble::unrecorded("open the stub's port"))?;
        }
        let listener = TcpListener::bind(address).map_err(Trouble::unrecorded("open a port for the stub"))?;
        let scenario = &order.scenario;
        let stub = floodrig_stub::start(scenario.telegram.clone(), listener, clock.epoch(), scenario.seed)
            .map_err(Trouble::unrecorded("start the stub"))?;
        tell(News::Fact(&format!("stub of Telegram on {}", stub.url())));
        Ok(Self::Here(Arc::new(stub)))
    }

    fn elsewhere(url: Option<String>, tell: &mut dyn FnMut(News<'_>)) -> Self {
        let at = url.as_ref().map(|url| format!(", at {url}")).unwrap_or_default();
        tell(News::Fact(&format!("the stub of Telegram is another rig's{at}: calls and deliveries are not seen here")));
        Self::Elsewhere(url)
    }

    /// This rig's stub.
    pub(super) fn stub(&self) -> Option<&Arc<Stub>> {
        match self {
            Self::Here(stub) => Some(stub),
            Self::Elsewhere(_) => None,
        }
    }

    /// Its URL, as far as it is known.
    pub(super) fn url(&self) -> Option<String> {
        match self {
            Self::Here(stub) => Some(stub.url()),
            Self::Elsewhere(url) => url.clone(),
        }
    }

    /// Its ceilings in words.
    pub(super) fn ceilings(&self) -> Vec<String> {
        self.stub().map(|stub| stub.ceilings()).unwrap_or_default()
    }

    /// Whether calls are counted here, in words.
    pub(super) fn calls(&self) -> String {
        match self {
            Self::Here(_) => "active".to_owned(),
            Self::Elsewhere(_) => "inactive: the stub is another rig's".to_owned(),
        }
    }

    /// All calls so far, if they are counted here.
    pub(super) fn calls_so_far(&self, now: Duration) -> Option<Row> {
        let stub = self.stub()?;
        Some(Row::Calls(watch::call_interval(&stub.take_interval(), Duration::ZERO, now)))
    }
}
