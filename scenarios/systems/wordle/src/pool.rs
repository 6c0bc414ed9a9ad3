//! The database behind a pool of slots.
//!
//! A slot stands for one connection of a driver's pool: a query waits for one without occupying the thread, holds it
//! for the query's time and gives it back whatever becomes of the request. SQLite itself needs a single connection,
//! since the statements run one after another on the runtime's only thread.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::settings::Database;
use crate::store;

/// The database and who may ask it.
#[derive(Debug)]
pub(crate) struct Pool {
    slots: Semaphore,
    query_time: Duration,
    db: Mutex<Connection>,
}

impl Pool {
    /// Opens the database.
    pub(crate) fn open(database: &Database) -> rusqlite::Result<Self> {
        let db = Mutex::new(store::open(database)?);
        Ok(Self { slots: Semaphore::new(database.pool), query_time: database.query_time, db })
    }

    /// Runs one query in one slot; a caller that stops waiting frees it.
    pub(crate) async fn query<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let _slot = self.slots.acquire().await.expect("the pool is never closed");
        if !self.query_time.is_zero() {
            tokio::time::sleep(self.query_time).await;
        }
        work(&mut self.db.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(slots: usize, query_time: Duration) -> Pool {
        Pool::open(&Database { file: None, pool: slots, query_time }).unwrap()
    }

    #[tokio::test]
    async fn a_query_waits_for_a_slot() {
        let pool = pool(1, Duration::ZERO);
        let held = pool.slots.acquire().await.unwrap();
        let mut query = std::pin::pin!(pool.query(|_| Ok(7)));
        let waiting = std::future::poll_fn(|cx| std::task::Poll::Ready(query.as_mut().poll(cx))).await;
        assert!(waiting.is_pending());
        drop(held);
        assert_eq!(query.await, Ok(7));
    }

    #[tokio::test]
    async fn a_query_given_up_half_way_leaves_its_slot() {
        let pool = pool(1, Duration::from_secs(3600));
        {
            let mut query = std::pin::pin!(pool.query(|_| Ok(())));
            let running = std::future::poll_fn(|cx| std::task::Poll::Ready(query.as_mut().poll(cx))).await;
            assert!(running.is_pending());
            assert_eq!(pool.slots.available_permits(), 0);
        }
        assert_eq!(pool.slots.available_permits(), 1);
    }
}
