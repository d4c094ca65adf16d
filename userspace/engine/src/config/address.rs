use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use thiserror::Error;

/// An address at which every user of the host may read the API, and nobody else: it is on loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAddress(SocketAddr);

/// The address can be reached from other hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "{0} is reachable from other machines, which read nothing without TLS and a credential; \
     write https://{0}, and set tls_cert, tls_key and credentials"
)]
pub struct NotLoopback(SocketAddr);

impl ReadAddress {
    /// 127.0.0.1:7470.
    pub const DEFAULT: Self = Self(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7470));
}

impl TryFrom<SocketAddr> for ReadAddress {
    type Error = NotLoopback;

    fn try_from(address: SocketAddr) -> Result<Self, NotLoopback> {
        match address.ip().is_loopback() {
            true => Ok(Self(address)),
            false => Err(NotLoopback(address)),
        }
    }
}

impl From<ReadAddress> for SocketAddr {
    fn from(ReadAddress(address): ReadAddress) -> Self {
        address
    }
}
