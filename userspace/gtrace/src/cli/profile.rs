//! `gtrace profile --driver`: where the time of driver calls goes, by process and operation.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use super::shared::{self, Place};
use super::{NOT_POSSIBLE, USAGE};
use crate::hub::CallStats;
use crate::render::clean;

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
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

/// Show percentiles of driver calls by process, device and operation.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// Calls into the NVIDIA driver (the only profile so far).
    #[arg(long)]
    driver: bool,
    /// Only this process.
    #[arg(long)]
    pid: Option<u32>,
    /// What to sort by.
    #[arg(long, value_enum, default_value_t)]
    sort: Sort,
    /// How many rows; 0 for all.
    #[arg(long, default_value_t = 40)]
    limit: usize,
    /// A JSON array of all rows, with the failures by NV_STATUS.
    #[arg(long)]
    json: bool,
    /// Where the daemon is.
    #[command(flatten)]
    place: Place,
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.driver {
        eprintln!("gtrace: say what to profile: --driver (calls into the NVIDIA driver)");
        return Ok(ExitCode::from(USAGE));
    }
    let calls: Result<Vec<CallStats>, _> = args.place.reading_client().get("/api/v1/histograms");
    let mut calls = match calls {
        Ok(calls) => calls,
        Err(error) => {
            eprintln!("gtrace: {error}");
            return Ok(ExitCode::from(NOT_POSSIBLE));
        }
    };
    calls.retain(|call| args.pid.is_none_or(|pid| call.pid == pid));
    sort(&mut calls, args.sort);
    if args.json {
        shared::print(&shared::json_line(&serde_json::to_value(&calls)?)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    shared::print(&table(&calls, args.limit))?;
    Ok(ExitCode::SUCCESS)
}

fn sort(calls: &mut [CallStats], by: Sort) {
    calls.sort_by_key(|call| {
        std::cmp::Reverse(match by {
            Sort::Time => call.total_ns,
            Sort::Calls => call.count,
            Sort::P99 => call.p99_ns,
            Sort::Max => call.max_ns,
            Sort::Failures => call.errors + call.failures,
        })
    });
}

fn table(calls: &[CallStats], limit: usize) -> String {
    if calls.is_empty() {
        return "no driver calls seen\n".to_owned();
    }
    let shown = match limit {
        0 => calls,
        limit => &calls[..limit.min(calls.len())],
    };
    let process = |call: &CallStats| format!("{} {}", call.pid, clean(&call.comm));
    let width = |column: &dyn Fn(&CallStats) -> String, title: &str| {
        let widths = shown.iter().map(|call| column(call).chars().count());
        widths.max().unwrap_or(0).max(title.len())
    };
    let label = |call: &CallStats| clean(&call.label());
    let device = |call: &CallStats| clean(&call.device);
    let (p, d, l) = (
        width(&process, "PROCESS"),
        width(&device, "DEVICE"),
        width(&label, "CALL"),
    );
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{:<p$}  {:<d$}  {:<l$}  {:>9} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}",
        "PROCESS",
        "DEVICE",
        "CALL",
        "CALLS",
        "FAILED",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "MAX",
        "TOTAL"
    );
    for call in shown {
        let _ = writeln!(
            text,
            "{:<p$}  {:<d$}  {:<l$}  {:>9} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}",
            process(call),
            device(call),
            label(call),
            call.count,
            call.errors + call.failures,
            time(call.p50_ns),
            time(call.p90_ns),
            time(call.p99_ns),
            time(call.p999_ns),
            time(call.max_ns),
            time(call.total_ns),
        );
        for failure in &call.statuses {
            let name = failure.name.as_ref().unwrap_or(&failure.status);
            let _ = writeln!(text, "{:<p$}  {:<d$}    {name} x {}", "", "", failure.count);
        }
    }
    if shown.len() < calls.len() {
        let more = calls.len() - shown.len();
        let _ = writeln!(text, "{more} more rows: --limit 0 shows all");
    }
    text
}

/// A time with a unit: `950ns`, `1.25us`, `30.1ms`, `2.00s`.
pub(super) fn time(ns: u64) -> String {
    let text = format!("{:.3?}", Duration::from_nanos(ns));
    let digits: String = text
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let unit = text[digits.len()..].replace('µ', "u");
    let value: f64 = digits.parse().unwrap_or(0.0);
    match value {
        _ if ns < 1_000 => format!("{ns}ns"),
        ..10.0 => format!("{value:.2}{unit}"),
        ..100.0 => format!("{value:.1}{unit}"),
        _ => format!("{value:.0}{unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::CallFailures;

    fn call(pid: u32, total_ns: u64, failures: u64) -> CallStats {
        CallStats {
            pid,
            comm: "python".into(),
            device: "nvidiactl".into(),
            ioctl: "0xc020462a".into(),
            op: Some("RM_CONTROL".into()),
            code: Some("0x20800102".into()),
            code_name: Some("NV2080_CTRL_CMD_GPU_GET_INFO_V2".into()),
            count: 10,
            failures,
            total_ns,
            ..CallStats::default()
        }
    }

    #[test]
    fn rows_are_sorted_as_asked() {
        let mut calls = [call(1, 5, 9), call(2, 7, 0)];
        sort(&mut calls, Sort::Time);
        assert_eq!(calls[0].pid, 2);
        sort(&mut calls, Sort::Failures);
        assert_eq!(calls[0].pid, 1);
    }

    #[test]
    fn the_table_names_process_device_call_and_failures() {
        let mut one = call(4711, 2_500_000, 3);
        one.statuses = vec![CallFailures {
            status: "0x51".into(),
            name: Some("NV_ERR_NO_MEMORY".into()),
            count: 3,
        }];
        let text = table(&[one, call(1, 1, 0)], 1);
        let row = text.lines().nth(1).unwrap();
        for part in ["4711 python", "nvidiactl", "GPU_GET_INFO_V2", "2.50ms"] {
            assert!(row.contains(part), "{part} is missing in {row}");
        }
        assert!(text.contains("NV_ERR_NO_MEMORY x 3"));
        assert!(text.contains("1 more rows"));
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (ns, text) in [
            (950, "950ns"),
            (1_250, "1.25us"),
            (30_100_000, "30.1ms"),
            (2_000_000_000, "2.00s"),
            (125_000_000_000, "125s"),
        ] {
            assert_eq!(time(ns), text);
        }
    }
}
