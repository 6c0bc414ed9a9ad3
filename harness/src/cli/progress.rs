//! What a person sees while a run goes on: facts as they come, then one live line on a terminal, or a plain line
//! every few seconds elsewhere. Everything goes to standard error.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use bytesize::ByteSize;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::run::{Live, News};

/// Seconds between two plain lines when nobody watches live.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// Tells the news of one run.
#[derive(Debug)]
pub(super) struct Teller {
    bar: ProgressBar,
    live: bool,
    last_plain: Option<Duration>,
}

impl Teller {
    /// A live line on a terminal, plain lines elsewhere.
    pub(super) fn new() -> Self {
        let live = std::io::stderr().is_terminal();
        let target = if live { ProgressDrawTarget::stderr_with_hz(4) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style =
            ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style);
        Self { bar, live, last_plain: None }
    }

    /// Tells one piece of news.
    pub(super) fn tell(&mut self, news: News<'_>) {
        match news {
            News::Fact(text) => self.line(&format!("  {text}")),
            News::Waiting(text) if self.live => {
                self.bar.set_message(text.to_owned());
                self.bar.tick();
            }
            News::Waiting(_) => {}
            News::Live(live) => self.live(&live),
        }
    }

    /// Clears the live line.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn live(&mut self, live: &Live) {
        let text = in_words(live);
        if self.live {
            self.bar.set_message(text);
            self.bar.tick();
            return;
        }
        let due = self.last_plain.is_none_or(|last| live.at.saturating_sub(last) >= PLAIN_EVERY);
        if due {
            self.last_plain = Some(live.at);
            self.line(&format!("  {text}"));
        }
    }

    fn line(&self, text: &str) {
        // A closed standard error takes the news with it; the run goes on.
        self.bar.suspend(|| drop(writeln!(std::io::stderr(), "{text}")));
    }
}

/// One line: phase, time, offered and done per second, in flight, p99 so far, 429s, memory, and a stall under way.
fn in_words(live: &Live) -> String {
    let p99 = live.p99.map_or_else(|| "-".to_owned(), |p99| format!("{:.0} ms", p99.as_secs_f64() * 1000.0));
    let memory = live.rss_bytes.map_or_else(|| "-".to_owned(), |rss| ByteSize(rss).display().iec().to_string());
    let stalling = live.stalling.map(|stalling| format!("  STALLING for {:.0} ms", stalling.as_secs_f64() * 1000.0));
    let stalling = stalling.unwrap_or_default();
    format!(
        "{:<8} {:>4.0} s of {:.0} s  offered {:>5.0}/s  done {:>5.0}/s  in flight {:>5}  failed {}  p99 {p99}  429s {}  memory {memory}{stalling}",
        live.phase.name(),
        live.at.as_secs_f64(),
        live.of.as_secs_f64(),
        live.offered_per_second,
        live.done_per_second,
        live.in_flight,
        live.failed,
        live.throttled,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_line_says_what_is_not_known_yet() {
        let live = Live { at: Duration::from_secs(3), of: Duration::from_secs(60), ..Live::default() };
        let text = in_words(&live);
        assert!(text.contains("p99 -") && text.contains("memory -"), "{text}");
    }

    #[test]
    fn the_live_line_says_for_how_long_the_system_has_been_stalling_and_nothing_while_it_is_calm() {
        let at = |stalling| in_words(&Live { stalling, ..Live::default() });
        let stalled = at(Some(Duration::from_millis(1_250)));
        assert!(stalled.ends_with("  STALLING for 1250 ms"), "{stalled}");
        assert!(at(None).ends_with("memory -"));
    }
}
