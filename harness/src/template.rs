//! Filling templates: placeholders become values, escaped for the place they stand in. Pure, and without allocating
//! anything but the text that comes out, because it is done on the driving thread.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

use percent_encoding::utf8_percent_encode;

use crate::init_data::URI_COMPONENT;
use crate::plan::{Arrival, Marker, Player, draw, word};
use crate::scenario::{Piece, Slot, Template};

/// What placeholders stand for, as far as it is known where a template is filled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Values<'a> {
    /// `{system.port}`
    pub system_port: Option<u16>,
    /// `{service.NAME.port}`
    pub service_ports: Option<&'a BTreeMap<String, u16>>,
    /// `{stub.url}`
    pub stub_url: Option<&'a str>,
    /// `{bot.token}`
    pub bot_token: Option<&'a str>,
    /// `{player.*}` and `{chat.*}`
    pub player: Option<&'a Player>,
    /// `{word}`, `{nth}` and `{marker}`
    pub act: Option<Act<'a>>,
    /// `{name}`
    pub captured: Option<&'a BTreeMap<String, String>>,
}

/// The planned act that a request is sent for.
#[derive(Debug, Clone, Copy)]
pub struct Act<'a> {
    /// The seed of the scenario.
    pub seed: u64,
    /// Where it stands in the plan.
    pub arrival: &'a Arrival,
}

impl Act<'_> {
    fn word(&self) -> &'static str {
        word(self.seed, self.arrival)
    }
}

/// What has to be escaped in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// Nothing.
    None,
    /// What may not stand in a JSON string.
    Json,
    /// What may not stand in a component of a URL.
    Url,
}

/// Appends `template` to `out`, or says which placeholder has no value; `out` then holds what came before it.
pub fn fill<'t>(template: &'t Template, values: &Values<'_>, escape: Escape, out: &mut String) -> Result<(), &'t Slot> {
    for piece in &template.pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Slot(slot) => write_slot(slot, values, &mut Escaping { escape, out }).ok_or(slot)?,
        }
    }
    Ok(())
}

fn write_slot(slot: &Slot, values: &Values<'_>, to: &mut Escaping<'_>) -> Option<()> {
    match slot {
        Slot::SystemPort => to.value(values.system_port?),
        Slot::StubUrl => to.value(values.stub_url?),
        Slot::ServicePort(name) => to.value(values.service_ports?.get(name)?),
        Slot::BotToken => to.value(values.bot_token?),
        Slot::PlayerId => to.value(values.player?.user_id),
        Slot::PlayerName => to.value(&values.player?.first_name),
        Slot::ChatId => to.value(values.player?.chat_id),
        Slot::ChatInstance => to.value(values.player?.chat_instance),
        Slot::Word => to.value(values.act?.word()),
        Slot::Nth => to.value(values.act?.arrival.nth),
        Slot::Marker => to.value(Marker::of(values.act?.arrival)),
        Slot::Drawn(drawn) => {
            let Act { seed, arrival } = values.act?;
            draw(seed, arrival, drawn, to).expect("writing to a string never fails");
        }
        Slot::Captured(name) => to.value(values.captured?.get(name)?),
    }
    Some(())
}

/// A text that escapes what is written to it.
struct Escaping<'a> {
    escape: Escape,
    out: &'a mut String,
}

impl Escaping<'_> {
    fn value(&mut self, value: impl Display) {
        write!(self, "{value}").expect("writing to a string never fails");
    }
}

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.escape {
            Escape::None => self.out.push_str(text),
            Escape::Json => text.chars().try_for_each(|letter| write_json(letter, self.out))?,
            Escape::Url => self.out.extend(utf8_percent_encode(text, URI_COMPONENT)),
        }
        Ok(())
    }
}

