//! What breaks on order: answers that come late, wrong, or not at all. PURE.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::answer::Refusal;
use crate::catalogue;

/// A fault that was ordered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fault {
    /// Which method it strikes; absent or `*`: any.
    pub method: Option<String>,
    /// Only calls about this chat.
    pub chat: Option<i64>,
    /// How many calls it lets pass first.
    pub after: u64,
    /// How many calls it strikes then; absent: all, until it is cleared.
    pub times: Option<u64>,
    /// How long it lasts from the moment at which it is ordered; absent: until it is cleared.
    #[serde(with = "humantime_serde::option")]
    pub lasts: Option<Duration>,
    /// The answer is held for so long.
    #[serde(with = "humantime_serde::option")]
    pub delay: Option<Duration>,
    /// The status to answer, 400 to 599, and the nearest of these for any other; absent: the call is answered as
    /// usual, late or not at all.
    #[serde(deserialize_with = "status")]
    pub code: Option<u16>,
    /// Its words; absent: Telegram's for that status.
    pub description: Option<String>,
    /// Seconds, for a 429.
    pub retry_after: Option<u32>,
    /// The connection ends without an answer.
    pub reset: bool,
    /// No answer comes, and the connection stays.
    pub hang: bool,
}

/// What a refusal may have as its status.
const STATUSES: std::ops::RangeInclusive<u16> = 400..=599;

fn status<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u16>, D::Error> {
    let code = Option::<u16>::deserialize(from)?;
    match code.filter(|code| !STATUSES.contains(code)) {
        Some(code) => Err(de::Error::custom(format!("{code} is no status of a refusal, which is 400 to 599"))),
        None => Ok(code),
    }
}

/// What happens to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Strike {
    pub(crate) delay: Duration,
    pub(crate) then: Then,
}

/// And after the delay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Then {
    Answer,
    Refuse(Refusal),
    Reset,
    Hang,
}

/// More than a test orders: every call looks through all that are left.
const MOST: usize = 1000;

/// A fault was one too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{MOST} faults are ordered already: take them back first, or give them `times` or `lasts`")]
pub struct TooManyFaults;

/// All faults that are ordered; the first one that strikes does.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Ordered>);

#[derive(Debug)]
struct Ordered {
    fault: Fault,
    /// Where it does not last for ever.
    ends: Option<Duration>,
}

impl Faults {
    pub(crate) fn order(&mut self, now: Duration, fault: Fault) -> Result<(), TooManyFaults> {
        self.forget_ended(now);
        if self.0.len() == MOST {
            return Err(TooManyFaults);
        }
        let ends = fault.lasts.map(|lasts| now.saturating_add(lasts));
        self.0.push(Ordered { fault, ends });
        Ok(())
    }

    fn forget_ended(&mut self, now: Duration) {
        self.0.retain(|ordered| ordered.ends.is_none_or(|ends| now < ends));
    }

    /// Those that still wait for their calls.
    pub(crate) fn at(&self, now: Duration) -> Vec<&Fault> {
        let last = self.0.iter().filter(|ordered| ordered.ends.is_none_or(|ends| now < ends));
        last.map(|ordered| &ordered.fault).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// What strikes this call, if anything does; it is used up by that.
    pub(crate) fn strike(&mut self, now: Duration, method: &str, chat: Option<i64>) -> Option<Strike> {
        self.forget_ended(now);
        let faults = self.0.iter_mut().map(|ordered| &mut ordered.fault);
        let fault = faults.filter(|fault| fault.is_about(method, chat)).find_map(Fault::use_up)?;
        let strike = fault.strike();
        self.0.retain(|ordered| ordered.fault.times != Some(0));
        Some(strike)
    }
}

impl Fault {
    fn is_about(&self, method: &str, chat: Option<i64>) -> bool {
        let named = self.method.as_deref().filter(|name| *name != "*");
        let is_method = named.is_none_or(|name| catalogue::method(name).is_some_and(|known| known.name() == method));
        is_method && self.chat.is_none_or(|about| Some(about) == chat)
    }

    /// Counts a call that it is about; itself, if it strikes.
    fn use_up(&mut self) -> Option<&mut Self> {
        if self.after > 0 {
            self.after -= 1;
            return None;
        }
        self.times = self.times.map(|times| times.saturating_sub(1));
        Some(self)
    }

