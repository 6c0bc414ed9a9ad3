//! The stub as its user holds it: started on a thread of its own, watched, asked for counts, stopped.

use std::fmt;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::faults::{Fault, TooManyFaults};
use crate::journal::{CallCounts, Sighting};
use crate::launch::Opening;
use crate::limits::Limits;
use crate::records::CallRecord;
use crate::server::{self, Door};
use crate::shared::Shared;
use crate::users::UserAction;
use crate::users::crowd::{self, Crowd, Listener};
use crate::users::keyboards::Keyboards;
use crate::world::Directory;
use crate::world::described::Described;
use crate::{catalogue, token};

/// A running stub. Dropping it stops it.
pub struct Stub {
    shared: Arc<Shared>,
    ceilings: Vec<String>,
    url: String,
    port: u16,
    /// Uploads are read no faster than a rate allows.
    is_slow: bool,
    doors: Sender<Door>,
    thread: Option<JoinHandle<()>>,
    thread_id: Option<u32>,
    stop: watch::Sender<bool>,
    runtime: Handle,
    /// In a mutex only so that a stub may be shared between threads.
    ended: Mutex<Receiver<()>>,
}

/// Whether bots have come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attendance {
    /// Calls that have come.
    pub calls: u64,
    /// Whether a bot has asked for its updates, by `getUpdates` or `setWebhook`.
    pub asked_for_updates: bool,
}

/// An update could not be handed to a bot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPushed {
    /// What stands before the slash of a URL is no token.
    #[error("{0:?} is no bot token: a token is a number, a colon and a secret")]
    Token(String),
    /// The Bot API has no update of that kind.
    #[error("{0:?} is no kind of update: see the fields of `Update` at https://core.telegram.org/bots/api#update")]
    Kind(String),
    /// The bot did not ask for that kind, or its inbox is full.
    #[error("the bot does not take updates of this kind, or its inbox is full")]
    Unwanted,
    /// A button was to be pressed.
    #[error("there is no such button, or no such message any more")]
    NoButton,
    /// Only a group takes a bot in and out, and only a basic group that is none yet becomes a supergroup.
    #[error("{0} is no such group, or a supergroup already")]
    NoGroup(i64),
}

/// What is buffered of an upload that is read slowly.
const SLOW_BUFFER: usize = 64 << 10;
/// A packet of 1500 bytes without its IPv4 and TCP heads.
const ETHERNET_SEGMENT: u32 = 1460;
/// Listeners that wait to be taken; each is taken at once.
const MOST_DOORS: usize = 16;
/// How long the thread may take to end.
const LONGEST_STOP: Duration = Duration::from_secs(5);

/// Starts a stub on a socket that listens already; times are told as durations since `epoch`.
///
/// It runs on one thread of its own, which inherits the caller's affinity. A plain listener is a door; one with a
/// certificate is made by [`Door::tls`].
pub fn start(limits: Limits, door: impl Into<Door>, epoch: Instant, seed: u64) -> io::Result<Stub> {
    let door = door.into();
    let (url, port) = (door.url()?, door.address()?.port());
    let ceilings = limits.describe();
    let is_slow = limits.upload_bytes_per_second.is_some() || limits.upload_bytes_per_second_in_all.is_some();
    let shared = Arc::new(Shared::new(Clock::since(epoch), limits, seed));
    let (doors, opened) = tokio::sync::mpsc::channel(MOST_DOORS);
    let (stop, stopped) = watch::channel(false);
    let (tell_id, id) = mpsc::sync_channel(1);
    let (tell_end, ended) = mpsc::sync_channel(1);
    let served = shared.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name("stub".to_owned()).spawn(move || {
        // Nobody but the one who started it listens here, and only once.
        let _ = tell_id.send(own_thread_id());
        runtime.block_on(server::serve(served, opened, stopped));
        drop(runtime);
        let _ = tell_end.send(());
    })?;
    let thread_id = id.recv().ok().flatten();
    let (thread, ended) = (Some(thread), Mutex::new(ended));
    let stub = Stub { shared, ceilings, url, port, is_slow, doors, thread, thread_id, stop, runtime: handle, ended };
    stub.open(door)?;
    Ok(stub)
}

