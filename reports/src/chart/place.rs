//! Where words go so that none covers another. Pure geometry.

/// Moves places apart until neighbours are at least `gap` away from each other, within `low..=high` as far as
/// that has room. Order is kept; the result stands in the order of `wanted`.
pub(crate) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|one, other| wanted[*one].total_cmp(&wanted[*other]));
    let mut placed = wanted.to_vec();
    let mut least = low;
    for &nth in &order {
        placed[nth] = placed[nth].max(least);
        least = placed[nth] + gap;
    }
    let mut most = high;
    for &nth in order.iter().rev() {
        placed[nth] = placed[nth].min(most);
        most = placed[nth] - gap;
    }
    placed
}

/// The row of each span so that spans of one row keep `gap` apart; each takes the first row with room.
pub(crate) fn rows(spans: &[(f64, f64)], gap: f64) -> Vec<usize> {
    let mut taken: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut row_of = Vec::with_capacity(spans.len());
    for &(from, to) in spans {
        let clear = |row: &Vec<(f64, f64)>| row.iter().all(|(left, right)| to + gap <= *left || right + gap <= from);
        let row = taken.iter().position(clear).unwrap_or(taken.len());
        if row == taken.len() {
            taken.push(Vec::new());
        }
        taken[row].push((from, to));
        row_of.push(row);
    }
    row_of
}

/// Places of words set one after another, a new line begun where the next has no room: (offset, line).
pub(crate) fn lines(widths: &[f64], gap: f64, room: f64) -> Vec<(f64, usize)> {
    let (mut at, mut line) = (0.0, 0);
    let mut placed = Vec::with_capacity(widths.len());
    for width in widths {
        if at > 0.0 && at + width > room {
            (at, line) = (0.0, line + 1);
        }
        placed.push((at, line));
        at += width + gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_with_room_between_them_stay() {
        assert_eq!(spread(&[10.0, 50.0, 30.0], 10.0, 0.0, 100.0), [10.0, 50.0, 30.0]);
    }

    #[test]
    fn places_too_close_move_apart_and_keep_their_order() {
        assert_eq!(spread(&[51.0, 50.0], 10.0, 0.0, 100.0), [60.0, 50.0]);
    }

    #[test]
    fn places_at_the_end_are_pushed_back_inside() {
        assert_eq!(spread(&[100.0, 99.0, 20.0], 10.0, 0.0, 100.0), [100.0, 90.0, 20.0]);
    }

    #[test]
    fn spans_that_touch_stand_in_different_rows() {
        assert_eq!(rows(&[(0.0, 10.0), (5.0, 15.0), (20.0, 30.0)], 4.0), [0, 1, 0]);
        assert_eq!(rows(&[(0.0, 10.0), (14.0, 20.0)], 4.0), [0, 0]);
        assert_eq!(rows(&[(0.0, 10.0), (13.0, 20.0)], 4.0), [0, 1]);
    }

    #[test]
    fn words_wrap_where_the_next_has_no_room() {
        assert_eq!(lines(&[40.0, 40.0, 40.0], 10.0, 90.0), [(0.0, 0), (50.0, 0), (0.0, 1)]);
    }
}
