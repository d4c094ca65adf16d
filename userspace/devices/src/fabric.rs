//! The NVLink fabric of a GPU of an NVSwitch system, and the configuration of the fabric manager.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fabric manager registers a GPU within seconds of its own start. After so many seconds without, it does not run, or cannot.
const REGISTERED_WITHIN_S: u64 = 300;

/// Where the driver's files are: in the root of the host, and in the container that the GPU Operator has the driver in.
pub(crate) const DRIVER_ROOTS: [&str; 2] = ["", "/run/nvidia/driver"];
/// The fabric manager's configuration.
pub(crate) const CONFIGURATION: &str = "/usr/share/nvidia/nvswitch/fabricmanager.cfg";

/// What it sets `name` to. Of several lines the last one counts.
pub(crate) fn setting<'a>(configuration: &'a str, name: &str) -> Option<&'a str> {
    let lines = configuration.lines().rev();
    let mut settings = lines.filter_map(|line| line.split_once('='));
    let (_, value) = settings.find(|(known, _)| known.trim() == name)?;
    Some(value.trim())
}

gtrace_event::named_enum! {
    /// Whether a GPU has been registered with its NVLink fabric.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum FabricState {
        /// The fabric manager has not begun.
        NotStarted = "not_started",
        /// It is at it.
        InProgress = "in_progress",
        /// It has ended; `status` says how.
        Completed = "completed",
    }
}

/// How a GPU stands with its NVLink fabric.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fabric {
    /// Whether it is registered.
    pub state: FabricState,
    /// For so many seconds it has been seen not to be registered; absent where it is, and where a virtual machine or partition has to begin.
    pub waiting_s: Option<u64>,
    /// How the registration ended, as nvmlReturn_t; 0 is success.
    pub status: Option<u32>,
    /// Clique: GPUs of one reach each other's memory.
    pub clique: Option<u32>,
    /// UUID of the cluster.
    pub cluster: Option<String>,
    /// What the fabric says is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub faults: Vec<String>,
}

impl Fabric {
    /// What is wrong; `None` where it is well or not known yet.
    pub fn fault(&self) -> Option<String> {
        if self.waiting_s.is_some_and(|s| s >= REGISTERED_WITHIN_S) {
            let text = "not registered with its NVLink fabric, so no CUDA program can start on it (error 802): is the fabric manager running?";
            return Some(text.to_owned());
        }
        if let Some(status) = self.status.filter(|status| *status != 0) {
            return Some(format!(
                "registration with the NVLink fabric failed (NVML error {status})"
            ));
        }
        (!self.faults.is_empty()).then(|| format!("NVLink fabric: {}", self.faults.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_nobody_registers_is_a_fault_after_five_minutes() {
        let waits = |waiting_s| Fabric {
            state: FabricState::InProgress,
            waiting_s,
            status: None,
            clique: None,
            cluster: None,
            faults: Vec::new(),
        };
        assert_eq!(waits(None).fault(), None);
        assert_eq!(waits(Some(299)).fault(), None);
        assert!(waits(Some(300)).fault().unwrap().contains("error 802"));
    }
}
