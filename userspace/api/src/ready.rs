//! Answers of `/readyz` and `/version`.

use gtrace_event::WitnessName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::status::{SourceState, Status};

/// Answer of `/readyz`: whether a fault that happens now would be seen and kept. `/healthz` asks for more: that every
/// source which this host has works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Whether the kernel log is read, its records are stored, and every thread that the daemon needs is up.
    pub ok: bool,
    /// What is not so, or not yet.
    pub reasons: Vec<String>,
}

impl Ready {
    /// As `status` shows it.
    pub fn of(status: &Status) -> Self {
        let reads = |witness| {
            let of = status.sources.iter().find(|s| s.witness == Some(witness));
            of.is_some_and(|s| matches!(s.state, SourceState::Active | SourceState::Degraded))
        };
        let mut reasons = Vec::new();
        if !reads(WitnessName::Kmsg) && !reads(WitnessName::PrintkConsole) {
            reasons.push(
                "the kernel log is not read: neither kmsg nor printk:console is active".to_owned(),
            );
        }
        let down = status.tasks.iter().filter(|t| t.needed && !t.is_well());
        reasons.extend(down.map(|task| {
            let reason = task.reason.as_deref().unwrap_or("no reason");
            format!("thread {}: {reason}", task.name)
        }));
        reasons.extend(status.store_problem.iter().map(|p| format!("store: {p}")));
        Self {
            ok: reasons.is_empty(),
            reasons,
        }
    }
}

/// Answer of `/version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    /// `gtrace`.
    pub name: String,
    /// The daemon's version.
    pub version: String,
    /// Versions of the API that it answers: each is the part of the path after `/api/`.
    pub api: Vec<String>,
}

impl Version {
    /// That of a daemon of this version.
    pub fn of(version: &str) -> Self {
        Self {
            name: "gtrace".to_owned(),
            version: version.to_owned(),
            api: vec!["v1".to_owned()],
        }
    }
}
