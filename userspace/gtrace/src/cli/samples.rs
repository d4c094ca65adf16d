//! `gtrace samples`: what GPUs, links and ports measured, in the past.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use gtrace_api::client::target;
use gtrace_api::{SampleHistory, SampleKind, SampleMetric, SamplePoint, SampleSeries};
use gtrace_engine::history;
use gtrace_event::Timestamp;
use gtrace_http::{GpuSelector, MAX_POINTS, SampleQuery, SamplesError, read_samples};
use jiff::tz::TimeZone;

use super::duration;
use super::other_host::ReadPlace;
use super::shared::{self, Exit, Failure, Instance};
use crate::render;

/// Rows of a table; `--json` and `--csv` give every point.
const ROWS: usize = 12;
/// Most metrics that are named where one is not there.
const ALIKE: usize = 5;
/// Most characters of a sparkline.
const SPARKS: usize = 60;

/// Show samples of the past: temperatures, power, clocks, errors, links, ports, pressure. Without a metric, list
/// the metrics that there are.
///
/// Exit status: 0 shown, 1 nothing matches, or no samples are kept, 2 wrong usage, 3 daemon and samples cannot be read.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Names of metrics, as in /metrics; the `gtrace_` in front may be left out.
    #[arg(value_name = "METRIC")]
    metrics: Vec<String>,
    /// One GPU: PCI address or its beginning, NVML index, or UUID or its beginning.
    #[arg(long)]
    gpu: Option<GpuSelector>,
    /// Samples at or after this time: an age (30s, 30m, 1h, 2d, 1w), RFC 3339, or local time. By default 1h.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
    since: Option<Timestamp>,
    /// Samples before this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_end_time)]
    until: Option<shared::End>,
    /// Time that a point stands for, in whole seconds (10s, 5m, 1h). By default the finest that there is.
    #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
    step: Option<Duration>,
    /// At most so many points; where there are more, the step is doubled until there are not.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=MAX_POINTS as i64))]
    limit: u32,
    /// Print JSON, as the API does.
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print comma-separated values, a point a line.
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    place: ReadPlace,
}

fn whole_seconds(text: &str) -> Result<Duration, String> {
    let step = duration::seconds(text)?;
    match step.as_secs() > 0 && step.subsec_nanos() == 0 {
        true => Ok(step),
        false => Err("whole seconds, from 1 s".to_owned()),
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside, and a configuration that is named and refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let until = args.until.map(|end| end.after(args.since));
    shared::check_time(args.since, until)?;
    let instance = args.place.resolve()?;
    let query = SampleQuery {
        metrics: args.metrics.iter().map(|name| full_name(name)).collect(),
        gpu: args.gpu.clone(),
        labels: Vec::new(),
        since: args.since,
        until,
        step_s: args.step.map(|step| step.as_secs()),
        limit: Some(args.limit as usize),
    };
    let found = read(&instance, &query)?;
    let text = match (args.json, args.csv) {
        (true, _) => shared::json_line(&found)?,
        (_, true) => csv(&found),
        _ => text(&found, &TimeZone::system()),
    };
    shared::print(&text)?;
    if found.damaged > 0 {
        say!("{} blocks on disk are damaged and not shown", found.damaged);
    }
    if found.left_out > 0 {
        let left_out = found.left_out;
        say!("{left_out} series are not shown: name a GPU, or give more points with --limit");
    }
    for name in &query.metrics {
        let is_there = found.series.iter().any(|series| series.metric == *name);
        if !is_there && found.left_out == 0 {
            shared::say(&none_of(name, &instance));
        }
    }
    if found.metrics.is_empty() && found.series.is_empty() {
        if query.metrics.is_empty() {
            shared::say("no samples match");
        }
        return Ok(Exit::Problem.into());
    }
    Ok(Exit::Success.into())
}

/// Why no samples of the metric `name` were found.
fn none_of(name: &str, instance: &Instance) -> String {
    let all = read(&instance.clone().quiet(), &SampleQuery::default());
    let all = all.map_or_else(|_| Vec::new(), |all| all.metrics);
    if all.iter().any(|known| known.metric == name) {
        return format!("no samples of {name} match the time (by default the last hour) and GPU");
    }
    // Without its unit, or a part of it.
    let part = name.strip_prefix("gtrace_").unwrap_or(name);
    let alike = all.iter().map(|known| known.metric.as_str());
    let alike: Vec<&str> = alike
        .filter(|known| known.contains(part))
        .take(ALIKE)
        .collect();
    let name = render::clean(name);
    match alike.is_empty() {
        true => format!(
            "there are no samples of {name}; `gtrace samples` lists the metrics that there are"
        ),
        false => format!(
            "there are no samples of {name}; did you mean {}?",
            alike.join(", ")
        ),
    }
}

pub(super) fn full_name(name: &str) -> String {
    let name = name.strip_suffix("_total").unwrap_or(name);
    match name.starts_with("gtrace_") {
        true => name.to_owned(),
        false => format!("gtrace_{name}"),
    }
}

/// Asks the daemon; where none answers, reads the directory beside the store.
pub(super) fn read(instance: &Instance, query: &SampleQuery) -> Result<SampleHistory, Failure> {
    let target = target("/api/v1/samples", &query.to_pairs());
    instance.ask(&target, |store| from_disk(instance, store, query))
}

fn from_disk(
    instance: &Instance,
    store: &Path,
    query: &SampleQuery,
) -> Result<SampleHistory, Failure> {
    let dir = history::directory(store);
    let found = read_samples(&dir, query, Timestamp::now()).map_err(|error| match error {
        SamplesError::Absent { .. } => Failure(Exit::Problem, error.to_string()),
        SamplesError::Index { .. } => Failure(Exit::Usage, error.to_string()),
        SamplesError::History(_) => Failure::not_possible(error),
    })?;
    instance.say_store(&dir);
    Ok(found)
}

fn text(found: &SampleHistory, zone: &TimeZone) -> String {
    let mut out = String::new();
    if !found.metrics.is_empty() {
        metric_table(&mut out, &found.metrics, zone);
    }
    for (index, series) in found.series.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        series_table(&mut out, series, zone);
    }
    out
}

