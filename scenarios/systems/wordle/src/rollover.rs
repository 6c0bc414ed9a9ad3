//! The puzzle's change: one instant at which every chat's board is out of date.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::complain::complain;
use crate::league::League;
use crate::refresh::Boards;

/// Waits for the first session, then `after`, then changes the puzzle once and has every board drawn.
pub(crate) async fn roll_over(after: Duration, a_session: Arc<Notify>, league: Arc<League>, boards: Arc<Boards>) {
    a_session.notified().await;
    tokio::time::sleep(after).await;
    match league.roll_over().await {
        Ok(()) => boards.rush(),
        Err(error) => complain(&format_args!("the rollover: {error}")),
    }
}
