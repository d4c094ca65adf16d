//! A lane: a connection, the client's thread behind it, and the thread here that executes its
//! frames in order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use gtrace_cuda::{Attributes, attributes};
use gtrace_link::{Link, LinkError, Tx};
use gtrace_protocol::{
    After, CallTimes, DecodeError, FirstCall, Flags, FrameError, HEADER_LEN, Header, OpId, Reader,
    Times, Works, Writer, control,
};
use tracing::debug;

use super::handles::{Code, INVALID_VALUE, NVML_INVALID_ARGUMENT};
use super::memory::{Change, GET_INFO};
use super::order::{Progress, Waited};
use super::session::Session;
use super::tally::{Counted, Tally};
use super::time;
use super::work::Work;
use crate::exec::{CallError, Called, Exec, Libraries};
use crate::{calls, names, special};

/// Most bytes of arguments that are copied from the link's own memory rather than read in one go.
const PEEKED_MOST: usize = 4096;

/// How long a lane has nothing to do before it gives memory of its copies back.
const REST: Duration = Duration::from_secs(5);

/// Most times of work that are sent while the client may be sending, and not reading, itself: a socket takes as much.
const WORKS_BEHIND: usize = 2048;

/// CUDA_ERROR_OUT_OF_MEMORY
const OUT_OF_MEMORY: Code = 2;

/// How a lane has ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The client said goodbye: it had nothing more to send.
    Goodbye,
    /// The connection ended without that. What the client had sent may be lost, which shows where a frame of another
    /// lane names it.
    Severed(LinkError),
    /// A call of the session is lost.
    Lost,
    /// The client does not keep to the protocol, or the connection failed.
    Broken(LinkError),
}

/// Why a lane does not go on.
enum Stop {
    Link(LinkError),
    /// A call of the session is lost, this one's or another's.
    Lost,
}

impl From<LinkError> for Stop {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

impl From<FrameError> for Stop {
    fn from(error: FrameError) -> Self {
        Self::Link(error.into())
    }
}

impl From<DecodeError> for Stop {
    fn from(error: DecodeError) -> Self {
        Self::Link(error.into())
    }
}

/// Sends the client the reason why the lane is closed; it may be gone.
pub(crate) fn say_goodbye(tx: &mut dyn Tx, reason: &str) {
    let mut header = Header {
        op: control::GOODBYE,
        sent_ns: time::now_ns(),
        ..Header::default()
    };
    header.set_payload(reason.len(), 0);
    let frame = [&header.to_bytes(), reason.as_bytes()].concat();
    let sent = match tx.reserve(frame.len()) {
        Ok(room) => {
            room[..frame.len()].copy_from_slice(&frame);
            tx.commit(frame.len());
            tx.flush()
        }
        Err(error) => Err(error),
    };
    if let Err(error) = sent {
        debug!("goodbye: {error}");
    }
}

/// Whether a call is one at which what kernels printed is due: it waits for the device, or loads or
/// unloads code (CUDA C++ Programming Guide, "Formatted output"). What unloads is not answered.
fn prints(attributes: Attributes) -> bool {
    attributes.synchronising || attributes.loads_code
}

/// A lane that was let in.
pub(crate) struct Lane {
    exec: Exec,
    progress: Arc<Progress>,
    seq: u64,
    /// Owed credits at which a frame is sent for them alone.
    credit_at: u32,
    arguments: Vec<u8>,
    answer: Writer,
    tally: Tally,
    /// Times of one-way calls that the client wants and has not got; sent with the next credits at the latest.
    times: Times,
    /// What the GPU does for the calls.
    work: Work,
    /// When the last frame's call had ended, or the lane was made, ns.
    done_ns: u64,
    /// The call that came with HELLO.
    first: Option<FirstCall>,
}

impl Lane {
    /// Over `link`; `progress` is its place in the session's order.
    pub(crate) fn new(
        session: Arc<Session>,
        libraries: Libraries,
        link: Link,
        progress: Arc<Progress>,
        first: Option<FirstCall>,
    ) -> Self {
        Self {
            credit_at: (session.start.limits.credits / 4).max(1),
            exec: Exec::new(session, libraries, link),
            progress,
            seq: 0,
            arguments: Vec::with_capacity(4096),
            answer: Writer::default(),
            tally: Tally::default(),
            times: Times::default(),
            work: Work::default(),
            done_ns: time::now_ns(),
            first,
        }
    }

