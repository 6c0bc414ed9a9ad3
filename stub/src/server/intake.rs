//! Reads a request's body. An upload is read no faster than the bot's rate allows, so that its sender feels
//! it: the socket fills up and writes block.

use std::pin::Pin;
use std::task::Poll;

use axum::body::{Body, Bytes, HttpBody};
use http_body_util::BodyExt;
use hyper::body::Frame;
use tokio::time::{sleep_until, timeout};

use super::PATIENCE;
use crate::answer::Refusal;
use crate::call::{Decoder, Inflate, Params, Undecodable};
use crate::shared::Shared;

/// What could not become a call.
#[derive(Debug)]
pub(super) enum Unread {
    /// The body is no body: nothing but a status is answered, and the connection closed.
    Malformed,
    /// It is packed in a way that is not taken.
    Unsupported,
    /// It was read, and is refused before it becomes a call.
    Refused(Refusal),
    /// The rest of the body was not even read, so the connection has to close after this.
    CutOff(Refusal),
}

/// A call's parameters, and its upload if it is one.
pub(super) struct Intake<'a> {
    pub(super) params: Params,
    /// Held until the answer: the slot is taken for as long.
    pub(super) upload: Option<Upload<'a>>,
}

/// A running upload of a bot.
pub(super) struct Upload<'a> {
    shared: &'a Shared,
    bot: i64,
}

/// What makes a call of the bytes that come.
pub(super) struct Reader {
    pub(super) inflate: Inflate,
    pub(super) decoder: Decoder,
}

impl Reader {
    fn feed(&mut self, bytes: &[u8]) -> Result<(), Undecodable> {
        let decoder = &mut self.decoder;
        self.inflate.feed(bytes, |plain| decoder.feed(plain))
    }
}

/// Reads the body to its end.
pub(super) async fn read(shared: &Shared, bot: i64, mut reader: Reader, mut body: Body) -> Result<Intake<'_>, Unread> {
    let mut upload = None;
    loop {
        let Some(frame) = next_frame(&mut body).await? else { break };
        let Ok(data) = frame.map_err(|_| Unread::Malformed)?.into_data() else { continue };
        reader.feed(&data).map_err(unread)?;
        if upload.is_none() && reader.decoder.has_file() {
            upload = Some(Upload::begin(shared, bot));
        }
        if let Some(Ok(upload)) = &upload {
            upload.carry(data.len()).await;
        }
    }
    let upload = upload.transpose().map_err(Unread::Refused)?;
    Ok(Intake { params: reader.decoder.finish().map_err(unread)?, upload })
}

/// The next piece of the body. Most are there already, and then no timer needs to be set.
async fn next_frame(body: &mut Body) -> Result<Option<Result<Frame<Bytes>, axum::Error>>, Unread> {
    let here = std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *body).poll_frame(context))).await;
    match here {
        Poll::Ready(frame) => Ok(frame),
        Poll::Pending => timeout(PATIENCE, body.frame()).await.map_err(|_| Unread::Malformed),
    }
}

fn unread(why: Undecodable) -> Unread {
    match why {
        Undecodable::Malformed => Unread::Malformed,
        Undecodable::TooLarge => Unread::CutOff(Refusal::too_large()),
    }
}

impl<'a> Upload<'a> {
    fn begin(shared: &'a Shared, bot: i64) -> Result<Self, Refusal> {
        shared.telegram().begin_upload(bot)?;
        Ok(Self { shared, bot })
    }

    async fn carry(&self, bytes: usize) {
        let clock = self.shared.clock;
        let carried = self.shared.telegram().carry(clock.now(), self.bot, bytes as u64);
        sleep_until(clock.instant(carried)).await;
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        self.shared.telegram().end_upload(self.bot);
    }
}
