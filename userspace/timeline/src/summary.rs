//! What was counted, as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gtrace_recording::{FUNCTIONS, NAMES, Stats, name};
use serde::Serialize;

use gtrace_api::text::clean;
use gtrace_profile::text::{bytes, duration};

use crate::Clock;
use crate::collector::Collector;
use crate::spool::Spool;

/// Rows of a table.
const ROWS: usize = 32;

/// What a program's processes have done.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Exit status of the program; absent if none was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i32>,
    /// Time from the program's start to its end, nanoseconds.
    elapsed_ns: u64,
    processes: Vec<Process>,
    /// Calls that the trace has not, as it would be too long; those that `lost_events` counts are others.
    events_beyond_limit: u64,
    /// Why calls of some threads are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Process {
    pid: u32,
    name: String,
    calls: u64,
    errors: u64,
    /// Calls that the trace has not, as a ring was full. They are counted in all else.
    lost_events: u64,
    /// Calls that gave the GPU something to do; absent if that was not to be timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    gpu_work: Option<GpuWork>,
    /// The slowest first, by the sum of their times.
    functions: Vec<Function>,
    /// Functions that the program has from the driver, and whose calls are not seen.
    untouched: Vec<String>,
    /// How often the program was given each table of `cuGetExportTable`, by UUID. Calls through them are not seen.
    tables: BTreeMap<String, u64>,
    /// Calls that had not ended.
    unfinished: Vec<Unfinished>,
}

/// With --gpu-time.
#[derive(Debug, Serialize)]
struct GpuWork {
    calls: u64,
    /// Of these, the calls whose time on the GPU is known.
    timed: u64,
}

#[derive(Debug, Serialize)]
struct Function {
    name: &'static str,
    calls: u64,
    errors: u64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    max_ns: u64,
    sum_ns: u64,
    /// Copied, set or allocated.
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct Unfinished {
    thread: u32,
    name: &'static str,
    for_ns: u64,
}

impl Function {
    fn new(function: usize, stats: &Stats) -> Self {
        Self {
            name: NAMES.get(function).copied().unwrap_or_default(),
            calls: stats.count(),
            errors: stats.errors,
            p50_ns: stats.quantile(0.5),
            p90_ns: stats.quantile(0.9),
            p99_ns: stats.quantile(0.99),
            max_ns: stats.max_ns,
            sum_ns: stats.sum_ns,
            bytes: stats.bytes,
        }
    }
}

impl Summary {
    /// Of what was collected.
    pub fn new(
        collector: &Collector,
        clock: &Clock,
        spool: Option<&Spool>,
        status: Option<i32>,
    ) -> Self {
        let processes = collector.processes().iter().enumerate();
        let processes = processes.map(|(at, process)| {
            let stats = collector.stats(at);
            debug_assert!(stats.len() <= FUNCTIONS);
            let mut functions: Vec<_> = stats
                .iter()
                .map(|(function, stats)| Function::new(*function, stats))
                .collect();
            functions.sort_by(|a, b| b.sum_ns.cmp(&a.sum_ns).then(a.name.cmp(b.name)));
            let unfinished = collector.under_way(at).into_iter().filter_map(|call| {
                Some(Unfinished {
                    thread: call.thread,
                    name: name(call.function)?,
                    for_ns: clock.end().saturating_sub(clock.boottime(call.since)),
                })
            });
            let (given, timed) = collector.gpu_work(at);
            Process {
                gpu_work: (given > 0).then_some(GpuWork {
                    calls: given,
                    timed,
                }),
                pid: process.who.pid,
                name: process.who.name.clone(),
                calls: functions.iter().map(|function| function.calls).sum(),
                errors: functions.iter().map(|function| function.errors).sum(),
                lost_events: collector.lost(at),
                functions,
                untouched: process.untouched.iter().cloned().collect(),
                tables: process
                    .tables
                    .iter()
                    .map(|(id, lookups)| (format!("{id:032x}"), *lookups))
                    .collect(),
                unfinished: unfinished.collect(),
            }
        });
        Self {
            status,
            elapsed_ns: clock.end().saturating_sub(clock.start()),
            processes: processes.collect(),
            events_beyond_limit: spool.map_or(0, Spool::dropped),
            refused: collector.refused.iter().cloned().collect(),
        }
    }

