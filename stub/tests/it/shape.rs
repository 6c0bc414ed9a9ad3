//! Holds every answer against the type that the catalogue declares for its method: all that the type requires, nothing
//! that it does not have, each of its type. Strict clients fail the whole call for one field.

use std::sync::LazyLock;

use serde_json::Value;

static SHAPES: LazyLock<Shapes> =
    LazyLock::new(|| Shapes(serde_json::from_str(include_str!("../../src/catalogue/bot-api-10.3.json")).unwrap()));

/// Every method, in alphabetical order.
pub(crate) fn methods() -> impl Iterator<Item = &'static str> {
    SHAPES.0["methods"].as_object().unwrap().keys().map(String::as_str)
}

/// What is wrong with the result of that method, if anything is.
pub(crate) fn fault(method: &str, result: &Value) -> Option<String> {
    faults(method, result).into_iter().next()
}

/// Everything that is wrong with the result of that method.
pub(crate) fn faults(method: &str, result: &Value) -> Vec<String> {
    SHAPES.0["methods"][method]["returns"].as_str().map_or_else(Vec::new, |named| SHAPES.held(named, result, method))
}

/// The types of the Bot API, as the stub's own catalogue names them.
struct Shapes(Value);

impl Shapes {
    fn held(&self, named: &str, value: &Value, at: &str) -> Vec<String> {
        if let Some(union) = self.0["unions"][named].as_str() {
            return self.held(union, value, at);
        }
        let any = alternatives(named);
        if any.len() > 1 {
            let mut faults = any.into_iter().map(|one| self.held(one, value, at));
            return faults.by_ref().reduce(|best, next| if next.len() < best.len() { next } else { best }).unwrap();
        }
        if let Some(item) = named.strip_prefix("Array<").and_then(|rest| rest.strip_suffix('>')) {
            let Some(items) = value.as_array() else { return vec![format!("{at}: {value} is no {named}")] };
            return items.iter().flat_map(|value| self.held(item, value, &format!("{at}[]"))).collect();
        }
        if self.0["types"][named].is_object() {
            return self.object(named, value, at);
        }
        let holds = match named {
            "Integer" => value.is_i64(),
            "Float" => value.is_number(),
            "String" => value.is_string(),
            "Boolean" | "True" => value.is_boolean(),
            literal => {
                literal.strip_prefix('=').is_some_and(|json| json.parse::<Value>().is_ok_and(|one| one == *value))
            }
        };
        if holds { Vec::new() } else { vec![format!("{at}: {value} is no {named}")] }
    }

    fn object(&self, named: &str, value: &Value, at: &str) -> Vec<String> {
        let Some(found) = value.as_object() else { return vec![format!("{at}: {value} is no {named}")] };
        let fields = self.0["types"][named].as_object().unwrap();
        let missing = fields.iter().filter(|(name, field)| field["required"] == true && !found.contains_key(*name));
        let missing = missing.map(|(name, _)| format!("{at}.{name} is missing in {named}"));
        let wrong = found.iter().flat_map(|(name, value)| match fields.get(name) {
            Some(field) => self.held(field["type"].as_str().unwrap(), value, &format!("{at}.{name}")),
            None => vec![format!("{at}.{name} is no field of {named}")],
        });
        missing.chain(wrong).collect()
    }
}

/// `A|Array<B|C>` is `A` or `Array<B|C>`.
fn alternatives(named: &str) -> Vec<&str> {
    let (mut depth, mut quoted) = (0, false);
    let split = move |c: char| {
        match c {
            '"' => quoted = !quoted,
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        c == '|' && depth == 0 && !quoted
    };
    named.split(split).collect()
}
