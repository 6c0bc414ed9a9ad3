//! What the system was at while the load ran: memory, processor, handles and the probe's delay over one time axis.

use crate::Report;
use crate::recording::Towards;
use crate::timeline::VitalPoint;

use super::axis::Axis;
use super::bins::peaks;
use super::figure::{Bar, Chart, Figure, Layout, Limit, Panel, Series, Shape, Stroke};
use super::ink::Ink;
use super::time::{Span, into_load, marks};
use super::unit::Unit;

/// A limit this many times higher than anything measured would leave nothing to see of the series.
const FAR: f64 = 4.0;
/// In place of a panel that has nothing to draw.
const UNMEASURED: &str = "not measured: the report says what was watched";
/// Ports that get a panel of their own: a database, Telegram's stub and one more.
const PORTS: usize = 3;

/// Memory, cores, handles and stalls.
pub(crate) fn chart(report: &Report<'_>, layout: Layout) -> Chart {
    let Some(span) = Span::of(report).filter(|_| !report.timeline.vitals.is_empty()) else {
        return Chart::Words(
            "Nothing of the system was recorded over time: the report says what was watched.".to_owned(),
        );
    };
    let view = View { report, span, layout };
    Chart::Figure(Figure {
        says: "Resident memory, busy cores, open handles and the delay of the probe over the time of the run"
            .to_owned(),
        x: span.axis(layout),
        panels: [view.memory(), view.cores(), view.handles(), view.stalls()]
            .into_iter()
            .chain(view.listen_queue())
            .chain(view.connections())
            .collect(),
        marks: marks(report, span),
    })
}

struct View<'a> {
    report: &'a Report<'a>,
    span: Span,
    layout: Layout,
}

impl View<'_> {
    fn memory(&self) -> Panel {
        let limit = self.report.summary.header.budgets.memory.map(|bytes| bytes.as_u64() as f64);
        let points = self.points(|vital| vital.rss_bytes.map(|rss| rss as f64));
        let series = Series::line("memory", Ink::Good, Stroke::Solid, points).filled();
        panel("Resident memory, all processes", 120.0, Unit::Bytes, series, limit)
    }

    fn cores(&self) -> Panel {
        let series = Series::line("cores", Ink::Teal, Stroke::Solid, self.points(|vital| vital.cpu)).filled();
        panel("Busy cores", 70.0, Unit::Cores, series, None)
    }

    fn handles(&self) -> Panel {
        let series = Series::line(
            "handles",
            Ink::Olive,
            Stroke::Solid,
            self.points(|vital| vital.handles.map(|handles| handles as f64)),
        );
        panel("Open handles", 70.0, Unit::Count, series, None)
    }

    fn stalls(&self) -> Panel {
        let title = "Delay of the probe, and stalls";
        let limit = self.report.summary.header.budgets.stall.map(|stall| stall.as_micros() as f64);
        let points = self.points(|vital| vital.probe_delay_ms.map(|ms| ms * 1e3));
        let series = Series::line("delay", Ink::Amber, Stroke::Solid, points).filled();
        let points = self.points(|vital| vital.accept_delay_ms.map(|ms| ms * 1e3));
        let accepted = Series::line("wait to be accepted", Ink::Teal, Stroke::Solid, points);
        let bars = self.stall_bars();
        if accepted.is_empty() && series.is_empty() && bars.is_empty() {
            return Panel::blank(title, UNMEASURED);
        }
        let highest = series.highest().max(accepted.highest());
        let longest = bars.iter().map(|bar| bar.top).fold(highest, f64::max);
        let mut panel = panel(title, 100.0, Unit::Micros, series, limit);
        panel.y = Axis::from_zero(longest.max(limits_end(&panel)), Unit::Micros, 3);
        let stalls = Series { name: "stalls".to_owned(), ink: Ink::Bad, shape: Shape::Bars { bars, strength: 0.22 } };
        panel.series.insert(0, stalls);
        panel.series.extend(Some(accepted).filter(|series| !series.is_empty()));
        panel
    }

    /// The queue against its room, and what was dropped at full ones; no panel where nobody ever waited.
    fn listen_queue(&self) -> Vec<Panel> {
        let system = &self.report.summary.system;
        let waited = system.listen_queue_peak.is_some_and(|peak| peak > 0);
        let queue = waited.then(|| {
            let limit = system.listen_backlog.map(|backlog| backlog as f64);
            let points = self.points(|vital| vital.listen_queue.map(|depth| depth as f64));
            let series = Series::line("waiting", Ink::Teal, Stroke::Solid, points).filled();
            panel("Connections that wait to be accepted", 70.0, Unit::Count, series, limit)
        });
        let dropped = system.listen_overflows.is_some_and(|overflows| overflows > 0);
        let drops = dropped.then(|| {
            let points = self.points(|vital| vital.network.map(|counts| counts.listen_overflows as f64));
            let series = Series::line("dropped", Ink::Bad, Stroke::Solid, points);
            let title =
                format!("Dropped at full listen queues so far, {}", self.report.summary.observations.counted_in());
            panel(&title, 70.0, Unit::Count, series, None)
        });
        queue.into_iter().chain(drops).collect()
    }

    /// A panel for each of the ports with the most connections that waited.
    fn connections(&self) -> Vec<Panel> {
        let mut ports: Vec<_> = self.report.summary.system.outbound.iter().flatten().collect();
        ports.sort_by_key(|(_, one)| std::cmp::Reverse((one.waiting_peak, one.established_peak)));
        ports.into_iter().take(PORTS).map(|(port, one)| self.connections_to(*port, one.name.as_deref())).collect()
    }

    fn connections_to(&self, port: u16, name: Option<&str>) -> Panel {
        let count = |of: fn(&Towards) -> u64| {
            let samples = self.report.timeline.outbound.iter().map(move |sample| {
                let to = sample.to.iter().find(|to| to.port == port);
                (into_load(self.report, sample.at_us as f64 / 1e6), to.map(|to| of(to) as f64))
            });
            let samples: Vec<_> = samples.filter(|(at, _)| self.span.holds(*at)).collect();
            peaks(&samples, self.layout.points())
        };
        let open = Series::line("open", Ink::Neutral, Stroke::Dashed, count(|to| to.established));
        let waiting = Series::line("waiting", Ink::Teal, Stroke::Solid, count(|to| to.waiting)).filled();
        let title = format!("Connections to {}, open and waiting for an answer", Towards::place(port, name));
        let mut panel = panel(&title, 70.0, Unit::Count, open, None);
        panel.series.insert(0, waiting);
        panel
    }

    /// Each stall as long and as high as it was.
    fn stall_bars(&self) -> Vec<Bar> {
        let bar = |from_us: u64, len_us: u64| {
            let from = into_load(self.report, from_us as f64 / 1e6);
            Bar { from, to: from + len_us as f64 / 1e6, base: 0.0, top: len_us as f64 }
        };
        let bars = self.report.timeline.stalls.iter().map(|stall| bar(stall.from_us, stall.len_us));
        bars.filter(|bar| self.span.holds(bar.from)).collect()
    }

    fn points(&self, value: impl Fn(&VitalPoint) -> Option<f64>) -> Vec<(f64, Option<f64>)> {
        let points = self.report.timeline.vitals.iter();
        let points =
            points.map(|vital| (into_load(self.report, vital.at_s), value(vital).filter(|value| value.is_finite())));
        let points: Vec<_> = points.filter(|(at, _)| self.span.holds(*at)).collect();
        peaks(&points, self.layout.points())
    }
}

