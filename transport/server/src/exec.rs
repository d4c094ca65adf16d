//! What executes a lane's calls: the state that calls of one lane share.

use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_link::{Link, LinkError};
use gtrace_protocol::{DecodeError, Flags, HEADER_LEN, Header, SMALL_MAX};

use crate::generated::driver::Driver;
use crate::generated::nvml::Nvml;
use crate::special;
use crate::worker::handles::{Handles, INVALID_VALUE};
use crate::worker::session::Session;
use crate::worker::sticky::Untold;
use crate::worker::time;

pub(crate) use crate::worker::handles::Code;

/// Why a call was not made.
#[derive(Debug)]
pub(crate) enum Bad {
    /// Its arguments cannot be read.
    Arguments(DecodeError),
    /// The link has come to its end meanwhile.
    Link(LinkError),
}

impl From<DecodeError> for Bad {
    fn from(error: DecodeError) -> Self {
        Self::Arguments(error)
    }
}

impl From<LinkError> for Bad {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

/// Most bytes that are copied at once between device and link: what [`gtrace_link::Tx::reserve`] takes.
const PIECE_MAX: usize = SMALL_MAX - HEADER_LEN;

/// The libraries of a worker; they stay until its process ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Libraries {
    /// The driver.
    pub(crate) driver: &'static Driver,
    /// NVML; without any of its functions where there is none.
    pub(crate) nvml: &'static Nvml,
}

/// A lane, as calls see it.
pub(crate) struct Exec {
    /// The client's session.
    pub(crate) session: Arc<Session>,
    /// Its handles.
    pub(crate) handles: Arc<Handles>,
    /// The driver.
    pub(crate) driver: &'static Driver,
    /// NVML; without any of its functions where there is none.
    pub(crate) nvml: &'static Nvml,
    /// The lane's connection.
    pub(crate) link: Link,
    /// The frame whose call is executed.
    pub(crate) request: Header,
    /// Bytes of its bulk part that were not read yet.
    pub(crate) bulk_left: usize,
    /// Bytes of bulk parts that the call has moved.
    pub(crate) moved: usize,
    /// From the frame's arrival to the start of its call, ns.
    pub(crate) queue_ns: u64,
    /// When the call began, ns.
    pub(crate) begun_ns: u64,
    /// The call has sent its last reply frame by itself.
    pub(crate) replied: bool,
    /// What the calls that nobody waits for left behind.
    pub(crate) untold: Untold,
    /// Frames whose credit was not given back.
    pub(crate) owed: u32,
    /// The context that is current in this thread, as frames name it; `None`: not known.
    context: Option<u32>,
    /// Bytes on their way between link and device.
    pub(crate) staging: Vec<u8>,
}

impl Exec {
    /// Of a lane that was let in.
    pub(crate) fn new(session: Arc<Session>, libraries: Libraries, link: Link) -> Self {
        Self {
            handles: Arc::clone(&session.handles),
            driver: libraries.driver,
            nvml: libraries.nvml,
            session,
            link,
            request: Header::default(),
            bulk_left: 0,
            moved: 0,
            queue_ns: 0,
            begun_ns: 0,
            replied: false,
            untold: Untold::default(),
            owed: 0,
            context: Some(0),
            staging: Vec::new(),
        }
    }

    /// Makes the frame's context current, if another is.
    ///
    /// # Errors
    ///
    /// INVALID_CONTEXT (201) if the client has none of this number, and what the driver says.
    #[inline]
    pub(crate) fn enter(&mut self) -> Result<(), Code> {
        if self.context == Some(self.request.context) {
            return Ok(());
        }
        self.change_context()
    }

    #[cold]
    fn change_context(&mut self) -> Result<(), Code> {
        let wanted = self.request.context;
        let real = match wanted {
            0 => std::ptr::null_mut(),
            wanted => self
                .handles
                .real(Kind::Context, Kind::Context.handle(wanted.into()))?,
        };
        match special::set_current(self.driver, real.cast()) {
            0 => {
                self.context = Some(wanted);
                Ok(())
            }
            code => {
                self.context = None;
                Err(code)
            }
        }
    }

    /// The call has changed which context is current in this thread.
    pub(crate) fn context_changed(&mut self) {
        self.context = None;
    }

    /// The header of a reply to the frame, without lengths and status.
    pub(crate) fn reply_header(&mut self) -> Header {
        let owed = u16::try_from(self.owed).unwrap_or(u16::MAX);
        self.owed -= u32::from(owed);
        let nvml = if self.request.flags.has(Flags::NVML) {
            Flags::NVML
        } else {
            Flags::default()
        };
        Header {
            op: self.request.op,
            seq: self.request.seq,
            sent_ns: time::now_ns(),
            context: self.untold.take(&self.session.lasting),
            flags: Flags::REPLY.with(nvml),
            credit: owed,
            ..Header::default()
        }
    }

