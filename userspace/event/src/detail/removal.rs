use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
    /// Which records are no longer in the store, and why.
    RemovalDetail {
        /// Why they are not.
        removal: Option<RemovalCause>,
        /// How many records were removed now.
        removed_records: Option<u64>,
        /// The highest severity of the events that were removed, where only less severe ones were.
        removed_up_to: Option<crate::Severity>,
        /// The numbers that are not in the store, each with the hash by which the chain goes on.
        removed: Vec<RemovedRange>,
        /// The damaged file, moved aside; its write-ahead log where nothing else is left.
        moved_to: Option<String>,
    }
}

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

crate::named_enum! {
    /// Why records are no longer in the store.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum RemovalCause {
        /// They were older than the limit of age.
        Age = "age",
        /// The store was larger than the limit of size.
        Size = "size",
        /// The file that held them is damaged and was moved aside.
        Damage = "damage",
        /// A gtrace that recorded no removals had removed them.
        Unrecorded = "unrecorded",
    }
}
