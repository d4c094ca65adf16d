//! A profile as a table: the rows of a process together, from the program down to the driver.

use std::collections::BTreeMap;

use crate::text::{bytes, clean, duration};
use crate::{Counts, Key, Part, Process, Profile};

/// What the rows of a layer are sorted by, the most first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Total time.
    #[default]
    Time,
    /// Number of calls.
    Calls,
    /// 99th percentile.
    P99,
    /// Longest call.
    Max,
    /// Failed calls.
    Failures,
}

impl Order {
    fn of(self, counts: &Counts) -> u64 {
        let histogram = &counts.histogram;
        match self {
            Self::Time => histogram.sum_ns(),
            Self::Calls => counts.calls,
            Self::P99 => histogram.quantile(0.99),
            Self::Max => histogram.max_ns(),
            Self::Failures => counts.errors.unwrap_or(0),
        }
    }
}

const TITLES: [&str; NUMBERS] = [
    "CALLS", "ERRORS", "p50", "p90", "p99", "p99.9", "MAX", "TOTAL", "BYTES",
];
/// Columns of numbers.
const NUMBERS: usize = 9;

/// A block for each process, its layers in the order of a call. At most `limit` rows of each layer of a
/// process; 0 for all.
pub fn text(profile: &Profile, order: Order, limit: usize) -> String {
    // What each layer knows of a process differs; its number on its host is the same. Under 0 are
    // several.
    type Rows<'a> = Vec<(&'a Key, &'a Counts)>;
    let mut processes: BTreeMap<(&str, u32, &str), Rows<'_>> = BTreeMap::new();
    for (key, counts) in &profile.rows {
        let Process {
            host, pid, comm, ..
        } = &key.process;
        let name = if *pid == 0 { comm.as_str() } else { "" };
        let rows = processes.entry((host.as_str(), *pid, name)).or_default();
        rows.push((key, counts));
    }
    let mut blocks: Vec<_> = processes.into_iter().collect();
    let total = |rows: &[(&Key, &Counts)]| -> u64 {
        let sums = rows.iter().map(|(_, counts)| order.of(counts));
        sums.fold(0, u64::saturating_add)
    };
    blocks.sort_by_key(|(_, rows)| std::cmp::Reverse(total(rows)));
    let mut out = String::new();
    for (_, rows) in blocks {
        if !out.is_empty() {
            out.push('\n');
        }
        // The one of which the most is known.
        let processes = rows.iter().map(|(key, _)| &key.process);
        let known = processes.max_by_key(|p| (p.origin.is_some(), p.cgroup.is_some()));
        out.push_str(&known.map(title).unwrap_or_default());
        out.push('\n');
        block(&mut out, rows, order, limit);
    }
    out
}

/// The process in one line.
fn title(process: &Process) -> String {
    let mut line = match process.pid {
        0 => clean(&process.comm),
        pid => format!("{pid} {}", clean(&process.comm)),
    };
    if !process.host.is_empty() {
        line.push_str(&format!("  on {}", clean(&process.host)));
    }
    if let Some(origin) = &process.origin {
        line.push_str(&format!(
            "  for {} {} of {}",
            origin.pid,
            clean(&origin.program),
            clean(&origin.host)
        ));
    }
    if let Some(cgroup) = &process.cgroup {
        line.push_str(&format!("  {}", clean(cgroup)));
    }
    line
}

/// The function, with what distinguishes it from its neighbours.
pub(crate) fn label(key: &Key) -> String {
    let mut text = clean(&key.function);
    if key.part != Part::Whole {
        text.push_str(&format!(" ({})", key.part.name()));
    }
    if let Some(gpu) = &key.gpu {
        text.push_str(&format!(" {}", clean(gpu)));
    }
    text
}

struct Line {
    layer: &'static str,
    label: String,
    numbers: [String; NUMBERS],
    notes: Vec<String>,
}