    /// Puts a frame without bulk part behind what is to be sent.
    ///
    /// # Errors
    ///
    /// The link's end.
    pub(crate) fn put_frame(&mut self, mut header: Header, small: &[u8]) -> Result<(), LinkError> {
        if !header.set_payload(small.len(), 0) {
            header.status = INVALID_VALUE.cast_unsigned();
            header.set_payload(0, 0);
            return self.put_bytes(&header, &[]);
        }
        self.put_bytes(&header, small)
    }

    fn put_bytes(&mut self, header: &Header, small: &[u8]) -> Result<(), LinkError> {
        let len = HEADER_LEN + small.len();
        let room = self.link.tx.reserve(len)?;
        let (head, rest) = room.split_at_mut(HEADER_LEN);
        head.copy_from_slice(&header.to_bytes());
        rest[..small.len()].copy_from_slice(small);
        self.link.tx.commit(len);
        self.count_out(len);
        Ok(())
    }

    fn count_out(&self, bytes: usize) {
        self.session
            .counts
            .bytes_out
            .fetch_add(bytes as u64, std::sync::atomic::Ordering::Relaxed);
    }

    /// Gives the frame's bulk part to `take`, piece by piece, in order, as the link has it: in place
    /// where bytes lie in memory of the link, else read in one go. The first failure is kept, and
    /// the rest is read to nowhere.
    ///
    /// # Errors
    ///
    /// The link's end.
    pub(crate) fn bulk_in(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), Code>,
    ) -> Result<Result<(), Code>, LinkError> {
        let in_place = self.link.info.kind == gtrace_link::LinkKind::SharedMemory;
        let mut outcome = Ok(());
        while self.bulk_left > 0 && outcome.is_ok() {
            let len = if in_place {
                let some = self.link.rx.some(self.bulk_left)?;
                let len = some.len().min(self.bulk_left);
                outcome = take(&some[..len]);
                self.link.rx.consume(len);
                len
            } else {
                // One large copy costs the driver less than many small ones.
                let len = self.bulk_left.min(PIECE_MAX);
                self.staging.resize(len.max(self.staging.len()), 0);
                self.link.rx.read(&mut self.staging[..len])?;
                outcome = take(&self.staging[..len]);
                len
            };
            self.bulk_left -= len;
            self.moved += len;
        }
        self.skip_bulk()?;
        Ok(outcome)
    }

    /// Reads what is left of the bulk part to nowhere.
    ///
    /// # Errors
    ///
    /// The link's end.
    pub(crate) fn skip_bulk(&mut self) -> Result<(), LinkError> {
        while self.bulk_left > 0 {
            let len = self.link.rx.some(self.bulk_left)?.len().min(self.bulk_left);
            self.link.rx.consume(len);
            self.bulk_left -= len;
        }
        Ok(())
    }

    /// Answers with `len` bytes as bulk parts of at most `chunk` bytes, which `give` fills in order
    /// from the given offset: in place where the link can. The last frame is `last`, with the first
    /// failure as its status; after a failure no bytes follow.
    ///
    /// # Errors
    ///
    /// The link's end.
    pub(crate) fn bulk_out(
        &mut self,
        len: u64,
        chunk: usize,
        small: &[u8],
        mut give: impl FnMut(u64, &mut [u8]) -> Result<(), Code>,
    ) -> Result<Code, LinkError> {
        let chunk = chunk
            .clamp(4096, PIECE_MAX)
            .min(self.link.info.chunk.max(4096));
        let mut at = 0;
        loop {
            let mut header = self.reply_header();
            let left = len - at;
            let piece = usize::try_from(left).map_or(chunk, |left| left.min(chunk));
            let last = piece as u64 == left;
            let head = HEADER_LEN + if last { small.len() } else { 0 };
            let room = self.link.tx.reserve(head + piece)?;
            let (front, body) = room.split_at_mut(head);
            let outcome = match piece {
                0 => Ok(()),
                piece => give(at, &mut body[..piece]),
            };
            let sent = if outcome.is_ok() { piece } else { 0 };
            let code = outcome.err().unwrap_or_default();
            header.status = code.cast_unsigned();
            if !last && outcome.is_ok() {
                header.flags = header.flags.with(Flags::MORE);
            }
            let ends = last || code != 0;
            if ends {
                header.queue_ns = time::short(self.queue_ns);
                header.exec_ns = time::short(time::now_ns().saturating_sub(self.begun_ns));
            }
            header.set_payload(if last { small.len() } else { 0 }, sent);
            front[..HEADER_LEN].copy_from_slice(&header.to_bytes());
            if last {
                front[HEADER_LEN..].copy_from_slice(small);
            }
            self.link.tx.commit(head + sent);
            self.count_out(head + sent);
            self.moved += sent;
            at += piece as u64;
            if ends {
                self.replied = true;
                return Ok(code);
            }
            // The other side takes this piece while the next one is copied.
            self.link.tx.flush()?;
        }
    }
}
