//! The JSON schema of a scenario file, for editors: derived from what serde reads, so it cannot tell another story.

use schemars::schema_for;
use serde_json::{Map, Value, json};

use super::file::File;

/// The schema as it stands in `scenarios/scenario.schema.json`.
pub fn schema() -> String {
    let mut schema = schema_for!(File).to_value();
    drop_null(&mut schema);
    add_variant(&mut schema);
    format!("{schema:#}\n")
}

/// TOML has no null: what may be absent is absent. A table's default only repeats those of its keys.
fn drop_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, value| key != "default" || !(value.is_null() || value.is_object()));
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(only) = only_choice(object) {
                object.remove("anyOf");
                object.extend(only);
            }
            object.values_mut().for_each(drop_null);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What is left of a choice between one thing and null.
fn only_choice(object: &Map<String, Value>) -> Option<Map<String, Value>> {
    match object.get("anyOf")?.as_array()?.as_slice() {
        [Value::Object(only), null] if null["type"] == "null" => Some(only.clone()),
        _ => None,
    }
}

/// A variant says what differs: the tables of a scenario in part, as they are merged, and anything else whole.
fn add_variant(schema: &mut Value) {
    let mut properties = object(&schema["properties"]);
    for own in ["name", "variants"] {
        properties.remove(own);
    }
    for (_, property) in properties.iter_mut().filter(|(key, _)| *key != "expect") {
        let Some(name) = referred(property) else { continue };
        let mut partial = object(&schema["$defs"][&name]);
        if partial.remove("required").is_none() {
            continue;
        }
        schema["$defs"][format!("{name}InVariant")] = Value::Object(partial);
        property["$ref"] = json!(format!("#/$defs/{name}InVariant"));
    }
    schema["$defs"]["Variant"] = json!({
        "description": "What differs from the scenario.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// The name of the definition that a property is.
fn referred(property: &Value) -> Option<String> {
    Some(property["$ref"].as_str()?.strip_prefix("#/$defs/")?.to_owned())
}
