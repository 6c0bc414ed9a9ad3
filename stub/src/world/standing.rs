//! Which doors are closed: users who blocked a bot, and groups that became supergroups. Asked before every message,
//! so that it is kept apart from the facts that are texts.

use super::shelf::Shelf;

/// Doors that are closed.
#[derive(Debug)]
pub(crate) struct Standing {
    /// By bot and user.
    blocked: Shelf<(i64, i64), bool>,
    /// Where the members of a group went.
    upgraded: Shelf<i64, i64>,
}

/// How many of each are remembered.
const MOST: usize = 100_000;

impl Standing {
    pub(super) fn new() -> Self {
        Self { blocked: Shelf::bounded(MOST), upgraded: Shelf::bounded(MOST) }
    }

    pub(crate) fn block(&mut self, bot: i64, user: i64) {
        self.blocked.insert((bot, user), true, 1);
    }

    pub(crate) fn unblock(&mut self, bot: i64, user: i64) {
        self.blocked.insert((bot, user), false, 1);
    }

    pub(crate) fn has_blocked(&mut self, bot: i64, user: i64) -> bool {
        self.blocked.get(&(bot, user)).is_some_and(|blocked| *blocked)
    }

    pub(crate) fn upgrade(&mut self, group: i64, supergroup: i64) {
        self.upgraded.insert(group, supergroup, 1);
    }

    /// The supergroup that a group became.
    pub(crate) fn supergroup_of(&mut self, group: i64) -> Option<i64> {
        self.upgraded.get(&group).copied()
    }
}
