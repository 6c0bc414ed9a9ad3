//! `floodrig stub`: the stub alone, for bots that someone else starts, until Ctrl-C.
//!
//! The first line of standard output is its URL and nothing else, for scripts; with `--tls` the second is the file of
//! its authority's certificate. Everything else goes to standard error.

mod journal;
mod secured;
mod world;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::Instant;

use floodrig_stub::{CallCounts, Door, Limits, Stub};
use signal_hook::iterator::Signals;

use super::Exit;
use super::refused::Refused;
use super::say::talk;
use crate::stop::ending_signals;
use crate::system::port::{PortError, check_free};
use crate::system::raise_open_files;
use journal::Journal;
use secured::Secured;

/// Run the stub of Telegram alone, until Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The port to listen on, of this machine alone; 0 takes any that is free
    #[arg(long, default_value_t = 8081)]
    port: u16,
    /// Draw everything from this seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Speak https too, with a certificate made on the spot for localhost, 127.0.0.1 and api.telegram.org
    #[arg(long)]
    tls: bool,
    /// One more name or address that the certificate is for; may be repeated
    #[arg(long, value_name = "NAME", requires = "tls")]
    host: Vec<String>,
    /// Write the certificates into this folder and leave them there; without it they are gone when the stub ends
    #[arg(long, value_name = "DIR", requires = "tls")]
    tls_files: Option<PathBuf>,
    /// Start from the world that this file describes: names, members, rights; see stub/README.md
    #[arg(long, value_name = "FILE")]
    world: Option<PathBuf>,
    /// Write a line of JSON about every call into this file; a full one (64 MiB) becomes FILE.1
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Which ceilings, all together: `documented`, `strict`, `lenient` or `off`; short for `--set profile=PROFILE`
    #[arg(long)]
    profile: Option<String>,
    /// How long every call takes to answer, as in `0ms` or `40ms..120ms`; short for `--set answer_time=TIME`
    #[arg(long, value_name = "TIME")]
    answer_time: Option<String>,
    /// A ceiling, as in `group_sends_per_minute=0`: any key of a scenario's `[telegram]` table; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, toml::Value)>,
}

const AFTER_HELP: &str = "\
Any well-formed token is a bot. Point a bot at the URL that is printed first, in place of https://api.telegram.org.";

pub(super) fn run(args: &Args) -> Exit {
    match whole(args) {
        Ok(exit) => exit,
        Err(refused) => refused.tell(),
    }
}

/// From the first file that is read to the last line of the journal.
fn whole(args: &Args) -> Result<Exit, Refused> {
    let secured = if args.tls { Some(Secured::make(&args.host, args.tls_files.as_deref())?) } else { None };
    let stub = start(args, secured.as_ref())?;
    let journal = args.journal.as_deref().map(|path| Journal::begin(path, &stub)).transpose()?;
    let exit = serve(&stub, secured.as_ref())?;
    let dropped = stub.records_dropped();
    // Nobody sends records any more then, and the journal's last line can be waited for.
    stub.stop();
    if let Some(journal) = journal {
        talk(&journal.end(dropped)?);
    }
    Ok(exit)
}

#[expect(clippy::disallowed_methods, reason = "the epoch of all times that this stub tells")]
fn start(args: &Args, secured: Option<&Secured>) -> Result<Stub, Refused> {
    let mut limits = limits(args)?;
    raise_open_files().map_err(Refused::could_not("raise the limit on open files"))?;
    let described = args.world.as_deref().map(world::read).transpose()?.unwrap_or_default();
    limits.unknown_chats = described.unknown_chats.unwrap_or(limits.unknown_chats);
    let listener = listen(args.port)?;
    let door = match secured {
        Some(secured) => Door::tls(listener, secured.leaf.clone()),
        None => listener.into(),
    };
    let stub =
        floodrig_stub::start(limits, door, Instant::now(), args.seed).map_err(Refused::could_not("start the stub"))?;
    stub.describe(described);
    Ok(stub)
}

