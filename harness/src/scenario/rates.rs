//! A range of speeds in a value, in bytes a second: `"200KiB..2MiB"`, or `"500KiB"` for exactly that.

use std::ops::RangeInclusive;

use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// How a range of sizes is written, for editors.
const SIZES: &str = r"^[0-9]+(\.[0-9]+)? *[kKMG]i?B( *\.\. *[0-9]+(\.[0-9]+)? *[kKMG]i?B)?$";

/// Bytes a second.
#[derive(Debug, JsonSchema)]
#[serde(transparent)]
pub(super) struct Rates(#[schemars(with = "String", extend("pattern" = SIZES))] pub(super) RangeInclusive<u64>);

impl<'de> Deserialize<'de> for Rates {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let (low, high) = text.split_once("..").unwrap_or((&text, &text));
        let read = |text: &str| {
            let size = text.trim().parse::<ByteSize>().ok().filter(|_| text.ends_with('B'));
            let help = "write bytes a second with their unit, such as \"200KiB..2MiB\"";
            size.map(|size| size.0).ok_or_else(|| D::Error::custom(format!("`{}` is no speed: {help}", text.trim())))
        };
        let (low, high) = (read(low)?, read(high)?);
        if low == 0 {
            return Err(D::Error::custom("nobody would read anything: write a speed above zero"));
        }
        if low > high {
            return Err(D::Error::custom("the range ends before it begins: write the lower speed first"));
        }
        Ok(Self(low..=high))
    }
}