fn metric_table(out: &mut String, metrics: &[SampleMetric], zone: &TimeZone) {
    let names = metrics.iter().map(|metric| metric.metric.chars().count());
    let width = names.max().unwrap_or(0).max("METRIC".len());
    // Writing to a string has no error, here and below.
    let _ = writeln!(
        out,
        "{:<width$}  {:<9}  {:>6}  {:<19}  UNTIL",
        "METRIC", "KIND", "SERIES", "SINCE"
    );
    for metric in metrics {
        let _ = writeln!(
            out,
            "{:<width$}  {:<9}  {:>6}  {}  {}",
            render::clean(&metric.metric),
            metric.kind,
            metric.series,
            local(metric.since, zone),
            local(metric.until, zone),
        );
    }
}

fn series_table(out: &mut String, series: &SampleSeries, zone: &TimeZone) {
    let labels = series.labels.iter();
    let labels: Vec<_> = labels
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let title = format!("{} {}", series.metric, labels.join(" "));
    let _ = writeln!(out, "{}", render::clean(title.trim_end()));
    let sparks = sparkline(&heights(series));
    if !sparks.is_empty() {
        let _ = writeln!(out, "  {sparks}");
    }
    let hidden = series.points.len().saturating_sub(ROWS);
    if hidden > 0 {
        let _ = writeln!(out, "  {hidden} earlier points; --json and --csv give all");
    }
    for point in series.points.iter().skip(hidden) {
        let _ = writeln!(out, "  {}  {}", local(point.time, zone), value(point));
    }
}

fn value(point: &SamplePoint) -> String {
    if let Some(durations) = &point.durations {
        let mean = durations.sum_ns.checked_div(durations.count).unwrap_or(0);
        let (count, max) = (durations.count, durations.max_ns);
        return format!("{count} calls, mean {mean} ns, longest {max} ns");
    }
    let last = point.last.map_or_else(String::new, number);
    match &point.range {
        None => last,
        Some(range) => format!(
            "{last}  ({} to {}, mean {}, {} samples)",
            number(range.min),
            number(range.max),
            number(range.mean),
            range.count
        ),
    }
}

/// Integers whole, others with at most 3 places; large ones are not made short, as they are compared.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    trimmed.to_owned()
}

/// What a sparkline shows: means of gauges, increases of counters, counts of histograms.
fn heights(series: &SampleSeries) -> Vec<f64> {
    let mut before = None;
    let heights = series.points.iter().filter_map(|point| {
        if let Some(durations) = &point.durations {
            return Some(durations.count as f64);
        }
        let last = point.last?;
        match series.kind {
            SampleKind::Counter => {
                let before = before.replace(last)?;
                // It was reset where it has fallen.
                Some(if last < before { last } else { last - before })
            }
            _ => Some(point.range.map_or(last, |range| range.mean)),
        }
    });
    heights.collect()
}

/// At most [`SPARKS`] blocks from the smallest to the largest value; several values of one block are their mean.
fn sparkline(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if values.len() < 2 {
        return String::new();
    }
    let columns = values.len().min(SPARKS);
    let means: Vec<f64> = (0..columns)
        .map(|column| {
            let from = column * values.len() / columns;
            let to = (column + 1) * values.len() / columns;
            let part = values.get(from..to).unwrap_or_default();
            part.iter().sum::<f64>() / part.len().max(1) as f64
        })
        .collect();
    let low = means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let block = |mean: &f64| {
        let share = if high > low {
            (mean - low) / (high - low)
        } else {
            0.0
        };
        // A float that is no index becomes 0.
        let index = (share * 7.0).round() as usize;
        BLOCKS.get(index).copied().unwrap_or('▁')
    };
    means.iter().map(block).collect()
}

