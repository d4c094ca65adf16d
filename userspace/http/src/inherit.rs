//! Sockets that systemd has opened (sd_listen_fds(3)).
#![allow(unsafe_code)]

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rustix::net::{AddressFamily, getsockname, sockopt};

/// What systemd may call a socket (`FileDescriptorName=`) that speaks TLS.
const HTTPS: &str = "https";

/// The sockets that systemd has opened for this process, by what they are for.
#[derive(Debug, Default)]
pub struct Inherited {
    pub(super) unix: Option<(UnixListener, Option<PathBuf>)>,
    pub(super) tcp: Option<TcpListener>,
    pub(super) https: Vec<TcpListener>,
}

/// Why a socket of systemd cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("socket {number} of the socket unit ({name}): {reason}")]
pub struct InheritError {
    /// Which one, from 0.
    number: usize,
    /// Its name there.
    name: String,
    /// What is wrong, and what would be right.
    reason: String,
}

impl Inherited {
    /// Takes them over. A Unix socket administers; one on loopback reads; one called `https` speaks TLS.
    ///
    /// # Errors
    ///
    /// If one is none of these, or two are for the same.
    pub fn take() -> Result<Self, InheritError> {
        let passed = match sd_notify::listen_fds_with_names() {
            Ok(passed) => passed.collect::<Vec<(RawFd, String)>>(),
            // Variables of somebody else, or none.
            Err(_) => Vec::new(),
        };
        let mut all = Self::default();
        for (number, (fd, name)) in passed.into_iter().enumerate() {
            // SAFETY: systemd has opened it for this process alone (LISTEN_PID says so), and nothing else takes it.
            let fd = unsafe { OwnedFd::from_raw_fd(fd) };
            all.add(fd, &name).map_err(|reason| InheritError {
                number,
                name,
                reason,
            })?;
        }
        Ok(all)
    }

    fn add(&mut self, fd: OwnedFd, name: &str) -> Result<(), String> {
        let failed = |error: io::Error| error.to_string();
        let family = sockopt::socket_domain(&fd).map_err(|error| error.to_string())?;
        if !sockopt::socket_acceptconn(&fd).unwrap_or(false) {
            return Err("it does not listen; use ListenStream= and Accept=no".into());
        }
        if family == AddressFamily::UNIX {
            let path = getsockname(&fd)
                .ok()
                .and_then(|address| rustix::net::SocketAddrUnix::try_from(address).ok())
                .and_then(|address| {
                    address
                        .path()
                        .map(|path| path.to_string_lossy().into_owned())
                })
                .map(PathBuf::from);
            let listener = UnixListener::from(fd);
            listener.set_nonblocking(true).map_err(failed)?;
            return match self.unix.replace((listener, path)) {
                None => Ok(()),
                Some(_) => Err("there is more than one Unix socket".into()),
            };
        }
        if family != AddressFamily::INET && family != AddressFamily::INET6 {
            return Err("it is neither a Unix nor a TCP socket".into());
        }
        let listener = TcpListener::from(fd);
        listener.set_nonblocking(true).map_err(failed)?;
        let address: SocketAddr = listener.local_addr().map_err(failed)?;
        if name == HTTPS {
            self.https.push(listener);
            return Ok(());
        }
        if !address.ip().is_loopback() {
            return Err(format!(
                "{address} is reachable from other machines, which read nothing without TLS and a credential; set \
                 FileDescriptorName=https"
            ));
        }
        match self.tcp.replace(listener) {
            None => Ok(()),
            Some(_) => Err("there is more than one socket on loopback".into()),
        }
    }
}
