use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A repeat that is the same fault with other particulars: another address, another SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// When it happened.
    pub time: Timestamp,
    /// Its text; cut where it is long.
    pub message: String,
}
