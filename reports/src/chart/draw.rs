//! Puts a figure on a surface: grid, series, limits, marks, words.

use plotters::prelude::DrawingBackend;

use super::arrange::{Arranged, Frame, Place, SWATCH, arrange, end_name, is_line};
use super::axis::Axis;
use super::figure::{Bar, Figure, Layout, Panel, Series, Shape, Stroke};
use super::ink::Ink;
use super::pen::{Anchor, Pen, Point, Words, shortened, width_of};
use super::place;

/// The tint of the ground beneath a line.
const TINT: f64 = 0.14;
/// A line that ends before this share of the plot is named where it ends, any other in the margin.
const EARLY: f64 = 0.85;
/// The gap between two bars, where they are wide enough to have one.
const GAP: f64 = 1.0;

/// Draws a figure, its top at `top`; returns its height.
pub(crate) fn draw<DB: DrawingBackend>(pen: &Pen<'_, DB>, figure: &Figure, layout: Layout, top: f64) -> f64 {
    let arranged = shifted(arrange(figure, layout), top);
    for (panel, place) in figure.panels.iter().zip(&arranged.panels) {
        let sheet = Sheet { pen, figure, panel, frame: place.frame, layout };
        sheet.draw(place);
    }
    draw_marks(pen, figure, layout, &arranged);
    arranged.height
}

fn shifted(mut arranged: Arranged, down: f64) -> Arranged {
    for place in &mut arranged.panels {
        place.frame.top += down;
        place.frame.bottom += down;
        place.title += down;
        for (_, (_, y)) in &mut place.legend {
            *y += down;
        }
    }
    for (y, _) in &mut arranged.marks {
        *y += down;
    }
    arranged
}

fn draw_marks<DB: DrawingBackend>(pen: &Pen<'_, DB>, figure: &Figure, layout: Layout, arranged: &Arranged) {
    for (mark, (y, before)) in figure.marks.iter().zip(&arranged.marks) {
        for (nth, place) in arranged.panels.iter().enumerate() {
            let x = place.frame.x(figure.x.scale.share(mark.at));
            let from = if nth == 0 { y - layout.text() / 2.0 } else { place.frame.top };
            pen.line(&[(x, from), (x, place.frame.bottom)], mark.ink, Stroke::Thin);
        }
        let Some(place) = arranged.panels.first() else { continue };
        let x = place.frame.x(figure.x.scale.share(mark.at));
        let (x, anchor) = if *before { (x - 4.0, Anchor::End) } else { (x + 4.0, Anchor::Start) };
        pen.text(&mark.name, (x, *y), Words { size: layout.text(), ink: mark.ink, anchor, bold: false });
    }
}

/// One panel on its way to the surface.
struct Sheet<'a, DB: DrawingBackend> {
    pen: &'a Pen<'a, DB>,
    figure: &'a Figure,
    panel: &'a Panel,
    frame: Frame,
    layout: Layout,
}

