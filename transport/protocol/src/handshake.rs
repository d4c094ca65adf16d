//! The messages that open a lane.
//!
//! ```text
//! client                                   server
//! preamble (in clear, 32 bytes)  ───────▶  finds the session's process
//! [TLS 1.3]                      ◀──────▶
//! HELLO  (nonce, who I am)       ───────▶
//!                                ◀───────  CHALLENGE (nonce, which secret)
//! PROOF  (HMAC over both nonces) ───────▶
//!                                ◀───────  WELCOME (its own proof, session, offers) or REFUSED
//! RDMA (queue pairs), if wanted  ◀──────▶  RDMA (its own, or why not)
//! ECHO, on any link that is offered ◀────▶  ECHO
//! SWITCH, on the link of its choice ─────▶  what follows there is the lane's
//! ```
//! Frames of the handshake have the sequence number 0; the lane's own begin with 1.
//!
//! A server that turns a client away before TLS or HELLO answers REFUSED in clear.
//! A token never travels: each side shows by HMAC-SHA-256 over [`proof_input`] that it knows it.

use std::fmt;

use thiserror::Error;

use crate::codec::{DecodeError, Reader, Writer};

/// First bytes of a preamble.
pub const MAGIC: [u8; 8] = *b"GTRACE\0\x01";
/// Bytes of a preamble.
pub const PREAMBLE_LEN: usize = 32;
/// Oldest version of the protocol that is spoken here.
pub const VERSION_MIN: u16 = 1;
/// Newest version of the protocol that is spoken here.
pub const VERSION_MAX: u16 = 1;

/// Longest text in a message of the handshake.
const TEXT_MAX: usize = 4096;
/// Most offers in a [`Welcome`].
const OFFERS_MAX: usize = 16;

/// Names a session; all zeros asks for a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; 16]);

impl SessionId {
    /// Whether a new session is asked for.
    pub fn is_new(self) -> bool {
        self.0 == [0; 16]
    }
}

/// The first bytes of a connection, in clear, so that its descriptor can be given to the process
/// that has the session before anything is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preamble {
    /// Oldest version that the client speaks.
    pub version_min: u16,
    /// Newest version that the client speaks.
    pub version_max: u16,
    /// TLS follows.
    pub tls: bool,
    /// The session that the lane belongs to.
    pub session: SessionId,
}

/// Why 32 bytes are no preamble that can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PreambleError {
    /// Something else than a client of gtrace.
    #[error("not a client of gtrace: the connection begins with {0:02x?}")]
    Magic([u8; 8]),
    /// No version in common.
    #[error(
        "the client speaks versions {0} to {1} of the protocol, this server {VERSION_MIN} to \
         {VERSION_MAX}; install the same gtrace on both"
    )]
    Version(u16, u16),
    /// Bits that this version does not know.
    #[error("the preamble has the unknown flags {0:#x}")]
    Flags(u32),
}

impl Preamble {
    const TLS: u32 = 1;

    /// Of a client that speaks the versions of this crate.
    pub const fn new(tls: bool, session: SessionId) -> Self {
        Self {
            version_min: VERSION_MIN,
            version_max: VERSION_MAX,
            tls,
            session,
        }
    }

    /// The bytes on the wire.
    pub fn to_bytes(&self) -> [u8; PREAMBLE_LEN] {
        let mut bytes = [0; PREAMBLE_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&self.version_min.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.version_max.to_le_bytes());
        bytes[12..16].copy_from_slice(&u32::from(self.tls).to_le_bytes());
        bytes[16..].copy_from_slice(&self.session.0);
        bytes
    }

    /// Reads a preamble.
    ///
    /// # Errors
    ///
    /// [`PreambleError`]: the connection is none of ours, or of another version.
    pub fn parse(bytes: &[u8; PREAMBLE_LEN]) -> Result<Self, PreambleError> {
        let mut magic = [0; 8];
        magic.copy_from_slice(&bytes[..8]);
        if magic != MAGIC {
            return Err(PreambleError::Magic(magic));
        }
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (version_min, version_max) = (half(8), half(10));
        if version_min > VERSION_MAX || version_max < VERSION_MIN || version_min > version_max {
            return Err(PreambleError::Version(version_min, version_max));
        }
        let flags = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        if flags & !Self::TLS != 0 {
            return Err(PreambleError::Flags(flags));
        }
        let mut session = SessionId::default();
        session.0.copy_from_slice(&bytes[16..]);
        Ok(Self {
            version_min,
            version_max,
            tls: flags & Self::TLS != 0,
            session,
        })
    }

    /// The version that both speak.
    pub fn version(&self) -> u16 {
        self.version_max.min(VERSION_MAX)
    }
}

