//! Strokes, fills and words on a surface, in CSS pixels. The one place that calls plotters to draw.
//!
//! Plotters counts in whole pixels; a pen multiplies by a factor first, so that an SVG keeps fractions of a
//! pixel and a PNG is sharp.

use std::sync::Once;

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, DashedPathElement, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, ShapeStyle, TextStyle, register_font};

use super::figure::Stroke;
use super::ink::Ink;

/// The name the bundled font is registered under.
const FONT: &str = "DejaVu Sans";

/// Plotters takes the size of a font to be 1.24 times its em, and so divides by that.
const SIZE_OF_EM: f64 = 1.24;

/// A place in CSS pixels.
pub(crate) type Point = (f64, f64);

/// Which end of a text stands at its place; vertically it is centred there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How words look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Words {
    pub size: f64,
    pub ink: Ink,
    pub anchor: Anchor,
    pub bold: bool,
}

/// Draws on one surface.
pub(crate) struct Pen<'a, DB: DrawingBackend> {
    /// The surface.
    pub area: &'a DrawingArea<DB, Shift>,
    /// Surface pixels in a CSS pixel.
    pub factor: f64,
    /// The surface's colour for an ink.
    pub colour: fn(Ink) -> RGBColor,
}

impl<DB: DrawingBackend> Pen<'_, DB> {
    /// A line through the points; a single point becomes a dot.
    pub(crate) fn line(&self, points: &[Point], ink: Ink, stroke: Stroke) {
        let (width, dash) = match stroke {
            Stroke::Thin => (1.0, None),
            Stroke::Solid => (1.75, None),
            Stroke::Bold => (2.75, None),
            Stroke::Dashed => (1.75, Some((6.0, 4.0))),
            Stroke::Dotted => (1.75, Some((1.75, 3.25))),
        };
        let style = self.style(ink, 1.0).stroke_width(self.length(width) as u32);
        match (points, dash) {
            ([point], _) => self.dot(*point, 2.0, ink),
            (points, None) => self.put(&PathElement::new(self.places(points), style)),
            (points, Some((on, off))) => {
                self.put(&DashedPathElement::new(self.places(points), self.length(on), self.length(off), style));
            }
        }
    }

    /// A filled outline.
    pub(crate) fn area(&self, outline: &[Point], ink: Ink, opacity: f64) {
        self.put(&Polygon::new(self.places(outline), self.style(ink, opacity)));
    }

    /// A filled rectangle.
    pub(crate) fn rect(&self, one: Point, other: Point, ink: Ink, opacity: f64) {
        self.put(&Rectangle::new([self.place(one), self.place(other)], self.style(ink, opacity)));
    }

    /// A filled circle.
    pub(crate) fn dot(&self, at: Point, radius: f64, ink: Ink) {
        self.put(&Circle::new(self.place(at), self.length(radius), self.style(ink, 1.0)));
    }

    /// Words beside, around or before a place.
    pub(crate) fn text(&self, text: &str, at: Point, words: Words) {
        let anchor = match words.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let weight = if words.bold { FontStyle::Bold } else { FontStyle::Normal };
        let size = words.size * SIZE_OF_EM * self.factor;
        let style = TextStyle::from((font(), size, weight).into_font());
        let colour = (self.colour)(words.ink);
        let style = style.color(&colour).pos(Pos::new(anchor, VPos::Center));
        self.put(&Text::new(text.to_owned(), self.place(at), style));
    }

    fn style(&self, ink: Ink, opacity: f64) -> ShapeStyle {
        (self.colour)(ink).mix(opacity).filled()
    }

    fn places(&self, points: &[Point]) -> Vec<(i32, i32)> {
        points.iter().map(|point| self.place(*point)).collect()
    }

    fn place(&self, (x, y): Point) -> (i32, i32) {
        (self.length(x), self.length(y))
    }

    fn length(&self, pixels: f64) -> i32 {
        (pixels * self.factor).round() as i32
    }

    fn put<'e, E>(&self, element: &'e E)
    where
        &'e E: PointCollection<'e, (i32, i32)>,
        E: Drawable<DB>,
    {
        self.area.draw(element).expect("both surfaces are in memory and the font is bundled: drawing cannot fail");
    }
}

