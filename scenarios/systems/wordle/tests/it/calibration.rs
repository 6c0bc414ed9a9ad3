//! Whether what is ordered is what happens.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpStream;

use crate::app::{App, Player};
use crate::recorder::Recorder;

const ADA: Player = Player { id: 1, group: None };
const SEGV: i32 = 11;

async fn calibrated(orders: &str) -> App {
    let (_telegram, root) = Recorder::start().await;
    App::start(&root, &[("CALIBRATE", "1"), ("CALIBRATE_ORDERS", orders)])
}

async fn order(app: &App, path: &str) {
    assert_eq!(app.post(path).await.unwrap().status(), StatusCode::NO_CONTENT, "{path}");
}

#[tokio::test]
async fn without_calibrate_there_is_nothing_to_order() {
    let (_telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[]);
    assert_eq!(app.post("/calibrate/exit?code=3").await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_stall_lasts_as_long_as_ordered_and_holds_everyone_up() {
    let app = calibrated("").await;
    let began = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    order(&app, "/calibrate/stall?ms=200").await;
    assert!(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap() >= began + Duration::from_millis(200));
}

#[tokio::test]
async fn a_leak_stays_in_memory() {
    let app = calibrated("").await;
    let before = resident_kib(app.pid());
    order(&app, "/calibrate/leak?bytes=64MiB").await;
    assert!(resident_kib(app.pid()) >= before + 60 * 1024);
}

#[tokio::test]
async fn the_next_answers_of_the_api_have_the_ordered_status() {
    let app = calibrated("").await;
    order(&app, "/calibrate/status?code=503&times=2").await;
    for _ in 0..2 {
        assert_eq!(app.open_as(&ADA.authorization()).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(app.open_as(&ADA.authorization()).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_closed_listener_refuses_and_serves_those_who_are_in() {
    let app = calibrated("").await;
    order(&app, "/calibrate/close-listener").await;
    while TcpStream::connect(app.address()).await.is_ok() {}
    assert_eq!(app.health().await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn an_exit_and_a_death_are_as_ordered() {
    let exits = calibrated("").await;
    assert!(exits.post("/calibrate/exit?code=3").await.is_err());
    assert_eq!(exits.ended().await.code, Some(3));
    let dies = calibrated("").await;
    assert!(dies.post("/calibrate/signal?name=SEGV").await.is_err());
    assert_eq!(dies.ended().await.signal, Some(SEGV));
}

#[tokio::test]
async fn orders_may_come_with_the_environment() {
    assert_eq!(calibrated("stall=1ms@0s,exit=3@1ms").await.ended().await.code, Some(3));
}

#[tokio::test]
async fn an_orphan_outlives_the_process() {
    let app = calibrated("").await;
    let ms = 60_000 + i32::from(std::process::id() as u16) % 1000;
    order(&app, &format!("/calibrate/orphan?ms={ms}")).await;
    drop(app);
    // The shell may end before its child has become `sleep`.
    let looked = tokio::time::timeout(Duration::from_secs(30), async {
        loop {
            match sleeping_for(f64::from(ms) / 1000.0) {
                Some(orphan) => return orphan,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    });
    kill_process(looked.await.expect("an orphan"), Signal::KILL).unwrap();
}

fn resident_kib(pid: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The `sleep` of exactly this many seconds.
fn sleeping_for(seconds: f64) -> Option<Pid> {
    let wanted = format!("sleep\0{seconds}\0");
    let sleeps = |folder: &PathBuf| std::fs::read_to_string(folder.join("cmdline")).is_ok_and(|line| line == wanted);
    let folder = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).find(sleeps)?;
    Pid::from_raw(folder.file_name()?.to_str()?.parse().ok()?)
}
