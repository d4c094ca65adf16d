//! How long somebody had a GPU, and used it.

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Holder, PciAddress};

/// What a holder had of a GPU on one day, as its host counted it. The seconds grow until the day is over or the daemon ends;
/// rows of one day add up.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuUsage {
    /// The day, UTC.
    pub day: Date,
    /// When the counting of this row began.
    pub since: Timestamp,
    /// The GPU's PCI address.
    pub pci: PciAddress,
    /// Its UUID.
    pub uuid: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Who had it: without step, and of a process outside containers and jobs its Unix user. Absent where nobody had it.
    pub holder: Option<Holder>,
    /// When it was seen first.
    pub first: Timestamp,
    /// And last.
    pub last: Timestamp,
    /// Seconds; those in which several had the GPU are shared out in equal parts.
    pub seconds: f64,
    /// Of them, those in which the GPU's utilisation was known.
    pub measured_s: f64,
    /// Of those measured, the time in which a kernel ran: utilisation times seconds.
    pub busy_s: f64,
    /// Of those measured, the time of samples in which none ran.
    pub idle_s: f64,
}

/// How the processes of a job or pod ended on one day that had a GPU's device file open. The counts grow as those of [`GpuUsage`] do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessEnds {
    /// The day, UTC.
    pub day: Date,
    /// When the counting of this row began.
    pub since: Timestamp,
    /// When one ended last.
    pub last: Timestamp,
    /// Whose they were, without step.
    pub holder: Holder,
    /// How many have ended.
    pub ended: u64,
    /// Of them, by a signal or with another status than 0.
    pub failed: u64,
}
