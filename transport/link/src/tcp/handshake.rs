//! The server's half of TLS's handshake, apart from what follows it.
//!
//! Whoever has the private key goes through the handshake and gives what comes of it, the [`TlsSecrets`] of this one
//! connection, to the process that serves it. That one never sees the key.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use gtrace_protocol::{Payload as _, RefusalKind, Refused, control};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::pki_types::CertificateDer;
use rustls::{KeyLog, ServerConfig, ServerConnection};
use zeroize::Zeroize as _;

use super::certificates::explain_to_server;
use crate::control::frame;
use crate::link::{End, Ended, LinkError};
use crate::socket::{self, Socket};
use crate::spin::Spin;
use crate::wait::io_error;

/// Bytes before the contents of a record (RFC 8446, 5.1).
pub(super) const RECORD_HEAD: usize = 5;
/// Most bytes of an encrypted record's contents (RFC 8446, 5.2).
pub(super) const RECORD_MAX: usize = (16 << 10) + 256;

/// What both ends of one TLS connection share once its handshake is done. It says nothing about the server's key.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsSecrets {
    /// The cipher suite's number (RFC 8446, B.4).
    pub suite: u16,
    /// `client_application_traffic_secret_0`.
    pub client: Vec<u8>,
    /// `server_application_traffic_secret_0`.
    pub server: Vec<u8>,
    /// The exporter for RFC 9266, which proofs cover.
    pub exporter: [u8; 32],
}

impl Drop for TlsSecrets {
    fn drop(&mut self) {
        self.client.zeroize();
        self.server.zeroize();
        self.exporter.zeroize();
    }
}

impl fmt::Debug for TlsSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsSecrets")
            .field("suite", &self.suite)
            .finish_non_exhaustive()
    }
}

/// Takes the secrets of traffic from a connection, as tools take them that look into recordings of a network.
#[derive(Default)]
struct TrafficSecrets(Mutex<(Vec<u8>, Vec<u8>)>);

impl fmt::Debug for TrafficSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TrafficSecrets(..)")
    }
}

impl KeyLog for TrafficSecrets {
    fn log(&self, label: &str, _: &[u8], secret: &[u8]) {
        let mut secrets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match label {
            "CLIENT_TRAFFIC_SECRET_0" => secrets.0 = secret.to_vec(),
            "SERVER_TRAFFIC_SECRET_0" => secrets.1 = secret.to_vec(),
            _ => {}
        }
    }

    fn will_log(&self, label: &str) -> bool {
        matches!(label, "CLIENT_TRAFFIC_SECRET_0" | "SERVER_TRAFFIC_SECRET_0")
    }
}

impl Drop for TrafficSecrets {
    fn drop(&mut self) {
        let secrets = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        secrets.0.zeroize();
        secrets.1.zeroize();
    }
}

/// A handshake under way, on a socket that is never waited for here. It takes no byte behind the handshake from it.
pub struct TlsHandshake {
    connection: ServerConnection,
    traffic: Arc<TrafficSecrets>,
    /// The record that is being received.
    record: Vec<u8>,
    peer: String,
}

impl fmt::Debug for TlsHandshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsHandshake")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}

impl TlsHandshake {
    /// With `peer`, as `config` says.
    ///
    /// # Errors
    ///
    /// [`LinkError::Tls`].
    pub fn new(config: &ServerConfig, peer: &str) -> Result<Self, LinkError> {
        let traffic = Arc::<TrafficSecrets>::default();
        let mut config = config.clone();
        config.key_log = Arc::clone(&traffic) as Arc<dyn KeyLog>;
        let connection = ServerConnection::new(Arc::new(config))
            .map_err(|error| LinkError::Tls(peer.to_owned(), error.to_string()))?;
        Ok(Self {
            connection,
            traffic,
            record: Vec::new(),
            peer: peer.to_owned(),
        })
    }

