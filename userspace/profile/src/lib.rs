//! Latency profiles: the model, exact merging, what they are written as, and which shift between two
//! of them is real. No I/O beyond the `Read` and `Write` that is handed in.
//!
//! Durations are in nanoseconds and kept in the log-linear buckets of [`gtrace_abi`], the same as in
//! the probes: merging adds counts and loses nothing.

#![forbid(unsafe_code)]

mod daily;
pub mod diff;
mod difference;
mod hdr;
mod histogram;
pub mod hlog;
pub mod json;
mod model;
pub mod openmetrics;
pub mod svg;
pub mod table;
pub mod text;

pub use daily::DailyCalls;
pub use difference::Differences;
pub use hdr::{HDR_ERROR, to_hdr};
pub use histogram::{Histogram, NotABucket};
pub use model::{Counts, Key, Layer, Origin, Part, Process, Profile, Row, Span, Taken};
