//! What a profile is: rows of calls, and the same rows by interval of time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Histogram;

/// Where a call was timed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// At a function of a library: `cuLaunchKernel`.
    Api,
    /// At the driver's ioctl(2).
    Driver,
    /// On its way to a GPU of another machine.
    Remote,
}

impl Layer {
    /// Every layer, from the program to the driver.
    pub const ALL: [Self; 3] = [Self::Api, Self::Driver, Self::Remote];

    /// In lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Driver => "driver",
            Self::Remote => "remote",
        }
    }
}

/// What part of a call was timed.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The whole call.
    #[default]
    Whole,
    /// In the client's library, until the request was handed to the link.
    Client,
    /// On the wire, both ways.
    Wire,
    /// In the server, from the request's arrival to the call's begin.
    Queue,
    /// In the server's driver.
    Driver,
    /// In the client's library, from the answer's arrival on.
    Wake,
}

impl Part {
    /// Every part, in the order of a call.
    pub const ALL: [Self; 6] = [
        Self::Whole,
        Self::Client,
        Self::Wire,
        Self::Queue,
        Self::Driver,
        Self::Wake,
    ];

    /// In lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Client => "client",
            Self::Wire => "wire",
            Self::Queue => "queue",
            Self::Driver => "driver",
            Self::Wake => "wake",
        }
    }
}

/// The client, on another machine, that a process of a server works for; in its own words.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Origin {
    /// Its host.
    pub host: String,
    /// Its process there.
    pub pid: u32,
    /// Its program.
    pub program: String,
}

/// Whose calls.
#[serde_with::skip_serializing_none]
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Process {
    /// Host that it runs on; empty where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Process id in the initial pid namespace; 0 for what several processes made together.
    pub pid: u32,
    /// Its name.
    pub comm: String,
    /// Its control group.
    pub cgroup: Option<String>,
    /// The client that it works for.
    pub origin: Option<Origin>,
}

impl Process {
    /// Name under which the calls of processes that have ended add up.
    pub const ENDED: &str = "(ended)";

    /// Where the calls of this one add up once it has ended.
    pub fn ended(&self) -> Self {
        Self {
            host: self.host.clone(),
            comm: Self::ENDED.to_owned(),
            ..Self::default()
        }
    }
}

/// What a row is about. Rows of one key are one row.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Key {
    /// Whose calls.
    pub process: Process,
    /// Where they were timed.
    pub layer: Layer,
    /// The function, ioctl or operation.
    pub function: String,
    /// What part of them was timed.
    #[serde(default)]
    pub part: Part,
    /// PCI address or UUID of the GPU that they were for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
}

/// What is counted of a row.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Calls. Not below the count of `histogram`; above it where not every call was timed.
    pub calls: u64,
    /// Calls that failed; absent where that is not seen.
    pub errors: Option<u64>,
    /// How they failed, by name or number, as far as that is known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<String, u64>,
    /// Bytes that they moved; absent where that is not seen.
    pub bytes: Option<u64>,
    /// How long they took.
    pub histogram: Histogram,
}

/// A row by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it is about.
    pub key: Key,
    /// What is counted.
    pub counts: Counts,
}

fn add_known(mine: &mut Option<u64>, other: Option<u64>) {
    *mine = match (*mine, other) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
}

impl Counts {
    /// Of calls that were all timed, and of which nothing else is known.
    pub fn timed(histogram: Histogram) -> Self {
        Self {
            calls: histogram.count(),
            histogram,
            ..Self::default()
        }
    }

    /// Adds another's; what one does not know is taken from the other.
    pub fn merge(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        add_known(&mut self.errors, other.errors);
        add_known(&mut self.bytes, other.bytes);
        for (status, count) in &other.statuses {
            let place = self.statuses.entry(status.clone()).or_default();
            *place = place.saturating_add(*count);
        }
        self.histogram.merge(&other.histogram);
    }

