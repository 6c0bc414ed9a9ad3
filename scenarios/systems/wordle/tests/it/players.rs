//! What a player is answered.

use reqwest::StatusCode;
use serde_json::Value;

use crate::app::{App, Player};
use crate::recorder::Recorder;

const ALONE: Player = Player { id: 5_000_000_001, group: None };
const IN_A_GROUP: Player = Player { id: 5_000_000_002, group: Some(-1_001_000_000_007) };

#[tokio::test]
async fn a_request_that_telegram_did_not_sign_is_refused_with_the_reason() {
    let (_telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[]);
    let tampered = IN_A_GROUP.authorization().replace("1001000000007", "1001000000008");
    let cases = [
        ("Bearer x".to_owned(), "initData is missing: send it as `Authorization: tma <initData>`"),
        ("tma auth_date=1".to_owned(), "initData has no usable `hash`"),
        (tampered, "the hash of initData does not match"),
    ];
    for (authorization, reason) in cases {
        let refused = app.open_as(&authorization).await;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(refused.json::<Value>().await.unwrap()["error"], reason);
    }
}

#[tokio::test]
async fn six_guesses_end_the_game_and_a_seventh_is_answered_all_the_same() {
    let (_telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[]);
    assert_eq!(app.open(IN_A_GROUP).await["left"], 6);
    for version in 1..=5 {
        let answer = app.guess(IN_A_GROUP).await;
        assert_eq!((&answer["finished"], &answer["version"]), (&false.into(), &version.into()));
    }
    assert_eq!(app.guess(IN_A_GROUP).await["finished"], true);
    let seventh = app.guess(IN_A_GROUP).await;
    assert_eq!((&seventh["left"], &seventh["version"]), (&0.into(), &7.into()));
    assert_eq!(app.open(IN_A_GROUP).await["guesses"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn what_is_not_a_word_is_refused_and_not_counted() {
    let (_telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[]);
    assert_eq!(app.try_word(ALONE, "zzzzzz").await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(app.guess(ALONE).await["version"], 1);
}

#[tokio::test]
async fn a_player_alone_has_no_board() {
    let (telegram, root) = Recorder::start().await;
    let app = App::start(&root, &[]);
    app.guess(ALONE).await;
    app.guess(IN_A_GROUP).await;
    telegram.until(|seen| !seen.calls(&["sendPhoto"]).is_empty()).await;
    assert_eq!(telegram.calls(&["sendPhoto"])[0].chat(), -1_001_000_000_007);
}

#[tokio::test]
async fn games_outlive_the_process_in_a_file() {
    let (_telegram, root) = Recorder::start().await;
    let folder = std::env::temp_dir().join(format!("wordle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("games.db");
    let settings = [("DATABASE", file.to_str().unwrap())];
    let first = App::start(&root, &settings);
    first.guess(ALONE).await;
    drop(first);
    let left = App::start(&root, &settings).open(ALONE).await["left"].clone();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(left, 5);
}
