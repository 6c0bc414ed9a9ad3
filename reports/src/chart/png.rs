//! Figures as one PNG, in the bundled font, on white.

use plotters::backend::BitMapBackend;
use plotters::drawing::IntoDrawingArea;

use super::arrange::arrange;
use super::draw::draw;
use super::figure::{Figure, Layout};
use super::ink::Ink;
use super::pen::{Anchor, Pen, Words, wrapped};

/// Surface pixels in a CSS pixel: sharp on today's screens.
const FACTOR: f64 = 2.0;
/// The margin around the picture and between its figures, in CSS pixels.
const MARGIN: f64 = 28.0;

/// What a system wrote last may be long, and is told elsewhere.
const MOST_LINES: usize = 4;
/// How far the lines of words are apart, as their size.
const LEADING: f64 = 1.6;

/// Words above the figures, in as many lines as they need.
pub(crate) struct Headline {
    pub text: String,
    pub size: f64,
    pub ink: Ink,
    pub bold: bool,
}

impl Headline {
    /// One for each line.
    fn lines(&self) -> impl Iterator<Item = Self> + '_ {
        let lines = wrapped(&self.text, (Layout::Wide.width(), MOST_LINES), self.size, self.bold);
        lines.into_iter().map(|text| Self { text, ..*self })
    }
}

/// Draws headlines and figures one below the other and encodes them.
pub(crate) fn png(headlines: &[Headline], figures: &[Figure]) -> Vec<u8> {
    let heights = figures.iter().map(|figure| arrange(figure, Layout::Wide).height + MARGIN);
    let headlines: Vec<Headline> = headlines.iter().flat_map(Headline::lines).collect();
    let words = headlines.iter().map(|line| line.size * LEADING);
    let (width, height) = (Layout::Wide.width() + 2.0 * MARGIN, words.chain(heights).sum::<f64>() + 2.0 * MARGIN);
    let size = ((width * FACTOR) as u32, (height * FACTOR) as u32);
    let mut pixels = vec![0xff; size.0 as usize * size.1 as usize * 3];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
        let inner = area.margin(MARGIN * FACTOR, MARGIN * FACTOR, MARGIN * FACTOR, MARGIN * FACTOR);
        paint(&Pen { area: &inner, factor: FACTOR, colour: Ink::on_white }, &headlines, figures);
        area.present().expect("a picture in memory needs no device");
    }
    encode(&pixels, size)
}

fn paint(pen: &Pen<'_, BitMapBackend<'_>>, headlines: &[Headline], figures: &[Figure]) {
    let mut top = 0.0;
    for line in headlines {
        let words = Words { size: line.size, ink: line.ink, anchor: Anchor::Start, bold: line.bold };
        pen.text(&line.text, (0.0, top + line.size * 0.6), words);
        top += line.size * LEADING;
    }
    for figure in figures {
        top += MARGIN;
        top += draw(pen, figure, Layout::Wide, top);
    }
}

fn encode(pixels: &[u8], (width, height): (u32, u32)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
    written.expect("the buffer is as long as its size says, and memory can be written to");
    bytes
}
