//! What is remembered, in SQLite: who plays where, what they guessed, and which version each chat's board has.
//!
//! Every function is one short transaction on the caller's connection. A player alone plays in a chat of their own,
//! whose id is theirs, as a private chat's is.

use rusqlite::{Connection, OptionalExtension, Result, Transaction, params};

use crate::init_data::{ChatId, Player, PlayerId};
use crate::puzzle::{self, GUESSES, Score, Word};
use crate::settings::Database;

/// One guess and what it earned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Guess {
    /// The word.
    pub(crate) word: String,
    /// Its marks.
    pub(crate) score: Score,
}

/// One player's puzzle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Game {
    /// Which puzzle.
    pub(crate) puzzle: u32,
    /// The guesses, in order.
    pub(crate) guesses: Vec<Guess>,
    /// The version of their chat's board.
    pub(crate) version: i64,
}

impl Game {
    /// Whether the player found the word.
    pub(crate) fn is_won(&self) -> bool {
        self.guesses.last().is_some_and(|guess| guess.score.wins())
    }

    /// Whether another guess would count for nothing.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_won() || self.guesses.len() >= GUESSES
    }
}

/// One player on a chat's board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Who.
    pub(crate) player: PlayerId,
    /// What they are called.
    pub(crate) name: String,
    /// What their guesses earned.
    pub(crate) scores: Vec<Score>,
}

/// Everything a board shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standings {
    /// Which puzzle.
    pub(crate) puzzle: u32,
    /// Grows with every guess of the chat and with every new puzzle.
    pub(crate) version: i64,
    /// Everyone who opened the app in this chat, in the order of their ids.
    pub(crate) players: Vec<Standing>,
}

