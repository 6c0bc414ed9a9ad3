//! Where a loop was while it stalled, as Python's faulthandler writes it, and the Node probe after it. Pure.

/// Frames that are kept, the innermost first: enough to name the culprit and who called it.
const FRAMES: usize = 8;

/// The frames of the last thread in a dump, each as `function (file:line)`. The main thread comes last.
pub(super) fn frames(dump: &str) -> Vec<String> {
    let starts_thread = |line: &&str| line.starts_with("Thread 0x") || line.starts_with("Current thread 0x");
    let last: Vec<&str> = dump.lines().rev().take_while(|line| !starts_thread(line)).collect();
    last.iter().rev().filter_map(|line| frame(line)).take(FRAMES).collect()
}

/// `  File "server.py", line 12 in stall`.
fn frame(line: &str) -> Option<String> {
    let (file, rest) = line.strip_prefix("  File \"")?.rsplit_once("\", line ")?;
    let (line, function) = rest.split_once(" in ")?;
    Some(format!("{function} ({}:{line})", file.strip_prefix("file://").unwrap_or(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thread_of_a_dump_is_told_innermost_frame_first() {
        let dump = "Timeout (0:00:00.200000)!\n\
            Thread 0x00007f01 (most recent call first):\n  File \"/a/pool.py\", line 3 in wait\n\n\
            Thread 0x00007f02 (most recent call first):\n  File \"/a/app.py\", line 12 in <module>\n  \
            File \"/a/b \", line 1.py\", line 7 in main\n";
        assert_eq!(frames(dump), ["<module> (/a/app.py:12)", "main (/a/b \", line 1.py:7)"]);
    }

    #[test]
    fn a_dump_that_was_cut_short_or_is_none_has_no_more_than_its_whole_lines() {
        assert_eq!(frames(""), [""; 0]);
        assert_eq!(
            frames("Thread 0x0 (most recent call first):\n  File \"a.js\", line 1 in f\n  File \"b.js\", li"),
            ["f (a.js:1)"]
        );
    }
}
