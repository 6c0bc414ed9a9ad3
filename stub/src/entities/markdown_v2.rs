//! `parse_mode=MarkdownV2`: marks nest, and every mark that is none has to be escaped.

use super::builder::{Builder, Mark};
use super::{Entity, Kind, markdown};

const RESERVED: &str = "_*[]()~`>#+-=|{}.!";

pub(super) fn parse(text: &str) -> Result<(String, Vec<Entity>), String> {
    let mut parser = Parser { text, at: 0, line_starts: true, built: Builder::default(), open: Vec::new() };
    while let Some(character) = parser.peek() {
        parser.step(character)?;
    }
    parser.end_quote();
    match parser.open.last() {
        Some(open) => {
            Err(format!("Can't find end of {} entity at byte offset {}", open.kind.server_name(), open.begin))
        }
        None => Ok(parser.built.finish()),
    }
}

struct Open {
    kind: Kind,
    begin: usize,
    mark: Mark,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    line_starts: bool,
    built: Builder,
    open: Vec<Open>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn follows(&self, mark: &str) -> bool {
        self.text[self.at..].starts_with(mark)
    }

    fn step(&mut self, character: char) -> Result<(), String> {
        let in_code = self.open.last().is_some_and(|open| matches!(open.kind, Kind::Code | Kind::Pre { .. }));
        if character == '\\' && self.text[self.at + 1..].starts_with(|next: char| ('\u{1}'..='~').contains(&next)) {
            self.line_starts = false;
            self.built.push(char::from(self.text.as_bytes()[self.at + 1]));
            self.at += 2;
            return Ok(());
        }
        if character == '\n' && !in_code {
            self.line_starts = true;
            self.line_end();
            return Ok(());
        }
        let reserved = if in_code { character == '`' } else { RESERVED.contains(character) };
        if !reserved {
            self.line_starts = false;
            self.built.push(character);
            self.at += character.len_utf8();
            return Ok(());
        }
        match self.closer() {
            Some(length) => self.close(length),
            None => self.begin(character),
        }
    }

    /// How long the mark is that ends the innermost entity here, if one does.
    fn closer(&self) -> Option<usize> {
        let closer = match &self.open.last()?.kind {
            Kind::Bold => "*",
            Kind::Italic if !self.follows("__") => "_",
            Kind::Underline => "__",
            Kind::Strikethrough => "~",
            Kind::Spoiler => "||",
            Kind::Code => "`",
            Kind::Pre { .. } => "```",
            Kind::TextLink { .. } | Kind::CustomEmoji { .. } => "]",
            Kind::Blockquote { .. } if self.follows("||") && self.line_is_over(2) => "||",
            Kind::Blockquote { .. }
            | Kind::Italic
            | Kind::TextMention { .. }
            | Kind::Mention
            | Kind::Hashtag
            | Kind::Cashtag
            | Kind::BotCommand
            | Kind::Url
            | Kind::Email => return None,
        };
        self.follows(closer).then_some(closer.len())
    }

    fn line_is_over(&self, after: usize) -> bool {
        let rest = &self.text[self.at + after..];
        rest.is_empty() || rest.starts_with('\n')
    }

    fn begin(&mut self, character: char) -> Result<(), String> {
        let begin = self.at;
        let mut skip = 1;
        let kind = match character {
            '_' if self.follows("__") => {
                skip = 2;
                Kind::Underline
            }
            '_' => Kind::Italic,
            '*' => Kind::Bold,
            '~' => Kind::Strikethrough,
            '|' if self.follows("||") => {
                skip = 2;
                Kind::Spoiler
            }
            '[' => Kind::TextLink { url: Box::default() },
            '!' if self.follows("![") => {
                skip = 2;
                Kind::CustomEmoji { id: Box::default() }
            }
            '`' if self.follows("```") => {
                let (language, code) = markdown::language(self.text, self.at + 3);
                skip = code - self.at;
                Kind::Pre { language: language.map(Box::from) }
            }
            '`' => Kind::Code,
            // Marks alone do not begin a line: `**>` parts two quotes.
            '>' if self.line_starts => {
                self.line_starts = false;
                if self.open.iter().any(|open| matches!(open.kind, Kind::Blockquote { .. })) {
                    self.at += 1;
                    return Ok(());
                }
                Kind::Blockquote { expandable: false }
            }
            other => {
                return Err(format!("Character '{other}' is reserved and must be escaped with the preceding '\\'"));
            }
        };
        self.at += skip;
        self.open.push(Open { kind, begin, mark: self.built.mark() });
        Ok(())
    }

