//! A lane: the connection of one thread.
//!
//! The sending half is shared, so that the flusher, and a thread whose call must come after one of
//! this lane, can send what lies in it. The receiving half is the thread's own.

mod lanes;
mod outgoing;

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use gtrace_cuda::attributes;
use gtrace_cuda::payload::HOST_DONE;
use gtrace_cuda::types::driver::{self as cuda, CUresult, CUstreamCaptureMode};
use gtrace_link::{End, Ended, Link, LinkError, LinkKind, PinnedRegion, Rx, Tx, printable};
use gtrace_protocol::{
    After, BULK_MAX, DecodeError, FirstCall, Flags, FrameError, HEADER_LEN, Header, OpId, Reader,
    SMALL_MAX, Writer, control, op_id,
};

pub(crate) use self::lanes::Lanes;
pub(crate) use self::outgoing::Outgoing;
use crate::entry::{Answer, Call};
use crate::events::Mark;
use crate::session::Session;
use crate::times::{self, LaneTimes};
use crate::{clock, context, fork, log, output, status};

/// Frames that may lie unsent: a send over loopback costs some 4 us, whatever their number.
const FRAMES: u32 = 128;
/// Bytes that may lie unsent.
const BYTES: usize = 32 << 10;
/// A lane that sent nothing for so long sends the next frame at once.
const IDLE_NS: u64 = 50_000;
/// The same over shared memory, where sending costs no system call while the other side is awake, but
/// lines of the cache that go to and fro.
const SHARED_FRAMES: u32 = 16;
const SHARED_IDLE_NS: u64 = 5_000;

/// The bulk part of a frame.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bulk<'a> {
    bytes: &'a [u8],
    /// Where they lie, if the link may take them from there after the call has returned.
    memory: Option<PinnedRegion>,
    /// They are lent to the link.
    lent: bool,
}

// Bytes of a caller that are lent until it takes them back.
#[allow(unsafe_code)]
impl<'a> Bulk<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// Of bytes that the link may send once more from where they are, and, if they lie in `memory`, take from there after
    /// the call has returned.
    ///
    /// # Safety
    ///
    /// They stay as they are until [`Lane::take_back`] is called.
    pub(crate) unsafe fn lent(bytes: &'a [u8], memory: Option<PinnedRegion>) -> Self {
        Self {
            bytes,
            memory,
            lent: true,
        }
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    fn send(&self, tx: &mut dyn Tx) -> Result<(), LinkError> {
        match &self.memory {
            // SAFETY: the promise of `Bulk::lent`.
            _ if self.lent && tx.lends() => unsafe { tx.bulk_lent(self.bytes) },
            Some(memory) => tx.bulk_from(self.bytes, memory),
            None => tx.bulk(self.bytes),
        }
    }
}

/// A frame to send.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) op: OpId,
    pub(crate) flags: Flags,
    /// Counter of the current context's handle, or 0.
    pub(crate) context: u32,
    pub(crate) small: &'a [u8],
    pub(crate) bulk: Bulk<'a>,
    /// When the program's call began, ns.
    pub(crate) began: u64,
}

/// The connection of one thread.
pub(crate) struct Lane {
    pub(crate) session: &'static Session,
    out: Arc<Outgoing>,
    /// In the child of a fork it is left alone.
    rx: ManuallyDrop<Box<dyn Rx>>,
    /// Best size of a piece of a bulk copy, bytes.
    pub(crate) chunk: usize,
    credits: u32,
    scratch: Vec<u8>,
    /// An error of a one-way call that the program has not got; 0 for none.
    sticky: CUresult,
    /// It waits, as what is called now answers this library and not the program.
    holds_back: bool,
    /// The last frame of another lane that was hurried on.
    hurried: u64,
    /// Number of the last frame.
    sent: u64,
    /// What the session's last one-way call was before this lane's last one.
    before: u64,
    generation: u32,
    /// Frames that may lie unsent, and how long the lane may have been idle before it sends the next
    /// one at once, ns.
    most_frames: u32,
    idle_ns: u64,
    /// The stream that was found to be through, and when.
    drained: Option<Drained>,
    /// Its frames have no order with those of other lanes, but for the one that they come behind; 0 for none.
    apart: bool,
    behind: u64,
    /// Nor with pages that went past other lanes.
    apart_from_pages: bool,
    /// The last frame of pages that its frames come behind.
    joined: u64,
    /// The server's thread captures streams in another mode than a new thread would.
    captures_otherwise: bool,
    /// The server executes this call, whose frame did not travel and has the number 1.
    first: Option<FirstCall>,
    /// What is kept of the times of its frames.
    pub(crate) times: LaneTimes,
}

