//! `floodrig plan`: what a scenario would send and when, on stdout, the same to the byte whenever the scenario and its
//! seed are; what the ceilings allow at best, on stderr. Nothing is started.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::Exit;
use super::draw::Draw;
use super::errands::read_one;
use crate::plan::{Arrival, Plan, plan};
use crate::scenario::{Arrivals, Arrive, Does, Scenario};

/// Print what would be sent, and when, without starting anything.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The scenario file.
    scenario: PathBuf,
    /// One of its variants.
    #[arg(long)]
    variant: Option<String>,
    #[command(flatten)]
    draw: Draw,
}

/// Prints the plan of the scenario that `args` name.
pub(super) fn run(args: &Args) -> Exit {
    match read_one(&args.scenario, args.variant.as_deref()) {
        Ok(scenario) => Exit::printed(print_all(args, scenario)),
        Err(refused) => refused.tell(),
    }
}

fn print_all(args: &Args, scenario: Scenario) -> io::Result<()> {
    let scenario = args.draw.of(scenario);
    let plan = plan(&scenario);
    let mut out = BufWriter::new(io::stdout().lock());
    print(&scenario, &plan, &mut out)?;
    out.flush()?;
    at_best(&scenario, &plan, &mut io::stderr().lock())
}

fn print(scenario: &Scenario, plan: &Plan, out: &mut impl Write) -> io::Result<()> {
    let variant = scenario.variant.as_ref().map(|name| format!(" variant {name}")).unwrap_or_default();
    writeln!(out, "# scenario {}{variant} seed {}", scenario.name, scenario.seed)?;
    writeln!(out, "# digest {}", hex::encode(plan.digest))?;
    writeln!(out, "# players {} visits {} acts {}", plan.players.len(), plan.visits.len(), plan.arrivals.len())?;
    if let Some(network) = scenario.network().in_words() {
        writeln!(out, "# network {network}")?;
    }
    for (whose, arrive) in arrivals(scenario) {
        writeln!(out, "# arrivals of {whose}: {}", in_words(arrive))?;
    }
    for (act, spec) in (0..).zip(&plan.acts) {
        let times = plan.arrivals.iter().filter(|arrival| arrival.act == act).count();
        writeln!(out, "# act {} {times}", spec.name)?;
    }
    let to_bot = plan.arrivals.iter().filter(|arrival| is_to_bot(scenario, plan, arrival)).count();
    if to_bot > 0 {
        writeln!(out, "# towards_the_bot {to_bot}")?;
    }
    let ends = plan.arrivals.first().zip(plan.arrivals.last());
    if let Some((first, last)) = ends {
        writeln!(out, "# from_us {} to_us {}", first.at.as_micros(), last.at.as_micros())?;
    }
    writeln!(out, "at_us\tplayer\tact\tnth")?;
    plan.arrivals.iter().try_for_each(|arrival| print_arrival(plan, arrival, out))
}

fn is_to_bot(scenario: &Scenario, plan: &Plan, arrival: &Arrival) -> bool {
    let act = &plan.acts[usize::from(arrival.act)];
    matches!(scenario.journeys[act.journey].steps[act.step].does, Does::Bot(_))
}

/// The crowd's and every journey's own.
fn arrivals(scenario: &Scenario) -> impl Iterator<Item = (&str, &Arrive)> {
    let of_journeys = scenario.journeys.iter().filter_map(|journey| match &journey.arrive {
        Arrivals::Own(arrive) => Some((journey.name.as_str(), arrive)),
        Arrivals::Shared { .. } => None,
    });
    scenario.crowd.arrive.iter().map(|arrive| ("the crowd", arrive)).chain(of_journeys)
}

