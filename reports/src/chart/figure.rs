//! What a chart shows, before anything is drawn: panels over one shared horizontal axis. Pure data, which the
//! charts build, the tests look at and `draw` puts on any surface.

use super::axis::Axis;
use super::ink::Ink;

/// A chart, or the words that stand in its place when there is nothing to draw.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Chart {
    /// There is something to see.
    Figure(Figure),
    /// Why there is not.
    Words(String),
}

/// Panels stacked over one horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// What the picture shows, for those who cannot see it.
    pub says: String,
    /// The axis that all panels share.
    pub x: Axis,
    /// From top to bottom.
    pub panels: Vec<Panel>,
    /// Lines through all panels: things that happened once.
    pub marks: Vec<Mark>,
}

/// One plot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// What its vertical axis counts.
    pub title: String,
    /// Height of the plot in pixels, its words left out.
    pub height: f64,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub series: Vec<Series>,
    /// Bounds of budgets, drawn across.
    pub limits: Vec<Limit>,
    /// Bounds that hold at one place only.
    pub pins: Vec<Pin>,
    /// What stands in the panel when it has no series.
    pub blank: String,
}

/// One series of values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub name: String,
    pub ink: Ink,
    pub shape: Shape,
}

/// How a series is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A line, broken where nothing was measured; named at its end.
    Line {
        /// Runs of neighbouring points.
        runs: Vec<Vec<(f64, f64)>>,
        stroke: Stroke,
        /// Whether the ground beneath is tinted.
        filled: bool,
    },
    /// Bars; named in the legend above the plot when there are several series.
    Bars {
        bars: Vec<Bar>,
        /// How strongly they are filled, which tells two classes of one kind apart.
        strength: f64,
    },
}

/// How a line is drawn; lines differ in more than colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    Thin,
    Solid,
    Bold,
    Dashed,
    Dotted,
}

/// One bar, or one layer of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bar {
    /// Where it begins and ends along the axis.
    pub from: f64,
    pub to: f64,
    /// Where it stands and how far it reaches.
    pub base: f64,
    pub top: f64,
}

/// A budget's bound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limit {
    pub at: f64,
    pub name: String,
}

/// A budget's bound at one place of the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pin {
    pub x: f64,
    pub y: f64,
    pub name: String,
    /// Whether the series beside it went beyond. The name stands on the side that the series leaves free.
    pub broken: bool,
}

/// Something that happened once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub at: f64,
    pub name: String,
    pub ink: Ink,
}

/// For which page a chart is drawn. The narrow one is no smaller picture but one with fewer marks and bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A desktop window, or paper.
    Wide,
    /// A phone held upright.
    Narrow,
}

impl Layout {
    /// The picture's width in CSS pixels: a page of 960 px or a phone of 390 px, less its margins.
    pub(crate) fn width(self) -> f64 {
        match self {
            Self::Wide => 912.0,
            Self::Narrow => 358.0,
        }
    }

    /// The least room beside a plot for the words on its left and right. Charts of one page are read one above
    /// the other, so their plots begin and end at the same place unless a word needs more.
    pub(crate) fn sides(self) -> (f64, f64) {
        match self {
            Self::Wide => (68.0, 76.0),
            Self::Narrow => (58.0, 64.0),
        }
    }

    /// The size of its words in CSS pixels.
    pub(crate) fn text(self) -> f64 {
        match self {
            Self::Wide => 12.5,
            Self::Narrow => 12.0,
        }
    }

    /// The most marks along the horizontal axis.
    pub(crate) fn ticks(self) -> usize {
        match self {
            Self::Wide => 10,
            Self::Narrow => 4,
        }
    }

    /// The most bins along the horizontal axis: one is then at least 6 pixels wide.
    pub(crate) fn bins(self) -> usize {
        match self {
            Self::Wide => 120,
            Self::Narrow => 45,
        }
    }

    /// The most points of a line.
    pub(crate) fn points(self) -> usize {
        match self {
            Self::Wide => 400,
            Self::Narrow => 160,
        }
    }
}

impl Panel {
    /// A panel with nothing in it yet.
    pub(crate) fn new(title: impl Into<String>, height: f64, y: Axis) -> Self {
        let (series, limits, pins) = (Vec::new(), Vec::new(), Vec::new());
        Self { title: title.into(), height, y, series, limits, pins, blank: String::new() }
    }

    /// A panel with words instead of a plot.
    pub(crate) fn blank(title: impl Into<String>, why: impl Into<String>) -> Self {
        let axis = Axis {
            scale: super::scale::Scale::Linear { from: 0.0, to: 1.0 },
            unit: super::unit::Unit::Count,
            ticks: vec![],
        };
        Self { blank: why.into(), ..Self::new(title, 28.0, axis) }
    }
}

impl Series {
    /// A line through the points; places without a value break it.
    pub(crate) fn line(
        name: &str,
        ink: Ink,
        stroke: Stroke,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        let mut runs = vec![Vec::new()];
        for (x, y) in points {
            match (y, runs.last_mut()) {
                (Some(y), Some(run)) => run.push((x, y)),
                (None, Some(run)) if !run.is_empty() => runs.push(Vec::new()),
                (_, _) => (),
            }
        }
        runs.retain(|run| !run.is_empty());
        Self { name: name.to_owned(), ink, shape: Shape::Line { runs, stroke, filled: false } }
    }

    /// The same line over tinted ground.
    #[must_use]
    pub(crate) fn filled(mut self) -> Self {
        if let Shape::Line { filled, .. } = &mut self.shape {
            *filled = true;
        }
        self
    }

    /// Its highest value, or zero.
    pub(crate) fn highest(&self) -> f64 {
        match &self.shape {
            Shape::Line { runs, .. } => runs.iter().flatten().map(|(_, value)| *value).fold(0.0, f64::max),
            Shape::Bars { bars, .. } => bars.iter().map(|bar| bar.top).fold(0.0, f64::max),
        }
    }

    /// Whether there is anything to draw.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.shape {
            Shape::Line { runs, .. } => runs.is_empty(),
            Shape::Bars { bars, .. } => bars.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_breaks_where_nothing_was_measured() {
        let line = Series::line(
            "p50",
            Ink::Good,
            Stroke::Solid,
            [(0.0, None), (1.0, Some(1.0)), (2.0, None), (3.0, None), (4.0, Some(2.0))],
        );
        let Shape::Line { runs, .. } = line.shape else { panic!("a line") };
        assert_eq!(runs, [vec![(1.0, 1.0)], vec![(4.0, 2.0)]]);
    }

    #[test]
    fn a_line_without_any_value_is_empty() {
        assert!(Series::line("p50", Ink::Good, Stroke::Solid, [(0.0, None)]).is_empty());
    }
}