/// A stream that is through with all that was sent until then.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Drained {
    stream: u64,
    context: u32,
    /// Frames of this lane.
    seq: u64,
    /// The process's last one-way call, and its calls that were awaited.
    last: u64,
    awaited: u64,
}

impl Lane {
    /// Whether it has no connection at the moment.
    pub(crate) fn is_severed(&self) -> bool {
        self.out.is_severed()
    }

    pub(crate) fn new(session: &'static Session, link: Link, number: u16, credits: u32) -> Self {
        let info = link.info.clone();
        let out = Arc::new(Outgoing::new(session, number, link.tx, link.end, info));
        session.lanes.add(Arc::clone(&out));
        let (most_frames, idle_ns) = match link.info.kind {
            LinkKind::SharedMemory => (SHARED_FRAMES, SHARED_IDLE_NS),
            _ => (FRAMES, IDLE_NS),
        };
        Self {
            session,
            out,
            rx: ManuallyDrop::new(link.rx),
            chunk: link.info.chunk.max(4096),
            credits,
            scratch: Vec::with_capacity(4096),
            sticky: 0,
            holds_back: false,
            hurried: 0,
            sent: 0,
            before: 0,
            generation: fork::generation(),
            most_frames,
            idle_ns,
            drained: None,
            apart: false,
            behind: 0,
            apart_from_pages: false,
            joined: 0,
            captures_otherwise: false,
            first: None,
            times: LaneTimes::default(),
        }
    }

    /// The server has been given its first call with HELLO.
    pub(crate) fn begins_with(&mut self, call: FirstCall) {
        self.out.lock().seq = 1;
        self.credits = self.credits.saturating_sub(1);
        self.sent = 1;
        self.first = Some(call);
    }

    /// The number of the frame of this call, if it is the first one, which is under way already.
    pub(crate) fn take_first(&mut self, op: OpId, arguments: &[u8]) -> Option<u64> {
        let first = self.first.take()?;
        (first.op == op && first.arguments == arguments).then_some(1)
    }

    /// The server's thread was given this mode of capture.
    pub(crate) fn note_capture_mode(&mut self, mode: CUstreamCaptureMode) {
        self.captures_otherwise = mode != cuda::CU_STREAM_CAPTURE_MODE_GLOBAL;
    }

