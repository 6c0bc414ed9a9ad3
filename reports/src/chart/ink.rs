//! The colours, by what they mean. One table serves the page's CSS variables, the charts inside it and the PNG.
//!
//! A chart is drawn once for both themes: the SVG backend is given a stand-in colour for each ink, and the
//! stand-ins become `var(--name)` afterwards. Colours are never the only sign: lines differ in dash and carry
//! their names, bars are stacked in the order of their legend, and every chart's numbers are in a table too.

use plotters::style::RGBColor;

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Words, and the longest line.
    Text,
    /// Secondary words: axis labels, notes.
    Muted,
    /// Grid lines and rules.
    Grid,
    /// What everything is drawn on.
    Paper,
    /// What went well; the first series.
    Good,
    /// Telegram's refusals; the second series.
    Amber,
    /// The third series.
    Teal,
    /// The fourth series; answers that never came.
    Violet,
    /// The fifth series.
    Olive,
    /// Limits, deaths, what went badly.
    Bad,
    /// Neither good nor bad: planned, abandoned.
    Neutral,
    /// The lowest of several percentiles.
    Low,
    /// The middle of several percentiles.
    Middle,
    /// The highest of several percentiles.
    High,
}

/// One ink in both themes, as `0xRRGGBB`.
pub(crate) struct Colour {
    /// The ink.
    pub ink: Ink,
    /// Its CSS variable, without the dashes.
    pub name: &'static str,
    /// On white paper. Words and lines keep a contrast of 4.5 : 1, as WCAG 2.1 asks of small text.
    pub light: u32,
    /// On dark paper, likewise.
    pub dark: u32,
}

/// Every ink; the position is its number in the stand-in colour.
pub(crate) const PALETTE: [Colour; 14] = [
    colour(Ink::Text, "text", 0x1c_1d_20, 0xec_ec_ea),
    colour(Ink::Muted, "muted", 0x63_66_6d, 0xa2_a5_ab),
    colour(Ink::Grid, "grid", 0xe3_e4_e7, 0x33_36_3b),
    colour(Ink::Paper, "paper", 0xff_ff_ff, 0x17_19_1c),
    colour(Ink::Good, "good", 0x1f_63_b8, 0x6f_aa_f2),
    colour(Ink::Amber, "amber", 0xb4_5a_09, 0xf0_a0_4b),
    colour(Ink::Teal, "teal", 0x0b_7a_6f, 0x4c_c3_b3),
    colour(Ink::Violet, "violet", 0x75_47_b8, 0xb9_9a_f0),
    colour(Ink::Olive, "olive", 0x6d_6a_0c, 0xc9_c2_4f),
    colour(Ink::Bad, "bad", 0xc0_26_2d, 0xff_7d_78),
    colour(Ink::Neutral, "neutral", 0x74_78_80, 0x95_99_a1),
    colour(Ink::Low, "low", 0x4f_8f_d6, 0x4a_82_c4),
    colour(Ink::Middle, "middle", 0x1f_63_b8, 0x6f_aa_f2),
    colour(Ink::High, "high", 0x12_38_6e, 0xb4_d5_ff),
];

const fn colour(ink: Ink, name: &'static str, light: u32, dark: u32) -> Colour {
    Colour { ink, name, light, dark }
}

/// The first bytes of every stand-in colour, as the SVG backend writes them.
const STAND_IN: &str = "#F10D";

impl Ink {
    fn number(self) -> usize {
        PALETTE.iter().position(|colour| colour.ink == self).expect("every ink is in the palette")
    }

    /// The colour to give the SVG backend.
    pub(crate) fn stand_in(self) -> RGBColor {
        RGBColor(0xf1, 0x0d, self.number() as u8)
    }

    /// The colour on white paper.
    pub(crate) fn on_white(self) -> RGBColor {
        let [_, red, green, blue] = PALETTE[self.number()].light.to_be_bytes();
        RGBColor(red, green, blue)
    }
}

/// Replaces the stand-ins of an SVG text by CSS variables.
pub(crate) fn to_variables(svg: &str) -> String {
    let mut parts = svg.split(STAND_IN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_at(2);
        let number = usize::from_str_radix(number, 16).expect("a stand-in ends with its ink's number");
        out.push_str("var(--");
        out.push_str(PALETTE[number].name);
        out.push(')');
        out.push_str(rest);
    }
    out
}

/// The declarations of the CSS variables: `--text:#1c1d20;...`.
pub(crate) fn declarations(of: fn(&Colour) -> u32) -> String {
    let declarations: Vec<String> =
        PALETTE.iter().map(|colour| format!("--{}:#{:06x};", colour.name, of(colour))).collect();
    declarations.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_becomes_the_variable_of_its_ink() {
        assert_eq!(to_variables(r##"<a fill="#F10D00"/><b fill="none" stroke="#F10D09"/>"##), {
            r#"<a fill="var(--text)"/><b fill="none" stroke="var(--bad)"/>"#
        });
    }

    /// Relative luminance and contrast as WCAG 2.1 defines them.
    fn contrast(one: u32, other: u32) -> f64 {
        let luminance = |rgb: u32| {
            let [_, red, green, blue] = rgb.to_be_bytes().map(|byte| {
                let share = f64::from(byte) / 255.0;
                if share <= 0.03928 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    #[test]
    fn words_can_be_read_in_both_themes() {
        let paper = &PALETTE[Ink::Paper.number()];
        for ink in [Ink::Text, Ink::Muted, Ink::Good, Ink::Amber, Ink::Teal, Ink::Violet, Ink::Olive, Ink::Bad] {
            let colour = &PALETTE[ink.number()];
            assert!(contrast(colour.light, paper.light) >= 4.5, "{} on white", colour.name);
            assert!(contrast(colour.dark, paper.dark) >= 4.5, "{} on dark", colour.name);
        }
    }

    #[test]
    fn lines_can_be_seen_in_both_themes() {
        let paper = &PALETTE[Ink::Paper.number()];
        for ink in [Ink::Neutral, Ink::Low, Ink::Middle, Ink::High] {
            let colour = &PALETTE[ink.number()];
            assert!(contrast(colour.light, paper.light) >= 3.0, "{} on white", colour.name);
            assert!(contrast(colour.dark, paper.dark) >= 3.0, "{} on dark", colour.name);
        }
    }
}
