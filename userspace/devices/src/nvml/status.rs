use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether NVML works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NvmlState {
    /// Nothing was asked of it yet.
    #[default]
    Idle,
    /// The newest sample came.
    Ok,
    /// This host has no NVML, or its driver is not loaded.
    Absent,
    /// It should work and does not.
    Failed,
    /// A call did not return by its deadline. Until the killed child is gone, which a dead GPU
    /// can prevent until the next reboot, no other is started.
    Hung,
    /// Closed on request.
    Closed,
}

/// What is known of NVML and its child process.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NvmlStatus {
    /// Whether it works.
    pub state: NvmlState,
    /// Why not, as NVML, the dynamic linker or the kernel named it; while it works, which GPUs do not answer.
    pub reason: Option<String>,
    /// Process id of the child, while there is one; of a killed one that is not gone, too.
    pub pid: Option<u32>,
    /// Samples taken.
    pub samples: u64,
    /// Deadlines missed.
    pub hangs: u64,
    /// Times that NVML or the child failed otherwise.
    pub failures: u64,
    /// Children started.
    pub starts: u64,
}

/// Why there is no sample.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NvmlError {
    /// This host has no NVML, or its driver is not loaded.
    #[error("no NVML on this host: {0}")]
    Absent(String),
    /// It should work and does not.
    #[error("NVML failed: {0}")]
    Failed(String),
    /// A call did not return by its deadline.
    #[error("NVML hangs: {0}")]
    Hung(String),
    /// Closed on request.
    #[error("NVML is closed; `gtrace resume` opens it again")]
    Closed,
}