    /// Executes frames until the lane ends.
    pub(crate) fn run(mut self) -> Ended {
        let begun = self.first.take().map_or(Ok(true), |call| self.begin(call));
        let stop = match begun {
            Err(stop) => Some(stop),
            Ok(_) => loop {
                match self.step() {
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(stop) => break Some(stop),
                }
            },
        };
        self.work.end(&self.exec);
        self.exec.session.images.lane_ended(self.exec.number);
        self.tally.report(&self.exec.session.counts);
        match stop {
            None => Ended::Goodbye,
            Some(Stop::Lost) => {
                let reason = self.exec.session.lost().unwrap_or_default();
                say_goodbye(&mut *self.exec.link.tx, reason);
                Ended::Lost
            }
            Some(Stop::Link(error @ LinkError::Closed(_))) => Ended::Severed(error),
            Some(Stop::Link(error)) => {
                self.exec
                    .session
                    .counts
                    .lanes_broken
                    .fetch_add(1, Ordering::Relaxed);
                say_goodbye(&mut *self.exec.link.tx, &error.to_string());
                Ended::Broken(error)
            }
        }
    }

    /// Executes the call that came with HELLO, as if its frame had come first.
    fn begin(&mut self, call: FirstCall) -> Result<bool, Stop> {
        let mut header = Header {
            op: call.op,
            seq: 1,
            ..Header::default()
        };
        if header.is_control() || !header.set_payload(call.arguments.len(), 0) {
            return Err(DecodeError::BadValue {
                what: "the first call of a lane",
                value: call.op.into(),
            }
            .into());
        }
        self.arguments = call.arguments;
        self.take(&header, self.done_ns, true)?;
        self.exec.link.tx.flush()?;
        Ok(true)
    }

    /// Executes a frame; false after the last.
    fn step(&mut self) -> Result<bool, Stop> {
        let waits = !self.exec.link.rx.ready(HEADER_LEN)?;
        if waits {
            self.tally.report(&self.exec.session.counts);
            if self.exec.link.tx.pending() > 0 {
                self.exec.link.tx.flush()?;
            }
            while self.exec.poll_idly() && !self.exec.link.rx.ready(HEADER_LEN)? {}
            if self.exec.staging.is_large() {
                self.rest()?;
            }
        }
        let header = Header::parse(self.exec.link.rx.peek(HEADER_LEN, None)?)?;
        // One that lay here is this thread's since it was done with the one before.
        let arrived = if waits { time::now_ns() } else { self.done_ns };
        self.take_arguments(header.small as usize)?;
        self.take(&header, arrived, waits)
    }