/// Over loopback's segments of 64 KiB both kernels would swallow megabytes of a slow upload before its sender
/// felt anything. With the segments of an Ethernet both sides buffer what they would buffer for Telegram.
fn buffer_like_a_network(listener: &std::net::TcpListener) -> io::Result<()> {
    let socket = socket2::SockRef::from(listener);
    socket.set_recv_buffer_size(SLOW_BUFFER)?;
    socket.set_tcp_mss(ETHERNET_SEGMENT)
}

impl Stub {
    /// The port of the door it was started with.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The root that a bot's client has to be given in place of `https://api.telegram.org`.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Takes connections from one more listener, until the stub ends.
    pub fn open(&self, door: impl Into<Door>) -> io::Result<()> {
        let door = door.into();
        door.listener.set_nonblocking(true)?;
        if self.is_slow {
            buffer_like_a_network(&door.listener)?;
        }
        if let Some(leaf) = &door.leaf {
            self.shared.trust(leaf.authority.clone());
        }
        self.doors.try_send(door).map_err(|_| io::Error::other("the stub takes no more listeners"))
    }

    /// How long ago its epoch was.
    pub fn age(&self) -> Duration {
        self.shared.clock.now()
    }

    /// The ceilings in words, for a report.
    pub fn ceilings(&self) -> Vec<String> {
        self.ceilings.clone()
    }

    /// The counts since this was last called.
    pub fn take_interval(&self) -> CallCounts {
        self.shared.telegram().take_interval()
    }

    /// Describes the world, before the first call comes: names, members and rights. Whether an unknown chat is
    /// there is for [`Limits::unknown_chats`] to say.
    pub fn describe(&self, described: Described) {
        self.shared.telegram().world.people = Arc::new(Directory::of(described));
    }

    /// Sends every accepted text or caption there. A full channel drops and counts.
    pub fn watch(&self, to: SyncSender<Sighting>) {
        self.shared.telegram().journal.watch(to);
    }

    /// Sends a record of every call there once it is answered; a full channel drops and counts. False when
    /// somebody takes them already. The channel ends when the stub does.
    pub fn record(&self, to: SyncSender<CallRecord>) -> bool {
        self.shared.records.send_to(to)
    }

    /// Records that were dropped because nobody took them in time.
    pub fn records_dropped(&self) -> u64 {
        self.shared.records.dropped()
    }

    /// Hands an update to a bot, by long poll or webhook; `kind` is a field of `Update`, `update` its value.
    /// Returns its `update_id`.
    pub fn push_update(&self, bot_token: &str, kind: &str, update: &Value) -> Result<i64, NotPushed> {
        let bot = bot_of(bot_token)?;
        let kind = catalogue::update_kind(kind).ok_or_else(|| NotPushed::Kind(kind.to_owned()))?;
        let pushed = self.shared.telegram().push_update(self.shared.clock.now(), bot, kind, update);
        self.shared.post.notify_one();
        pushed.ok_or(NotPushed::Unwanted)
    }

    /// A user writes a text into a chat of a bot; both are made when they are new. Returns the `update_id`.
    pub fn write(&self, bot_token: &str, chat: i64, user: i64, text: &str) -> Result<i64, NotPushed> {
        self.act(bot_token, &UserAction::Message { chat_id: chat, user_id: user, text: text.to_owned() })
    }

    /// A user does something that the bot gets an update of. Returns the `update_id`.
    pub fn act(&self, bot_token: &str, action: &UserAction) -> Result<i64, NotPushed> {
        let bot = bot_of(bot_token)?;
        self.shared.do_as_user(bot, action)
    }

