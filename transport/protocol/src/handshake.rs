//! The messages that open a lane.
//!
//! ```text
//! client                                   server
//!                                ◀───────  greeting (in clear, 48 bytes: random, what is wanted)
//! preamble (in clear, 48 bytes,  ───────▶  looks whose secret it was made with, and gives the
//!  with a proof of a secret)               connection to that session's process, or to a new one
//! [TLS 1.3]                      ◀──────▶
//! HELLO  (who I am)              ───────▶
//! PROOF  (of all this)           ───────▶
//!                                ◀───────  WELCOME (its own proof, session, offers) or REFUSED
//! RDMA (queue pairs), if wanted  ◀──────▶  RDMA (its own, or why not)
//! ECHO, on any link that is offered ◀────▶  ECHO
//! SWITCH, on the link of its choice ─────▶  what follows there is the lane's
//! ```
//! A client that has no secret to prove does not wait for the greeting: its preamble, HELLO and PROOF are on their way when
//! it comes. One that has no link to choose says so in HELLO ([`Begin`]). The lane then begins with WELCOME, without SWITCH,
//! and the server executes the lane's first call, which HELLO carries ([`FirstCall`]), at once.
//!
//! A client whose lane has lost its connection says RESUME in place of HELLO, and the server answers RESUMED, behind
//! which the lane goes on; the secret is that of the session, and the proofs cover both.
//!
//! Frames of the handshake have the sequence number 0; the lane's own begin with 1.
//!
//! A server that turns a client away before TLS or HELLO answers REFUSED in clear.
//!
//! A secret is the SHA-256 of a token for the first lane of a session, and what WELCOME brings for its others. It never
//! travels in clear, and neither does a name of the session. A client that shows a certificate in TLS instead has no
//! secret before; the exporter of its TLS connection is one then, and its preamble has no tag:
//! * the preamble's tag is HMAC-SHA-256 of [`tag_input`](crate::tag_input) under the secret. The greeting's random numbers make each good
//!   once, so that nothing is started for one who only repeats what he has seen;
//! * [`key_input`](crate::key_input) under the secret gives a key for this connection. Who serves the lane needs no more than that key;
//! * PROOF and the proof in WELCOME are HMAC-SHA-256 of [`proof_input`] under it: they cover greeting, preamble, HELLO,
//!   WELCOME, and the TLS connection by its exporter (RFC 9266), so that nothing of the handshake can be changed or taken
//!   to another connection.

use std::fmt;

use crate::codec::{DecodeError, Reader};
use crate::id::OpId;
use crate::payload::Payload;
use crate::{kinds, members};

/// Longest text in a message of the handshake.
const TEXT_MAX: usize = 4096;
/// Most offers in a [`Welcome`].
const OFFERS_MAX: usize = 16;
/// Most bytes of arguments of a [`FirstCall`].
pub const FIRST_CALL_MAX: usize = 8 << 10;

/// Names a session, for people. It opens nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; 16]);

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
    /// [`crate::Header::sent_ns`] of an answer with bytes is when they were copied, not when that began.
    pub const SENT_WHEN_COPIED: Self = Self(128);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// HELLO.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientHello {
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
    /// How long a lane whose connection broke is to be waited for, ms; 0 for not at all.
    pub resume_ms: u32,
    /// Inode of /proc/self/ns/pid, which says whose processes [`pid`](Self::pid) is one of; 0: not known.
    pub pid_namespace: u64,
    /// When the lane begins.
    pub begin: Begin,
    /// What is executed if the lane begins with WELCOME.
    pub first: Option<FirstCall>,
}

/// When a lane begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begin {
    /// When the client has chosen its link, and says SWITCH.
    #[default]
    Chosen,
    /// With WELCOME, unless there is a better link to choose.
    UnlessOffered,
    /// With WELCOME.
    AtOnce,
}

/// The first call of a lane: its frame has the number 1 and does not travel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirstCall {
    /// The operation.
    pub op: OpId,
    /// Its arguments, at most [`FIRST_CALL_MAX`] bytes.
    pub arguments: Vec<u8>,
}

/// PROOF: HMAC-SHA-256 of [`proof_input`]; zeros where there is no secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof(pub [u8; 32]);

/// REFUSED.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// What kind of refusal it is, for programs.
    pub kind: RefusalKind,
    /// Why, for the user of the client.
    pub reason: String,
}