/// How wide a text is in CSS pixels. The page's own font is narrower than the bundled one: room left is room to spare.
pub(crate) fn width_of(text: &str, size: f64, bold: bool) -> f64 {
    let weight = if bold { FontStyle::Bold } else { FontStyle::Normal };
    // Measured large: plotters answers in whole pixels.
    let (width, _) = (font(), 100.0, weight).into_font().box_size(text).expect("the bundled font is registered");
    f64::from(width) * size * SIZE_OF_EM / 100.0
}

/// As much of a text as there is room for.
pub(crate) fn shortened(text: &str, room: f64, size: f64, bold: bool) -> String {
    if width_of(text, size, bold) <= room {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while short.pop().is_some() && width_of(&short, size, bold) + width_of("…", size, bold) > room {}
    format!("{}…", short.trim_end())
}

/// A text in lines that have room, broken between words; a word that has none by itself is shortened, and so is a text
/// that needs more than `most` lines.
pub(crate) fn wrapped(text: &str, (room, most): (f64, usize), size: f64, bold: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if !line.is_empty() && width_of(&longer, size, bold) > room {
                lines.push(std::mem::replace(&mut line, word.to_owned()));
            } else {
                line = longer;
            }
        }
        lines.push(line);
    }
    if lines.len() > most {
        lines.truncate(most);
        lines.last_mut().into_iter().for_each(|line| line.push_str(" …"));
    }
    lines.into_iter().map(|line| shortened(&line, room, size, bold)).collect()
}

/// The bundled font's name, registered at the first use.
fn font() -> &'static str {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        let fonts = [(FontStyle::Normal, dejavu::sans::regular()), (FontStyle::Bold, dejavu::sans::bold())];
        for (style, bytes) in fonts {
            assert!(register_font(FONT, style, bytes).is_ok(), "the bundled font is an OpenType font");
        }
    });
    FONT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_words_are_wider_and_bold_ones_wider_still() {
        assert!(width_of("planned", 12.0, false) > width_of("ok", 12.0, false));
        assert!(width_of("planned", 12.0, true) > width_of("planned", 12.0, false));
    }

    #[test]
    fn words_that_have_room_stay_whole_and_others_end_in_an_ellipsis() {
        let room = width_of("planned", 12.0, false);
        assert_eq!(shortened("planned", room, 12.0, false), "planned");
        let short = shortened("planned and sent", room, 12.0, false);
        assert!(short.ends_with('…') && width_of(&short, 12.0, false) <= room, "{short}");
        assert_eq!(shortened("planned", 0.0, 12.0, false), "…");
    }

    #[test]
    fn words_that_have_no_room_on_a_line_go_on_the_next() {
        let room = width_of("planned and …", 12.0, false);
        let lines = |text: &str, most| wrapped(text, (room, most), 12.0, false);
        assert_eq!(lines("planned and sent", 9), ["planned and", "sent"]);
        assert_eq!(lines("planned", 9), ["planned"]);
        assert_eq!(lines("ok\n  at last", 9), ["ok", "at last"]);
        assert_eq!(lines("planned and sent and planned and seen", 2), ["planned and", "sent and …"]);
        let long = lines("and plannedandsentandseen", 9);
        assert!(long.len() == 2 && long[1].ends_with('…'), "{long:?}");
    }

    #[test]
    fn twice_the_size_is_twice_as_wide() {
        let (one, two) = (width_of("planned", 12.0, false), width_of("planned", 24.0, false));
        assert!((two - 2.0 * one).abs() < 1e-9);
    }
}