fn in_words(arrive: &Arrive) -> String {
    let over = humantime::format_duration(arrive.over());
    match arrive {
        Arrive::Burst { .. } => format!("everyone once within {over}"),
        Arrive::Constant { rate, .. } => format!("{rate} a second for {over}"),
        Arrive::Poisson { rate, .. } => format!("poisson, {rate} a second for {over}"),
        Arrive::Ramp { from, to, .. } => format!("from {from} to {to} a second over {over}"),
        Arrive::Steps { rates, each } => {
            format!("{rates:?} a second, each for {}", humantime::format_duration(*each))
        }
        Arrive::Replay { file, instants, digest } => {
            format!("{} of {file}, sha256 {}", instants.len(), hex::encode(digest))
        }
    }
}

fn print_arrival(plan: &Plan, arrival: &Arrival, out: &mut impl Write) -> io::Result<()> {
    let Arrival { at, player, act, nth, visit: _ } = arrival;
    writeln!(out, "{}\t{player}\t{}\t{nth}", at.as_micros(), plan.acts[usize::from(*act)].name)
}

/// How long Telegram's ceilings make the effects take, if every act that shows something is one send.
fn at_best(scenario: &Scenario, plan: &Plan, out: &mut impl Write) -> io::Result<()> {
    let groups = effects_by_group(scenario, plan);
    let (all, most) = (groups.values().sum::<u64>(), groups.values().copied().max().unwrap_or_default());
    if all == 0 {
        return Ok(());
    }
    let limits = &scenario.telegram;
    writeln!(out, "{all} acts show something in a chat. Were each of them one send, the ceilings allow at best:")?;
    let mut bound = |whose: &str, sends, limit, window: Duration| match quickest(sends, limit, window) {
        Some(time) => {
            let (time, window) = (time.as_secs(), window.as_secs());
            writeln!(out, "  {whose}: {sends} sends take {time} s, {limit} in any {window} s")
        }
        None => writeln!(out, "  {whose}: no ceiling"),
    };
    bound("the bot", all, limits.sends_per_second, Duration::from_secs(1))?;
    bound("the busiest group", most, limits.group_sends_per_minute, Duration::from_secs(60))?;
    writeln!(out, "A bot that lets one send show several acts needs fewer.")
}

fn effects_by_group(scenario: &Scenario, plan: &Plan) -> BTreeMap<u32, u64> {
    let mut groups = BTreeMap::new();
    for arrival in &plan.arrivals {
        let act = &plan.acts[usize::from(arrival.act)];
        if scenario.journeys[act.journey].steps[act.step].shows.is_some() {
            *groups.entry(plan.players[arrival.player as usize].group).or_default() += 1;
        }
    }
    groups
}

