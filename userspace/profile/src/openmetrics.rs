//! OpenMetrics: a histogram, failures and bytes of each row.

use std::fmt::Write as _;
use std::io::{self, Write};

use gtrace_abi::{MAX_NS, MIN_NS, bucket_range};

use crate::{Counts, Histogram, Key, Profile};

/// Upper bounds of the buckets, ns: the powers of two of the histogram's octaves. A duration of exactly
/// a bound is counted in the bucket above it, as octaves have their first value and not their last.
fn bounds() -> impl Iterator<Item = u64> {
    let octaves = (MAX_NS / MIN_NS).ilog2();
    // The last octave also has what is longer, so it has no bound but +Inf.
    (1..octaves).map(|octave| MIN_NS << octave)
}

/// Writes a profile as OpenMetrics text 1.0. Families: `gtrace_profile_call_time_seconds` (histogram),
/// `gtrace_profile_calls_total`, `gtrace_profile_errors_total`, `gtrace_profile_bytes_total`; labels
/// `layer`, `part`, `function`, `pid`, `process`, and `host` and `gpu` where they are known.
pub fn write(profile: &Profile, out: &mut impl Write) -> io::Result<()> {
    let rows: Vec<(String, &Counts)> = profile
        .rows
        .iter()
        .map(|(key, counts)| (labels(key), counts))
        .collect();
    let mut text = String::new();
    head(
        &mut text,
        "gtrace_profile_call_time_seconds",
        "histogram",
        Some("seconds"),
        "Time of calls",
    );
    for (labels, counts) in rows
        .iter()
        .filter(|(_, counts)| !counts.histogram.is_empty())
    {
        histogram(&mut text, labels, &counts.histogram);
    }
    type Value = fn(&Counts) -> Option<u64>;
    let counters: [(&str, Option<&str>, &str, Value); 3] = [
        ("gtrace_profile_calls", None, "Calls", |counts| {
            Some(counts.calls)
        }),
        (
            "gtrace_profile_errors",
            None,
            "Calls that failed",
            |counts| counts.errors,
        ),
        (
            "gtrace_profile_bytes",
            Some("bytes"),
            "Bytes that calls moved",
            |counts| counts.bytes,
        ),
    ];
    for (name, unit, help, value) in counters {
        head(&mut text, name, "counter", unit, help);
        for (labels, counts) in &rows {
            if let Some(value) = value(counts) {
                // Writing to a String cannot fail, here and below.
                let _ = writeln!(text, "{name}_total{{{labels}}} {value}");
            }
        }
    }
    text.push_str("# EOF\n");
    out.write_all(text.as_bytes())
}

fn head(text: &mut String, name: &str, kind: &str, unit: Option<&str>, help: &str) {
    let _ = writeln!(text, "# TYPE {name} {kind}");
    if let Some(unit) = unit {
        let _ = writeln!(text, "# UNIT {name} {unit}");
    }
    let _ = writeln!(text, "# HELP {name} {help}.");
}

fn histogram(text: &mut String, labels: &str, histogram: &Histogram) {
    const NAME: &str = "gtrace_profile_call_time_seconds";
    let mut buckets = histogram.buckets().peekable();
    let mut below = 0u64;
    for bound in bounds() {
        while let Some((_, count)) = buckets.next_if(|(bucket, _)| {
            let (_, end) = bucket_range(usize::from(*bucket));
            end <= bound
        }) {
            below = below.saturating_add(count);
        }
        let _ = writeln!(
            text,
            "{NAME}_bucket{{{labels},le=\"{:e}\"}} {below}",
            bound as f64 / 1e9
        );
    }
    let count = histogram.count();
    let _ = writeln!(text, "{NAME}_bucket{{{labels},le=\"+Inf\"}} {count}");
    let _ = writeln!(text, "{NAME}_count{{{labels}}} {count}");
    let _ = writeln!(
        text,
        "{NAME}_sum{{{labels}}} {}",
        histogram.sum_ns() as f64 / 1e9
    );
}

fn labels(key: &Key) -> String {
    let pid = key.process.pid.to_string();
    let known = |text: &'_ str| !text.is_empty();
    let mut labels = vec![
        ("layer", key.layer.name()),
        ("part", key.part.name()),
        ("function", &key.function),
        ("pid", &pid),
        ("process", &key.process.comm),
    ];
    let origin = key.process.origin.as_ref();
    let origin_pid = origin
        .map(|origin| origin.pid.to_string())
        .unwrap_or_default();
    let further = [
        ("host", key.process.host.as_str()),
        ("cgroup", key.process.cgroup.as_deref().unwrap_or_default()),
        ("gpu", key.gpu.as_deref().unwrap_or_default()),
        ("client", origin.map_or("", |origin| &origin.host)),
        ("client_pid", &origin_pid),
        (
            "client_program",
            origin.map_or("", |origin| &origin.program),
        ),
    ];
    labels.extend(further.into_iter().filter(|(_, value)| known(value)));
    let labels: Vec<String> = labels
        .into_iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    labels.join(",")
}

/// A label's value as the text formats of Prometheus want it.
pub fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::made::key;
    use crate::{Layer, Row};

    #[test]
    fn a_row_is_a_histogram_and_counters() {
        let mut histogram = Histogram::default();
        for ns in [10, 127, 128, 1_000_000, 20_000_000_000] {
            histogram.record(ns);
        }
        let mut counts = Counts::timed(histogram);
        (counts.errors, counts.bytes) = (Some(2), Some(4096));
        let mut profile = Profile::default();
        profile.add(&Row {
            key: key(Layer::Remote, 7, "a\"b\\c\nd"),
            counts,
        });
        let mut out = Vec::new();
        write(&profile, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let labels = "layer=\"remote\",part=\"wire\",function=\"a\\\"b\\\\c\\nd\",pid=\"7\",process=\"python3\"";
        for line in [
            format!("gtrace_profile_call_time_seconds_bucket{{{labels},le=\"1.28e-7\"}} 2"),
            format!("gtrace_profile_call_time_seconds_bucket{{{labels},le=\"2.56e-7\"}} 3"),
            format!("gtrace_profile_call_time_seconds_bucket{{{labels},le=\"8.589934592e0\"}} 4"),
            format!("gtrace_profile_call_time_seconds_bucket{{{labels},le=\"+Inf\"}} 5"),
            format!("gtrace_profile_call_time_seconds_sum{{{labels}}} 20.001000265"),
            format!("gtrace_profile_errors_total{{{labels}}} 2"),
            format!("gtrace_profile_bytes_total{{{labels}}} 4096"),
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }
}
