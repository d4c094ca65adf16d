//! What every exported function goes through.
//!
//! No panic crosses into C: it becomes CUDA_ERROR_UNKNOWN, and its reason is reported.

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use gtrace_cuda::types::driver::{self as cuda, CUresult, CUstream};
use gtrace_cuda::types::nvml::{NVML_ERROR_INSUFFICIENT_SIZE, nvmlReturn_t};
use gtrace_cuda::{Kind, Operation, STREAM_PER_THREAD};
use gtrace_protocol::{DecodeError, Flags, Header, OpId, Reader, Writer, op_id};

use crate::lane::{Bulk, Frame, Lane};
use crate::session::{self, Session, with_lane};
use crate::{
    clock, context, deferred_copies, device_idle, log, managed, nvml, stats, status, times,
};

/// By kind, so that the numbers of a kind are dense. A kind is a byte.
static COUNTERS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// A new handle, which no other of the process has.
#[inline]
pub(crate) fn mint(kind: Kind) -> u64 {
    if let (Kind::Stream, Some(session)) = (kind, session::current()) {
        session.device_idle.stream_made();
    }
    let counter = &COUNTERS[kind as usize % COUNTERS.len()];
    kind.handle(counter.fetch_add(1, Ordering::Relaxed) + 1)
}

/// The stream that the variants `_ptsz` and `_ptds` of a function mean by null.
#[inline]
pub(crate) fn per_thread(stream: CUstream) -> CUstream {
    match stream.is_null() {
        true => std::ptr::without_provenance_mut(STREAM_PER_THREAD as usize),
        false => stream,
    }
}

/// What a function of the driver API answers, or the code of its failure.
pub(crate) type Answer<T = ()> = Result<T, CUresult>;

/// An [`Answer`], the code by itself, or nothing where there is no failure.
pub(crate) trait Outcome {
    /// The code that the program gets.
    fn code(self) -> CUresult;
}

impl Outcome for Answer {
    #[inline]
    fn code(self) -> CUresult {
        self.err().unwrap_or(cuda::CUDA_SUCCESS)
    }
}

impl Outcome for CUresult {
    #[inline]
    fn code(self) -> CUresult {
        self
    }
}

impl Outcome for () {
    #[inline]
    fn code(self) -> CUresult {
        cuda::CUDA_SUCCESS
    }
}

/// Appends a call's arguments to its request. Not a type parameter of what sends it: each function of the driver would have a
/// copy of all that by itself.
type Write<'a> = &'a mut dyn FnMut(&mut Writer) -> Answer;

/// Takes a call's results from its answer.
type Read<'a> = &'a mut dyn FnMut(&mut Reader<'_>) -> Result<(), DecodeError>;

/// Does `action` so that nothing but a result comes out of it.
pub(crate) fn guard(action: &mut dyn FnMut() -> CUresult) -> CUresult {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|_| panicked())
}

/// [`guard`] for functions of NVML.
pub(crate) fn guard_nvml(action: &mut dyn FnMut() -> nvmlReturn_t) -> nvmlReturn_t {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|_| status::to_nvml(panicked()))
}

/// [`guard`] for a function that answers with a text.
pub(crate) fn guard_text(action: &mut dyn FnMut() -> *const c_char) -> *const c_char {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or(c"Unknown Error".as_ptr())
}

/// What a function that is exported only so that programs can be linked with it answers.
#[cold]
pub(crate) fn absent(name: &'static str, why: &'static str) -> CUresult {
    guard(&mut || {
        log::once(
            name,
            &format!("{name} is not supported ({why}); it was answered with NOT_SUPPORTED"),
        );
        cuda::CUDA_ERROR_NOT_SUPPORTED
    })
}

#[cold]
fn panicked() -> CUresult {
    log::once(
        "panic",
        "a call has failed from within; please report this with the messages above",
    );
    cuda::CUDA_ERROR_UNKNOWN
}

/// The code of what is written with `?`. Every exported function goes through [`guard`] already.
#[inline]
pub(crate) fn done(action: impl FnOnce() -> Answer) -> CUresult {
    action().code()
}

