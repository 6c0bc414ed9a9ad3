//! What it means where requests and bare connects, both from outside, disagree.

use crate::Value;
use crate::recording::{Apart, Stall};
use crate::value::many;

/// In a sentence for each side, if they do.
pub(super) fn remark(outside: &[Stall]) -> Option<String> {
    let met = |apart| {
        let lengths = outside.iter().filter(|stall| stall.apart == Some(apart)).map(|stall| stall.len_us);
        let (count, longest) = lengths.fold((0, 0), |(count, longest), len| (count + 1, len.max(longest)));
        (count > 0).then_some((many(count, "time"), Value::Time(longest)))
    };
    let behind = met(Apart::Requests).map(|(count, longest)| {
        format!(
            "{count}, up to {longest}, requests waited while bare connects were accepted at once: the loop that \
             accepts was calm and the wait behind it (a pool, a lock, another process, one worker of several)"
        )
    });
    let before = met(Apart::Connects).map(|(count, longest)| {
        format!(
            "{count}, up to {longest}, bare connects waited while requests were answered at once: the process or \
             thread that accepts stood still or would take no more, and not the one that serves"
        )
    });
    one_after_the_other([behind, before])
}

/// Both remarks in one, as far as there are any.
pub(super) fn one_after_the_other(both: [Option<String>; 2]) -> Option<String> {
    both.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stall(len_us: u64, apart: Option<Apart>) -> Stall {
        Stall { len_us, apart, ..Stall::default() }
    }

    #[test]
    fn nothing_is_said_where_they_agree_or_nobody_can_tell() {
        assert_eq!(remark(&[stall(900_000, None)]), None);
    }

    #[test]
    fn requests_that_wait_alone_wait_behind_the_loop() {
        let said = remark(&[stall(300_000, Some(Apart::Requests)), stall(700_000, Some(Apart::Requests))]).unwrap();
        assert!(
            said.starts_with("2 times, up to 700 ms, requests waited") && said.contains("accepts was calm"),
            "{said}"
        );
    }

    #[test]
    fn connects_that_wait_alone_wait_for_who_accepts() {
        let both = [stall(300_000, Some(Apart::Connects)), stall(700_000, Some(Apart::Requests))];
        let said = remark(&both).unwrap();
        assert!(
            said.contains("; 1 time, up to 300 ms, bare connects waited") && said.contains("that accepts"),
            "{said}"
        );
    }
}