impl<DB: DrawingBackend> Sheet<'_, DB> {
    fn draw(&self, place: &Place) {
        self.title(place);
        if self.panel.series.is_empty() {
            self.words(
                &self.panel.blank,
                (self.frame.left, self.frame.top + self.layout.text() / 2.0),
                Ink::Muted,
                Anchor::Start,
            );
            return;
        }
        self.grid();
        for series in &self.panel.series {
            self.series(series);
        }
        self.limits();
        self.pins();
        self.names();
    }

    fn title(&self, place: &Place) {
        let words = Words { size: self.layout.text() + 0.5, ink: Ink::Text, anchor: Anchor::Start, bold: true };
        self.pen.text(&self.panel.title, (0.0, place.title), words);
        for (nth, (x, y)) in &place.legend {
            let series = &self.panel.series[*nth];
            let (top, bottom) = (y - SWATCH / 2.0, y + SWATCH / 2.0);
            self.pen.rect((*x, top), (x + SWATCH, bottom), series.ink, strength_of(series));
            self.words(&series.name, (x + SWATCH * 1.6, *y), Ink::Text, Anchor::Start);
        }
    }

    fn grid(&self) {
        let Frame { left, right, bottom, .. } = self.frame;
        for tick in &self.panel.y.ticks {
            let y = self.y(*tick);
            self.pen.line(&[(left, y), (right, y)], Ink::Grid, Stroke::Thin);
            self.words(&self.panel.y.unit.label(*tick), (left - 8.0, y), Ink::Muted, Anchor::End);
        }
        self.pen.line(&[(left, bottom), (right, bottom)], Ink::Neutral, Stroke::Thin);
        for tick in &self.figure.x.ticks {
            let x = self.frame.x(self.figure.x.scale.share(*tick));
            self.pen.line(&[(x, bottom), (x, bottom + 4.0)], Ink::Neutral, Stroke::Thin);
        }
        if self.figure.panels.last().is_some_and(|last| std::ptr::eq(last, self.panel)) {
            self.x_labels();
        }
    }

    /// The words under the horizontal axis, those left out that would touch the one before.
    fn x_labels(&self) {
        let Axis { scale, unit, ticks } = &self.figure.x;
        let mut clear = f64::MIN;
        for tick in ticks {
            let (x, label) = (self.frame.x(scale.share(*tick)), unit.label(*tick));
            let half = width_of(&label, self.layout.text(), false) / 2.0;
            if x - half < clear {
                continue;
            }
            clear = x + half + 6.0;
            self.words(&label, (x, self.frame.bottom + 6.0 + self.layout.text() / 2.0), Ink::Muted, Anchor::Middle);
        }
    }

    fn series(&self, series: &Series) {
        match &series.shape {
            Shape::Line { runs, stroke, filled } => {
                for run in runs {
                    let points: Vec<Point> = run.iter().map(|(x, y)| self.point(*x, *y)).collect();
                    if *filled && points.len() > 1 {
                        self.pen.area(&self.grounded(&points), series.ink, TINT);
                    }
                    self.pen.line(&points, series.ink, *stroke);
                }
            }
            Shape::Bars { bars, strength } => {
                for bar in bars {
                    self.bar(bar, series.ink, *strength);
                }
            }
        }
    }

    /// The outline of the ground beneath a line.
    fn grounded(&self, points: &[Point]) -> Vec<Point> {
        let ends = points.last().into_iter().chain(points.first());
        let ground = ends.map(|(x, _)| (*x, self.frame.bottom));
        points.iter().copied().chain(ground).collect()
    }

    /// One bar; whatever is there is at least a pixel high, so that a single failure can be seen.
    fn bar(&self, bar: &Bar, ink: Ink, strength: f64) {
        let ((left, bottom), (right, top)) = (self.point(bar.from, bar.base), self.point(bar.to, bar.top));
        let gap = if right - left > 4.0 * GAP { GAP } else { 0.0 };
        self.pen.rect((left, top.min(bottom - 1.0)), (right - gap, bottom), ink, strength);
    }

    fn limits(&self) {
        for limit in &self.panel.limits {
            let y = self.y(limit.at);
            self.pen.line(&[(self.frame.left, y), (self.frame.right, y)], Ink::Bad, Stroke::Dashed);
            let over = y - self.layout.text() * 0.8;
            let middle = if over < self.frame.top { y + self.layout.text() * 0.8 } else { over };
            self.words(&limit.name, (self.frame.left + 6.0, middle), Ink::Bad, Anchor::Start);
        }
    }

    fn pins(&self) {
        let places: Vec<Point> = self.panel.pins.iter().map(|pin| self.point(pin.x, pin.y)).collect();
        let wanted: Vec<f64> = places.iter().map(|(_, y)| *y).collect();
        let middles = place::spread(&wanted, self.layout.text() * 1.2, self.frame.top, self.frame.bottom);
        for ((pin, (x, y)), middle) in self.panel.pins.iter().zip(places).zip(middles) {
            let (ink, name_x, anchor) =
                if pin.broken { (Ink::Bad, x + 14.0, Anchor::Start) } else { (Ink::Teal, x - 14.0, Anchor::End) };
            self.pen.line(&[(x - 9.0, y), (x + 9.0, y)], ink, Stroke::Bold);
            let name = shortened(&pin.name, self.layout.width() * 0.4, self.layout.text(), false);
            self.words(&name, (name_x, middle), ink, anchor);
        }
    }

    /// The names of the lines, each at the end of its own, moved apart where they would touch.
    fn names(&self) {
        let ends = self.panel.series.iter().filter(|series| is_line(series));
        let ends: Vec<(&Series, Point)> = ends.filter_map(|series| Some((series, self.end_of(series)?))).collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let half = self.layout.text() * 0.6;
        let middles = place::spread(&wanted, 2.0 * half, self.frame.top, self.frame.bottom - half);
        let last = ends.iter().map(|(_, (x, _))| *x).fold(self.frame.left, f64::max);
        let x = if last < self.frame.x(EARLY) { last } else { self.frame.right } + 6.0;
        for ((series, _), middle) in ends.iter().zip(middles) {
            self.words(&end_name(&series.name, self.layout), (x, middle), series.ink, Anchor::Start);
        }
    }

    fn end_of(&self, series: &Series) -> Option<Point> {
        match &series.shape {
            Shape::Line { runs, .. } => runs.last()?.last().map(|(x, y)| self.point(*x, *y)),
            Shape::Bars { .. } => None,
        }
    }

    fn words(&self, text: &str, at: Point, ink: Ink, anchor: Anchor) {
        self.pen.text(text, at, Words { size: self.layout.text(), ink, anchor, bold: false });
    }

    fn point(&self, x: f64, y: f64) -> Point {
        (self.frame.x(self.figure.x.scale.share(x)), self.y(y))
    }

    fn y(&self, value: f64) -> f64 {
        self.frame.y(self.panel.y.scale.share(value))
    }
}

fn strength_of(series: &Series) -> f64 {
    match series.shape {
        Shape::Line { .. } => 1.0,
        Shape::Bars { strength, .. } => strength,
    }
}