impl Refused {
    /// For this reason.
    pub fn new(kind: RefusalKind, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { kind, reason }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Why a connection is refused, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// Something else.
    #[default]
    Other,
    /// No version in common.
    Version,
    /// No token, or a wrong one.
    Token,
    /// TLS where the server has none, or none where it has.
    Tls,
    /// There is no such session.
    Session,
    /// The server has all the clients that it may have.
    MaxClients,
    /// Too much at a time: it is worth trying again.
    Busy,
    /// The session has all the lanes that it may have.
    Lanes,
    /// The server's system refuses it something.
    System,
}

impl RefusalKind {
    /// The word by which statistics count it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Other => "refused",
            Self::Version => "version",
            Self::Token => "token",
            Self::Tls => "tls",
            Self::Session => "session",
            Self::MaxClients => "max_clients",
            Self::Busy => "busy",
            Self::Lanes => "max_lanes",
            Self::System => "system",
        }
    }
}

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
    /// Proof of the server; zeros where there is no secret, and in what it covers.
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
    /// How long both wait for another connection when the lane's breaks, ms; 0 for not at all. Only lanes over TCP, TLS
    /// and Unix sockets are waited for: their bytes travel in [pieces](crate::Piece) behind SWITCH then.
    pub resume_ms: u32,
    /// The lane begins here, on this connection.
    pub begun: bool,
    /// The server runs under the client's kernel.
    pub here: bool,
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
            .field("resume_ms", &self.resume_ms)
            .field("begun", &self.begun)
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

/// What a proof is made of, under the key of the connection. `hello` is the hash of the payload of HELLO, `welcome` that
/// of WELCOME without its proof (zeros for the client's proof, which comes before), `channel` what TLS exports for RFC 9266
/// (zeros without TLS).
pub fn proof_input(
    prover: Prover,
    hello: &[u8; 32],
    welcome: &[u8; 32],
    channel: &[u8; 32],
) -> Vec<u8> {
    let label: &[u8] = match prover {
        Prover::Client => b"gtrace 2 client",
        Prover::Server => b"gtrace 2 server",
    };
    [label, hello, welcome, channel].concat()
}

/// Messages of the handshake, to and from the payload of their frames.
pub trait Message: Sized + for<'a> Payload<'a> {
    /// Its control frame.
    const OP: u32;

    /// Reads it from a whole payload.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], also for bytes that are left over.
    fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        Self::whole(&mut Reader::new(payload))
    }
}

members!(Features: 0);
members!(SessionId: 0);
kinds!(Begin, "when a lane begins": 0 => Chosen, 1 => UnlessOffered, 2 => AtOnce);
members!(FirstCall: op, arguments[FIRST_CALL_MAX]);
members!(ClientHello:
    features, pid, program[TEXT_MAX], host[TEXT_MAX], boot_id[TEXT_MAX], strict, resume_ms, pid_namespace, begin, first
);

impl Message for ClientHello {
    const OP: u32 = crate::control::HELLO;
}

members!(Proof: 0);

impl Message for Proof {
    const OP: u32 = crate::control::PROOF;
}

kinds!(RefusalKind, "the kind of a refusal":
    0 => Other,
    1 => Version,
    2 => Token,
    3 => Tls,
    4 => Session,
    5 => MaxClients,
    6 => Busy,
    7 => Lanes,
    8 => System,
);
members!(Refused: kind, reason[TEXT_MAX]);

impl Message for Refused {
    const OP: u32 = crate::control::REFUSED;
}

members!(Offer: link[TEXT_MAX], address[TEXT_MAX], cookie);
members!(Welcome:
    version, features, session, secret, proof, lane, credits, driver_version, nvml, host[TEXT_MAX], resume_ms, begun, here,
    offers[OFFERS_MAX]
);

impl Message for Welcome {
    const OP: u32 = crate::control::WELCOME;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_come_back() {
        let hello = ClientHello {
            pid: 42,
            program: "python3".into(),
            strict: true,
            resume_ms: 30_000,
            pid_namespace: 1 << 40,
            begin: Begin::AtOnce,
            first: Some(FirstCall {
                op: 7,
                arguments: vec![1, 2, 3],
            }),
            ..ClientHello::default()
        };
        assert_eq!(ClientHello::parse(&hello.to_bytes()), Ok(hello));
        for kind in 0..9 {
            let kind = RefusalKind::read(&mut Reader::new(&[kind])).unwrap();
            let refused = Refused::new(kind, "why");
            assert_eq!(Refused::parse(&refused.to_bytes()), Ok(refused));
        }
        let welcome = Welcome {
            lane: 1,
            credits: 1024,
            driver_version: 12_040,
            host: "gpu-host".into(),
            begun: true,
            offers: vec![Offer {
                link: "shm".into(),
                address: "gtrace-1".into(),
                cookie: [3; 16],
            }],
            ..Welcome::default()
        };
        assert_eq!(Welcome::parse(&welcome.to_bytes()), Ok(welcome));
    }

    #[test]
    fn the_two_proofs_differ() {
        let input = |prover| proof_input(prover, &[1; 32], &[2; 32], &[3; 32]);
        assert_ne!(input(Prover::Client), input(Prover::Server));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = ClientHello::parse(&bytes);
            let _ = Proof::parse(&bytes);
            let _ = Refused::parse(&bytes);
            let _ = Welcome::parse(&bytes);
        }
    }
}
