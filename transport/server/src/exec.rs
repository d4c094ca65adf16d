//! What executes a lane's calls: the state that calls of one lane share.

use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_link::{Link, LinkError, LinkKind};
use gtrace_protocol::{
    DecodeError, ECHO_BULK_MAX, Flags, HEADER_LEN, Header, OUTPUT_MAX, Output, Stream, Writer,
    control,
};

use crate::generated::driver::Driver;
use crate::generated::nvml::Nvml;
use crate::special;
use crate::staging::{PART, Staging};
use crate::worker::handles::{CONTEXT_IS_DESTROYED, Handles, INVALID_CONTEXT, INVALID_VALUE};
use crate::worker::session::Session;
use crate::worker::sticky::PendingAsyncError;
use crate::worker::time;
use crate::worker::watermark::{EventPoll, Records};

pub(crate) use crate::worker::handles::Code;

/// How a call ends early.
#[derive(Debug)]
pub(crate) enum CallError {
    /// With this status, which is no success. The driver may have been called.
    Status(Code),
    /// Its arguments cannot be read.
    Arguments(DecodeError),
    /// The link has come to its end meanwhile.
    Link(LinkError),
}

/// What a call comes to: its status. A failure of the driver's may be on either side.
pub(crate) type Called = Result<Code, CallError>;

impl From<Code> for CallError {
    fn from(code: Code) -> Self {
        Self::Status(code)
    }
}

impl From<DecodeError> for CallError {
    fn from(error: DecodeError) -> Self {
        Self::Arguments(error)
    }
}

impl From<LinkError> for CallError {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

/// Bytes up to which a bulk part goes into one buffer with its header.
const DIRECT: usize = 16 << 10;

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
    /// Number of the lane among those of the session that take copies.
    pub(crate) number: u64,
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
    /// Since then, what the link took for frames of the answer that are not the last, ns.
    pub(crate) sending_ns: u64,
    /// The call has sent its last reply frame by itself.
    pub(crate) replied: bool,
    /// When all that its last reply frame says was done, ns.
    pub(crate) done_ns: u64,
    /// What the asynchronous calls left behind.
    pub(crate) pending: PendingAsyncError,
    /// Frames whose credit was not given back.
    pub(crate) owed: u32,
    /// The context that is current in this thread, as frames name it; `None`: not known.
    context: Option<u32>,
    records: Records,
    /// Bytes on their way between link and device.
    pub(crate) staging: Staging,
    /// Bytes of asynchronous uploads that the driver may still read.
    pub(crate) uploads: special::Uploads,
}

impl Exec {
    /// Of a lane that was let in.
    pub(crate) fn new(session: Arc<Session>, libraries: Libraries, link: Link) -> Self {
        Self {
            number: session.deferred_copies.lane(),
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
            sending_ns: 0,
            replied: false,
            done_ns: 0,
            pending: PendingAsyncError::default(),
            owed: 0,
            context: Some(0),
            records: Records::default(),
            staging: Staging::new(libraries.driver),
            uploads: special::Uploads::default(),
        }
    }

