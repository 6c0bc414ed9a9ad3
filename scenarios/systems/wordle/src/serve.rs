//! The process from its settings to its end: everything is put together here, and taken apart.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::middleware::from_fn_with_state;
use thiserror::Error;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use crate::avatars::Avatars;
use crate::calibrate::{self, Faults};
use crate::clock::Clock;
use crate::complain::complain;
use crate::init_data::Verifier;
use crate::league::League;
use crate::listen::Gate;
use crate::pool::Pool;
use crate::poster::Poster;
use crate::queue::Outgoing;
use crate::refresh::{Boards, Pace, Studio};
use crate::render::Renderer;
use crate::rollover::roll_over;
use crate::routes::{self, App};
use crate::settings::Settings;
use crate::sigterm::Sigterm;
use crate::stop::{Stop, order};
use crate::telegram::Telegram;

/// What kept the app from serving.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    /// The system refused something.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
    /// The port cannot be had.
    #[error("cannot listen on 127.0.0.1:{port}: {cause}")]
    Listen { port: u16, cause: io::Error },
    /// The database cannot be opened.
    #[error("cannot open the database: {0}")]
    Database(#[from] rusqlite::Error),
    /// The client for Telegram cannot be made.
    #[error("cannot speak HTTP: {0}")]
    Client(#[from] reqwest::Error),
}

/// Serves until SIGTERM, and then as long as what is in flight needs, within the ordered bound.
pub(crate) async fn serve(settings: Settings) -> Result<(), Fault> {
    let clock = Clock::start();
    let mut sigterm = Sigterm::watch(&settings)?;
    let (stop_order, stop) = order();
    let (close_order, close) = order();
    let gate = Gate::open(settings.port, settings.backlog, close)
        .map_err(|cause| Fault::Listen { port: settings.port, cause })?;
    let app = assemble(&settings, clock, &stop)?;
    let faults = Arc::new(Faults::new(close_order));
    // Dropped on the way out, which ends what is left of them.
    let _asides = asides(&settings, clock, &app, &faults);
    announce(&gate)?;
    let server = listen(gate, router(&settings, &app, &faults), stop);
    sigterm.received().await?;
    stop_order.give();
    let finished = tokio::time::timeout(settings.stop_within, finish(server, &app.boards)).await;
    if finished.is_err() {
        complain(&format_args!("stopped with work still in flight after {:?}", settings.stop_within));
    }
    Ok(())
}

fn assemble(settings: &Settings, clock: Clock, stop: &Stop) -> Result<Arc<App>, Fault> {
    let league = Arc::new(League::new(Pool::open(&settings.database)?));
    let telegram = Arc::new(Telegram::new(&settings.telegram, &settings.token)?);
    let studio = Studio {
        league: Arc::clone(&league),
        avatars: Avatars::new(settings.avatars, &telegram),
        renderer: Renderer::new(settings.drawing.clone()),
        poster: Poster {
            telegram,
            outgoing: Outgoing::new(settings.sending.queue, clock),
            recovery: settings.sending.recovery,
        },
        pace: Pace { clock, interval: settings.refresh_interval, queue: settings.sending.queue },
        stop: stop.clone(),
        chats: Mutex::default(),
    };
    let verifier = Verifier::new(&settings.token);
    let a_session = Arc::new(Notify::new());
    Ok(Arc::new(App { verifier, league, boards: Arc::new(Boards::new(studio)), a_session }))
}

/// What happens beside the serving: the rollover, and timed orders.
fn asides(settings: &Settings, clock: Clock, app: &App, faults: &Arc<Faults>) -> JoinSet<()> {
    let mut asides = JoinSet::new();
    if let Some(after) = settings.rollover_after {
        let (league, boards) = (Arc::clone(&app.league), Arc::clone(&app.boards));
        asides.spawn(roll_over(after, Arc::clone(&app.a_session), league, boards));
    }
    if let Some(calibration) = &settings.calibration {
        asides.spawn(calibrate::obey(Arc::clone(faults), calibration.orders.clone(), clock));
    }
    asides
}

fn router(settings: &Settings, app: &Arc<App>, faults: &Arc<Faults>) -> Router {
    let api = routes::api(Arc::clone(app));
    if settings.calibration.is_none() {
        return api.merge(routes::health());
    }
    let api = api.layer(from_fn_with_state(Arc::clone(faults), calibrate::answer_as_ordered));
    api.merge(routes::health()).merge(calibrate::routes(Arc::clone(faults)))
}

/// The one line that a healthy process writes.
fn announce(gate: &Gate) -> io::Result<()> {
    writeln!(io::stdout(), "listening on {}", gate.address())
}

fn listen(gate: Gate, router: Router, stop: Stop) -> JoinHandle<io::Result<()>> {
    tokio::spawn(axum::serve(gate, router).with_graceful_shutdown(async move { stop.ordered().await }).into_future())
}

async fn finish(server: JoinHandle<io::Result<()>>, boards: &Boards) {
    match server.await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => complain(&format_args!("the server: {error}")),
        Err(error) => complain(&format_args!("the server: {error}")),
    }
    boards.finish().await;
}
