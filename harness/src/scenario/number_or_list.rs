//! A value written as a number or as a list of numbers, such as `cores = 1` and `cores = [0, 2]`.
//!
//! Read and described by hand: an untagged enum would lose the span of what is wrong inside the list.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};

/// A whole number, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NumberOrList {
    /// One.
    Number(u32),
    /// Several.
    List(Vec<u32>),
}

impl<'de> Deserialize<'de> for NumberOrList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumberOrListVisitor)
    }
}

struct NumberOrListVisitor;

impl<'de> Visitor<'de> for NumberOrListVisitor {
    type Value = NumberOrList;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a whole number or a list of them")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        let fits = u32::try_from(number).map(NumberOrList::Number);
        fits.map_err(|_| E::invalid_value(Unexpected::Signed(number), &"u32"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(NumberOrList::List)
    }
}

impl JsonSchema for NumberOrList {
    fn schema_name() -> Cow<'static, str> {
        "NumberOrList".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (number, list) = (generator.subschema_for::<u32>(), generator.subschema_for::<Vec<u32>>());
        json_schema!({ "description": "A whole number, or a list of them.", "anyOf": [number, list] })
    }
}
