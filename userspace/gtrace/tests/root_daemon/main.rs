//! The daemon on the real kernel. Every test here needs root; without it each is skipped, saying
//! so. They take turns, as the kernel log and its settings are one for the whole host.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used
)]

mod burst;
#[path = "../support/caller.rs"]
mod caller;
mod crash;
mod cuda;
mod fleet;
mod gameday;
mod hardship;
mod harness;
mod incidents;
mod live;
#[path = "../../../perfetto/tests/support/pftrace.rs"]
mod pftrace;
mod processes;
mod supervision;
mod trace;