fn csv(found: &SampleHistory) -> String {
    let mut out = String::new();
    if !found.metrics.is_empty() {
        out.push_str("metric,kind,unit,series,since,until\n");
        for m in &found.metrics {
            let (name, unit) = (field(&m.metric), field(&m.unit));
            let _ = writeln!(
                out,
                "{name},{},{unit},{},{},{}",
                m.kind, m.series, m.since, m.until
            );
        }
        return out;
    }
    out.push_str("time,metric,labels,last,min,max,mean,count,sum_ns,max_ns\n");
    for series in &found.series {
        let labels = series.labels.iter();
        let labels: Vec<_> = labels
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let (name, labels) = (field(&series.metric), field(&labels.join(";")));
        for point in &series.points {
            let _ = write!(out, "{},{name},{labels},", point.time);
            out.push_str(&columns(point));
            out.push('\n');
        }
    }
    out
}

fn columns(point: &SamplePoint) -> String {
    if let Some(d) = &point.durations {
        return format!(",,,,{},{},{}", d.count, d.sum_ns, d.max_ns);
    }
    let last = point
        .last
        .map_or_else(String::new, |value| value.to_string());
    match &point.range {
        Some(r) => format!("{last},{},{},{},{},,", r.min, r.max, r.mean, r.count),
        None => format!("{last},,,,1,,"),
    }
}

/// A field of RFC 4180.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

fn local(time: Timestamp, zone: &TimeZone) -> String {
    let zoned = time.to_zoned(zone.clone());
    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use gtrace_api::SampleRange;

    use super::*;

    fn series(kind: SampleKind, values: &[f64]) -> SampleSeries {
        let point = |(n, value): (usize, &f64)| SamplePoint {
            time: Timestamp::from_second(1_772_496_000 + n as i64).unwrap(),
            last: Some(*value),
            range: None,
            durations: None,
        };
        SampleSeries {
            metric: "gtrace_gpu_power_watts".to_owned(),
            unit: "watts".to_owned(),
            kind,
            labels: [("gpu".to_owned(), "0000:3b:00.0".to_owned())].into(),
            points: values.iter().enumerate().map(point).collect(),
        }
    }

    #[test]
    fn a_sparkline_shows_gauges_as_they_are_and_counters_by_what_they_rise() {
        let gauge = series(SampleKind::Gauge, &[0.0, 7.0, 3.5]);
        assert_eq!(sparkline(&heights(&gauge)), "▁█▅");
        // It was reset at the third point.
        let counter = series(SampleKind::Counter, &[10.0, 20.0, 5.0]);
        assert_eq!(heights(&counter), [10.0, 5.0]);
        let flat = series(SampleKind::Gauge, &[4.0; 200]);
        assert_eq!(sparkline(&heights(&flat)), "▁".repeat(SPARKS));
    }

    #[test]
    fn a_table_has_the_newest_points_and_says_how_many_it_lacks() {
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        let mut shown = series(SampleKind::Gauge, &values);
        shown.points[29].range = Some(SampleRange {
            count: 3,
            min: 27.0,
            max: 29.25,
            mean: 28.0,
        });
        let found = SampleHistory {
            series: vec![shown],
            ..SampleHistory::default()
        };
        let text = text(&found, &TimeZone::UTC);
        assert!(text.starts_with("gtrace_gpu_power_watts gpu=0000:3b:00.0\n"));
        assert!(text.contains("18 earlier points"), "{text}");
        assert!(text.contains("2026-03-03 00:00:18  18\n"), "{text}");
        assert!(
            text.ends_with("  29  (27 to 29.25, mean 28, 3 samples)\n"),
            "{text}"
        );
    }

    #[test]
    fn csv_has_a_line_for_each_point_and_quotes_what_needs_it() {
        let mut one = series(SampleKind::Gauge, &[250.5]);
        one.labels.insert("port".to_owned(), "a,\"b\"".to_owned());
        let found = SampleHistory {
            series: vec![one],
            ..SampleHistory::default()
        };
        assert_eq!(
            csv(&found),
            "time,metric,labels,last,min,max,mean,count,sum_ns,max_ns\n\
             2026-03-03T00:00:00Z,gtrace_gpu_power_watts,\"gpu=0000:3b:00.0;port=a,\"\"b\"\"\",250.5,,,,1,,\n"
        );
    }

    #[test]
    fn names_may_lack_the_prefix_and_have_the_suffix_of_counters() {
        assert_eq!(
            full_name("gpu_energy_joules_total"),
            "gtrace_gpu_energy_joules"
        );
        assert_eq!(
            full_name("gtrace_gpu_power_watts"),
            "gtrace_gpu_power_watts"
        );
    }
}
