//! Connected sockets before there is a link.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{AddressFamily, sockopt};

use crate::link::{LinkError, LinkInfo, LinkKind};
use crate::socket::Socket;
use crate::sys;

/// Best piece of a bulk copy over TCP, bytes.
const TCP_CHUNK: usize = 1 << 20;
/// Best piece of a bulk copy over a Unix socket, bytes.
const UNIX_CHUNK: usize = 1 << 20;
/// Wanted buffers of a Unix socket, bytes; the system's limit may be lower.
const UNIX_BUFFER: usize = 1 << 20;
/// An idle connection is probed from then on.
const KEEP_IDLE: Duration = Duration::from_secs(5);
const KEEP_INTERVAL: Duration = Duration::from_secs(2);
const KEEP_COUNT: u32 = 3;
/// Longest time between two tries to reach a host that does not answer.
const RETRY: Duration = Duration::from_secs(3);

/// A connected stream socket, TCP or Unix.
#[derive(Debug)]
pub struct Stream(Socket);

impl Stream {
    /// Takes over a descriptor, whatever kind of stream socket it is: for one that came from another
    /// process.
    ///
    /// # Errors
    ///
    /// If it is no connected TCP or Unix socket.
    pub fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        match sockopt::socket_domain(&fd)? {
            AddressFamily::UNIX => Ok(UnixStream::from(fd).into()),
            AddressFamily::INET | AddressFamily::INET6 => Ok(TcpStream::from(fd).into()),
            other => Err(io::Error::other(format!(
                "descriptor {} is a socket of family {}, not TCP or Unix",
                fd.as_raw_fd(),
                other.as_raw()
            ))),
        }
    }

    /// The other side, for messages.
    pub fn peer(&self) -> &str {
        &self.0.peer
    }

    /// Whether it is TCP.
    pub fn is_tcp(&self) -> bool {
        self.0.tcp
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.0
    }

    /// Names the other side in messages.
    pub(crate) fn named(mut self, peer: String) -> Self {
        self.0.peer = peer;
        self
    }

    /// Sets the socket up for a link.
    pub(crate) fn prepare(self) -> (Socket, LinkInfo) {
        let socket = self.0;
        let mut info = LinkInfo {
            kind: LinkKind::Unix,
            peer: socket.peer.clone(),
            chunk: UNIX_CHUNK,
            congestion_control: None,
            probe_ns: 0,
            fallbacks: Vec::new(),
        };
        if socket.tcp {
            info.kind = LinkKind::Tcp;
            info.chunk = TCP_CHUNK;
            info.congestion_control = tune(&socket.fd);
        } else {
            let _ = sockopt::set_socket_send_buffer_size(&socket.fd, UNIX_BUFFER);
            let _ = sockopt::set_socket_recv_buffer_size(&socket.fd, UNIX_BUFFER);
        }
        (socket, info)
    }

    /// Effective user of the other side of a Unix socket (SO_PEERCRED).
    pub(crate) fn peer_uid(&self) -> Result<u32, LinkError> {
        sockopt::socket_peercred(&self.0.fd)
            .map(|cred| cred.uid.as_raw())
            .map_err(|e| LinkError::Io(self.0.peer.clone(), e.into()))
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }
}

impl From<Stream> for OwnedFd {
    fn from(stream: Stream) -> Self {
        stream.0.fd
    }
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Self {
        let peer = stream
            .peer_addr()
            .map_or_else(|_| "a TCP client".to_owned(), |addr| addr.to_string());
        Self(Socket::new(stream.into(), peer, true))
    }
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Self {
        let peer = match sockopt::socket_peercred(&stream) {
            Ok(cred) => format!("process {}", cred.pid.as_raw_nonzero()),
            Err(_) => "a local client".to_owned(),
        };
        Self(Socket::new(stream.into(), peer, false))
    }
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
fn is_local(fd: &OwnedFd) -> bool {
    let ip = |addr: Option<rustix::net::SocketAddrAny>| {
        let addr = SocketAddr::try_from(addr?).ok()?;
        Some(addr.ip())
    };
    let here = ip(rustix::net::getsockname(fd).ok());
    let there = ip(rustix::net::getpeername(fd).ok().flatten());
    there.is_some_and(|there| there.is_loopback()) || here.is_some() && here == there
}