    /// Whether it waits for room in the socket, and not for bytes from it.
    pub fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// The certificate that the client has shown and TLS has verified.
    pub fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.connection.peer_certificates()?.first()
    }

    /// Goes on as far as the socket allows; the secrets once the handshake is done.
    ///
    /// # Errors
    ///
    /// [`LinkError::Tls`], [`LinkError::Closed`], [`LinkError::Io`].
    pub fn advance(&mut self, socket: BorrowedFd<'_>) -> Result<Option<TlsSecrets>, LinkError> {
        loop {
            if !self.write(socket)? {
                return Ok(None);
            }
            if !self.connection.is_handshaking() {
                return self.secrets().map(Some);
            }
            if !self.read_record(socket)? {
                return Ok(None);
            }
            let mut record = self.record.as_slice();
            while !record.is_empty() {
                let read = self.connection.read_tls(&mut record);
                if !matches!(read, Ok(1..)) {
                    return Err(self.failed("it takes no more"));
                }
                if let Err(error) = self.connection.process_new_packets() {
                    // The client is to learn of it, if it still listens.
                    let _ = self.write(socket);
                    return Err(self.failed(&explain_to_server(&error)));
                }
            }
            self.record.clear();
        }
    }

    /// Tells a client inside TLS why it is refused, as far as the socket takes that at once, and waits a moment for it to
    /// read. For a handshake that is done; the caller closes the connection.
    pub fn refuse(mut self, socket: BorrowedFd<'_>, kind: RefusalKind, reason: &str) {
        let bytes = frame(control::REFUSED, &Refused::new(kind, reason).to_bytes());
        // A client that has gone needs no reason.
        if self.connection.writer().write_all(&bytes).is_ok() {
            self.connection.send_close_notify();
            if self.write(socket).is_ok() {
                socket::linger(socket);
            }
        }
    }

    fn failed(&self, why: &str) -> LinkError {
        LinkError::Tls(self.peer.clone(), why.to_owned())
    }

    /// Whether all that is to be sent has been.
    fn write(&mut self, socket: BorrowedFd<'_>) -> Result<bool, LinkError> {
        struct Raw<'a>(BorrowedFd<'a>);
        impl Write for Raw<'_> {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                Ok(rustix::net::send(self.0, bytes, flags)?)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Raw(socket)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(LinkError::Io(self.peer.clone(), error)),
            }
        }
        Ok(true)
    }

    /// Whether a whole record is there. What is behind it stays in the socket: it may be for another process.
    fn read_record(&mut self, socket: BorrowedFd<'_>) -> Result<bool, LinkError> {
        loop {
            let wanted = match self.record.get(3..RECORD_HEAD) {
                None => RECORD_HEAD,
                Some(len) => RECORD_HEAD + usize::from(u16::from_be_bytes([len[0], len[1]])),
            };
            if wanted > RECORD_HEAD + RECORD_MAX {
                return Err(self.failed("the client does not speak TLS"));
            }
            let got = self.record.len();
            if got >= RECORD_HEAD && got == wanted {
                return Ok(true);
            }
            self.record.resize(wanted, 0);
            let received = rustix::net::recv(socket, &mut self.record[got..], RecvFlags::DONTWAIT);
            let received = received.map(|(received, _)| received);
            self.record.truncate(got + received.unwrap_or(0));
            match received {
                Ok(0) => return Err(Ended::new(&self.peer, End::Closed).into()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(io_error(&self.peer, error)),
            }
        }
    }

    fn secrets(&self) -> Result<TlsSecrets, LinkError> {
        let exporter = self
            .connection
            .export_keying_material([0; 32], EXPORTER, Some(&[]))
            .map_err(|error| self.failed(&error.to_string()))?;
        let suite = self.connection.negotiated_cipher_suite();
        let mut traffic = self
            .traffic
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (client, server) = std::mem::take(&mut *traffic);
        match suite {
            Some(suite) if !client.is_empty() && !server.is_empty() => Ok(TlsSecrets {
                suite: u16::from(suite.suite()),
                client,
                server,
                exporter,
            }),
            _ => Err(self.failed("its handshake is not done")),
        }
    }
}

/// The label of RFC 9266.
pub(super) const EXPORTER: &[u8] = b"EXPORTER-Channel-Binding";

/// Goes through a handshake, waiting for the client.
///
/// # Errors
///
/// As [`TlsHandshake::advance`], and [`LinkError::TimedOut`].
pub(crate) fn shake_hands(
    socket: &Socket,
    config: &ServerConfig,
    deadline: Instant,
) -> Result<TlsSecrets, LinkError> {
    let mut handshake = TlsHandshake::new(config, &socket.peer)?;
    loop {
        let writing = handshake.wants_write();
        let events = if writing {
            PollFlags::OUT
        } else {
            PollFlags::IN
        };
        let step = socket
            .wait(events, Some(deadline))
            .until(&mut Spin::never(), || {
                Ok(match handshake.advance(socket.fd.as_fd())? {
                    Some(secrets) => Some(Some(secrets)),
                    None if handshake.wants_write() != writing => Some(None),
                    None => None,
                })
            })?;
        if let Some(secrets) = step {
            return Ok(secrets);
        }
    }
}
