use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Confidence, Process};

/// What work on a GPU waited for, or shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContentionDetail {
    /// What was short: `gpu`, `cpu`, `io` or `memory`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resource: Option<String>,
    /// Seconds that were looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window_s: Option<f64>,
    /// Share of that time in which the GPU worked, 0 to 1 (NVML).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu_busy: Option<f64>,
    /// Share of that time in which tasks of the process's control group waited for the resource, 0 to 1 (PSI).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stalled: Option<f64>,
    /// Share of the host's CPU time that other control groups used, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub others_cpu: Option<f64>,
    /// Processes that had the GPU too, of other owners; at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rivals: Vec<Process>,
    /// How sure the suspicion is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<Confidence>,
}

fill_fields!(ContentionDetail {
    resource,
    window_s,
    gpu_busy,
    stalled,
    others_cpu,
    rivals,
    confidence
});