    /// What came since `earlier`, a former state of these counts; `None` if they were none.
    ///
    /// The histogram is empty where one of the two had no room for its buckets.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let calls = self.calls.checked_sub(earlier.calls)?;
        let bare = |counts: &Self| counts.histogram.is_empty() && counts.calls > 0;
        let histogram = match bare(self) || bare(earlier) {
            true => Histogram::default(),
            false => self.histogram.since(&earlier.histogram)?,
        };
        let since = |now: Option<u64>, then: Option<u64>| match now {
            None => Some(None),
            Some(now) => now.checked_sub(then.unwrap_or(0)).map(Some),
        };
        let mut statuses = self.statuses.clone();
        for (status, count) in &earlier.statuses {
            let left = statuses.get(status)?.checked_sub(*count)?;
            match left {
                0 => statuses.remove(status),
                left => statuses.insert(status.clone(), left),
            };
        }
        Some(Self {
            calls,
            errors: since(self.errors, earlier.errors)?,
            bytes: since(self.bytes, earlier.bytes)?,
            statuses,
            histogram,
        })
    }
}

/// A stretch of time.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Span {
    /// From.
    pub start: Timestamp,
    /// To; not before `start`.
    pub end: Timestamp,
}

impl Span {
    /// Its length, ns; 0 if it ends before it starts.
    pub fn nanos(&self) -> u64 {
        let nanos = self.end.as_nanosecond() - self.start.as_nanosecond();
        u64::try_from(nanos).unwrap_or(0)
    }

    fn cover(&mut self, other: Self) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
    }
}

/// When and where a profile was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// When; absent where that is not known.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// Hosts.
    #[serde(default)]
    pub hosts: BTreeSet<String>,
    /// Their kernels' releases.
    #[serde(default)]
    pub kernels: BTreeSet<String>,
}

/// Calls of some processes over some time.
///
/// `rows` are everything that was counted; `intervals` are histograms of the same rows by time, as
/// far as they were taken by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// When and where.
    pub taken: Taken,
    /// Everything that was counted.
    pub rows: BTreeMap<Arc<Key>, Counts>,
    /// By interval; rows that had no call in it are absent.
    pub intervals: BTreeMap<Span, BTreeMap<Arc<Key>, Histogram>>,
}

impl Profile {
    /// Adds a row; one of the same key is added up with it.
    pub fn add(&mut self, row: &Row) {
        let key = self.key(&row.key);
        self.rows.entry(key).or_default().merge(&row.counts);
    }

    /// Adds what the rows counted in `span`, to the rows and as an interval.
    pub fn add_interval(&mut self, span: Span, rows: &[Row]) {
        for row in rows {
            let key = self.key(&row.key);
            self.rows
                .entry(Arc::clone(&key))
                .or_default()
                .merge(&row.counts);
            if !row.counts.histogram.is_empty() {
                let interval = self.intervals.entry(span).or_default();
                interval
                    .entry(key)
                    .or_default()
                    .merge(&row.counts.histogram);
            }
        }
        // Also one without a call is an interval.
        self.intervals.entry(span).or_default();
        self.cover(span);
    }

    /// Makes the profile's time cover `span`.
    pub fn cover(&mut self, span: Span) {
        self.taken.span.get_or_insert(span).cover(span);
    }

    fn key(&self, key: &Key) -> Arc<Key> {
        match self.rows.get_key_value(key) {
            Some((known, _)) => Arc::clone(known),
            None => Arc::new(key.clone()),
        }
    }

    /// Adds another's rows and intervals. Exact, associative and commutative.
    pub fn merge(&mut self, other: &Self) {
        for (key, counts) in &other.rows {
            self.rows.entry(Arc::clone(key)).or_default().merge(counts);
        }
        for (span, rows) in &other.intervals {
            let interval = self.intervals.entry(*span).or_default();
            for (key, histogram) in rows {
                interval
                    .entry(Arc::clone(key))
                    .or_default()
                    .merge(histogram);
            }
        }
        if let Some(span) = other.taken.span {
            self.cover(span);
        }
        self.taken.hosts.extend(other.taken.hosts.iter().cloned());
        self.taken
            .kernels
            .extend(other.taken.kernels.iter().cloned());
    }

