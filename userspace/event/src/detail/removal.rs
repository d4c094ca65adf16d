use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which records are no longer in the store, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemovalDetail {
    /// Why they are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removal: Option<RemovalCause>,
    /// How many records were removed now.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removed_records: Option<u64>,
    /// The highest severity of the events that were removed, where only less severe ones were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removed_up_to: Option<crate::Severity>,
    /// The numbers that are not in the store, each with the hash by which the chain goes on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub removed: Vec<RemovedRange>,
    /// The damaged file, moved aside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub moved_to: Option<String>,
}

fill_fields!(RemovalDetail {
    removal,
    removed_records,
    removed_up_to,
    removed,
    moved_to
});

/// Records that are not in the store, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedRange {
    /// Number of the first.
    pub first: u64,
    /// Number of the last.
    pub last: u64,
    /// Hash of the last, 64 hex digits: the chain goes on with it.
    pub hash: String,
}

/// Why records are no longer in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemovalCause {
    /// They were older than the limit of age.
    Age,
    /// The store was larger than the limit of size.
    Size,
    /// The file that held them is damaged and was moved aside.
    Damage,
    /// A gtrace that recorded no removals had removed them.
    Unrecorded,
}

impl RemovalCause {
    /// The name used in JSON and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Age => "age",
            Self::Size => "size",
            Self::Damage => "damage",
            Self::Unrecorded => "unrecorded",
        }
    }
}

impl fmt::Display for RemovalCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
