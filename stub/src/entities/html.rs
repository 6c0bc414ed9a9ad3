//! `parse_mode=HTML`.

use super::builder::{Builder, Mark};
use super::{Entity, Kind};

/// A tag that is open.
struct Open {
    name: String,
    argument: Argument,
    mark: Mark,
}

#[derive(Default)]
struct Argument {
    value: Option<String>,
    expandable: bool,
}

const TAGS: &[&str] = &[
    "a",
    "b",
    "strong",
    "i",
    "em",
    "s",
    "strike",
    "del",
    "u",
    "ins",
    "tg-spoiler",
    "tg-emoji",
    "span",
    "pre",
    "code",
    "blockquote",
];

pub(super) fn parse(text: &str) -> Result<(String, Vec<Entity>), String> {
    let mut parser = Parser { text, at: 0, built: Builder::default(), open: Vec::new() };
    while let Some(character) = parser.peek() {
        match character {
            '<' if parser.text[parser.at + 1..].starts_with('/') => parser.end_tag()?,
            '<' => parser.start_tag()?,
            '&' => parser.reference(),
            plain => {
                parser.built.push(plain);
                parser.at += plain.len_utf8();
            }
        }
    }
    match parser.open.last() {
        Some(open) => Err(format!("Can't find end tag corresponding to start tag \"{}\"", open.name)),
        None => Ok(parser.built.finish()),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    built: Builder,
    open: Vec<Open>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Takes what stands before the first character that `ends` it.
    fn take_until(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn skip_spaces(&mut self) {
        self.take_until(|character| !character.is_ascii_whitespace());
    }

    fn start_tag(&mut self) -> Result<(), String> {
        let begin = self.at;
        let unclosed = || format!("Unclosed start tag at byte offset {begin}");
        self.at += 1;
        let name =
            self.take_until(|character| character.is_ascii_whitespace() || character == '>').to_ascii_lowercase();
        self.peek().ok_or_else(unclosed)?;
        if !TAGS.contains(&name.as_str()) {
            return Err(format!("Unsupported start tag \"{name}\" at byte offset {begin}"));
        }
        let argument = self.attributes(&name, begin)?;
        if self.peek() != Some('>') {
            return Err(unclosed());
        }
        self.at += 1;
        if name == "span" && argument.value.as_deref() != Some("tg-spoiler") {
            return Err(format!("Tag \"span\" must have class \"tg-spoiler\" at byte offset {begin}"));
        }
        self.open.push(Open { name, argument, mark: self.built.mark() });
        Ok(())
    }

    fn attributes(&mut self, tag: &str, begin: usize) -> Result<Argument, String> {
        let mut argument = Argument::default();
        loop {
            self.skip_spaces();
            if matches!(self.peek(), Some('>') | None) {
                return Ok(argument);
            }
            let ends = |character: char| character.is_ascii_whitespace() || "=>/\"'".contains(character);
            let name = self.take_until(ends).to_ascii_lowercase();
            if name.is_empty() {
                return Err(format!("Empty attribute name in the tag \"{tag}\" at byte offset {begin}"));
            }
            self.skip_spaces();
            if self.peek() != Some('=') {
                argument.expandable |= tag == "blockquote" && name == "expandable";
                continue;
            }
            self.at += 1;
            let value = self.value(begin)?;
            match (tag, name.as_str()) {
                ("a", "href") | ("span", "class") | ("tg-emoji", "emoji-id") => argument.value = Some(value),
                ("code", "class") => argument.value = value.strip_prefix("language-").map(str::to_owned),
                ("blockquote", "expandable") => argument.expandable = true,
                _ => {}
            }
        }
    }

    fn value(&mut self, begin: usize) -> Result<String, String> {
        self.skip_spaces();
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            let token = self.take_until(|character| character.is_ascii_whitespace() || character == '>');
            return Ok(token.to_owned());
        };
        self.at += 1;
        let value = self.take_until(|character| character == quote);
        if self.peek().is_none() {
            return Err(format!("Unclosed start tag at byte offset {begin}"));
        }
        self.at += 1;
        Ok(decoded(value))
    }

    fn end_tag(&mut self) -> Result<(), String> {
        let begin = self.at;
        let open = self.open.pop().ok_or_else(|| format!("Unexpected end tag at byte offset {begin}"))?;
        self.at += 2;
        let name =
            self.take_until(|character| character.is_ascii_whitespace() || character == '>').to_ascii_lowercase();
        self.skip_spaces();
        if self.peek() != Some('>') {
            return Err(format!("Unclosed end tag at byte offset {begin}"));
        }
        self.at += 1;
        if !name.is_empty() && name != open.name {
            return Err(format!(
                "Unmatched end tag at byte offset {begin}, expected \"</{}>\", found \"</{name}>\"",
                open.name
            ));
        }
        self.close(open);
        Ok(())
    }

    fn close(&mut self, open: Open) {
        let Open { name, argument, mark } = open;
        let kind = match name.as_str() {
            "b" | "strong" => Some(Kind::Bold),
            "i" | "em" => Some(Kind::Italic),
            "s" | "strike" | "del" => Some(Kind::Strikethrough),
            "u" | "ins" => Some(Kind::Underline),
            "span" | "tg-spoiler" => Some(Kind::Spoiler),
            "blockquote" => Some(Kind::Blockquote { expandable: argument.expandable }),
            "tg-emoji" => argument.value.map(|id| Kind::CustomEmoji { id: id.into() }),
            "a" => Kind::link(argument.value.as_deref().unwrap_or(self.built.since(mark))),
            "code" => Some(self.code(mark, argument)),
            _ => self.pre(mark),
        };
        if let Some(kind) = kind {
            self.built.end(mark, kind);
        }
    }

    /// Code with a language is kept as such only directly inside `<pre>`, which then takes the language over.
    fn code(&self, mark: Mark, argument: Argument) -> Kind {
        let pre =
            self.open.last().filter(|open| open.name == "pre" && self.built.since(open.mark) == self.built.since(mark));
        match (pre, argument.value) {
            (Some(_), Some(language)) => Kind::Pre { language: Some(language.into()) },
            _ => Kind::Code,
        }
    }

    fn pre(&mut self, mark: Mark) -> Option<Kind> {
        let length = self.built.since(mark).encode_utf16().count() as u32;
        match self.built.last() {
            Some(Entity { offset, length: inner, kind: kind @ (Kind::Code | Kind::Pre { .. }) })
                if (*offset, *inner) == (mark.units, length) =>
            {
                if *kind == Kind::Code {
                    *kind = Kind::Pre { language: None };
                }
                None
            }
            _ => Some(Kind::Pre { language: None }),
        }
    }

    fn reference(&mut self) {
        let (character, length) = reference(&self.text[self.at..]);
        self.built.push(character);
        self.at += length;
    }
}

/// The character that a text beginning with `&` stands for, and how many bytes say it.
fn reference(text: &str) -> (char, usize) {
    let plain = ('&', 1);
    let body = &text[1..];
    let end =
        body.find(|character: char| !(character.is_ascii_alphanumeric() || character == '#')).unwrap_or(body.len());
    let name = &body[..end];
    let length = 1 + end + usize::from(body[end..].starts_with(';'));
    let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    });
    let named = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => number.filter(|code| *code > 0).and_then(char::from_u32),
    };
    named.map_or(plain, |character| (character, length))
}

fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let (character, length) = if character == '&' { reference(rest) } else { (character, character.len_utf8()) };
        decoded.push(character);
        rest = &rest[length..];
    }
    decoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (String, Vec<(u32, u32, Kind)>) {
        let (text, entities) = parse(text).unwrap();
        (text, entities.into_iter().map(|entity| (entity.offset, entity.length, entity.kind)).collect())
    }

    #[test]
    fn tags_become_entities_in_utf16_units() {
        assert_eq!(read("😀<b>a<i>b</i></b>").1, [(3, 1, Kind::Italic), (2, 2, Kind::Bold)]);
        assert_eq!(read("<tg-spoiler>a</tg-spoiler>").1, [(0, 1, Kind::Spoiler)]);
        assert_eq!(read("<blockquote expandable>a</blockquote>").1, [(0, 1, Kind::Blockquote { expandable: true })]);
        assert_eq!(read("<b></b>"), (String::new(), vec![]));
    }

    #[test]
    fn links_mentions_and_code_carry_what_they_need() {
        let url = |url: &str| Kind::TextLink { url: url.into() };
        assert_eq!(read("<a href=\"https://a.b/?x=1&amp;y=2\">a</a>").1, [(0, 1, url("https://a.b/?x=1&y=2"))]);
        assert_eq!(read("<a href='tg://user?id=5'>a</a>").1, [(0, 1, Kind::TextMention { user: 5 })]);
        assert_eq!(read("<a href=\"a.b\">a</a>").1, [(0, 1, url("http://a.b/"))]);
        let pre = Kind::Pre { language: Some("rust".into()) };
        assert_eq!(read("<pre><code class=\"language-rust\">a</code></pre>").1, [(0, 1, pre)]);
        let apart = [(0, 1, Kind::Code), (1, 1, Kind::Pre { language: None })];
        assert_eq!(read("<code>a</code><pre>b</pre>").1, apart, "code elsewhere is not what is inside");
        assert_eq!(read("<pre>a</pre><code>b</code>").1, [(0, 1, Kind::Pre { language: None }), (1, 1, Kind::Code)]);
    }

    #[test]
    fn references_are_decoded_and_what_is_none_stays() {
        assert_eq!(read("&lt;&gt;&amp;&quot;&#233;&#xe9; &nbsp; & 1").0, "<>&\"éé &nbsp; & 1");
    }

    #[test]
    fn faults_are_told_with_their_byte_offset() {
        let fault = |text: &str| parse(text).unwrap_err();
        assert_eq!(fault("é<x>"), "Unsupported start tag \"x\" at byte offset 2");
        assert_eq!(fault("a <b"), "Unclosed start tag at byte offset 2");
        assert_eq!(fault("a</b>"), "Unexpected end tag at byte offset 1");
        assert_eq!(fault("<a>x</b>"), "Unmatched end tag at byte offset 4, expected \"</a>\", found \"</b>\"");
        assert_eq!(fault("<b>x"), "Can't find end tag corresponding to start tag \"b\"");
        assert_eq!(fault("<b>x</b"), "Unclosed end tag at byte offset 4");
        assert_eq!(fault("<span>x</span>"), "Tag \"span\" must have class \"tg-spoiler\" at byte offset 0");
    }

    proptest! {
        #[test]
        fn no_text_brings_it_down(text in "[<>/&;=\"' abié😀#x-]{0,40}") {
            drop(parse(&text));
        }
    }
}
