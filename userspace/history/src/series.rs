//! What a series is called.

use crate::bytes::{Cursor, put_string, put_varint};
use crate::error::Malformed;
use crate::value::Kind;

/// Longest name of a metric, unit or label, bytes.
pub(crate) const MAX_NAME: usize = 128;
/// Longest value of a label, bytes.
pub(crate) const MAX_LABEL: usize = 256;
/// Most labels of a series.
pub(crate) const MAX_LABELS: usize = 16;

/// Names and values of labels.
pub type Labels = Vec<(String, String)>;

/// A metric with its labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey {
    /// Its family name in OpenMetrics, without `_total`.
    pub metric: String,
    /// Ascending by name.
    pub labels: Labels,
    /// The unit that the name ends with, or "" where there is none.
    pub unit: String,
    /// What its values are.
    pub kind: Kind,
}

/// A name or a label is longer than the history keeps, or there are too many labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a name is longer than {MAX_NAME} bytes, a label's value than {MAX_LABEL}, or there are more than {MAX_LABELS} labels"
)]
pub struct TooLong;

impl SeriesKey {
    /// With labels in any order.
    ///
    /// # Errors
    ///
    /// A name or label that is too long, or too many labels.
    pub fn new(metric: &str, unit: &str, kind: Kind, labels: Labels) -> Result<Self, TooLong> {
        let mut key = Self {
            metric: metric.to_owned(),
            labels,
            unit: unit.to_owned(),
            kind,
        };
        key.labels.sort();
        if key.fits() { Ok(key) } else { Err(TooLong) }
    }

    /// The value of a label.
    pub fn label(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn fits(&self) -> bool {
        let name = |text: &str| text.len() <= MAX_NAME;
        let label = |(n, value): &(String, String)| name(n) && value.len() <= MAX_LABEL;
        name(&self.metric)
            && name(&self.unit)
            && self.labels.len() <= MAX_LABELS
            && self.labels.iter().all(label)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_string(out, &self.metric);
        put_string(out, &self.unit);
        out.push(self.kind.code());
        put_varint(out, self.labels.len() as u64);
        for (name, value) in &self.labels {
            put_string(out, name);
            put_string(out, value);
        }
    }

    pub(crate) fn take(from: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let metric = from.string()?.to_owned();
        let unit = from.string()?.to_owned();
        let kind = Kind::of_code(from.u8()?).ok_or(Malformed::Kind)?;
        let count = from.count()?;
        let mut labels = Vec::with_capacity(count.min(MAX_LABELS));
        for _ in 0..count {
            labels.push((from.string()?.to_owned(), from.string()?.to_owned()));
        }
        let key = Self {
            metric,
            labels,
            unit,
            kind,
        };
        if key.fits() {
            Ok(key)
        } else {
            Err(Malformed::Range)
        }
    }
}
