//! Calls into the NVIDIA driver as text.

use std::cmp::Reverse;
use std::fmt::Write as _;

use gtrace_api::CallStats;
use gtrace_api::text::clean;
use gtrace_profile::table::Order;
use gtrace_profile::text::duration;

use crate::{first, more, width};

/// Sorts rows, the largest first.
pub fn sort(calls: &mut [CallStats], by: Order) {
    calls.sort_by_key(|call| {
        Reverse(match by {
            Order::Time => call.total_ns,
            Order::Calls => call.count,
            Order::P99 => call.p99_ns,
            Order::Max => call.max_ns,
            Order::Failures => call.errors + call.failures,
        })
    });
}

/// A table of the first rows; `limit` 0 shows all.
pub fn table(calls: &[CallStats], limit: usize) -> String {
    let shown = first(calls, limit);
    let process = |call: &CallStats| format!("{} {}", call.pid, clean(&call.comm));
    let label = |call: &CallStats| clean(&call.label());
    let device = |call: &CallStats| clean(&call.device);
    let p = width(shown, "PROCESS", process);
    let d = width(shown, "DEVICE", device);
    let l = width(shown, "CALL", label);
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{:<p$}  {:<d$}  {:<l$}      CALLS  FAILED      p50      p90      p99    p99.9      MAX     TOTAL",
        "PROCESS", "DEVICE", "CALL"
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
    more(&mut text, shown.len(), calls.len());
    text
}

#[cfg(test)]
mod tests {
    use gtrace_api::CallFailures;

    use super::*;

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
        sort(&mut calls, Order::Time);
        assert_eq!(calls[0].pid, 2);
        sort(&mut calls, Order::Failures);
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
}
