//! What Telegram sees of a board.

use crate::app::{App, Player};
use crate::recorder::Recorder;

const GROUP: i64 = -1_001_000_000_007;
const ADA: Player = Player { id: 1, group: Some(GROUP) };
const BOARDS: [&str; 2] = ["sendPhoto", "editMessageMedia"];

/// Boards as soon as something changes, without a queue: what a test waits for comes at once.
const EAGER: [(&str, &str); 2] = [("REFRESH_INTERVAL", "1ms"), ("SEND_QUEUE", "off")];

async fn shows(telegram: &Recorder, version: i64) {
    telegram.until(|seen| seen.calls(&BOARDS).iter().any(|call| call.version() >= version)).await;
}

#[tokio::test]
async fn a_board_is_posted_once_and_then_edited_in_place() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &EAGER);
    for version in 1..=3 {
        app.guess(ADA).await;
        shows(&telegram, version).await;
    }
    assert_eq!(telegram.methods(), ["sendPhoto", "editMessageMedia", "editMessageMedia"]);
    for (call, version) in telegram.calls(&BOARDS).iter().zip(1..) {
        assert!(call.holds_png());
        assert_eq!((call.chat(), call.version()), (GROUP, version));
    }
}

#[tokio::test]
async fn changes_within_the_interval_show_together_and_the_last_one_always_shows() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[("REFRESH_INTERVAL", "3s"), ("SEND_QUEUE", "off")]);
    app.guess(ADA).await;
    shows(&telegram, 1).await;
    for _ in 2..=6 {
        app.guess(ADA).await;
    }
    shows(&telegram, 6).await;
    assert!(telegram.methods().len() < 6, "{:?}", telegram.methods());
}

#[tokio::test]
async fn the_rollover_draws_a_board_that_nobody_touched() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[("ROLLOVER_AFTER", "1ms")]);
    assert_eq!(app.open(ADA).await["version"], 0);
    shows(&telegram, 1).await;
    let game = app.open(ADA).await;
    assert_eq!((&game["puzzle"], &game["version"]), (&1235.into(), &1.into()));
}

#[tokio::test]
async fn repost_turns_a_rejected_edit_into_two_more_calls() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[EAGER.as_slice(), &[("RECOVERY", "repost")]].concat());
    app.guess(ADA).await;
    shows(&telegram, 1).await;
    telegram.refuse("editMessageMedia", 429, "Too Many Requests: retry after 30", Some(30));
    app.guess(ADA).await;
    telegram.until(|seen| seen.methods().len() == 4).await;
    assert_eq!(telegram.methods(), ["sendPhoto", "editMessageMedia", "deleteMessage", "sendPhoto"]);
}

#[tokio::test]
async fn wait_turns_a_rejected_edit_into_a_later_edit_of_the_newest_state() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[EAGER.as_slice(), &[("RECOVERY", "wait")]].concat());
    app.guess(ADA).await;
    shows(&telegram, 1).await;
    telegram.refuse("editMessageMedia", 429, "Too Many Requests: retry after 1", Some(1));
    app.guess(ADA).await;
    telegram.until(|seen| seen.methods().len() == 2).await;
    app.guess(ADA).await;
    shows(&telegram, 3).await;
    assert_eq!(telegram.methods(), ["sendPhoto", "editMessageMedia", "editMessageMedia"]);
}

#[tokio::test]
async fn a_board_that_was_deleted_is_posted_anew() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[EAGER.as_slice(), &[("RECOVERY", "wait")]].concat());
    app.guess(ADA).await;
    shows(&telegram, 1).await;
    telegram.refuse("editMessageMedia", 400, "Bad Request: message to edit not found", None);
    app.guess(ADA).await;
    telegram.until(|seen| seen.methods().len() == 3).await;
    assert_eq!(telegram.methods(), ["sendPhoto", "editMessageMedia", "sendPhoto"]);
}

#[tokio::test]
async fn a_failed_call_is_one_error_line_that_keeps_the_token() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &EAGER);
    telegram.refuse("sendPhoto", 429, "Too Many Requests: retry after 1", Some(1));
    app.guess(ADA).await;
    telegram.until(|seen| seen.methods().len() == 2).await;
    app.signal(rustix::process::Signal::TERM);
    let ended = app.ended().await;
    assert_eq!(ended.errors, format!("error: sendPhoto for {GROUP}: Too Many Requests: retry after 1\n"));
}

#[tokio::test]
async fn unbounded_avatars_are_read_for_every_board_and_limited_ones_once() {
    for (avatars, reads) in [("unbounded", 2), ("2", 1)] {
        let (telegram, root) = Recorder::start().await;
        let app = App::start(&root, &[EAGER.as_slice(), &[("AVATARS", avatars)]].concat());
        for version in 1..=2 {
            app.guess(ADA).await;
            shows(&telegram, version).await;
        }
        for method in ["getUserProfilePhotos", "getFile", "file"] {
            assert_eq!(telegram.calls(&[method]).len(), reads, "{method} with {avatars}");
        }
    }
}

#[tokio::test]
async fn boards_are_drawn_wherever_they_are_ordered_to_be() {
    for renders in ["inline", "unbounded", "1"] {
        let (telegram, root) = Recorder::start().await;
        let app = App::start(&root, &[("RENDERS_AT_ONCE", renders), ("SCALE", "2")]);
        app.guess(ADA).await;
        shows(&telegram, 1).await;
        assert!(telegram.calls(&BOARDS)[0].holds_png(), "{renders}");
    }
}
