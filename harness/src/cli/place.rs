//! Where the parts of a run are: which shard of the plan this rig drives, since when, and what already runs elsewhere.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use floodrig_reports::recording::Shard;
use jiff::{SignedDuration, Timestamp};

use super::refused::Refused;
use crate::run::{Places, Running, StubAt, is_spoken_to};
use crate::scenario::{Attach, Scenario, Unseen};
use crate::url::Url;

/// Several rigs, or a system that runs already.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct Args {
    /// Drive this part of the plan, such as 2/8: its share of the players; `floodrig merge` joins them all. The first
    /// starts the system and the stub and observes them; the others find the system by --target
    #[arg(long, value_name = "K/N", value_parser = shard, requires = "start_at", help_heading = HEADING)]
    pub(super) shard: Option<Shard>,
    /// Begin the load at this instant, in RFC 3339 or seconds since 1970, the same for every shard, within 24 hours
    #[arg(long, value_name = "TIME", value_parser = instant, help_heading = HEADING)]
    start_at: Option<Timestamp>,
    /// Load the system at this URL, which runs already, instead of starting it
    #[arg(long, value_name = "URL", help_heading = HEADING)]
    target: Option<String>,
    /// The process of a system that runs already, to watch its memory and CPU
    #[arg(long, help_heading = HEADING)]
    pid: Option<u32>,
    /// Use the stub of Telegram at this URL, another rig's or that of `floodrig stub`, instead of starting one
    #[arg(long, value_name = "URL", conflicts_with = "stub_listen", help_heading = HEADING)]
    stub: Option<String>,
    /// Start the stub here, a port or ADDRESS:PORT, where a system that runs already expects it
    #[arg(long, value_name = "PORT", value_parser = address, visible_alias = "stub-port", help_heading = HEADING)]
    stub_listen: Option<SocketAddr>,
    /// Let --target, --stub, --stub-listen and `system.url` name another machine; yours, or one whose owner agrees
    #[arg(long, help_heading = HEADING)]
    allow_host: bool,
}

const HEADING: &str = "Several rigs, or a system that runs already";

impl Args {
    /// Refuses what cannot be done, before anything runs.
    pub(super) fn check(&self, scenarios: &[Vec<Scenario>]) -> Result<(), Refused> {
        let runs: usize = scenarios.iter().map(Vec::len).sum();
        if self.is_once() && runs > 1 {
            let says = format!("--shard and --start-at are of one run, and this would be {runs}");
            return Err(Refused::usage(&says, "name one scenario, and one of its variants with --variant"));
        }
        self.start_at.map_or(Ok(()), |at| in_time(at, Timestamp::now()))?;
        scenarios.iter().flatten().try_for_each(|scenario| self.places(scenario).map(drop))
    }

    /// Whether the run can only be made once: at its instant, or as a part of others' run.
    pub(super) fn is_once(&self) -> bool {
        self.shard.is_some() || self.start_at.is_some()
    }

    /// Whether the system of this scenario runs already, so that it is neither built nor started.
    pub(super) fn attaches(&self, scenario: &Scenario) -> bool {
        self.target.is_some() || scenario.system.attach.is_some()
    }

    /// All of it, for one scenario.
    pub(super) fn places(&self, scenario: &Scenario) -> Result<Places, Refused> {
        let attach = self.running(scenario)?;
        if let Some(shard) = self.shard.filter(|shard| !shard.is_owner() && attach.is_none()) {
            let says = format!("shard {shard} does not start the system, so it has to know where that is");
            return Err(Refused::usage(&says, "add --target URL: shard 1 says the port, or set `system.port`"));
        }
        let stub = self.stub()?;
        if matches!(stub, StubAt::Elsewhere(_)) && is_spoken_to(scenario) {
            let says = "acts towards the bot go through the stub, and here that is another rig's";
            return Err(Refused::usage(says, "leave them to a run of one rig with a stub of its own"));
        }
        let places = Places { shard: self.shard, start_at: self.start(), attach, stub };
        if let Some(running) = places.attach.as_ref().filter(|_| places.observes()) {
            if self.target.is_some() {
                suits_a_target(scenario)?;
            }
            suits_an_attached(scenario, running.pid)?;
        }
        Ok(places)
    }

