//! Latency of CUDA calls, measured by an open-loop schedule, and what the way to the GPU gives without them.
//!
//! [`run`] measures one [`Case`] with the driver that the dynamic loader finds, which for a GPU of another machine is
//! gtrace's client library. [`Echo`] and [`raw`] measure the limits beside it, [`remote`] puts it together. Durations are in nanoseconds unless a
//! name says otherwise.

mod case;
mod distribution;
mod echo;
mod error;
mod libcuda;
mod pace;
mod random;
pub mod raw;
pub mod remote;
mod run;
mod steps;

pub use case::Case;
pub use distribution::Distribution;
pub use echo::{Echo, Streams};
pub use error::MeasureError;
pub use pace::{Limits, Paced};
pub use run::{Measured, Outcome, Plan, run};
pub use steps::Step;