    /// A table for each process.
    pub fn table(&self) -> String {
        let mut out = String::new();
        if self.processes.is_empty() {
            out.push_str(
                "gtrace: no process of the program has called the CUDA driver, or it was loaded by its \
                 full path\n",
            );
        }
        for process in &self.processes {
            process.table(&mut out);
        }
        for reason in &self.refused {
            let _ = writeln!(out, "gtrace: calls are missing: {}", clean(reason));
        }
        if self.events_beyond_limit > 0 {
            let _ = writeln!(
                out,
                "gtrace: {} calls are not in the trace, which has no room for more: raise --max-events",
                self.events_beyond_limit
            );
        }
        out
    }
}

impl Process {
    fn table(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "\n{} (pid {}): {} calls of the CUDA driver, {} failed",
            clean(&self.name),
            self.pid,
            self.calls,
            self.errors
        );
        let _ = writeln!(
            out,
            "{:<40}{:>10}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>12}",
            "FUNCTION", "CALLS", "ERRORS", "P50", "P90", "P99", "MAX", "TOTAL", "BYTES"
        );
        for function in self.functions.iter().take(ROWS) {
            let bytes = match function.bytes {
                0 => "-".to_owned(),
                count => bytes(count),
            };
            let _ = writeln!(
                out,
                "{:<40}{:>10}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>12}",
                function.name,
                function.calls,
                function.errors,
                duration(function.p50_ns),
                duration(function.p90_ns),
                duration(function.p99_ns),
                duration(function.max_ns),
                duration(function.sum_ns),
                bytes,
            );
        }
        if let Some(more) = self.functions.len().checked_sub(ROWS).filter(|n| *n > 0) {
            let _ = writeln!(out, "and {more} more");
        }
        for call in &self.unfinished {
            let _ = writeln!(
                out,
                "not returned: {} in thread {}, called {} before the end",
                call.name,
                call.thread,
                duration(call.for_ns)
            );
        }
        if !self.untouched.is_empty() {
            let names: Vec<_> = self.untouched.iter().map(|name| clean(name)).collect();
            let _ = writeln!(out, "given out and not seen: {}", names.join(", "));
        }
        if !self.tables.is_empty() {
            let tables = self.tables.iter();
            let tables: Vec<_> = tables
                .map(|(id, lookups)| match lookups {
                    1 => format!("{id} (1 lookup)"),
                    _ => format!("{id} ({lookups} lookups)"),
                })
                .collect();
            let _ = writeln!(
                out,
                "tables of cuGetExportTable, calls through which are not seen: {}",
                tables.join(", ")
            );
        }
        if let Some(work) = &self.gpu_work {
            let missing = work.calls.saturating_sub(work.timed);
            let _ = write!(out, "on the GPU: {} launches and copies timed", work.timed);
            if missing > 0 {
                let _ = write!(
                    out,
                    "; {missing} not: their end was not seen, too many were under way, or their stream is of another \
                     context"
                );
            }
            out.push('\n');
        }
        if self.lost_events > 0 {
            let _ = writeln!(
                out,
                "{} calls are not in the trace, as they came too fast: raise --buffer",
                self.lost_events
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_the_option_that_helps() {
        let process = Process {
            pid: 1,
            name: "program".to_owned(),
            calls: 8,
            errors: 0,
            lost_events: 7,
            gpu_work: None,
            functions: Vec::new(),
            untouched: Vec::new(),
            tables: BTreeMap::new(),
            unfinished: Vec::new(),
        };
        let summary = Summary {
            status: None,
            elapsed_ns: 1,
            processes: vec![process],
            events_beyond_limit: 9,
            refused: Vec::new(),
        };
        let table = summary.table();
        for line in [
            "7 calls are not in the trace, as they came too fast: raise --buffer",
            "gtrace: 9 calls are not in the trace, which has no room for more: raise --max-events",
        ] {
            assert!(table.lines().any(|one| one == line), "{table}");
        }
    }
}
