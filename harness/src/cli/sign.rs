//! `floodrig sign`: signed initData of as many players as asked for, one a line, for trying a Mini App by hand and for
//! checking the rig against validators that others wrote.

use std::io::{self, BufWriter, Write};
use std::time::SystemTime;

use super::Exit;
use crate::init_data::{Keys, Launch, TEST_PUBLIC_KEY, sign};
use crate::plan::{Player, crowd};

/// How many players share a group.
const GROUP: u32 = 10;

/// Print signed initData, one player a line.
#[derive(Debug, clap::Args)]
#[command(after_help = format!(
    "The hash is the real one. Only Telegram can make the Ed25519 `signature`: this one is made with the rig's own key, \
     whose public half is {TEST_PUBLIC_KEY}."
))]
pub(super) struct Args {
    /// The bot's token; the default never existed.
    #[arg(long, default_value = "7000000001:AAFakeTokenForLoadTests-abc_DEF0123456")]
    token: String,
    /// How many players.
    #[arg(long, default_value_t = 1)]
    count: u32,
    /// The seed that the players are drawn from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What the link says after `startapp=`; empty for nothing. By default the id of the player's group.
    #[arg(long)]
    start_param: Option<String>,
    /// When the app was opened, in seconds since 1970. By default now.
    #[arg(long, value_name = "UNIX")]
    auth_date: Option<u64>,
}

/// Prints what `args` ask for.
pub(super) fn run(args: &Args) -> Exit {
    Exit::printed(print(args))
}

fn print(args: &Args) -> io::Result<()> {
    let auth_date = args.auth_date.unwrap_or_else(now);
    let mut out = BufWriter::new(io::stdout().lock());
    lines(args, auth_date).try_for_each(|line| writeln!(out, "{line}"))?;
    out.flush()
}

#[expect(clippy::disallowed_methods, reason = "initData that is tried by hand has to be fresh")]
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn lines(args: &Args, auth_date: u64) -> impl Iterator<Item = String> {
    let keys = Keys::of_bot(&args.token);
    let players = crowd(args.seed, args.count.div_ceil(GROUP), GROUP).into_iter().take(args.count as usize);
    players.map(move |player| {
        let start_param = start_param(args, &player);
        sign(&player, &Launch { start_param: &start_param, auth_date }, &keys)
    })
}

fn start_param(args: &Args, player: &Player) -> String {
    args.start_param.clone().unwrap_or_else(|| player.chat_id.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn signed(line: &str) -> Vec<String> {
        let args =
            Line::try_parse_from(format!("sign {line}").split(' ').filter(|word| !word.is_empty())).unwrap().args;
        lines(&args, args.auth_date.unwrap()).collect()
    }

    #[test]
    fn as_many_players_as_asked_for_are_signed_and_all_differ() {
        let signed = signed("--count 25 --auth-date 1790000000");
        assert_eq!(signed.iter().collect::<BTreeSet<_>>().len(), 25);
    }

    #[test]
    fn the_same_seed_and_date_sign_the_same_and_another_seed_does_not() {
        let date = "--auth-date 1790000000";
        assert_eq!(signed(date), signed(date));
        assert_ne!(signed(date), signed(&format!("{date} --seed 2")));
    }

    #[test]
    fn the_link_names_the_group_unless_told_otherwise() {
        let field =
            |line: &str| signed(line)[0].split('&').find(|field| field.starts_with("start_param")).map(str::to_owned);
        assert!(field("--auth-date 1").unwrap().starts_with("start_param=-100"));
        assert_eq!(field("--auth-date 1 --start-param g_1").unwrap(), "start_param=g_1");
        assert_eq!(field("--auth-date 1 --start-param="), None);
    }
}
