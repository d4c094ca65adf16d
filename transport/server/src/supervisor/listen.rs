//! Listening sockets, and connections whose preamble has not come yet.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Instant;

use gtrace_link::{Beginning, ConnectionKey, TlsHandshake};
use gtrace_protocol::{GREETING_LEN, PREAMBLE_LEN, Preamble, PreambleError};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::access::Known;
use crate::options::Listen;

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {cause}{remedy}")]
pub struct ListenError {
    address: String,
    cause: io::Error,
    remedy: String,
}

/// A socket that takes connections; a Unix socket's file goes with it.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Listens on `at`, which `option` names. A socket file that nobody listens on any more is replaced.
    pub(super) fn bind(at: &Listen, mode: u32, option: &str) -> Result<Self, ListenError> {
        let listener = match at {
            Listen::Tcp(address) => TcpListener::bind(address)
                .and_then(|l| l.set_nonblocking(true).map(|()| Self::Tcp(l))),
            Listen::Unix(path) => bind_unix(path, mode),
        };
        listener.map_err(|cause| ListenError {
            address: at.to_string(),
            remedy: match (cause.kind(), at) {
                (io::ErrorKind::AddrInUse, _) => {
                    format!(
                        "; another server is there: stop it or choose another address with {option}"
                    )
                }
                (io::ErrorKind::PermissionDenied, Listen::Unix(_)) => {
                    format!("; choose a path that this user may write with {option}")
                }
                (io::ErrorKind::PermissionDenied, Listen::Tcp(_)) => {
                    format!("; ports below 1024 are for root: choose another with {option}")
                }
                (io::ErrorKind::NotFound, _) => "; the folder does not exist: create it".to_owned(),
                _ => String::new(),
            },
            cause,
        })
    }

    /// Whether other hosts can reach it.
    pub(super) const fn is_tcp(&self) -> bool {
        matches!(self, Self::Tcp(_))
    }

    /// The address it has, a chosen port included.
    pub(super) fn address(&self) -> String {
        match self {
            Self::Tcp(listener) => listener
                .local_addr()
                .map_or_else(|_| "tcp".into(), |address| address.to_string()),
            Self::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// Takes a connection: its descriptor, and where it comes from.
    pub(super) fn accept(&self) -> io::Result<(OwnedFd, String)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok((stream.into(), address.to_string()))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let peer = match rustix::net::sockopt::socket_peercred(&stream) {
                    Ok(cred) => format!(
                        "pid {} (uid {})",
                        cred.pid.as_raw_nonzero(),
                        cred.uid.as_raw()
                    ),
                    Err(_) => "a local process".into(),
                };
                Ok((stream.into(), peer))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(listener) => listener.as_fd(),
            Self::Unix(listener, _) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // Gone already is as good.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn bind_unix(path: &Path, mode: u32) -> io::Result<Listener> {
    let stale = std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket())
        && UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if stale {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    listener.set_nonblocking(true)?;
    Ok(Listener::Unix(listener, path.to_owned()))
}

/// A connection whose preamble has not come whole.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) fd: OwnedFd,
    pub(super) peer: String,
    pub(super) is_tcp: bool,
    greeting: [u8; GREETING_LEN],
    bytes: [u8; PREAMBLE_LEN],
    got: usize,
    pub(super) deadline: Instant,
    /// Once its preamble has come, and TLS follows.
    pub(super) securing: Option<Box<Securing>>,
}

/// The handshake of TLS of a connection, and what follows it.
#[derive(Debug)]
pub(super) struct Securing {
    pub(super) handshake: TlsHandshake,
    pub(super) preamble: Preamble,
    pub(super) beginning: Beginning,
    pub(super) route: Route,
}

/// Whose a connection is.
#[derive(Debug)]
pub(super) enum Route {
    /// A new session, of who has proved a token, or of anybody where none is wanted.
    New(Option<ConnectionKey>, Option<Known>),
    /// A new session, of who shows a certificate.
    Certificate,
    /// The session with this name.
    Further([u8; 16], ConnectionKey),
}

/// How a connection begins.
#[derive(Debug)]
pub(super) enum Begun {
    /// More has to come.
    NotYet,
    /// A client of gtrace.
    Client(Preamble, Beginning),
    /// A client of another version.
    Version(PreambleError),
    /// Something else.
    Garbage(PreambleError),
    /// It was closed before.
    Closed,
}

impl Pending {
    /// Greets who has connected. A new connection has room for that.
    pub(super) fn new(
        fd: OwnedFd,
        (peer, is_tcp): (String, bool),
        greeting: [u8; GREETING_LEN],
        deadline: Instant,
    ) -> Self {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        // One that has gone already is found out by what it does not say.
        let _ = send(&fd, &greeting, flags);
        Self {
            fd,
            peer,
            is_tcp,
            greeting,
            bytes: [0; PREAMBLE_LEN],
            got: 0,
            deadline,
            securing: None,
        }
    }

    /// Reads what is there, without waiting, and not a byte behind the preamble.
    pub(super) fn read(&mut self) -> Begun {
        while self.got < PREAMBLE_LEN {
            let rest = &mut self.bytes[self.got..];
            match recv(&self.fd, rest, RecvFlags::DONTWAIT) {
                Ok((0, _)) | Ok((_, 0)) => return Begun::Closed,
                Ok((got, _)) => self.got += got,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return self.so_far(),
                Err(_) => return Begun::Closed,
            }
        }
        match Preamble::parse(&self.bytes) {
            Ok(preamble) => Begun::Client(
                preamble,
                Beginning {
                    greeting: self.greeting,
                    preamble: self.bytes,
                },
            ),
            Err(error @ PreambleError::Version(..)) => Begun::Version(error),
            Err(error) => Begun::Garbage(error),
        }
    }

    /// A wrong beginning is seen before all of it is there.
    fn so_far(&self) -> Begun {
        let known = self.got.min(gtrace_protocol::MAGIC.len());
        if self.bytes[..known] == gtrace_protocol::MAGIC[..known] {
            return Begun::NotYet;
        }
        let mut magic = [0; 8];
        magic[..known].copy_from_slice(&self.bytes[..known]);
        Begun::Garbage(PreambleError::Magic(magic))
    }

    /// Whether it waits for room in the socket, and not for bytes from it.
    pub(super) fn wants_write(&self) -> bool {
        let securing = self.securing.as_ref();
        securing.is_some_and(|securing| securing.handshake.wants_write())
    }

    /// The connection.
    pub(super) fn into_fd(self) -> OwnedFd {
        self.fd
    }
}

impl AsFd for Pending {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_is_taken_names_the_option_that_chooses_another() {
        let dir = tempfile::tempdir().unwrap();
        let at = Listen::Unix(dir.path().join("socket"));
        let _first = Listener::bind(&at, 0o600, "--status-socket").unwrap();
        let said = Listener::bind(&at, 0o600, "--status-socket").unwrap_err();
        assert!(said.to_string().ends_with("with --status-socket"), "{said}");
    }
}
