//! What a part of a text is.

/// The type of an entity, with what it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
    Blockquote { expandable: bool },
    Code,
    Pre { language: Option<Box<str>> },
    TextLink { url: Box<str> },
    TextMention { user: i64 },
    CustomEmoji { id: Box<str> },
    Mention,
    Hashtag,
    Cashtag,
    BotCommand,
    Url,
    Email,
}

impl Kind {
    /// The API's name of it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bold => "bold",
            Self::Italic => "italic",
            Self::Underline => "underline",
            Self::Strikethrough => "strikethrough",
            Self::Spoiler => "spoiler",
            Self::Blockquote { expandable: false } => "blockquote",
            Self::Blockquote { expandable: true } => "expandable_blockquote",
            Self::Code => "code",
            Self::Pre { .. } => "pre",
            Self::TextLink { .. } => "text_link",
            Self::TextMention { .. } => "text_mention",
            Self::CustomEmoji { .. } => "custom_emoji",
            Self::Mention => "mention",
            Self::Hashtag => "hashtag",
            Self::Cashtag => "cashtag",
            Self::BotCommand => "bot_command",
            Self::Url => "url",
            Self::Email => "email",
        }
    }

    /// The server's own name of it, as its errors say it.
    pub(super) fn server_name(&self) -> &'static str {
        match self {
            Self::Bold => "Bold",
            Self::Italic => "Italic",
            Self::Underline => "Underline",
            Self::Strikethrough => "Strikethrough",
            Self::Spoiler => "Spoiler",
            Self::Blockquote { .. } => "BlockQuote",
            Self::Code => "Code",
            Self::Pre { language: None } => "Pre",
            Self::Pre { language: Some(_) } => "PreCode",
            Self::TextLink { .. } => "TextUrl",
            Self::TextMention { .. } => "MentionName",
            Self::CustomEmoji { .. } => "CustomEmoji",
            Self::Mention => "Mention",
            Self::Hashtag => "Hashtag",
            Self::Cashtag => "Cashtag",
            Self::BotCommand => "BotCommand",
            Self::Url => "Url",
            Self::Email => "EmailAddress",
        }
    }

    /// Nothing is found inside these, and nothing else may be.
    pub(super) fn is_opaque(&self) -> bool {
        matches!(self, Self::Code | Self::Pre { .. } | Self::TextLink { .. } | Self::TextMention { .. })
    }

    /// Which of two over the same part comes first.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Blockquote { .. } => 0,
            Self::TextLink { .. } | Self::TextMention { .. } => 1,
            Self::Bold => 2,
            Self::Italic => 3,
            Self::Underline => 4,
            Self::Strikethrough => 5,
            Self::Spoiler => 6,
            Self::CustomEmoji { .. } => 7,
            Self::Code | Self::Pre { .. } => 8,
            Self::Mention | Self::Hashtag | Self::Cashtag | Self::BotCommand | Self::Url | Self::Email => 9,
        }
    }

    /// What a link to that address is; `None` when it leads nowhere.
    pub(super) fn link(url: &str) -> Option<Self> {
        let url = url.trim();
        if let Some(id) = url.strip_prefix("tg://user?id=") {
            return id.parse().ok().map(|user| Self::TextMention { user });
        }
        let has_scheme = url.contains("://") || url.starts_with("mailto:") || url.starts_with("tel:");
        if !has_scheme && (!url.contains('.') || url.contains(char::is_whitespace)) {
            return None;
        }
        // A bare domain gets a scheme and a path.
        let url = if has_scheme { url.to_owned() } else { format!("http://{url}") };
        let after_scheme = url.find("://").map_or(url.as_str(), |at| &url[at + 3..]);
        let url = if url.contains("://") && !after_scheme.contains(['/', '?', '#']) { format!("{url}/") } else { url };
        Some(Self::TextLink { url: url.into() })
    }

    /// The emoji that a `tg://emoji?id=` address names.
    pub(super) fn emoji(url: &str) -> Option<Self> {
        let id = url.strip_prefix("tg://emoji?id=")?;
        id.parse::<u64>().ok().map(|_| Self::CustomEmoji { id: id.into() })
    }
}