/// A panel of one line with the limit of its budget, which is only named when it is far out of reach. One that nobody
/// measured is no line at zero.
fn panel(title: &str, height: f64, unit: Unit, series: Series, limit: Option<f64>) -> Panel {
    if series.is_empty() {
        return Panel::blank(title, UNMEASURED);
    }
    let highest = series.highest();
    let near = limit.filter(|limit| *limit <= highest * FAR);
    let title = match limit {
        Some(limit) if near.is_none() => format!("{title} (limit {}, far above)", unit.label(limit)),
        Some(_) | None => title.to_owned(),
    };
    let mut panel =
        Panel::new(title, height, Axis::from_zero(near.unwrap_or(0.0).max(highest), unit, (height / 35.0) as usize));
    panel.series.push(series);
    panel.limits = near.into_iter().map(|at| Limit { at, name: format!("limit {}", unit.label(at)) }).collect();
    panel
}

fn limits_end(panel: &Panel) -> f64 {
    panel.limits.iter().map(|limit| limit.at).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::fixture;

    fn memory(limit: f64) -> Panel {
        let series = Series::line("memory", Ink::Good, Stroke::Solid, [(0.0, Some(100.0))]);
        panel("Memory", 120.0, Unit::Bytes, series, Some(limit))
    }

    #[test]
    fn a_limit_within_reach_is_drawn_and_the_axis_holds_it() {
        let near = memory(FAR * 100.0);
        assert_eq!((near.title.as_str(), near.limits.len()), ("Memory", 1));
        assert!(near.y.scale.holds(FAR * 100.0));
    }

    #[test]
    fn a_limit_far_above_is_named_and_leaves_the_axis_to_the_series() {
        let far = memory(FAR * 100.0 + 1.0);
        assert_eq!((far.title.as_str(), far.limits.len()), ("Memory (limit 401 B, far above)", 0));
        assert!(!far.y.scale.holds(FAR * 100.0));
    }

    #[test]
    fn a_stall_is_as_high_as_it_is_long() {
        let run = fixture::stampede();
        let report = run.report();
        let view = View { report: &report, span: Span::of(&report).unwrap(), layout: Layout::Wide };
        let bars = view.stall_bars();
        assert_eq!(bars.len(), run.timeline.stalls.len());
        assert!(bars.iter().all(|bar| ((bar.to - bar.from) * 1e6 - bar.top).abs() < 1.0));
    }

    #[test]
    fn a_probe_that_measured_nothing_leaves_a_word_and_no_plot() {
        let mut run = fixture::calm();
        run.timeline.vitals.iter_mut().for_each(|vital| vital.probe_delay_ms = None);
        let Chart::Figure(figure) = chart(&run.report(), Layout::Wide) else { panic!("memory was measured") };
        let stalls = &figure.panels[3];
        assert!(stalls.series.is_empty() && stalls.blank.starts_with("not measured"));
    }

    #[test]
    fn processes_that_nobody_saw_leave_a_word_and_no_line_at_zero() {
        let mut run = fixture::calm();
        let unseen = |vital: &VitalPoint| VitalPoint { rss_bytes: None, cpu: None, handles: None, ..*vital };
        run.timeline.vitals = run.timeline.vitals.iter().map(unseen).collect();
        let Chart::Figure(figure) = chart(&run.report(), Layout::Wide) else { panic!("the probe measured") };
        let blank = figure.panels[..3].iter().map(|panel| (panel.series.is_empty(), panel.blank.as_str()));
        assert!(blank.clone().all(|panel| panel == (true, UNMEASURED)), "{:?}", blank.collect::<Vec<_>>());
        assert!(!figure.panels[3].series.is_empty());
    }
}
