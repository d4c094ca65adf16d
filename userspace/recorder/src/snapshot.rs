//! The state of a host at one moment, as text in parts.

use gtrace_event::Timestamp;
use serde::{Deserialize, Serialize};

/// What was asked of the host when an incident opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When.
    pub time: Timestamp,
    /// What was read.
    pub parts: Vec<Part>,
}

/// A part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What: `threads of train.py (4711)`.
    pub name: String,
    /// As it was read.
    pub text: String,
    /// Why it, or the rest of it, could not be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}
