//! Where in a scenario a table, a list, a number or one of a few words belongs, and how it is written there: what to
//! tell whoever wrote something else.
//!
//! Places whose own reader says what may stand there, such as a duration, are none of these.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::attach::HIGHEST_PID;
use super::check::MOST_VISITS;
use super::system::{LEAST_FILES, MOST_FILES};

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
    /// As a whole number, from the first to the second.
    Whole(u64, u64),
    /// As a number such as this.
    Number(&'static str),
}

const WHOLE_U16: u64 = u16::MAX as u64;
const WHOLE_U32: u64 = u32::MAX as u64;
const WHOLE_U64: u64 = u64::MAX;
const STATUSES: Form = Form::Number("a status from 200 to 599, or a list of them");
const RATE: Form = Form::Number("how many arrive in a second, such as 50");
const SHARE: Form = Form::Number("a part of the visits, from 0 to 1, such as 0.02 for two in a hundred");

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
        ("seed", []) => Form::Whole(0, WHOLE_U64),
        ("needs", []) => Form::List(r#""node >= 20""#),
        ("system", []) => Form::Section("system"),
        ("system", ["build"]) => Form::List(r#""npm", "run", "build""#),
        ("system", ["command"]) | ("service", ["start" | "stop"]) => Form::List(r#""npm", "start""#),
        ("system" | "service", ["env"]) => Form::Table(r#"{ LOG_LEVEL = "info" }"#),
        ("system", ["cores"]) => Form::Number("how many, from 1 to 4096, or which ones, such as [0, 2]"),
        ("system", ["cpu"]) => Form::Number("cores, from 0.01 to 4096, such as 1.5"),
        ("system", ["open_files"]) => Form::Whole(LEAST_FILES, MOST_FILES),
        ("system", ["pid"]) => Form::Whole(1, HIGHEST_PID),
        ("system" | "service", ["port"]) => Form::Whole(1, WHOLE_U16),
        ("system", ["heartbeat"]) => Form::Word(r#""on", "stacks" or "off""#),
        ("system", ["outside"]) => Form::Word(r#""on", "often" or "off""#),
        ("system", ["tls"]) => Form::Table(r#"{ ca = "certificate.pem" }"#),
        ("service", []) => Form::Sections("service"),
        ("service", ["ready"]) => Form::Table(r#"{ path = "/healthz" }"#),
        ("service", ["ready", "command"]) => Form::List(r#""pg_isready""#),
        ("telegram", rest) => return telegram(rest),
        ("crowd", []) => Form::Section("crowd"),
        ("crowd", ["groups" | "players_per_group"]) => Form::Whole(1, MOST_VISITS),
        ("crowd", ["connections"]) => Form::Word(r#""player", "shared" or "fresh""#),
        ("words", []) => Form::Section("words"),
        ("journey", ["weight"]) => Form::Whole(1, WHOLE_U32),
        ("journey", []) => Form::Sections("journey"),
        ("journey", ["init_data"]) => Form::Word(r#""authorization", or { header = "x-init-data" }"#),
        ("journey", ["init_data_faults"]) => Form::Table("{ stale = 0.1 }"),
        ("journey", ["init_data_faults", "stale" | "tampered" | "reused"]) => SHARE,
        ("journey", ["init_data_faults", "refused_with"]) => STATUSES,
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
        [
            "sends_per_second"
            | "chat_sends_per_second"
            | "chat_burst"
            | "group_sends_per_minute"
            | "channel_sends_per_minute"
            | "paid_sends_per_second"
            | "uploads_at_once",
        ]
        | ["rules", "limit" | "burst"] => Form::Whole(0, WHOLE_U32),
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
        ["constant" | "poisson", "rate"] | ["ramp", "from" | "to"] => RATE,
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
        ["repeat"] => Form::Whole(1, WHOLE_U16),
        ["expect_status"] | ["when", "status"] => STATUSES,
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
        ["unserved" | "failed" | "late_connect" | "error_lines" | "throttled" | "lost" | "late"]
        | ["recovery", "handles"]
        | ["shutdown", "unacted"] => Form::Whole(0, WHOLE_U64),
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
            Self::Word(_) | Self::Whole(..) | Self::Number(_) => false,
        }
    }

    fn help(self, is_element: bool) -> String {
        match self {
            Self::Section(name) => format!("write `[{name}]`, then what belongs to it"),
            Self::Sections(name) => format!("write `[[{name}]]`, then what belongs to it"),
            Self::Table(example) => format!("write a table, such as {example}"),
            Self::List(example) if self.takes_a_table(is_element) => format!("write a table, such as {example}"),
            Self::List(example) if is_element && example.starts_with('"') => format!("write words such as {example}"),
            Self::List(example) if is_element => format!("write numbers such as {example}"),
            Self::List(example) => format!("write a list, such as [{example}]"),
            Self::Word(words) | Self::Number(words) => format!("write {words}"),
            Self::Whole(from, to) => format!("write a whole number from {from} to {to}"),
        }
    }
}

/// What to do about the value at these bytes, if it is known what belongs there.
pub(super) fn help(table: &DeTable<'_>, at: &Range<usize>) -> Option<String> {
    let mut help = None;
    walk(table, &mut Vec::new(), &mut |keys, is_element, value| {
        if value.span() == *at {
            help = form(keys).map(|form| form.help(is_element));
        }
    });
    help
}

/// Where a list or a date stands in place of a table: serde would take a list's elements for the values of the table's
/// keys, and the parser's dates for tables with a key of its own.
pub(super) fn no_tables(table: &DeTable<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(table, &mut Vec::new(), &mut |keys, is_element, value| {
        let passes_for_one = matches!(value.get_ref(), DeValue::Array(_) | DeValue::Datetime(_));
        if passes_for_one && form(keys).is_some_and(|form| form.takes_a_table(is_element)) {
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
                Some("integer") => self.check_whole(keys, &node),
                Some("number") => self.check_number(keys),
                _ if node["anyOf"][0]["type"] == "integer" => self.check_number(keys),
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

        fn check_whole(&mut self, keys: &[&str], node: &Value) {
            self.asked += 1;
            let Some(Form::Whole(from, to)) = form(keys) else { panic!("how large may `{}` be?", keys.join(".")) };
            let most = match node["format"].as_str() {
                Some("uint16") => WHOLE_U16,
                Some("uint32") => WHOLE_U32,
                _ => WHOLE_U64,
            };
            let (least, most) = (node["minimum"].as_u64().unwrap_or(0), node["maximum"].as_u64().unwrap_or(most));
            assert_eq!((from, to), (least, most), "{}", keys.join("."));
        }

        fn check_number(&mut self, keys: &[&str]) {
            self.asked += 1;
            assert!(matches!(form(keys), Some(Form::Number(_))), "which number is `{}`?", keys.join("."));
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
    fn every_table_list_number_and_word_of_the_schema_has_an_example_or_a_range_that_it_allows() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let mut scenario = schema.clone();
        scenario["properties"].as_object_mut().unwrap().remove("variants");
        let mut census = Census { schema, asked: 0 };
        census.descend(&scenario, &[]);
        assert!(census.asked > 100, "only {} were asked for", census.asked);
    }

    #[test]
    fn a_list_or_a_date_is_no_table_and_a_name_of_the_users_own_no_key() {
        let text = "[words]\nsystem = [\"a\"]\n[system]\nenv = [\"A\"]\n[budgets]\nlatency = 1979-05-27";
        let found = no_tables(DeTable::parse(text).unwrap().get_ref());
        let mut found: Vec<_> = found.into_iter().map(|at| &text[at]).collect();
        found.sort_unstable();
        assert_eq!(found, ["1979-05-27", "[\"A\"]"]);
    }
}
