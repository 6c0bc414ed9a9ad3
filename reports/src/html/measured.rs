//! How the numbers were taken, and how to take them again.

use maud::{Markup, html};

use crate::recording::{Header, Observations};
use crate::{Report, how_measured, tables};

use super::words;

/// How it was measured.
pub(super) fn section(report: &Report<'_>) -> Markup {
    let header = &report.summary.header;
    html! {
        section {
            h2 { "How it was measured" }
            ul.plain { @for line in how_measured(header) { li { (words::marked(&words::sentence(&line))) } } }
            h3 { "The rig's own error" }
            p { "Lag is the rig's own lateness: from the instant an act was due, and its player free, to the send." }
            (words::facts(&tables::rig(report.summary)))
            (ceilings(header))
            (observations(&report.summary.observations))
            (scenario(header))
        }
    }
}

fn ceilings(header: &Header) -> Markup {
    html! {
        @if !header.how.ceilings.is_empty() {
            h3 { "Telegram's ceilings, as modelled" }
            ul.plain { @for ceiling in &header.how.ceilings { li { (ceiling) } } }
        }
    }
}

fn observations(observations: &Observations) -> Markup {
    let Observations {
        heartbeat,
        black_box,
        bare_connects,
        proc,
        listen_queue,
        tcp_info,
        cgroup,
        outbound,
        deliveries,
        calls,
        redirect,
        lookout,
        isolate,
    } = observations;
    let all = [
        ("heartbeat of the system's own loop", heartbeat),
        ("probe from outside", black_box),
        ("bare connects", bare_connects),
        ("processes in /proc", proc),
        ("listen queue", listen_queue),
        ("TCP of the rig's connections", tcp_info),
        ("cgroup", cgroup),
        ("outgoing connections", outbound),
        ("deliveries", deliveries),
        ("calls to Telegram", calls),
        ("the system's way to the stub", redirect),
        ("connections to Telegram itself", lookout),
        ("network of the run's own", isolate),
    ];
    html! {
        h3 { "What was watched" }
        div.scroll { table { tbody {
            @for (name, said) in all {
                tr { th scope="row" { (name) } td { @if said.is_empty() { span.none { "not recorded" } } @else { (said) } } }
            }
        } } }
    }
}

fn scenario(header: &Header) -> Markup {
    html! {
        @if !header.scenario_text.is_empty() {
            details {
                summary { "The scenario, " (header.scenario_path) }
                pre { (header.scenario_text) }
            }
        }
    }
}

/// The command that runs it again.
pub(super) fn again(header: &Header) -> Markup {
    html! {
        section {
            h2 { "Run it again" }
            pre.command { (header.repeat_with) }
        }
    }
}
