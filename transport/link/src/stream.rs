//! Connected sockets before there is a link.

use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::net::{AddressFamily, sockopt};

use crate::link::{LinkInfo, LinkKind};
use crate::socket::Socket;
use crate::{tcp, unix};

/// A connected stream socket, TCP or Unix.
#[derive(Debug)]
pub struct Stream(pub(crate) Socket);

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
            chunk: unix::CHUNK,
            congestion_control: None,
            probe_ns: 0,
            fallbacks: Vec::new(),
            under: None,
            resume: None,
            changes: Arc::default(),
        };
        if socket.tcp {
            tcp::prepare(&socket, &mut info);
        } else {
            unix::prepare(&socket);
        }
        (socket, info)
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
