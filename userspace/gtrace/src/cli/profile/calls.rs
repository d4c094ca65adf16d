//! `gtrace profile --driver`: everything that the daemon has counted of driver calls, by process, device
//! and operation.

use std::fmt::Write as _;
use std::process::ExitCode;

use gtrace_event::WitnessName;

use super::{Args, Sort};
use crate::cli::NOT_POSSIBLE;
use crate::cli::shared;
use crate::hub::{CallStats, SourceState, SourceStatus};
use crate::render::{clean, duration};

/// The sources of driver calls.
const SOURCES: [WitnessName; 2] = [WitnessName::DriverIoctl, WitnessName::SyscallIoctl];

/// Shows them.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let client = args.place.reading_client();
    let asked = client
        .get::<Vec<CallStats>>("/api/v1/histograms")
        .and_then(|calls| Ok((calls, client.get::<Vec<SourceStatus>>("/api/v1/sources")?)));
    let (mut calls, sources) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            eprintln!("gtrace: {error}");
            return Ok(ExitCode::from(NOT_POSSIBLE));
        }
    };
    calls.retain(|call| args.pid.is_none_or(|pid| call.pid == pid));
    sort(&mut calls, args.sort);
    if args.json {
        shared::print(&shared::json_line(&serde_json::to_value(&calls)?)?)?;
    } else if !calls.is_empty() {
        shared::print(&table(&calls, args.limit))?;
    }
    let blind = blind(&sources);
    if calls.is_empty() {
        shared::say(&nothing(args.pid, blind.as_deref()));
    } else if let Some(reason) = &blind {
        shared::say(&format!(
            "what is shown is old, no further call is seen: {reason}"
        ));
    }
    Ok(match blind {
        Some(_) if calls.is_empty() => ExitCode::from(NOT_POSSIBLE),
        _ => ExitCode::SUCCESS,
    })
}

/// Why no source sees driver calls now; `None` where one does.
pub(super) fn blind(sources: &[SourceStatus]) -> Option<String> {
    let of_calls = |source: &&SourceStatus| source.witness.is_some_and(|w| SOURCES.contains(&w));
    let mut reasons = Vec::new();
    for source in sources.iter().filter(of_calls) {
        let state = match source.state {
            SourceState::Active | SourceState::Degraded => return None,
            SourceState::Absent => "absent",
            SourceState::Failed => "failed",
            SourceState::Off => "off",
        };
        let why = source.reason.as_deref();
        let why = why.unwrap_or("switched off by configuration");
        let mut text = format!("{} is {state} ({})", clean(&source.name), clean(why));
        if let Some(remedy) = &source.remedy {
            text.push_str(&format!(", {}", clean(remedy)));
        }
        reasons.push(text);
    }
    Some(match reasons.is_empty() {
        true => "the daemon has no source of driver calls".to_owned(),
        false => reasons.join("; "),
    })
}

/// What is said where there is no row.
fn nothing(pid: Option<u32>, blind: Option<&str>) -> String {
    let mut text = match pid {
        None => "no driver calls seen".to_owned(),
        Some(pid) => format!(
            "no driver calls of process {pid} seen; those of processes that have ended are summed \
             up under \"(ended)\", see the list without --pid"
        ),
    };
    if let Some(reason) = blind {
        let _ = write!(text, ": {reason}");
    }
    text
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
            duration(call.p50_ns),
            duration(call.p90_ns),
            duration(call.p99_ns),
            duration(call.p999_ns),
            duration(call.max_ns),
            duration(call.total_ns),
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

    fn source(witness: WitnessName, state: SourceState, reason: Option<&str>) -> SourceStatus {
        SourceStatus {
            name: witness.name().to_owned(),
            witness: Some(witness),
            state,
            gives: String::new(),
            needs: String::new(),
            reason: reason.map(str::to_owned),
            remedy: None,
            records: 0,
            lost: 0,
        }
    }

    #[test]
    fn why_nothing_is_seen_is_said_and_only_where_no_source_sees_calls() {
        let sources = |driver, syscalls| {
            vec![
                source(WitnessName::Kmsg, SourceState::Active, None),
                source(WitnessName::SyscallIoctl, syscalls, Some("paused")),
                source(WitnessName::DriverIoctl, driver, Some("no kprobes")),
            ]
        };
        for (driver, syscalls) in [
            (SourceState::Active, SourceState::Off),
            (SourceState::Absent, SourceState::Active),
            (SourceState::Degraded, SourceState::Failed),
        ] {
            assert_eq!(blind(&sources(driver, syscalls)), None);
        }
        let text = blind(&sources(SourceState::Failed, SourceState::Off)).unwrap();
        assert_eq!(
            text,
            "syscalls:ioctl is off (paused); driver:ioctl is failed (no kprobes)"
        );
        let off = [source(WitnessName::DriverIoctl, SourceState::Off, None)];
        assert!(blind(&off).unwrap().contains("configuration"));
        assert!(blind(&[]).is_some());
    }

    #[test]
    fn where_the_calls_of_an_ended_process_are_is_said() {
        let text = nothing(Some(4711), None);
        assert!(
            text.contains("process 4711") && text.contains("\"(ended)\""),
            "{text}"
        );
        assert_eq!(nothing(None, Some("why")), "no driver calls seen: why");
    }
}
