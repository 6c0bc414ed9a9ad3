//! A chart in a page: drawn twice, once for wide pages and paper and once for phones; the style shows one of them.

use maud::{Markup, PreEscaped, html};

use crate::chart::figure::{Chart, Layout};
use crate::chart::svg::svg;

/// A chart with what it shows in words.
pub(super) fn plate(chart: impl Fn(Layout) -> Chart, caption: &str) -> Markup {
    html! {
        figure {
            @match chart(Layout::Wide) {
                Chart::Words(why) => p.nothing { (why) },
                Chart::Figure(_) => {
                    (picture(&chart(Layout::Wide), Layout::Wide))
                    (picture(&chart(Layout::Narrow), Layout::Narrow))
                    figcaption { (caption) }
                }
            }
        }
    }
}

fn picture(chart: &Chart, layout: Layout) -> Markup {
    let class = match layout {
        Layout::Wide => "wide",
        Layout::Narrow => "narrow",
    };
    match chart {
        Chart::Figure(figure) => html! {
            div class=(class) role="img" aria-label=(figure.says) { (PreEscaped(svg(figure, layout))) }
        },
        Chart::Words(why) => html! { p.nothing { (why) } },
    }
}
