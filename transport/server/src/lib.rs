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
mod sandbox;
mod special;
mod staging;
pub mod stats;
mod supervisor;
mod worker;

pub use control::Client;
pub use gtrace_tls::parse_size;
pub use options::{Limits, Listen, Options, PORT};
pub use sandbox::{Layer, SandboxMode, UserError, Users, protect_process};
pub use supervisor::{
    Counters, Device, DriverInfo, ListenError, ServerStatus, SessionStatus, StartError, Stopper,
    Supervisor, WorkerCommand,
};
pub use worker::output::Log as WorkerLog;
pub use worker::{main as worker_main, main_then as worker_main_then};
