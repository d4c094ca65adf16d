//! Messages between supervisor and workers: JSON, one a packet, over a pair of
//! sequenced-packet sockets; a connection travels with the message about it (SCM_RIGHTS).

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::options::Limits;
use crate::sandbox::{Confinement, Layer};
use crate::stats::SessionStats;
use crate::supervisor::{Device, DriverInfo};

/// Longest message. Below the default send buffer of a socket (212,992 bytes).
const MESSAGE_MAX: usize = 160 << 10;
/// Longest statistics in a message: what names them takes a little of it.
pub(crate) const STATS_MAX: usize = MESSAGE_MAX - 64;

/// What a worker needs to know before its first connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Start {
    /// The session that it is for; zeros: it is only to say what driver and devices there are.
    pub(crate) session: [u8; 16],
    /// The driver's library; `None`: to be found.
    pub(crate) libcuda: Option<PathBuf>,
    /// NVML's library.
    pub(crate) libnvml: Option<PathBuf>,
    /// By which its further lanes prove themselves.
    pub(crate) secret: [u8; 32],
    /// Networks whose fabric is trusted with plaintext by RDMA, as `gtrace_link::Networks` are
    /// written; empty for none.
    pub(crate) rdma_trusted: String,
    /// How long a lane whose connection breaks is kept, ms.
    pub(crate) resume_ms: u64,
    /// What a client may use.
    pub(crate) limits: Limits,
    /// Devices that clients can see.
    pub(crate) permitted: Vec<Device>,
    /// Largest kernel image that the supervisor keeps; 0 for none.
    pub(crate) image_max: u64,
    /// The driver's version, as cuDriverGetVersion says.
    pub(crate) driver_version: i32,
    /// Name of this host.
    pub(crate) host: String,
    /// Process of the supervisor, with which the worker ends.
    pub(crate) supervisor: u32,
    /// How the worker confines itself; `None`: not at all.
    pub(crate) sandbox: Option<Confinement>,
}

/// Supervisor to worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// The first message. A descriptor that comes with it is that of the driver's library, where no path leads to it.
    Start(Box<Start>),
    /// A connection whose client has shown that it knows the secret; the descriptor comes with it.
    Lane {
        /// What came of the handshake of TLS, where there was one.
        tls: Option<Tls>,
        /// It is not the first of the session.
        further: bool,
        /// The version that both speak.
        version: u16,
        /// The connection's own key, which says nothing about a token.
        key: Option<[u8; 32]>,
        /// Where it comes from, for the log.
        peer: String,
    },
    /// The process of the client, which is on this host: a descriptor of it comes with this, unless it has ended already.
    ClientProcess,
    /// The answer to [`FromWorker::WantImage`]: the file comes with it, if there is one.
    Image([u8; 32]),
    /// The answer to [`FromWorker::WantMemory`], with the bytes of that memory: the driver's descriptor comes with it, if there is
    /// one.
    Memory([u8; 32], u64),
}

/// [`TlsSecrets`](gtrace_link::TlsSecrets) in a message.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Tls {
    suite: u16,
    client: Vec<u8>,
    server: Vec<u8>,
    exporter: [u8; 32],
}

impl From<&gtrace_link::TlsSecrets> for Tls {
    fn from(secrets: &gtrace_link::TlsSecrets) -> Self {
        Self {
            suite: secrets.suite,
            client: secrets.client.clone(),
            server: secrets.server.clone(),
            exporter: secrets.exporter,
        }
    }
}

impl From<Tls> for gtrace_link::TlsSecrets {
    fn from(tls: Tls) -> Self {
        Self {
            suite: tls.suite,
            client: tls.client,
            server: tls.server,
            exporter: tls.exporter,
        }
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls")
            .field("suite", &self.suite)
            .finish_non_exhaustive()
    }
}

/// Who the client of a session is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its host, in its own words.
    pub host: String,
    /// Its process on that host, in its own words.
    pub pid: u32,
    /// Its program, in its own words.
    pub program: String,
    /// Where the first connection came from.
    pub peer: String,
    /// By which credential it was let in, as `token NAME` or `certificate NAME`; `None`: the server's only token, or none.
    #[serde(default)]
    pub credential: Option<String>,
}

