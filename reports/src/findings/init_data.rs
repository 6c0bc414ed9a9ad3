//! Forged or old initData was let in that had to be refused. Once is enough: whoever tries it does not stop at a share.

use super::{Finding, FindingId};
use crate::recording::InitDataFault;
use crate::summary::Act;
use crate::{Summary, Value};

/// Somebody else's name under one's own hash was taken for theirs.
pub(super) fn forged(summary: &Summary) -> Option<Finding> {
    let let_in = LetIn::of(summary, |fault| match fault {
        InitDataFault::Tampered => true,
        InitDataFault::Stale | InitDataFault::Reused => false,
    })?;
    let text = format!(
        "forged initData was let in: {} with another user's id in it were served, so anybody can act as anybody. \
         Compute its hash on the server, with the bot's token, on every request, and refuse what does not match: \
         \"Validating data received via the Mini App\" at core.telegram.org/bots/webapps.",
        let_in.in_words()
    );
    Some(Finding { id: FindingId::ForgedInitData, text, evidence: let_in.evidence })
}

/// What was good once was taken again. It takes somebody's own initData first, so it weighs less than a forgery.
pub(super) fn replayed(summary: &Summary) -> Option<Finding> {
    let let_in = LetIn::of(summary, |fault| match fault {
        InitDataFault::Stale | InitDataFault::Reused => true,
        InitDataFault::Tampered => false,
    })?;
    let text = format!(
        "old initData was let in: {} with initData that had been good once were served, so whoever gets hold of a \
         user's (in a log, by a proxy) can be that user for as long as they like. Compare `auth_date`, which the hash \
         covers, with the clock, and refuse what is older than a session may be.",
        let_in.in_words()
    );
    Some(Finding { id: FindingId::ReplayedInitData, text, evidence: let_in.evidence })
}

/// Acts that had to be refused.
struct LetIn {
    count: u64,
    of: u64,
    evidence: Vec<String>,
}

impl LetIn {
    /// Of those with such a fault; nothing when all were refused.
    fn of(summary: &Summary, counts: impl Fn(InitDataFault) -> bool) -> Option<Self> {
        let mut all = Self { count: 0, of: 0, evidence: Vec::new() };
        for (name, _) in summary.header.must_refuse.iter().filter(|(_, fault)| counts(**fault)) {
            all.add(name, summary.acts.get(name)?);
        }
        (all.count > 0).then_some(all)
    }

    fn add(&mut self, name: &str, act: &Act) {
        let (served, opened) = (act.outcomes.status_2xx, act.outcomes.status_1xx);
        let of = act.planned.saturating_sub(act.outcomes.excused());
        self.count += served + opened;
        self.of += of;
        let of = Value::Count(of);
        // The only 1xx that ends an exchange opens a WebSocket (RFC 6455, section 4.1).
        for (count, how) in [(served, "were answered 2xx"), (opened, "had their WebSocket opened")] {
            self.evidence.extend((count > 0).then(|| format!("{} of {of} `{name}` {how}", Value::Count(count))));
        }
    }

    fn in_words(&self) -> String {
        format!("{} of {} requests", Value::Count(self.count), Value::Count(self.of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const FORGED: [(&str, InitDataFault); 3] = [
        ("open.stale", InitDataFault::Stale),
        ("open.tampered", InitDataFault::Tampered),
        ("feed.tampered", InitDataFault::Tampered),
    ];

    /// Twelve of each, of which two were not taken; as many were served, or had their WebSocket opened.
    fn run(served: u64, opened: u64) -> Summary {
        let mut summary = fixture::summary();
        for (name, fault) in FORGED {
            let mut act = Act { planned: 12, ok: 10 - served - opened, ..Act::default() };
            (act.outcomes.status_2xx, act.outcomes.status_1xx, act.outcomes.skipped) = (served, opened, 2);
            summary.acts.insert(name.to_owned(), act);
            summary.header.must_refuse.insert(name.to_owned(), fault);
        }
        summary
    }

    #[test]
    fn refusals_are_no_finding_and_one_that_is_missing_is() {
        assert_eq!((forged(&run(0, 0)), replayed(&run(0, 0))), (None, None));
        assert!(forged(&run(1, 0)).is_some() && replayed(&run(1, 0)).is_some());
    }

    #[test]
    fn what_was_let_in_is_told_by_act_and_how() {
        let found = forged(&run(3, 1)).unwrap();
        assert!(found.text.starts_with("forged initData was let in: 8 of 20 requests with"), "{}", found.text);
        assert_eq!(
            found.evidence,
            [
                "3 of 10 `feed.tampered` were answered 2xx",
                "1 of 10 `feed.tampered` had their WebSocket opened",
                "3 of 10 `open.tampered` were answered 2xx",
                "1 of 10 `open.tampered` had their WebSocket opened",
            ]
        );
        assert_eq!(replayed(&run(10, 0)).unwrap().evidence, ["10 of 10 `open.stale` were answered 2xx"]);
    }

    #[test]
    fn an_old_hash_is_not_called_a_forgery_and_what_need_not_be_refused_is_neither() {
        let mut summary = run(5, 0);
        summary.header.must_refuse = [("open.stale".to_owned(), InitDataFault::Stale)].into();
        assert!(forged(&summary).is_none() && replayed(&summary).is_some());
        summary.header.must_refuse.clear();
        assert_eq!((forged(&summary), replayed(&summary)), (None, None));
    }
}