/// Opens the database and makes its tables.
pub(crate) fn open(database: &Database) -> Result<Connection> {
    let db = match &database.file {
        Some(path) => Connection::open(path)?,
        None => Connection::open_in_memory()?,
    };
    db.pragma_update(None, "journal_mode", "wal")?;
    db.pragma_update(None, "synchronous", "normal")?;
    db.execute_batch(TABLES)?;
    Ok(db)
}

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS chats (chat INTEGER PRIMARY KEY, version INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS players (
        chat INTEGER, player INTEGER, name TEXT NOT NULL, PRIMARY KEY (chat, player)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS guesses (
        chat INTEGER, puzzle INTEGER, player INTEGER, nth INTEGER, word TEXT NOT NULL, score TEXT NOT NULL,
        PRIMARY KEY (chat, puzzle, player, nth)
    ) WITHOUT ROWID;";

/// Seats a player in their chat and answers their game.
pub(crate) fn join(db: &mut Connection, puzzle: u32, player: &Player) -> Result<Game> {
    let write = db.transaction()?;
    seat(&write, player)?;
    let game = game(&write, puzzle, player)?;
    write.commit()?;
    Ok(game)
}

/// Takes a guess: scored and kept unless the game is over, and counted by the board's version in any case.
pub(crate) fn guess(db: &mut Connection, puzzle: u32, player: &Player, word: Word) -> Result<Game> {
    let write = db.transaction()?;
    seat(&write, player)?;
    let mut game = game(&write, puzzle, player)?;
    if !game.is_finished() {
        game.guesses.push(keep(&write, player, &game, word)?);
    }
    game.version = raise_version(&write, player.chat())?;
    write.commit()?;
    Ok(game)
}

/// Everything the board of a chat shows.
pub(crate) fn standings(db: &Connection, puzzle: u32, chat: ChatId) -> Result<Standings> {
    let mut select = db.prepare_cached(
        "SELECT players.player, name, score FROM players LEFT JOIN guesses
         ON guesses.chat = players.chat AND guesses.player = players.player AND puzzle = ?2
         WHERE players.chat = ?1 ORDER BY players.player, nth",
    )?;
    let mut rows = select.query(params![chat.0, puzzle])?;
    let mut players: Vec<Standing> = Vec::new();
    while let Some(row) = rows.next()? {
        let player = PlayerId(row.get(0)?);
        if players.last().is_none_or(|last| last.player != player) {
            players.push(Standing { player, name: row.get(1)?, scores: Vec::with_capacity(GUESSES) });
        }
        let score = row.get::<_, Option<String>>(2)?.as_deref().and_then(Score::parse);
        if let Some(standing) = players.last_mut() {
            standing.scores.extend(score);
        }
    }
    Ok(Standings { puzzle, version: version(db, chat)?, players })
}

/// Who is on the board of a chat.
pub(crate) fn roster(db: &Connection, chat: ChatId) -> Result<Vec<PlayerId>> {
    let mut select = db.prepare_cached("SELECT player FROM players WHERE chat = ?1 ORDER BY player")?;
    let players = select.query_map([chat.0], |row| row.get(0).map(PlayerId))?;
    players.collect()
}

/// A new puzzle changes every board.
pub(crate) fn roll_over(db: &Connection) -> Result<()> {
    db.execute("UPDATE chats SET version = version + 1", []).map(drop)
}

impl Player {
    /// The chat whose board they are on.
    fn chat(&self) -> ChatId {
        self.group.unwrap_or(ChatId(self.id.0))
    }
}

fn seat(write: &Transaction<'_>, player: &Player) -> Result<()> {
    let chat = player.chat().0;
    write.prepare_cached("INSERT OR IGNORE INTO chats VALUES (?1, 0)")?.execute([chat])?;
    write
        .prepare_cached("INSERT OR IGNORE INTO players VALUES (?1, ?2, ?3)")?
        .execute(params![chat, player.id.0, player.name])
        .map(drop)
}

fn game(db: &Connection, puzzle: u32, player: &Player) -> Result<Game> {
    let chat = player.chat();
    let mut select = db.prepare_cached(
        "SELECT word, score FROM guesses WHERE chat = ?1 AND puzzle = ?2 AND player = ?3 ORDER BY nth",
    )?;
    let rows = select.query_map(params![chat.0, puzzle, player.id.0], |row| {
        let score: String = row.get(1)?;
        Ok(Score::parse(&score).map(|score| (row.get(0), score)))
    })?;
    let mut guesses = Vec::with_capacity(GUESSES);
    for row in rows {
        if let Some((word, score)) = row? {
            guesses.push(Guess { word: word?, score });
        }
    }
    Ok(Game { puzzle, guesses, version: version(db, chat)? })
}

fn keep(write: &Transaction<'_>, player: &Player, game: &Game, word: Word) -> Result<Guess> {
    let guess = Guess { word: word.to_string(), score: puzzle::score(word, puzzle::answer(game.puzzle)) };
    let nth = game.guesses.len() as i64;
    write.prepare_cached("INSERT INTO guesses VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute(params![
        player.chat().0,
        game.puzzle,
        player.id.0,
        nth,
        guess.word,
        guess.score.to_string()
    ])?;
    Ok(guess)
}

fn raise_version(write: &Transaction<'_>, chat: ChatId) -> Result<i64> {
    write
        .prepare_cached("UPDATE chats SET version = version + 1 WHERE chat = ?1 RETURNING version")?
        .query_row([chat.0], |row| row.get(0))
}

fn version(db: &Connection, chat: ChatId) -> Result<i64> {
    let mut select = db.prepare_cached("SELECT version FROM chats WHERE chat = ?1")?;
    Ok(select.query_row([chat.0], |row| row.get(0)).optional()?.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PUZZLE: u32 = 1234;
    const GROUP: ChatId = ChatId(-100);

    fn memory() -> Connection {
        open(&Database { file: None, pool: 1, query_time: Duration::ZERO }).unwrap()
    }

    fn player(id: i64, group: Option<ChatId>) -> Player {
        Player { id: PlayerId(id), name: format!("player {id}"), group }
    }

    fn word(text: &str) -> Word {
        Word::parse(text).unwrap()
    }

    #[test]
    fn the_seventh_guess_is_not_kept_but_raises_the_version() {
        let mut db = memory();
        let ada = player(1, Some(GROUP));
        let games: Vec<Game> = (0..7).map(|_| guess(&mut db, PUZZLE, &ada, word("zzzzz")).unwrap()).collect();
        assert!(!games[4].is_finished());
        assert!(games[5].is_finished() && !games[5].is_won());
        assert_eq!(games[6].guesses.len(), 6);
        assert_eq!(games.iter().map(|game| game.version).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn finding_the_word_finishes_the_game() {
        let mut db = memory();
        let ada = player(1, Some(GROUP));
        let answer = word(&puzzle::answer(PUZZLE).to_string());
        assert!(guess(&mut db, PUZZLE, &ada, answer).unwrap().is_won());
        assert_eq!(guess(&mut db, PUZZLE, &ada, word("zzzzz")).unwrap().guesses.len(), 1);
    }

    #[test]
    fn a_board_shows_those_who_only_opened_the_app_too() {
        let mut db = memory();
        join(&mut db, PUZZLE, &player(2, Some(GROUP))).unwrap();
        guess(&mut db, PUZZLE, &player(1, Some(GROUP)), word("zzzzz")).unwrap();
        guess(&mut db, PUZZLE, &player(3, None), word("zzzzz")).unwrap();
        let board = standings(&db, PUZZLE, GROUP).unwrap();
        let shown: Vec<_> = board.players.iter().map(|one| (one.player.0, one.scores.len())).collect();
        assert_eq!(shown, [(1, 1), (2, 0)]);
        assert_eq!(roster(&db, GROUP).unwrap(), [PlayerId(1), PlayerId(2)]);
    }

    #[test]
    fn a_rollover_empties_the_board_and_its_version_keeps_growing() {
        let mut db = memory();
        let ada = player(1, Some(GROUP));
        assert_eq!(guess(&mut db, PUZZLE, &ada, word("zzzzz")).unwrap().version, 1);
        roll_over(&db).unwrap();
        let board = standings(&db, PUZZLE + 1, GROUP).unwrap();
        assert_eq!((board.version, board.players[0].scores.len()), (2, 0));
        assert_eq!(guess(&mut db, PUZZLE + 1, &ada, word("zzzzz")).unwrap().version, 3);
    }

    #[test]
    fn a_player_alone_has_a_version_of_their_own() {
        let mut db = memory();
        guess(&mut db, PUZZLE, &player(1, Some(GROUP)), word("zzzzz")).unwrap();
        assert_eq!(guess(&mut db, PUZZLE, &player(1, None), word("zzzzz")).unwrap().version, 1);
    }
}
