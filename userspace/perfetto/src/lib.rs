//! Writes traces in Perfetto's format (`.pftrace`), which ui.perfetto.dev and Perfetto's trace processor
//! open: tracks of processes, threads, streams and counters; slices, instants and counters on them.
//!
//! The format is protobuf (perfetto.dev, "Synthetic TrackEvent"): a file is one message `Trace`, whose
//! packets can be written one after the other, so that a trace of any length needs memory only for the names
//! that it repeats. Times are nanoseconds of CLOCK_BOOTTIME, Perfetto's own clock.

#![forbid(unsafe_code)]

mod interned;
mod messages;
mod writer;

pub use writer::{Clocks, Flow, Slice, Track, Unit, Value, Writer};

/// The messages of Perfetto's format that are written here, as far as they are written.
pub mod format {
    pub use crate::messages::*;
    pub use prost::Message;
}
