//! Why no call has reached the stub, by what runs, and what to do.

use procfs::process::Process;

use super::hooks::{Hooks, Mark};
use super::variables::API_ROOTS;
use crate::keeper::descendants;
use crate::vitals::{Runtime, isolating};

/// In words, for a person who has to do something now.
pub(super) fn advice(hooks: &Hooks, isolated: bool, root: u32, stub_url: &str) -> String {
    let mut said: Vec<Said> = descendants(root).iter().filter_map(|process| said_of(process.pid, hooks)).collect();
    // A shell around a bot is no reason to say so beside the bot.
    if said.iter().any(|said| said.hookable) {
        said.retain(|said| said.hookable);
    }
    let facts: Vec<String> = said.into_iter().map(|said| said.text).collect();
    let facts = if facts.is_empty() { "no process of the system is left".to_owned() } else { facts.join("; ") };
    format!("0 calls reached the stub: {facts}. {}", next_step(isolated, stub_url))
}

fn next_step(isolated: bool, stub_url: &str) -> String {
    let names = API_ROOTS.len() - 1;
    let variable = format!(
        "set the variable that the bot takes its API root from to \"{{stub.url}}\" ({stub_url}) in [system.env]: \
         TELEGRAM_API_ROOT and {names} others are set"
    );
    if isolated {
        format!(
            "Does it call https://api.telegram.org, and trust the certificates of SSL_CERT_FILE (a JVM: \
             of JAVA_TOOL_OPTIONS)? Or {variable}"
        )
    } else {
        format!("Run with --isolate, which needs no hook, or {variable}")
    }
}

struct Said {
    text: String,
    hookable: bool,
}

/// Of one process; nothing of one that has ended.
fn said_of(pid: u32, hooks: &Hooks) -> Option<Said> {
    let process = Process::new(pid as i32).ok()?;
    let who = format!("pid {pid} ({})", process.stat().ok()?.comm);
    let runtime = Runtime::of(&process.exe().ok()?);
    let text = match (hooks.marks().get(&pid), &runtime) {
        (Some(Mark::Loaded), _) => format!("{who} has the hook and has not called https://api.telegram.org"),
        (Some(Mark::Redirected), _) => format!("{who} has opened a connection to the stub and sent no call by it"),
        (None, Runtime::Node) => {
            format!("{who} has not loaded the hook: let what starts it add to NODE_OPTIONS instead of replacing it")
        }
        (None, Runtime::Python) => match process.cmdline().ok().and_then(|words| isolating(&words)) {
            Some(flag) => format!("{who} was started with {flag}, with which Python loads no hook"),
            None => {
                format!("{who} has not loaded the hook: let what starts it add to PYTHONPATH instead of replacing it")
            }
        },
        (None, Runtime::Other(_)) => format!("{who} is neither Node nor Python, which alone can be hooked"),
    };
    Some(Said { text, hookable: runtime.is_hookable() })
}
