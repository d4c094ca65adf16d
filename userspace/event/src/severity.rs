use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::named_enum! {
    /// How bad an event is for the work on the GPU, in rising order.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum Severity {
        /// Worth recording; nobody needs to act.
        Info = "info",
        /// Look at it in working hours.
        Warning = "warning",
        /// Work was lost or will be soon: page.
        Critical = "critical",
        /// The device or host is out of service until somebody or something resets it.
        Fatal = "fatal",
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