/// Worker to supervisor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// The first lane was let in.
    Welcomed {
        /// Whose it is.
        client: Client,
        /// Which host that is, as far as one can tell: /proc/sys/kernel/random/boot_id.
        boot_id: String,
        /// Its PID namespace there.
        pid_namespace: u64,
    },
    /// A further lane was let in.
    Lane,
    /// A connection was not let in, and the handshake's word for it.
    NotWelcomed {
        /// What kind of failure: `token`, `garbage`, `timeout`, `tls`, `version`, `closed`, `other`.
        kind: String,
        /// The whole story.
        reason: String,
    },
    /// Driver and devices, and how the worker is confined.
    Probed(Box<DriverInfo>, Vec<Layer>),
    /// What it did so far.
    Stats(Box<SessionStats>),
    /// It cannot go on.
    Failed(String),
    /// It wants the image with this SHA-256, and waits for [`ToWorker::Image`].
    WantImage([u8; 32]),
    /// Its client has sent the image with this SHA-256: sealed memory with it comes with this.
    KeepImage([u8; 32]),
    /// Its client lets others open memory of so many bytes by this ticket: the driver's descriptor comes with this.
    KeepMemory([u8; 32], u64),
    /// It wants the memory of this ticket, and waits for [`ToWorker::Memory`].
    WantMemory([u8; 32]),
}

/// One end.
#[derive(Debug)]
pub(crate) struct Channel(OwnedFd);

impl Channel {
    /// Both ends; they are closed when another program is executed.
    ///
    /// # Errors
    ///
    /// The system's: out of descriptors.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        Ok((Self(a), Self(b)))
    }

    /// Takes an end that was inherited.
    pub(crate) fn from_fd(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Gives the descriptor away.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.0
    }

    /// Sends a message, and a descriptor with it. Does not wait: a peer that does not read is an
    /// error of kind `WouldBlock`.
    ///
    /// # Errors
    ///
    /// The system's, and `InvalidData` for a message above the cap.
    pub(crate) fn send(
        &self,
        message: &impl Serialize,
        fd: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let bytes = serde_json::to_vec(message)?;
        if bytes.len() > MESSAGE_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a message of {} bytes is above the cap", bytes.len()),
            ));
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let fds = fd.map(|fd| [fd]);
        if let Some(fds) = &fds {
            ancillary.push(SendAncillaryMessage::ScmRights(fds));
        }
        sendmsg(
            &self.0,
            &[IoSlice::new(&bytes)],
            &mut ancillary,
            SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
        )?;
        Ok(())
    }

    /// Receives a message, and the descriptor that came with it; `None` once the other end is
    /// closed. Waits only if `wait`.
    ///
    /// # Errors
    ///
    /// The system's, `WouldBlock` if nothing is there, and `InvalidData` for what is no message.
    pub(crate) fn receive<T: DeserializeOwned>(
        &self,
        wait: bool,
    ) -> io::Result<Option<(T, Option<OwnedFd>)>> {
        let mut bytes = vec![0; MESSAGE_MAX];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut flags = RecvFlags::CMSG_CLOEXEC;
        flags.set(RecvFlags::DONTWAIT, !wait);
        let received = loop {
            let mut parts = [IoSliceMut::new(&mut bytes)];
            match recvmsg(&self.0, &mut parts, &mut ancillary, flags) {
                Err(rustix::io::Errno::INTR) => {}
                // The other end was closed with a message unread. Reported once; what it sent before
                // that is still to be read.
                Err(rustix::io::Errno::CONNRESET) => {}
                received => break received?,
            }
        };
        let mut fd = None;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                fd = fds.last();
            }
        }
        if received.bytes == 0 {
            return Ok(None);
        }
        if received.flags.contains(ReturnFlags::TRUNC) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a message above the cap",
            ));
        }
        let message = bytes.get(..received.bytes).unwrap_or_default();
        Ok(Some((serde_json::from_slice(message)?, fd)))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_connection_travels_with_its_message() {
        let (supervisor, worker) = Channel::pair().unwrap();
        let (mut near, far) = UnixStream::pair().unwrap();
        let lane = ToWorker::Lane {
            tls: None,
            further: true,
            version: 2,
            key: Some([7; 32]),
            peer: "10.0.0.1:5".into(),
        };
        supervisor.send(&lane, Some(far.as_fd())).unwrap();
        drop(far);
        let (message, fd) = worker.receive::<ToWorker>(true).unwrap().unwrap();
        assert!(matches!(message, ToWorker::Lane { key: Some(key), .. } if key == [7; 32]));
        let mut taken = UnixStream::from(fd.unwrap());
        near.write_all(b"x").unwrap();
        let mut byte = [0];
        taken.read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"x");
    }

    #[test]
    fn the_end_of_the_other_side_is_seen() {
        let (supervisor, worker) = Channel::pair().unwrap();
        let empty = worker.receive::<ToWorker>(false).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::WouldBlock);
        drop(supervisor);
        assert!(worker.receive::<ToWorker>(true).unwrap().is_none());
    }
}