/// What a side can do beyond the version's minimum, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(pub u64);

impl Features {
    /// The server keeps a completion watermark of events.
    pub const WATERMARK: Self = Self(1);
    /// Kernel images are looked up by content hash before they are sent.
    pub const IMAGE_CACHE: Self = Self(2);
    /// Shared memory can be offered and taken.
    pub const SHARED_MEMORY: Self = Self(4);
    /// The server answers `control::RDMA`.
    pub const RDMA: Self = Self(8);
    /// The server keeps copies to page-locked memory of the client until they are taken.
    pub const DEFERRED_COPIES: Self = Self(32);
    /// The server times work on the GPU: [`crate::Flags::WANTS_WORK`].
    pub const WORK: Self = Self(64);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// HELLO.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// Random.
    pub nonce: [u8; 32],
    /// What the client can do.
    pub features: Features,
    /// Process of the client, on its host.
    pub pid: u32,
    /// Its name (`comm`).
    pub program: String,
    /// Host of the client.
    pub host: String,
    /// /proc/sys/kernel/random/boot_id of the client's host.
    pub boot_id: String,
    /// Every call is to be answered.
    pub strict: bool,
}

/// CHALLENGE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Random.
    pub nonce: [u8; 32],
    /// Whether a secret has to be proved: the token for a first lane, the session's for others.
    pub secret: bool,
}

/// PROOF: HMAC-SHA-256 of [`proof_input`]; zeros if the challenge asked for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof(pub [u8; 32]);

/// REFUSED: why, for the user of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused(pub String);

/// Another link to the same server, better than the one it is offered on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its name: `shm` or `unix`.
    pub link: String,
    /// Where: for `shm` the name of an abstract Unix socket.
    pub address: String,
    /// Shows that the one who comes is the one to whom it was offered; good once.
    pub cookie: [u8; 16],
}

/// WELCOME.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Welcome {
    /// Version that is spoken from here on.
    pub version: u16,
    /// What the server can do.
    pub features: Features,
    /// The session, for its other lanes.
    pub session: SessionId,
    /// Secret of the session, for its other lanes.
    pub secret: [u8; 32],
    /// Proof of the server, over the same nonces; zeros if no secret was asked for.
    pub proof: [u8; 32],
    /// Number of the lane, from 1.
    pub lane: u16,
    /// Frames that the client may send before it has to wait for credit.
    pub credits: u32,
    /// `cuDriverGetVersion` of the server.
    pub driver_version: i32,
    /// Whether the server has NVML.
    pub nvml: bool,
    /// Host of the server.
    pub host: String,
    /// Better links.
    pub offers: Vec<Offer>,
}

impl fmt::Debug for Welcome {
    /// Without the secret and the proof, which are not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Welcome")
            .field("version", &self.version)
            .field("features", &self.features)
            .field("session", &self.session)
            .field("lane", &self.lane)
            .field("credits", &self.credits)
            .field("driver_version", &self.driver_version)
            .field("nvml", &self.nvml)
            .field("host", &self.host)
            .field("offers", &self.offers.len())
            .finish_non_exhaustive()
    }
}

/// Whose proof it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prover {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// What is authenticated by HMAC-SHA-256 under the token or the session's secret.
pub fn proof_input(
    prover: Prover,
    session: SessionId,
    client_nonce: &[u8; 32],
    server_nonce: &[u8; 32],
) -> Vec<u8> {
    let label: &[u8] = match prover {
        Prover::Client => b"gtrace 1 client",
        Prover::Server => b"gtrace 1 server",
    };
    [label, &session.0, client_nonce, server_nonce].concat()
}

/// Messages of the handshake, to and from the payload of their frames.
pub trait Message: Sized {
    /// Its control frame.
    const OP: u32;

    /// Appends it.
    fn write(&self, writer: &mut Writer);

    /// Reads it.
    ///
    /// # Errors
    ///
    /// [`DecodeError`].
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;

    /// Reads it from a whole payload.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], also for bytes that are left over.
    fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(payload);
        let message = Self::read(&mut reader)?;
        reader.end()?;
        Ok(message)
    }
}

fn flag(what: &'static str, value: u8) -> Result<bool, DecodeError> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        value => Err(DecodeError::BadValue {
            what,
            value: value.into(),
        }),
    }
}

impl Message for ClientHello {
    const OP: u32 = crate::control::HELLO;

