//! Copies to page-locked memory of the client that it does not wait for: the device writes them to memory here, in
//! the order of their streams, and the client takes what is complete when it has waited for something.
//!
//! An event behind each shows when it is complete. As with the events of the client, none is queried while contexts
//! end ([`EventLifetimeLock`]), and none of a context that has ended: those are waited for before.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed};
use std::collections::{BTreeMap, HashSet};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{BLOCK, BLOCKS, Taken};
use gtrace_cuda::types::driver::{self as cuda, CUevent, CUstream};
use gtrace_link::{LinkError, Tx};

use super::handles::{Code, Handles};
use super::watermark::{EventLifetimeLock, relaxed};
use crate::generated::driver::Driver;
use crate::special;
use crate::staging::PART;

/// `CU_MEMHOSTREGISTER_PORTABLE`: page-locked for all contexts.
const PORTABLE: u32 = 1;
/// Longest wait of a copy for room that a lane is about to give back: it would take one whose client does not read.
const SENDING_MOST: Duration = Duration::from_secs(10);
/// Failures that are kept until they are reported.
const FAILED_MAX: usize = 4096;
/// Most blocks that are sent at once.
const PIECE: usize = PART / BLOCK;
const LAYOUT: Layout = match Layout::from_size_align(BLOCKS * BLOCK, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("not a layout"),
};

/// Memory for all copies of a session, which stays until the end of the process: the device may write to it until
/// then.
struct Memory {
    start: NonNull<u8>,
    /// Page-locked, or found to be impossible to lock.
    settled: bool,
    free: Vec<usize>,
}

// SAFETY: a block is touched by whoever took it off the free ones, and by the device.
unsafe impl Send for Memory {}

/// A copy to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub(crate) ticket: u64,
    pub(crate) from: u64,
    pub(crate) len: usize,
    pub(crate) stream: CUstream,
    /// What distinguishes its stream from others.
    pub(crate) order: Place,
}

/// A stream: the lane, as some streams are a thread's, the context and the handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) lane: u64,
    pub(crate) context: u32,
    pub(crate) stream: u64,
}

/// A copy under way.
struct Pending {
    bytes: Bytes,
    /// As a number; `None`: it is complete.
    event: Option<usize>,
    order: Place,
}

/// Blocks that a copy is in.
#[derive(Debug)]
pub(crate) struct Bytes {
    start: NonNull<u8>,
    blocks: Vec<usize>,
    len: usize,
}

// SAFETY: the blocks are this value's alone.
unsafe impl Send for Bytes {}

impl Bytes {
    /// Where they lie: the offset of each part, its beginning and its length. A part is at most `most` blocks in a row.
    fn parts(&self, most: usize) -> impl Iterator<Item = (usize, *mut u8, usize)> {
        let rows = self.blocks.chunk_by(|block, next| block + 1 == *next);
        let mut at = 0;
        rows.flat_map(move |row| row.chunks(most)).map(move |part| {
            let offset = at;
            let len = (part.len() * BLOCK).min(self.len - offset);
            at += len;
            // SAFETY: a block of the memory.
            let start = unsafe { self.start.as_ptr().add(part[0] * BLOCK) };
            (offset, start, len)
        })
    }

    /// Pieces to be sent; the copy is complete.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Sendable<'_>> {
        self.parts(PIECE).map(|(at, start, len)| {
            // SAFETY: blocks in a row, which the device is done with and nobody else has.
            let bytes = unsafe { std::slice::from_raw_parts(start, len) };
            Sendable { at, bytes }
        })
    }

    /// Whether `tx`, which was given all pieces to send, may still do so from where they lie.
    pub(crate) fn is_lent(&self, tx: &mut dyn Tx) -> bool {
        self.pieces().any(|piece| tx.is_lent(piece.bytes))
    }

    /// Pieces that `tx` was given to send may be written to from now on. The last are copied first, while the client reads the
    /// others.
    pub(crate) fn take_back(&self, tx: &mut dyn Tx) {
        let pieces: Vec<_> = self.pieces().collect();
        for piece in pieces.iter().rev() {
            tx.take_back(Some(piece.bytes));
        }
    }
}

/// A piece of a complete copy.
pub(crate) struct Sendable<'a> {
    /// Where it begins in the copy.
    pub(crate) at: usize,
    bytes: &'a [u8],
}

impl Sendable<'_> {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Sends it by `tx`, which may go on sending from there until it is lent no more ([`Bytes::is_lent`]) or taken back
    /// ([`Bytes::take_back`]), and so before the bytes are given back.
    pub(crate) fn send(&self, tx: &mut dyn Tx) -> Result<(), LinkError> {
        // SAFETY: the blocks are written to only after that, and stay until the end of the process.
        unsafe { tx.bulk_lent(self.bytes) }
    }
}

