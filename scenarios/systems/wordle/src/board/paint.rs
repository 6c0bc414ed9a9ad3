//! The brush: shapes and letters in points onto a bitmap in pixels.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, ScaleFont, point};
use tiny_skia::{
    Color, FillRule, GradientStop, LinearGradient, Paint, PathBuilder, Pixmap, Point, Rect, Shader, SpreadMode,
    Transform,
};

use super::SIZE;
use super::layout::Area;
use crate::init_data::PlayerId;
use crate::puzzle::Mark;

static FONT: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(dejavu::sans::bold()).expect("the bundled font is a font"));

/// An opaque colour: red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

pub(super) const INK: Colour = Colour(240, 242, 245);
pub(super) const QUIET: Colour = Colour(150, 158, 170);
pub(super) const CARD: Colour = Colour(32, 36, 44);
const TOP: Colour = Colour(26, 30, 40);
const BOTTOM: Colour = Colour(12, 13, 17);

impl Colour {
    /// The colour of a tile; nothing: not guessed yet.
    pub(super) fn of_mark(mark: Option<Mark>) -> Self {
        match mark {
            None => Self(46, 51, 61),
            Some(Mark::Absent) => Self(78, 84, 96),
            Some(Mark::Present) => Self(201, 168, 62),
            Some(Mark::Correct) => Self(83, 158, 92),
        }
    }

    /// The colour of a player without a photo: theirs for ever.
    pub(super) fn of_player(player: PlayerId) -> Self {
        // Ids of one group lie close together: the golden ratio spreads them.
        let turn = player.0.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        Self(70 + (turn % 97) as u8, 150 - (turn % 89) as u8, 90 + (turn % 107) as u8)
    }

    fn opaque(self) -> Color {
        Color::from_rgba8(self.0, self.1, self.2, 255)
    }
}

/// Draws onto one bitmap.
#[derive(Debug)]
pub(super) struct Brush {
    bitmap: Pixmap,
    scale: u32,
}

impl Brush {
    pub(super) fn new(bitmap: Pixmap, scale: u32) -> Self {
        Self { bitmap, scale }
    }

    pub(super) fn into_bitmap(self) -> Pixmap {
        self.bitmap
    }

    /// A fall of light from top to bottom.
    pub(super) fn background(&mut self) {
        let (width, height) = (SIZE.0 as f32, SIZE.1 as f32);
        let stops = vec![GradientStop::new(0.0, TOP.opaque()), GradientStop::new(1.0, BOTTOM.opaque())];
        let (from, to) = (Point::from_xy(0.0, 0.0), Point::from_xy(width * 0.4, height));
        let light = LinearGradient::new(from, to, stops, SpreadMode::Pad, Transform::identity());
        let shader = light.unwrap_or(Shader::SolidColor(TOP.opaque()));
        let everything = Rect::from_xywh(0.0, 0.0, width, height).expect("a board's size is not zero");
        let paint = Paint { shader, ..Paint::default() };
        self.bitmap.fill_rect(everything, &paint, transform(self.scale), None);
    }

    /// A rectangle with round corners.
    pub(super) fn rounded(&mut self, area: Area, radius: f32, colour: Colour) {
        let (left, top, width, height) = area;
        let (right, bottom) = (left + width, top + height);
        let mut path = PathBuilder::new();
        path.move_to(left + radius, top);
        path.line_to(right - radius, top);
        path.quad_to(right, top, right, top + radius);
        path.line_to(right, bottom - radius);
        path.quad_to(right, bottom, right - radius, bottom);
        path.line_to(left + radius, bottom);
        path.quad_to(left, bottom, left, bottom - radius);
        path.line_to(left, top + radius);
        path.quad_to(left, top, left + radius, top);
        path.close();
        self.fill(path, colour);
    }

    /// A disc: centre and radius.
    pub(super) fn disc(&mut self, (x, y, radius): (f32, f32, f32), colour: Colour) {
        let mut path = PathBuilder::new();
        path.push_circle(x, y, radius);
        self.fill(path, colour);
    }

    fn fill(&mut self, path: PathBuilder, colour: Colour) {
        let Some(path) = path.finish() else { return };
        let mut paint = Paint::default();
        paint.set_color(colour.opaque());
        self.bitmap.fill_path(&path, &paint, FillRule::Winding, transform(self.scale), None);
    }

    /// A line of text, from its base line's left end.
    pub(super) fn text(&mut self, from: (f32, f32), size: f32, colour: Colour, text: &str) {
        let scale = self.scale as f32;
        let font = FONT.as_scaled(size * scale);
        let (mut x, y) = (from.0 * scale, from.1 * scale);
        for letter in text.chars() {
            let glyph = font.glyph_id(letter);
            let advance = font.h_advance(glyph);
            let placed = glyph.with_scale_and_position(size * scale, point(x, y));
            if let Some(outline) = FONT.outline_glyph(placed) {
                let corner = outline.px_bounds().min;
                outline.draw(|dx, dy, cover| self.blend((corner.x as i32, corner.y as i32), (dx, dy), cover, colour));
            }
            x += advance;
        }
    }

    /// Mixes a colour into one pixel; outside the board nothing happens.
    fn blend(&mut self, corner: (i32, i32), offset: (u32, u32), cover: f32, colour: Colour) {
        let (width, height) = (self.bitmap.width(), self.bitmap.height());
        let x = corner.0.checked_add_unsigned(offset.0).and_then(|x| u32::try_from(x).ok()).filter(|x| *x < width);
        let y = corner.1.checked_add_unsigned(offset.1).and_then(|y| u32::try_from(y).ok()).filter(|y| *y < height);
        let (Some(x), Some(y)) = (x, y) else { return };
        let start = (y * width + x) as usize * 4;
        let pixel = &mut self.bitmap.data_mut()[start..start + 3];
        for (value, ink) in pixel.iter_mut().zip([colour.0, colour.1, colour.2]) {
            *value = (f32::from(*value) + (f32::from(ink) - f32::from(*value)) * cover.min(1.0)) as u8;
        }
    }
}

fn transform(scale: u32) -> Transform {
    Transform::from_scale(scale as f32, scale as f32)
}