    fn start(&self) -> Option<Duration> {
        self.start_at.map(|at| Duration::try_from(at.duration_since(Timestamp::UNIX_EPOCH)).unwrap_or_default())
    }

    fn running(&self, scenario: &Scenario) -> Result<Option<Running>, Refused> {
        let of_scenario = scenario.system.attach.as_ref();
        let Some(url) = self.target.as_ref().or(of_scenario.map(|Attach { url, .. }| url)) else {
            let help =
                "the rig knows the processes of a system that it starts itself; name one that runs with --target";
            return if self.pid.is_some() {
                Err(Refused::usage("--pid names a process to attach to", help))
            } else {
                Ok(None)
            };
        };
        let parsed = Url::parse(url).map_err(Refused::said)?;
        if parsed.is_secure != scenario.system.speech.is_secure() {
            let help = if parsed.is_secure {
                "write http://, or name its certificate in `system.tls`"
            } else {
                "write https://, or leave `system.tls` out"
            };
            return Err(Refused::usage(format!("the scenario's `system.tls` and {url} do not agree on https"), help));
        }
        if parsed.path != "/" {
            let says = format!("the system is a host and a port, and {} is a path: each step has its own", parsed.path);
            return Err(Refused::usage(says, "leave the path out, as in http://127.0.0.1:8080"));
        }
        let target = parsed.target(self.allow_host).map_err(Refused::said)?;
        Ok(Some(Running { target, pid: self.pid.or(of_scenario.and_then(|attach| attach.pid)) }))
    }

    fn stub(&self) -> Result<StubAt, Refused> {
        if let Some(url) = &self.stub {
            let plain = |url: Url| {
                if url.is_secure {
                    Err("a stub elsewhere is spoken to over http, as in http://127.0.0.1:8081".to_owned())
                } else {
                    Ok(url)
                }
            };
            Url::parse(url).and_then(plain).and_then(|url| url.target(self.allow_host)).map_err(Refused::said)?;
            return Ok(StubAt::Elsewhere(Some(url.clone())));
        }
        if self.shard.is_some_and(|shard| !shard.is_owner()) {
            return Ok(StubAt::Elsewhere(None));
        }
        let Some(address) = self.stub_listen else { return Ok(StubAt::AnyPort) };
        if address.ip().is_loopback() || self.allow_host {
            return Ok(StubAt::Address(address));
        }
        let says = format!("a stub on {address} can be called from other machines");
        Err(Refused::usage(&says, "add --allow-host to let it be, or give a port alone"))
    }

    /// The arguments again, for the command that makes this run again. Its instant will have passed.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |flag: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        };
        add("--shard", self.shard.map(|shard| shard.to_string()));
        add("--start-at", self.start_at.map(|_| "TIME".to_owned()));
        add("--target", self.target.clone());
        add("--pid", self.pid.map(|pid| pid.to_string()));
        add("--stub", self.stub.clone());
        add("--stub-listen", self.stub_listen.map(|address| address.to_string()));
        words.extend(self.allow_host.then(|| "--allow-host".to_owned()));
        words
    }
}

/// Whether a scenario whose system the rig is to start can be run with one that runs already as well. Where it says itself
/// that its system does, its reader has seen to that.
fn suits_a_target(scenario: &Scenario) -> Result<(), Refused> {
    if !scenario.events.is_empty() {
        let says = "the scenario stops the system, and the rig does not end what it has not started";
        return Err(Refused::usage(says, "leave out --target, or the event"));
    }
    let unseen = scenario.system.unseen_outside().filter(|_| scenario.budgets.stall.is_some());
    unseen.map_or(Ok(()), |Unseen { why, help }| {
        let says = format!("`stall` cannot be measured with --target: no heartbeat is put into its loop, and {why}");
        Err(Refused::usage(says, help))
    })
}

/// Refuses budgets on what only whoever has started the system can measure, or knows its process.
fn suits_an_attached(scenario: &Scenario, pid: Option<u32>) -> Result<(), Refused> {
    let budgets = &scenario.budgets;
    if budgets.error_lines.is_some() {
        let says = "the log of a system that the rig has not started is not read: drop the budget";
        return Err(Refused::at(scenario, &["budgets", "error_lines"], says.to_owned()));
    }
    let of_a_process = [
        (budgets.memory.is_some(), &["budgets", "memory"][..]),
        (budgets.recovery.memory.is_some(), &["budgets", "recovery", "memory"]),
        (budgets.recovery.handles.is_some(), &["budgets", "recovery", "handles"]),
    ];
    let unknown = of_a_process.into_iter().find(|(is_set, _)| *is_set && pid.is_none());
    unknown.map_or(Ok(()), |(_, key)| {
        let says = "whose? Name the process of the system that runs already with --pid, or drop the budget";
        Err(Refused::at(scenario, key, says.to_owned()))
    })
}

