//! A run held against what its scenario expects: failing for another reason, or not failing, is not as expected.

use crate::{Finding, FindingId, Verdict, VerdictKind};

/// How a run is expected to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The verdict.
    pub verdict: VerdictKind,
    /// Findings that there must be; others may be there too.
    pub findings: Vec<FindingId>,
}

/// Without `expect` a run must pass.
impl Default for Expectation {
    fn default() -> Self {
        Self { verdict: VerdictKind::Pass, findings: Vec::new() }
    }
}

/// Whether a run ended as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Nothing when it did. Else what it counts as: broken, when it failed for another reason or did not fail; its own
    /// verdict, when it should have passed, or when nobody can tell what it would have come to.
    pub kind: Option<VerdictKind>,
    /// In words: `as expected: broken with render_stampede`.
    pub words: String,
}

/// Holds a run against what is expected of it.
pub fn hold(expected: &Expectation, verdict: &Verdict, findings: &[Finding]) -> Held {
    let kind = verdict.kind();
    let missing: Vec<FindingId> =
        expected.findings.iter().copied().filter(|id| findings.iter().all(|finding| finding.id != *id)).collect();
    if kind == expected.verdict && missing.is_empty() {
        return Held { kind: None, words: format!("as expected: {}", outcome(kind, &expected.findings)) };
    }
    let found: Vec<FindingId> = findings.iter().map(|finding| finding.id).collect();
    let (wanted, came) = (outcome(expected.verdict, &expected.findings), outcome(kind, &found));
    let words = format!("not as expected: {came}, and it should be {wanted}");
    Held { kind: Some(counts_as(expected, kind)), words }
}

fn counts_as(expected: &Expectation, kind: VerdictKind) -> VerdictKind {
    match kind {
        VerdictKind::Pass => VerdictKind::Broken,
        VerdictKind::Broken | VerdictKind::Died if expected.verdict != VerdictKind::Pass => VerdictKind::Broken,
        VerdictKind::Broken
        | VerdictKind::Died
        | VerdictKind::NotReady
        | VerdictKind::Invalid
        | VerdictKind::Failed
        | VerdictKind::Partial => kind,
    }
}

fn outcome(kind: VerdictKind, findings: &[FindingId]) -> String {
    let names: Vec<&str> = findings.iter().map(|id| id.name()).collect();
    let with = if names.is_empty() { String::new() } else { format!(" with {}", names.join(", ")) };
    format!("{}{with}", kind.name().replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken_with_a_stampede() -> Expectation {
        Expectation { verdict: VerdictKind::Broken, findings: vec![FindingId::RenderStampede] }
    }

    fn held(expected: &Expectation, verdict: &Verdict, found: &[FindingId]) -> (Option<VerdictKind>, String) {
        let finding = |id: &FindingId| Finding { id: *id, text: String::new(), evidence: Vec::new() };
        let Held { kind, words } = hold(expected, verdict, &found.iter().map(finding).collect::<Vec<_>>());
        (kind, words)
    }

    #[test]
    fn the_expected_verdict_with_the_expected_findings_is_green() {
        let found = [FindingId::RenderStampede, FindingId::ThrottleStorm];
        let green = held(&broken_with_a_stampede(), &Verdict::Broken(Vec::new()), &found);
        assert_eq!(green, (None, "as expected: broken with render_stampede".to_owned()));
    }

    #[test]
    fn not_failing_is_not_as_expected() {
        let passed = held(&broken_with_a_stampede(), &Verdict::Pass, &[]);
        let words = "not as expected: pass, and it should be broken with render_stampede".to_owned();
        assert_eq!(passed, (Some(VerdictKind::Broken), words));
    }

    #[test]
    fn failing_for_another_reason_is_not_as_expected() {
        let other = held(&broken_with_a_stampede(), &Verdict::Broken(Vec::new()), &[FindingId::ThrottleStorm]);
        assert_eq!(other.0, Some(VerdictKind::Broken));
        let invalid = held(&broken_with_a_stampede(), &Verdict::Invalid(Vec::new()), &[FindingId::RenderStampede]);
        assert_eq!(invalid.0, Some(VerdictKind::Invalid));
    }

    #[test]
    fn without_an_expectation_a_run_must_pass() {
        assert_eq!(held(&Expectation::default(), &Verdict::Pass, &[]), (None, "as expected: pass".to_owned()));
        assert_eq!(held(&Expectation::default(), &Verdict::Broken(Vec::new()), &[]).0, Some(VerdictKind::Broken));
    }
}