    /// Keeps the rows that `keep` wants, and their intervals.
    pub fn retain(&mut self, keep: impl Fn(&Key) -> bool) {
        self.rows.retain(|key, _| keep(key));
        for rows in self.intervals.values_mut() {
            rows.retain(|key, _| keep(key));
        }
    }
}

#[cfg(test)]
pub(crate) mod made {
    //! Made-up profiles.

    use super::*;
    use proptest::prelude::*;

    pub(crate) fn key(layer: Layer, pid: u32, function: &str) -> Key {
        Key {
            process: Process {
                pid,
                comm: "python3".into(),
                ..Process::default()
            },
            layer,
            function: function.into(),
            part: match layer {
                Layer::Remote => Part::Wire,
                _ => Part::Whole,
            },
            gpu: None,
        }
    }

    pub(crate) fn span(second: i64) -> Span {
        Span {
            start: Timestamp::from_second(1_700_000_000 + second).unwrap(),
            end: Timestamp::from_second(1_700_000_001 + second).unwrap(),
        }
    }

    prop_compose! {
        fn row()(
            layer in prop::sample::select(&Layer::ALL[..]),
            pid in 1u32..4,
            function in prop::sample::select(vec!["cuMemAlloc_v2", "cu\"<&>Odd,\tName =%", "é"]),
            gpu in prop::option::of(Just("0000:3b:00.0".to_owned())),
            values in prop::collection::vec((0u32..64, any::<u64>()), 0..20),
            errors in prop::option::of(0u64..9),
            bytes in prop::option::of(any::<u64>()),
            untimed in 0u64..3,
            second in 0i64..4,
        ) -> (Row, i64) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|(shift, ns)| histogram.record(ns >> shift));
            let mut counts = Counts::timed(histogram);
            counts.calls += untimed;
            (counts.errors, counts.bytes) = (errors, bytes);
            if errors == Some(3) {
                counts.statuses.insert("NV_ERR_NO_MEMORY".into(), 3);
            }
            (Row { key: Key { gpu, ..key(layer, pid, function) }, counts }, second)
        }
    }

    pub(crate) fn profile() -> impl Strategy<Value = Profile> {
        (prop::collection::vec(row(), 0..12), any::<bool>(), 0u8..3).prop_map(
            |(rows, sliced, host)| {
                let mut profile = Profile::default();
                profile.taken.hosts.insert(format!("h{host}"));
                profile.taken.kernels.insert("6.12.1".into());
                for (row, second) in rows {
                    if sliced {
                        profile.add_interval(span(second), &[row]);
                    } else {
                        profile.add(&row);
                        profile.cover(span(second));
                    }
                }
                profile
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::made::profile;
    use super::*;
    use proptest::prelude::*;

    fn merged(a: &Profile, b: &Profile) -> Profile {
        let mut sum = a.clone();
        sum.merge(b);
        sum
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative(a in profile(), b in profile(), c in profile()) {
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&a, &Profile::default()), a);
        }

        #[test]
        fn intervals_add_up_to_the_rows(profile in profile()) {
            prop_assume!(!profile.intervals.is_empty());
            let mut sums: BTreeMap<Arc<Key>, Histogram> = BTreeMap::new();
            for rows in profile.intervals.values() {
                for (key, histogram) in rows {
                    sums.entry(Arc::clone(key)).or_default().merge(histogram);
                }
            }
            for (key, counts) in &profile.rows {
                let sum = sums.remove(key).unwrap_or_default();
                prop_assert_eq!(&sum, &counts.histogram);
            }
        }
    }
}
