//! Where everything on a board goes, in points. PURE.

use crate::puzzle::{GUESSES, LETTERS};

/// The part of the board that holds cards: left, top, width, height.
const FIELD: (f32, f32, f32, f32) = (20.0, 120.0, 760.0, 860.0);
const GAP: f32 = 8.0;
/// The strip of a card that holds face and name.
const STRIP: f32 = 34.0;
/// The size of a name; a letter of it is about 0.7 of that wide.
pub(super) const NAME_SIZE: f32 = 17.0;
const BIGGEST_TILE: f32 = 44.0;
/// More players than this are counted but have no card.
const MOST_CARDS: usize = 40;

/// A rectangle: left, top, width, height.
pub(super) type Area = (f32, f32, f32, f32);

/// How a number of cards shares the field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Layout {
    cards: usize,
    columns: usize,
    width: f32,
    height: f32,
}

/// One card's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    left: f32,
    top: f32,
    width: f32,
    height: f32,
}

impl Layout {
    /// The number of columns that makes the tiles largest.
    pub(super) fn of(players: usize) -> Self {
        let cards = players.min(MOST_CARDS);
        let best = (2..=8).max_by(|one, other| tile_size(cards, *one).total_cmp(&tile_size(cards, *other)));
        let columns = best.unwrap_or(1);
        let (width, height) = cell(cards, columns);
        Self { cards, columns, width, height }
    }

    /// How many cards are drawn.
    pub(super) fn cards(self) -> usize {
        self.cards
    }

    /// The place of a card, counted from 0.
    pub(super) fn spot(self, place: usize) -> Spot {
        let (row, column) = (place / self.columns, place % self.columns);
        Spot {
            left: FIELD.0 + column as f32 * self.width,
            top: FIELD.1 + row as f32 * self.height,
            width: self.width - GAP,
            height: self.height - GAP,
        }
    }
}

fn cell(cards: usize, columns: usize) -> (f32, f32) {
    let rows = cards.div_ceil(columns).max(2);
    (FIELD.2 / columns as f32, FIELD.3 / rows as f32)
}

fn tile_size(cards: usize, columns: usize) -> f32 {
    let (width, height) = cell(cards, columns);
    let spot = Spot { left: 0.0, top: 0.0, width: width - GAP, height: height - GAP };
    spot.pitch()
}

/// Rows and columns of a card's tiles.
pub(super) fn tiles() -> impl Iterator<Item = (usize, usize)> {
    (0..GUESSES).flat_map(|row| (0..LETTERS).map(move |column| (row, column)))
}

impl Spot {
    /// The whole card.
    pub(super) fn card(self) -> Area {
        (self.left, self.top, self.width, self.height)
    }

    /// The face: centre and radius.
    pub(super) fn disc(self) -> (f32, f32, f32) {
        (self.left + 20.0, self.top + 18.0, 12.0)
    }

    /// Where the name begins, on its base line.
    pub(super) fn name(self) -> (f32, f32) {
        (self.left + 38.0, self.top + 24.0)
    }

    /// How many letters of the name fit.
    pub(super) fn letters(self) -> usize {
        ((self.width - 44.0) / (NAME_SIZE * 0.7)).max(1.0) as usize
    }

    /// One tile.
    pub(super) fn tile(self, row: usize, column: usize) -> Area {
        let pitch = self.pitch();
        let left = self.left + (self.width - pitch * LETTERS as f32) / 2.0;
        let top = self.top + STRIP + (self.height - STRIP - pitch * GUESSES as f32) / 2.0;
        let side = pitch * 0.88;
        (left + column as f32 * pitch, top + row as f32 * pitch, side, side)
    }

    fn pitch(self) -> f32 {
        let across = (self.width - 16.0) / LETTERS as f32;
        let down = (self.height - STRIP - 10.0) / GUESSES as f32;
        across.min(down).min(BIGGEST_TILE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_and_tile_lies_within_the_field() {
        for players in 1..=60 {
            let layout = Layout::of(players);
            for place in 0..layout.cards() {
                let spot = layout.spot(place);
                let (left, top, width, height) = spot.card();
                assert!(left >= FIELD.0 && left + width <= FIELD.0 + FIELD.2, "{players} players");
                assert!(top >= FIELD.1 && top + height <= FIELD.1 + FIELD.3, "{players} players");
                let last = spot.tile(GUESSES - 1, LETTERS - 1);
                assert!(last.2 > 5.0 && last.1 + last.3 <= top + height, "{players} players");
            }
        }
    }

    #[test]
    fn the_41st_player_has_no_card() {
        assert_eq!(Layout::of(40).cards(), 40);
        assert_eq!(Layout::of(41).cards(), 40);
    }
}
