//! The boards: one task for each chat waits until its board is due, draws it and shows it.
//!
//! One task a chat means that a chat never has two refreshes in flight. Nothing holds the tasks of different chats
//! apart except what was ordered: that is the stampede.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::avatars::Avatars;
use crate::board::{Face, Sheet};
use crate::clock::Clock;
use crate::complain::complain;
use crate::debounce::{self, Debounce, Due};
use crate::init_data::{ChatId, PlayerId};
use crate::league::League;
use crate::poster::{Board, Posted, Poster};
use crate::render::Renderer;
use crate::settings::SendQueue;
use crate::stop::Stop;
use crate::telegram::Picture;

/// Every chat's board.
#[derive(Debug)]
pub(crate) struct Boards {
    studio: Arc<Studio>,
    tasks: Mutex<JoinSet<()>>,
}

/// What every refresh needs.
#[derive(Debug)]
pub(crate) struct Studio {
    /// The state to show.
    pub(crate) league: Arc<League>,
    /// The faces.
    pub(crate) avatars: Avatars,
    /// The drawing.
    pub(crate) renderer: Renderer,
    /// The way to Telegram.
    pub(crate) poster: Poster,
    /// How long a board rests.
    pub(crate) pace: Pace,
    /// The order to stop.
    pub(crate) stop: Stop,
    /// The known chats.
    pub(crate) chats: Mutex<BTreeMap<ChatId, Arc<Chat>>>,
}

/// How long a board rests, and by which clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The time.
    pub(crate) clock: Clock,
    /// The ordered interval.
    pub(crate) interval: Duration,
    /// Whether it grows with the fleet.
    pub(crate) queue: SendQueue,
}

/// One chat's board, as far as others may touch it.
#[derive(Debug, Default)]
pub(crate) struct Chat {
    debounce: Mutex<Debounce>,
    changed: Notify,
}

impl Boards {
    /// No chat is known yet.
    pub(crate) fn new(studio: Studio) -> Self {
        Self { studio: Arc::new(studio), tasks: Mutex::default() }
    }

    /// From now on this chat has a board.
    pub(crate) fn know(&self, id: ChatId) -> Arc<Chat> {
        let mut chats = self.studio.chats();
        if let Some(chat) = chats.get(&id) {
            return Arc::clone(chat);
        }
        let chat = Arc::<Chat>::default();
        chats.insert(id, Arc::clone(&chat));
        let task = keep(Arc::clone(&self.studio), id, Arc::clone(&chat));
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(task);
        chat
    }

    /// The state of a chat's board changed.
    pub(crate) fn change(&self, id: ChatId) {
        let now = self.studio.pace.clock.now();
        self.know(id).touch(|board| board.change(now));
    }

    /// Every board is due at once.
    pub(crate) fn rush(&self) {
        let now = self.studio.pace.clock.now();
        self.studio.chats().values().for_each(|chat| chat.touch(|board| board.rush(now)));
    }

    /// Waits until the refreshes in flight at the order to stop are over.
    pub(crate) async fn finish(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                complain(&format_args!("a board's task: {error}"));
            }
        }
    }
}

impl Chat {
    fn touch(&self, how: impl FnOnce(&mut Debounce)) {
        how(&mut self.debounce());
        self.changed.notify_one();
    }

    fn debounce(&self) -> MutexGuard<'_, Debounce> {
        self.debounce.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The life of one board.
async fn keep(studio: Arc<Studio>, id: ChatId, chat: Arc<Chat>) {
    let mut board = Board { chat: id, message: None };
    while studio.is_due(&chat).await {
        studio.refresh(&chat, &mut board).await;
    }
}

impl Studio {
    /// Waits until the board is due; `false` when it is time to stop.
    async fn is_due(&self, chat: &Chat) -> bool {
        while !self.stop.is_ordered() {
            let due = chat.debounce().due(self.pace.clock.now());
            match due {
                Due::Now => return true,
                Due::At(instant) => tokio::select! {
                    () = self.pace.clock.until(instant) => {}
                    () = chat.changed.notified() => {}
                    () = self.stop.ordered() => {}
                },
                Due::Never => tokio::select! {
                    () = chat.changed.notified() => {}
                    () = self.stop.ordered() => {}
                },
            }
        }
        false
    }

    /// Draws and shows the board once, and lets it rest.
    async fn refresh(&self, chat: &Chat, board: &mut Board) {
        let faces = self.faces(board.chat).await;
        let (began, posted) = self.draw_and_show(chat, board, faces).await;
        // Taken before the board is locked: it looks at every board.
        let interval = self.interval();
        match posted {
            Posted::Shown => chat.debounce().shown(began + interval),
            Posted::Failed { wait } => chat.debounce().failed(self.pace.clock.now() + wait.unwrap_or(interval)),
        }
    }

    /// Where renders are limited, the permit is held until the picture leaves: what waits for its turn to be sent is
    /// then not drawn yet, so it neither takes memory nor grows old.
    async fn draw_and_show(
        &self,
        chat: &Chat,
        board: &mut Board,
        faces: BTreeMap<PlayerId, Face>,
    ) -> (Duration, Posted) {
        let permit = self.renderer.admit().await;
        chat.debounce().begin();
        let began = self.pace.clock.now();
        let Some(picture) = self.picture(board.chat, faces).await else {
            return (began, Posted::Failed { wait: None });
        };
        let turn = self.poster.outgoing.turn().await;
        drop(permit);
        (began, self.poster.show(turn, board, &picture).await)
    }

    async fn faces(&self, id: ChatId) -> BTreeMap<PlayerId, Face> {
        if !self.avatars.is_on() {
            return BTreeMap::new();
        }
        match self.league.roster(id).await {
            Ok(players) => self.avatars.of(players).await,
            Err(error) => {
                complain(&format_args!("the players of {}: {error}", id.0));
                BTreeMap::new()
            }
        }
    }

    async fn picture(&self, id: ChatId, faces: BTreeMap<PlayerId, Face>) -> Option<Picture> {
        let standings = self.league.standings(id).await;
        let standings =
            standings.inspect_err(|error| complain(&format_args!("the board of {}: {error}", id.0))).ok()?;
        let picture = self.renderer.render(Sheet { standings, faces }).await;
        picture.inspect_err(|error| complain(error)).ok()
    }

    fn interval(&self) -> Duration {
        let now = self.pace.clock.now();
        let active = self.chats().values().filter(|chat| chat.debounce().is_active(now)).count();
        debounce::interval(self.pace.interval, self.pace.queue, active)
    }

    fn chats(&self) -> MutexGuard<'_, BTreeMap<ChatId, Arc<Chat>>> {
        self.chats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
