//! How an act goes to the system, and what its player has in hand for it.

use super::memory::Memory;
use crate::exchange::{Connection, Socket};

/// How an act goes to the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Over a connection of the player's.
    Wire,
    /// Over the visit's `WebSocket`.
    Socket,
    /// Through the stub, to the bot.
    Bot,
}

/// What an act may have open, among all that may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// Connections that requests go over.
    pub(super) connections: u64,
    /// The visit's `WebSocket`: none or one.
    pub(super) sockets: u64,
}

/// What a player has in hand while acting.
#[derive(Default)]
pub(super) struct Hands {
    pub(super) connection: Option<Connection>,
    /// Connections beside it, for what is fetched at the same time.
    pub(super) further: Vec<Connection>,
    /// The visit's `WebSocket`.
    pub(super) socket: Option<Socket>,
    pub(super) memory: Memory,
    pub(super) room: Room,
}

impl Way {
    /// What an act cannot begin without.
    pub(super) fn needs(self) -> Room {
        match self {
            Self::Wire => Room { connections: 1, sockets: 0 },
            Self::Socket => Room { connections: 0, sockets: 1 },
            Self::Bot => Room::default(),
        }
    }
}

impl Room {
    pub(super) fn all(self) -> u64 {
        self.connections + self.sockets
    }

    /// The larger of both, of either kind.
    pub(super) fn at_least(self, other: Self) -> Self {
        Self { connections: self.connections.max(other.connections), sockets: self.sockets.max(other.sockets) }
    }
}
