//! Processes that use a GPU: `/api/v1/processes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Coverage;

/// A live process that uses a GPU. Counts only rise while it lives; `started` distinguishes a number's next process
/// from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessUse {
    /// Process id.
    pub pid: u32,
    /// When it began: clock ticks since boot, field 22 of proc_pid_stat(5).
    pub started: u64,
    /// Its name.
    pub comm: String,
    /// Its control group.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cgroup: Option<String>,
    /// Its container: an id of 64 hex digits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub container: Option<String>,
    /// Its pod, container or job, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub holder: Option<gtrace_event::Holder>,
    /// CPU time of the host that it has used, seconds.
    pub cpu_seconds: f64,
    /// Names of the driver's device files that it has open.
    pub devices: Vec<String>,
    /// CUDA calls; `null` where none was seen or they are not counted (`gtrace run --cuda-api`).
    pub api: Option<LayerCounts>,
    /// Calls into the driver; `null` where none was seen.
    pub driver: Option<LayerCounts>,
    /// Device memory that it has, as NVML says, bytes.
    pub memory_bytes: Option<u64>,
    /// Device memory that it was seen to allocate and not to free, bytes.
    pub ledger_bytes: Option<u64>,
    /// Seconds until the device's memory is full if it goes on allocating as it does.
    pub full_in_s: Option<f64>,
}

/// Calls of a process on one layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LayerCounts {
    /// Calls that were seen.
    pub calls: u64,
    /// How much of the calls since the start these figures stand for.
    #[serde(default)]
    pub coverage: Coverage,
    /// How much is seen of the calls that are made now.
    #[serde(default)]
    pub coverage_now: Coverage,
    /// Calls that failed.
    pub errors: u64,
    /// Time in timed calls, nanoseconds.
    pub total_ns: u64,
    /// Median of all calls, nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Longest call.
    pub max_ns: u64,
    /// Index and count of each bucket that is not empty, ascending, if they were asked for. See
    /// docs/profiles.md for the buckets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub buckets: Vec<(u16, u64)>,
}
