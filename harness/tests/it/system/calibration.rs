//! The observer against what was ordered: stalls of a known length, memory of a known size.

use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use floodrig::vitals::{Observed, Observer};
use floodrig_reports::recording::{Observations, Row, Vital};

use super::loops::{Language, Look, Loop};
use super::support::{LONG, Run, shell, subject, until};

/// How often a measurement of real time is tried on a machine that others use too.
const TRIES: usize = 5;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server with one thread for everything, which stalls on order.
struct Server {
    port: u16,
    stall_ms: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stall_ms, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (order, ended) = (Arc::clone(&stall_ms), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut open: Vec<TcpStream> = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(order.swap(0, Ordering::Relaxed)));
                if let Ok((stream, _)) = listener.accept() {
                    stream.set_nonblocking(true).unwrap();
                    open.push(stream);
                }
                open.retain_mut(|stream| match stream.read(&mut [0; 1024]) {
                    Ok(0) => false,
                    Ok(_) => stream.write_all(ANSWER).is_ok(),
                    Err(cause) => cause.kind() == std::io::ErrorKind::WouldBlock,
                });
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Self { port, stall_ms, stop, thread }
    }

    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

fn random(range: std::ops::Range<u64>) -> u64 {
    range.start + RandomState::new().hash_one(0) % (range.end - range.start)
}

fn observe(run: &Run, server: &Server) -> Observer {
    Observer::start(subject(std::process::id(), server.port), run.epoch, run.to_rows())
}

/// One that was begun after the call: what waits is older, and so may the next one be, and the file that a script says
/// something by is open until then.
fn vital_from_now_on(run: &Run) -> Vital {
    while run.rows.try_recv().is_ok() {}
    next_vital(run);
    next_vital(run)
}

fn next_vital(run: &Run) -> Vital {
    loop {
        if let Row::Vital(vital) = run.rows.recv_timeout(LONG).unwrap() {
            return vital;
        }
    }
}

/// One stall of this length in an observation.
fn stall_of(ms: u64) -> Observed {
    let (run, server) = (Run::new(), Server::start());
    let observer = observe(&run, &server);
    (0..5).for_each(|_| drop(next_vital(&run)));
    let ordered = run.epoch.elapsed();
    server.stall_ms.store(ms, Ordering::Relaxed);
    until("the stall over", || (run.epoch.elapsed() > ordered + Duration::from_millis(ms)).then_some(()));
    (0..5).for_each(|_| drop(next_vital(&run)));
    let observed = observer.finish();
    server.end();
    observed
}

#[test]
fn a_stall_of_an_ordered_length_is_the_only_one_and_right_within_60_ms() {
    let ms = random(200..1200);
    println!("ordered: {ms} ms");
    let mut found = Vec::new();
    while found.len() < TRIES && !found.last().is_some_and(|observed| is_right(observed, ms)) {
        found.push(stall_of(ms));
    }
    assert!(is_right(found.last().unwrap(), ms), "ordered {ms} ms, found {found:?}");
}

fn is_right(observed: &Observed, ms: u64) -> bool {
    matches!(observed.stalls.as_slice(), [one] if one.len_us.abs_diff(ms * 1000) <= 60_000)
}

#[test]
fn without_an_order_there_is_no_stall_and_the_longest_delay_is_told() {
    let quiet = (0..TRIES).map(|_| stall_of(0)).find(|observed| observed.stalls.is_empty());
    assert!(quiet.unwrap().longest_delay.is_some());
}

#[test]
fn a_stall_that_has_not_ended_with_the_run_is_told() {
    let (run, server) = (Run::new(), Server::start());
    let observer = observe(&run, &server);
    server.stall_ms.store(700, Ordering::Relaxed);
    until("the stall under way", || (next_vital(&run).probe_delay_us? > 300_000).then_some(()));
    assert!(observer.finish().stalls.last().unwrap().len_us > 300_000);
    server.end();
}

#[test]
fn a_system_that_is_gone_is_quiet_and_not_stalled() {
    let (run, server) = (Run::new(), Server::start());
    let observer = observe(&run, &server);
    assert!(next_vital(&run).probe_delay_us.is_some());
    server.end();
    until("silence", || (next_vital(&run).probe_delay_us.is_none()).then_some(()));
    let vital = next_vital(&run);
    assert_eq!((vital.probe_delay_us, vital.listen_queue), (None, None));
    observer.finish();
}

#[test]
fn what_does_not_answer_http_is_not_probed_and_says_so() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let run = Run::new();
    let observer =
        Observer::start(subject(std::process::id(), listener.local_addr().unwrap().port()), run.epoch, run.to_rows());
    let mut observations = Observations::default();
    observer.describe(&mut observations);
    assert_eq!(observations.black_box, "inactive: no answer to GET / within 2 s");
    assert_eq!(observations.listen_queue, "active");
    assert_eq!(next_vital(&run).probe_delay_us, None);
    let observed = observer.finish();
    assert_eq!((observed.stalls, observed.longest_delay, observed.dropped), (Vec::new(), None, 0));
}