    fn close(&mut self, length: usize) -> Result<(), String> {
        self.at += length;
        let Open { kind, mark, .. } = self.open.pop().expect("a closer closes what is open");
        let kind = match kind {
            Kind::TextLink { .. } => {
                let inner = self.built.since(mark).to_owned();
                Kind::link(&self.address()?.unwrap_or(inner))
            }
            Kind::CustomEmoji { .. } => {
                let must = || "Custom emoji entity must contain a tg://emoji URL".to_owned();
                Some(Kind::emoji(&self.address()?.ok_or_else(must)?).ok_or_else(must)?)
            }
            Kind::Blockquote { .. } => Some(Kind::Blockquote { expandable: true }),
            plain => Some(plain),
        };
        if let Some(kind) = kind {
            self.built.end(mark, kind);
        }
        Ok(())
    }

    /// The address in parentheses, if there is one.
    fn address(&mut self) -> Result<Option<String>, String> {
        if !self.follows("(") {
            return Ok(None);
        }
        self.at += 1;
        let begin = self.at;
        let mut url = String::new();
        while let Some(character) = self.peek() {
            self.at += character.len_utf8();
            match (character, self.peek()) {
                (')', _) => return Ok(Some(url)),
                ('\\', Some(escaped @ '\u{1}'..='~')) => {
                    url.push(escaped);
                    self.at += 1;
                }
                (plain, _) => url.push(plain),
            }
        }
        Err(format!("Can't find end of a URL at byte offset {begin}"))
    }

    /// A quote ends with the last line that begins with its mark.
    fn line_end(&mut self) {
        self.at += 1;
        if !self.follows(">") {
            self.end_quote();
        }
        self.built.push('\n');
    }

    fn end_quote(&mut self) {
        if let Some(open) = self.open.pop_if(|open| matches!(open.kind, Kind::Blockquote { .. })) {
            self.built.end(open.mark, open.kind);
        }
    }
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
    fn marks_nest() {
        let (text, entities) = read("*a _b __c__ ~d~_* ||e||");
        assert_eq!(text, "a b c d e");
        let expected = [
            (4, 1, Kind::Underline),
            (6, 1, Kind::Strikethrough),
            (2, 5, Kind::Italic),
            (0, 7, Kind::Bold),
            (8, 1, Kind::Spoiler),
        ];
        assert_eq!(entities, expected);
    }

    #[test]
    fn links_emoji_and_code_carry_what_they_need() {
        let link = Kind::TextLink { url: "http://a.b/(c)".into() };
        assert_eq!(read("[a](http://a.b/(c\\))").1, [(0, 1, link)]);
        assert_eq!(read("![👍](tg://emoji?id=5)").1, [(0, 2, Kind::CustomEmoji { id: "5".into() })]);
        assert_eq!(read("`a.b`").1, [(0, 3, Kind::Code)]);
        assert_eq!(read("```py\na```").1, [(0, 1, Kind::Pre { language: Some("py".into()) })]);
    }

    #[test]
    fn a_quote_goes_on_while_its_lines_do() {
        let (text, entities) = read(">a\n>b\nc");
        assert_eq!((text.as_str(), &entities[..]), ("a\nb\nc", &[(0, 3, Kind::Blockquote { expandable: false })][..]));
        assert_eq!(read(">a||").1, [(0, 1, Kind::Blockquote { expandable: true })]);
        let two = [false, true].map(|expandable| Kind::Blockquote { expandable });
        let [plain, expandable] = two;
        assert_eq!(read(">a\n**>b||").1, [(0, 1, plain), (2, 1, expandable)], "nothing in bold parts them");
    }

    #[test]
    fn a_reserved_character_has_to_be_escaped() {
        let fault = |text: &str| parse(text).unwrap_err();
        assert_eq!(fault("a."), "Character '.' is reserved and must be escaped with the preceding '\\'");
        assert_eq!(fault("a|b"), "Character '|' is reserved and must be escaped with the preceding '\\'");
        assert_eq!(fault("a>"), "Character '>' is reserved and must be escaped with the preceding '\\'");
        assert_eq!(read("a\\.\\\\").0, "a.\\");
    }

    #[test]
    fn what_is_not_closed_is_told_with_its_type_and_byte_offset() {
        let fault = |text: &str| parse(text).unwrap_err();
        assert_eq!(fault("é*a"), "Can't find end of Bold entity at byte offset 2");
        assert_eq!(fault("```a"), "Can't find end of Pre entity at byte offset 0");
        assert_eq!(fault("[a](b"), "Can't find end of a URL at byte offset 4");
    }

    proptest! {
        #[test]
        fn no_text_brings_it_down(text in "[*_~|`>!\\[\\]()\\\\ aé😀\n.]{0,40}") {
            drop(parse(&text));
        }
    }
}
