//! The JSON that agents and the head exchange beside batches.

use std::collections::BTreeMap;

use gtrace_event::{GpuUsage, HealthReport, Incident, ProcessEnds, Timestamp};
use gtrace_profile::DailyCalls;
use serde::{Deserialize, Serialize};

use crate::{Measure, NAME_MAX, Offset, Position};

/// Most labels of a host.
pub const LABELS_MAX: usize = 32;
const LABEL_MAX: usize = 64;

/// Asks to be taken into the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnrollRequest {
    /// The join token, as `gtrace head token` printed it.
    pub token: String,
    /// The host's name.
    pub host: String,
    /// The machine, as in [`gtrace_event::Event::machine_id`]; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine_id: Option<String>,
    /// Whether it is a generated host of a demonstration or a test.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub simulated: bool,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrollAnswer {
    /// The host's number at the head.
    pub host_id: i64,
    /// What the agent shows with each request from now on: a secret.
    pub credential: String,
}

/// A GPU as it is now.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuState {
    /// NVML's index.
    pub index: u32,
    /// PCI address.
    pub pci: Option<String>,
    /// `GPU-…`.
    pub uuid: Option<String>,
    /// Name of the model.
    pub name: Option<String>,
    /// Version of its VBIOS.
    pub vbios: Option<String>,
    /// Version of its GSP firmware.
    pub firmware: Option<String>,
}

/// A host as it is now. It is replaced as a whole; what came before is in the records.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostState {
    /// When it was made, by the clock of the host.
    pub time: Timestamp,
    /// Version of the agent.
    pub version: String,
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// Version of the GPU driver.
    pub driver: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// Where it stands: rack, switch, feed and whatever else the site's labels are.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Its GPUs.
    #[serde(default)]
    pub gpus: Vec<GpuState>,
    /// Its health: parts that are bad, and the host itself.
    pub health: Option<HealthReport>,
    /// Incidents that nobody has resolved, the newest. Bounded.
    #[serde(default)]
    pub incidents: Vec<Incident>,
    /// Who had its GPUs for how long: totals, in one state of a minute.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub usage: Vec<GpuUsage>,
    /// How the processes of jobs and pods ended: totals, in the same states.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ends: Vec<ProcessEnds>,
    /// How long calls took: histograms that grow, in one state of five minutes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub latency: Vec<DailyCalls>,
    /// Number of the newest record of its store.
    #[serde(default)]
    pub tip: u64,
    /// The head's clock less that of the host, once measured.
    pub clock: Option<Offset>,
    /// Whether the host lets the head start profiling sessions.
    #[serde(default)]
    pub allows_sessions: bool,
    /// What else the host lets the head ask for, by the names of [`crate::Ask`].
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub permits: Vec<String>,
    /// Why it has nothing to measure, or only a part.
    pub session_problem: Option<String>,
}

/// The answer to a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateAnswer {
    /// The newest record of this host that the head has.
    pub cursor: Option<Position>,
    /// What the host is to measure now: all of it, so that what is not listed has ended. Absent while a head that has just
    /// started does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<Vec<Measure>>,
}

/// The answer to a batch: 200 where it was taken, 409 where records before it are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchAnswer {
    /// The newest record of this host that the head has.
    pub cursor: Option<Position>,
    /// How many of the batch were new.
    pub taken: usize,
}

/// The head's clock: nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockAnswer {
    /// When it took the question.
    pub taken: i64,
    /// When it answered.
    pub answered: i64,
}

/// Why text is no name of a host: it goes into tables, labels and URLs.
///
/// # Errors
/// What is wrong and what is allowed.
pub fn check_name(name: &str) -> Result<(), String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let fits = !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(fine);
    // An option to whoever gets it as an argument.
    match fits && !name.starts_with('-') {
        true => Ok(()),
        false => Err(format!(
            "a host's name has 1 to {NAME_MAX} letters, digits, `-`, `.` and `_`, and begins with no `-`"
        )),
    }
}

/// Why labels are refused: they become labels of metrics.
///
/// # Errors
/// What is wrong and what is allowed.
pub fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), String> {
    if labels.len() > LABELS_MAX {
        return Err(format!("{} labels, the most is {LABELS_MAX}", labels.len()));
    }
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/' | ':');
    for (name, value) in labels {
        for text in [name, value] {
            if text.is_empty() || text.len() > LABEL_MAX || !text.chars().all(fine) {
                return Err(format!(
                    "a label's name and value have 1 to {LABEL_MAX} letters, digits, `-`, `.`, `_`, `/` and `:`"
                ));
            }
        }
    }
    Ok(())
}
