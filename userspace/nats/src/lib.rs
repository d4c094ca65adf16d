//! NATS JetStream as the way between the agents and the heads of a fleet: servers, credentials, TLS, streams.
//!
//! What goes over it is in `gtrace_fleet::nats`.
#![forbid(unsafe_code)]

mod access;
mod connection;
mod streams;
mod url;

pub use access::{Access, NatsError};
pub use async_nats;
pub use connection::Connection;
pub use streams::{POSITIONS, RECORDS, STATES, ensure};
pub use url::{NatsUrl, NatsUrlError};
