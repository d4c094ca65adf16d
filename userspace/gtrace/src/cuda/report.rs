//! What is told of CUDA calls: by `/api/v1/cuda` and by `gtrace profile --pid`.

use std::collections::BTreeMap;
use std::time::Duration;

use gtrace_abi::ApiCounter;
use gtrace_uprobes::{Class, ENDED, Report, Row, Tracer, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::render::clean;
use crate::sources::process::container_of;

/// Whether CUDA calls are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CudaState {
    /// Not asked for.
    #[default]
    Off,
    /// They are counted, in every process that has a driver's library open.
    Active,
    /// The probes are detached on request.
    Paused,
    /// They should be counted and are not; `reason` says why.
    Failed,
}

impl CudaState {
    /// Every state, with its name in JSON.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Off, "off"),
        (Self::Active, "active"),
        (Self::Paused, "paused"),
        (Self::Failed, "failed"),
    ];
}

/// All that is known of CUDA calls.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CudaReport {
    /// Whether they are counted.
    #[serde(default)]
    pub state: CudaState,
    /// Why they are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// How the probes are attached: `uprobe.session`, `uprobe.multi`, `uprobe`.
    pub way: String,
    /// How long, seconds.
    pub seconds: f64,
    /// What is probed.
    pub libraries: Vec<CudaLibrary>,
    /// Calls by process and function.
    pub calls: Vec<CudaCalls>,
    /// Device memory by process.
    pub memory: Vec<CudaMemory>,
    /// Whether the ledgers of memory end early, as the probes that keep them cost too much.
    pub memory_ends_early: bool,
    /// What the probes cost.
    pub cost: CudaCost,
    /// Bytes of kernel memory of the BPF maps of these probes.
    pub map_bytes: u64,
    /// What was dropped, where anything was.
    pub lost: BTreeMap<String, u64>,
    /// What was said meanwhile, oldest first.
    pub notes: Vec<String>,
}

/// A probed library.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CudaLibrary {
    /// Its path in the mount namespace of the process where it was found.
    pub path: String,
    /// Whether it was deleted or replaced on disk since.
    pub deleted: bool,
    /// How many of its functions are probed.
    pub functions: usize,
    /// Functions whose first instruction the kernel single-steps, which is dearer.
    pub single_stepped: Vec<String>,
    /// Functions whose calls are counted as another's, as both have the same code.
    pub folded: BTreeMap<String, Vec<String>>,
}

/// Calls of one function by one process.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CudaCalls {
    /// `null` for processes that ended long ago, and for those that had no room in the tables.
    pub pid: Option<u32>,
    /// The process's name.
    pub comm: String,
    /// Its control group.
    pub cgroup: Option<String>,
    /// The container that the control group is of: its id, 64 hex digits.
    #[serde(default)]
    pub container: Option<String>,
    /// The function; `(others)` for those that had no room in the tables.
    pub function: String,
    /// Calls.
    pub calls: u64,
    /// Calls whose latency and result were looked at: all unless the budget had the function sampled.
    pub timed: u64,
    /// Errors among the timed calls. CUDA_ERROR_NOT_READY is none.
    pub errors: u64,
    /// Errors by name of the CUresult.
    pub results: BTreeMap<String, u64>,
    /// Bytes that the timed calls copied, set or allocated.
    pub bytes: u64,
    /// Median, nanoseconds, within 1/64 as all percentiles.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Longest call.
    pub max_ns: u64,
    /// Total time of the timed calls.
    pub total_ns: u64,
    /// Index and count of each bucket that is not empty, ascending, if they were asked for. See
    /// docs/profiles.md for the buckets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub buckets: Vec<(u16, u64)>,
}

/// The ledger of a process's device memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CudaMemory {
    /// Process id.
    pub pid: u32,
    /// The process's name.
    pub comm: String,
    /// Bytes of allocations that succeeded.
    pub allocated_bytes: u64,
    /// Bytes of frees of memory whose allocation was seen.
    pub freed_bytes: u64,
    /// Bytes allocated and not freed.
    pub live_bytes: u64,
    /// Most bytes that were live at once.
    pub peak_bytes: u64,
    /// Allocations that succeeded.
    pub allocations: u64,
    /// Frees that succeeded, of memory whose allocation was seen.
    pub frees: u64,
    /// Allocations that failed.
    pub failed_allocations: u64,
    /// Frees that failed.
    pub failed_frees: u64,
    /// Frees of memory whose allocation was not seen.
    pub unknown_frees: u64,
    /// Allocations at an address whose free was not seen.
    pub replaced: u64,
    /// Allocations for which the table had no room.
    pub forgotten: u64,
    /// Growth of the live bytes; `null` before there is enough to tell.
    pub bytes_per_second: Option<f64>,
    /// Seconds until the device's memory is full if it goes on so; `null` where it does not grow, or
    /// nobody said how much there is.
    pub full_in_s: Option<f64>,
    /// Whether the process has ended.
    #[serde(default)]
    pub ended: bool,
}

/// What the probes cost the processes that are traced.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CudaCost {
    /// CPU time of the traced processes, seconds.
    pub cpu_s: f64,
    /// Share of it that the probes took (0.01 = 1 %).
    pub share: Option<f64>,
    /// Share that they may take in a second; `null` for any.
    #[serde(default)]
    pub budget: Option<f64>,
    /// What a probe adds to a call here, nanoseconds.
    pub emulated_ns: f64,
    /// The same where the first instruction is single-stepped.
    pub single_stepped_ns: f64,
    /// By function.
    pub functions: Vec<FunctionCost>,
}

