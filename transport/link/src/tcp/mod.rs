//! Links over TCP, with TLS or without.

mod certificates;
mod handshake;
mod records;
mod tls;

use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::net::sockopt;

use crate::link::{LinkInfo, LinkKind};
use crate::socket::Socket;
use crate::stream::Stream;
use crate::sys;

pub use certificates::{ALPN, TlsClient, server_provider, server_tls};
pub use handshake::{TlsHandshake, TlsSecrets};

pub(crate) use certificates::{client_tls, explain_to_client};
pub(crate) use handshake::shake_hands;
pub(crate) use records::RecordChannel;
#[cfg(feature = "fuzzing")]
pub use records::hostile;
pub(crate) use tls::TlsChannel;

/// Best piece of a bulk copy over TCP, bytes.
const CHUNK: usize = 1 << 20;
/// An idle connection is probed from then on.
const KEEP_IDLE: Duration = Duration::from_secs(5);
const KEEP_INTERVAL: Duration = Duration::from_secs(2);
const KEEP_COUNT: u32 = 3;
/// Longest time between two tries to reach a host that does not answer.
const RETRY: Duration = Duration::from_secs(3);

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        let peer = stream
            .peer_addr()
            .map_or_else(|_| "a TCP client".to_owned(), |addr| addr.to_string());
        Self(Socket::new(stream.into(), peer, true))
    }
}

/// Sets the socket up for a link.
pub(crate) fn prepare(socket: &Socket, info: &mut LinkInfo) {
    info.kind = LinkKind::Tcp;
    info.chunk = CHUNK;
    info.congestion_control = tune(&socket.fd);
}

/// Sets what is best for small frames and long bulk copies; the congestion control that is used.
/// Nothing of it is needed for the link to work, so nothing of it fails.
fn tune(fd: &OwnedFd) -> Option<String> {
    let _ = sockopt::set_tcp_nodelay(fd, true);
    let _ = sockopt::set_socket_keepalive(fd, true);
    let _ = sockopt::set_tcp_keepidle(fd, KEEP_IDLE);
    let _ = sockopt::set_tcp_keepintvl(fd, KEEP_INTERVAL);
    let _ = sockopt::set_tcp_keepcnt(fd, KEEP_COUNT);
    let _ = sys::set_longest_retry(fd.as_fd(), RETRY);
    if is_local(fd) {
        // BBR paces what it sends by its model of the path, which halves the bandwidth of loopback.
        for name in ["cubic", "reno"] {
            if sockopt::set_tcp_congestion(fd, name).is_ok() {
                break;
            }
        }
    }
    sockopt::tcp_congestion(fd).ok()
}

/// Whether both ends are on this host.
pub(crate) fn is_local(fd: &OwnedFd) -> bool {
    let ip = |addr: Option<rustix::net::SocketAddrAny>| {
        let addr = SocketAddr::try_from(addr?).ok()?;
        Some(addr.ip())
    };
    let here = ip(rustix::net::getsockname(fd).ok());
    let there = ip(rustix::net::getpeername(fd).ok().flatten());
    there.is_some_and(|there| there.is_loopback()) || here.is_some() && here == there
}
