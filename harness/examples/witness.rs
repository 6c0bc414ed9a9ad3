//! A server that bears witness to a load generator: it counts what it received, knows when, and freezes on order.
//!
//! usage: `witness [log] [freeze] [json]` serves until its standard input ends, then prints what it saw as one line of
//! JSON; `log` keeps the instant of every request, `freeze` stops the server for 1 s of every 5 s, from 2 s after the
//! first request on, `json` answers with some. `witness timer RATE SECONDS` is the control: how late a bare timer rings on this
//! core, and the most rings in 10 ms.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU64;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const JSON: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 44\r\n\r\n\
    {\"token\":\"7f3a90c1\",\"version\":3,\"score\":12}\n";

/// What was seen.
#[derive(Default)]
struct Seen {
    first: Option<Instant>,
    requests: u64,
    connections: u64,
    open: u64,
    open_peak: u64,
    /// Nanoseconds since the first request, where they are kept.
    log: Option<Vec<u64>>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let line = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["timer", rate, seconds] => timer(rate.parse().expect("a rate"), seconds.parse().expect("seconds")),
        ref words => {
            let answer = if words.contains(&"json") { JSON } else { ANSWER };
            serve(words.contains(&"log"), words.contains(&"freeze"), answer)
        }
    };
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}

fn serve(log: bool, freeze: bool, answer: &'static [u8]) -> String {
    let seen = Rc::new(RefCell::new(Seen { log: log.then(Vec::new), ..Seen::default() }));
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build_local(tokio::runtime::LocalOptions::default()).expect("a runtime");
    let (over, stopped) = oneshot::channel();
    std::thread::spawn(move || {
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        // Nobody waits any more when the server has failed, and that has its own message.
        let _ = over.send(());
    });
    runtime.block_on(async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
        // Whoever comes in a freeze waits in the queue.
        let listener = socket.listen(4096).expect("a queue");
        writeln!(std::io::stdout(), "{}", listener.local_addr().expect("an address")).expect("standard output is open");
        if freeze {
            tokio::task::spawn_local(freezes(Rc::clone(&seen)));
        }
        tokio::select! {
            () = accept(listener, &seen, answer) => {}
            _ = stopped => {}
        }
    });
    let seen = seen.borrow();
    let offsets = seen.log.as_deref().unwrap_or_default();
    let log: Vec<String> = offsets.iter().map(u64::to_string).collect();
    let cpu = cpu_us();
    let (requests, connections, open_peak, log) = (seen.requests, seen.connections, seen.open_peak, log.join(","));
    format!(
        r#"{{"requests":{requests},"connections":{connections},"open_peak":{open_peak},"cpu_us":{cpu},"arrivals_ns":[{log}]}}"#
    )
}

async fn accept(listener: TcpListener, seen: &Rc<RefCell<Seen>>, answer: &'static [u8]) {
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        seen.borrow_mut().opened();
        tokio::task::spawn_local(attend(stream, Rc::clone(seen), answer));
    }
}

/// Requests come one at a time.
async fn attend(mut stream: TcpStream, seen: Rc<RefCell<Seen>>, answer: &'static [u8]) {
    stream.set_nodelay(true).expect("no delay");
    let (mut request, mut end) = ([0; 4096], 0);
    while let Ok(length @ 1..) = stream.read(&mut request[end..]).await {
        end += length;
        if is_whole(&request[..end]) {
            end = 0;
            seen.borrow_mut().count();
            if stream.write_all(answer).await.is_err() {
                break;
            }
        }
    }
    seen.borrow_mut().open -= 1;
}

/// A head, and the body whose length it names. A bare request, which is all that peers send, is told by its end alone.
fn is_whole(request: &[u8]) -> bool {
    if request.starts_with(b"GET") {
        return request.ends_with(b"\r\n\r\n");
    }
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Request::new(&mut headers);
    let Ok(httparse::Status::Complete(body_at)) = head.parse(request) else { return false };
    let named = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = named.and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok()).unwrap_or(0);
    request.len() >= body_at + length
}

impl Seen {
    fn opened(&mut self) {
        self.connections += 1;
        self.open += 1;
        self.open_peak = self.open_peak.max(self.open);
    }

    #[expect(clippy::disallowed_methods, reason = "a witness has a watch of its own")]
    fn count(&mut self) {
        self.requests += 1;
        if let Some(log) = &mut self.log {
            let now = Instant::now();
            let first = *self.first.get_or_insert(now);
            log.push(now.duration_since(first).as_nanos() as u64);
        } else if self.first.is_none() {
            self.first = Some(Instant::now());
        }
    }
}

/// Holds the only thread, so that nothing at all is answered.
#[expect(clippy::disallowed_methods, reason = "a witness has a watch of its own")]
async fn freezes(seen: Rc<RefCell<Seen>>) {
    while seen.borrow().first.is_none() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let first = seen.borrow().first.expect("there was a first request");
    for nth in 0_u32.. {
        let from = first + Duration::from_secs(2) + nth * Duration::from_secs(5);
        tokio::time::sleep_until(from.into()).await;
        std::thread::sleep((from + Duration::from_secs(1)).saturating_duration_since(Instant::now()));
    }
}

fn cpu_us() -> u128 {
    let cpu = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(cpu.tv_sec as u64, cpu.tv_nsec as u32).as_micros()
}

/// Rings on a grid of absolute instants with 1 ns of timer slack, and tells how late each was.
fn timer(rate: u64, seconds: u64) -> String {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).expect("timer slack");
    let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).expect("a timer");
    let nanos = |time: Timespec| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    let now = || nanos(rustix::time::clock_gettime(ClockId::Monotonic));
    let begin = now() + 10_000_000;
    let late = (0..rate * seconds).map(|nth| {
        let due = begin + nth * 1_000_000_000 / rate;
        let at = Timespec { tv_sec: (due / 1_000_000_000) as i64, tv_nsec: (due % 1_000_000_000) as i64 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &once).expect("the timer is set");
        rustix::io::read(&timer, &mut [0; 8]).expect("the timer rings");
        now().saturating_sub(due)
    });
    let mut late: Vec<u64> = late.collect();
    let rung: Vec<u64> = (0..).zip(&late).map(|(nth, late)| nth * 1_000_000_000 / rate + late).collect();
    let densest =
        rung.iter().enumerate().map(|(nth, at)| nth + 1 - rung.partition_point(|rang| rang + 10_000_000 <= *at));
    let densest = densest.max().unwrap_or_default();
    late.sort_unstable();
    let at = |share: usize| late[late.len() * share / 100] / 1_000;
    format!(r#"{{"p50_us":{},"p99_us":{},"densest":{densest}}}"#, at(50), at(99))
}
