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
    /// Whether it did.
    pub as_expected: bool,
    /// 0 when it did; else the run's own code, or 1 where that would be 0.
    pub exit_code: u8,
    /// In words: `as expected: broken with render_stampede`.
    pub words: String,
}

/// Holds a run against what is expected of it.
pub fn hold(expected: &Expectation, verdict: &Verdict, findings: &[Finding]) -> Held {
    let kind = verdict.kind();
    let missing: Vec<FindingId> =
        expected.findings.iter().copied().filter(|id| findings.iter().all(|finding| finding.id != *id)).collect();
    if kind == expected.verdict && missing.is_empty() {
        return Held {
            as_expected: true,
            exit_code: 0,
            words: format!("as expected: {}", outcome(kind, &expected.findings)),
        };
    }
    let found: Vec<FindingId> = findings.iter().map(|finding| finding.id).collect();
    let (wanted, came) = (outcome(expected.verdict, &expected.findings), outcome(kind, &found));
    let words = format!("not as expected: {came}, and it should be {wanted}");
    Held { as_expected: false, exit_code: kind.exit_code().max(1), words }
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

    fn held(expected: &Expectation, verdict: &Verdict, found: &[FindingId]) -> (bool, u8, String) {
        let finding = |id: &FindingId| Finding { id: *id, text: String::new(), evidence: Vec::new() };
        let Held { as_expected, exit_code, words } =
            hold(expected, verdict, &found.iter().map(finding).collect::<Vec<_>>());
        (as_expected, exit_code, words)
    }

    #[test]
    fn the_expected_verdict_with_the_expected_findings_is_green() {
        let found = [FindingId::RenderStampede, FindingId::ThrottleStorm];
        let green = held(&broken_with_a_stampede(), &Verdict::Broken(Vec::new()), &found);
        assert_eq!(green, (true, 0, "as expected: broken with render_stampede".to_owned()));
    }

    #[test]
    fn not_failing_is_not_as_expected() {
        let passed = held(&broken_with_a_stampede(), &Verdict::Pass, &[]);
        let words = "not as expected: pass, and it should be broken with render_stampede".to_owned();
        assert_eq!(passed, (false, 1, words));
    }

    #[test]
    fn failing_for_another_reason_is_not_as_expected() {
        let other = held(&broken_with_a_stampede(), &Verdict::Broken(Vec::new()), &[FindingId::ThrottleStorm]);
        assert_eq!((other.0, other.1), (false, 1));
        let invalid = held(&broken_with_a_stampede(), &Verdict::Invalid(Vec::new()), &[FindingId::RenderStampede]);
        assert_eq!((invalid.0, invalid.1), (false, 4));
    }

    #[test]
    fn without_an_expectation_a_run_must_pass() {
        assert_eq!(held(&Expectation::default(), &Verdict::Pass, &[]), (true, 0, "as expected: pass".to_owned()));
        assert_eq!(held(&Expectation::default(), &Verdict::Broken(Vec::new()), &[]).1, 1);
    }
}
