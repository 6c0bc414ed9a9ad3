//! The word that a run is to end, and whose it is: somebody's signal, the rig's own failure, or a system that has died
//! before its load or calls the real Telegram.

use std::io;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use procfs::process::Process;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level;

/// The status of a rig that was told to end, whichever signal did: one word for scripts, as in the table of the README.
const INTERRUPTED: i32 = 130;
/// One cause may signal twice: `timeout` does it to its child and to its own group, a closed terminal through the shell
/// and by itself, within milliseconds. Nobody presses a key again sooner than this.
const ONE_CAUSE: Duration = Duration::from_millis(200);

/// Whether the run is to end. Clones share one word.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<OnceLock<Instant>>,
    cut: Arc<OnceLock<Cut>>,
    /// Listens for as long as anyone may look.
    _ear: Option<Arc<Ear>>,
}

/// Why a run is cut short that nobody has interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// The rig itself failed, in words.
    RigFailed(String),
    /// The system died before the load, which nobody is there to take.
    Died,
    /// The system or a service called the real Telegram, in words.
    Strayed(String),
}

impl Stop {
    /// Asked by Ctrl-C (SIGINT), SIGTERM, a terminal that is closed (SIGHUP) or SIGQUIT. A second signal ends the
    /// process with 130 there and then, unless it is SIGHUP, which nobody sends for impatience; what the rig had
    /// started ends with it, since every keeper sees its socket close.
    pub fn on_signals() -> io::Result<Self> {
        let asked = Arc::default();
        let ear = Ear::listen(Arc::clone(&asked))?;
        Ok(Self { asked, _ear: Some(Arc::new(ear)), ..Self::default() })
    }

    /// The same word for one run of several, which can also be cut short by itself.
    #[must_use]
    pub fn of_run(&self) -> Self {
        Self { cut: Arc::default(), ..self.clone() }
    }

    /// Asks everything to end.
    pub fn ask(&self) {
        ask(&self.asked);
    }

    /// Ends this run alone; of several reasons the first counts.
    pub fn cut_short(&self, why: Cut) {
        // Another reason was first.
        let _first = self.cut.set(why);
    }

    /// Whether it is to end, whoever says so.
    pub fn asked(&self) -> bool {
        self.asked.get().is_some() || self.cut.get().is_some()
    }

    /// When somebody asked, a signal say.
    pub fn interrupted_at(&self) -> Option<Instant> {
        self.asked.get().copied()
    }

    /// Why this run is cut short, if nobody has asked for it.
    pub fn why_cut(&self) -> Option<&Cut> {
        self.cut.get()
    }
}

#[expect(clippy::disallowed_methods, reason = "when a signal came is known to nobody else")]
fn ask(asked: &OnceLock<Instant>) -> Duration {
    let now = Instant::now();
    now.saturating_duration_since(*asked.get_or_init(|| now))
}

/// The thread that hears signals.
#[derive(Debug)]
struct Ear {
    signals: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Ear {
    fn listen(asked: Arc<OnceLock<Instant>>) -> io::Result<Self> {
        let mut signals = Signals::new(ending_signals()?)?;
        let handle = signals.handle();
        let hear = move || signals.forever().for_each(|signal| heard(signal, &asked));
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(hear)?;
        Ok(Self { signals: handle, thread: Some(thread) })
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.signals.close();
        // It cannot have panicked: it sets a word and ends the process.
        self.thread.take().map(JoinHandle::join);
    }
}

fn heard(signal: i32, asked: &OnceLock<Instant>) {
    let first_was = ask(asked);
    if signal != SIGHUP && first_was >= ONE_CAUSE {
        low_level::exit(INTERRUPTED);
    }
}

/// Those that tell the rig to end. `nohup` has its child ignore SIGHUP, and then the end of the terminal is none of the
/// run.
pub fn ending_signals() -> io::Result<Vec<i32>> {
    let ignored = Process::myself().and_then(|me| me.status()).map_err(io::Error::other)?.sigign;
    let is_ignored = ignored & (1 << (SIGHUP - 1)) != 0;
    Ok([SIGINT, SIGTERM, SIGQUIT].into_iter().chain((!is_ignored).then_some(SIGHUP)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_run_of_several_is_cut_short_alone_and_a_signal_ends_them_all() {
        let all = Stop::default();
        let (one, other) = (all.of_run(), all.of_run());
        one.cut_short(Cut::Died);
        one.cut_short(Cut::RigFailed("later".to_owned()));
        assert!(one.clone().asked() && !other.asked() && !all.asked());
        assert_eq!((one.why_cut(), one.interrupted_at()), (Some(&Cut::Died), None));
        all.ask();
        assert!(other.asked() && other.why_cut().is_none());
        assert!(one.interrupted_at().is_some());
    }
}
