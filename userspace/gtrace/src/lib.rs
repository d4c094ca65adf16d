//! gtrace captures NVIDIA GPU faults, explains them and keeps a tamper-evident history.
//!
//! The commands of the `gtrace` binary, [`cli`]. The daemon itself is the crates gtrace-engine and
//! gtrace-http; what commands show is made by gtrace-render, gtrace-timeline and gtrace-measure.

// These panic where what they write to is closed or full.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod cli;

pub use gtrace_render as render;
