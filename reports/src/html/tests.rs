//! The pages as a whole, over every kind of run.

use super::fixture::{self, Run};
use super::{html, html_comparison};

const SECTIONS: [&str; 11] = [
    "Budgets",
    "Findings",
    "At a glance",
    "Arrivals and completions",
    "Response times",
    "Outcomes",
    "The system",
    "Calls to Telegram",
    "Deliveries",
    "How it was measured",
    "Run it again",
];

fn pages() -> Vec<(&'static str, String)> {
    let mut pages: Vec<_> = fixture::all().iter().map(|(name, run)| (*name, html(&run.report()))).collect();
    let runs: Vec<Run> = fixture::all().into_iter().map(|(_, run)| run).collect();
    let reports: Vec<_> = runs.iter().map(Run::report).collect();
    pages.push(("comparison", html_comparison(&reports)));
    pages.push(("comparison of nothing", html_comparison(&[fixture::empty().report(), fixture::empty().report()])));
    pages
}

/// The numbers of every attribute that places something.
fn coordinates(page: &str) -> Vec<&str> {
    let attributes = ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "points", "viewBox"];
    let values = attributes.iter().flat_map(|name| page.split(&format!(" {name}=\"")).skip(1).collect::<Vec<_>>());
    let values = values.filter_map(|rest| rest.split('"').next());
    values.flat_map(|value| value.split([' ', ','])).filter(|number| !number.is_empty()).collect()
}

#[test]
fn every_section_is_in_every_report_even_of_a_run_that_recorded_nothing() {
    for (name, run) in fixture::all() {
        let page = html(&run.report());
        let mut from = 0;
        for section in SECTIONS {
            let heading = format!("<h2>{section}</h2>");
            let at = page[from..].find(&heading).unwrap_or_else(|| panic!("{name}: {section}, in its order"));
            from += at;
        }
    }
}

#[test]
fn every_coordinate_is_a_number() {
    for (name, page) in pages() {
        for coordinate in coordinates(&page) {
            assert!(coordinate.parse::<i64>().is_ok(), "{name}: {coordinate}");
        }
    }
}

#[test]
fn a_page_loads_nothing_from_anywhere() {
    for (name, page) in pages() {
        for loads in ["http:", "https:", "url(", "@import", "<script", "<link", "<img", "src=", "href="] {
            assert!(!page.contains(loads), "{name} holds {loads}");
        }
    }
}

#[test]
fn no_stand_in_colour_is_left_in_a_page() {
    for (name, page) in pages() {
        assert!(!page.contains("#F10D"), "{name}");
    }
}

#[test]
fn what_a_scenario_or_the_system_calls_itself_is_shown_as_text() {
    const HOSTILE: &str = "<script>alert(1)</script>";
    let mut run = fixture::stampede();
    let header = &mut run.summary.header;
    for text in [&mut header.scenario, &mut header.about, &mut header.scenario_text, &mut header.repeat_with] {
        HOSTILE.clone_into(text);
    }
    header.variant = Some(HOSTILE.to_owned());
    let act = run.summary.acts["open"].clone();
    run.summary.acts.insert(HOSTILE.to_owned(), act);
    let curve = run.timeline.curves["open"].clone();
    run.timeline.curves.insert(HOSTILE.to_owned(), curve);
    run.summary.system.top_messages[0].text = HOSTILE.to_owned();
    for page in [html(&run.report()), html_comparison(&[run.report(), run.report()])] {
        assert!(!page.contains("<script"));
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    }
}

#[test]
fn a_chart_without_anything_to_draw_says_so_in_words() {
    let page = html(&fixture::hopeless().report());
    assert!(page.contains("No act succeeded, so there is no response time to show."));
    assert!(page.contains("Nothing of the system was recorded over time"));
    assert!(page.contains("The system made no call to Telegram."));
    assert!(!html(&fixture::empty().report()).contains("<svg"));
}

#[test]
fn what_was_not_measured_is_never_shown_as_zero() {
    let page = html(&fixture::hopeless().report());
    assert!(page.contains(r#"<dt>peak memory</dt><dd><span class="none">not measured</span></dd>"#));
}

#[test]
fn a_death_is_told_in_the_headline_and_marked_in_the_charts() {
    let page = html(&fixture::dead().report());
    assert!(page.contains("SIGSEGV 3.1 s into the load (312 acts in flight)"));
    let [last, budgets] = ["Its last lines on stderr:", "<h2>Budgets"].map(|words| page.find(words).unwrap());
    assert!(last < budgets, "what it wrote last stands where its death is told");
    assert!(page.contains(">died</text>"));
}

#[test]
fn what_most_of_the_acts_that_failed_came_to_stands_beside_those_that_succeeded() {
    assert!(html(&fixture::dead().report()).contains(" planned, "));
    assert!(!html(&fixture::calm().report()).contains(" planned, "));
}

#[test]
fn names_in_backticks_are_code_and_stay_text() {
    let mut run = fixture::stampede();
    run.findings[0].evidence = vec!["3 of 4 `<open>` were answered 2xx".to_owned()];
    assert!(html(&run.report()).contains("3 of 4 <code>&lt;open&gt;</code> were answered 2xx"));
}

#[test]
fn two_seconds_are_drawn_in_tenths() {
    assert!(html(&fixture::two_seconds().report()).contains("Successes in each 0.1 s"));
}

#[test]
fn a_picture_is_a_png_as_wide_as_it_says() {
    for (name, run) in fixture::all() {
        let bytes = crate::png(&run.report());
        let decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        assert_eq!(decoder.read_info().unwrap().info().width, 1_936, "{name}");
    }
}

#[test]
fn calls_that_were_not_counted_have_the_reason_and_no_chart() {
    let (_, mut run) = fixture::all().into_iter().next().unwrap();
    run.summary.telegram.uncounted = true;
    run.summary.observations.calls = "inactive: the stub is another rig's".to_owned();
    assert!(html(&run.report()).contains("Not counted here: inactive: the stub is another rig's."));
}
