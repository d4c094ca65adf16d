use crate::{Confidence, Process};

section! {
    /// What work on a GPU waited for, or shared.
    ContentionDetail {
        /// What was short: `gpu`, `cpu`, `io` or `memory`.
        resource: Option<String>,
        /// Seconds that were looked at.
        window_s: Option<f64>,
        /// Share of that time in which the GPU worked, 0 to 1 (NVML).
        gpu_busy: Option<f64>,
        /// Share of that time in which tasks of the process's control group waited for the resource, 0 to 1 (PSI).
        stalled: Option<f64>,
        /// Share of the host's CPU time that other control groups used, 0 to 1.
        others_cpu: Option<f64>,
        /// Processes that had the GPU too, of other owners; at most 8.
        rivals: Vec<Process>,
        /// How sure the suspicion is.
        confidence: Option<Confidence>,
    }
}
