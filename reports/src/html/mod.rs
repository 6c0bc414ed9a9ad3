//! The report as one HTML file that loads nothing: no script, no font, no picture from elsewhere. Words first, then
//! charts, then how the numbers were taken. Every number that a chart shows is in a table too.

mod comparison;
mod findings;
mod glance;
mod load;
mod measured;
mod page;
mod plate;
mod system;
mod telegram;
mod verdict;
mod words;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use maud::html;

use crate::Report;

/// The report of one run.
pub fn html(report: &Report<'_>) -> String {
    let header = &report.summary.header;
    page::page(
        &header.title(),
        &html! {
            (page::masthead(header))
            (verdict::section(report))
            (findings::section(report))
            (glance::section(report))
            (load::arrivals(report))
            (load::response_times(report))
            (load::outcomes(report))
            (system::section(report))
            (telegram::calls(report))
            (telegram::deliveries(report))
            (measured::section(report))
            (measured::again(header))
        },
    )
}

/// Several runs of one scenario side by side; the first is the baseline.
pub fn html_comparison(reports: &[Report<'_>]) -> String {
    comparison::page(reports)
}
