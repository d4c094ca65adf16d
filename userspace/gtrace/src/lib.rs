//! gtrace: what happens between a program and its GPU, live, lasting and explained.
//!
//! The library behind the `gtrace` binary. Data flows from [`sources`], which [`bpf`] feeds among
//! others, through the [`pipeline`] (fold, explain, store) to the [`hub`], on which the HTTP
//! [`api`] and live streams hang. [`cli`] has the commands.

pub mod api;
pub mod bpf;
pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod cuda;
pub mod host;
pub mod hub;
pub mod memory;
pub mod metrics;
pub mod pipeline;
pub mod privileges;
pub mod processes;
pub(crate) mod remote;
pub mod render;
pub mod sources;
