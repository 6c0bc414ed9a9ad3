//! Where and how many at once boards are drawn and encoded: the policy that the story is about.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::signal::SIGSEGV;
use thiserror::Error;
use tiny_skia::Pixmap;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use crate::board::Sheet;
use crate::complain::complain;
use crate::settings::{Drawing, RendersAtOnce};
use crate::telegram::Picture;

/// How far a board's thread steps back: where a core is shared, requests come first; but a busy neighbour must not starve
/// the boards, as it would at 19.
const STEP_BACK: i32 = 10;

/// Draws and encodes as ordered.
#[derive(Debug)]
pub(crate) struct Renderer {
    drawing: Drawing,
    permits: Option<Semaphore>,
    boards: Arc<AtomicUsize>,
}

/// The right to draw one board; where renders are limited it is taken before anything is drawn.
#[derive(Debug)]
pub(crate) struct Permit<'a>(#[expect(dead_code, reason = "held for its drop")] Option<SemaphorePermit<'a>>);

/// A board that did not become a picture.
#[derive(Debug, Error)]
pub(crate) enum RenderError {
    /// No thread to draw on.
    #[error("no thread for a board: {0}")]
    Thread(#[from] io::Error),
    /// The encoder refused.
    #[error("a board was not encoded: {0}")]
    Encode(#[from] png::EncodingError),
    /// Its thread ended without an answer.
    #[error("a board's thread ended without a picture")]
    Lost(#[from] oneshot::error::RecvError),
}

impl Renderer {
    /// A renderer for these orders.
    pub(crate) fn new(drawing: Drawing) -> Self {
        let permits = match drawing.renders {
            RendersAtOnce::Inline | RendersAtOnce::Unbounded => None,
            RendersAtOnce::Limited(count) => Some(Semaphore::new(count)),
        };
        Self { drawing, permits, boards: Arc::default() }
    }

    /// Waits until one more board may be in the works.
    pub(crate) async fn admit(&self) -> Permit<'_> {
        match &self.permits {
            None => Permit(None),
            Some(permits) => Permit(Some(permits.acquire().await.expect("renders never end"))),
        }
    }

    /// Turns a sheet into a picture.
    pub(crate) async fn render(&self, sheet: Sheet) -> Result<Picture, RenderError> {
        let board = InFlight::enter(sheet, &self.drawing, &self.boards);
        match self.drawing.renders {
            RendersAtOnce::Inline => board.picture(),
            RendersAtOnce::Unbounded => on_a_thread(move || board.picture()).await,
            RendersAtOnce::Limited(_) => {
                on_a_thread(move || {
                    give_way();
                    board.picture()
                })
                .await
            }
        }
    }
}

/// A thread for one board, not one of the runtime's pool: that pool is bounded, and here the bound is the question.
async fn on_a_thread(
    work: impl FnOnce() -> Result<Picture, RenderError> + Send + 'static,
) -> Result<Picture, RenderError> {
    let (reply, picture) = oneshot::channel();
    let draw = move || {
        // Whoever wanted the picture may have been stopped meanwhile.
        drop(reply.send(work()));
    };
    std::thread::Builder::new().name("board".to_owned()).spawn(draw)?;
    picture.await?
}

/// Linux keeps a priority for every thread, and this changes the calling one's.
fn give_way() {
    if let Err(cause) = rustix::process::nice(STEP_BACK) {
        complain(&format_args!("a board's thread keeps its priority: {cause}"));
    }
}

/// One board between its admission and its picture; counted among all of them for as long as it exists.
#[derive(Debug)]
struct InFlight {
    sheet: Sheet,
    scale: u32,
    boards: Arc<AtomicUsize>,
}

impl InFlight {
    fn enter(sheet: Sheet, drawing: &Drawing, boards: &Arc<AtomicUsize>) -> Self {
        let count = boards.fetch_add(1, Ordering::Relaxed) + 1;
        if drawing.crash_at_boards.is_some_and(|most| count > most) {
            die_of(SIGSEGV);
        }
        Self { sheet, scale: drawing.scale, boards: Arc::clone(boards) }
    }

    fn picture(self) -> Result<Picture, RenderError> {
        let bitmap = self.sheet.draw(self.scale);
        let png = encode(&bitmap)?;
        Ok(Picture { png, caption: self.sheet.caption() })
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.boards.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A board is opaque, so tiny-skia's premultiplied bytes are the plain ones.
fn encode(bitmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, bitmap.width(), bitmap.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bitmap.data())?;
    writer.finish()?;
    Ok(bytes)
}

/// Dies of a signal as if the process had earned it: no handler runs, the Rust runtime's own for SIGSEGV included.
pub(crate) fn die_of(signal: i32) {
    if let Err(cause) = signal_hook::low_level::emulate_default_handler(signal) {
        complain(&format_args!("signal {signal} has no default to die of: {cause}"));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::store::Standings;

    fn renderer(renders: RendersAtOnce) -> Renderer {
        Renderer::new(Drawing { renders, scale: 1, crash_at_boards: None })
    }

    fn sheet() -> Sheet {
        let standings = Standings { puzzle: 1234, version: 7, players: Vec::new() };
        Sheet { standings, faces: BTreeMap::new() }
    }

    #[tokio::test]
    async fn a_board_beyond_the_limit_waits_before_it_is_drawn() {
        let renderer = renderer(RendersAtOnce::Limited(1));
        let first = renderer.admit().await;
        let mut second = std::pin::pin!(renderer.admit());
        let waiting = std::future::poll_fn(|cx| std::task::Poll::Ready(second.as_mut().poll(cx))).await;
        assert!(waiting.is_pending());
        drop(first);
        drop(second.await);
    }

    #[tokio::test]
    async fn without_a_limit_any_number_is_admitted() {
        let renderer = renderer(RendersAtOnce::Unbounded);
        let (first, second) = (renderer.admit().await, renderer.admit().await);
        drop((first, second));
    }

    #[tokio::test]
    async fn a_picture_is_no_longer_in_flight() {
        for renders in [RendersAtOnce::Inline, RendersAtOnce::Unbounded, RendersAtOnce::Limited(1)] {
            let renderer = renderer(renders);
            assert_eq!(renderer.render(sheet()).await.unwrap().caption, "Wordle #1234 · v7");
            assert_eq!(renderer.boards.load(Ordering::Relaxed), 0, "{renders:?}");
        }
    }
}
