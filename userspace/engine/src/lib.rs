//! The daemon without its HTTP API and its commands.
//!
//! Data flows from [`sources`], which [`bpf`] feeds among others, as [`input`] through the [`pipeline`]
//! (fold, explain, store) to the [`hub`], on which the HTTP API and live streams hang.

pub mod alertmanager;
pub mod baseline;
pub mod bpf;
pub mod checks;
pub mod clock;
mod clock_steps;
pub mod component;
pub mod config;
pub mod contention;
pub mod cuda;
pub mod daemon;
#[cfg(test)]
mod fake_server;
#[cfg(test)]
mod fake_sysfs;
pub mod flight;
pub mod health;
pub mod health_rules;
pub mod history;
pub mod holders;
pub mod host;
pub mod hub;
mod incident_table;
pub mod input;
pub mod latency;
mod lock;
pub mod memory;
pub mod metrics;
pub mod nvsentinel;
pub mod open_record;
pub mod otlp;
pub mod pipeline;
pub mod poll;
pub mod previous_boot;
pub mod privileges;
pub mod process;
pub mod processes;
pub mod recorder;
pub mod remote;
mod rows;
pub mod samples;
pub mod scan;
pub mod site_file;
mod snapshot;
pub mod sources;
pub mod supervise;
pub mod tally;
pub mod triggers;
pub mod usage;
pub mod whole_file;
pub mod woken;