#[derive(Default)]
struct State {
    memory: Option<Memory>,
    /// Blocks that lanes are sending. The client may have their bytes before they are given back, and use their room.
    sending: usize,
    pending: BTreeMap<u64, Pending>,
    failed: Vec<u64>,
    /// Sent by a lane, and possibly not yet acknowledged to it by the client.
    sent: Vec<(u64, u64)>,
}

/// The copies of a session.
#[derive(Default)]
pub(crate) struct DeferredCopies {
    state: Mutex<State>,
    given_back: Condvar,
    lanes: AtomicU64,
}

/// What a lane takes.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// Complete, by ticket.
    pub(crate) bytes: Vec<(u64, Bytes)>,
    pub(crate) rest: Taken,
}

/// What a poll of copies needs.
#[derive(Clone, Copy)]
pub(crate) struct CopyPoll<'a> {
    pub(crate) driver: &'a Driver,
    pub(crate) event_lifetime: &'a EventLifetimeLock,
    pub(crate) handles: &'a Handles,
}

/// What became of a copy.
enum Progress {
    Complete,
    NotYet,
    Failed,
}

impl CopyPoll<'_> {
    fn progress(self, pending: &Pending) -> Progress {
        let (Some(event), Some(query)) = (pending.event, self.driver.cuEventQuery) else {
            return Progress::Complete;
        };
        let event = std::ptr::with_exposed_provenance_mut(event);
        // SAFETY: an event of this module, which is destroyed once it was seen.
        let mut status = unsafe { query(event) };
        if status == cuda::CUDA_ERROR_INVALID_CONTEXT {
            // This thread has none.
            let context = Kind::Context.handle(pending.order.context.into());
            if let Ok(context) = self.handles.real(Kind::Context, context) {
                special::set_current(self.driver, context);
                // SAFETY: as above.
                status = unsafe { query(event) };
            }
        }
        match status {
            cuda::CUDA_SUCCESS => Progress::Complete,
            cuda::CUDA_ERROR_NOT_READY
            | cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED..=cuda::CUDA_ERROR_CAPTURED_EVENT => {
                Progress::NotYet
            }
            _ => Progress::Failed,
        }
    }
}

/// An event in `stream`, which says when what is before it is done.
fn mark(driver: &Driver, stream: CUstream) -> Option<CUevent> {
    let (create, record) = (driver.cuEventCreate?, driver.cuEventRecord?);
    let mut event = std::ptr::null_mut();
    // SAFETY: a local variable.
    if unsafe { create(&raw mut event, cuda::CU_EVENT_DISABLE_TIMING) } != 0 {
        return None;
    }
    // SAFETY: the event that was made, and a stream of the client.
    if unsafe { record(event, stream) } == 0 {
        return Some(event);
    }
    destroy(driver, event);
    None
}

fn destroy(driver: &Driver, event: CUevent) {
    if let Some(call) = driver.cuEventDestroy_v2 {
        // SAFETY: an event of this module, which is forgotten.
        unsafe { call(event) };
    }
}

impl Memory {
    fn new() -> Self {
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc_zeroed(LAYOUT) };
        let start = NonNull::new(start).unwrap_or_else(|| std::alloc::handle_alloc_error(LAYOUT));
        Self {
            start,
            settled: false,
            free: (0..BLOCKS).rev().collect(),
        }
    }

    /// Page-locks it, as else the driver waits for each copy, which is right and slow.
    fn lock(&mut self, driver: &Driver) {
        if self.settled {
            return;
        }
        self.settled = true;
        if let Some(register) = driver.cuMemHostRegister_v2 {
            // SAFETY: memory that stays until the end of the process.
            let status = relaxed(driver, || unsafe {
                register(self.start.as_ptr().cast(), LAYOUT.size(), PORTABLE)
            });
            if status != 0 {
                tracing::debug!(
                    "memory for asynchronous copies is not page-locked: error {status}"
                );
            }
        }
    }
}

impl DeferredCopies {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a lane.
    pub(crate) fn lane(&self) -> u64 {
        self.lanes.fetch_add(1, Ordering::Relaxed)
    }