#[test]
fn memory_of_an_ordered_size_is_seen_and_so_is_its_peak() {
    let mib = random(50..150);
    println!("ordered: {mib} MiB");
    let dir = tempfile::tempdir().unwrap();
    let flag = |name: &str| dir.path().join(name);
    let wait = |name: &str| format!("while [ ! -e {} ]; do sleep 0.01; done", flag(name).display());
    // `dd` holds one block of the size it is told, fills it, and frees it at its end.
    let grow = format!("dd if=/dev/zero bs={mib}M count=1 2>/dev/null | ({}; cat >/dev/null)", wait("down"));
    let run = Run::new();
    let mut launch = shell(&format!("{}; {grow}; sleep 1000; :", wait("up")));
    launch.cores.system = floodrig::system::cores::machine().unwrap();
    let system = run.start(&launch).unwrap();
    let observer = Observer::start(subject(system.root(), launch.port), run.epoch, run.to_rows());
    let all = |vital: &Vital| vital.pids.iter().map(|pid| pid.rss_bytes).sum::<u64>();
    let before = all(&next_vital(&run));
    assert!(before < 32 << 20, "{before}");
    std::fs::write(flag("up"), "").unwrap();
    until("the growth", || {
        let vital = next_vital(&run);
        let dd = vital.pids.iter().find(|pid| pid.name == "dd")?;
        (dd.hwm_bytes.abs_diff(mib << 20) < 16 << 20).then_some(())
    });
    std::fs::write(flag("down"), "").unwrap();
    observer.finish();
    system.stop(LONG);
}

#[test]
fn an_ordered_leak_of_either_language_is_seen_within_2_percent() {
    for language in Language::here() {
        let leak = random(160..250) << 20;
        let of = Loop::start(language, Look::Inside);
        // What a server needs for its first request is no leak.
        of.order("/leak?bytes=0");
        let before = vital_from_now_on(&of.run).pids.remove(0).rss_bytes;
        of.order(&format!("/leak?bytes={leak}"));
        let leaked = vital_from_now_on(&of.run).pids.remove(0).rss_bytes - before;
        println!("{language:?}: {leaked} bytes, {:.3} of what was ordered", leaked as f64 / leak as f64);
        assert!(leaked.abs_diff(leak) <= leak / 50, "{language:?}: ordered {leak}, seen {leaked}");
        of.end();
    }
}

#[test]
fn threads_handles_and_cpu_time_are_counted() {
    let run = Run::new();
    let launch = shell("while :; do :; done");
    let system = run.start(&launch).unwrap();
    let observer = Observer::start(subject(system.root(), launch.port), run.epoch, run.to_rows());
    let used = until("its cpu time", || next_vital(&run).pids.first().filter(|pid| pid.cpu_us > 50_000).cloned());
    assert_eq!((used.pid, used.threads), (system.pid(), 1));
    assert!(used.handles >= Some(3), "{used:?}");
    let vital = next_vital(&run);
    assert!(vital.rig_cpu_us.is_some() && vital.stub_cpu_us.is_none());
    observer.finish();
    system.stop(LONG);
}

#[test]
fn a_process_that_leaves_the_systems_cores_gets_one_note() {
    let run = Run::new();
    let launch = shell("sleep 1000; :");
    let system = run.start(&launch).unwrap();
    let mut subject = subject(system.root(), launch.port);
    // As if it were to stay on a core that it is not on.
    subject.system_cores = vec![launch.cores.system.last().unwrap() + 1];
    let observer = Observer::start(subject, run.epoch, run.to_rows());
    let Row::Event(note) = run.rows.recv_timeout(LONG).unwrap() else { panic!("the note comes before its row") };
    assert!(note.text.contains("has left the system's cores"), "{note:?}");
    observer.finish();
    system.stop(LONG);
}

#[test]
fn ordered_handles_of_either_language_are_counted_exactly_and_against_their_limit() {
    for language in Language::here() {
        let ordered = random(500..1500);
        let of = Loop::limited(language, 2000);
        of.order("/handles?n=0");
        let before = vital_from_now_on(&of.run).pids.remove(0).handles.unwrap();
        of.order(&format!("/handles?n={ordered}"));
        let seen = vital_from_now_on(&of.run).pids.remove(0);
        assert_eq!((seen.handles, seen.handles_limit), (Some(before + ordered), Some(2000)), "{language:?}");
        assert!(
            seen.waited_us.is_some() && seen.switches_voluntary.is_some() && seen.major_faults.is_some(),
            "{seen:?}"
        );
        let (_, observed) = of.end();
        assert!(observed.pss_bytes > Some(1 << 20), "{observed:?}");
    }
}

#[test]
fn an_orphan_is_named_and_stopped_with_the_rest() {
    let run = Run::new();
    let launch = shell("sh -c 'sleep 1000 & sleep 1000 & exit' & sleep 1000; :");
    let system = run.start(&launch).unwrap();
    let mut whose = subject(system.root(), launch.port);
    whose.command = Some(system.pid());
    let observer = Observer::start(whose, run.epoch, run.to_rows());
    let mut named = std::collections::BTreeSet::new();
    until("both orphans named", || {
        if let Row::Event(note) = run.rows.recv_timeout(LONG).unwrap() {
            assert!(note.text.contains("(sleep) has outlived its parent"), "{note:?}");
            named.insert(note.text);
        }
        (named.len() == 2).then_some(())
    });
    let tree = super::support::below(system.root());
    observer.finish();
    system.stop(LONG);
    assert!(tree.len() >= 4 && super::support::all_ended(&tree));
}
