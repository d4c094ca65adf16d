//! JSON: the lossless form, with a version and a schema.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Counts, Histogram, Key, Profile, Row, Span, Taken};

/// Longest document that is read, bytes.
pub const BYTES_MAX: u64 = 256 << 20;
/// Version of the document. Another version is another form, which is not read here.
pub const VERSION: u32 = 1;

/// A document.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Document {
    /// `gtrace-profile`.
    format: String,
    /// 1.
    version: u32,
    /// How indices of buckets are meant.
    buckets: Scale,
    /// When and where the profile was taken.
    taken: Taken,
    /// Everything that was counted.
    rows: Vec<WrittenRow>,
    /// Histograms by interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    intervals: Vec<WrittenInterval>,
}

/// The buckets: `per_octave` of one width for each power of two from `from_ns` to `to_ns`. Bucket
/// `per_octave * k + s` begins at `from_ns * 2^k * (1 + s / per_octave)`. What is shorter is in the
/// first, what is longer in the last.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct Scale {
    from_ns: u64,
    to_ns: u64,
    per_octave: u64,
}

const SCALE: Scale = Scale {
    from_ns: gtrace_abi::MIN_NS,
    to_ns: gtrace_abi::MAX_NS,
    per_octave: gtrace_abi::BUCKETS as u64
        / (gtrace_abi::MAX_NS / gtrace_abi::MIN_NS).ilog2() as u64,
};

#[derive(Serialize, Deserialize, JsonSchema)]
struct WrittenRow {
    #[serde(flatten)]
    key: Key,
    #[serde(flatten)]
    counts: Counts,
    /// Of `histogram`, for those who read nothing else; not read here.
    #[serde(default, skip_deserializing)]
    summary: Option<Summary>,
}

/// ns.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Summary {
    mean_ns: f64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    p999_ns: u64,
}

