//! Bodies of requests.

use gtrace_event::IncidentState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Body of `POST /api/v1/events/{id}/ack`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckRequest {
    /// Who takes note, as they name themselves; 1 to 256 characters.
    pub by: String,
    /// Why, or what was done; at most 4096 characters.
    #[serde(default)]
    pub note: String,
}

/// Body of `POST /api/v1/incidents/{id}`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncidentRequest {
    /// The new state: `acknowledged`, `mitigated`, `resolved`, or `open` again.
    pub state: IncidentState,
    /// Who changes it, as they name themselves; 1 to 256 characters.
    pub by: String,
    /// Why, or what was done; at most 4096 characters.
    #[serde(default)]
    pub note: String,
}

/// Body of `POST /api/v1/capture`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureRequest {
    /// Who asks, as they name themselves; 1 to 256 characters.
    pub by: String,
    /// Why; at most 4096 characters.
    #[serde(default)]
    pub note: String,
}

/// Body of `POST /api/v1/pause`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRequest {
    /// true detaches every probe, false attaches them again.
    pub paused: bool,
    /// Seconds after which the probes are attached again by themselves, 1 to 86400: for who may be gone by then. Without it the pause has no
    /// end of its own. A pause without an end keeps none; of several ends the last counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub for_s: Option<u32>,
}

/// Body of `POST /api/v1/maintenance`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaintenanceRequest {
    /// How long people will work on the host from now on, seconds, at most 30 days; 0 ends the window that is on.
    pub for_s: u64,
    /// Who asks, as they name themselves; 1 to 256 characters.
    pub by: String,
    /// Why; at most 4096 characters.
    #[serde(default)]
    pub note: String,
}