    /// Makes the frame's context current, if another is.
    ///
    /// # Errors
    ///
    /// CONTEXT_IS_DESTROYED if the client has none of this number any more: it names one that was made. And what the
    /// driver says.
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
        let gone = |code| match code {
            INVALID_CONTEXT => CONTEXT_IS_DESTROYED,
            code => code,
        };
        let real = match wanted {
            0 => std::ptr::null_mut(),
            wanted => self
                .handles
                .real(Kind::Context, Kind::Context.handle(wanted.into()))
                .map_err(gone)?,
        };
        match special::set_current(self.driver, real.cast()) {
            0 => {
                self.context = Some(wanted);
                Ok(())
            }
            code => {
                self.context = None;
                Err(gone(code))
            }
        }
    }

    /// The call has changed which context is current in this thread.
    pub(crate) fn context_changed(&mut self) {
        self.context = None;
    }

    /// The frame has recorded this event.
    pub(crate) fn recorded(&mut self, event: u64) {
        let seq = self.request.seq;
        self.with_records(|records, poll| records.add(poll, seq, event));
    }

    /// Called when idle: whether a further poll of the oldest events may be worth it.
    pub(crate) fn poll_idly(&mut self) -> bool {
        self.with_records(|records, poll| records.poll_idly(poll))
    }

    /// Up to which frame the records of events are complete.
    fn watermark(&mut self) -> u64 {
        let seq = self.request.seq;
        self.with_records(|records, poll| records.watermark(poll, seq))
    }

    /// Has `action` use the records of events, with what a poll of them needs.
    #[inline]
    fn with_records<T>(&mut self, action: impl FnOnce(&mut Records, EventPoll<'_>) -> T) -> T {
        let poll = EventPoll {
            event_lifetime: &self.session.event_lifetime,
            handles: &self.handles,
            query: self.driver.cuEventQuery,
            now: self.begun_ns,
        };
        action(&mut self.records, poll)
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
            after: self.watermark(),
            sent_ns: time::now_ns(),
            context: self.pending.take(&self.session.sticky),
            flags: Flags::REPLY.with(nvml),
            credit: owed,
            ..Header::default()
        }
    }

    /// Puts a frame without bulk part behind what is to be sent.
    pub(crate) fn put_frame(&mut self, mut header: Header, small: &[u8]) -> Result<(), LinkError> {
        if !header.set_payload(small.len(), 0) {
            header.status = INVALID_VALUE.cast_unsigned();
            header.set_payload(0, 0);
            return self.put_bytes(&header, &[]);
        }
        self.put_bytes(&header, small)
    }

    /// Answers an echo: its arguments, and `bulk` bytes of zeros, at most [`ECHO_BULK_MAX`].
    pub(crate) fn echo(&mut self, bulk: usize, small: &[u8]) -> Result<(), LinkError> {
        static ZEROS: [u8; ECHO_BULK_MAX] = [0; ECHO_BULK_MAX];
        let bulk = &ZEROS[..bulk.min(ECHO_BULK_MAX)];
        let mut reply = self.reply_header();
        reply.set_payload(small.len(), bulk.len());
        self.put_bytes(&reply, small)?;
        match bulk.is_empty() {
            true => Ok(()),
            false => self.put_bulk(bulk),
        }
    }

    pub(crate) fn put_bytes(&mut self, header: &Header, small: &[u8]) -> Result<(), LinkError> {
        let len = HEADER_LEN + small.len();
        let room = self.link.tx.reserve(len)?;
        let (head, rest) = room.split_at_mut(HEADER_LEN);
        head.copy_from_slice(&header.to_bytes());
        rest[..small.len()].copy_from_slice(small);
        self.link.tx.commit(len);
        self.count_out(len);
        Ok(())
    }

    /// Sends what kernels have printed, before the answer to a call that has synchronised.
    pub(crate) fn send_output(&mut self) -> Result<(), LinkError> {
        let Some(output) = self.session.output.get().cloned() else {
            return Ok(());
        };
        for (stream, dropped, text) in output.take() {
            // Without text it still says what was dropped.
            self.put_output(stream, dropped, text.get(..OUTPUT_MAX).unwrap_or(&text))?;
            for text in text.chunks(OUTPUT_MAX).skip(1) {
                self.put_output(stream, 0, text)?;
            }
        }
        Ok(())
    }

    /// Notifies the client, once, if kernels are loaded that may print.
    pub(crate) fn expect_output(&mut self, of: gtrace_image::Output) -> Result<(), LinkError> {
        let Some(output) = self.session.output.get() else {
            return Ok(());
        };
        if of.possible {
            output.expect();
        }
        match of.prints && output.announce() {
            true => self.put_output(Stream::Output, 0, &[]),
            false => Ok(()),
        }
    }

    fn put_output(&mut self, stream: Stream, dropped: u64, text: &[u8]) -> Result<(), LinkError> {
        let header = Header {
            op: control::OUTPUT,
            seq: self.request.seq,
            sent_ns: time::now_ns(),
            ..Header::default()
        };
        let mut payload = Writer::default();
        let output = Output {
            stream,
            dropped,
            text,
        };
        output.write(&mut payload);
        self.put_frame(header, payload.as_slice())
    }

    /// So many bytes were sent.
    pub(crate) fn count_out(&self, bytes: usize) {
        self.session
            .counts
            .bytes_out
            .fetch_add(bytes as u64, std::sync::atomic::Ordering::Relaxed);
    }

    /// Gives the frame's bulk part to `take`, piece by piece, in order, as the link has it: in place
    /// where bytes lie in memory of the link, else read in one go. The first failure is kept, and
    /// the rest is read to nowhere.
    pub(crate) fn bulk_in(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), Code>,
    ) -> Result<Result<(), Code>, LinkError> {
        let in_place = self.in_place();
        let mut outcome = Ok(());
        while self.bulk_left > 0 && outcome.is_ok() {
            let len = if in_place {
                let some = self.link.rx.some(self.bulk_left)?;
                let len = some.len().min(self.bulk_left);
                outcome = take(&some[..len]);
                self.link.rx.consume(len);
                len
            } else {
                let len = self.receive_piece()?;
                outcome = take(&self.staging.part()[..len]);
                len
            };
            self.bulk_left -= len;
            self.moved += len;
        }
        self.skip_bulk()?;
        Ok(outcome)
    }

    /// Whether bytes of the link can be reached where they lie.
    pub(crate) fn in_place(&self) -> bool {
        matches!(self.link.info.kind, LinkKind::SharedMemory | LinkKind::Rdma)
    }

    /// Reads the next piece of the bulk part to the staging memory's next part; its length. It is
    /// still to be taken off what is left.
    pub(crate) fn receive_piece(&mut self) -> Result<usize, LinkError> {
        let len = self.bulk_left.min(PART);
        self.link.rx.read(&mut self.staging.part()[..len])?;
        Ok(len)
    }

    /// Reads what is left of the bulk part to nowhere.
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
    pub(crate) fn bulk_out(
        &mut self,
        len: u64,
        chunk: usize,
        small: &[u8],
        mut give: impl FnMut(u64, &mut [u8]) -> Result<(), Code>,
    ) -> Result<Code, LinkError> {
        let chunk = self.piece_of(chunk);
        let in_place = self.in_place();
        let mut at = 0;
        loop {
            let left = len - at;
            let piece = usize::try_from(left).map_or(chunk, |left| left.min(chunk));
            let last = piece as u64 == left;
            let small = if last { small } else { &[] };
            let mut header = self.reply_header();
            let head = HEADER_LEN + small.len();
            let in_place = in_place || piece <= DIRECT;
            if in_place && !(last && at == 0) {
                // The wait for room is the time of the link; below, the room is there.
                self.sending(true, |exec| exec.link.tx.reserve(head + piece).map(drop))?;
            }
            let outcome = match (piece, in_place) {
                (0, _) => Ok(()),
                (_, true) => give(
                    at,
                    &mut self.link.tx.reserve(head + piece)?[head..][..piece],
                ),
                (_, false) => give(at, &mut self.staging.part()[..piece]),
            };
            let sent = if outcome.is_ok() { piece } else { 0 };
            let ends = self.fill_header(&mut header, outcome, last, (small.len(), sent));
            if ends {
                self.send_output_aside(in_place.then_some((head, sent)))?;
            }
            if in_place {
                // The room that was filled above, once more.
                let room = self.link.tx.reserve(head + sent)?;
                room[..HEADER_LEN].copy_from_slice(&header.to_bytes());
                room[HEADER_LEN..head].copy_from_slice(small);
                self.link.tx.commit(head + sent);
                self.count_out(head + sent);
            } else {
                self.sending(!ends, |exec| {
                    exec.put_bytes(&header, small)?;
                    exec.put_staged(sent)
                })?;
            }
            self.moved += sent;
            at += piece as u64;
            if ends {
                self.replied = true;
                return Ok(outcome.err().unwrap_or_default());
            }
            // The other side takes this piece while the next one is copied.
            self.sending(true, |exec| exec.link.tx.flush())?;
        }
    }

    /// As [`Exec::send_output`], with what was written to the link's own room and is still to be sent: where its
    /// bulk part begins, and its bytes.
    fn send_output_aside(&mut self, room: Option<(usize, usize)>) -> Result<(), LinkError> {
        let printed = self.session.output.get().is_some_and(|it| it.is_there());
        if !printed {
            return Ok(());
        }
        let kept = match room {
            Some((head, len)) => self.link.tx.reserve(head + len)?[head..][..len].to_vec(),
            None => Vec::new(),
        };
        self.send_output()?;
        if let Some((head, len)) = room {
            self.link.tx.reserve(head + len)?[head..][..len].copy_from_slice(&kept);
        }
        Ok(())
    }

    /// Bytes of a piece of an answer, if the client wants at most `chunk`.
    pub(crate) fn piece_of(&self, chunk: usize) -> usize {
        chunk.clamp(4096, PART)
    }

    /// Completes the header of a piece of an answer, with arguments and bulk part of `lengths`;
    /// whether it is the last.
    pub(crate) fn fill_header(
        &mut self,
        header: &mut Header,
        outcome: Result<(), Code>,
        last: bool,
        lengths: (usize, usize),
    ) -> bool {
        header.status = outcome.err().unwrap_or_default().cast_unsigned();
        let ends = last || outcome.is_err();
        if ends {
            header.queue_ns = time::short(self.queue_ns);
            self.done_ns = time::now_ns();
            header.exec_ns = time::short(self.executing());
            // The header was begun before its bytes were copied, which may have waited for the device.
            header.sent_ns = self.done_ns;
        } else {
            header.flags = header.flags.with(Flags::MORE);
        }
        header.set_payload(lengths.0, lengths.1);
        ends
    }

    /// What the call took until all was done, without the link's part, ns.
    pub(crate) fn executing(&self) -> u64 {
        self.done_ns
            .saturating_sub(self.begun_ns)
            .saturating_sub(self.sending_ns)
    }

    /// Does `action`, which waits for the link, if `more` of the answer follows in the link's time.
    pub(crate) fn sending<T>(
        &mut self,
        more: bool,
        action: impl FnOnce(&mut Self) -> Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        if !more {
            return action(self);
        }
        let began = time::now_ns();
        let done = action(self);
        self.sending_ns += time::now_ns().saturating_sub(began);
        done
    }

    /// Puts the bulk part of a frame behind its arguments.
    pub(crate) fn put_bulk(&mut self, bytes: &[u8]) -> Result<(), LinkError> {
        self.link.tx.bulk(bytes)?;
        self.count_out(bytes.len());
        Ok(())
    }

    /// Sends the first `len` bytes of the staging memory's next part behind what was put.
    pub(crate) fn put_staged(&mut self, len: usize) -> Result<(), LinkError> {
        if len > 0 {
            self.staging.send(&mut *self.link.tx, len)?;
            self.count_out(len);
        }
        Ok(())
    }
}