impl Summary {
    fn of(histogram: &Histogram) -> Option<Self> {
        (!histogram.is_empty()).then(|| Self {
            mean_ns: histogram.mean(),
            p50_ns: histogram.quantile(0.5),
            p90_ns: histogram.quantile(0.9),
            p99_ns: histogram.quantile(0.99),
            p999_ns: histogram.quantile(0.999),
        })
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct WrittenInterval {
    #[serde(flatten)]
    span: Span,
    /// Rows that had a call.
    rows: Vec<IntervalRow>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct IntervalRow {
    /// Which of the document's rows, from 0.
    row: usize,
    histogram: Histogram,
}

/// A document that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The reader failed.
    #[error("the profile could not be read: {0}")]
    Io(#[from] io::Error),
    /// Longer than [`BYTES_MAX`].
    #[error("longer than 256 MiB")]
    TooLong,
    /// No JSON, or not of this form.
    #[error("no profile of gtrace: {0}")]
    Form(#[from] serde_json::Error),
    /// Something else in JSON.
    #[error("`format` is `{0}`, not `gtrace-profile`")]
    Format(String),
    /// Another version.
    #[error("version {0} of the form is not known here; a gtrace that wrote it reads it")]
    Version(u32),
    /// Buckets of another scale.
    #[error("its buckets are of another scale")]
    Scale,
    /// What cannot be of one profile.
    #[error("{0}")]
    Contradiction(String),
}

/// Writes a profile; nothing is lost.
pub fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let places: BTreeMap<&Arc<Key>, usize> = profile
        .rows
        .keys()
        .enumerate()
        .map(|(at, key)| (key, at))
        .collect();
    let interval = |(span, rows): (&Span, &BTreeMap<Arc<Key>, Histogram>)| WrittenInterval {
        span: *span,
        rows: rows
            .iter()
            .filter_map(|(key, histogram)| {
                Some(IntervalRow {
                    row: *places.get(key)?,
                    histogram: histogram.clone(),
                })
            })
            .collect(),
    };
    let document = Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        buckets: SCALE,
        taken: profile.taken.clone(),
        rows: profile
            .rows
            .iter()
            .map(|(key, counts)| WrittenRow {
                key: Key::clone(key),
                counts: counts.clone(),
                summary: Summary::of(&counts.histogram),
            })
            .collect(),
        intervals: profile.intervals.iter().map(interval).collect(),
    };
    serde_json::to_writer(&mut *out, &document)?;
    out.write_all(b"\n")
}

const FORMAT: &str = "gtrace-profile";

/// Reads a profile.
///
/// # Errors
///
/// Those of `input`; for what is no profile, too long, or contradicts itself: two rows of one key, an
/// interval of a row that there is not, fewer calls than were timed.
pub fn read(input: impl Read) -> Result<Profile, ReadError> {
    let mut bytes = Vec::new();
    input.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(ReadError::TooLong);
    }
    // The version first: what else there is depends on it.
    let head: Head = serde_json::from_slice(&bytes)?;
    if head.format != FORMAT {
        return Err(ReadError::Format(head.format.chars().take(80).collect()));
    }
    if head.version != VERSION {
        return Err(ReadError::Version(head.version));
    }
    profile(serde_json::from_slice(&bytes)?)
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

fn profile(document: Document) -> Result<Profile, ReadError> {
    let contradiction = |what: String| Err(ReadError::Contradiction(what));
    if document.buckets != SCALE {
        return Err(ReadError::Scale);
    }
    let mut profile = Profile {
        taken: document.taken,
        ..Profile::default()
    };
    let mut keys = Vec::with_capacity(document.rows.len());
    for (at, WrittenRow { key, counts, .. }) in document.rows.into_iter().enumerate() {
        if counts.calls < counts.histogram.count() {
            return contradiction(format!("row {at} has fewer calls than were timed"));
        }
        if profile.rows.contains_key(&key) {
            return contradiction(format!("row {at} is there twice"));
        }
        profile.add(&Row {
            key: key.clone(),
            counts,
        });
        keys.extend(
            profile
                .rows
                .get_key_value(&key)
                .map(|(key, _)| Arc::clone(key)),
        );
    }
    for WrittenInterval { span, rows } in document.intervals {
        let into = profile.intervals.entry(span).or_default();
        for IntervalRow { row, histogram } in rows {
            let Some(key) = keys.get(row) else {
                return contradiction(format!("an interval has a row {row}, which there is not"));
            };
            into.entry(Arc::clone(key)).or_default().merge(&histogram);
        }
    }
    Ok(profile)
}

/// The schema of the document, as JSON Schema 2020-12.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::made;
    use proptest::prelude::*;

    fn text(profile: &Profile) -> String {
        let mut out = Vec::new();
        write(profile, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_schema_names_what_is_written() {
        let schema = serde_json::to_value(schema()).unwrap();
        let known = &schema["properties"];
        let text = text(&Profile::default());
        let written: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).unwrap();
        for key in written.keys() {
            assert!(known[key].is_object(), "{key} is not in the schema");
        }
        for key in schema["required"].as_array().unwrap() {
            assert!(
                written.contains_key(key.as_str().unwrap()),
                "{key} is not written"
            );
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(profile in made::profile()) {
            let text = text(&profile);
            prop_assert_eq!(read(text.as_bytes()).unwrap(), profile);
        }
    }

    #[test]
    fn the_scale_is_that_of_the_buckets() {
        for bucket in 0..gtrace_abi::BUCKETS {
            let (k, s) = (
                bucket as u64 / SCALE.per_octave,
                bucket as u64 % SCALE.per_octave,
            );
            let octave = SCALE.from_ns << k;
            let low = octave + octave / SCALE.per_octave * s;
            assert_eq!(gtrace_abi::bucket_range(bucket).0, low);
        }
        assert_eq!(SCALE.per_octave, 32);
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        let mut profile = Profile::default();
        let mut histogram = Histogram::default();
        histogram.record_n(1000, 5);
        let row = Row {
            key: made::key(crate::Layer::Api, 7, "f"),
            counts: Counts::timed(histogram),
        };
        profile.add_interval(made::span(0), &[row]);
        let good = text(&profile);
        assert!(read(good.as_bytes()).is_ok());
        for (from, to, wanted) in [
            ("\"gtrace-profile\"", "\"flame\"", "`format` is `flame`"),
            ("\"version\":1", "\"version\":2", "version 2"),
            ("\"per_octave\":32", "\"per_octave\":16", "another scale"),
            ("\"calls\":5", "\"calls\":4", "fewer calls"),
            ("\"row\":0", "\"row\":1", "a row 1"),
            ("[[126,5]]", "[[896,5]]", "bucket 896"),
            ("[[126,5]]", "[[126,5],[126,5]]", "bucket 126"),
            ("[[126,5]]", "[[126,-5]]", "no profile"),
            ("{\"format", "[{\"format", "no profile"),
        ] {
            assert!(good.contains(from), "{from} in {good}");
            let error = read(good.replace(from, to).as_bytes()).unwrap_err();
            assert!(error.to_string().contains(wanted), "{to}: {error}");
        }
    }
}
