//! What a user of the store relies on.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod chain;
mod common;
mod concurrency;
mod days;
mod disk_full;
mod document;
mod incidents;
mod kill;
mod opening;
mod query;
mod read_only;
mod replace;
mod retention;
mod segment;
mod tamper;
