//! Where in a scenario a table, a list or one of a few words belongs, and how it is written there: what to tell whoever
//! wrote something else.
//!
//! Places whose own reader says what may stand there, such as a status or a list of them, are none of these.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// How something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Under a heading of this name.
    Section(&'static str),
    /// Under a heading of this name, as often as wanted.
    Sections(&'static str),
    /// As a table such as this.
    Table(&'static str),
    /// As a list of such elements.
    List(&'static str),
    /// As one of these.
    Word(&'static str),
}

/// What belongs at these keys, elements of a list being at the keys of the list.
fn form(keys: &[&str]) -> Option<Form> {
    match keys {
        ["crowd" | "journey", "arrive", rest @ ..] => arrive(rest),
        ["journey", "steps", rest @ ..] => step(rest),
        ["budgets", rest @ ..] => budgets(rest),
        [first, rest @ ..] => section(first, rest),
        [] => None,
    }
}

fn section(first: &str, rest: &[&str]) -> Option<Form> {
    Some(match (first, rest) {
        ("needs", []) => Form::List(r#""node >= 20""#),
        ("system", []) => Form::Section("system"),
        ("system", ["build"]) => Form::List(r#""npm", "run", "build""#),
        ("system", ["command"]) | ("service", ["start" | "stop"]) => Form::List(r#""npm", "start""#),
        ("system" | "service", ["env"]) => Form::Table(r#"{ LOG_LEVEL = "info" }"#),
        ("system", ["heartbeat"]) => Form::Word(r#""on", "stacks" or "off""#),
        ("system", ["tls"]) => Form::Table(r#"{ ca = "certificate.pem" }"#),
        ("service", []) => Form::Sections("service"),
        ("service", ["ready"]) => Form::Table(r#"{ path = "/healthz" }"#),
        ("service", ["ready", "command"]) => Form::List(r#""pg_isready""#),
        ("telegram", rest) => return telegram(rest),
        ("crowd", []) => Form::Section("crowd"),
        ("crowd", ["connections"]) => Form::Word(r#""player", "shared" or "fresh""#),
        ("words", []) => Form::Section("words"),
        ("journey", []) => Form::Sections("journey"),
        ("journey", ["init_data"]) => Form::Word(r#""authorization", or { header = "x-init-data" }"#),
        ("journey", ["init_data_faults"]) => Form::Table("{ stale = 0.1 }"),
        ("journey", ["init_data_faults", "refused"]) => Form::List(r#""stale""#),
        ("event", []) => Form::Sections("event"),
        ("event", ["do"]) => Form::Word(r#""terminate""#),
        ("expect", []) => Form::Table(r#"{ verdict = "broken" }"#),
        ("expect", ["verdict"]) => {
            Form::Word(r#""pass", "broken", "not_ready", "invalid", "died", "failed" or "partial""#)
        }
        ("expect", ["findings"]) => Form::List(r#""render_stampede""#),
        _ => return None,
    })
}

fn telegram(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        [] => Form::Section("telegram"),
        ["profile"] => Form::Word(r#""documented", "strict", "lenient" or "off""#),
        ["album"] => Form::Word(r#""items" or "one""#),
        ["throttle_scope"] => Form::Word(r#""chat" or "bot""#),
        ["unknown_chats"] => Form::Word(r#""make" or "refuse""#),
        ["counts"] | ["rules", "families"] => Form::List(r#""sends", "edits""#),
        ["rules"] => Form::Sections("telegram.rules"),
        ["rules", "scope"] => Form::Word(r#""bot", "chat", "group", "channel" or "uploads""#),
        _ => return None,
    })
}

fn arrive(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        [] => Form::Table(r#"{ burst = { over = "60s" } }"#),
        ["burst"] => Form::Table(r#"{ over = "60s" }"#),
        ["constant" | "poisson"] => Form::Table(r#"{ rate = 50, over = "60s" }"#),
        ["ramp"] => Form::Table(r#"{ from = 1, to = 200, over = "60s" }"#),
        ["steps"] => Form::Table(r#"{ rates = [10, 20], each = "30s" }"#),
        ["steps", "rates"] => Form::List("10, 20"),
        ["replay"] => Form::Table(r#"{ file = "arrivals.csv" }"#),
        _ => return None,
    })
}

fn step(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        [] => Form::List(r#"{ act = "open", get = "/" }"#),
        ["in"] => Form::Word(r#""private" or "group""#),
        ["assets"] => Form::List(r#""/app.js""#),
        ["answer"] => Form::Table(r#"{ contains = "ok" }"#),
        ["headers"] => Form::Table(r#"{ accept = "application/json" }"#),
        ["think", "exponential"] => Form::Table(r#"{ mean = "4s" }"#),
        ["think", "lognormal"] => Form::Table(r#"{ median = "4s", p90 = "12s" }"#),
        ["when"] => Form::Table(r#"{ act = "open", ok = true }"#),
        ["capture"] => Form::Table(r#"{ token = "/token" }"#),
        ["check"] => Form::List(r#"{ pointer = "/ok", equals = true }"#),
        ["shows"] => Form::Table(r#"{ chat = "{chat.id}" }"#),
        _ => return None,
    })
}

fn budgets(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        [] => Form::Section("budgets"),
        ["recovery"] => Form::Table(r#"{ memory = "50MiB" }"#),
        ["shutdown"] => Form::Table(r#"{ within = "10s" }"#),
        ["latency"] => Form::Table(r#"{ open = { p99 = "500ms" } }"#),
        ["latency", _] => Form::Table(r#"{ p99 = "500ms" }"#),
        _ => return None,
    })
}

impl Form {
    /// Whether a table belongs there.
    fn takes_a_table(self, is_element: bool) -> bool {
        match self {
            Self::Section(_) | Self::Table(_) => !is_element,
            Self::Sections(_) => is_element,
            Self::List(example) => is_element && example.starts_with('{'),
            Self::Word(_) => false,
        }
    }

    fn help(self, is_element: bool) -> String {
        match self {
            Self::Section(name) => format!("write `[{name}]`, then what belongs to it"),
            Self::Sections(name) => format!("write `[[{name}]]`, then what belongs to it"),
            Self::Table(example) => format!("write a table, such as {example}"),
            Self::List(example) if self.takes_a_table(is_element) => format!("write a table, such as {example}"),
            Self::List(example) if is_element => format!("write words such as {example}"),
            Self::List(example) => format!("write a list, such as [{example}]"),
            Self::Word(words) => format!("write {words}"),
        }
    }
}

/// What to do about the value at these bytes, if a table, a list or a word belongs there.
pub(super) fn help(table: &DeTable<'_>, at: &Range<usize>) -> Option<String> {
    let mut help = None;
    walk(table, &mut Vec::new(), &mut |keys, is_element, value| {
        if value.span() == *at {
            help = form(keys).map(|form| form.help(is_element));
        }
    });
    help
}

/// Where lists stand in place of tables: serde would take their elements for the values of the table's keys.
pub(super) fn lists_for_tables(table: &DeTable<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(table, &mut Vec::new(), &mut |keys, is_element, value| {
        if value.get_ref().is_array() && form(keys).is_some_and(|form| form.takes_a_table(is_element)) {
            found.push(value.span());
        }
    });
    found
}

/// Told of a value: its keys, whether it is an element of the list that they lead to, and itself.
type Visit<'v> = dyn FnMut(&[&str], bool, &Spanned<DeValue<'_>>) + 'v;

fn walk<'t>(table: &'t DeTable<'_>, keys: &mut Vec<&'t str>, visit: &mut Visit<'_>) {
    for (key, value) in table {
        keys.push(key.get_ref().as_ref());
        visit(keys, false, value);
        walk_into(value.get_ref(), keys, visit);
        keys.pop();
    }
}

fn walk_into<'t>(value: &'t DeValue<'_>, keys: &mut Vec<&'t str>, visit: &mut Visit<'_>) {
    match value {
        DeValue::Table(table) => walk(table, keys, visit),
        DeValue::Array(list) => {
            for element in list {
                visit(keys, true, element);
                walk_into(element.get_ref(), keys, visit);
            }
        }
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::scenario::schema;

    /// Asks for the form of every place of the schema that is a table, a list or a word and nothing else.
    struct Census {
        schema: Value,
        asked: usize,
    }

    impl Census {
        fn resolved(&self, node: &Value) -> Value {
            let to = node["$ref"].as_str().map(|to| self.schema.pointer(&to[1..]).unwrap());
            to.unwrap_or(node).clone()
        }

        fn ask(&mut self, node: &Value, keys: &[&str]) {
            let node = self.resolved(node);
            match node["type"].as_str() {
                Some("object") => self.check(keys, &node, true),
                Some("array") => self.check(keys, &node, false),
                _ => self.check_words(keys, &node),
            }
            self.descend(&node, keys);
        }

        fn descend(&mut self, node: &Value, keys: &[&str]) {
            let node = self.resolved(node);
            for (key, property) in node["properties"].as_object().into_iter().flatten() {
                self.ask(property, &[keys, &[key.as_str()]].concat());
            }
            if node["additionalProperties"].is_object() {
                self.ask(&node["additionalProperties"], &[keys, &["name"]].concat());
            }
            let choices = ["oneOf", "anyOf"].into_iter().filter_map(|key| node[key].as_array()).flatten();
            for below in choices.chain(node.get("items")) {
                self.descend(below, keys);
            }
        }

        fn check_words(&mut self, keys: &[&str], node: &Value) {
            let choices = || node["oneOf"].as_array().into_iter().flatten();
            let lists = choices().chain([node]).filter_map(|choice| choice["enum"].as_array()).flatten();
            let words: Vec<&Value> = lists.chain(choices().filter_map(|choice| choice.get("const"))).collect();
            self.asked += words.len();
            for word in words {
                let Some(Form::Word(known)) = form(keys) else { panic!("which words may be `{}`?", keys.join(".")) };
                assert!(known.contains(&word.to_string()), "{word} is not among {known}");
            }
        }

        fn check(&mut self, keys: &[&str], node: &Value, is_table: bool) {
            self.asked += 1;
            let form = form(keys).unwrap_or_else(|| panic!("how is `{}` written?", keys.join(".")));
            assert_eq!(form.takes_a_table(false), is_table, "{}: {form:?}", keys.join("."));
            let (Form::Table(example) | Form::List(example)) = form else { return };
            let example = if is_table { format!("it = {example}") } else { format!("it = [{example}]") };
            let read: toml::Table = toml::from_str(&example).unwrap();
            let known = node["properties"].as_object();
            for (key, _) in read["it"].as_table().into_iter().flatten() {
                assert!(known.is_none_or(|known| known.contains_key(key)), "{}: {example}", keys.join("."));
            }
        }
    }

    #[test]
    fn every_table_list_and_word_of_the_schema_has_an_example_that_it_allows() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let mut scenario = schema.clone();
        scenario["properties"].as_object_mut().unwrap().remove("variants");
        let mut census = Census { schema, asked: 0 };
        census.descend(&scenario, &[]);
        assert!(census.asked > 60, "only {} were asked for", census.asked);
    }

    #[test]
    fn a_name_of_the_users_own_is_no_key() {
        let text = "[words]\nsystem = [\"a\"]\n[system]\nenv = [\"A\"]";
        let found = lists_for_tables(DeTable::parse(text).unwrap().get_ref());
        assert_eq!(found.into_iter().map(|at| &text[at]).collect::<Vec<_>>(), ["[\"A\"]"]);
    }
}
