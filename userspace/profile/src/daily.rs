//! How long the calls of a host took on a day.

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Histogram, Layer};

/// A function's calls of one day, of all processes of a host. The histogram grows until the day is over or the daemon ends;
/// rows of one day add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DailyCalls {
    /// The day, UTC.
    pub day: Date,
    /// When the counting of this row began: with the daemon's first call of its kind.
    pub since: Timestamp,
    /// When a call was counted last.
    pub last: Timestamp,
    /// Where they were timed.
    pub layer: Layer,
    /// The function, ioctl or operation.
    pub call: String,
    /// Version of the GPU driver, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub driver: Option<String>,
    /// How long they took.
    pub histogram: Histogram,
}