/// Does `action`, whose calls answer this library and not the program: an earlier call's error waits for a call of the
/// program, and is not taken for one of these. They are not timed as what the program's call gives a stream to do.
pub(crate) fn holding_back<T>(session: &'static Session, action: impl FnOnce() -> T) -> T {
    struct Back(&'static Session, Answer<bool>);
    impl Drop for Back {
        fn drop(&mut self) {
            if let Ok(before) = self.1 {
                let _ = hold(self.0, before);
            }
        }
    }
    fn hold(session: &'static Session, holds: bool) -> Answer<bool> {
        with_lane(session, |lane| Ok(lane.hold_back(holds)))
    }
    let _aside = times::Aside::new();
    let _back = Back(session, hold(session, true));
    action()
}

/// Has the server end something by `call`. The failure of an earlier call, to be answered once what the client knows of it is
/// forgotten.
///
/// # Errors
///
/// The call's own: nothing has ended.
pub(crate) fn ending(session: &'static Session, call: impl FnOnce() -> CUresult) -> Answer<Answer> {
    check(holding_back(session, call))?;
    Ok(with_lane(session, |lane| check(lane.take_sticky())))
}

/// A CUresult as a result.
#[inline]
pub(crate) fn check(code: CUresult) -> Answer {
    match code {
        cuda::CUDA_SUCCESS => Ok(()),
        code => Err(code),
    }
}

/// A call that is answered.
pub(crate) fn waiting(op: OpId, write: Write<'_>, read: Read<'_>) -> CUresult {
    done(|| exchange_with(session::cuda()?, op, Flags::default(), write, read))
}

/// A call that is not awaited: its error comes with a later call.
pub(crate) fn one_way(op: Operation, write: Write<'_>) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        let mut _giving = managed::Giving::default();
        if op.attributes.uses_memory {
            let in_use = managed::in_use();
            if managed::may_map() || (in_use && session.state.captures.any()) {
                return one_way_by_arguments(session, op, write);
            }
            if in_use {
                _giving = managed::before_any(session)?;
            }
        }
        one_way_in(session, op, write)
    })
}

/// As [`one_way`], where the arguments may lead to page-locked memory that the server does not have yet, or name a stream
/// that is captured.
#[cold]
fn one_way_by_arguments(session: &'static Session, op: Operation, write: Write<'_>) -> Answer {
    let mut arguments = Writer::over(Vec::new());
    write(&mut arguments)?;
    let arguments = arguments.into_inner();
    if managed::may_map() {
        managed::reach_bytes(session, &arguments)?;
        // Those of a batch of memory operations lie behind a count of four bytes.
        managed::reach_bytes(session, arguments.get(4..).unwrap_or_default())?;
    }
    let mut _giving = managed::Giving::default();
    if managed::in_use() {
        _giving = managed::before_call(session, op, &arguments)?;
    }
    one_way_in(session, op, &mut |w| {
        w.raw(&arguments);
        Ok(())
    })
}

fn one_way_in(session: &'static Session, op: Operation, write: Write<'_>) -> Answer {
    if session.settings.strict {
        return exchange_with(session, op.id, Flags::STRICT, write, &mut |_| Ok(()));
    }
    with_lane(session, |lane| {
        let began = clock::now();
        let earlier = check(lane.take_sticky());
        if !op.attributes.ends {
            earlier?;
        }
        let device_idle = op.attributes.idle && device_idle::is(session);
        let seq = written(lane, write, |lane, small| {
            send_one_way_with(lane, op.id, Flags::ONE_WAY, small, Bulk::default(), began)
        })?;
        if device_idle {
            device_idle::still(lane, seq);
        }
        earlier
    })
}

/// A call of NVML, which is always answered. What `write` fails with is NVML's.
pub(crate) fn nvml(op: OpId, write: Write<'_>, read: Read<'_>) -> nvmlReturn_t {
    let mut answered = None;
    let outcome = done(|| {
        let session = nvml::session()?;
        with_lane(session, |lane| {
            let began = clock::now();
            let mut refused = None;
            let header = written(
                lane,
                |w| {
                    write(w).map_err(|code| {
                        refused = Some(code);
                        cuda::CUDA_ERROR_INVALID_VALUE
                    })
                },
                |lane, small| Call::new(op, Flags::NVML, began).send(lane, small, &[]),
            );
            if refused.is_some() {
                answered = refused;
            }
            let mut call = header?;
            let result = call.results(lane, read);
            lane.note_sticky(call.header.context);
            answered = Some(call.header.status);
            call.end();
            result
        })
    });
    match (outcome, answered) {
        (cuda::CUDA_SUCCESS, Some(code)) => code,
        (_, Some(code)) if code != 0 => code,
        (code, _) => status::to_nvml(code),
    }
}

/// Has `write` fill the lane's writer, and does `then` with what it has written.
#[inline]
pub(crate) fn written<W: Outcome, T>(
    lane: &mut Lane,
    write: impl FnOnce(&mut Writer) -> W,
    then: impl FnOnce(&mut Lane, &[u8]) -> Answer<T>,
) -> Answer<T> {
    let mut writer = lane.writer();
    let result = match check(write(&mut writer).code()) {
        Ok(()) => then(lane, writer.as_slice()),
        Err(code) => Err(code),
    };
    lane.give_back(writer);
    result
}