    /// Puts a copy into its stream.
    ///
    /// # Errors
    ///
    /// Those of the copy; INVALID_VALUE for a number that is in use, OUT_OF_MEMORY for more than a client may have
    /// under way.
    pub(crate) fn start(&self, poll: CopyPoll<'_>, copy: Copy) -> Result<(), Code> {
        let bytes = self.room(copy, |memory| memory.lock(poll.driver))?;
        // The client destroys events under this lock, and ends contexts.
        let event_lifetime = poll.event_lifetime.reading();
        let lent = poll.event_lifetime.lend(poll.driver, copy.stream);
        let event = match lent.and_then(|_lent| make(poll.driver, &bytes, copy)) {
            Ok(event) => event,
            Err(code) => {
                drop(event_lifetime);
                self.give_back(bytes);
                return Err(code);
            }
        };
        self.lock().pending.insert(
            copy.ticket,
            Pending {
                bytes,
                event: event.map(<*mut _>::expose_provenance),
                order: copy.order,
            },
        );
        Ok(())
    }

    fn room(&self, copy: Copy, prepare: impl FnOnce(&mut Memory)) -> Result<Bytes, Code> {
        let count = copy.len.div_ceil(BLOCK);
        let short = |state: &mut State| {
            let free = state.memory.as_ref().map_or(BLOCKS, |it| it.free.len());
            free < count && state.sending > 0
        };
        let waited = (self.given_back).wait_timeout_while(self.lock(), SENDING_MOST, short);
        let mut state = match waited {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
        if copy.ticket == 0 || count == 0 || state.pending.contains_key(&copy.ticket) {
            return Err(special::INVALID_VALUE);
        }
        let memory = state.memory.get_or_insert_with(Memory::new);
        prepare(memory);
        let Some(left) = memory.free.len().checked_sub(count) else {
            return Err(cuda::CUDA_ERROR_OUT_OF_MEMORY.cast_signed());
        };
        let mut blocks = memory.free.split_off(left);
        // Those that lie in a row are copied at once.
        blocks.sort_unstable();
        Ok(Bytes {
            start: memory.start,
            blocks,
            len: copy.len,
        })
    }

    /// A copy was not put into its stream: the client need not wait for it.
    pub(crate) fn failed(&self, ticket: u64) {
        let mut state = self.lock();
        if state.failed.len() < FAILED_MAX {
            state.failed.push(ticket);
        }
    }

    /// These bytes are of no use.
    pub(crate) fn give_back(&self, bytes: Bytes) {
        self.give(bytes, 0);
    }

    /// The same of bytes that were taken to be sent.
    pub(crate) fn sent(&self, bytes: Bytes) {
        let sent = bytes.blocks.len();
        self.give(bytes, sent);
    }

    fn give(&self, bytes: Bytes, sent: usize) {
        let mut state = self.lock();
        state.sending = state.sending.saturating_sub(sent);
        if let Some(memory) = &mut state.memory {
            memory.free.extend(bytes.blocks);
        }
        drop(state);
        self.given_back.notify_all();
    }

    /// The copies under way.
    pub(crate) fn tickets(&self) -> Vec<u64> {
        self.lock().pending.keys().copied().collect()
    }

    /// Whether a copy is neither complete nor failed.
    pub(crate) fn is_under_way(&self, poll: CopyPoll<'_>, ticket: u64) -> bool {
        let _event_lifetime = poll.event_lifetime.reading();
        let state = self.lock();
        let pending = state.pending.get(&ticket);
        pending.is_some_and(|pending| {
            poll.event_lifetime.relaxed(poll.driver, || {
                matches!(poll.progress(pending), Progress::NotYet)
            })
        })
    }

    /// What is complete. It is `lane`'s to send, and to give back by [`DeferredCopies::sent`]; the client has all that this
    /// lane took before.
    pub(crate) fn take(&self, poll: CopyPoll<'_>, lane: u64) -> Ready {
        let _event_lifetime = poll.event_lifetime.reading();
        let mut state = self.lock();
        let State {
            pending,
            failed,
            sent,
            memory,
            sending,
        } = &mut *state;
        sent.retain(|(by, _)| *by != lane);
        let mut ready = Ready::default();
        ready.rest.failed = std::mem::take(failed);
        ready.rest.in_flight_on_other_lanes = sent.iter().map(|(_, ticket)| *ticket).collect();
        let mut waiting: HashSet<Place> = HashSet::new();
        let mut done: Vec<(u64, bool)> = Vec::new();
        poll.event_lifetime.relaxed(poll.driver, || {
            for (ticket, copy) in &*pending {
                if waiting.contains(&copy.order) {
                    continue;
                }
                match poll.progress(copy) {
                    Progress::Complete => done.push((*ticket, true)),
                    Progress::Failed => done.push((*ticket, false)),
                    // And so are those behind it.
                    Progress::NotYet => drop(waiting.insert(copy.order)),
                }
            }
        });
        for (ticket, complete) in done {
            let Some(copy) = pending.remove(&ticket) else {
                continue;
            };
            if let Some(event) = copy.event {
                destroy(poll.driver, std::ptr::with_exposed_provenance_mut(event));
            }
            if complete {
                sent.push((lane, ticket));
                *sending += copy.bytes.blocks.len();
                ready.bytes.push((ticket, copy.bytes));
            } else {
                // The device is in no state to write to it any more.
                ready.rest.failed.push(ticket);
                if let Some(memory) = memory {
                    memory.free.extend(copy.bytes.blocks);
                }
            }
        }
        ready
    }

    /// A context is about to end: waits for all that is under way. [`EventLifetimeLock::destroying`] is held.
    pub(crate) fn context_ends(&self, driver: &Driver) {
        let mut state = self.lock();
        for copy in state.pending.values_mut() {
            if let (Some(event), Some(wait)) = (copy.event.take(), driver.cuEventSynchronize) {
                let event = std::ptr::with_exposed_provenance_mut(event);
                // SAFETY: an event of this module.
                unsafe { wait(event) };
                destroy(driver, event);
            }
        }
        if let Some(memory) = &mut state.memory {
            // The memory may have been page-locked in that context.
            memory.settled = false;
        }
    }
}

/// Puts a copy and its event into the stream. No event: it is complete.
fn make(driver: &Driver, bytes: &Bytes, copy: Copy) -> Result<Option<CUevent>, Code> {
    let (Some(call), Some(synchronise)) = (driver.cuMemcpyDtoHAsync_v2, driver.cuStreamSynchronize)
    else {
        return Err(special::NOT_SUPPORTED);
    };
    let mut status = 0;
    for (at, to, len) in bytes.parts(BLOCKS) {
        let from = copy.from.wrapping_add(at as u64);
        // SAFETY: blocks in a row that are this copy's until its event was seen, or the stream is synchronised.
        status = unsafe { call(to.cast(), from, len, copy.stream) };
        if status != 0 {
            break;
        }
    }
    if status == 0
        && let Some(event) = mark(driver, copy.stream)
    {
        return Ok(Some(event));
    }
    // SAFETY: a stream of the client.
    let waited = unsafe { synchronise(copy.stream) };
    match (status, waited) {
        (0, 0) => Ok(None),
        (0, code) | (code, _) => Err(code.cast_signed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(ticket: u64, blocks: usize) -> Copy {
        Copy {
            ticket,
            from: 0,
            len: blocks * BLOCK,
            stream: std::ptr::null_mut(),
            order: Place {
                lane: 0,
                context: 0,
                stream: 0,
            },
        }
    }

    #[test]
    fn room_that_a_lane_is_about_to_give_back_is_waited_for() {
        let deferred_copies = DeferredCopies::default();
        let room = |ticket, blocks| deferred_copies.room(copy(ticket, blocks), |_| {});
        let all = room(1, BLOCKS).unwrap();
        // Nobody is about to: the client has more under way than it may.
        assert_eq!(
            room(2, 1).unwrap_err(),
            cuda::CUDA_ERROR_OUT_OF_MEMORY.cast_signed()
        );
        deferred_copies.lock().sending = BLOCKS;
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| room(3, 1).map(|bytes| bytes.len));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!waits.is_finished());
            deferred_copies.sent(all);
            assert_eq!(waits.join().unwrap(), Ok(BLOCK));
        });
        assert_eq!(deferred_copies.lock().sending, 0);
    }

    #[test]
    fn blocks_in_a_row_are_copied_and_sent_at_once() {
        let deferred_copies = DeferredCopies::default();
        let room = |ticket, blocks| {
            let copy = copy(ticket, blocks);
            deferred_copies.room(copy, |_| {}).unwrap()
        };
        let rows = |bytes: &Bytes| -> Vec<_> {
            let parts = bytes.parts(BLOCKS);
            parts
                .map(|(at, _, len)| (at / BLOCK, len / BLOCK))
                .collect()
        };
        let (first, second) = (room(1, 6), room(2, 2));
        assert_eq!((rows(&first), rows(&second)), (vec![(0, 6)], vec![(0, 2)]));
        let pieces = first.pieces().map(|piece| (piece.at, piece.len()));
        let lengths: Vec<_> = pieces.collect();
        assert_eq!(lengths, [(0, 4 * BLOCK), (4 * BLOCK, 2 * BLOCK)]);
        // The second lies behind the first, and in front of what is free.
        deferred_copies.give_back(first);
        let mut third = room(3, 8);
        assert_eq!(rows(&third), [(0, 6), (6, 2)]);
        third.len -= BLOCK + 5;
        let parts: Vec<_> = third.parts(BLOCKS).map(|(at, _, len)| (at, len)).collect();
        assert_eq!(parts, [(0, 6 * BLOCK), (6 * BLOCK, BLOCK - 5)]);
    }
}
