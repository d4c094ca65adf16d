//! The links of GPU-over-IP: byte streams with access in place, and how they are opened.
//!
//! A client opens a lane by [`connect`]; a server reads who is there by [`read_preamble`], and the
//! process that has the session lets the lane in by [`welcome`]. Both get a [`Link`].

mod auth;
mod buffer;
mod certificates;
mod channel;
mod client;
mod control;
mod emulate;
mod emulation;
mod link;
mod mapping;
mod offer;
mod ring;
mod server;
mod shm;
mod socket;
mod spin;
mod stream;
mod sys;
mod target;
mod tls;
mod wait;

pub use auth::Token;
pub use certificates::{TlsClient, server_tls};
pub use client::{Session, connect, connect_over, hello};
pub use emulate::emulate;
pub use emulation::Emulation;
pub use link::{Ender, Link, LinkError, LinkInfo, LinkKind, Rx, Tx};
pub use ring::RingError;
pub use server::{
    Admitted, OneSession, ServerTerms, Sessions, new_session_id, read_preamble, refuse, welcome,
};
pub use shm::RING;
pub use stream::Stream;
pub use target::{Address, CONNECT, DEFAULT_PORT, HANDSHAKE, Preference, Target};

/// Entries of the fuzz targets to what is not public.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::ring::hostile;
}
