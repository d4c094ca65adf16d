//! Connected sockets before there is a link.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::link::{LinkInfo, LinkKind};
use crate::socket::Socket;
use crate::wait::poll;
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

    /// Connects by TCP. The child of a fork gives the socket up, also while it is being connected.
    pub(crate) fn connect_tcp(address: &SocketAddr, timeout: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + timeout;
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
        let socket = Socket::new(fd, address.to_string(), true);
        match rustix::net::connect(&socket.fd, address) {
            Ok(()) => {}
            Err(Errno::INPROGRESS) => {
                let mut fds = [PollFd::new(&socket.fd, PollFlags::OUT)];
                if !poll(&mut fds, Some(deadline))? {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                sockopt::socket_error(&socket.fd)??;
            }
            Err(error) => return Err(error.into()),
        }
        ioctl_fionbio(&socket.fd, false)?;
        Ok(Self(socket))
    }

    /// Connects to a Unix socket, likewise. A server that takes nobody, and whose queue is full, is waited for until then.
    pub(crate) fn connect_unix(address: &SocketAddrUnix, timeout: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + timeout;
        let flags = SocketFlags::CLOEXEC;
        let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let socket = Socket::new(fd, "a local server".to_owned(), false);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // Nothing but this call waits in the system.
            sockopt::set_socket_timeout(&socket.fd, sockopt::Timeout::Send, Some(left))?;
            match rustix::net::connect(&socket.fd, address) {
                Ok(()) => return Ok(Self(socket)),
                // A signal of the program, or the time is over.
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
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
        let mut info = LinkInfo::new(LinkKind::Unix, &socket.peer, unix::CHUNK);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_whose_queue_is_full_is_not_waited_for_for_ever() {
        let name = format!("gtrace-test-full-{}", std::process::id());
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).unwrap();
        let flags = SocketFlags::CLOEXEC;
        let server =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        rustix::net::bind(&server, &address).unwrap();
        rustix::net::listen(&server, 0).unwrap();
        let mut waiting = Vec::new();
        let error = loop {
            match Stream::connect_unix(&address, Duration::from_millis(200)) {
                Ok(stream) => waiting.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(!waiting.is_empty());
    }
}