/// How far ahead a load may be ordered: a night, and what a day's difference between two clocks would show.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

fn in_time(at: Timestamp, now: Timestamp) -> Result<(), Refused> {
    let ahead = at.duration_since(now);
    if ahead > AHEAD {
        let says =
            format!("--start-at {at} is {} h ahead, and a load begins within {} h", ahead.as_hours(), AHEAD.as_hours());
        let help = "give seconds since 1970, not milliseconds, as in --start-at $(date -d '+1 minute' +%s); for \
                    another day, let `at` or cron start the rig then";
        return Err(Refused::usage(&says, help));
    }
    if ahead > SignedDuration::ZERO {
        return Ok(());
    }
    let says = format!("--start-at {at} is {:.0} s past", -ahead.as_secs_f64());
    Err(Refused::usage(&says, "leave every shard time to come up, as in --start-at $(date -d '+1 minute' +%s)"))
}

/// `2/8`
fn shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((number, of)) if number >= 1 && number <= of => Ok(Shard { number, of }),
        Some(_) | None => Err("write it as in 2/8: the second of eight, counted from 1".to_owned()),
    }
}

/// `2026-11-30T12:00:00Z`, or `1796040000`
fn instant(text: &str) -> Result<Timestamp, String> {
    let unix = text.parse().ok().map(Timestamp::from_second);
    let read = unix.unwrap_or_else(|| text.parse());
    read.map_err(|_| "write it as in 2026-11-30T12:00:00Z, or as whole seconds since 1970".to_owned())
}

