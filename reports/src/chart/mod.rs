//! The charts of a report. Each chart turns a run into a [`figure`](self::figure), which is pure data; `draw` puts any figure on
//! any surface, and `svg` and `png` are the two surfaces there are.
//!
//! ```text
//! report -> arrivals, latency, percentiles, outcomes, vitals, telegram, overlay -> Figure -> draw -> svg, png
//!           bins, time                                          axis, scale, unit    arrange, place, pen, ink
//! ```

pub(crate) mod arrivals;
pub(crate) mod figure;
pub(crate) mod ink;
pub(crate) mod latency;
pub(crate) mod outcomes;
pub(crate) mod overlay;
pub(crate) mod percentiles;
pub(crate) mod png;
pub(crate) mod svg;
pub(crate) mod telegram;
pub(crate) mod time;
pub(crate) mod vitals;

mod arrange;
mod axis;
mod bins;
mod draw;
mod pen;
mod place;
mod scale;
mod stack;
mod unit;