impl Line {
    fn of(key: &Key, counts: &Counts) -> Self {
        let histogram = &counts.histogram;
        let unknown = || "-".to_owned();
        let time = |ns: u64| match histogram.is_empty() {
            true => unknown(),
            false => duration(ns),
        };
        let numbers = [
            counts.calls.to_string(),
            counts
                .errors
                .map_or_else(unknown, |errors| errors.to_string()),
            time(histogram.quantile(0.5)),
            time(histogram.quantile(0.9)),
            time(histogram.quantile(0.99)),
            time(histogram.quantile(0.999)),
            time(histogram.max_ns()),
            time(histogram.sum_ns()),
            counts.bytes.map_or_else(unknown, bytes),
        ];
        let notes = counts.statuses.iter();
        Self {
            layer: key.layer.name(),
            label: label(key),
            numbers,
            notes: notes
                .map(|(status, count)| format!("{} x {count}", clean(status)))
                .collect(),
        }
    }
}

fn block(out: &mut String, rows: Vec<(&Key, &Counts)>, order: Order, limit: usize) {
    let mut rows = rows;
    // Stable: parts of a function that weigh the same stay in their order.
    rows.sort_by_key(|(key, counts)| (key.layer, std::cmp::Reverse(order.of(counts))));
    let mut lines: Vec<Line> = Vec::new();
    let mut more: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (key, counts) in rows {
        let layer = key.layer.name();
        let shown = lines.iter().filter(|line| line.layer == layer).count();
        match limit {
            0 => lines.push(Line::of(key, counts)),
            limit if shown < limit => lines.push(Line::of(key, counts)),
            _ => *more.entry(layer).or_default() += 1,
        }
    }
    let labels = lines.iter().map(|line| line.label.chars().count());
    let wide = labels.max().unwrap_or(0).max("FUNCTION".len());
    let widths: Vec<usize> = (0..NUMBERS)
        .map(|at| {
            let widths = lines.iter().map(|line| line.numbers[at].chars().count());
            widths.max().unwrap_or(0).max(TITLES[at].len())
        })
        .collect();
    let mut row = |layer: &str, label: &str, numbers: &[String]| {
        let mut line = format!("  {layer:<7} {label:<wide$}");
        for (number, width) in numbers.iter().zip(&widths) {
            line.push_str(&format!("  {number:>width$}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    };
    row("LAYER", "FUNCTION", &TITLES.map(str::to_owned));
    for line in &lines {
        row(line.layer, &line.label, &line.numbers);
        for note in &line.notes {
            row("", &format!("  {note}"), &[]);
        }
    }
    for (layer, more) in more {
        row(
            layer,
            &format!("{more} more rows: --limit 0 shows all"),
            &[],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::made::key;
    use crate::{Histogram, Layer, Row};

    fn row(layer: Layer, pid: u32, function: &str, ns: u64) -> Row {
        let mut histogram = Histogram::default();
        histogram.record_n(ns, 10);
        Row {
            key: key(layer, pid, function),
            counts: Counts::timed(histogram),
        }
    }

    #[test]
    fn layers_of_a_process_stand_together() {
        let mut profile = Profile::default();
        profile.add(&row(Layer::Driver, 7, "RM_ALLOC", 4_000));
        profile.add(&row(Layer::Remote, 7, "cuMemAlloc_v2", 90_000));
        profile.add(&row(Layer::Api, 7, "cuMemAlloc_v2", 100_000));
        profile.add(&row(Layer::Api, 8, "odd\u{1b}[2J", 2_000_000));
        let mut failed = row(Layer::Driver, 7, "RM_FREE", 3_000);
        failed.counts.errors = Some(2);
        failed.counts.bytes = Some(4096);
        failed.counts.statuses.insert("NV_ERR_NO_MEMORY".into(), 2);
        profile.add(&failed);
        let text = text(&profile, Order::Time, 1);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        let at = |start: &str| {
            let found = lines.iter().position(|line| line.starts_with(start));
            found.unwrap_or_else(|| panic!("{start} is missing in\n{text}"))
        };
        // The process with the most time first, and api, driver, remote within one.
        assert!(at("8 python3") < at("7 python3") && at("7 python3") < at("driver"));
        assert!(at("driver  RM_ALLOC") < at("remote  cuMemAlloc_v2 (wire)"));
        assert!(text.contains("1 more rows") && !text.contains('\u{1b}'));
        let all = super::text(&profile, Order::Failures, 0);
        let failed = all.lines().find(|line| line.contains("RM_FREE")).unwrap();
        for part in [" 10 ", " 2 ", "3.00us", "30.0us", "4.0 KiB"] {
            assert!(failed.contains(part), "{part} is missing in {failed}");
        }
        assert!(all.contains("NV_ERR_NO_MEMORY x 2"));
    }
}
