//! Where the parts of a figure stand on a page of a given width: plots, titles, legends, marks. Pure geometry.

use super::figure::{Figure, Layout, Mark, Panel, Series, Shape};
use super::pen::{Point, shortened, width_of};
use super::place;

/// Height of a line of words, as a multiple of their size.
const LINE: f64 = 1.35;
/// Room between a plot and the words beside it.
const PAD: f64 = 8.0;
/// Side of a swatch in a legend, and the room behind it.
pub(crate) const SWATCH: f64 = 10.0;

/// A plot's four sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// One panel's places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub frame: Frame,
    /// The middle of its title.
    pub title: f64,
    /// The series named in its legend, each with the left middle of its swatch.
    pub legend: Vec<(usize, Point)>,
}

/// A figure's places.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arranged {
    pub panels: Vec<Place>,
    /// The middle of each mark's name, and whether the name stands before its line.
    pub marks: Vec<(f64, bool)>,
    pub height: f64,
}

/// Arranges a figure for a page.
pub(crate) fn arrange(figure: &Figure, layout: Layout) -> Arranged {
    let line = layout.text() * LINE;
    let (left, right) = sides(figure, layout);
    let (rows, before) = mark_rows(figure, layout, left, right);
    let most_rows = rows.iter().map(|row| row + 1).max().unwrap_or(0);
    let mut y = 2.0;
    let mut panels = Vec::with_capacity(figure.panels.len());
    for (nth, panel) in figure.panels.iter().enumerate() {
        let title = y + line / 2.0;
        let (legend, lines) = legend(panel, layout, y + line * 1.6);
        let over = if nth == 0 { most_rows as f64 * line } else { 0.0 };
        let top = y + line + lines as f64 * line + over + PAD;
        panels.push(Place { frame: Frame { left, right, top, bottom: top + panel.height }, title, legend });
        y = top + panel.height + PAD * 2.0;
    }
    let top = panels.first().map_or(0.0, |place| place.frame.top);
    let marks = rows.iter().zip(before).map(|(row, before)| (top - PAD / 2.0 - (*row as f64 + 0.5) * line, before));
    Arranged { panels, marks: marks.collect(), height: y - PAD + line }
}

/// The sides of all plots: room for the widest word on either side.
fn sides(figure: &Figure, layout: Layout) -> (f64, f64) {
    let width = |text: &str| width_of(text, layout.text(), false);
    let ticks = figure.panels.iter().flat_map(|panel| panel.y.ticks.iter().map(|tick| panel.y.unit.label(*tick)));
    let (left, right) = layout.sides();
    let left = ticks.map(|label| width(&label) + PAD).fold(left, f64::max);
    let width = |name: &str| width(&end_name(name, layout)) + PAD;
    let names = figure.panels.iter().flat_map(|panel| panel.series.iter().filter(|series| is_line(series)));
    let right = names.map(|series| width(&series.name)).fold(right, f64::max);
    (left, layout.width() - right)
}

/// A line's name as it stands at the line's end, where it may take a fifth of the page at most.
pub(crate) fn end_name(name: &str, layout: Layout) -> String {
    shortened(name, layout.width() / 5.0, layout.text(), false)
}

/// Lines are named at their ends, bars in the legend.
pub(crate) fn is_line(series: &Series) -> bool {
    match series.shape {
        Shape::Line { .. } => true,
        Shape::Bars { .. } => false,
    }
}

/// The places of the names of bars, when there are several kinds, and the lines they take.
fn legend(panel: &Panel, layout: Layout, middle: f64) -> (Vec<(usize, Point)>, usize) {
    let bars: Vec<usize> = (0..panel.series.len()).filter(|nth| !is_line(&panel.series[*nth])).collect();
    if bars.len() < 2 {
        return (Vec::new(), 0);
    }
    let width = |nth: &usize| SWATCH * 1.6 + width_of(&panel.series[*nth].name, layout.text(), false);
    let widths: Vec<f64> = bars.iter().map(width).collect();
    let places = place::lines(&widths, 2.0 * PAD, layout.width());
    let lines = places.last().map_or(0, |(_, line)| line + 1);
    let point = |(x, line): &(f64, usize)| (*x, middle + *line as f64 * layout.text() * LINE);
    (bars.into_iter().zip(places.iter().map(point)).collect(), lines)
}

