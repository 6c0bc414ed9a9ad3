//! A JSON body written as a TOML value -> one template: compact JSON with the placeholders inside its strings.
//!
//! A string that is nothing but `"{x}"` stays a string. Keys are in file order, and may hold placeholders too.

use serde_json::Value;
use toml::de::DeValue;

use super::complaint::Complaint;
use super::spot::Spot;
use super::template::{Captures, Piece, Place, Template};

/// The JSON of the value at this spot.
pub(super) fn json(spot: &Spot<'_>, captures: &Captures, complaints: &mut Vec<Complaint>) -> Template {
    let mut writer = Writer { template: Template::default(), captures, complaints };
    writer.value(spot);
    writer.template
}

struct Writer<'w> {
    template: Template,
    captures: &'w Captures,
    complaints: &'w mut Vec<Complaint>,
}

impl Writer<'_> {
    fn value(&mut self, spot: &Spot<'_>) {
        match spot.value() {
            None => {}
            Some(DeValue::String(text)) => self.string(text, spot),
            Some(DeValue::Integer(number)) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => self.template.push_text(&number.to_string()),
                Err(_) => self.complain(spot, "this number is too large", "put it in quotes"),
            },
            Some(DeValue::Float(number)) => match number.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => self.template.push_text(&Value::from(number).to_string()),
                Ok(_) | Err(_) => self.complain(spot, "JSON has no such number", "put it in quotes"),
            },
            Some(DeValue::Boolean(flag)) => self.template.push_text(if *flag { "true" } else { "false" }),
            Some(DeValue::Datetime(time)) => self.template.push_text(&format!("\"{time}\"")),
            Some(DeValue::Array(list)) => self.list(list.len(), spot),
            Some(DeValue::Table(_)) => self.table(spot),
        }
    }

    fn list(&mut self, len: usize, spot: &Spot<'_>) {
        self.template.push_text("[");
        for index in 0..len {
            if index > 0 {
                self.template.push_text(",");
            }
            self.value(&spot.item(index));
        }
        self.template.push_text("]");
    }

    fn table(&mut self, spot: &Spot<'_>) {
        self.template.push_text("{");
        for (index, (key, value)) in spot.entries().into_iter().enumerate() {
            if index > 0 {
                self.template.push_text(",");
            }
            self.string(key, &value.as_key());
            self.template.push_text(":");
            self.value(&value);
        }
        self.template.push_text("}");
    }

    fn string(&mut self, text: &str, spot: &Spot<'_>) {
        self.template.push_text("\"");
        let inside = Template::parse(text, spot, Place::Act(self.captures), self.complaints);
        for piece in inside.pieces {
            match piece {
                Piece::Text(text) => self.template.push_text(&escaped(&text)),
                Piece::Slot(slot) => self.template.pieces.push(Piece::Slot(slot)),
            }
        }
        self.template.push_text("\"");
    }

    fn complain(&mut self, spot: &Spot<'_>, says: &str, help: &str) {
        self.complaints.push(spot.complain(says, help));
    }
}

/// Text as the inside of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
