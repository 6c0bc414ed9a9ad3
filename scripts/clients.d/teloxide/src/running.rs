//! The bot as it runs: teloxide's own dispatcher, fed by long polling or by its own webhook server.

use teloxide::dispatching::ShutdownToken;
use teloxide::prelude::*;
use teloxide::update_listeners::UpdateListener;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::report::says;

/// A dispatcher at work, and what it received.
pub struct Running {
    pub texts: Receiver<Message>,
    pub presses: Receiver<CallbackQuery>,
    stop: ShutdownToken,
    work: JoinHandle<()>,
}

impl Running {
    /// Its own start sequence: getWebhookInfo, getMe, getUpdates.
    pub fn polling(bot: &Bot) -> Self {
        Self::started(bot, |mut dispatcher| async move { dispatcher.dispatch().await })
    }

    pub fn listening<L>(bot: &Bot, listener: L) -> Self
    where
        L: UpdateListener + Send + 'static,
        L::Err: std::fmt::Debug + Send,
        for<'a> L: teloxide::update_listeners::AsUpdateStream<'a, Stream: Send>,
    {
        Self::started(bot, |mut dispatcher| async move {
            dispatcher.dispatch_with_listener(listener, LoggingErrorHandler::new()).await;
        })
    }

    fn started<F: Future<Output = ()> + Send + 'static>(bot: &Bot, run: impl FnOnce(Bots) -> F) -> Self {
        let (text, texts) = channel::<Message>(8);
        let (press, presses) = channel::<CallbackQuery>(8);
        let on_text = |text: Sender<Message>, message: Message| async move { text.send(message).await.map_err(says) };
        let on_press =
            |press: Sender<CallbackQuery>, query: CallbackQuery| async move { press.send(query).await.map_err(says) };
        let handler = dptree::entry()
            .branch(Update::filter_message().endpoint(on_text))
            .branch(Update::filter_callback_query().endpoint(on_press));
        let dispatcher = Dispatcher::builder(bot.clone(), handler).dependencies(dptree::deps![text, press]).build();
        let stop = dispatcher.shutdown_token();
        Self { texts, presses, stop, work: tokio::spawn(run(dispatcher)) }
    }

    pub fn goes_on(&self) -> bool {
        !self.work.is_finished()
    }

    pub async fn stop(self) -> Result<(), String> {
        self.stop.shutdown().map_err(says)?.await;
        self.work.await.map_err(says)
    }
}

type Bots = Dispatcher<Bot, String, teloxide::dispatching::DefaultKey>;
