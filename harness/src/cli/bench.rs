//! `floodrig bench`: the engine alone against one URL.

mod advice;

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::path::{PathBuf, absolute};
use std::time::Duration;

use floodrig_reports::recording::{Cores, Row};
use floodrig_reports::{Summary, Verdict, bench_text, json_line, judge, summarise};

use super::progress::Teller;
use super::refused::Refused;
use super::{Exit, say};
use crate::bench::{BenchError, Load, Order, Place, Trust, bench};
use crate::drive::most_open;
use crate::scenario::Complaint;
use crate::stop::Stop;
use crate::system::cores::{machine, pin_this_thread};
use crate::system::raise_open_files;
use crate::url::Url;

/// Load one URL with the rig's engine and nothing else. It takes the first core it may use: keep the server off it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to send GET requests, such as `http://127.0.0.1:8080/`
    url: String,
    /// Closed loop: that many connections, each sending again as soon as it is answered
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Open loop instead: that many requests a second, whatever becomes of them
    #[arg(long, conflicts_with = "connections", allow_hyphen_values = true, value_parser = rate)]
    rate: Option<f64>,
    /// For how long, a day at most
    #[arg(long, default_value = "10s", value_parser = within_a_day)]
    duration: Duration,
    /// How long an answer may take, a day at most; a handshake, half as long
    #[arg(long, default_value = "10s", value_parser = within_a_day)]
    timeout: Duration,
    /// For https: a PEM file with the certificate of the server, or of who signed it
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Speak HTTP/2: offered to an https server, which chooses; known to be spoken by an http one
    #[arg(long)]
    http2: bool,
    /// End with one line of JSON, in the shape of summary.json
    #[arg(long)]
    json: bool,
    /// Let the URL name another machine; yours, or one whose owner agrees
    #[arg(long)]
    allow_host: bool,
}

/// As long as a scenario's run may last.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn within_a_day(text: &str) -> Result<Duration, String> {
    let length = humantime::parse_duration(text).map_err(|cause| format!("{cause}; write such as 10s or 5min"))?;
    if length.is_zero() || length > DAY {
        Err("write more than nothing, and 1day at most".to_owned())
    } else {
        Ok(length)
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "write how many requests a second, such as 500 or 0.5".to_owned())
}

pub(super) fn run(args: &Args) -> Exit {
    let measured = order(args).and_then(|order| Ok((measure(&order)?, order)));
    match measured {
        Ok(((summary, verdict), order)) => {
            let printed = Exit::printed(show(&summary, &verdict, args.json));
            if let Some(advice) = advice::on(&order, &summary) {
                say::talk(&advice);
            }
            Exit::worst([printed, verdict.kind().into()])
        }
        Err(refused) => refused.tell(),
    }
}

fn order(args: &Args) -> Result<Order, Refused> {
    let url = Url::parse(&args.url).map_err(Refused::said)?;
    let load = args.rate.map_or(Load::Closed { connections: args.connections }, |rate| Load::Open { rate });
    Ok(Order {
        target: url.target(args.allow_host).map_err(Refused::said)?,
        tls: trust(args, &url)?,
        http2: args.http2,
        path: url.path,
        load,
        length: args.duration,
        timeout: args.timeout,
    })
}

fn trust(args: &Args, url: &Url) -> Result<Option<Trust>, Refused> {
    match (&args.ca, url.is_secure) {
        (None, false) => Ok(None),
        (Some(_), false) => Err(Refused::usage("--ca is for an https URL", "leave it out, or write https://")),
        (None, true) => {
            let help = "the server's certificate, or that of who signed it; what the machine trusts is in \
                        /etc/ssl/certs/ca-certificates.crt on Debian";
            Err(Refused::usage("https needs --ca FILE", help))
        }
        (Some(ca), true) => {
            let unknown = |cause| Refused::usage(format_args!("{}: {cause}", ca.display()), "name a PEM file");
            let ca = absolute(ca).map_err(unknown)?;
            Ok(Some(Trust { ca, name: url.host().to_owned() }))
        }
    }
}

fn measure(order: &Order) -> Result<(Summary, Verdict), Refused> {
    let stop = Stop::on_signals().map_err(Refused::could_not("listen for Ctrl-C"))?;
    raise_open_files().map_err(Refused::could_not("raise the limit on open files"))?;
    enough_handles(order)?;
    let rig: Vec<u32> = machine().map_err(Refused::could_not("ask for the machine's cores"))?;
    let rig = rig[..1].to_vec();
    pin_this_thread(&rig).map_err(Refused::could_not("pin the rig to its core"))?;
    somebody_listens(order)?;
    let place = Place { cores: Cores { rig, ..Cores::default() }, apart: Vec::new() };
    let mut teller = Teller::new();
    let rows = bench(order, place, &stop, &mut |news| teller.tell(news));
    teller.finish();
    judged(rows.map_err(refused)?)
}

fn judged(rows: Vec<Row>) -> Result<(Summary, Verdict), Refused> {
    let summarised = summarise(rows.into_iter().map(Ok));
    let (summary, _) = summarised.map_err(Refused::failed)?;
    let verdict = judge(&summary, &summary.header.budgets);
    Ok((summary, verdict))
}

/// A closed loop has all its connections open at once.
fn enough_handles(order: &Order) -> Result<(), Refused> {
    let Load::Closed { connections } = order.load else { return Ok(()) };
    let most = most_open();
    if u64::from(connections) <= most {
        return Ok(());
    }
    let says = format_args!("{connections} connections need more open files than this process may have");
    Err(Refused::usage(says, &format!("ask for {most} at most, or raise the limit with `ulimit -n`")))
}

/// Nothing is measured of a server that is not there.
fn somebody_listens(order: &Order) -> Result<(), Refused> {
    let connected = TcpStream::connect_timeout(&order.target.address, order.timeout);
    let host = &order.target.host;
    connected.map(drop).map_err(|cause| Refused::not_ready(format_args!("no connection to {host}: {cause}")))
}

fn refused(cause: BenchError) -> Refused {
    match cause {
        BenchError::Order(Complaint { says, help: Some(help), .. }) => Refused::usage(says, &help),
        BenchError::Order(Complaint { says, help: None, .. }) => Refused::said(says),
        BenchError::Io { .. } | BenchError::Sign(_) | BenchError::Drive(_) | BenchError::Panicked(_) => {
            Refused::failed(cause)
        }
    }
}

fn show(summary: &Summary, verdict: &Verdict, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", bench_text(summary, verdict))?;
    if json { writeln!(out, "{}", json_line(summary, verdict, &[])) } else { Ok(()) }
}