/// Sends a frame and does not wait for it.
///
/// # Errors
///
/// [`status::LOST`].
#[inline]
pub(crate) fn send_one_way(
    lane: &mut Lane,
    op: OpId,
    small: &[u8],
    bulk: &[u8],
    began: u64,
) -> Answer {
    let bulk = Bulk::of(bulk);
    send_one_way_with(lane, op, Flags::ONE_WAY, small, bulk, began).map(drop)
}

/// As [`send_one_way`], with these flags, of which [`Flags::ONE_WAY`] is one. The frame's number in its lane.
///
/// # Errors
///
/// [`status::LOST`].
pub(crate) fn send_one_way_with(
    lane: &mut Lane,
    op: OpId,
    flags: Flags,
    small: &[u8],
    bulk: Bulk<'_>,
    began: u64,
) -> Answer<u64> {
    lane.send(&Frame {
        op,
        flags,
        context: context::of_frame(),
        small,
        bulk,
        began,
    })
}

/// A call that is answered, in the current context.
///
/// # Errors
///
/// What the call answers, or an earlier one-way call's failure; [`status::LOST`].
pub(crate) fn exchange<W: Outcome>(
    session: &'static Session,
    op: OpId,
    flags: Flags,
    mut write: impl FnMut(&mut Writer) -> W,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<(), DecodeError>,
) -> Answer {
    exchange_with(
        session,
        op,
        flags,
        &mut |w| check(write(w).code()),
        &mut read,
    )
}

fn exchange_with(
    session: &'static Session,
    op: OpId,
    flags: Flags,
    write: Write<'_>,
    read: Read<'_>,
) -> Answer {
    const SYNCHRONIZE: OpId = op_id("cuCtxSynchronize");
    const STREAM: OpId = op_id("cuStreamSynchronize");
    let given = managed::given();
    let (mut all, mut waited) = (false, false);
    // In strict mode also calls are answered that wait for nothing.
    let waits = !flags.has(Flags::STRICT);
    // What other threads are taking of copies to page-locked memory.
    let mut in_flight_on_other_lanes = Vec::new();
    let outcome = with_lane(session, |lane| {
        let began = clock::now();
        let until = device_idle::until(session);
        let call = written(lane, write, |lane, small| {
            if op == STREAM && stream_is_drained(lane, small) {
                return Ok(None);
            }
            let mut call = Call::new(op, flags, began);
            call.post(lane, small, &[])?;
            Ok(Some(call))
        })?;
        let Some(mut call) = call else {
            stats::local!("cuStreamSynchronize");
            waited = true;
            return check(lane.take_sticky());
        };
        // Behind the call, so that it finds all that the call has waited for.
        let taking = match waits && session.state.deferred_copies.any() {
            true => Some(deferred_copies::ask(lane, 0, true)?),
            false => None,
        };
        call.wait(lane)?;
        let result = call.results(lane, read);
        // Also where an earlier call's failure is what it answers.
        waited = call.header.status == cuda::CUDA_SUCCESS;
        let outcome = call.outcome(lane);
        call.end();
        if let Some(taking) = taking {
            in_flight_on_other_lanes = deferred_copies::receive(lane, taking)?;
        }
        match outcome {
            cuda::CUDA_SUCCESS if op == SYNCHRONIZE => {
                all = device_idle::synchronised(session, until);
                result
            }
            cuda::CUDA_SUCCESS => result,
            code => Err(code),
        }
    });
    if !in_flight_on_other_lanes.is_empty() {
        deferred_copies::finish(session, &in_flight_on_other_lanes)?;
    }
    if waited && waits {
        managed::after_call(op, given, all);
    }
    outcome
}

