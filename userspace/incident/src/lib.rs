//! Which events belong together, and what they come to: the correlation of events into incidents.
//!
//! A [`Correlator`] takes each event as it is published, and again whenever more is known of it. It says which incidents
//! have changed. What the classes of failure are, which events open an incident and what can be the cause of what are
//! [`Rules`], which are data: `rules/*.toml`. No I/O, no clock of its own, no threads.
#![forbid(unsafe_code)]

mod chain;
mod correlator;
mod jobs;
mod live;
mod member;
mod rules;
mod storm;
mod title;

pub use correlator::{Correlator, Options, RESOLVED_FOR};
pub use jobs::job_of;
pub use rules::{RuleError, Rules};
pub use storm::Storms;
