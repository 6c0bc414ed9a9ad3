//! Players' profile photos: three reads each, which no send queue holds back.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinSet;

use crate::board::Face;
use crate::complain::complain;
use crate::init_data::PlayerId;
use crate::settings;
use crate::telegram::{CallError, Telegram};

/// Reads faces as ordered.
#[derive(Debug)]
pub(crate) enum Avatars {
    /// Nobody has a face.
    Off,
    /// Every board reads all of its players' photos at once, and carries them along.
    Unbounded(Arc<Telegram>),
    /// So many players' reads at once, each player's once: boards that want the same face wait for the same read.
    Limited(Arc<Shelf>),
}

/// Faces read once, kept as what is drawn of them: a few bytes for each player who ever joined.
#[derive(Debug)]
pub(crate) struct Shelf {
    telegram: Arc<Telegram>,
    reads: Semaphore,
    faces: Mutex<HashMap<PlayerId, Arc<OnceCell<Option<Face>>>>>,
}

impl Avatars {
    /// Reads as ordered.
    pub(crate) fn new(ordered: settings::Avatars, telegram: &Arc<Telegram>) -> Self {
        let telegram = Arc::clone(telegram);
        match ordered {
            settings::Avatars::Off => Self::Off,
            settings::Avatars::Unbounded => Self::Unbounded(telegram),
            settings::Avatars::Limited(count) => {
                let (reads, faces) = (Semaphore::new(count), Mutex::default());
                Self::Limited(Arc::new(Shelf { telegram, reads, faces }))
            }
        }
    }

    /// Whether boards have faces at all.
    pub(crate) fn is_on(&self) -> bool {
        match self {
            Self::Off => false,
            Self::Unbounded(_) | Self::Limited(_) => true,
        }
    }

    /// The faces of these players, as far as they have any; what fails is complained of and left out.
    pub(crate) async fn of(&self, players: Vec<PlayerId>) -> BTreeMap<PlayerId, Face> {
        let mut reads = JoinSet::new();
        for player in players {
            match self {
                Self::Off => {}
                Self::Unbounded(telegram) => {
                    let telegram = Arc::clone(telegram);
                    reads.spawn(async move { (player, read(&telegram, player).await) });
                }
                Self::Limited(shelf) => {
                    let shelf = Arc::clone(shelf);
                    reads.spawn(async move { (player, shelf.face(player).await) });
                }
            }
        }
        let found = reads.join_all().await.into_iter();
        found.filter_map(|(player, face)| had(face).map(|face| (player, face))).collect()
    }
}

fn had(face: Result<Option<Face>, CallError>) -> Option<Face> {
    face.unwrap_or_else(|error| {
        complain(&error);
        None
    })
}

async fn read(telegram: &Telegram, player: PlayerId) -> Result<Option<Face>, CallError> {
    Ok(telegram.profile_photo(player).await?.map(Face::with_photo))
}

impl Shelf {
    async fn face(&self, player: PlayerId) -> Result<Option<Face>, CallError> {
        let cell = Arc::clone(self.faces.lock().unwrap_or_else(PoisonError::into_inner).entry(player).or_default());
        cell.get_or_try_init(|| self.read(player)).await.cloned()
    }

    async fn read(&self, player: PlayerId) -> Result<Option<Face>, CallError> {
        let _read = self.reads.acquire().await.expect("reads never end");
        Ok(self.telegram.profile_photo(player).await?.map(|photo| Face::without_photo(&photo)))
    }
}
