//! `floodrig bench`: the engine alone against one URL.

use std::io::{self, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use floodrig_reports::recording::{Cores, Row};
use floodrig_reports::{Summary, Verdict, bench_text, json_line, judge, summarise};

use super::Exit;
use super::made::Refused;
use super::progress::Teller;
use crate::bench::{BenchError, Load, Order, Place, bench};
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
    #[arg(long, conflicts_with = "connections")]
    rate: Option<f64>,
    /// For how long
    #[arg(long, default_value = "10s", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// How long an answer may take; a handshake, half as long
    #[arg(long, default_value = "10s", value_parser = humantime::parse_duration)]
    timeout: Duration,
    /// End with one line of JSON, in the shape of summary.json
    #[arg(long)]
    json: bool,
    /// Let the URL name another machine; yours, or one whose owner agrees
    #[arg(long)]
    allow_host: bool,
}

pub(super) fn run(args: &Args) -> Exit {
    let measured = order(args).and_then(|order| measure(&order));
    match measured {
        Ok((summary, verdict)) => {
            let printed = Exit::printed(show(&summary, &verdict, args.json));
            Exit::worst([printed, verdict.kind().into()])
        }
        Err(refused) => refused.tell(),
    }
}

fn order(args: &Args) -> Result<Order, Refused> {
    let usage = |says: String| Refused::usage(format!("error: {says}"));
    let url = Url::parse(&args.url).map_err(usage)?;
    let load = args.rate.map_or(Load::Closed { connections: args.connections }, |rate| Load::Open { rate });
    Ok(Order {
        target: url.target(args.allow_host).map_err(usage)?,
        path: url.path,
        load,
        length: args.duration,
        timeout: args.timeout,
    })
}

fn measure(order: &Order) -> Result<(Summary, Verdict), Refused> {
    let failed = |what: &str, cause: &dyn std::fmt::Display| Refused::failed(&format!("could not {what}: {cause}"));
    let stop = Stop::on_signals().map_err(|cause| failed("listen for Ctrl-C", &cause))?;
    raise_open_files().map_err(|cause| failed("raise the limit on open files", &cause))?;
    let rig: Vec<u32> = machine().map_err(|cause| failed("ask for the machine's cores", &cause))?;
    let rig = rig[..1].to_vec();
    pin_this_thread(&rig).map_err(|cause| failed("pin the rig to its core", &cause))?;
    somebody_listens(order)?;
    let place = Place { cores: Cores { rig, ..Cores::default() }, apart: Vec::new() };
    let mut teller = Teller::new();
    let rows = bench(order, place, &stop, &mut |news| teller.tell(news));
    teller.finish();
    judged(rows.map_err(refused)?)
}

fn judged(rows: Vec<Row>) -> Result<(Summary, Verdict), Refused> {
    let summarised = summarise(rows.into_iter().map(Ok));
    let (summary, _) = summarised.map_err(|cause| Refused::failed(&cause.to_string()))?;
    let verdict = judge(&summary, &summary.header.budgets);
    Ok((summary, verdict))
}

/// Nothing is measured of a server that is not there.
fn somebody_listens(order: &Order) -> Result<(), Refused> {
    let connected = TcpStream::connect_timeout(&order.target.address, order.timeout);
    connected.map(drop).map_err(|cause| Refused::not_ready(&format!("no connection to {}: {cause}", order.target.host)))
}

fn refused(cause: BenchError) -> Refused {
    match cause {
        BenchError::Order(complaint) => Refused::usage(format!("error: {}", complaint.says)),
        BenchError::Io { .. } | BenchError::Sign(_) | BenchError::Drive(_) | BenchError::Panicked(_) => {
            Refused::failed(&cause.to_string())
        }
    }
}

fn show(summary: &Summary, verdict: &Verdict, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", bench_text(summary, verdict))?;
    if json { writeln!(out, "{}", json_line(summary, verdict, &[])) } else { Ok(()) }
}