/// What the probes of one function cost.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCost {
    /// The function.
    pub function: String,
    /// CPU time that its probes took, seconds.
    pub seconds: f64,
    /// Share of the traced processes' CPU time.
    pub share: Option<f64>,
    /// One call in so many is timed.
    pub time_every: u32,
    /// Whether its probes are taken away, as they cost more than the budget.
    pub detached: bool,
}

/// The name of an error.
pub(crate) fn result_name(result: u32) -> String {
    let name = gtrace_cuda::status::name(result as _);
    name.map_or_else(|| result.to_string(), |name| name.to_string_lossy().into())
}

/// The name of a probed function.
pub(crate) fn function_name(tracer: &Tracer, function: u32) -> String {
    match tracer.functions().get(function as usize) {
        Some(function) => function.name.clone(),
        None => "(others)".to_owned(),
    }
}

impl CudaReport {
    /// Of what was counted in `counted_for`.
    pub(crate) fn new(
        watch: &Watch,
        report: &Report,
        counted_for: Duration,
        notes: Vec<String>,
    ) -> Self {
        let tracer = watch.tracer();
        let name = |function: u32| function_name(tracer, function);
        let comm = |pid: u32| {
            let known = report.processes.get(&pid).map(|process| &process.comm);
            match known.filter(|comm| !comm.is_empty()) {
                Some(comm) => comm.clone(),
                None => "(ended)".to_owned(),
            }
        };
        let libraries = tracer.libraries().map(|probed| CudaLibrary {
            path: probed.path.display().to_string(),
            deleted: probed.deleted,
            functions: probed.sites.len(),
            single_stepped: probed
                .sites
                .iter()
                .filter(|site| site.place.class == Class::SingleStepped)
                .map(|site| name(site.function))
                .collect(),
            folded: probed
                .sites
                .iter()
                .filter(|site| !site.folded.is_empty())
                .map(|site| (name(site.function), site.folded.clone()))
                .collect(),
        });
        let calls = report.rows.iter().map(|row| {
            let process = report.processes.get(&row.pid);
            let cgroup = process.and_then(|process| process.cgroup.clone());
            CudaCalls {
                comm: comm(row.pid),
                container: cgroup.as_deref().and_then(container_of),
                cgroup,
                function: name(row.function),
                ..CudaCalls::of(row)
            }
        });
        let ended = |pid: &u32| report.processes.get(pid).is_some_and(|p| p.ended);
        let memory = report.memory.iter().map(|(pid, memory)| CudaMemory {
            pid: *pid,
            comm: comm(*pid),
            allocated_bytes: memory.ledger.allocated,
            freed_bytes: memory.ledger.freed,
            live_bytes: memory.ledger.live,
            peak_bytes: memory.ledger.peak,
            allocations: memory.ledger.allocations,
            frees: memory.ledger.frees,
            failed_allocations: memory.ledger.failed_allocations,
            failed_frees: memory.ledger.failed_frees,
            unknown_frees: memory.ledger.unknown_frees,
            replaced: memory.ledger.replaced,
            forgotten: memory.ledger.forgotten,
            bytes_per_second: memory.rate,
            full_in_s: memory.full_in.map(|left| left.as_secs_f64()),
            ended: ended(pid),
        });
        let share = |ns: f64| (report.cpu_ns > 0.0).then_some(ns / report.cpu_ns);
        let functions = report.costs.iter().map(|(function, cost)| FunctionCost {
            function: name(*function),
            seconds: cost.ns / 1e9,
            share: share(cost.ns),
            time_every: cost.time_every,
            detached: cost.shed,
        });
        let lost = report.counters.iter();
        let lost = lost.filter(|(counter, n)| *n > 0 && *counter != ApiCounter::Sent);
        Self {
            state: CudaState::Active,
            reason: None,
            way: tracer.way().name().to_owned(),
            seconds: counted_for.as_secs_f64(),
            libraries: libraries.collect(),
            calls: calls.collect(),
            memory: memory.collect(),
            memory_ends_early: report.books_closed,
            cost: CudaCost {
                cpu_s: report.cpu_ns / 1e9,
                share: share(report.costs.values().map(|cost| cost.ns).sum()),
                budget: watch.budget(),
                emulated_ns: tracer.trap().emulated_ns,
                single_stepped_ns: tracer.trap().single_stepped_ns,
                functions: functions.collect(),
            },
            map_bytes: tracer.map_bytes(),
            lost: lost
                .map(|(counter, n)| (counter.name().to_owned(), *n))
                .collect(),
            notes,
        }
    }
}

impl CudaCalls {
    /// The numbers of a row; names are the caller's.
    fn of(row: &Row) -> Self {
        let results = row.failures.iter();
        let filled = row.buckets.iter().enumerate().filter(|(_, n)| **n > 0);
        Self {
            pid: (row.pid != ENDED).then_some(row.pid),
            calls: row.calls,
            timed: row.timed,
            errors: row.errors,
            results: results.map(|(code, n)| (result_name(*code), *n)).collect(),
            bytes: row.bytes,
            p50_ns: row.quantile(0.5),
            p90_ns: row.quantile(0.9),
            p99_ns: row.quantile(0.99),
            p999_ns: row.quantile(0.999),
            max_ns: row.max_ns,
            total_ns: row.total_ns,
            // There are 896.
            buckets: filled.map(|(at, n)| (at as u16, *n)).collect(),
            ..Self::default()
        }
    }

    /// The process in few words.
    pub(crate) fn process(&self) -> String {
        match self.pid {
            Some(pid) => format!("{pid} {}", clean(&self.comm)),
            None => "(ended)".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_strange_ones_numbers() {
        assert_eq!(result_name(2), "CUDA_ERROR_OUT_OF_MEMORY");
        assert_eq!(result_name(123_456), "123456");
    }
}
