//! A value of a declared type, for methods that the stub does not model: every required field, nothing else.
//!
//! A field takes the parameter of the same name where the call gave one, so that an answer is about what was
//! asked.

use serde_json::{Map, Value, json};

use super::CATALOGUE;

/// Looks up the text of a parameter of the call.
pub(crate) type Hints<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Deeper than any chain of required fields in the catalogue.
const DEEPEST: u8 = 12;

/// A value of that type.
pub(crate) fn default_value(declared: &str, hints: Hints<'_>) -> Value {
    value(declared, None, hints, DEEPEST)
}

/// The object with every required field of that type that it lacks.
pub(crate) fn filled(named: &str, given: Value) -> Value {
    let mut filled = default_value(named, &|_| None);
    if let (Value::Object(filled), Value::Object(given)) = (&mut filled, given) {
        filled.extend(given);
    }
    filled
}

fn value(declared: &str, field: Option<&str>, hints: Hints<'_>, depth: u8) -> Value {
    let first = declared.split('|').next().unwrap_or_default();
    if let Some(literal) = first.strip_prefix('=') {
        return serde_json::from_str(literal).unwrap_or_else(|_| Value::from(literal));
    }
    let hint = field.and_then(hints);
    match first {
        "Integer" => Value::from(hint.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0)),
        "Float" => Value::from(hint.and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0)),
        "String" => Value::from(hint.unwrap_or_default()),
        // A method that returns a boolean says that it worked; a field that is one says that it is not so.
        "Boolean" => Value::from(field.is_none()),
        list if list.starts_with("Array<") => json!([]),
        named => object(named, field, hints, depth),
    }
}

fn object(named: &str, field: Option<&str>, hints: Hints<'_>, depth: u8) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(union) = CATALOGUE.unions.get(named) {
        return value(union, field, hints, depth - 1);
    }
    let Some(fields) = CATALOGUE.types.get(named) else { return json!({}) };
    let required = fields.iter().filter(|(_, field)| field.required);
    let filled = required.map(|(name, field)| ((*name).to_owned(), value(&field.r#type, Some(name), hints, depth - 1)));
    Value::Object(filled.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{method, methods};

    fn answer(name: &str, given: &[(&str, &str)]) -> Value {
        let hints = |name: &str| given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        default_value(method(name).unwrap().returns(), &hints)
    }

    #[test]
    fn a_boolean_answer_is_true_and_a_list_is_empty() {
        assert_eq!(answer("setChatTitle", &[]), json!(true));
        assert_eq!(answer("getChatAdministrators", &[]), json!([]));
    }

    #[test]
    fn an_object_has_its_required_fields_and_what_the_call_named() {
        let link = answer("createChatInviteLink", &[("creates_join_request", "true"), ("invite_link", "x")]);
        assert_eq!(link["invite_link"], "x");
        assert_eq!(link["creator"]["is_bot"], false);
        assert_eq!(link.get("name"), None, "an optional field is left out");
    }

    #[test]
    fn no_type_of_the_catalogue_is_left_without_a_value() {
        for method in methods() {
            let value = default_value(method.returns(), &|_| None);
            assert!(!value.to_string().contains("null"), "{}: {value}", method.name());
        }
    }
}
