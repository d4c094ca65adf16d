//! The commands, one file each.

#[macro_use]
mod shared;

pub mod ack;
pub mod agent;
pub mod baseline;
pub mod bench;
pub mod capture;
mod command;
pub mod completions;
pub mod config;
pub mod decode;
mod demo;
pub mod demo_host;
pub mod device_plugin;
pub mod doctor;
mod duration;
pub mod events;
pub mod exec;
pub mod explain;
pub mod fleet;
pub mod gameday;
pub mod head;
pub mod health;
mod ids;
pub mod incidents;
pub mod inject;
mod journal;
pub mod maintenance;
pub mod man;
pub mod mcp;
mod nats;
mod new_file;
mod other_host;
pub mod pause;
mod policy;
pub mod profile;
pub mod report;
pub mod run;
pub mod runbook;
pub mod samples;
pub mod scan;
pub mod schema;
pub mod serve;
pub mod session;
mod signals;
pub mod status;
pub mod token;
pub mod top;
pub mod trace;
mod usage;

pub use self::command::{Cli, main};
