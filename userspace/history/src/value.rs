//! Values of samples and of points.

use gtrace_profile::Histogram;

/// What the values of a series are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Rises until its source is reset.
    Counter,
    /// Durations since the sample before.
    Histogram,
}

impl Kind {
    /// `gauge`, `counter` or `histogram`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Histogram => "histogram",
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Gauge => 0,
            Self::Counter => 1,
            Self::Histogram => 2,
        }
    }

    pub(crate) fn of_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Gauge),
            1 => Some(Self::Counter),
            2 => Some(Self::Histogram),
            _ => None,
        }
    }
}

/// What the samples of a gauge in one bucket were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gauge {
    /// How many samples.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Their mean; each sample counts once.
    pub mean: f64,
    /// The last.
    pub last: f64,
}

impl Gauge {
    /// One sample.
    pub fn one(value: f64) -> Self {
        Self {
            count: 1,
            min: value,
            max: value,
            mean: value,
            last: value,
        }
    }

    /// Whether it is the same as one sample of the last value.
    pub(crate) fn is_one(&self) -> bool {
        let same = |value: f64| value.to_bits() == self.last.to_bits();
        self.count == 1 && same(self.min) && same(self.max) && same(self.mean)
    }

    fn merge(&mut self, later: &Self) {
        let count = self.count.saturating_add(later.count).max(1);
        let share = later.count as f64 / count as f64;
        self.mean += (later.mean - self.mean) * share;
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
        (self.count, self.last) = (count, later.last);
    }
}

/// A sample, or all samples of one bucket.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a gauge.
    Gauge(Gauge),
    /// The last value of a counter.
    Counter(f64),
    /// Durations that came since the sample before; of a bucket, the sum of all.
    Histogram(Histogram),
}

impl Value {
    /// One sample of a gauge.
    pub fn gauge(value: f64) -> Self {
        Self::Gauge(Gauge::one(value))
    }

    /// What it is a value of.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Gauge(_) => Kind::Gauge,
            Self::Counter(_) => Kind::Counter,
            Self::Histogram(_) => Kind::Histogram,
        }
    }

    /// Whether it can be kept: no infinity and not NaN.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Self::Gauge(gauge) => gauge.last.is_finite(),
            Self::Counter(value) => value.is_finite(),
            Self::Histogram(_) => true,
        }
    }

    /// Adds what came later. Values of another kind are of another series, and change nothing.
    pub fn merge(&mut self, later: &Self) {
        match (self, later) {
            (Self::Gauge(gauge), Self::Gauge(later)) => gauge.merge(later),
            (Self::Counter(value), Self::Counter(later)) => *value = *later,
            (Self::Histogram(sum), Self::Histogram(later)) => sum.merge(later),
            _ => {}
        }
    }
}

/// A value with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Time of the last sample in it, ms since 1970.
    pub time_ms: i64,
    /// The sample or samples.
    pub value: Value,
}

impl Point {
    /// Merges a point of the same bucket, whichever of the two is later.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if other.time_ms < self.time_ms {
            std::mem::swap(self, &mut other);
        }
        self.value.merge(&other.value);
        self.time_ms = other.time_ms;
    }
}
