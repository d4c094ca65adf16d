//! What every link can do.

use std::fmt;
use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gtrace_protocol::{
    DecodeError, FrameError, ImpossiblePosition, PreambleError, RefusalKind, Refused,
};
use thiserror::Error;

use crate::changes::Changes;
use crate::channel::Channel;
use crate::pinned::PinnedRegion;
use crate::ring::RingError;

/// Why a link cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LinkError {
    /// It has ended, and how.
    #[error(transparent)]
    Closed(#[from] Ended),
    /// The deadline passed first.
    #[error("no answer in time from {0}")]
    TimedOut(String),
    /// The server does not let this client in; its own words, without what a terminal would obey.
    #[error("the server refused the connection: {0}")]
    Refused(Refused),
    /// The system's error.
    #[error("{0}: {1}{remedy}", remedy = remedy(.1))]
    Io(String, #[source] io::Error),
    /// A connection does not begin as one of ours.
    #[error(transparent)]
    Preamble(#[from] PreambleError),
    /// What came is no frame.
    #[error("the other side does not keep to the protocol: {0}")]
    Frame(#[from] FrameError),
    /// What came cannot be read.
    #[error("the other side does not keep to the protocol: {0}")]
    Decode(#[from] DecodeError),
    /// A counter of a ring is wrong.
    #[error("the other side does not keep to the protocol: {0}")]
    Ring(#[from] RingError),
    /// What the other side says that it has received cannot be.
    #[error("the other side does not keep to the protocol: {0}")]
    Position(#[from] ImpossiblePosition),
    /// TLS failed.
    #[error("TLS with {0}: {1}")]
    Tls(String, String),
    /// An address or a setting that cannot be used.
    #[error("{0}")]
    Usage(String),
}

fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE) => "; this program has as many files open as it may have (`ulimit -n`)",
        _ => "",
    }
}

impl LinkError {
    /// Whether a connection has broken, or failed: another one may do.
    pub(crate) fn is_break(&self) -> bool {
        match self {
            Self::Closed(ended) => !matches!(ended.how, End::Goodbye(_)),
            Self::TimedOut(_) | Self::Io(..) | Self::Tls(..) => true,
            _ => false,
        }
    }

    /// A refusal of this kind.
    pub(crate) fn refused(kind: RefusalKind, reason: impl Into<String>) -> Self {
        Self::Refused(Refused::new(kind, reason))
    }
}

/// A link that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Ended {
    /// The other side.
    pub peer: String,
    /// How.
    pub how: End,
}

/// How a link ends. Only a goodbye says that nothing was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The other side said goodbye, and why if it is not the usual end.
    Goodbye(String),
    /// The other side closed it without a word: its process has ended, say.
    Closed,
    /// It was reset, by the other side or on the way.
    Reset,
    /// The other host no longer answers.
    Silent,
    /// The system, or TLS, says what is wrong with it.
    Failed(String),
    /// It broke, and no other one took its place.
    NotResumed {
        /// How it broke.
        how: Box<Self>,
        /// Why there is no other one.
        why: String,
    },
}

impl Ended {
    /// Of the link to `peer`.
    pub fn new(peer: impl Into<String>, how: End) -> Self {
        let peer = peer.into();
        Self { peer, how }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peer = &self.peer;
        match &self.how {
            End::Goodbye(reason) if reason.is_empty() => write!(f, "{peer} has ended the session"),
            End::Goodbye(reason) => write!(f, "{peer} has ended the session: {reason}"),
            End::Closed => write!(f, "the connection to {peer} was closed by the other side"),
            End::Reset => write!(f, "the connection to {peer} was reset"),
            End::Silent => write!(f, "{peer} no longer answers"),
            End::Failed(why) => write!(f, "the connection to {peer} failed: {why}"),
            End::NotResumed { how, why } => {
                let how = Self::new(peer, (**how).clone());
                write!(f, "{how}, and could not be resumed: {why}")
            }
        }
    }
}

/// The kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// Rings in memory that both processes have mapped.
    SharedMemory,
    /// A Unix socket.
    Unix,
    /// TCP.
    Tcp,
    /// TCP with TLS.
    Tls,
    /// Rings that the other side's RDMA device writes.
    Rdma,
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SharedMemory => "shm",
            Self::Unix => "unix",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Rdma => "rdma",
        })
    }
}

