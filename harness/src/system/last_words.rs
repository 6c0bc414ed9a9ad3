//! What a dying system said of its own death: the lines in which runtimes give the reason, told from mere noise.
//!
//! Pure: lines in, words out. It knows how V8, Node, Python, Go, Rust and Bun put it, and does not guess beyond.

/// Lines of stderr that an ending quotes.
const QUOTED_LINES: usize = 20;
/// Of them, how many the reason may take when it stands further up: V8 prints some forty lines of its stack after it.
const REASON_LINES: usize = 8;
/// Stands for the lines between the reason and the last ones.
const CUT: &str = "[..]";

/// What is quoted: the last lines, and before them the reason where it stands further up.
pub(super) fn quoted(tail: &[String]) -> Vec<String> {
    let last = tail.len().saturating_sub(QUOTED_LINES);
    match reason(tail) {
        Some(Reason { at, .. }) if at < last => {
            let reason = tail[at..last].iter().take(REASON_LINES).cloned();
            let left = tail[tail.len() - (QUOTED_LINES - REASON_LINES - 1)..].iter().cloned();
            reason.chain([CUT.to_owned()]).chain(left).collect()
        }
        Some(_) | None => tail[last..].to_vec(),
    }
}

/// The reason in one line, as the system itself put it.
pub(super) fn told(tail: &[String]) -> Option<String> {
    reason(tail).map(|reason| reason.says)
}

/// Where it begins among the lines, and what it says.
#[derive(Debug, PartialEq, Eq)]
struct Reason {
    at: usize,
    says: String,
}

/// The last one: a system that goes on after a panic of one thread may still die of the next.
fn reason(tail: &[String]) -> Option<Reason> {
    let found = |at: usize| says(tail, at).map(|says| Reason { at, says });
    (0..tail.len()).rev().find_map(found)
}

fn says(tail: &[String], at: usize) -> Option<String> {
    let line = tail[at].trim();
    let starts = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    if line == "Traceback (most recent call last):" {
        return python(&tail[at + 1..]);
    }
    if line.contains("' panicked at ") && line.starts_with("thread '") {
        // The message stands in a line of its own since Rust 1.73.
        let message = tail.get(at + 1).filter(|next| line.ends_with(':') && !next.starts_with("note: "));
        return Some(message.map_or_else(|| line.to_owned(), |message| format!("{line} {}", message.trim())));
    }
    if line.starts_with("Node.js v") {
        return node(&tail[..at]);
    }
    // V8; CPython; Go; Go and Bun.
    let is_last_word = starts(&["FATAL ERROR: ", "Fatal Python error: ", "fatal error: ", "panic: ", "panic("]);
    is_last_word.then(|| line.to_owned())
}

/// The exception closes the traceback, and nothing may come after it: one that was caught and logged kills nobody.
fn python(after: &[String]) -> Option<String> {
    let end = after.iter().position(|line| !line.starts_with(' ') && !line.is_empty())?;
    let rest = &after[end + 1..];
    rest.iter().all(|line| line.trim().is_empty()).then(|| after[end].clone())
}

/// Node ends what it says of an uncaught error with its version, and begins the stack right after the error.
fn node(before: &[String]) -> Option<String> {
    let is_frame = |line: &String| line.starts_with("    at ");
    let error = before.windows(2).rev().find(|pair| !is_frame(&pair[0]) && is_frame(&pair[1]))?;
    Some(error[0].trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_runtime_gives_its_reason_in_its_own_way() {
        let told = |text: &str| told(&lines(text)).unwrap_or_default();
        let v8 = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
        assert_eq!(
            told(&format!("<--- Last few GCs --->\n\n{v8}\n----- Native stack trace -----\n\n 1: 0xb76dc5")),
            v8
        );
        let python =
            "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\n    f()\nValueError: no";
        assert_eq!(told(python), "ValueError: no");
        let node = "/app.js:1\nthrow new TypeError('x')\n^\n\nTypeError: x\n    at f (/app.js:1:7)\n    at g (/app.js:2:1)\n\nNode.js v20.20.0";
        assert_eq!(told(node), "TypeError: x");
        let rust = "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`";
        assert_eq!(told(rust), "thread 'main' panicked at src/main.rs:3:5: index out of bounds");
        let bun = "panic: Segmentation fault at address 0x0";
        assert_eq!(told(&format!("{bun}\noh no: Bun has crashed.")), bun);
        let go = "panic: runtime error: index out of range [3] with length 1";
        assert_eq!(told(&format!("{go}\n\ngoroutine 1 [running]:\nmain.main()\nexit status 2")), go);
    }

    #[test]
    fn what_was_caught_and_logged_is_no_reason() {
        let caught = "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: no\nserving on";
        assert_eq!(told(&lines(caught)), None);
        assert_eq!(told(&lines("Error: job 1 lost\nbye")), None);
    }

    #[test]
    fn a_reason_beyond_the_last_lines_is_quoted_before_them() {
        let stack = "1: 0xb76dc5\n".repeat(40);
        let tail = lines(&format!("ready\nFATAL ERROR: heap\n{stack}"));
        let quoted = quoted(&tail);
        assert_eq!(quoted.len(), QUOTED_LINES);
        assert_eq!((quoted[0].as_str(), quoted[REASON_LINES].as_str()), ("FATAL ERROR: heap", CUT));
        assert_eq!(quoted.last(), tail.last());
    }

    #[test]
    fn a_short_tail_is_quoted_whole() {
        let tail = lines("a\npanic: b");
        assert_eq!(quoted(&tail), tail);
        assert_eq!(quoted(&[]), Vec::<String>::new());
    }
}