/// `8081`, or `10.0.0.5:8081`
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().ok().map(|port: u16| SocketAddr::from((IpAddr::from(Ipv4Addr::LOCALHOST), port)));
    port.or_else(|| text.parse().ok()).ok_or_else(|| "write a port, or an address as in 127.0.0.1:8081".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::parse;

    fn scenario(system: &str) -> Scenario {
        scenario_with(system, "")
    }

    fn scenario_with(system: &str, more: &str) -> Scenario {
        let text = format!(
            "name = 's'\nsystem = {{ {system} }}\ncrowd = {{ groups = 1, players_per_group = 1 }}\n\
             [[journey]]\nname = 'j'\narrive.burst.over = '1s'\nsteps = [{{ act = 'a', get = '/' }}]\n{more}"
        );
        parse(Path::new("s.toml"), &text, None).unwrap()
    }

    fn started() -> Scenario {
        scenario("command = ['run']")
    }

    fn refusal(args: &Args, scenario: Scenario) -> String {
        args.check(&[vec![scenario]]).unwrap_err().into_text()
    }

    #[test]
    fn a_shard_is_a_number_from_1_of_as_many() {
        assert_eq!(shard("2/8"), Ok(Shard { number: 2, of: 8 }));
        for wrong in ["0/8", "9/8", "2", "a/b", "-1/2", "1/0"] {
            assert!(shard(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_instant_is_a_date_or_seconds_since_1970() {
        assert_eq!(instant("2026-11-30T12:00:00Z"), instant("1796040000"));
        assert_eq!(instant("2026-11-30T14:00:00+02:00"), instant("1796040000"));
        assert!(instant("tomorrow").is_err());
    }

    #[test]
    fn an_instant_that_has_passed_is_refused_with_what_to_do() {
        let at = Timestamp::from_second(1_000).unwrap();
        let says = in_time(at, Timestamp::from_second(1_012).unwrap()).unwrap_err().into_text();
        assert!(says.contains("is 12 s past") && says.contains("date -d '+1 minute' +%s"), "{says}");
        assert!(in_time(at, Timestamp::from_second(999).unwrap()).is_ok());
    }

    #[test]
    fn an_instant_more_than_a_day_ahead_is_refused_with_what_to_do() {
        let (now, day) = (Timestamp::from_second(1_000).unwrap(), 86_400);
        assert!(in_time(Timestamp::from_second(1_000 + day).unwrap(), now).is_ok());
        let says = in_time(Timestamp::from_second(1_001 + day).unwrap(), now).unwrap_err().into_text();
        assert!(says.contains("is 24 h ahead, and a load begins within 24 h"), "{says}");
        let says = in_time(Timestamp::from_second(100_000_000_000).unwrap(), now).unwrap_err().into_text();
        assert!(says.contains("--start-at 5138-11-16") && says.contains("not milliseconds"), "{says}");
    }

    #[test]
    fn of_several_shards_the_first_starts_the_system_and_the_others_must_be_told_where_it_is() {
        let shard = |number| Args { shard: Some(Shard { number, of: 2 }), ..Args::default() };
        assert!(shard(1).places(&started()).is_ok_and(|places| places.attach.is_none() && places.observes()));
        assert!(refusal(&shard(2), started()).contains("add --target URL"));
        let target = Some("http://127.0.0.1:8080".to_owned());
        let second = Args { target, ..shard(2) }.places(&started()).unwrap();
        assert_eq!(second.stub, StubAt::Elsewhere(None));
        assert!(second.attach.is_some() && !second.observes());
    }

    #[test]
    fn a_shard_is_of_one_run() {
        let args = Args { shard: Some(Shard { number: 1, of: 2 }), ..Args::default() };
        let says = args.check(&[vec![started(), started()]]).unwrap_err().into_text();
        assert!(says.contains("this would be 2") && says.contains("--variant"), "{says}");
    }

    #[test]
    fn nothing_is_beyond_this_machine_unless_it_is_let() {
        let target = Some("http://192.0.2.1:80".to_owned());
        assert!(refusal(&Args { target: target.clone(), ..Args::default() }, started()).contains("--allow-host"));
        assert!(Args { target, allow_host: true, ..Args::default() }.places(&started()).is_ok());
        assert!(refusal(&Args::default(), scenario("url = 'http://192.0.2.1:80'")).contains("--allow-host"));
        let stub_listen = Some("0.0.0.0:8081".parse().unwrap());
        assert!(refusal(&Args { stub_listen, ..Args::default() }, started()).contains("--allow-host"));
        let stub = Some("http://192.0.2.1".to_owned());
        assert!(refusal(&Args { stub, ..Args::default() }, started()).contains("--allow-host"));
    }

    #[test]
    fn what_cannot_be_asked_of_a_system_that_runs_already_is_refused_before_it_is_loaded() {
        let stall = "[budgets]\nstall = '1s'\n";
        let blind = || scenario_with("command = ['run'], outside = 'off'", stall);
        let seen = scenario_with("command = ['run']", stall);
        let stopped = scenario_with("command = ['run']", "[[event]]\nat = '1s'\ndo = 'terminate'\n");
        let attached = Args { target: Some("http://127.0.0.1:8080".to_owned()), ..Args::default() };
        assert!(Args::default().places(&blind()).is_ok() && attached.places(&seen).is_ok());
        assert!(refusal(&attached, blind()).contains("leave `outside` on"));
        assert!(refusal(&attached, stopped).contains("leave out --target"));
        let budget = |line: &str| scenario_with("command = ['run']", &format!("[budgets]\n{line}\n"));
        assert!(refusal(&attached, budget("error_lines = 0")).contains("is not read"));
        for of_a_process in ["memory = '1GiB'", "recovery.memory = '1GiB'", "recovery.handles = 3"] {
            assert!(refusal(&attached, budget(of_a_process)).contains("--pid"), "{of_a_process}");
        }
        assert!(Args { pid: Some(7), ..attached.clone() }.places(&budget("memory = '1GiB'")).is_ok());
        let second = Args { shard: Some(Shard { number: 2, of: 2 }), ..attached };
        assert!(second.places(&blind()).is_ok(), "the first shard observes");
    }

    #[test]
    fn a_process_without_an_address_is_refused() {
        assert!(refusal(&Args { pid: Some(7), ..Args::default() }, started()).contains("--target"));
        let running = Args { pid: Some(7), ..Args::default() }.places(&scenario("url = 'http://127.0.0.1:1'")).unwrap();
        assert_eq!(running.attach.unwrap().pid, Some(7));
    }
}
