//! The serving side of GPU-over-IP.
//!
//! A [`Supervisor`] takes connections and gives each to a worker process of its own client
//! ([`worker_main`]), which loads the driver and executes the client's calls. What one client does
//! to its context or its process is nobody else's; when it is gone, its process ends, and with it
//! everything that the driver held for it.

mod calls;
mod control;
mod exec;
mod generated;
mod names;
pub mod options;
mod special;
mod staging;
pub mod stats;
mod supervisor;
mod tls;
mod worker;

pub use control::Client;
pub use options::{Limits, Listen, Options, PORT, parse_size};
pub use supervisor::{
    Counters, Device, DriverInfo, ListenError, ServerStatus, SessionStatus, StartError, Stopper,
    Supervisor, WorkerCommand,
};
pub use worker::main as worker_main;
pub use worker::output::Log as WorkerLog;
