//! The scoreboard as a picture: one card for each player, their guesses as coloured tiles. PURE.
//!
//! Letters are not shown: the board must not spoil the puzzle for those still at it.

mod layout;
mod paint;

use std::collections::BTreeMap;

use tiny_skia::Pixmap;

use crate::init_data::PlayerId;
use crate::store::{Standing, Standings};
use layout::{Layout, NAME_SIZE, Spot};
use paint::{Brush, CARD, Colour, INK, QUIET};

/// A board's size in points; a pixel is a point at scale 1.
pub(crate) const SIZE: (u32, u32) = (800, 1000);

/// Everything that is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// The game's part.
    pub(crate) standings: Standings,
    /// The faces that could be had.
    pub(crate) faces: BTreeMap<PlayerId, Face>,
}

/// A player's profile photo as far as the board needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Face {
    /// The colour of their disc, taken from the photo's bytes: decoding photos is not what this app is about.
    pub(crate) tint: [u8; 3],
    /// The photo, where the job carries it along.
    pub(crate) photo: Vec<u8>,
}

impl Face {
    /// A face that carries its photo.
    pub(crate) fn with_photo(photo: Vec<u8>) -> Self {
        Self { tint: tint_of(&photo), photo }
    }

    /// A face that carries only what is drawn.
    pub(crate) fn without_photo(photo: &[u8]) -> Self {
        Self { tint: tint_of(photo), photo: Vec::new() }
    }
}

fn tint_of(photo: &[u8]) -> [u8; 3] {
    let sum = photo.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    let [_, red, green, blue] = sum.to_be_bytes();
    [red | 64, green | 64, blue | 64]
}

impl Sheet {
    /// The text under the board.
    pub(crate) fn caption(&self) -> String {
        format!("Wordle #{} · v{}", self.standings.puzzle, self.standings.version)
    }

    /// Draws the board; the bitmap takes four bytes a pixel.
    pub(crate) fn draw(&self, scale: u32) -> Pixmap {
        let bitmap = Pixmap::new(SIZE.0 * scale, SIZE.1 * scale).expect("a board's size is not zero");
        let mut brush = Brush::new(bitmap, scale);
        brush.background();
        self.header(&mut brush);
        let layout = Layout::of(self.standings.players.len());
        for (place, standing) in self.standings.players.iter().take(layout.cards()).enumerate() {
            self.card(&mut brush, layout.spot(place), standing);
        }
        brush.into_bitmap()
    }

    fn header(&self, brush: &mut Brush) {
        let guesses: usize = self.standings.players.iter().map(|standing| standing.scores.len()).sum();
        let players = self.standings.players.len();
        brush.text((30.0, 62.0), 44.0, INK, &format!("Wordle #{}", self.standings.puzzle));
        let line = format!("{players} players · {guesses} guesses · v{}", self.standings.version);
        brush.text((30.0, 98.0), 20.0, QUIET, &line);
    }

    fn card(&self, brush: &mut Brush, spot: Spot, standing: &Standing) {
        brush.rounded(spot.card(), 10.0, CARD);
        let tint = self.faces.get(&standing.player).map_or(Colour::of_player(standing.player), |face| {
            let [red, green, blue] = face.tint;
            Colour(red, green, blue)
        });
        brush.disc(spot.disc(), tint);
        let initial: String = standing.name.chars().take(1).collect();
        let (x, y, radius) = spot.disc();
        brush.text((x - radius * 0.45, y + radius * 0.5), radius * 1.3, INK, &initial);
        brush.text(spot.name(), NAME_SIZE, INK, &shortened(&standing.name, spot.letters()));
        for (row, column) in layout::tiles() {
            let mark = standing.scores.get(row).map(|score| score.0[column]);
            brush.rounded(spot.tile(row, column), 3.0, Colour::of_mark(mark));
        }
    }
}

fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::Score;

    fn sheet(players: i64, marks: &str) -> Sheet {
        let standing = |id| Standing {
            player: PlayerId(id),
            name: "Юля".to_owned(),
            scores: Score::parse(marks).into_iter().collect(),
        };
        let standings = Standings { puzzle: 1234, version: 57, players: (1..=players).map(standing).collect() };
        Sheet { standings, faces: BTreeMap::new() }
    }

    #[test]
    fn the_caption_holds_the_version_drawn() {
        assert_eq!(sheet(1, "xxxxx").caption(), "Wordle #1234 · v57");
    }

    #[test]
    fn a_bitmap_is_3_mb_at_scale_1_and_12_mb_at_scale_2() {
        assert_eq!(sheet(10, "xxxxx").draw(1).data().len(), 3_200_000);
        assert_eq!(sheet(10, "xxxxx").draw(2).data().len(), 12_800_000);
    }

    #[test]
    fn another_state_is_another_picture() {
        assert!(sheet(10, "xxxxx").draw(1).data() == sheet(10, "xxxxx").draw(1).data());
        assert!(sheet(10, "xxxxx").draw(1).data() != sheet(10, "xxxxg").draw(1).data());
    }

    #[test]
    fn an_empty_board_and_a_crowded_one_are_drawn_too() {
        assert!(sheet(0, "").draw(1).data() != sheet(500, "ggggg").draw(1).data());
    }

    #[test]
    fn a_long_name_is_cut_by_letters() {
        assert_eq!(shortened("Юлиана", 4), "Юли…");
        assert_eq!(shortened("Юля", 3), "Юля");
    }
}