    /// It is a new thread's, which knows nothing of the one before.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn begin_anew(&mut self) -> Answer {
        self.holds_back = false;
        self.times.traced = times::Kept::default();
        if !std::mem::take(&mut self.captures_otherwise) {
            return Ok(());
        }
        const OP: OpId = op_id("cuThreadExchangeStreamCaptureMode");
        let mode = cuda::CU_STREAM_CAPTURE_MODE_GLOBAL.to_le_bytes();
        let mut call = Call::new(OP, Flags::default(), clock::now()).send(self, &mode, &[])?;
        call.results(self, |_| Ok(()))?;
        call.end();
        Ok(())
    }

    /// Whether frames from here on have no order with those of other lanes: they wait for none of them, and none
    /// waits for them.
    pub(crate) fn set_apart(&mut self, apart: bool) {
        self.apart = apart;
        self.behind = 0;
        self.apart_from_pages = apart;
    }

    /// As [`Lane::set_apart`], but for this frame of another lane: frames from here on come behind it.
    pub(crate) fn set_apart_behind(&mut self, frame: u64) {
        self.apart = true;
        self.behind = frame;
        self.apart_from_pages = true;
    }

    /// As [`Lane::set_apart_behind`], but frames from here on come behind pages that went past other lanes too.
    pub(crate) fn set_past_calls_since(&mut self, frame: u64) {
        self.set_apart_behind(frame);
        self.apart_from_pages = false;
    }

    /// The last frame that was sent, as others name it.
    pub(crate) fn last(&self) -> u64 {
        After::new(self.out.number, self.sent).0
    }

    fn drained(&self, stream: u64) -> Drained {
        Drained {
            stream,
            context: context::of_frame(),
            seq: self.out.lock().seq,
            last: self.session.last.load(Ordering::Acquire),
            awaited: self.session.awaited.load(Ordering::Acquire),
        }
    }

    /// What will be known once the next frame is answered, if its answer comes only when all work of the
    /// stream before it is done. Work that other threads send meanwhile shows.
    pub(crate) fn drained_by_next(&self, stream: u64) -> Drained {
        let now = self.drained(stream);
        Drained {
            seq: now.seq + 1,
            awaited: now.awaited + 1,
            ..now
        }
    }

    /// That call has been answered.
    pub(crate) fn note_drained(&mut self, drained: Drained) {
        self.drained = Some(drained);
    }

    /// Whether a stream has had nothing to do since such a call, as nothing was sent since: by this
    /// thread at all, by others one way.
    pub(crate) fn is_drained(&self, stream: u64) -> bool {
        self.drained == Some(self.drained(stream)) && !self.session.settings.strict
    }

    /// Its number in the session.
    pub(crate) fn number(&self) -> u16 {
        self.out.number
    }

    /// What the session's last one-way call was before this lane's last one.
    pub(crate) fn before(&self) -> u64 {
        self.before
    }

    /// Whether it was opened before a fork.
    pub(crate) fn is_foreign(&self) -> bool {
        self.generation != fork::generation()
    }

    /// The last frame that was sent.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        let deferred_copies = self.session.state.deferred_copies.last();
        Mark::new(Arc::clone(&self.out), self.sent, deferred_copies)
    }

    /// An empty writer, to be given back with [`Lane::give_back`].
    pub(crate) fn writer(&mut self) -> Writer {
        Writer::over(std::mem::take(&mut self.scratch))
    }

    pub(crate) fn give_back(&mut self, writer: Writer) {
        self.scratch = writer.into_inner();
    }

    /// Puts a frame behind the others. It is sent at once if somebody waits for its answer.
    ///
    /// # Errors
    ///
    /// [`status::LOST`]; INVALID_VALUE for more arguments than a frame can have.
    pub(crate) fn send(&mut self, frame: &Frame<'_>) -> Answer<u64> {
        if frame.small.len() > SMALL_MAX || frame.bulk.bytes.len() > BULK_MAX {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        self.try_send(frame).map_err(|error| self.lost(&error))
    }

    /// What was lent of `bytes` may change from now on.
    pub(crate) fn take_back(&mut self, bytes: &[u8]) {
        self.out.lock().tx.take_back(Some(bytes));
    }

    fn try_send(&mut self, frame: &Frame<'_>) -> Result<u64, LinkError> {
        let pages = self.session.pages.load(Ordering::Acquire);
        if pages != self.joined && !self.apart_from_pages {
            self.join(pages)?;
        }
        self.put(frame)
    }

    /// Has what follows come behind the last frame of pages that went past other lanes. A frame names one other, which is
    /// that of the process's calls.
    #[cold]
    fn join(&mut self, pages: u64) -> Result<(), LinkError> {
        /// No function of the program has this number: the frame does nothing but wait.
        const NONE: u64 = 0;
        self.joined = pages;
        if After(pages).lane() == self.out.number {
            return Ok(());
        }
        let own = (self.apart, self.behind);
        self.set_apart_behind(pages);
        let sent = self.put(&Frame {
            op: HOST_DONE,
            flags: Flags::ONE_WAY,
            context: 0,
            small: &NONE.to_le_bytes(),
            bulk: Bulk::default(),
            began: clock::now(),
        });
        (self.apart, self.behind) = own;
        self.apart_from_pages = false;
        sent.map(drop)
    }

    fn put(&mut self, frame: &Frame<'_>) -> Result<u64, LinkError> {
        while self.credits == 0 {
            self.out.lock().flush()?;
            self.control()?;
        }
        self.credits -= 1;
        let one_way = frame.flags.has(Flags::ONE_WAY);
        let mut sending = self.out.lock();
        sending.seq += 1;
        let seq = sending.seq;
        let mine = After::new(self.out.number, seq).0;
        if !one_way {
            self.session.awaited.fetch_add(1, Ordering::AcqRel);
        }
        let last = match (self.apart, one_way) {
            (true, _) => self.behind,
            (_, true) => self.session.last.swap(mine, Ordering::AcqRel),
            (_, false) => self.session.last.load(Ordering::Acquire),
        };
        if one_way {
            self.before = last;
        }
        let after = match After(last).lane() == self.out.number {
            true => 0,
            false => last,
        };
        // Others are none of the program's calls.
        let flags = match one_way && !self.apart {
            true => {
                times::sent(&mut self.times, seq);
                times::asked(frame.flags)
            }
            false => frame.flags,
        };
        let mut header = Header {
            op: frame.op,
            seq,
            after,
            sent_ns: frame.began,
            context: frame.context,
            flags,
            ..Header::default()
        };
        times::ask_for_work(&mut header, &mut self.times);
        // Both were found small enough.
        header.set_payload(frame.small.len(), frame.bulk.bytes.len());
        let len = HEADER_LEN + frame.small.len();
        let room = sending.tx.reserve(len)?;
        room[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        room[HEADER_LEN..len].copy_from_slice(frame.small);
        sending.tx.commit(len);
        sending.frames += 1;
        let bulk = !frame.bulk.bytes.is_empty();
        if bulk {
            if let Some(memory) = frame.bulk.memory {
                self.out.memories().insert(memory);
            }
            frame.bulk.send(&mut *sending.tx)?;
        }
        let now = !one_way
            || bulk
            || after != 0
            || sending.frames >= self.most_frames
            || sending.tx.pending() >= BYTES
            || frame.began.saturating_sub(sending.flushed_ns) > self.idle_ns
            || self.out.hurry.load(Ordering::Relaxed);
        if now {
            self.out.hurry.store(false, Ordering::Relaxed);
            sending.flush()?;
        }
        if one_way {
            let payload = frame.small.len() + frame.bulk.bytes.len();
            if sending.left.count(frame.op, payload) || now {
                let ns = clock::now().saturating_sub(frame.began);
                sending.left.time(ns, now);
            }
        }
        drop(sending);
        self.sent = seq;
        if !now {
            self.session.flusher.arm();
        }
        if after != 0 && after != self.hurried {
            self.hurried = after;
            self.session.lanes.hurry(After(after).lane());
        }
        Ok(seq)
    }

    /// Takes in one frame that is no answer.
    fn control(&mut self) -> Result<(), LinkError> {
        let header = Header::parse(self.rx.peek(HEADER_LEN, None)?)?;
        self.take_control(&header)
    }

    fn take_control(&mut self, header: &Header) -> Result<(), LinkError> {
        let len = HEADER_LEN + header.small as usize;
        let payload = &self.rx.peek(len, None)?[HEADER_LEN..len];
        if header.op == control::OUTPUT {
            output::show(self.session, payload);
        } else if header.op == control::TIMES {
            times::reported(payload, &mut self.times);
        } else if header.op == control::WORK {
            times::reported_work(payload, &mut self.times);
        }
        let reason = match header.op {
            control::GOODBYE => printable(&String::from_utf8_lossy(payload)),
            _ => String::new(),
        };
        self.rx.consume(len);
        self.skip(header.bulk())?;
        self.credits = self.credits.saturating_add(header.credit.into());
        self.out.received(header);
        match header.op {
            control::GOODBYE => Err(Ended::new(self.session.peer(), End::Goodbye(reason)).into()),
            control::CREDIT => {
                self.note_sticky(header.context);
                Ok(())
            }
            // An answer that is not awaited any more, or a control frame of a later version.
            _ => Ok(()),
        }
    }

    fn skip(&mut self, mut len: usize) -> Result<(), LinkError> {
        while len > 0 {
            let some = self.rx.some(len)?.len().min(len);
            self.rx.consume(some);
            len -= some;
        }
        Ok(())
    }

    /// Waits for the header of the answer to frame `seq`. What follows it is still to be read.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn answer(&mut self, seq: u64) -> Answer<Header> {
        let received = self.try_answer(seq);
        received.map_err(|error| self.lost(&error))
    }

    fn try_answer(&mut self, seq: u64) -> Result<Header, LinkError> {
        loop {
            let header = Header::parse(self.rx.peek(HEADER_LEN, None)?)?;
            if header.is_control() || !header.flags.has(Flags::REPLY) || header.seq < seq {
                self.take_control(&header)?;
                continue;
            }
            if header.seq != seq {
                return Err(LinkError::Frame(FrameError::Sequence {
                    found: header.seq,
                    wanted: seq,
                }));
            }
            self.credits = self.credits.saturating_add(header.credit.into());
            self.out.received(&header);
            return Ok(header);
        }
    }

    /// Reads the arguments of an answer, whose header is then read too.
    ///
    /// # Errors
    ///
    /// [`status::LOST`]; UNKNOWN if `read` cannot make sense of them.
    pub(crate) fn arguments<T>(
        &mut self,
        header: &Header,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Answer<T> {
        let len = HEADER_LEN + header.small as usize;
        let got = match self.rx.peek(len, None) {
            Ok(bytes) => read(&mut Reader::new(&bytes[HEADER_LEN..len])),
            Err(error) => return Err(self.lost(&error)),
        };
        self.rx.consume(len);
        got.map_err(|error| {
            log::once(
                &format!("answer {}", header.op),
                &format!(
                    "the server's answer to operation {:#x} cannot be read: {error}",
                    header.op
                ),
            );
            cuda::CUDA_ERROR_UNKNOWN
        })
    }

    /// Reads the bulk part of an answer whose arguments were read.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn bulk(&mut self, into: &mut [u8]) -> Answer {
        let read = self.rx.read(into);
        read.map_err(|error| self.lost(&error))
    }

    /// Reads the bulk part of an answer to nowhere.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn drop_bulk(&mut self, len: usize) -> Answer {
        self.skip(len).map_err(|error| self.lost(&error))
    }

    /// The result of a call of `op` for the program: the call's own failure, or else an earlier one-way call's.
    pub(crate) fn outcome(&mut self, op: OpId, header: &Header) -> CUresult {
        self.note_sticky(header.context);
        match header.status {
            cuda::CUDA_SUCCESS if self.has_sticky() && attributes(op).creates => cuda::CUDA_SUCCESS,
            cuda::CUDA_SUCCESS => self.take_sticky(),
            code => {
                self.session.state.captures.failed(code);
                // Once a capture was reported as invalidated, its reason is not reported later.
                let ended = code == cuda::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                    && is_of_captures(self.sticky);
                if !self.holds_back && (self.sticky == code || ended) {
                    self.sticky = 0;
                }
                code
            }
        }
    }

    /// Keeps the error of an earlier one-way call until it can be reported.
    pub(crate) fn note_sticky(&mut self, code: CUresult) {
        if code == 0 {
            return;
        }
        self.session.state.captures.failed(code);
        if gtrace_cuda::status::is_sticky(code) {
            self.session.set_broken(code);
        } else {
            self.sticky = code;
        }
    }

    fn has_sticky(&self) -> bool {
        self.sticky != 0 || self.session.broken() != 0
    }

    /// Whether errors of earlier calls wait from here on. Whether they did before.
    pub(crate) fn hold_back(&mut self, holds: bool) -> bool {
        std::mem::replace(&mut self.holds_back, holds)
    }

    /// The error of an earlier one-way call that must be reported to the program now, or 0.
    pub(crate) fn take_sticky(&mut self) -> CUresult {
        match self.session.broken() {
            _ if self.holds_back => 0,
            0 => std::mem::take(&mut self.sticky),
            code => code,
        }
    }

    /// Sends what lies here.
    pub(crate) fn flush(&self) {
        let mut sending = self.out.lock();
        if sending.frames > 0 {
            let flushed = sending.flush();
            drop(sending);
            self.out.lost_if(flushed);
        }
    }

    /// Waits until everything that the process has sent is executed.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn confirm(&mut self) -> Answer {
        let confirmed = self.try_confirm();
        confirmed.map_err(|error| self.lost(&error))
    }

    fn try_confirm(&mut self) -> Result<(), LinkError> {
        let seq = {
            let mut sending = self.out.lock();
            sending.seq += 1;
            let last = self.session.last.load(Ordering::Acquire);
            let header = Header {
                length: HEADER_LEN as u32,
                op: control::ECHO,
                seq: sending.seq,
                after: match After(last).lane() == self.out.number {
                    true => 0,
                    false => last,
                },
                sent_ns: clock::now(),
                ..Header::default()
            };
            let room = sending.tx.reserve(HEADER_LEN)?;
            room[..HEADER_LEN].copy_from_slice(&header.to_bytes());
            sending.tx.commit(HEADER_LEN);
            sending.flush()?;
            sending.seq
        };
        self.sent = seq;
        loop {
            let header = Header::parse(self.rx.peek(HEADER_LEN, None)?)?;
            self.take_control(&header)?;
            if header.op == control::ECHO && header.seq == seq {
                return Ok(());
            }
        }
    }

    fn lost(&mut self, error: &LinkError) -> CUresult {
        let said = match error {
            LinkError::Closed(_) => self.goodbye(),
            _ => None,
        };
        self.session.lose(said.as_ref().unwrap_or(error));
        status::LOST
    }

    /// Why the server has closed the lane, if it said so.
    fn goodbye(&mut self) -> Option<LinkError> {
        // Frames are in order, so that what lies before it is soon read.
        while let Ok(true) = self.rx.ready(HEADER_LEN) {
            match self.control() {
                Ok(()) => {}
                Err(
                    error @ LinkError::Closed(Ended {
                        how: End::Goodbye(_),
                        ..
                    }),
                ) => {
                    return Some(error);
                }
                Err(_) => return None,
            }
        }
        None
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if self.is_foreign() {
            // The parent's: not one byte may be sent, not even a goodbye.
            return;
        }
        let mut sending = self.out.lock();
        sending.open = false;
        // Freeing memory releases it in open lanes only, so this lane releases all now.
        let _ = sending.tx.release(None);
        sending.say(control::GOODBYE);
        drop(sending);
        self.session.lanes.remove(self.out.number);
        drop_rx(&mut self.rx);
    }
}

/// Whether an error is one that makes a capture invalid.
const fn is_of_captures(code: CUresult) -> bool {
    matches!(
        code,
        cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED..=cuda::CUDA_ERROR_CAPTURED_EVENT
    )
}

/// Drops the receiving half, once, at the lane's end.
#[allow(unsafe_code)]
fn drop_rx(rx: &mut ManuallyDrop<Box<dyn Rx>>) {
    // SAFETY: called by the lane's `drop` alone, after which nobody has it.
    unsafe { ManuallyDrop::drop(rx) };
}