    /// Waits for a frame, and gives memory back if none comes soon.
    fn rest(&mut self) -> Result<(), LinkError> {
        let soon = Instant::now() + REST;
        match self.exec.link.rx.peek(HEADER_LEN, Some(soon)) {
            Ok(_) => Ok(()),
            Err(LinkError::TimedOut(_)) => {
                self.exec.staging.trim(&mut *self.exec.link.tx);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Executes a frame whose arguments are there.
    fn take(&mut self, header: &Header, arrived: u64, waits: bool) -> Result<bool, Stop> {
        self.seq += 1;
        if header.seq != self.seq {
            return Err(FrameError::Sequence {
                found: header.seq,
                wanted: self.seq,
            }
            .into());
        }
        self.exec.bulk_left = header.bulk();
        self.exec.owed += 1;
        self.exec.request = *header;
        if header.is_control() {
            self.tally.frame(header);
            return self.control(header);
        }
        if self.exec.session.lost().is_some() {
            return Err(Stop::Lost);
        }
        self.progress.begin();
        self.execute(header, arrived, waits)?;
        self.progress.executed(header.seq);
        Ok(true)
    }

    /// Takes the header and the `len` bytes of arguments behind it.
    fn take_arguments(&mut self, len: usize) -> Result<(), LinkError> {
        let rx = &mut self.exec.link.rx;
        self.arguments.clear();
        if len <= PEEKED_MOST {
            let frame = rx.peek(HEADER_LEN + len, None)?;
            self.arguments.extend_from_slice(&frame[HEADER_LEN..]);
            rx.consume(HEADER_LEN + len);
            return Ok(());
        }
        rx.consume(HEADER_LEN);
        self.arguments.resize(len, 0);
        rx.read(&mut self.arguments)
    }

    fn control(&mut self, header: &Header) -> Result<bool, Stop> {
        self.exec.skip_bulk()?;
        if header.after != 0 {
            self.progress.begin();
            self.wait_for(After(header.after))?;
        }
        match header.op {
            control::GOODBYE => return Ok(false),
            control::ECHO => {
                let payload = std::mem::take(&mut self.arguments);
                self.exec.echo(header.status as usize, &payload)?;
                self.arguments = payload;
            }
            control::ENDING => self.exec.session.client.ends(),
            // A lane is opened once, and the rest is for servers to say.
            op => {
                return Err(DecodeError::BadValue {
                    what: "a frame from a client",
                    value: op.into(),
                }
                .into());
            }
        }
        self.progress.executed(header.seq);
        Ok(true)
    }

    fn execute(&mut self, header: &Header, arrived: u64, waited: bool) -> Result<(), Stop> {
        let attributes = attributes(header.op);
        let one_way = header.flags.has(Flags::ONE_WAY) && !header.flags.has(Flags::STRICT);
        if header.after != 0 {
            self.wait_for(After(header.after))?;
        }
        if !one_way {
            self.send_times()?;
        }
        self.exec.moved = 0;
        self.exec.replied = false;
        self.answer.truncate(0);
        let is_timed = header.flags.has(Flags::WANTS_WORK);
        if is_timed {
            self.work.before(&mut self.exec);
        }
        // A context may be about to end, and with it what lies around its work.
        if attributes.ends_events() {
            self.work.collect(&self.exec);
        }
        // A clock costs as much as looking a handle up.
        let begun = match waited && header.after == 0 && !is_timed {
            true => arrived,
            false => time::now_ns(),
        };
        let queue = begun.saturating_sub(arrived);
        (self.exec.begun_ns, self.exec.queue_ns) = (begun, queue);
        self.exec.sending_ns = 0;
        let code = self.call(header, attributes)?;
        if code != 0 {
            special::not_done(&self.exec, header.op, &self.arguments, code);
        }
        self.done_ns = time::now_ns();
        let driver = self
            .done_ns
            .saturating_sub(begun)
            .saturating_sub(self.exec.sending_ns);
        if is_timed {
            self.work.behind(&self.exec, code);
        }
        self.exec.skip_bulk()?;
        let nvml = header.flags.has(Flags::NVML);
        self.tally.frame(header);
        self.tally.call(
            &self.exec.session.counts,
            &Counted {
                op: header.op,
                queue_ns: queue,
                driver_ns: driver,
                bytes: self.exec.moved,
                failed: code != 0 && !(nvml && code == special::NVML_TIMEOUT),
            },
        );
        if code != 0 && !nvml {
            self.exec.session.sticky.note(code.cast_unsigned());
        } else if code == 0 && attributes.ends_context() {
            self.exec.session.sticky.clear();
        }
        if one_way {
            if code != 0 && !nvml {
                self.exec.pending.note(code.cast_unsigned());
            }
            if header.flags.has(Flags::WANTS_TIMES) {
                self.times.0.push(CallTimes {
                    seq: header.seq,
                    begun_ns: begun,
                    queue_ns: time::short(queue),
                    exec_ns: time::short(driver),
                });
            }
            if self.exec.owed >= self.credit_at {
                self.give_credit()?;
            }
            return Ok(());
        }
        if self.exec.replied {
            // Behind the answer, whose bytes were not to wait for it.
            self.send_work(WORKS_BEHIND)?;
            return Ok(());
        }
        let printed = &self.exec.session.output;
        let printed = printed.get().is_some_and(|it| it.is_possible());
        if printed && !nvml && prints(attributes) {
            self.exec.send_output()?;
        }
        self.send_work(Works::MOST)?;
        let mut reply = self.exec.reply_header();
        reply.status = code.cast_unsigned();
        reply.queue_ns = time::short(queue);
        reply.exec_ns = time::short(driver);
        self.exec.put_frame(reply, self.answer.as_slice())?;
        Ok(())
    }

    /// Makes the call, within the limits of the session.
    fn call(&mut self, header: &Header, attributes: Attributes) -> Result<Code, LinkError> {
        let nvml = header.flags.has(Flags::NVML);
        if !nvml
            && let Err(code) = self.exec.enter()
            && !attributes.needs_no_context
        {
            return Ok(code);
        }
        let made = match Change::of(attributes, &self.arguments) {
            Ok(change) => self.call_within(header, change),
            Err(error) => Err(error.into()),
        };
        match made {
            Ok(code) | Err(CallError::Status(code)) => Ok(code),
            Err(CallError::Link(error)) => Err(error),
            Err(CallError::Arguments(error)) => {
                debug!("{}: {error}", names::name_of(header.op));
                let counts = &self.exec.session.counts;
                counts.malformed.fetch_add(1, Ordering::Relaxed);
                self.answer.truncate(0);
                Ok(if nvml {
                    NVML_INVALID_ARGUMENT
                } else {
                    INVALID_VALUE
                })
            }
        }
    }

    fn call_within(&mut self, header: &Header, change: Option<Change>) -> Called {
        if change.is_some_and(|change| !self.exec.session.memory.before(change)) {
            return Ok(OUT_OF_MEMORY);
        }
        let mut reader = Reader::new(&self.arguments);
        let made = calls::call(&mut self.exec, header.op, &mut reader, &mut self.answer);
        if let Some(change) = change {
            let ok = made.as_ref().is_ok_and(|code| *code == 0);
            if let Err(address) = self.changed(change, ok, header.context) {
                special::free(self.exec.driver, address);
                self.answer.truncate(0);
                return Ok(OUT_OF_MEMORY);
            }
        }
        if header.op == GET_INFO && matches!(made, Ok(0)) {
            self.limit_info();
        }
        made
    }

    fn changed(&mut self, change: Change, ok: bool, context: u32) -> Result<(), u64> {
        let memory = &self.exec.session.memory;
        memory.after(change, ok, self.answer.as_slice(), context)?;
        if let Change::Release(device) = change
            && !special::primary_is_active(self.exec.driver, device)
        {
            memory.primary_ended(device);
        }
        Ok(())
    }

    /// A client with a limit sees a device of that size.
    fn limit_info(&mut self) {
        let mut r = Reader::new(self.answer.as_slice());
        if let (Ok(free), Ok(total)) = (r.u64(), r.u64()) {
            let (free, total) = self.exec.session.memory.info(free, total);
            self.answer.patch(0, &free.to_le_bytes());
            self.answer.patch(8, &total.to_le_bytes());
        }
    }

    /// Waits for a frame of another lane, without which this one must not be executed.
    fn wait_for(&self, after: After) -> Result<(), Stop> {
        let session = &self.exec.session;
        session.counts.waits.fetch_add(1, Ordering::Relaxed);
        let why = match session.order.wait(after) {
            Waited::Executed => return Ok(()),
            Waited::Lost => "broke before they were executed",
            Waited::TimedOut => "brings nothing any more",
        };
        session.counts.waits_failed.fetch_add(1, Ordering::Relaxed);
        session.lose(format!(
            "calls of a thread are lost, as its connection (lane {}) {why}",
            after.lane()
        ));
        Err(Stop::Lost)
    }

    fn send_times(&mut self) -> Result<(), LinkError> {
        if self.times.0.is_empty() {
            return Ok(());
        }
        let mut payload = Writer::default();
        self.times.write(&mut payload);
        self.times.0.clear();
        self.put_control(control::TIMES, &payload)
    }

    fn send_work(&mut self, most: usize) -> Result<(), LinkError> {
        let Some(works) = self.work.ended(&self.exec, most) else {
            return Ok(());
        };
        let mut payload = Writer::default();
        works.write(&mut payload);
        self.put_control(control::WORK, &payload)
    }

    fn put_control(&mut self, op: OpId, payload: &Writer) -> Result<(), LinkError> {
        let header = Header {
            op,
            seq: self.seq,
            sent_ns: time::now_ns(),
            ..Header::default()
        };
        self.exec.put_frame(header, payload.as_slice())
    }

    fn give_credit(&mut self) -> Result<(), LinkError> {
        self.send_times()?;
        let mut header = self.exec.reply_header();
        header.op = control::CREDIT;
        header.seq = self.seq;
        header.flags = Flags::default();
        self.exec.put_frame(header, &[])?;
        self.exec.link.tx.flush()
    }
}
