//! What was found, as a table.

use std::fmt::Write as _;

use crate::Distribution;

use super::report::{Link, Measurement, Operation, Report};
use gtrace_api::text::clean;
use gtrace_profile::text::{bytes, duration};

/// Parts of a call's time, in their order.
const PARTS: [&str; 5] = ["client", "wire", "queue", "driver", "wake"];

/// The whole text.
pub fn table(report: &Report) -> String {
    let server = &report.server;
    let mut out = format!(
        "server {}, device {}, CUDA {}.{}, {} free\n",
        clean(&server.address),
        clean(&server.device),
        server.driver_version / 1000,
        server.driver_version % 1000 / 10,
        bytes(server.free_bytes)
    );
    if server.cpu_emulator {
        out.push_str(
            "the device is emulated on the CPU: what is measured is remoting, not a GPU\n",
        );
    }
    let rate = match report.schedule.rate_per_s {
        Some(rate) => format!("{rate} a second"),
        None => "half as many as a loop makes that waits for each".into(),
    };
    let _ = writeln!(
        out,
        "calls are due by the clock, {rate}; times are from when a call was due until it was done, ALONE from its begin \
         (p50), HDR that with HdrHistogram's correction (p99); a percentile that too few calls were made for is -"
    );
    if let Some(recorded) = &report.recorded {
        let left: u64 = recorded.left_out.values().sum();
        let _ = writeln!(
            out,
            "replay: {} of {} calls of {} by name, {left} left out; kernels are empty ones, graphs of 16 of them",
            recorded.replayed,
            recorded.calls,
            clean(&recorded.file)
        );
    }
    for link in &report.links {
        of_link(link, &mut out);
    }
    for other in &report.not_measured {
        let _ = writeln!(
            out,
            "\nnot measured: {}: {}",
            other.link,
            clean(&other.reason)
        );
    }
    out
}

fn gb_s(rate: f64) -> String {
    format!("{:.2} GB/s", rate / 1e9)
}

fn percentiles(of: &Distribution) -> String {
    let names = ["p50", "p90", "p99", "p99.9", "p99.99"];
    let values = names.iter().zip(of.percentiles());
    let values = values.filter_map(|(name, ns)| Some(format!("{name} {}", duration(ns?))));
    values.collect::<Vec<_>>().join(", ")
}

fn of_link(link: &Link, out: &mut String) {
    let raw = &link.raw;
    let congestion = link.congestion_control.as_deref();
    let _ = writeln!(
        out,
        "\n{} at {}{}",
        link.link,
        clean(&link.address),
        congestion.map_or(String::new(), |name| format!(
            ", congestion control {}",
            clean(name)
        ))
    );
    let _ = writeln!(
        out,
        "  the link itself: echo of 64 bytes {}; stream to the server {}, from it {}",
        percentiles(&raw.echo),
        gb_s(raw.to_server),
        raw.from_server.map_or("not known".into(), gb_s)
    );
    if let Some(machine) = &raw.machine {
        let _ = writeln!(
            out,
            "  this machine without gtrace ({}): exchange {}; stream {}",
            machine.kind,
            percentiles(&machine.exchange),
            gb_s(machine.stream)
        );
    }
    let _ = write!(
        out,
        "  {:<25}{:>10}{:>7}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}{:>11}",
        "CASE",
        "CALLS/S",
        "CALLS",
        "P50",
        "P90",
        "P99",
        "P99.9",
        "P99.99",
        "MAX",
        "ALONE",
        "HDR",
        "x RAW",
        "RATE"
    );
    for part in PARTS {
        let _ = write!(out, "{:>9}", part.to_uppercase());
    }
    out.push('\n');
    for case in &link.cases {
        row(case, out);
    }
}

fn cell(ns: Option<u64>) -> String {
    ns.map_or("-".into(), duration)
}

fn row(case: &Measurement, out: &mut String) {
    let _ = write!(out, "  {:<25}", case.name);
    let Some(times) = &case.times else {
        let reason = case.skipped.as_deref().unwrap_or("no reason given");
        let _ = writeln!(out, " not measured: {}", clean(reason));
        return;
    };
    let _ = write!(out, "{:>10.0}{:>7}", times.rate_per_s, times.response.count);
    for ns in times.response.percentiles() {
        let _ = write!(out, "{:>9}", cell(ns));
    }
    let _ = write!(
        out,
        "{:>9}{:>9}{:>9}{:>8}{:>11}",
        duration(times.response.max_ns),
        cell(times.service.p50_ns),
        cell(times.corrected.p99_ns),
        times.times_raw.map_or("-".into(), |x| format!("{x:.2}")),
        times
            .bytes_per_s
            .filter(|_| case.bytes >= Some(4096))
            .map_or("-".into(), gb_s)
    );
    // What is waited for has all parts.
    let waited = |operation: &&Operation| operation.parts.contains_key("wire");
    let split = times
        .operations
        .iter()
        .find(waited)
        .or(times.operations.first());
    for part in PARTS {
        let of = split.and_then(|operation| operation.parts.get(part));
        let _ = write!(out, "{:>9}", cell(of.and_then(|of| of.p50_ns)));
    }
    out.push('\n');
}
