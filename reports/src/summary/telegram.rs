//! Calls and deliveries, interval by interval, added up.

use std::collections::BTreeMap;

use serde::ser::Error as _;
use serde::{Serialize as _, Serializer};

use super::{Deliveries, Quantiles, Staleness, Telegram};
use crate::recording::{CallInterval, DeliveryInterval, Interval};

/// The keys stay when nobody counted, and hold nothing.
pub(super) fn or_nulls<S: Serializer>(telegram: &Telegram, to: S) -> Result<S::Ok, S::Error> {
    if !telegram.uncounted {
        return telegram.serialize(to);
    }
    let mut keys = serde_json::to_value(Telegram::default()).map_err(S::Error::custom)?;
    for (_, value) in keys.as_object_mut().into_iter().flatten() {
        *value = serde_json::Value::Null;
    }
    keys.serialize(to)
}

impl Telegram {
    /// One of the counts; nothing when nobody counted.
    pub fn measured<T>(&self, of: impl FnOnce(&Self) -> T) -> Option<T> {
        (!self.uncounted).then(|| of(self))
    }

    pub(super) fn take(&mut self, calls: &CallInterval) {
        for (method, counts) in &calls.by_method {
            self.calls += counts.calls;
            self.accepted += counts.accepted();
            self.throttled += counts.throttled;
            self.by_method.entry(method.clone()).or_default().merge(*counts);
        }
        add(&mut self.unmodelled, &calls.unmodelled);
        add(&mut self.throttled_by, &calls.throttled_by);
        self.calls_while_throttled += calls.calls_while_throttled;
        self.uploads += calls.uploads;
        self.upload_bytes += calls.upload_bytes;
        self.raise_peaks(calls);
    }

    pub(super) fn take_unmatched(&mut self, interval: &Interval) {
        if let Some(calls) = interval.unmatched {
            *self.unmatched.get_or_insert(0) += calls;
        }
    }

    fn raise_peaks(&mut self, calls: &CallInterval) {
        self.peak_uploads_at_once = self.peak_uploads_at_once.max(calls.uploads_at_once);
        self.worst_second_sends = self.worst_second_sends.max(calls.worst_second_sends);
        self.worst_second_accepted = self.worst_second_accepted.max(calls.worst_second_accepted);
        self.worst_minute_group_sends = self.worst_minute_group_sends.max(calls.worst_minute_group_sends);
        self.worst_minute_group_accepted = self.worst_minute_group_accepted.max(calls.worst_minute_group_accepted);
    }
}

fn add(all: &mut BTreeMap<String, u64>, more: &BTreeMap<String, u64>) {
    for (name, count) in more {
        *all.entry(name.clone()).or_default() += count;
    }
}

impl Deliveries {
    /// What all intervals together say, if deliveries were watched.
    pub(super) fn of(all: &DeliveryInterval, watched: bool) -> Self {
        if !watched {
            return Self::default();
        }
        Self {
            expected: Some(all.expected),
            delivered: Some(all.delivered),
            late: Some(all.late),
            lost: Some(all.lost),
            duplicated: Some(all.duplicated),
            latency_us: Quantiles::of(&all.latency),
            staleness_ms: Staleness::of(&all.staleness),
        }
    }
}