fn listen(port: u16) -> Result<TcpListener, Refused> {
    if let Err(PortError::Taken { port, holder }) = check_free(port) {
        let says = format_args!("port {port} is held by {holder}");
        return Err(Refused::usage(says, "--port 0 takes any port that is free"));
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(Refused::could_not(&format!("listen on port {port}")))
}

fn serve(stub: &Stub, secured: Option<&Secured>) -> Result<Exit, Refused> {
    // Before the URL is said: whoever reads it may send the signal at once.
    let mut signals = ending_signals().and_then(Signals::new).map_err(Refused::could_not("listen for Ctrl-C"))?;
    let authority = secured.map(|secured| format!("{}\n", secured.authority.display())).unwrap_or_default();
    let said = write!(io::stdout(), "{}\n{authority}", stub.url()).and_then(|()| io::stdout().flush());
    said.map_err(Refused::could_not("print the stub's URL"))?;
    if let Some(secured) = secured {
        talk(&secured.advice());
    }
    talk(&format!("it holds every bot to\n  {}\nCtrl-C ends it", stub.ceilings().join("\n  ")));
    // It ends with the first signal; a closed iterator would mean that nobody can send one any more.
    let _signal = signals.forever().next();
    talk(&answered(&stub.take_interval()));
    Ok(Exit::Pass)
}

/// `1,204 calls answered, 17 of them with 429`
fn answered(counts: &CallCounts) -> String {
    let (calls, throttled) = counts
        .by_method
        .values()
        .fold((0, 0), |(calls, throttled), method| (calls + method.calls, throttled + method.throttled));
    let unmodelled: Vec<&str> = counts.unmodelled.keys().copied().collect();
    let by_type = match unmodelled.as_slice() {
        [] => String::new(),
        methods => format!("; by their declared type alone: {}", methods.join(", ")),
    };
    format!("{calls} calls answered, {throttled} of them with 429{by_type}")
}

/// The default ceilings with what the arguments change.
fn limits(args: &Args) -> Result<Limits, Refused> {
    let short = [("profile", &args.profile), ("answer_time", &args.answer_time)];
    let short = short.into_iter().filter_map(|(key, given)| Some((key.to_owned(), given.as_deref()?.into())));
    let table: toml::Table = args.set.iter().cloned().chain(short).collect();
    let help = "the keys are those of a scenario's `[telegram]` table, which `floodrig schema` describes";
    let wrong =
        |cause: toml::de::Error| Refused::usage(format_args!("could not read the ceilings: {}", cause.message()), help);
    table.try_into().map_err(wrong)
}

/// A value is read as TOML; what is none is a text, so that `answer_time=0ms` needs no quotes.
fn pair(text: &str) -> Result<(String, toml::Value), String> {
    let (key, value) = text.split_once('=').ok_or("a ceiling is written KEY=VALUE")?;
    let value = value.trim();
    let read = value.parse().unwrap_or_else(|_| toml::Value::from(value));
    Ok((key.trim().to_owned(), read))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn read(line: &str) -> Result<Limits, Refused> {
        limits(&Line::try_parse_from(["stub"].into_iter().chain(line.split_whitespace())).unwrap().args)
    }

    #[test]
    fn without_arguments_the_ceilings_are_the_documented_ones() {
        assert_eq!(read("").unwrap(), Limits::default());
    }

    #[test]
    fn any_key_of_the_telegram_table_can_be_set_and_texts_need_no_quotes() {
        let limits = read(
            "--answer-time 0ms --set chat_burst=7 --set upload_bytes_per_second=1MiB --set upload_retry_after=1s..2s",
        )
        .unwrap();
        assert_eq!(limits.answer_time, Duration::ZERO..=Duration::ZERO);
        assert_eq!(limits.chat_burst, 7);
        assert_eq!(limits.upload_bytes_per_second, Some(bytesize::ByteSize::mib(1)));
        assert_eq!(limits.upload_retry_after, Duration::from_secs(1)..=Duration::from_secs(2));
    }

    #[test]
    fn a_profile_holds_but_for_the_keys_that_are_set() {
        let limits = read("--profile off --set sends_per_second=5").unwrap();
        assert_eq!((limits.sends_per_second, limits.group_sends_per_minute), (5, 0));
    }

    #[test]
    fn a_key_that_does_not_exist_is_refused_with_those_that_do() {
        let says = read("--set chat_bust=7").unwrap_err().into_text();
        assert!(says.contains("chat_bust") && says.contains("chat_burst"), "{says}");
    }
}