    fn write(&self, writer: &mut Writer) {
        writer.raw(&self.nonce);
        writer.u64(self.features.0);
        writer.u32(self.pid);
        writer.str(&self.program);
        writer.str(&self.host);
        writer.str(&self.boot_id);
        writer.u8(self.strict.into());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            nonce: reader.array()?,
            features: Features(reader.u64()?),
            pid: reader.u32()?,
            program: reader.str(TEXT_MAX)?.to_owned(),
            host: reader.str(TEXT_MAX)?.to_owned(),
            boot_id: reader.str(TEXT_MAX)?.to_owned(),
            strict: flag("strict", reader.u8()?)?,
        })
    }
}

impl Message for Challenge {
    const OP: u32 = crate::control::CHALLENGE;

    fn write(&self, writer: &mut Writer) {
        writer.raw(&self.nonce);
        writer.u8(self.secret.into());
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            nonce: reader.array()?,
            secret: flag("secret", reader.u8()?)?,
        })
    }
}

impl Message for Proof {
    const OP: u32 = crate::control::PROOF;

    fn write(&self, writer: &mut Writer) {
        writer.raw(&self.0);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.array().map(Self)
    }
}

impl Message for Refused {
    const OP: u32 = crate::control::REFUSED;

    fn write(&self, writer: &mut Writer) {
        writer.str(&self.0);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self(reader.str(TEXT_MAX)?.to_owned()))
    }
}

impl Message for Welcome {
    const OP: u32 = crate::control::WELCOME;

    fn write(&self, writer: &mut Writer) {
        writer.u16(self.version);
        writer.u64(self.features.0);
        writer.raw(&self.session.0);
        writer.raw(&self.secret);
        writer.raw(&self.proof);
        writer.u16(self.lane);
        writer.u32(self.credits);
        writer.i32(self.driver_version);
        writer.u8(self.nvml.into());
        writer.str(&self.host);
        writer.u64(self.offers.len() as u64);
        for offer in &self.offers {
            writer.str(&offer.link);
            writer.str(&offer.address);
            writer.raw(&offer.cookie);
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut welcome = Self {
            version: reader.u16()?,
            features: Features(reader.u64()?),
            session: SessionId(reader.array()?),
            secret: reader.array()?,
            proof: reader.array()?,
            lane: reader.u16()?,
            credits: reader.u32()?,
            driver_version: reader.i32()?,
            nvml: flag("nvml", reader.u8()?)?,
            host: reader.str(TEXT_MAX)?.to_owned(),
            offers: Vec::new(),
        };
        for _ in 0..reader.len(OFFERS_MAX)? {
            welcome.offers.push(Offer {
                link: reader.str(TEXT_MAX)?.to_owned(),
                address: reader.str(TEXT_MAX)?.to_owned(),
                cookie: reader.array()?,
            });
        }
        Ok(welcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn payload(message: &impl Message) -> Vec<u8> {
        let mut writer = Writer::default();
        message.write(&mut writer);
        writer.into_inner()
    }

    #[test]
    fn messages_come_back() {
        let hello = ClientHello {
            nonce: [1; 32],
            pid: 42,
            program: "python3".into(),
            strict: true,
            ..ClientHello::default()
        };
        assert_eq!(ClientHello::parse(&payload(&hello)), Ok(hello));
        let welcome = Welcome {
            lane: 1,
            credits: 1024,
            driver_version: 12_040,
            host: "gpu-host".into(),
            offers: vec![Offer {
                link: "shm".into(),
                address: "gtrace-1".into(),
                cookie: [3; 16],
            }],
            ..Welcome::default()
        };
        assert_eq!(Welcome::parse(&payload(&welcome)), Ok(welcome));
    }

    #[test]
    fn a_preamble_comes_back_and_others_are_distinguished() {
        let preamble = Preamble::new(true, SessionId([9; 16]));
        assert_eq!(Preamble::parse(&preamble.to_bytes()), Ok(preamble));
        assert_eq!(preamble.version(), VERSION_MAX);
        let http = *b"GET / HTTP/1.1\r\nHost: example\r\n\r";
        assert!(matches!(
            Preamble::parse(&http),
            Err(PreambleError::Magic(_))
        ));
        let mut newer = preamble;
        (newer.version_min, newer.version_max) = (7, 9);
        assert_eq!(
            Preamble::parse(&newer.to_bytes()),
            Err(PreambleError::Version(7, 9))
        );
    }

    #[test]
    fn the_two_proofs_differ() {
        let input = |prover| proof_input(prover, SessionId::default(), &[1; 32], &[2; 32]);
        assert_ne!(input(Prover::Client), input(Prover::Server));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = ClientHello::parse(&bytes);
            let _ = Challenge::parse(&bytes);
            let _ = Proof::parse(&bytes);
            let _ = Refused::parse(&bytes);
            let _ = Welcome::parse(&bytes);
            if let Some(preamble) = bytes.first_chunk() {
                let _ = Preamble::parse(preamble);
            }
        }
    }
}
