//! How the process ends.

use rustix::process::Signal;

use crate::app::{App, Player, refused};
use crate::recorder::Recorder;

const ADA: Player = Player { id: 1, group: Some(-100) };
const SEGV: i32 = 11;
const KILL: i32 = 9;

#[tokio::test]
async fn sigterm_ends_it_with_exit_code_0_and_no_complaint() {
    let (_telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[]);
    app.open(ADA).await;
    app.signal(Signal::TERM);
    let ended = app.ended().await;
    assert_eq!((ended.code, ended.errors.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn a_telegram_that_does_not_answer_holds_the_end_up_no_longer_than_ordered() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[("STOP_WITHIN", "50ms")]);
    telegram.hang();
    app.guess(ADA).await;
    telegram.until(|seen| !seen.methods().is_empty()).await;
    app.signal(Signal::TERM);
    let ended = app.ended().await;
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.errors, "error: stopped with work still in flight after 50ms\n");
}

#[tokio::test]
async fn more_boards_in_flight_than_survive_are_a_real_segmentation_fault() {
    let (_telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[("CRASH_AT_BOARDS", "0")]);
    app.guess(ADA).await;
    assert_eq!(app.ended().await.signal, Some(SEGV));
}

#[tokio::test]
async fn as_many_boards_as_survive_do() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[("CRASH_AT_BOARDS", "1")]);
    app.guess(ADA).await;
    telegram.until(|seen| !seen.methods().is_empty()).await;
    assert!(app.health().await.is_ok());
}

#[tokio::test]
async fn ignored_sigterm_leaves_only_sigkill() {
    let (_telegram, root) = Recorder::start().await;
    let mut app = App::start(&root, &[("CALIBRATE", "1"), ("IGNORE_SIGTERM", "1")]);
    app.signal(Signal::TERM);
    assert!(app.health().await.is_ok());
    assert!(app.is_running());
    app.signal(Signal::KILL);
    assert_eq!(app.ended().await.signal, Some(KILL));
}

#[test]
fn a_setting_it_cannot_obey_is_exit_code_2_and_a_line_that_names_it() {
    let ended = refused(&[("TELEGRAM_API_ROOT", "http://127.0.0.1:1"), ("SCALE", "3")]);
    assert_eq!((ended.code, ended.errors.as_str()), (Some(2), "error: SCALE is `3`; it wants 1 or 2\n"));
}

#[tokio::test]
async fn a_port_already_taken_is_exit_code_1_and_a_line_that_names_it() {
    let (_telegram, root) = Recorder::start().await;
    let first = App::start(&root, &[]);
    let port = first.address().rsplit(':').next().unwrap().to_owned();
    let ended = refused(&[("TELEGRAM_API_ROOT", &root), ("PORT", &port)]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.errors.starts_with(&format!("error: cannot listen on 127.0.0.1:{port}: ")), "{}", ended.errors);
}
