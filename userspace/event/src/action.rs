use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the site wants done about an event.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Keep the record; alert nobody.
    Log,
    /// To be checked in working hours.
    Ticket,
    /// To be checked now.
    Page,
    /// It was injected: follow the steps as an exercise, touch no device, alert nobody.
    Drill,
}

impl Action {
    /// The name used in JSON and in the site policy.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Ticket => "ticket",
            Self::Page => "page",
            Self::Drill => "drill",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