/// RFC 8259, section 7: quotation mark, reverse solidus and the control characters must be escaped.
fn write_json(letter: char, out: &mut String) -> fmt::Result {
    match letter {
        '"' | '\\' => out.extend(['\\', letter]),
        '\0'..='\u{1f}' => write!(out, "\\u{:04x}", u32::from(letter))?,
        other => out.push(other),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::scenario::{Draw, Pool};

    const ARRIVAL: Arrival = Arrival { at: Duration::ZERO, player: 1, visit: 2, act: 3, nth: 4 };

    fn template(pieces: &[Piece]) -> Template {
        Template { pieces: pieces.to_vec() }
    }

    fn filled(slot: Slot, values: &Values<'_>, escape: Escape) -> Option<String> {
        let mut out = String::new();
        fill(&template(&[Piece::Slot(slot)]), values, escape, &mut out).ok().map(|()| out)
    }

    fn player(first_name: &str) -> Player {
        Player { first_name: first_name.into(), ..crate::plan::crowd(7, 1, 1).remove(0) }
    }

    #[test]
    fn text_stays_as_it_is_and_the_value_stands_in_its_place() {
        let around = [Piece::Text("{\"a\": \"".into()), Piece::Slot(Slot::BotToken), Piece::Text("\"}".into())];
        let mut out = String::from("> ");
        let values = Values { bot_token: Some("1:A"), ..Values::default() };
        fill(&template(&around), &values, Escape::Url, &mut out).unwrap();
        assert_eq!(out, "> {\"a\": \"1%3AA\"}");
    }

    #[test]
    fn every_placeholder_has_its_own_value() {
        let captured = BTreeMap::from([("version".to_owned(), "12".to_owned())]);
        let player = player("Юля");
        let services = BTreeMap::from([("db".to_owned(), 5432)]);
        let values = Values {
            system_port: Some(8080),
            service_ports: Some(&services),
            stub_url: Some("http://127.0.0.1:1"),
            bot_token: Some("1:A"),
            player: Some(&player),
            act: Some(Act { seed: 7, arrival: &ARRIVAL }),
            captured: Some(&captured),
        };
        let table = [
            (Slot::SystemPort, "8080".to_owned()),
            (Slot::ServicePort("db".into()), "5432".to_owned()),
            (Slot::StubUrl, "http://127.0.0.1:1".to_owned()),
            (Slot::BotToken, "1:A".to_owned()),
            (Slot::PlayerId, player.user_id.to_string()),
            (Slot::PlayerName, "Юля".to_owned()),
            (Slot::ChatId, player.chat_id.to_string()),
            (Slot::ChatInstance, player.chat_instance.to_string()),
            (Slot::Word, word(7, &ARRIVAL).to_owned()),
            (Slot::Nth, "4".to_owned()),
            (Slot::Marker, Marker::of(&ARRIVAL).to_string()),
            (Slot::Captured("version".into()), "12".to_owned()),
            (Slot::Drawn(Draw { salt: 1, pool: Pool::Number(5..=5) }), "5".to_owned()),
        ];
        for (slot, expected) in table {
            assert_eq!(filled(slot.clone(), &values, Escape::None), Some(expected), "{slot:?}");
            assert_eq!(filled(slot.clone(), &Values::default(), Escape::None), None, "{slot:?}");
        }
    }

    #[test]
    fn a_value_that_was_never_captured_is_named() {
        let slot = Slot::Captured("version".into());
        let template = template(&[Piece::Slot(slot.clone())]);
        let captured = BTreeMap::new();
        let values = Values { captured: Some(&captured), ..Values::default() };
        assert_eq!(fill(&template, &values, Escape::None, &mut String::new()), Err(&slot));
    }

    #[test]
    fn a_value_in_json_reads_back_as_it_was() {
        for name in ["plain", "\"q\" \\ / <b>", "tab\tnul\0del\u{7f}unit\u{1f}", "😀 \u{2028}"] {
            let player = player(name);
            let values = Values { player: Some(&player), ..Values::default() };
            let escaped = filled(Slot::PlayerName, &values, Escape::Json).unwrap();
            assert_eq!(serde_json::from_str::<String>(&format!("\"{escaped}\"")).unwrap(), name);
        }
    }

    #[test]
    fn a_value_in_a_url_cannot_end_its_component() {
        let player = player("a/b?c&d=e+f%20#é");
        let values = Values { player: Some(&player), ..Values::default() };
        assert_eq!(filled(Slot::PlayerName, &values, Escape::Url).unwrap(), "a%2Fb%3Fc%26d%3De%2Bf%2520%23%C3%A9");
    }
}
