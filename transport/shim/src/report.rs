//! The statistics as JSON, or as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::sync::atomic::Ordering::Relaxed;

use gtrace_abi::midpoint;
use gtrace_cuda::payload::NAMES;
use gtrace_cuda::{Api, functions};

use crate::log;
use crate::session::Session;
use crate::settings::StatsTo;
use crate::stats::{self, Operation, PARTS, Part};

/// Writes what was counted to where GTRACE_STATS says, if it does. `elapsed` is in ns.
pub(crate) fn write(session: &Session, elapsed: u64) {
    match &session.settings.stats {
        None => {}
        Some(StatsTo::Stderr) => {
            let table = table(&Report::new(session, elapsed));
            // Not by a macro, which panics in the program where nobody reads.
            let _ = std::io::stderr().write_all(table.as_bytes());
        }
        Some(StatsTo::File(path)) => {
            let path = path.to_string_lossy();
            let path = path.replace("%p", &std::process::id().to_string());
            if let Err(error) = fs::write(&path, json(&Report::new(session, elapsed))) {
                log::say(&format!(
                    "the statistics cannot be written to {path}: {error}"
                ));
            }
        }
    }
}

struct Times {
    count: u64,
    sum: u64,
    max: u64,
    p50: u64,
    p99: u64,
    /// By bucket of gtrace-abi.
    buckets: Vec<u64>,
}

struct Row {
    name: String,
    one_way: u64,
    waiting: u64,
    bytes_out: u64,
    bytes_in: u64,
    parts: [Option<Times>; PARTS.len()],
}

impl Row {
    fn total(&self) -> u64 {
        self.parts.iter().flatten().map(|times| times.sum).sum()
    }
}

struct Report {
    peer: String,
    host: String,
    link: String,
    congestion_control: Option<String>,
    /// Best size of a piece of a bulk copy, bytes.
    chunk: usize,
    fallbacks: Vec<String>,
    /// Times that RDMA was asked for and not agreed upon.
    refused: u64,
    /// Times that a device was given up for the connection, and that it was taken again.
    failovers: u64,
    failbacks: u64,
    /// Bytes that a device took from the program's page-locked memory.
    lent: u64,
    /// Times that connections broke, and that others took their place.
    severed: u64,
    resumed: u64,
    /// Why the connection has ended before the program.
    lost: Option<String>,
    /// Lanes whose server did not keep to the protocol.
    lanes_broken: u64,
    program: String,
    elapsed: u64,
    local: BTreeMap<&'static str, u64>,
    rows: Vec<Row>,
}

impl Report {
    fn new(session: &Session, elapsed: u64) -> Self {
        let mut local = BTreeMap::new();
        for count in stats::locals() {
            *local.entry(count.name).or_default() += count.count.load(Relaxed);
        }
        let mut rows: Vec<Row> = stats::operations().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.total()));
        let changes = session.lanes.changes();
        let mut fallbacks = session.info.fallbacks.clone();
        fallbacks.extend(changes.reasons);
        Self {
            peer: session.peer(),
            host: session.host.clone(),
            link: changes.now.unwrap_or(session.info.kind).to_string(),
            congestion_control: session.info.congestion_control.clone(),
            chunk: session.info.chunk,
            fallbacks,
            refused: changes.refused,
            failovers: changes.failovers,
            failbacks: changes.failbacks,
            lent: changes.lent,
            severed: changes.severed,
            resumed: changes.resumed,
            lost: session.why_lost().map(str::to_owned),
            lanes_broken: session.lanes_broken(),
            program: session.program().to_owned(),
            elapsed,
            local,
            rows,
        }
    }

    fn sum(&self, of: impl Fn(&Row) -> u64) -> u64 {
        self.rows.iter().map(of).sum()
    }
}

fn name(operation: &Operation) -> String {
    let described = [Api::Driver, Api::Nvml]
        .into_iter()
        .flat_map(functions::all);
    let mut described = described.map(|f| (f.name, f.id())).chain(NAMES);
    let found = described.find(|(_, id)| *id == operation.op);
    found.map_or_else(
        || format!("{:#010x}", operation.op),
        |(name, _)| name.to_owned(),
    )
}

fn row(operation: &Operation) -> Row {
    Row {
        name: name(operation),
        one_way: operation.one_way.load(Relaxed),
        waiting: operation.waiting.load(Relaxed),
        bytes_out: operation.bytes_out.load(Relaxed),
        bytes_in: operation.bytes_in.load(Relaxed),
        parts: std::array::from_fn(|at| operation.part(at).map(times)),
    }
}

