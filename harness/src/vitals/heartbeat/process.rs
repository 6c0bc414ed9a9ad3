//! One process of the system as the heartbeat sees it: what runs it, and why it is silent when it is.

use std::ffi::OsStr;
use std::path::Path;

use procfs::process::Process;

use super::Folder;
use super::page::{Page, State};

/// What runs a program, by the name of its executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Runtime {
    Node,
    Python,
    Other(String),
}

impl Runtime {
    /// Whether something can be put before its programs by their environment.
    pub(crate) fn is_hookable(&self) -> bool {
        match self {
            Self::Node | Self::Python => true,
            Self::Other(_) => false,
        }
    }

    pub(crate) fn of(executable: &Path) -> Self {
        let name = executable.file_name().unwrap_or_default().to_string_lossy();
        match &*name {
            "node" | "nodejs" => Self::Node,
            python if python.starts_with("python") || python.starts_with("pypy") => Self::Python,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// A process and its page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pulse {
    /// Its loop beats.
    Beating {
        /// `pid 12 (node)`, or `thread 15 of pid 12 (node)`.
        who: String,
    },
    /// It may come to beat: the probe is there.
    NotYet {
        /// What it will be called if it never does.
        why: String,
    },
    /// It will never beat, and why.
    Silent {
        /// In words.
        why: String,
    },
}

impl Pulse {
    /// Of this process now. One that has ended is silent.
    pub(super) fn of(pid: u32, folder: &Folder) -> Self {
        let Ok(process) = Process::new(pid as i32) else {
            return Self::Silent { why: format!("pid {pid} has ended") };
        };
        let runtime = process.exe().map_or_else(|_| Runtime::Other("hidden".to_owned()), |path| Runtime::of(&path));
        let who = who(pid, pid);
        let page = std::fs::read(folder.pages().join(pid.to_string())).ok().and_then(|bytes| Page::parse(&bytes));
        match (page.map(|page| page.state), runtime) {
            (Some(State::Beating), _) => Self::Beating { who },
            (Some(State::Hello | State::Ended), Runtime::Python) => {
                Self::NotYet { why: format!("{who} runs no asyncio loop") }
            }
            (Some(State::Hello | State::Ended), Runtime::Node | Runtime::Other(_)) => {
                Self::NotYet { why: format!("the loop of {who} has not come round once") }
            }
            (None, Runtime::Other(_)) => Self::Silent {
                why: format!("{who} is neither Node nor Python, whose loops alone are seen from inside"),
            },
            (None, Runtime::Node) => without_page(&who, &process, "NODE_OPTIONS", &folder.node(), None),
            (None, Runtime::Python) => {
                let flag = process.cmdline().ok().and_then(|words| isolating(&words));
                without_page(&who, &process, "PYTHONPATH", &folder.python(), flag)
            }
        }
    }
}

/// A process, or a thread of it that is not the main one, in words.
pub(super) fn who(pid: u32, thread: u32) -> String {
    let stat = Process::new(pid as i32).and_then(|process| process.stat());
    let name = stat.map_or_else(|_| "gone".to_owned(), |stat| stat.comm);
    let of = if thread == pid { String::new() } else { format!("thread {thread} of ") };
    format!("{of}pid {pid} ({name})")
}

fn without_page(who: &str, process: &Process, variable: &str, probe: &Path, flag: Option<String>) -> Pulse {
    let value = process.environ().ok().and_then(|mut all| all.remove(OsStr::new(variable))).unwrap_or_default();
    if let Some(flag) = flag {
        return Pulse::Silent { why: format!("{who} was started with {flag}, with which Python loads no probe") };
    }
    if !value.to_string_lossy().contains(&*probe.to_string_lossy()) {
        let why =
            format!("{variable} was replaced on the way to {who}: let what starts it add to the variable instead");
        return Pulse::Silent { why };
    }
    Pulse::NotYet { why: format!("{who} has the probe in {variable} and wrote no page: it may not be allowed to") }
}

/// The option of a Python's command line that keeps it from loading `sitecustomize` from `PYTHONPATH`.
pub(crate) fn isolating(words: &[String]) -> Option<String> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))?;
        for letter in letters.chars() {
            match letter {
                'I' | 'E' | 'S' => return Some(format!("-{letter}")),
                // From here on the words are the program's.
                'c' | 'm' => return None,
                'W' | 'X' => {
                    if letters.ends_with(letter) {
                        words.next();
                    }
                    break;
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isolating_of(line: &str) -> Option<String> {
        isolating(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn an_option_that_isolates_python_is_found_among_others() {
        assert_eq!(isolating_of("python3 -I app.py"), Some("-I".to_owned()));
        assert_eq!(isolating_of("python3 -uES -m app"), Some("-E".to_owned()));
        assert_eq!(isolating_of("python3 -X dev -W error -S app.py"), Some("-S".to_owned()));
    }

    #[test]
    fn the_programs_own_options_isolate_nothing() {
        for line in [
            "python3 app.py -I",
            "python3 -m app -E",
            "python3 -c -S",
            "python3 -Xdev -WI",
            "python3 --help-env",
            "python3",
        ] {
            assert_eq!(isolating_of(line), None, "{line}");
        }
    }

    #[test]
    fn a_runtime_goes_by_its_executable() {
        let of = |path: &str| Runtime::of(Path::new(path));
        assert_eq!(of("/usr/bin/python3.11"), Runtime::Python);
        assert_eq!(of("/opt/node/bin/node"), Runtime::Node);
        assert_eq!(of("/srv/notifier"), Runtime::Other("notifier".to_owned()));
    }

    #[test]
    fn a_rust_program_is_silent_by_its_nature() {
        let folder = Folder::create().unwrap();
        let Pulse::Silent { why } = Pulse::of(std::process::id(), &folder) else { panic!("this is Rust") };
        assert!(why.ends_with("is neither Node nor Python, whose loops alone are seen from inside"), "{why}");
    }
}
