//! What a calibration may order, and its text form. PURE: carrying it out is `calibrate`'s.

use std::time::Duration;

use axum::http::StatusCode;
use bytesize::ByteSize;
use signal_hook::consts::signal::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGKILL, SIGSEGV, SIGTERM};

/// One thing to do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Keep the runtime's only thread busy for this long.
    Stall(Duration),
    /// Make the runtime's only thread wait for this long.
    Block(Duration),
    /// Touch this many bytes and never let go of them.
    Leak(ByteSize),
    /// Open this many files and never close them.
    Handles(u32),
    /// End at once with this code.
    Exit(u8),
    /// Die of this signal.
    Signal(i32),
    /// Stop listening: later connections are refused, open ones are served.
    CloseListener,
    /// Answer the next calls of the API with a status.
    Status(Answers),
    /// Start a child that nobody waits for and that outlives this process, for this long at most.
    Orphan(Duration),
}

/// A status for the next few answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answers {
    /// The status.
    pub(crate) status: StatusCode,
    /// How many answers carry it.
    pub(crate) times: u32,
}

/// Something due a while after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timed<T> {
    /// How long after the start.
    pub(crate) after: Duration,
    /// What is due.
    pub(crate) due: T,
}

impl Timed<Order> {
    /// `stall=300ms@5s,leak=64MiB@6s`: orders separated by commas.
    pub(crate) fn list(text: &str) -> Option<Vec<Self>> {
        text.split(',').map(str::trim).filter(|order| !order.is_empty()).map(Self::parse).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let (order, after) = text.rsplit_once('@')?;
        let (name, value) = order.split_once('=').unwrap_or((order, ""));
        Some(Self { after: humantime::parse_duration(after).ok()?, due: Order::parse(name, value)? })
    }
}

impl Order {
    fn parse(name: &str, value: &str) -> Option<Self> {
        match name {
            "stall" => humantime::parse_duration(value).ok().map(Self::Stall),
            "block" => humantime::parse_duration(value).ok().map(Self::Block),
            "handles" => value.parse().ok().map(Self::Handles),
            "leak" => value.parse().ok().map(Self::Leak),
            "exit" => value.parse().ok().map(Self::Exit),
            "signal" => signal_named(value).map(Self::Signal),
            "close-listener" => value.is_empty().then_some(Self::CloseListener),
            "status" => Answers::parse(value).map(Self::Status),
            "orphan" => humantime::parse_duration(value).ok().map(Self::Orphan),
            _ => None,
        }
    }
}

impl Answers {
    /// `503x10`: ten answers of 503.
    fn parse(text: &str) -> Option<Self> {
        let (code, times) = text.split_once('x')?;
        Some(Self { status: StatusCode::from_bytes(code.as_bytes()).ok()?, times: times.parse().ok()? })
    }
}

/// The number of a signal by its name without `SIG`.
pub(crate) fn signal_named(name: &str) -> Option<i32> {
    match name {
        "ABRT" => Some(SIGABRT),
        "BUS" => Some(SIGBUS),
        "FPE" => Some(SIGFPE),
        "ILL" => Some(SIGILL),
        "INT" => Some(SIGINT),
        "KILL" => Some(SIGKILL),
        "SEGV" => Some(SIGSEGV),
        "TERM" => Some(SIGTERM),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_in_their_order() {
        let orders = Timed::list("stall=300ms@5s, status=503x10@6s,close-listener@7s,signal=SEGV@8s").unwrap();
        let at = |after, due| Timed { after: Duration::from_secs(after), due };
        let answers = Answers { status: StatusCode::SERVICE_UNAVAILABLE, times: 10 };
        assert_eq!(
            orders,
            [
                at(5, Order::Stall(Duration::from_millis(300))),
                at(6, Order::Status(answers)),
                at(7, Order::CloseListener),
                at(8, Order::Signal(SIGSEGV)),
            ]
        );
    }

    #[test]
    fn a_stall_may_wait_instead_and_handles_are_counted() {
        let orders = Timed::list("block=2s@1s,handles=1000@2s").unwrap();
        let due = [orders[0].due, orders[1].due];
        assert_eq!(due, [Order::Block(Duration::from_secs(2)), Order::Handles(1000)]);
    }

    #[test]
    fn a_size_has_its_unit() {
        let orders = Timed::list("leak=64MiB@0s").unwrap();
        assert_eq!(orders[0].due, Order::Leak(ByteSize::mib(64)));
    }

    #[test]
    fn an_order_without_a_time_or_of_an_unknown_kind_is_refused() {
        for wrong in ["stall=300ms", "nap=1s@2s", "signal=HUGE@1s", "close-listener=1@2s", "exit=256@1s"] {
            assert_eq!(Timed::list(wrong), None, "{wrong}");
        }
    }
}
