//! Processes as lines of text.

use gtrace_api::{Coverage, LayerCounts, ProcessUse};

use super::lines::fit;
use super::processes::{Followed, HISTORY, Point, Rates, memory};
use gtrace_render::{bytes, clean, duration};

/// Columns of the history in a row.
const SPARK: usize = 16;

/// The head of the table of processes.
pub(super) const HEAD: &str = "    PID NAME            CONTAINER       CPU   CUDA/s     p50     p99   ERR    DRV/s    p99    MEMORY  FULL IN CUDA CALLS";

/// A process in one line.
pub(super) fn line(followed: &Followed) -> String {
    let (now, last) = (&followed.now, followed.last());
    let time = |rates: Option<Rates>, of: fn(&Rates) -> Option<u64>| {
        let known = rates.and_then(|rates| Some((of(&rates)?, rates.coverage)));
        known.map_or_else(|| "-".to_owned(), |(ns, of)| estimated(of, &duration(ns)))
    };
    let rate = |rates: Option<Rates>| {
        let seen = |rates: Rates| at_least(rates.coverage, &count(rates.per_second));
        rates.map_or_else(|| "-".to_owned(), seen)
    };
    let full = now.full_in_s.map(|left| format!("{left:.0} s"));
    let calls = followed.history.iter();
    let calls = calls.map(|point| point.api.map_or(0.0, |rates| rates.per_second));
    format!(
        "{:>7} {:<15} {:<12} {:>5.0}% {:>8} {:>7} {:>7} {:>5} {:>8} {:>6} {:>9} {:>8} {}",
        now.pid,
        fit(&clean(&now.comm), 15),
        fit(now.container.as_deref().unwrap_or("-"), 12),
        last.cpu * 100.0,
        rate(last.api),
        time(last.api, |rates| rates.p50_ns),
        time(last.api, |rates| rates.p99_ns),
        errors(now),
        rate(last.driver),
        time(last.driver, |rates| rates.p99_ns),
        memory(now).map_or_else(|| "-".to_owned(), bytes),
        full.as_deref().unwrap_or("-"),
        spark(calls, SPARK),
    )
}

/// Processes of one reading, counted since their start or that of the daemon.
pub(super) fn lines_once(rows: &[ProcessUse]) -> Vec<String> {
    if rows.is_empty() {
        return vec!["no process uses a GPU".to_owned()];
    }
    let mut lines = vec![format!(
        "{:>7} {:<15} {:<12} {:>9} {:>10} {:>7} {:>7} {:>10} {:>6} {:>6} {:>9}",
        "PID", "NAME", "CONTAINER", "CPU", "CUDA", "p50", "p99", "DRIVER", "p99", "ERR", "MEMORY"
    )];
    let calls = |layer: &Option<LayerCounts>| {
        let calls = |layer: &LayerCounts| at_least(layer.coverage, &layer.calls.to_string());
        let calls = layer.as_ref().map(calls);
        calls.unwrap_or_else(|| "-".to_owned())
    };
    let time = |layer: &Option<LayerCounts>, of: fn(&LayerCounts) -> u64| {
        let time = |layer: &LayerCounts| estimated(layer.coverage, &duration(of(layer)));
        let time = layer.as_ref().map(time);
        time.unwrap_or_else(|| "-".to_owned())
    };
    lines.extend(rows.iter().map(|row| {
        format!(
            "{:>7} {:<15} {:<12} {:>7.2} s {:>10} {:>7} {:>7} {:>10} {:>6} {:>6} {:>9}",
            row.pid,
            fit(&clean(&row.comm), 15),
            fit(row.container.as_deref().unwrap_or("-"), 12),
            row.cpu_seconds,
            calls(&row.api),
            time(&row.api, |layer| layer.p50_ns),
            time(&row.api, |layer| layer.p99_ns),
            calls(&row.driver),
            time(&row.driver, |layer| layer.p99_ns),
            errors(row),
            memory(row).map_or_else(|| "-".to_owned(), bytes),
        )
    }));
    let coverage = rows
        .iter()
        .filter_map(|row| Some(row.api.as_ref()?.coverage));
    lines.extend(legend(coverage.max().unwrap_or_default()).map(str::to_owned));
    lines
}

/// What the marks in a table of processes mean, where there are any.
pub(super) fn legend(coverage: Coverage) -> Option<&'static str> {
    match coverage {
        Coverage::All => None,
        Coverage::Sampled => Some("~ of a sample of the calls (budget of the probes)"),
        Coverage::Partial => Some("≥ not all calls are seen (budget of the probes)"),
    }
}

