//! The game everyone plays: the puzzle there is now, and the database behind it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::init_data::{ChatId, Player, PlayerId};
use crate::pool::Pool;
use crate::puzzle::Word;
use crate::store::{self, Game, Standings};

/// The number of the first puzzle after a start: what is measured must not depend on the date.
const FIRST_PUZZLE: u32 = 1234;

/// The current puzzle and everyone's games.
#[derive(Debug)]
pub(crate) struct League {
    pool: Pool,
    puzzle: AtomicU32,
}

impl League {
    /// A league at its first puzzle.
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool, puzzle: AtomicU32::new(FIRST_PUZZLE) }
    }

    /// A player opens the app.
    pub(crate) async fn join(&self, player: &Player) -> rusqlite::Result<Game> {
        self.pool.query(|db| store::join(db, self.puzzle(), player)).await
    }

    /// A player guesses.
    pub(crate) async fn guess(&self, player: &Player, word: Word) -> rusqlite::Result<Game> {
        self.pool.query(|db| store::guess(db, self.puzzle(), player, word)).await
    }

    /// What a chat's board shows.
    pub(crate) async fn standings(&self, chat: ChatId) -> rusqlite::Result<Standings> {
        self.pool.query(|db| store::standings(db, self.puzzle(), chat)).await
    }

    /// Who is on a chat's board.
    pub(crate) async fn roster(&self, chat: ChatId) -> rusqlite::Result<Vec<PlayerId>> {
        self.pool.query(|db| store::roster(db, chat)).await
    }

    /// The next puzzle begins.
    pub(crate) async fn roll_over(&self) -> rusqlite::Result<()> {
        self.pool
            .query(|db| {
                store::roll_over(db)?;
                self.puzzle.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
            .await
    }

    fn puzzle(&self) -> u32 {
        self.puzzle.load(Ordering::Relaxed)
    }
}
