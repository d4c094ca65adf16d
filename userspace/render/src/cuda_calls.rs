//! CUDA calls as text.

use std::fmt::Write as _;

use gtrace_api::text::clean;
use gtrace_api::{Coverage, CudaCalls, CudaReport};
use gtrace_profile::table::Order;
use gtrace_profile::text::{bytes, duration};

use crate::{first, more, width};

/// The profile for a person. Writing to a String cannot fail.
pub fn text(view: &CudaReport, order: Order, limit: usize) -> String {
    let mut text = String::new();
    calls(&mut text, view, order, limit);
    memory(&mut text, view);
    cost(&mut text, view);
    for (what, n) in &view.lost {
        let _ = writeln!(text, "lost: {what} {n}");
    }
    text
}

fn calls(text: &mut String, view: &CudaReport, order: Order, limit: usize) {
    let mut calls: Vec<&CudaCalls> = view.calls.iter().collect();
    calls.sort_by_key(|call| {
        std::cmp::Reverse(match order {
            Order::Time => call.total_ns,
            Order::Calls => call.calls,
            Order::P99 => call.p99_ns,
            Order::Max => call.max_ns,
            Order::Failures => call.errors,
        })
    });
    if calls.is_empty() {
        let _ = writeln!(text, "no CUDA calls in {:.1} s", view.seconds);
        return;
    }
    let shown = first(&calls, limit);
    let p = width(shown, "PROCESS", |call| call.process());
    let f = width(shown, "FUNCTION", |call| clean(&call.function));
    let _ = writeln!(
        text,
        "{:<p$}  {:<f$}       CALLS  ERRORS      p50      p90      p99    p99.9      MAX     TOTAL     BYTES",
        "PROCESS", "FUNCTION"
    );
    for call in shown {
        let moved = match call.bytes {
            0 => String::new(),
            n => bytes(n),
        };
        let _ = writeln!(
            text,
            "{:<p$}  {:<f$}  {:>10} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}",
            call.process(),
            clean(&call.function),
            match call.coverage {
                Coverage::Partial => format!("≥{}", call.calls),
                Coverage::All | Coverage::Sampled => call.calls.to_string(),
            },
            call.errors,
            duration(call.p50_ns),
            duration(call.p90_ns),
            duration(call.p99_ns),
            duration(call.p999_ns),
            duration(call.max_ns),
            duration(call.total_ns),
            moved,
        );
        for (result, n) in &call.results {
            let _ = writeln!(text, "{:<p$}    {result} x {n}", "");
        }
        if call.timed < call.calls {
            let _ = writeln!(
                text,
                "{:<p$}    {} of the calls were timed and their results looked at",
                "", call.timed
            );
        }
        if call.coverage == Coverage::Partial {
            let mut functions = view.cost.functions.iter();
            let unseen = functions.find(|cost| cost.function == call.function);
            let _ = writeln!(
                text,
                "{:<p$}    further calls were not seen: it had no probes for {:.1} s, for their cost",
                "",
                unseen.map_or(0.0, |cost| cost.unseen_s)
            );
        }
    }
    more(text, shown.len(), calls.len());
}

fn memory(text: &mut String, view: &CudaReport) {
    for memory in &view.memory {
        let _ = write!(
            text,
            "\nmemory of {} {}: {} allocated ({} calls), {} freed ({} calls), {} live, peak {}",
            memory.pid,
            clean(&memory.comm),
            bytes(memory.allocated_bytes),
            memory.allocations,
            bytes(memory.freed_bytes),
            memory.frees,
            bytes(memory.live_bytes),
            bytes(memory.peak_bytes),
        );
        for (n, what) in [
            (memory.failed_allocations, "allocations failed"),
            (memory.failed_frees, "frees failed"),
            (
                memory.unknown_frees,
                "frees of memory that was allocated before",
            ),
            (memory.replaced, "allocations whose free was not seen"),
            (memory.forgotten, "allocations had no room in the table"),
        ] {
            if n > 0 {
                let _ = write!(text, "; {n} {what}");
            }
        }
        if let Some(rate) = memory.bytes_per_second.filter(|rate| *rate >= 1.0) {
            let _ = write!(text, "; grows by {} a second", bytes(rate as u64));
        }
        if let Some(left) = memory.full_in_s {
            let _ = write!(text, ": the device's memory is full in {left:.0} s");
        }
        if view.memory_ends_early {
            text.push_str("; no longer kept: its probes cost too much");
        }
        text.push('\n');
    }
}

