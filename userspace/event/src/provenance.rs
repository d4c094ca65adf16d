use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who wrote the text or raised the signal behind an event.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// The kernel itself: log facility 0, a tracepoint, sysfs, procfs or NVML.
    Kernel,
    /// A process, by writing to /dev/kmsg (any facility but 0).
    Userspace,
    /// `gtrace inject`, for a drill.
    Injected,
    /// Not known (yet): a saved log without facilities, or a record that only `printk:console`
    /// has shown so far.
    #[default]
    Unknown,
}

impl Provenance {
    /// The name used in JSON and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Userspace => "userspace",
            Self::Injected => "injected",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
