//! The game itself: words, marks and how a guess is scored. PURE.

use std::fmt;

/// Guesses a player has for one puzzle.
pub(crate) const GUESSES: usize = 6;

/// Letters in a word.
pub(crate) const LETTERS: usize = 5;

/// Five letters, upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word([u8; LETTERS]);

impl Word {
    /// Five letters from a to z in either case; any such word may be guessed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let letters: [u8; LETTERS] = text.as_bytes().try_into().ok()?;
        letters.iter().all(u8::is_ascii_alphabetic).then(|| Self(letters.map(|letter| letter.to_ascii_uppercase())))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(to, "{}", char::from(*letter)))
    }
}

/// What one letter of a guess earned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Not in the answer, or not that often.
    Absent,
    /// In the answer, elsewhere.
    Present,
    /// In its place.
    Correct,
}

/// The marks of one guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Score(pub(crate) [Mark; LETTERS]);

impl Score {
    /// Whether the guess is the answer.
    pub(crate) fn wins(self) -> bool {
        self.0.iter().all(|mark| *mark == Mark::Correct)
    }

    /// Reads what `Display` wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let marks: Vec<Mark> = text.bytes().map(mark_of).collect::<Option<_>>()?;
        marks.try_into().ok().map(Self)
    }
}

impl fmt::Display for Score {
    /// One letter a mark: `g` correct, `y` present, `x` absent.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|mark| {
            to.write_str(match mark {
                Mark::Absent => "x",
                Mark::Present => "y",
                Mark::Correct => "g",
            })
        })
    }
}

fn mark_of(letter: u8) -> Option<Mark> {
    match letter {
        b'x' => Some(Mark::Absent),
        b'y' => Some(Mark::Present),
        b'g' => Some(Mark::Correct),
        _ => None,
    }
}

/// Scores a guess: first the letters in their places, then, from the left, as many of each other letter as remain.
pub(crate) fn score(guess: Word, answer: Word) -> Score {
    let places = || guess.0.into_iter().enumerate();
    let mut marks = [Mark::Absent; LETTERS];
    let mut left = answer.0;
    for (place, letter) in places() {
        if left[place] == letter {
            marks[place] = Mark::Correct;
            left[place] = 0;
        }
    }
    for (place, letter) in places() {
        let found = left.iter().position(|other| *other == letter);
        if let (Mark::Absent, Some(found)) = (marks[place], found) {
            marks[place] = Mark::Present;
            left[found] = 0;
        }
    }
    Score(marks)
}

/// The answer of a puzzle; the list comes round.
pub(crate) fn answer(puzzle: u32) -> Word {
    Word(*ANSWERS[puzzle as usize % ANSWERS.len()])
}

const ANSWERS: [&[u8; LETTERS]; 24] = [
    b"CRANE", b"BOARD", b"PIVOT", b"FLOOD", b"STAIR", b"LEMON", b"QUEUE", b"NIGHT", b"GRAPE", b"VIVID", b"OCEAN",
    b"TOWER", b"MIRTH", b"SHELL", b"PLUMB", b"AGREE", b"EMBER", b"KNACK", b"WHEAT", b"DRIFT", b"ROBOT", b"JUMBO",
    b"ULTRA", b"FJORD",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(guess: &str, answer: &str) -> String {
        score(Word::parse(guess).unwrap(), Word::parse(answer).unwrap()).to_string()
    }

    #[test]
    fn every_letter_in_its_place_wins() {
        assert_eq!(scored("crane", "CRANE"), "ggggg");
        assert!(Score::parse("ggggg").unwrap().wins());
        assert!(!Score::parse("ggggy").unwrap().wins());
    }

    #[test]
    fn a_letter_is_marked_as_often_as_the_answer_holds_it() {
        let cases = [
            ("speed", "abide", "xxyxy"),
            ("speed", "erase", "yxyyx"),
            ("speed", "steal", "gxgxx"),
            ("allee", "apple", "gyxxg"),
            ("level", "elder", "yyxgx"),
        ];
        for (guess, answer, marks) in cases {
            assert_eq!(scored(guess, answer), marks, "{guess} for {answer}");
        }
    }

    #[test]
    fn a_word_is_exactly_five_letters() {
        assert!(Word::parse("crane").is_some());
        for wrong in ["", "cran", "cranes", "cr4ne", "crân"] {
            assert_eq!(Word::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn marks_survive_being_written() {
        let score = score(Word::parse("allee").unwrap(), Word::parse("apple").unwrap());
        assert_eq!(Score::parse(&score.to_string()), Some(score));
        assert_eq!(Score::parse("gyxx"), None);
        assert_eq!(Score::parse("gyxxq"), None);
    }
}
