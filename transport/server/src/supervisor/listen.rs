//! Listening sockets, and connections whose preamble has not come yet.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, TcpListener};
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

    /// Takes a connection: its descriptor, where it comes from, and whose it is.
    pub(super) fn accept(&self) -> io::Result<(OwnedFd, String, Origin)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let origin = Origin::of(address.ip());
                Ok((stream.into(), address.to_string(), origin))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let (peer, user) = match rustix::net::sockopt::socket_peercred(&stream) {
                    Ok(cred) => {
                        let (pid, uid) = (cred.pid.as_raw_nonzero(), cred.uid.as_raw());
                        (format!("pid {pid} (uid {uid})"), uid)
                    }
                    Err(_) => ("a local process".into(), u32::MAX),
                };
                Ok((stream.into(), peer, Origin::User(user)))
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

/// Whose a connection is, as far as the system says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// An address; with IPv6 its network of 64 bits, in which a host has any address that it likes.
    Host(IpAddr),
    /// A user of this host.
    User(u32),
}

impl Origin {
    fn of(address: IpAddr) -> Self {
        Self::Host(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::from(address) & !u128::from(u64::MAX);
                IpAddr::V6(network.into())
            }
            address => address,
        })
    }
}

/// Which connection gives its place to one more of `newcomer`, where all are taken: of those who have most, the newcomer's own counted,
/// the one that has been waited for longest. `pending`: whose each is, and how long it is waited for. Who answers has done so long before as many
/// others have come.
pub(super) fn gives_way(
    pending: impl Iterator<Item = (Origin, Instant)> + Clone,
    newcomer: Origin,
) -> Option<usize> {
    let mut counts = HashMap::from([(newcomer, 1)]);
    for (origin, _) in pending.clone() {
        *counts.entry(origin).or_default() += 1;
    }
    let crowding = |(_, (origin, deadline)): &(usize, (Origin, Instant))| {
        (counts.get(origin).copied(), Reverse(*deadline))
    };
    pending.enumerate().max_by_key(crowding).map(|(at, _)| at)
}

/// A connection whose preamble has not come whole.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) fd: OwnedFd,
    pub(super) peer: String,
    pub(super) origin: Origin,
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
        (peer, origin): (String, Origin),
        greeting: [u8; GREETING_LEN],
        deadline: Instant,
    ) -> Self {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        // One that has gone already is found out by what it does not say.
        let _ = send(&fd, &greeting, flags);
        Self {
            fd,
            peer,
            origin,
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

    pub(super) const fn is_tcp(&self) -> bool {
        matches!(self.origin, Origin::Host(_))
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_has_most_places_gives_up_the_oldest() {
        let host = |text: &str| Origin::of(text.parse().unwrap());
        let [a, b, c] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(host);
        let now = Instant::now();
        let gives_way = |pending: &[(Origin, u64)], newcomer| {
            let pending = pending.iter();
            let pending = pending.map(|(origin, at)| (*origin, now + Duration::from_secs(*at)));
            super::gives_way(pending, newcomer)
        };
        let crowd = [(b, 0), (a, 2), (a, 1), (a, 3)];
        assert_eq!(
            [a, b, c].map(|newcomer| gives_way(&crowd, newcomer)),
            [Some(2); 3]
        );
        // All have as many.
        let even = [(b, 4), (a, 1), (Origin::User(7), 0)];
        assert_eq!(gives_way(&even, c), Some(2));
        assert_eq!(gives_way(&even, b), Some(0));
        assert_eq!(gives_way(&[], a), None);
        let [one, same, other] = ["2001:db8::1", "2001:db8::2:3:4:5", "2001:db8:0:1::1"].map(host);
        assert!(one == same && one != other);
        assert_eq!(host("::ffff:192.0.2.1"), a);
    }

    #[test]
    fn a_socket_that_is_taken_names_the_option_that_chooses_another() {
        let dir = tempfile::tempdir().unwrap();
        let at = Listen::Unix(dir.path().join("socket"));
        let _first = Listener::bind(&at, 0o600, "--status-socket").unwrap();
        let refused = Listener::bind(&at, 0o600, "--status-socket").unwrap_err();
        assert!(
            refused.to_string().ends_with("with --status-socket"),
            "{refused}"
        );
    }
}