    fn strike(&self) -> Strike {
        let then = match (self.hang, self.reset, self.code) {
            (true, _, _) => Then::Hang,
            (false, true, _) => Then::Reset,
            (false, false, Some(code)) => Then::Refuse(self.refusal(code)),
            (false, false, None) => Then::Answer,
        };
        Strike { delay: self.delay.unwrap_or_default(), then }
    }

    fn refusal(&self, code: u16) -> Refusal {
        let code = code.clamp(*STATUSES.start(), *STATUSES.end());
        let usual = if code == 429 { Refusal::too_many(self.retry_after.unwrap_or(1)) } else { Refusal::of(code) };
        match &self.description {
            Some(says) => Refusal { description: says.clone().into(), ..usual },
            None => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(fault: Fault) -> Faults {
        let mut faults = Faults::default();
        faults.order(Duration::ZERO, fault).unwrap();
        faults
    }

    fn strike(faults: &mut Faults, method: &str, chat: Option<i64>) -> Option<Strike> {
        faults.strike(Duration::ZERO, method, chat)
    }

    #[test]
    fn a_fault_strikes_as_often_as_ordered_and_after_as_many_calls() {
        let mut faults = ordered(Fault { after: 1, times: Some(2), code: Some(500), ..Fault::default() });
        let struck: Vec<bool> = (0..5).map(|_| strike(&mut faults, "sendMessage", None).is_some()).collect();
        assert_eq!(struck, [false, true, true, false, false]);
    }

    #[test]
    fn it_strikes_only_its_method_in_any_case_and_its_chat() {
        let fault = Fault { method: Some("SENDMESSAGE".to_owned()), chat: Some(5), ..Fault::default() };
        let mut faults = ordered(fault);
        assert!(strike(&mut faults, "sendMessage", Some(5)).is_some());
        assert!(
            strike(&mut faults, "sendPhoto", Some(5)).is_none()
                && strike(&mut faults, "sendMessage", Some(6)).is_none()
        );
    }

    #[test]
    fn a_429_tells_its_seconds_and_words_may_be_given() {
        let mut faults = ordered(Fault { code: Some(429), retry_after: Some(9), ..Fault::default() });
        assert_eq!(strike(&mut faults, "getMe", None).unwrap().then, Then::Refuse(Refusal::too_many(9)));
        let mut faults =
            ordered(Fault { code: Some(502), description: Some("Bad Gateway".to_owned()), ..Fault::default() });
        let Then::Refuse(refusal) = strike(&mut faults, "getMe", None).unwrap().then else { panic!("it refuses") };
        assert_eq!((refusal.code, &*refusal.description), (502, "Bad Gateway"));
    }

    #[test]
    fn an_outage_ends_when_its_time_is_over() {
        let mut faults = ordered(Fault { lasts: Some(Duration::from_secs(10)), code: Some(502), ..Fault::default() });
        let mut struck = |millis| faults.strike(Duration::from_millis(millis), "getMe", None).is_some();
        assert_eq!([0, 9_999, 10_000, 9_999].map(&mut struck), [true, true, false, false]);
    }

    #[test]
    fn a_thousand_faults_are_taken_and_one_more_only_when_one_of_them_has_ended() {
        let mut faults = ordered(Fault { lasts: Some(Duration::from_secs(10)), ..Fault::default() });
        let mut order = |seconds| faults.order(Duration::from_secs(seconds), Fault::default());
        assert!((1..MOST).all(|_| order(0).is_ok()));
        assert_eq!((order(9), order(10), order(10)), (Err(TooManyFaults), Ok(()), Err(TooManyFaults)));
    }

    #[test]
    fn a_status_that_no_refusal_has_is_not_taken() {
        let read = |code: u16| serde_json::from_value::<Fault>(serde_json::json!({ "code": code }));
        assert_eq!([399, 400, 599, 600].map(|code| read(code).is_ok()), [false, true, true, false]);
        assert!(read(200).unwrap_err().to_string().starts_with("200 is no status of a refusal"));
        let mut faults = ordered(Fault { code: Some(9999), ..Fault::default() });
        let Then::Refuse(refusal) = strike(&mut faults, "getMe", None).unwrap().then else { panic!("it refuses") };
        assert_eq!(refusal.code, 599);
    }
}