/// What is known of a link.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Its kind.
    pub kind: LinkKind,
    /// The other side, for messages.
    pub peer: String,
    /// Best size of a piece of a bulk copy, bytes.
    pub chunk: usize,
    /// TCP's congestion control.
    pub congestion_control: Option<String>,
    /// Round trip of the probe, ns.
    pub probe_ns: u64,
    /// Links that were tried before and why they are not used.
    pub fallbacks: Vec<String>,
    /// The kind of the connection that takes its place when the device fails.
    pub under: Option<LinkKind>,
    /// How long it waits for another connection when its own breaks; none: not at all.
    pub resume: Option<Duration>,
    /// What became of it since.
    pub changes: Arc<Changes>,
}

impl LinkInfo {
    /// What is known of a link to begin with.
    pub(crate) fn new(kind: LinkKind, peer: &str, chunk: usize) -> Self {
        Self {
            kind,
            peer: peer.to_owned(),
            chunk,
            congestion_control: None,
            probe_ns: 0,
            fallbacks: Vec::new(),
            under: None,
            resume: None,
            changes: Arc::default(),
        }
    }

    /// The kind of what carries the bytes now.
    pub fn kind_now(&self) -> LinkKind {
        match self.under {
            Some(under) if self.changes.is_fallen() => under,
            _ => self.kind,
        }
    }
}

/// The sending half.
pub trait Tx: Send {
    /// Room for `len` bytes, at most [`gtrace_protocol::SMALL_MAX`] and a header, behind what was
    /// committed. Waits for room if there is none.
    fn reserve(&mut self, len: usize) -> Result<&mut [u8], LinkError>;

    /// The first `len` bytes of the room are to be sent.
    fn commit(&mut self, len: usize);

    /// Sends `body` behind what was committed, without a copy more than the link needs.
    fn bulk(&mut self, body: &[u8]) -> Result<(), LinkError>;

    /// As [`Tx::bulk`], of bytes that may be sent once more from where they are.
    ///
    /// # Safety
    ///
    /// They stay as they are while [`Tx::is_lent`] says so of them, until [`Tx::take_back`] has returned, or this is
    /// dropped.
    #[allow(unsafe_code)]
    unsafe fn bulk_lent(&mut self, body: &[u8]) -> Result<(), LinkError> {
        self.bulk(body)
    }

    /// As [`Tx::bulk_lent`], of bytes of which the system may take the memory itself instead of a copy. Where that was
    /// done SIGPIPE is sent to this process when the other side is gone: it ignores it, as programs in Rust do.
    ///
    /// # Safety
    ///
    /// They stay as they are while [`Tx::is_lent`] says so of them, whatever is taken back. After this is dropped they are
    /// unmapped, or stay as they are for ever.
    #[allow(unsafe_code)]
    unsafe fn bulk_stable(&mut self, body: &[u8]) -> Result<(), LinkError> {
        // SAFETY: the caller promises more.
        unsafe { self.bulk_lent(body) }
    }

    /// Whether [`Tx::bulk_lent`] spares a copy.
    fn lends(&self) -> bool {
        false
    }

    /// Whether bytes of `memory` are lent still. Does not wait.
    fn is_lent(&mut self, _memory: &[u8]) -> bool {
        false
    }

    /// What is lent of `memory`, or all that is lent, may change from now on: what the other side has not read is copied.
    /// What was sent by [`Tx::bulk_stable`] stays lent.
    fn take_back(&mut self, _memory: Option<&[u8]>) {}

    /// The same of `body` that lies in `memory`: a link whose device can take it from there does, when it comes to
    /// that.
    fn bulk_from(&mut self, body: &[u8], _memory: &PinnedRegion) -> Result<(), LinkError> {
        self.bulk(body)
    }

