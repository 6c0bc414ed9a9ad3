//! Where the driving thread sits: on one core of the rig's, which the rig's other threads keep off where there are
//! more.
//!
//! One thread can use one core, so that how busy it was tells whether the rig was the limit, however many cores the
//! rig has. Whoever watches the rig finds the thread here.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::gettid;

use crate::system::cores::pin_this_thread;

/// The seat of one driving thread; clones are the same seat.
#[derive(Debug, Clone, Default)]
pub struct Seat {
    core: Option<u32>,
    /// The kernel's id of the thread that sits here; 0: nobody.
    thread: Arc<AtomicU32>,
}

/// The calling thread sits there for as long as this lives.
#[derive(Debug)]
pub(super) struct Seated(Arc<AtomicU32>);

impl Seat {
    /// On the first of the rig's cores.
    pub fn among(cores: &[u32]) -> Self {
        Self { core: cores.first().copied(), ..Self::default() }
    }

    /// The thread that drives at this moment.
    pub fn thread(&self) -> Option<u32> {
        Some(self.thread.load(Ordering::Relaxed)).filter(|thread| *thread != 0)
    }

    /// Seats the calling thread.
    pub(super) fn take(&self) -> io::Result<Seated> {
        self.core.map_or(Ok(()), |core| pin_this_thread(&[core]))?;
        self.thread.store(gettid().as_raw_nonzero().get() as u32, Ordering::Relaxed);
        Ok(Seated(Arc::clone(&self.thread)))
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::cores::machine;

    #[test]
    fn the_driving_thread_has_the_first_core_alone_and_is_known_while_it_drives() {
        let all = machine().unwrap();
        let seat = Seat::among(&all);
        let known = seat.clone();
        let (cores, thread) = std::thread::spawn(move || {
            let _seated = seat.take().unwrap();
            (machine().unwrap(), seat.thread().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!(cores, all[..1]);
        assert_ne!(thread, gettid().as_raw_nonzero().get() as u32);
        assert_eq!(known.thread(), None);
    }

    #[test]
    fn a_seat_on_no_core_in_particular_moves_nobody() {
        let before = machine().unwrap();
        let seated = Seat::default().take().unwrap();
        assert_eq!(machine().unwrap(), before);
        drop(seated);
    }
}
