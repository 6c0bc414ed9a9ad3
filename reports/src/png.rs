//! A run in one picture, for a chat or a pull request: the verdict, the key numbers and the charts that tell the story.

use crate::Report;
use crate::chart::figure::{Chart, Figure, Layout};
use crate::chart::ink::Ink;
use crate::chart::png::Headline;
use crate::chart::{arrivals, latency, outcomes, png as picture, telegram, vitals};
use crate::verdict::{Tone, headline};

/// The overview as a PNG of 1,936 pixels across.
pub fn png(report: &Report<'_>) -> Vec<u8> {
    let charts = [arrivals::chart, latency::chart, outcomes::chart, vitals::chart, telegram::chart];
    let (figures, words): (Vec<_>, Vec<_>) = charts.iter().map(|chart| parts(chart(report, Layout::Wide))).unzip();
    let figures: Vec<Figure> = figures.into_iter().flatten().collect();
    let words = words.into_iter().flatten().map(|text| line(text, 13.0, Ink::Muted, false));
    picture::png(&headlines(report).into_iter().chain(words).collect::<Vec<_>>(), &figures)
}

fn parts(chart: Chart) -> (Option<Figure>, Option<String>) {
    match chart {
        Chart::Figure(figure) => (Some(figure), None),
        Chart::Words(why) => (None, Some(why)),
    }
}

fn headlines(report: &Report<'_>) -> Vec<Headline> {
    let header = &report.summary.header;
    let tone = match report.verdict.tone() {
        Tone::Well => Ink::Teal,
        Tone::Badly => Ink::Bad,
        Tone::Unsure => Ink::Amber,
    };
    vec![
        line(header.title(), 26.0, Ink::Text, true),
        line(header.about.clone(), 14.0, Ink::Muted, false),
        line(headline(report.summary, report.verdict), 16.0, tone, true),
    ]
}

fn line(text: String, size: f64, ink: Ink, bold: bool) -> Headline {
    Headline { text, size, ink, bold }
}