/// From the first send to the last, when `limit` of them go in any `window`; nothing without a ceiling.
fn quickest(sends: u64, limit: u32, window: Duration) -> Option<Duration> {
    let full_windows = sends.saturating_sub(1).checked_div(u64::from(limit))?;
    Some(window * full_windows as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Speech;
    use crate::plan::by_hand::{SECOND, journey, scenario, step, story};
    use crate::scenario::{Connections, Gesture, Shows, Sign, Template, ToBot, Where};

    fn small() -> Scenario {
        let mut scenario = scenario(vec![journey(
            Arrive::Constant { rate: 2.0, over: SECOND },
            vec![step("open", 1, SECOND..=SECOND), step("guess", 2, SECOND..=SECOND)],
        )]);
        scenario.crowd.groups = 1;
        scenario.crowd.players_per_group = 1;
        scenario
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_plan_is_printed_as_a_header_and_one_line_for_each_arrival() {
        let scenario = Scenario { variant: Some("before".into()), ..small() };
        let plan = plan(&scenario);
        let expected = format!(
            "# scenario story variant before seed 7\n# digest {}\n# players 1 visits 2 acts 6\n\
             # arrivals of story: 2 a second for 1s\n# act open 2\n# act guess 4\n# from_us 1000000 to_us 3500000\nat_us\tplayer\tact\tnth\n\
             1000000\t0\topen\t0\n1500000\t0\topen\t0\n2000000\t0\tguess\t0\n2500000\t0\tguess\t0\n\
             3000000\t0\tguess\t1\n3500000\t0\tguess\t1\n",
            hex::encode(plan.digest)
        );
        assert_eq!(text(|out| print(&scenario, &plan, out)), expected);
    }

    #[test]
    fn where_arrivals_come_from_is_said_and_what_was_recorded_told_by_its_digest() {
        let mut scenario = small();
        scenario.crowd.arrive = Some(Arrive::Steps { rates: vec![1.0, 2.5], each: SECOND });
        scenario.journeys[0].arrive = Arrivals::Own(Arrive::replay(&[Duration::ZERO, SECOND]));
        let printed = text(|out| print(&scenario, &plan(&scenario), out));
        let replayed = format!("# arrivals of story: 2 of arrivals.csv, sha256 {}\n", "0".repeat(64));
        assert!(printed.contains(&replayed), "{printed}");
        assert!(printed.contains("# arrivals of the crowd: [1.0, 2.5] a second, each for 1s\n"), "{printed}");
    }

    #[test]
    fn a_network_that_is_not_plain_is_said() {
        let mut scenario = small();
        scenario.crowd.rtt = Some(SECOND / 10..=SECOND / 2);
        scenario.crowd.reads_at = Some(200 << 10..=2 << 20);
        scenario.crowd.connections = Connections::Fresh;
        scenario.system.speech = Speech::new(None, true).unwrap();
        let printed = text(|out| print(&scenario, &plan(&scenario), out));
        let line =
            "# network HTTP/2 without TLS, rtt 100ms..500ms, reads_at 200KiB..2MiB a second, connections = fresh\n";
        assert!(printed.contains(line), "{printed}");
    }

    #[test]
    fn acts_towards_the_bot_are_counted_and_where_there_are_none_nothing_is_said() {
        let mut scenario = small();
        let printed = |scenario: &Scenario| text(|out| print(scenario, &plan(scenario), out));
        assert!(!printed(&scenario).contains("towards_the_bot"));
        let says = Gesture::Says(Template::default());
        scenario.journeys[0].steps[1].does = Does::Bot(ToBot { chat: Where::Private, gesture: says });
        assert!(printed(&scenario).contains("# act guess 4\n# towards_the_bot 4\n"), "{}", printed(&scenario));
    }

    #[test]
    fn a_plan_of_nothing_is_a_header_alone() {
        let mut scenario = small();
        scenario.crowd.groups = 0;
        let printed = text(|out| print(&scenario, &plan(&scenario), out));
        assert!(printed.ends_with("# act open 0\n# act guess 0\nat_us\tplayer\tact\tnth\n"), "{printed}");
    }

    #[test]
    fn what_the_ceilings_allow_is_said_for_the_bot_and_its_busiest_group() {
        let mut scenario = story();
        scenario.journeys[0].steps[1].shows = Some(Shows { chat: Template::default(), sign: Sign::Any });
        let said = text(|out| at_best(&scenario, &plan(&scenario), out));
        assert!(said.contains("the bot: 150 sends take 4 s, 30 in any 1 s\n"), "{said}");
        assert!(said.contains("the busiest group: 50 sends take 120 s, 20 in any 60 s\n"), "{said}");
    }

    #[test]
    fn a_scenario_that_shows_nothing_is_told_nothing_about_ceilings() {
        assert_eq!(text(|out| at_best(&small(), &plan(&small()), out)), "");
    }

    #[test]
    fn as_many_sends_as_the_ceiling_go_at_once_and_one_more_waits_a_window() {
        assert_eq!(quickest(0, 30, SECOND), Some(Duration::ZERO));
        assert_eq!(quickest(30, 30, SECOND), Some(Duration::ZERO));
        assert_eq!(quickest(31, 30, SECOND), Some(SECOND));
        assert_eq!(quickest(31, 0, SECOND), None);
    }
}
