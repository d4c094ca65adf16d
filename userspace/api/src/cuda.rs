//! Reports about CUDA calls: of `/api/v1/cuda` and of `gtrace profile --pid`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::clean;

gtrace_event::named_enum! {
    /// Whether CUDA calls are counted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum CudaState {
        /// Not asked for.
        #[default]
        Off = "off",
        /// They are counted, in every process that has a driver's library open.
        Active = "active",
        /// The probes are detached on request.
        Paused = "paused",
        /// They should be counted and are not; `reason` says why.
        Failed = "failed",
    }
}

/// How much of the calls a figure stands for. Probes have a budget, and give up what exceeds it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Every call.
    #[default]
    All,
    /// Every call is counted, and one in so many timed: latencies, errors and bytes are those of the timed ones.
    Sampled,
    /// Some calls were not seen, as their function had no probes: all figures are lower bounds.
    Partial,
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
    /// How many are probed so many bytes behind their start, where that is cheaper; at the start, 0.
    #[serde(default)]
    pub offsets: BTreeMap<u64, usize>,
    /// Functions whose probed instruction the kernel single-steps, which is dearer.
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
    /// Calls that were seen.
    pub calls: u64,
    /// How much of the process's calls of the function the figures stand for.
    #[serde(default)]
    pub coverage: Coverage,
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
    /// The same where the probed instruction is single-stepped.
    pub single_stepped_ns: f64,
    /// How much of that lies between the probes' clocks, nanoseconds. It is taken off every latency.
    #[serde(default)]
    pub seen_emulated_ns: f64,
    /// The same where the probed instruction is single-stepped.
    #[serde(default)]
    pub seen_single_stepped_ns: f64,
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
    /// How long it had no probes until now, seconds: its calls were not seen meanwhile.
    #[serde(default)]
    pub unseen_s: f64,
}

impl CudaReport {
    /// How much is seen of the calls that process `pid` makes now.
    pub fn coverage_now(&self, pid: u32) -> Coverage {
        let functions = &self.cost.functions;
        if functions.iter().any(|function| function.detached) {
            return Coverage::Partial;
        }
        let is_sampled = |row: &CudaCalls| {
            let mut functions = functions.iter();
            functions.any(|cost| cost.function == row.function && cost.time_every > 1)
        };
        let mut rows = self.calls.iter().filter(|row| row.pid == Some(pid));
        match rows.any(is_sampled) {
            true => Coverage::Sampled,
            false => Coverage::All,
        }
    }
}

impl CudaCalls {
    /// The process in few words.
    pub fn process(&self) -> String {
        match self.pid {
            Some(pid) => format!("{pid} {}", clean(&self.comm)),
            None => "(ended)".to_owned(),
        }
    }
}
