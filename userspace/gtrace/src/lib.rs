//! gtrace: what happens between a program and its GPU, live, lasting and explained.
//!
//! The library behind the `gtrace` binary. Data flows from [`sources`] through the
//! [`pipeline`] (decode, fold, explain) to the [`hub`], which the store, the HTTP API and the
//! live streams hang on.

pub mod api;
pub mod cli;
pub mod hub;
pub mod metrics;
