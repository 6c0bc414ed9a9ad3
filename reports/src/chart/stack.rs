//! Layers of bars, one standing on the other.

use super::figure::{Bar, Series, Shape};
use super::ink::Ink;

/// One layer before it is stacked: its value in each bin.
pub(crate) struct Layer {
    pub name: String,
    pub ink: Ink,
    pub strength: f64,
    pub values: Vec<f64>,
}

/// Stacks layers over bins of (begin, length), the first at the bottom, and says how high the highest stack is.
/// Layers of nothing are left out.
pub(crate) fn stack(places: &[(f64, f64)], layers: Vec<Layer>) -> (Vec<Series>, f64) {
    let mut heights = vec![0.0; places.len()];
    let mut series = Vec::new();
    for layer in layers {
        let bars: Vec<Bar> = places
            .iter()
            .zip(&mut heights)
            .zip(&layer.values)
            .filter_map(|((place, height), value)| lay(*place, height, *value))
            .collect();
        if !bars.is_empty() {
            series.push(Series {
                name: layer.name,
                ink: layer.ink,
                shape: Shape::Bars { bars, strength: layer.strength },
            });
        }
    }
    (series, heights.into_iter().fold(0.0, f64::max))
}

/// Lays a value on a stack, which grows by it.
fn lay((from, len): (f64, f64), height: &mut f64, value: f64) -> Option<Bar> {
    let base = *height;
    *height += value;
    (value > 0.0).then_some(Bar { from, to: from + len, base, top: base + value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(name: &str, values: [f64; 2]) -> Layer {
        Layer { name: name.to_owned(), ink: Ink::Good, strength: 1.0, values: values.to_vec() }
    }

    #[test]
    fn each_layer_stands_on_the_ones_below() {
        let (series, height) =
            stack(&[(0.0, 1.0), (1.0, 1.0)], vec![layer("ok", [3.0, 1.0]), layer("timeout", [2.0, 0.0])]);
        assert!((height - 5.0).abs() < 1e-9);
        let Shape::Bars { bars, .. } = &series[1].shape else { panic!("bars") };
        assert_eq!(bars, &[Bar { from: 0.0, to: 1.0, base: 3.0, top: 5.0 }]);
    }

    #[test]
    fn a_layer_of_nothing_is_left_out() {
        let (series, height) = stack(&[(0.0, 1.0), (1.0, 1.0)], vec![layer("ok", [0.0, 0.0])]);
        assert!(series.is_empty());
        assert!(height < 1e-9);
    }
}