    /// The program wants `memory` back, or any that was given: nothing is taken from there any more.
    ///
    /// # Errors
    ///
    /// As [`Tx::flush`]. Nothing is taken from there then either.
    fn release(&mut self, _memory: Option<&PinnedRegion>) -> Result<(), LinkError> {
        Ok(())
    }

    /// Makes the other side see what was committed.
    ///
    /// # Errors
    ///
    /// [`LinkError::Closed`] and [`LinkError::Io`]: the link is at its end.
    fn flush(&mut self) -> Result<(), LinkError>;

    /// As [`Tx::flush`], without waiting for the other side; whether all is sent. What is left is sent by the next call of
    /// either, or by what is sent behind it.
    fn flush_some(&mut self) -> Result<bool, LinkError> {
        self.flush().map(|()| true)
    }

    /// Bytes committed and not yet flushed.
    fn pending(&self) -> usize;

    /// Whether [`Tx::flush`] would wait until the other side has seen that a device failed. [`Tx::poll_completions`] sends what was
    /// committed then.
    fn failover_pending(&self) -> bool {
        false
    }

    /// Polls completions of flushed requests, as a device may fail unnoticed. To be called
    /// some times a second while nothing is sent. Does not wait for the other side.
    fn poll_completions(&mut self) -> Result<(), LinkError> {
        Ok(())
    }
}

/// The receiving half.
pub trait Rx: Send {
    /// Waits until `len` bytes are there, at most [`gtrace_protocol::SMALL_MAX`] and a header, and
    /// shows them; they stay unread.
    ///
    /// # Errors
    ///
    /// [`LinkError::TimedOut`] after `deadline`, when nothing was lost; others are the link's end.
    fn peek(&mut self, len: usize, deadline: Option<Instant>) -> Result<&[u8], LinkError>;

    /// Whether `len` bytes can be peeked at without waiting.
    fn ready(&mut self, len: usize) -> Result<bool, LinkError>;

    /// The first `len` bytes, which were peeked at, are read.
    fn consume(&mut self, len: usize);

    /// Reads exactly as many bytes as `into` has.
    fn read(&mut self, into: &mut [u8]) -> Result<(), LinkError>;

    /// Waits for at least one unread byte and shows what is there in place, at most `max`; they stay
    /// unread.
    fn some(&mut self, max: usize) -> Result<&[u8], LinkError>;

    /// What was received and not read, for whoever goes on with what lies below.
    fn into_unread(self: Box<Self>) -> Vec<u8> {
        Vec::new()
    }
}

/// An open link.
pub struct Link {
    /// What is sent.
    pub tx: Box<dyn Tx>,
    /// What is received.
    pub rx: Box<dyn Rx>,
    /// What it is.
    pub info: LinkInfo,
    /// Ends it from anywhere.
    pub end: Ender,
    /// What it is over, where another connection can take its place.
    pub(crate) channel: Option<Arc<dyn Channel>>,
}

/// What can be ended.
pub(crate) trait Endable: Send + Sync {
    fn end(&self);
    fn is_alive(&self) -> bool;
    /// Breaks the connection without ending what outlives it.
    fn break_connection(&self) {
        self.end();
    }
}

/// Ends a link from another thread, whatever its halves wait for. It does not keep the link open.
#[derive(Clone)]
pub struct Ender(Weak<dyn Endable>);

impl Ender {
    pub(crate) fn new<E: Endable + 'static>(what: &Arc<E>) -> Self {
        let weak: Weak<E> = Arc::downgrade(what);
        Self(weak)
    }

    /// Ends the link: both halves, here and on the other side, find it closed.
    pub fn end(&self) {
        if let Some(link) = self.0.upgrade() {
            link.end();
        }
    }

    /// Whether the other side has the link open, as far as the system knows, whatever lies unread.
    pub fn is_alive(&self) -> bool {
        self.0.upgrade().is_some_and(|link| link.is_alive())
    }
}

impl Link {
    /// Breaks its connection, as a network may; one that can goes on by another. For tests.
    #[doc(hidden)]
    pub fn break_connection(&self) {
        if let Some(link) = self.end.0.upgrade() {
            link.break_connection();
        }
    }
}

impl fmt::Debug for Ender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ender")
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("info", &self.info).finish()
    }
}
