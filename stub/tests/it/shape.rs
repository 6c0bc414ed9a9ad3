//! Holds every answer against the type that the catalogue declares for its method.

use std::sync::LazyLock;

use serde_json::Value;

static CATALOGUE: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../src/catalogue/bot-api-10.3.json")).unwrap());

/// Every method, in alphabetical order.
pub(crate) fn methods() -> impl Iterator<Item = &'static str> {
    CATALOGUE["methods"].as_object().unwrap().keys().map(String::as_str)
}

/// What is wrong with the result of that method, if anything is.
pub(crate) fn fault(method: &str, result: &Value) -> Option<String> {
    let declared = CATALOGUE["methods"][method]["returns"].as_str()?;
    misfit(declared, result, method)
}

fn misfit(declared: &str, value: &Value, path: &str) -> Option<String> {
    let mut misfits = Vec::new();
    for one in declared.split('|') {
        misfits.push(misfit_one(one, value, path)?);
    }
    // Of several types the one with the least wrong says most; with one there is no choice.
    misfits.into_iter().min_by_key(String::len)
}

fn misfit_one(declared: &str, value: &Value, path: &str) -> Option<String> {
    let wrong = |fits: bool| (!fits).then(|| format!("{path} should be {declared}: {value}"));
    if let Some(literal) = declared.strip_prefix('=') {
        return wrong(*value == serde_json::from_str::<Value>(literal).unwrap());
    }
    if let Some(of) = declared.strip_prefix("Array<").and_then(|rest| rest.strip_suffix('>')) {
        let Some(items) = value.as_array() else { return wrong(false) };
        return items.iter().find_map(|item| misfit(of, item, &format!("{path}[]")));
    }
    match declared {
        "Integer" => wrong(value.is_i64() || value.is_u64()),
        "Float" => wrong(value.is_number()),
        "String" => wrong(value.is_string()),
        "Boolean" => wrong(value.is_boolean()),
        named => match CATALOGUE["unions"][named].as_str() {
            Some(union) => misfit(union, value, path),
            None => misfit_object(named, value, path),
        },
    }
}

fn misfit_object(named: &str, value: &Value, path: &str) -> Option<String> {
    let Some(object) = value.as_object() else { return Some(format!("{path} should be {named}: {value}")) };
    let fields = CATALOGUE["types"][named].as_object()?;
    fields.iter().find_map(|(name, field)| match object.get(name) {
        Some(value) => misfit(field["type"].as_str().unwrap(), value, &format!("{path}.{name}")),
        None if field["required"] == true => Some(format!("{path}.{name} is missing in {named}: {value}")),
        None => None,
    })
}