fn cost(text: &mut String, view: &CudaReport) {
    let cost = &view.cost;
    let _ = write!(text, "\nthe probes ({})", view.way);
    match cost.share {
        Some(share) => {
            let _ = write!(
                text,
                " took about {:.2} % of {:.2} s CPU time of the traced processes",
                // Estimates may come out below nothing, or as minus zero.
                if share > 0.0 { share * 100.0 } else { 0.0 },
                cost.cpu_s
            );
        }
        None => text.push_str(" took next to nothing: no traced process has worked"),
    }
    let _ = writeln!(
        text,
        "; one costs {} ({} where the probed instruction is single-stepped), of which {} ({}) were taken off each \
         latency; {} of kernel memory",
        duration(cost.emulated_ns as u64),
        duration(cost.single_stepped_ns as u64),
        duration(cost.seen_emulated_ns as u64),
        duration(cost.seen_single_stepped_ns as u64),
        bytes(view.map_bytes)
    );
    for function in &cost.functions {
        let share = function.share.unwrap_or(0.0);
        if share < 0.000_05 && !function.detached && function.time_every <= 1 {
            continue;
        }
        let state = match (function.detached, function.time_every) {
            (true, _) => format!(
                ", taken away, and its calls not seen for {:.1} s",
                function.unseen_s
            ),
            (false, ..=1) => String::new(),
            (false, every) => format!(", one call in {every} timed"),
        };
        let _ = writeln!(
            text,
            "  {} {:.2} %{state}",
            clean(&function.function),
            share * 100.0
        );
    }
}

#[cfg(test)]
mod tests {
    use gtrace_api::{CudaCost, CudaMemory, FunctionCost};

    use super::*;

    #[test]
    fn the_text_says_what_was_lost_and_what_memory_does() {
        let view = CudaReport {
            way: "uprobe.session".into(),
            seconds: 2.0,
            libraries: Vec::new(),
            calls: vec![CudaCalls {
                pid: Some(4711),
                comm: "train".into(),
                cgroup: None,
                function: "cuMemAlloc_v2".into(),
                calls: 10,
                coverage: Coverage::Partial,
                timed: 4,
                errors: 1,
                results: [("CUDA_ERROR_OUT_OF_MEMORY".to_owned(), 1)].into(),
                bytes: 1 << 20,
                p50_ns: 1000,
                p90_ns: 1000,
                p99_ns: 1000,
                p999_ns: 1000,
                max_ns: 1000,
                total_ns: 4000,
                ..CudaCalls::default()
            }],
            memory: vec![CudaMemory {
                pid: 4711,
                comm: "train".into(),
                allocated_bytes: 1 << 20,
                live_bytes: 1 << 20,
                peak_bytes: 1 << 20,
                allocations: 3,
                failed_allocations: 1,
                unknown_frees: 2,
                bytes_per_second: Some(1024.0),
                full_in_s: Some(90.0),
                ..CudaMemory::default()
            }],
            memory_ends_early: true,
            cost: CudaCost {
                cpu_s: 1.0,
                share: Some(0.012),
                budget: Some(0.01),
                emulated_ns: 900.0,
                single_stepped_ns: 3000.0,
                seen_emulated_ns: 300.0,
                seen_single_stepped_ns: 1500.0,
                functions: vec![FunctionCost {
                    function: "cuMemAlloc_v2".into(),
                    seconds: 0.012,
                    share: Some(0.012),
                    time_every: 1,
                    detached: true,
                    unseen_s: 1.5,
                }],
            },
            map_bytes: 5 << 20,
            lost: [("api_ring_full".to_owned(), 7)].into(),
            ..CudaReport::default()
        };
        let text = text(&view, Order::Time, 40);
        for part in [
            "4711 train  cuMemAlloc_v2         ≥10       1",
            "further calls were not seen: it had no probes for 1.5 s",
            "CUDA_ERROR_OUT_OF_MEMORY x 1",
            "4 of the calls were timed",
            "2 frees of memory that was allocated before",
            "full in 90 s; no longer kept",
            "about 1.20 % of 1.00 s",
            "one costs 900ns (3.00us where",
            "of which 300ns (1.50us) were taken off each latency",
            "5.0 MiB of kernel memory",
            "cuMemAlloc_v2 1.20 %, taken away, and its calls not seen for 1.5 s",
            "lost: api_ring_full 7",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn no_share_is_minus_zero() {
        let mut view = CudaReport::default();
        view.cost.share = Some(-0.0);
        let text = text(&view, Order::Time, 40);
        assert!(text.contains("about 0.00 %"), "{text}");
    }
}
