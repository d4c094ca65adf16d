//! The links of GPU-over-IP: byte streams with access in place, and how they are opened.
//!
//! A client opens a lane by [`connect`]. A server takes it by [`accept`]; or it greets the client, finds by
//! [`Beginning::key_of`] whose it is, and the process that has the session lets the lane in by [`welcome`]. Both get a
//! [`Link`].

// So that what the tests have in common names the crate alike here and outside.
#[cfg(test)]
extern crate self as gtrace_link;

mod ahead;
mod auth;
mod buffer;
mod changes;
mod channel;
mod client;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
#[cfg(test)]
mod conformance;
mod control;
mod emulated;
#[cfg(test)]
#[path = "../../e2e/src/faults.rs"]
#[allow(dead_code, unreachable_pub)]
mod faults;
mod halves;
mod inherited;
mod link;
mod lookup;
mod mapping;
mod networks;
mod offer;
mod pages;
mod pinned;
mod printable;
mod rdma;
mod resume;
mod ring;
mod server;
mod settling;
mod shm;
mod socket;
mod spin;
mod stream;
mod sys;
mod target;
mod tcp;
mod unix;
mod wait;

pub use auth::{Beginning, ConnectionKey, Token};
pub use changes::Changes;
pub use client::{Session, connect, connect_over, hello, pid_namespace};
pub use emulated::{Emulation, emulate};
pub use inherited::forget_in_child;
pub use link::{End, Ended, Ender, Link, LinkError, LinkInfo, LinkKind, Rx, Tx};
pub use networks::Networks;
pub use pinned::PinnedRegion;
pub use printable::printable;
pub use rdma::{RdmaDevice, has_no_rdma, rdma_devices};
pub use resume::Resumption;
pub use ring::RingError;
pub use server::{
    Admitted, NO_SESSION, OneSession, Opened, Opening, ServerTerms, Sessions, WRONG_TOKEN, accept,
    new_greeting, new_secret, new_session_id, refuse, take, tls_mismatch, welcome,
};
pub use shm::RING;
pub use stream::Stream;
pub use sys::without_signals;
pub use target::{
    Address, CONNECT, DEFAULT_PORT, HANDSHAKE, Preference, RESUME, Target, parse_resume,
};
pub use tcp::{ALPN, TlsClient, TlsHandshake, TlsSecrets, server_provider, server_tls};

/// Entries of the fuzz targets to what is not public.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::rdma::hostile as hostile_peer;
    pub use crate::resume::hostile as hostile_resume;
    pub use crate::shm::hostile as hostile_ring;
    pub use crate::tcp::hostile as hostile_records;
}