    /// Plays the users of a bot from outside, in place of whoever did before: orders go in and what came of them comes
    /// out, without either side ever waiting for the other. `orders` and `heard` are how many of each find room.
    pub fn crowd(&self, bot_token: &str, orders: usize, heard: usize) -> Result<Crowd, NotPushed> {
        let bot = bot_of(bot_token)?;
        let (order, ordered) = tokio::sync::mpsc::channel(orders);
        let (tell, told) = tokio::sync::mpsc::channel(heard);
        let dropped = Arc::new(AtomicU64::new(0));
        {
            let mut telegram = self.shared.telegram();
            telegram.listener = Some(Listener { bot, to: tell, dropped: dropped.clone() });
            telegram.keyboards.get_or_insert_with(Keyboards::none);
        }
        self.runtime.spawn(crowd::run(self.shared.clone(), bot, ordered));
        Ok(Crowd { orders: order, heard: told, dropped })
    }

    /// Whether bots have come: how many calls have been answered so far, and whether any asked for its updates.
    pub fn attendance(&self) -> Attendance {
        let telegram = self.shared.telegram();
        let asked = telegram.is_asked_for_updates;
        let calls: u64 = telegram.journal.totals().map(|(_, counts)| counts.calls).sum();
        // A long poll that waits is a call that has come, though it is not answered yet.
        Attendance { calls: calls.max(u64::from(asked)), asked_for_updates: asked }
    }

    /// What last went wrong with a bot's webhook, in the words of `getWebhookInfo`, and how many updates wait for it.
    pub fn webhook_trouble(&self, bot_token: &str) -> Option<(String, usize)> {
        let bot = token::bot_of(bot_token).ok()?;
        self.shared.telegram().inboxes.trouble(bot)
    }

    /// How many of these updates the bot has not acknowledged: neither by a later offset nor by its webhook's 2xx.
    pub fn unacknowledged(&self, bot_token: &str, updates: &[i64]) -> usize {
        token::bot_of(bot_token).map_or(0, |bot| self.shared.telegram().inboxes.waiting(bot, updates))
    }

    /// A user opens a Mini App of a bot. Returns the address that it is opened at.
    pub fn open_app(&self, bot_token: &str, opening: &Opening) -> Result<String, NotPushed> {
        bot_of(bot_token)?;
        Ok(self.shared.open_app(bot_token, opening))
    }

    /// Orders a fault; those ordered before come first.
    pub fn order(&self, fault: Fault) -> Result<(), TooManyFaults> {
        let now = self.shared.clock.now();
        self.shared.telegram().faults.order(now, fault)
    }

    /// Takes back every fault that was ordered.
    pub fn clear_faults(&self) {
        self.shared.telegram().faults.clear();
    }

    /// Forgets what bots and users have done, as if nobody had called yet; the limits and whoever was described stay.
    pub fn reset(&self) {
        self.shared.telegram().reset();
    }

    /// The kernel's id of the stub's thread, so that its CPU time can be charged apart.
    pub fn thread_id(&self) -> Option<u32> {
        self.thread_id
    }

    /// Stops it: connections end, parked polls too, and the thread is joined within a few seconds.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.stop.send_replace(true);
        // A thread that does not end in time is left behind rather than waited for; it holds nothing but memory.
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        if ended.recv_timeout(LONGEST_STOP).is_ok() {
            drop(thread.join());
        }
    }
}

impl fmt::Debug for Stub {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Stub").field("url", &self.url).finish_non_exhaustive()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.end();
    }
}

fn bot_of(token: &str) -> Result<i64, NotPushed> {
    token::bot_of(token).map_err(|_| NotPushed::Token(token.to_owned()))
}

/// Linux names a thread's folder by its id.
fn own_thread_id() -> Option<u32> {
    let folder = std::fs::read_link("/proc/thread-self").ok()?;
    folder.file_name()?.to_str()?.parse().ok()
}