fn times(part: &Part) -> Times {
    let buckets: Vec<u64> = part
        .buckets
        .iter()
        .map(|b| b.load(Relaxed).into())
        .collect();
    let count: u64 = buckets.iter().sum();
    let max = part.max.load(Relaxed);
    let percentile = |percent: u64| {
        let rank = (count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = buckets.iter().position(|n| {
            seen += n;
            seen >= rank
        });
        found.map_or(0, midpoint).min(max)
    };
    Times {
        count,
        sum: part.sum.load(Relaxed),
        max,
        p50: percentile(50),
        p99: percentile(99),
        buckets,
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn json(report: &Report) -> String {
    let mut rows = Vec::new();
    for row in &report.rows {
        let mut parts = Vec::new();
        for (name, times) in PARTS.iter().zip(&row.parts) {
            if let Some(t) = times {
                let buckets = t
                    .buckets
                    .iter()
                    .enumerate()
                    .filter(|(_, count)| **count > 0);
                let buckets: Vec<String> = buckets
                    .map(|(at, count)| format!("[{at},{count}]"))
                    .collect();
                parts.push(format!(
                    "\"{name}\":{{\"count\":{},\"sum_ns\":{},\"p50_ns\":{},\"p99_ns\":{},\
                     \"max_ns\":{},\"buckets\":[{}]}}",
                    t.count,
                    t.sum,
                    t.p50,
                    t.p99,
                    t.max,
                    buckets.join(",")
                ));
            }
        }
        rows.push(format!(
            "{{\"name\":{},\"one_way\":{},\"waiting\":{},\"bytes_out\":{},\"bytes_in\":{},\"parts\":{{{}}}}}",
            quoted(&row.name),
            row.one_way,
            row.waiting,
            row.bytes_out,
            row.bytes_in,
            parts.join(",")
        ));
    }
    let local = report.local.iter();
    let local: Vec<String> = local
        .map(|(name, n)| format!("{}:{n}", quoted(name)))
        .collect();
    let fallbacks: Vec<String> = report.fallbacks.iter().map(|f| quoted(f)).collect();
    format!(
        "{{\"program\":{},\"pid\":{},\"server\":{},\"server_host\":{},\"link\":{},\
         \"congestion_control\":{},\"chunk\":{},\"fallbacks\":[{}],\"refused\":{},\"failovers\":{},\"failbacks\":{},\"from_page_locked\":{},\
         \"severed\":{},\"resumed\":{},\"lost\":{},\"lanes_broken\":{},\"elapsed_ns\":{},\"totals\":{{\"local\":{},\"one_way\":{},\
         \"waiting\":{},\"bytes_out\":{},\"bytes_in\":{}}},\"local\":{{{}}},\"operations\":[{}]}}\n",
        quoted(&report.program),
        std::process::id(),
        quoted(&report.peer),
        quoted(&report.host),
        quoted(&report.link),
        or_null(report.congestion_control.as_deref()),
        report.chunk,
        fallbacks.join(","),
        report.refused,
        report.failovers,
        report.failbacks,
        report.lent,
        report.severed,
        report.resumed,
        or_null(report.lost.as_deref()),
        report.lanes_broken,
        report.elapsed,
        report.local.values().sum::<u64>(),
        report.sum(|r| r.one_way),
        report.sum(|r| r.waiting),
        report.sum(|r| r.bytes_out),
        report.sum(|r| r.bytes_in),
        local.join(","),
        rows.join(",")
    )
}

fn or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

fn table(report: &Report) -> String {
    let mut out = format!(
        "gtrace: {} ({}) on {} over {}, {:.3} s: {} local, {} one-way, {} waiting calls, {} bytes out, \
         {} in\n",
        report.program,
        std::process::id(),
        report.peer,
        report.link,
        report.elapsed as f64 / 1e9,
        report.local.values().sum::<u64>(),
        report.sum(|r| r.one_way),
        report.sum(|r| r.waiting),
        report.sum(|r| r.bytes_out),
        report.sum(|r| r.bytes_in),
    );
    if let Some(lost) = &report.lost {
        let _ = writeln!(out, "the GPU was lost: {lost}");
    }
    let _ = writeln!(
        out,
        "{:<36} {:>9} {:>9} {:>12} {:>12}  p50 us: {:>8} {:>8} {:>8} {:>8} {:>8}",
        "operation",
        "one-way",
        "waiting",
        "bytes out",
        "bytes in",
        PARTS[0],
        PARTS[1],
        PARTS[2],
        PARTS[3],
        PARTS[4],
    );
    for row in &report.rows {
        let _ = write!(
            out,
            "{:<36} {:>9} {:>9} {:>12} {:>12}         ",
            row.name, row.one_way, row.waiting, row.bytes_out, row.bytes_in
        );
        for times in &row.parts {
            let _ = match times {
                Some(times) => write!(out, " {:>8.1}", times.p50 as f64 / 1e3),
                None => write!(out, " {:>8}", "-"),
            };
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_json_are_escaped() {
        assert_eq!(quoted("a\"b\\\n"), "\"a\\\"b\\\\\\u000a\"");
    }

    #[test]
    fn percentiles_are_those_of_the_buckets() {
        let op = gtrace_protocol::op_id("test of percentiles");
        let mut left = stats::Left::default();
        for ns in 1..100 {
            left.count(op, 0);
            left.time(ns * 1000, true);
        }
        left.publish();
        let found = stats::operations().find(|o| o.op == op).unwrap();
        let row = row(found);
        let times = row.parts[0].as_ref().unwrap();
        assert_eq!((times.count, row.one_way), (99, 99));
        assert!(times.p50.abs_diff(50_000) < 1_000, "{}", times.p50);
        assert!(times.p99.abs_diff(99_000) < 2_000, "{}", times.p99);
        assert_eq!((times.sum, times.max), (99 * 50_000, 99_000));
    }
}