/// A count that is a lower bound where not all calls were seen.
pub(super) fn at_least(coverage: Coverage, count: &str) -> String {
    match coverage {
        Coverage::Partial => format!("≥{count}"),
        Coverage::All | Coverage::Sampled => count.to_owned(),
    }
}

/// A value that is an estimate where not all calls were timed.
pub(super) fn estimated(coverage: Coverage, value: &str) -> String {
    match coverage {
        Coverage::All => value.to_owned(),
        Coverage::Sampled | Coverage::Partial => format!("~{value}"),
    }
}

/// Failed calls of both layers. Of sampled CUDA calls only those that were timed are known.
fn errors(process: &ProcessUse) -> String {
    let layers = || [&process.api, &process.driver].into_iter().flatten();
    let errors: u64 = layers().map(|layer| layer.errors).sum();
    let bound = match layers().all(|layer| layer.coverage == Coverage::All) {
        true => Coverage::All,
        false => Coverage::Partial,
    };
    at_least(bound, &errors.to_string())
}

/// More of a process: its past, line by line.
pub(super) fn details(followed: &Followed, width: usize) -> Vec<String> {
    let now = &followed.now;
    let text = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), clean);
    let mut lines = vec![
        format!("process    {} {}", now.pid, clean(&now.comm)),
        format!("container  {}", text(&now.container)),
        format!("cgroup     {}", text(&now.cgroup)),
        format!("devices    {}", clean(&now.devices.join(" "))),
        String::new(),
    ];
    let room = width.saturating_sub(36).clamp(8, HISTORY);
    let mut row = |name: &str, most: &dyn Fn(f64) -> String, of: &dyn Fn(&Point) -> Option<f64>| {
        let values: Vec<f64> = followed.history.iter().filter_map(of).collect();
        if values.is_empty() {
            return;
        }
        let highest = values.iter().copied().fold(0.0, f64::max);
        let drawn = spark(values.into_iter(), room);
        lines.push(format!("{name:<16} up to {:>9}  {drawn}", most(highest)));
    };
    let percent = |value: f64| format!("{:.0} %", value * 100.0);
    let time = |value: f64| duration(value as u64);
    let size = |value: f64| bytes(value as u64);
    row("host CPU", &percent, &|point| Some(point.cpu));
    let api = now.api.as_ref();
    let coverage = api.map_or(Coverage::All, |api| api.coverage_now);
    let seen = |value: f64| at_least(coverage, &count(value));
    row("CUDA calls/s", &seen, &|point| Some(point.api?.per_second));
    row("CUDA p50", &time, &|point| Some(point.api?.p50_ns? as f64));
    row("CUDA p99", &time, &|point| Some(point.api?.p99_ns? as f64));
    row("driver calls/s", &count, &|point| {
        Some(point.driver?.per_second)
    });
    row("driver p99", &time, &|point| {
        Some(point.driver?.p99_ns? as f64)
    });
    row("device memory", &size, &|point| Some(point.memory? as f64));
    lines
}

fn count(value: f64) -> String {
    match value {
        ..10.0 => format!("{value:.1}"),
        10.0..100_000.0 => format!("{value:.0}"),
        100_000.0..1e8 => format!("{:.0}k", value / 1e3),
        _ => format!("{:.0}M", value / 1e6),
    }
}

/// The newest values as blocks, the highest of them as a full one.
pub(super) fn spark(values: impl DoubleEndedIterator<Item = f64>, width: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let mut newest: Vec<f64> = values.rev().take(width).collect();
    newest.reverse();
    let highest = newest.iter().copied().fold(0.0, f64::max);
    let block = |value: f64| {
        let level = if highest > 0.0 {
            value / highest * 7.0
        } else {
            0.0
        };
        BLOCKS[(level.round() as usize).min(7)]
    };
    newest.into_iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::processes::tests::process;
    use super::super::processes::{Processes, Sort};
    use super::*;

    #[test]
    fn the_past_is_drawn_to_its_highest_value() {
        assert_eq!(spark([0.0, 1.0, 2.0].into_iter(), 16), "▁▅█");
        assert_eq!(spark([9.0, 0.0, 0.0].into_iter(), 2), "▁▁");
        assert_eq!(spark(std::iter::empty(), 4), "");
    }

    #[test]
    fn a_line_has_what_a_process_did_since_the_reading_before() {
        let mut processes = Processes::default();
        let start = Instant::now();
        processes.take(&[process(1, "train", 500)], start);
        let mut later = process(1, "train", 700);
        later.cpu_seconds += 0.8;
        processes.take(&[later], start + Duration::from_secs(2));
        let text = line(processes.shown("", Sort::Api)[0]);
        for part in ["train", "abababababab ", "50%", "100", "1.0 MiB", "█"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
