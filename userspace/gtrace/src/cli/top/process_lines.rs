//! Processes as lines of text.

use super::processes::{Followed, HISTORY, Point, Rates, memory};
use crate::processes::{LayerCounts, ProcessUse};
use crate::render::{bytes, clean, duration};

/// Columns of the history in a row.
const SPARK: usize = 16;

/// The head of the table of processes.
pub(super) fn head() -> String {
    format!(
        "{:>7} {:<15} {:<12} {:>6} {:>8} {:>6} {:>6} {:>5} {:>8} {:>6} {:>9} {:>8} {}",
        "PID",
        "NAME",
        "CONTAINER",
        "CPU",
        "CUDA/s",
        "p50",
        "p99",
        "ERR",
        "DRV/s",
        "p99",
        "MEMORY",
        "FULL IN",
        "CUDA CALLS"
    )
}

/// A process in one line.
pub(super) fn line(followed: &Followed) -> String {
    let (now, last) = (&followed.now, followed.last());
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), duration);
    let rate = |rates: Option<Rates>| {
        rates.map_or_else(|| "-".to_owned(), |rates| count(rates.per_second))
    };
    let errors = [&now.api, &now.driver].into_iter().flatten();
    let errors: u64 = errors.map(|layer| layer.errors).sum();
    let full = now.full_in_s.map(|left| format!("{left:.0} s"));
    let calls = followed.history.iter();
    let calls = calls.map(|point| point.api.map_or(0.0, |rates| rates.per_second));
    format!(
        "{:>7} {:<15} {:<12} {:>5.0}% {:>8} {:>6} {:>6} {:>5} {:>8} {:>6} {:>9} {:>8} {}",
        now.pid,
        short(&clean(&now.comm), 15),
        short(now.container.as_deref().unwrap_or("-"), 12),
        last.cpu * 100.0,
        rate(last.api),
        time(last.api.and_then(|rates| rates.p50_ns)),
        time(last.api.and_then(|rates| rates.p99_ns)),
        errors,
        rate(last.driver),
        time(last.driver.and_then(|rates| rates.p99_ns)),
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
        "{:>7} {:<15} {:<12} {:>9} {:>10} {:>6} {:>6} {:>10} {:>6} {:>6} {:>9}",
        "PID", "NAME", "CONTAINER", "CPU", "CUDA", "p50", "p99", "DRIVER", "p99", "ERR", "MEMORY"
    )];
    let calls = |layer: &Option<LayerCounts>| {
        let calls = layer.as_ref().map(|layer| layer.calls.to_string());
        calls.unwrap_or_else(|| "-".to_owned())
    };
    let time = |layer: &Option<LayerCounts>, of: fn(&LayerCounts) -> u64| {
        let time = layer.as_ref().map(|layer| duration(of(layer)));
        time.unwrap_or_else(|| "-".to_owned())
    };
    lines.extend(rows.iter().map(|row| {
        let errors = [&row.api, &row.driver].into_iter().flatten();
        format!(
            "{:>7} {:<15} {:<12} {:>7.2} s {:>10} {:>6} {:>6} {:>10} {:>6} {:>6} {:>9}",
            row.pid,
            short(&clean(&row.comm), 15),
            short(row.container.as_deref().unwrap_or("-"), 12),
            row.cpu_seconds,
            calls(&row.api),
            time(&row.api, |layer| layer.p50_ns),
            time(&row.api, |layer| layer.p99_ns),
            calls(&row.driver),
            time(&row.driver, |layer| layer.p99_ns),
            errors.map(|layer| layer.errors).sum::<u64>(),
            memory(row).map_or_else(|| "-".to_owned(), bytes),
        )
    }));
    lines
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
    row("CUDA calls/s", &count, &|point| Some(point.api?.per_second));
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
fn spark(values: impl DoubleEndedIterator<Item = f64>, width: usize) -> String {
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

fn short(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_is_drawn_to_its_highest_value() {
        assert_eq!(spark([0.0, 1.0, 2.0].into_iter(), 16), "▁▅█");
        assert_eq!(spark([9.0, 0.0, 0.0].into_iter(), 2), "▁▁");
        assert_eq!(spark(std::iter::empty(), 4), "");
    }
}
