//! The few methods of the Bot API that this app calls.
//!
//! It only speaks: what follows a refusal is decided by those who call.

use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use thiserror::Error;

use crate::init_data::{ChatId, PlayerId};

/// How long one call may take, upload included.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// A board as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// The encoded image.
    pub(crate) png: Vec<u8>,
    /// The text under it.
    pub(crate) caption: String,
}

/// A message, by its number within its chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct MessageId(i64);

/// A call that did not do what it was made for.
#[derive(Debug, Error)]
pub(crate) enum CallError {
    /// Telegram said no.
    #[error("{method} for {target}: {description}")]
    Refused { method: &'static str, target: i64, code: u16, description: String, retry_after: Option<Duration> },
    /// No answer, or none that could be read.
    #[error("{method} for {target}: {cause}")]
    Broken { method: &'static str, target: i64, cause: reqwest::Error },
    /// An answer without its result.
    #[error("{method} for {target}: the answer holds no result")]
    Empty { method: &'static str, target: i64 },
}

impl CallError {
    /// How long Telegram wants the bot to be quiet.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            Self::Broken { .. } | Self::Empty { .. } => None,
        }
    }

    /// Whether the message to edit is gone.
    pub(crate) fn is_message_gone(&self) -> bool {
        match self {
            Self::Refused { code, description, .. } => {
                *code == 400 && description.contains("message to edit not found")
            }
            Self::Broken { .. } | Self::Empty { .. } => false,
        }
    }
}

/// The Bot API at one root, for one token.
#[derive(Debug)]
pub(crate) struct Telegram {
    http: reqwest::Client,
    root: String,
    token: String,
}

/// Whom a call is about, for its error line.
#[derive(Debug, Clone, Copy)]
struct About {
    method: &'static str,
    target: i64,
}

#[derive(Deserialize)]
struct Answer<T> {
    ok: bool,
    result: Option<T>,
    error_code: Option<u16>,
    description: Option<String>,
    parameters: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
}

#[derive(Deserialize)]
struct Message {
    message_id: MessageId,
}

#[derive(Deserialize)]
struct ProfilePhotos {
    photos: Vec<Vec<PhotoSize>>,
}

#[derive(Deserialize)]
struct PhotoSize {
    file_id: String,
}

#[derive(Deserialize)]
struct File {
    file_path: Option<String>,
}

impl Telegram {
    /// A client that goes straight to `root`, whatever proxies the machine has.
    pub(crate) fn new(root: &str, token: &str) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder().no_proxy().timeout(CALL_TIMEOUT).tcp_nodelay(true).build()?;
        Ok(Self { http, root: root.to_owned(), token: token.to_owned() })
    }

    /// Posts a board.
    pub(crate) async fn send_photo(&self, chat: ChatId, picture: &Picture) -> Result<MessageId, CallError> {
        let form = Form::new().text("caption", picture.caption.clone()).part("photo", picture.part());
        let message: Message = self.upload("sendPhoto", chat, form).await?;
        Ok(message.message_id)
    }

    /// Replaces the picture and caption of a board.
    pub(crate) async fn edit_photo(
        &self,
        chat: ChatId,
        message: MessageId,
        picture: &Picture,
    ) -> Result<(), CallError> {
        let media = json!({ "type": "photo", "media": "attach://board", "caption": picture.caption });
        let form = Form::new()
            .text("message_id", message.0.to_string())
            .text("media", media.to_string())
            .part("board", picture.part());
        let _edited: Message = self.upload("editMessageMedia", chat, form).await?;
        Ok(())
    }

    /// Deletes a board.
    pub(crate) async fn delete_message(&self, chat: ChatId, message: MessageId) -> Result<(), CallError> {
        let about = About { method: "deleteMessage", target: chat.0 };
        let _deleted: bool = self.ask(about, &json!({ "chat_id": chat.0, "message_id": message.0 })).await?;
        Ok(())
    }

    /// A player's profile photo; nothing: they have none.
    pub(crate) async fn profile_photo(&self, player: PlayerId) -> Result<Option<Vec<u8>>, CallError> {
        let about = |method| About { method, target: player.0 };
        let asked = json!({ "user_id": player.0, "limit": 1 });
        let found: ProfilePhotos = self.ask(about("getUserProfilePhotos"), &asked).await?;
        let Some(size) = found.photos.first().and_then(|sizes| sizes.last()) else { return Ok(None) };
        let file: File = self.ask(about("getFile"), &json!({ "file_id": size.file_id })).await?;
        let Some(path) = file.file_path else { return Ok(None) };
        self.download(about("download"), &path).await.map(Some)
    }

    async fn upload<T: DeserializeOwned>(
        &self,
        method: &'static str,
        chat: ChatId,
        form: Form,
    ) -> Result<T, CallError> {
        let request = self.http.post(self.url(method)).multipart(form.text("chat_id", chat.0.to_string()));
        About { method, target: chat.0 }.answer(request).await
    }

    async fn ask<T: DeserializeOwned>(&self, about: About, parameters: &serde_json::Value) -> Result<T, CallError> {
        about.answer(self.http.post(self.url(about.method)).json(parameters)).await
    }

    async fn download(&self, about: About, path: &str) -> Result<Vec<u8>, CallError> {
        let request = self.http.get(format!("{}/file/bot{}/{path}", self.root, self.token));
        let answer = request.send().await.and_then(reqwest::Response::error_for_status);
        let bytes = match answer {
            Ok(answer) => answer.bytes().await,
            Err(cause) => Err(cause),
        };
        bytes.map(Into::into).map_err(|cause| about.broken(cause))
    }

    fn url(&self, method: &str) -> String {
        format!("{}/bot{}/{method}", self.root, self.token)
    }
}

impl Picture {
    fn part(&self) -> Part {
        Part::bytes(self.png.clone()).file_name("board.png")
    }
}

impl About {
    async fn answer<T: DeserializeOwned>(self, request: reqwest::RequestBuilder) -> Result<T, CallError> {
        let answer = request.send().await.map_err(|cause| self.broken(cause))?;
        let answer: Answer<T> = answer.json().await.map_err(|cause| self.broken(cause))?;
        if answer.ok {
            return answer.result.ok_or(CallError::Empty { method: self.method, target: self.target });
        }
        Err(CallError::Refused {
            method: self.method,
            target: self.target,
            code: answer.error_code.unwrap_or_default(),
            description: answer.description.unwrap_or_default(),
            retry_after: answer.parameters.and_then(|given| given.retry_after).map(Duration::from_secs),
        })
    }

    /// The address holds the token, so it is kept out of the error.
    fn broken(self, cause: reqwest::Error) -> CallError {
        CallError::Broken { method: self.method, target: self.target, cause: cause.without_url() }
    }
}
