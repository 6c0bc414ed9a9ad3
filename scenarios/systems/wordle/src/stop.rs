//! The order to stop, given once and seen by everyone.

use tokio::sync::watch;

/// Gives the order; dropped, it counts as given.
#[derive(Debug)]
pub(crate) struct StopOrder(watch::Sender<bool>);

/// Sees the order.
#[derive(Debug, Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

/// An order and its first observer.
pub(crate) fn order() -> (StopOrder, Stop) {
    let (order, seen) = watch::channel(false);
    (StopOrder(order), Stop(seen))
}

impl StopOrder {
    /// Orders everyone to stop.
    pub(crate) fn give(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether the order was given.
    pub(crate) fn is_ordered(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits for the order.
    pub(crate) async fn ordered(&self) {
        let mut seen = self.0.clone();
        // An error means that whoever gives the order is gone: nobody would give it any more.
        drop(seen.wait_for(|ordered| *ordered).await);
    }
}
