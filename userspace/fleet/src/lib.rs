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
mod credential;
mod gswarm;
pub mod lemon;
mod machine;
mod message;
pub mod nats;
pub mod outbreak;
mod pattern;
mod position;
mod read;
pub mod remedy;
mod request;
mod session;
mod ship;
#[cfg(test)]
mod simulate;

pub use accept::{Fault, Gap, History, Taken, Verdict, judge};
pub use batch::{
    Batch, BatchError, COMPRESSED_MAX, Carried, PLAIN_MAX, RECORDS_MAX, decode, encode,
};
pub use clock::{ClockFilter, Exchange, Offset};
pub use credential::{credential_parts, credential_text};
pub use gswarm::GswarmWriter;
pub use machine::machine_id;
pub use message::{
    BatchAnswer, ClockAnswer, EnrollAnswer, EnrollRequest, GpuState, HostState, LABELS_MAX,
    StateAnswer, check_labels, check_name,
};
pub use pattern::fits_host;
pub use position::{Position, PositionError};
pub use read::{HostRead, PAGE, READ_MAX, READS_MAX, is_readable};
pub use request::{
    Ask, HostRequest, REPORT_MAX, REPORTED_TEXT_MAX, REQUESTS_MAX, RequestState, TRACE_CALLS_MAX,
    TRACE_S_MAX, TraceOrder, known_requests,
};
pub use session::{
    COLUMNS, CallFrame, Column, FRAMES_MAX, Frames, FramesError, GapFinder, GpuFrame, HostFrame,
    INTERVAL_MS, Measure, MeasureAnswer, Metric, SESSIONS_MAX, slot_begin, slots_within,
};
pub use ship::{Action, Limits, Outcome, Shipper};

/// Bytes of the table in which the head keeps headers of its answers to name them shortly (RFC 7541): it has one for each
/// agent.
pub const HEADER_TABLE: u32 = 256;

/// Longest name of a host, in bytes: that of a domain name.
pub const NAME_MAX: usize = 253;