/// The row of each mark's name, counted from the plot upwards, and whether it stands before its line.
fn mark_rows(figure: &Figure, layout: Layout, left: f64, right: f64) -> (Vec<usize>, Vec<bool>) {
    let span = |mark: &Mark| {
        let x = left + figure.x.scale.share(mark.at) * (right - left);
        let width = width_of(&mark.name, layout.text(), false) + PAD / 2.0;
        let before = x + width > layout.width();
        (if before { (x - width, x) } else { (x, x + width) }, before)
    };
    let (spans, before): (Vec<_>, Vec<_>) = figure.marks.iter().map(span).unzip();
    (place::rows(&spans, PAD), before)
}

impl Frame {
    /// Where a share of the horizontal axis stands.
    pub(crate) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    /// Where a share of the vertical axis stands.
    pub(crate) fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis::Axis;
    use crate::chart::figure::Stroke;
    use crate::chart::ink::Ink;
    use crate::chart::unit::Unit;

    fn figure(name: &str, marks: &[f64]) -> Figure {
        let mut panel = Panel::new("Acts", 100.0, Axis::from_zero(9.0, Unit::Count, 3));
        panel.series.push(Series::line(name, Ink::Good, Stroke::Solid, [(0.0, Some(1.0)), (9.0, Some(9.0))]));
        let mark = |at: &f64| Mark { at: *at, name: "first 429".to_owned(), ink: Ink::Amber };
        let marks = marks.iter().map(mark).collect();
        Figure { says: String::new(), x: Axis::time(0.0, 10.0, 5), panels: vec![panel.clone(), panel], marks }
    }

    #[test]
    fn plots_of_one_page_begin_and_end_at_the_same_place_whatever_they_count() {
        for layout in [Layout::Wide, Layout::Narrow] {
            let frames = ["ok", "planned"].map(|name| arrange(&figure(name, &[]), layout).panels[0].frame);
            assert_eq!((frames[0].left, frames[0].right), (frames[1].left, frames[1].right));
        }
    }

    #[test]
    fn a_name_as_long_as_the_page_leaves_most_of_it_to_the_plot() {
        for layout in [Layout::Wide, Layout::Narrow] {
            let frame = arrange(&figure(&"guess ".repeat(99), &[]), layout).panels[0].frame;
            assert!(frame.right - frame.left > 0.6 * layout.width(), "{frame:?}");
        }
    }

    #[test]
    fn panels_stand_one_below_the_other() {
        let arranged = arrange(&figure("ok", &[]), Layout::Narrow);
        let [one, other] = [&arranged.panels[0], &arranged.panels[1]];
        assert!(
            one.frame.bottom < other.title && other.title < other.frame.top && other.frame.bottom < arranged.height
        );
    }

    #[test]
    fn marks_at_the_same_time_are_named_one_above_the_other() {
        let marks = arrange(&figure("ok", &[5.0, 5.1, 0.0]), Layout::Narrow).marks;
        assert!(marks[1].0 < marks[0].0, "{marks:?}");
        assert!((marks[2].0 - marks[0].0).abs() < 1e-9, "{marks:?}");
    }

    #[test]
    fn a_mark_at_the_right_end_is_named_before_its_line() {
        let marks = arrange(&figure("ok", &[0.0, 10.0]), Layout::Narrow).marks;
        assert_eq!(marks.iter().map(|(_, before)| *before).collect::<Vec<_>>(), [false, false]);
        let wide_name = Figure {
            marks: vec![Mark { at: 10.0, name: "load ends here".to_owned(), ink: Ink::Muted }],
            ..figure("ok", &[])
        };
        assert!(arrange(&wide_name, Layout::Narrow).marks[0].1);
    }
}
