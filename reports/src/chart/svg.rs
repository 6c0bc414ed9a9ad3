//! A figure as SVG inside a page: scalable, its colours the page's variables, its words in the page's font.

use plotters::backend::SVGBackend;
use plotters::drawing::IntoDrawingArea;

use super::arrange::arrange;
use super::draw::draw;
use super::figure::{Figure, Layout};
use super::ink::{Ink, to_variables};
use super::pen::Pen;

/// Parts of a CSS pixel that a coordinate can tell apart.
const FACTOR: f64 = 4.0;

/// Draws a figure. The element has no size of its own and takes the width it is given.
pub(crate) fn svg(figure: &Figure, layout: Layout) -> String {
    let size = (layout.width() * FACTOR, arrange(figure, layout).height * FACTOR);
    let size = (size.0.ceil() as u32, size.1.ceil() as u32);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let pen = Pen { area: &area, factor: FACTOR, colour: Ink::stand_in };
        draw(&pen, figure, layout, 0.0);
        area.present().expect("an SVG in memory can always be closed");
    }
    embedded(&text, size)
}

/// The SVG text as a part of a page: without a name space, a fixed size or a font, which the page gives.
fn embedded(text: &str, (width, height): (u32, u32)) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let body = body.replace('\n', "").replace(" opacity=\"1\"", "").replace(" font-family=\"DejaVu Sans\"", "");
    format!("<svg viewBox=\"0 0 {width} {height}\" aria-hidden=\"true\">{}", to_variables(&body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::axis::Axis;
    use crate::chart::figure::{Panel, Series, Stroke};
    use crate::chart::unit::Unit;

    #[test]
    fn a_figure_takes_width_colours_and_font_from_its_page_and_shows_names_as_text() {
        let mut panel = Panel::new("a <b> & c", 100.0, Axis::from_zero(9.0, Unit::Count, 3));
        panel.series.push(Series::line("ok", Ink::Good, Stroke::Solid, [(0.0, Some(1.0)), (9.0, Some(9.0))]));
        let figure = Figure { says: String::new(), x: Axis::time(0.0, 10.0, 5), panels: vec![panel], marks: vec![] };
        let svg = svg(&figure, Layout::Narrow);
        assert!(svg.starts_with(r#"<svg viewBox="0 0 1432 "#) && svg.ends_with("</svg>"), "{svg}");
        assert!(svg.contains(r#"stroke="var(--good)""#) && svg.contains(">a &lt;b&gt; &amp; c</text>"), "{svg}");
        for foreign in ["xmlns", "font-family", "#F10D", "<b>"] {
            assert!(!svg.contains(foreign), "{foreign} in {svg}");
        }
    }
}
