//! What agents and the head of a fleet say to each other, and how both keep to it. No I/O, no clock of its own, no threads.
//!
//! An agent ships the records of its host's store in [`Batch`]es. The head keeps a [`Position`] for each host, which it
//! answers to each batch: the agent keeps nothing. [`judge`] says what of a batch is new, so that each record is
//! taken once, in the order of the host, whatever the network and kills do; [`Shipper`] says what to send next.
#![forbid(unsafe_code)]

mod accept;
mod batch;
mod clock;
pub mod cohort;
mod gswarm;
pub mod lemon;
mod message;
pub mod outbreak;
mod position;
mod session;
mod ship;
#[cfg(test)]
mod simulate;

pub use accept::{Fault, Gap, History, Taken, Verdict, judge};
pub use batch::{
    Batch, BatchError, COMPRESSED_MAX, Carried, PLAIN_MAX, RECORDS_MAX, decode, encode,
};
pub use clock::{ClockFilter, Exchange, Offset};
pub use gswarm::GswarmWriter;
pub use message::{
    BatchAnswer, ClockAnswer, EnrollAnswer, EnrollRequest, GpuState, HostState, LABELS_MAX,
    StateAnswer, check_labels, check_name,
};
pub use position::Position;
pub use session::{
    COLUMNS, CallFrame, Column, FRAMES_MAX, Frames, FramesError, GapFinder, GpuFrame, HostFrame,
    INTERVAL_MS, Measure, MeasureAnswer, Metric, SESSIONS_MAX, slot_begin, slots_within,
};
pub use ship::{Action, Limits, Outcome, Shipper};

/// Longest name of a host, in bytes: that of a domain name.
pub const NAME_MAX: usize = 253;
