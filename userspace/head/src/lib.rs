//! The head of a fleet: takes the records of many hosts, keeps and checks them, answers questions about all.
//!
//! It links neither BPF nor the transport of GPU-over-IP, and not the daemon's engine.
#![forbid(unsafe_code)]

mod committed;
pub mod db;
pub mod http;
mod intake;
mod nats;
mod readers;
pub mod remediation;
mod secret;
mod view;
mod writer;

pub use http::{
    AuditLine, By, FramesPage, HostDetail, RemediationView, SessionHost, SessionRequest,
    SessionView, TokenAnswer, TokenRequest, TraceRequest,
};
pub use nats::Nats;
pub use view::HostView;