/// What `read` takes of the answer to a call in the current context.
///
/// # Errors
///
/// Those of [`exchange`].
pub(crate) fn answer_to<W: Outcome, T>(
    session: &'static Session,
    op: OpId,
    write: impl FnMut(&mut Writer) -> W,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Answer<T> {
    let mut answer = None;
    exchange(session, op, Flags::default(), write, |r| {
        answer = Some(read(r)?);
        Ok(())
    })?;
    answer.ok_or(cuda::CUDA_ERROR_UNKNOWN)
}

/// Whether the stream whose handle these arguments are is known to be through: a program that copies to
/// the host asks for that after each copy.
fn stream_is_drained(lane: &Lane, arguments: &[u8]) -> bool {
    let stream = arguments
        .first_chunk()
        .map(|bytes| u64::from_le_bytes(*bytes));
    stream.is_some_and(|stream| lane.is_drained(stream))
        && !lane.session.state.host_functions.are_outstanding()
}

/// A call under way, for the functions that are written by hand.
pub(crate) struct Call {
    op: OpId,
    flags: Flags,
    began: u64,
    sent: u64,
    seen: u64,
    bytes_out: usize,
    bytes_in: usize,
    seq: u64,
    /// Sent behind another call that is still to be answered: it costs no round trip of its own.
    behind: bool,
    /// Header of the answer.
    pub(crate) header: Header,
}

impl Call {
    /// Of the program's call that began at `began`, ns.
    pub(crate) fn new(op: OpId, flags: Flags, began: u64) -> Self {
        Self {
            op,
            flags: flags.with(Flags::WANTS_TIMES),
            began,
            sent: 0,
            seen: 0,
            bytes_out: 0,
            bytes_in: 0,
            seq: 0,
            behind: false,
            header: Header::default(),
        }
    }

    /// It is sent behind another call that is still to be answered.
    pub(crate) fn behind(mut self, behind: bool) -> Self {
        self.behind = behind;
        self
    }

    /// Sends the request and waits for the header of the answer.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn send(mut self, lane: &mut Lane, small: &[u8], bulk: &[u8]) -> Answer<Self> {
        self.post(lane, small, bulk)?;
        self.wait(lane)?;
        Ok(self)
    }

    /// Sends the request.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn post(&mut self, lane: &mut Lane, small: &[u8], bulk: &[u8]) -> Answer {
        let nvml = self.flags.has(Flags::NVML);
        if let (true, Some(seq)) = (bulk.is_empty(), lane.take_first(self.op, small)) {
            (self.seq, self.behind, self.sent) = (seq, true, clock::now());
            self.bytes_out = small.len();
            return Ok(());
        }
        self.seq = lane.send(&Frame {
            op: self.op,
            flags: self.flags,
            context: if nvml { 0 } else { context::of_frame() },
            small,
            bulk: Bulk::of(bulk),
            began: self.began,
        })?;
        self.bytes_out = small.len() + bulk.len();
        self.sent = clock::now();
        Ok(())
    }

    /// Waits for the header of the answer to what was posted, or of its next frame.
    ///
    /// # Errors
    ///
    /// [`status::LOST`].
    pub(crate) fn wait(&mut self, lane: &mut Lane) -> Answer {
        self.header = lane.answer(self.seq)?;
        let first = self.seen == 0;
        // The last frame's, which has the server's times.
        self.seen = clock::now();
        if first && !self.behind {
            let when = (self.sent, self.seen);
            let features = lane.session.features;
            times::exchanged(when, &self.header, features, &mut lane.times);
        }
        Ok(())
    }

    /// Reads the arguments of the answer if it is a success; drops them and the bulk part if not.
    ///
    /// # Errors
    ///
    /// [`status::LOST`], and UNKNOWN if they cannot be read.
    pub(crate) fn results(
        &mut self,
        lane: &mut Lane,
        read: impl FnOnce(&mut Reader<'_>) -> Result<(), DecodeError>,
    ) -> Answer {
        self.bytes_in += self.header.payload();
        let results = match self.flags.has(Flags::NVML) {
            // The size that would have sufficed.
            true => matches!(self.header.status, 0 | NVML_ERROR_INSUFFICIENT_SIZE),
            false => self.header.status == 0,
        };
        let result = lane.arguments(&self.header, |r| match results {
            true => read(r),
            false => Ok(()),
        });
        lane.drop_bulk(self.header.bulk())?;
        result
    }

    /// Reads the arguments of the answer whatever its status, and drops the bulk part.
    pub(crate) fn always<T>(
        &mut self,
        lane: &mut Lane,
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, DecodeError>,
    ) -> Answer<T> {
        self.bytes_in += self.header.payload();
        let result = lane.arguments(&self.header, read);
        lane.drop_bulk(self.header.bulk())?;
        result
    }

    /// The result for the program.
    pub(crate) fn outcome(&self, lane: &mut Lane) -> CUresult {
        lane.outcome(self.op, &self.header)
    }

    /// Counts `len` bytes that came otherwise.
    pub(crate) fn received(&mut self, len: usize) {
        self.bytes_in += len;
    }

    /// Counts the call.
    pub(crate) fn end(self) {
        stats::answered(&stats::Answered {
            op: self.op,
            behind: self.behind,
            began: self.began,
            sent: self.sent,
            seen: self.seen,
            queue: self.header.queue_ns.into(),
            exec: self.header.exec_ns.into(),
            bytes_out: self.bytes_out,
            bytes_in: self.bytes_in,
        });
    }
}
