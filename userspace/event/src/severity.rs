use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad an event is for the work on the GPU, in rising order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth recording; nobody needs to act.
    Info,
    /// Look at it in working hours.
    Warning,
    /// Work was lost or will be soon: page.
    Critical,
    /// The device or host is out of service until somebody or something resets it.
    Fatal,
}

impl Severity {
    /// All severities, in rising order.
    pub const ALL: [Self; 4] = [Self::Info, Self::Warning, Self::Critical, Self::Fatal];

    /// The name used in JSON, metrics and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Fatal => "fatal",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A severity that is none of info, warning, critical, fatal.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no severity: use info, warning, critical or fatal")]
pub struct UnknownSeverity(pub String);

impl FromStr for Severity {
    type Err = UnknownSeverity;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|v| v.name().eq_ignore_ascii_case(s))
            .ok_or_else(|| UnknownSeverity(s.to_owned()))
    }
}
