//! The history as a whole: what was written is found again, whatever happens to process, disk and clock.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

mod bounds;
mod clock;
mod coarser;
mod common;
mod concurrency;
mod crash;
mod disk_full;
mod round_trip;
