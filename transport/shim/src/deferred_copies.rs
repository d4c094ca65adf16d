//! Copies to page-locked memory that return before the bytes are there. The server keeps the bytes; they are taken
//! where CUDA promises them: whatever waits for the device, or finds that it is done, takes what is complete before
//! it returns, in the same round trip. What another thread is just taking is waited for.
//!
//! Where the program does not wait soon, a thread takes what comes, so that the server's memory becomes free and a
//! program that polls its memory sees the bytes in the end.

// Writes to the program's memory.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use gtrace_cuda::payload::{
    BLOCK, BLOCKS, COLLECT, DEFER_COPY, DeferredCopy, Payload as _, Piece, Taken,
};
use gtrace_cuda::types::driver::CUdeviceptr;
use gtrace_protocol::{Features, Flags, Reader};

use crate::allocations::Place;
use crate::entry::{Answer, Call, check, send_one_way, written};
use crate::lane::Lane;
use crate::session::{Session, with_lane};
use crate::state::{lock, read};
use crate::status::fail_if;
use crate::{background, clock, copy, log, status};

/// How long a copy is left to the program before the thread takes it.
const PATIENCE: Duration = Duration::from_millis(5);
/// Between checks whether the connection is lost.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Where the bytes of a copy go.
#[derive(Clone, Copy, Debug)]
struct Target {
    address: usize,
    len: usize,
    /// Bytes that some thread writes or has written. A byte is claimed once.
    claimed: usize,
    /// Those that are written.
    landed: usize,
    /// No more of them comes.
    failed: bool,
}

impl Target {
    const fn new(address: usize, len: usize) -> Self {
        Self {
            address,
            len,
            claimed: 0,
            landed: 0,
            failed: false,
        }
    }

    /// Whether no thread writes there, nor will.
    const fn is_done(&self) -> bool {
        self.landed == self.claimed && (self.failed || self.landed == self.len)
    }

    fn overlaps(&self, address: usize, len: usize) -> bool {
        self.address < address.saturating_add(len)
            && address < self.address.saturating_add(self.len)
    }

    const fn blocks(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }
}

#[derive(Default)]
struct State {
    /// Copies whose bytes are not all here, by ticket.
    pending: BTreeMap<u64, Target>,
    /// What they take of the server's memory.
    blocks: usize,
}

/// Copies under way.
#[derive(Default)]
pub(crate) struct DeferredCopies {
    count: AtomicUsize,
    tickets: AtomicU64,
    state: Mutex<State>,
    landed: Condvar,
    begun: Condvar,
    started: AtomicBool,
}

impl DeferredCopies {
    /// Whether any are.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) != 0
    }

    /// The last that was asked for.
    #[inline]
    pub(crate) fn last(&self) -> u64 {
        self.tickets.load(Ordering::Acquire)
    }

    /// Whether one is under way that was asked for no later than `ticket`.
    pub(crate) fn any_until(&self, ticket: u64) -> bool {
        self.any() && lock(&self.state).pending.range(..=ticket).next().is_some()
    }

    fn overlapping(&self, address: usize, len: usize) -> Option<u64> {
        let state = lock(&self.state);
        let mut all = state.pending.iter();
        all.find(|(_, target)| target.overlaps(address, len))
            .map(|(ticket, _)| *ticket)
    }

    /// Takes up a copy, if the server has room for it; its ticket.
    fn begin(&self, target: Target) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.blocks + target.blocks() > BLOCKS {
            return None;
        }
        let ticket = self.tickets.fetch_add(1, Ordering::AcqRel) + 1;
        state.blocks += target.blocks();
        state.pending.insert(ticket, target);
        self.count.store(state.pending.len(), Ordering::Release);
        if state.pending.len() == 1 {
            self.begun.notify_one();
        }
        Some(ticket)
    }

    /// A copy is done with, whatever became of it.
    fn end(&self, state: &mut MutexGuard<'_, State>, ticket: u64) {
        if let Some(target) = state.pending.remove(&ticket) {
            state.blocks -= target.blocks();
            self.count.store(state.pending.len(), Ordering::Release);
            self.landed.notify_all();
        }
    }

    /// Takes the next `len` bytes of a copy for the calling thread alone: what a server sends is never written twice,
    /// nor beyond what the program asked for, nor once the copy was reported as done.
    fn claim(&self, piece: Piece, len: usize) -> Option<Claim<'_>> {
        let mut state = lock(&self.state);
        let target = state.pending.get_mut(&piece.ticket)?;
        let at = usize::try_from(piece.at).ok()?;
        let left = target.len.checked_sub(target.claimed)?;
        if target.failed || at != target.claimed || len == 0 || len > left {
            return None;
        }
        let address = target.address.checked_add(at)?;
        target.claimed += len;
        Some(Claim {
            all: self,
            ticket: piece.ticket,
            address,
            len,
            landed: false,
        })
    }

    /// Changes a copy, and ends it if it is done then.
    fn change(&self, ticket: u64, change: impl FnOnce(&mut Target)) {
        let mut state = lock(&self.state);
        let Some(target) = state.pending.get_mut(&ticket) else {
            return;
        };
        change(target);
        if target.is_done() {
            self.end(&mut state, ticket);
        }
    }

    /// Waits until no thread writes to these bytes. The connection is lost, so that none does for long.
    fn wait_for_writers(&self, address: usize, len: usize) {
        let mut state = lock(&self.state);
        let is_written =
            |target: &Target| target.landed != target.claimed && target.overlaps(address, len);
        while state.pending.values().any(is_written) {
            state = match self.landed.wait_timeout(state, POLL_INTERVAL) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Waits until others have all bytes of these copies.
    fn wait_for(&self, session: &Session, tickets: &[u64]) -> Answer {
        let mut state = lock(&self.state);
        while tickets
            .iter()
            .any(|ticket| state.pending.contains_key(ticket))
        {
            fail_if(session.is_lost(), status::LOST)?;
            state = match self.landed.wait_timeout(state, POLL_INTERVAL) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        // Those whose thread lost its connection have ended too.
        fail_if(session.is_lost(), status::LOST)
    }
}

/// Bytes of a copy that one thread writes.
struct Claim<'a> {
    all: &'a DeferredCopies,
    ticket: u64,
    address: usize,
    len: usize,
    /// They are written; else the connection broke meanwhile.
    landed: bool,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.all.change(self.ticket, |target| {
            target.landed += self.len;
            target.failed |= !self.landed;
        });
        if !self.landed {
            self.all.landed.notify_all();
        }
    }
}

/// Whether a copy of `len` bytes to `address` need not be waited for: to memory that is page-locked, of a size that the
/// server keeps.
fn may_be_late(session: &Session, address: u64, len: usize) -> bool {
    if !session.features.has(Features::DEFERRED_COPIES)
        || session.settings.strict
        || len == 0
        || len > BLOCKS * BLOCK
        || session.state.captures.any()
        || copy::is_in_call()
    {
        return false;
    }
    let Some(found) = read(&session.state.allocations).find(address) else {
        return false;
    };
    matches!(found.place, Place::HostAllocated | Place::HostRegistered)
        && found.size - (address - found.base) >= len as u64
}

/// Copies `len` bytes from the device to `to` in the order of `stream`, without waiting. False if it has to be waited
/// for.
///
/// # Errors
///
/// That of an earlier call; [`status::LOST`].
pub(crate) fn copy(
    session: &'static Session,
    to: usize,
    from: CUdeviceptr,
    len: usize,
    stream: u64,
) -> Answer<bool> {
    let deferred_copies = &session.state.deferred_copies;
    if !may_be_late(session, to as u64, len) || !start(session) {
        return Ok(false);
    }
    settle(session, to, len)?;
    with_lane(session, |lane| {
        check(lane.take_sticky())?;
        let Some(ticket) = deferred_copies.begin(Target::new(to, len)) else {
            return Ok(false);
        };
        let began = clock::now();
        let deferred_copy = DeferredCopy {
            ticket,
            from,
            len: len as u64,
            stream,
        };
        let sent = written(
            lane,
            |w| deferred_copy.write(w),
            |lane, small| send_one_way(lane, DEFER_COPY, small, &[], began),
        );
        if sent.is_err() {
            deferred_copies.end(&mut lock(&deferred_copies.state), ticket);
        }
        sent.map(|()| true)
    })
}

/// The program has waited for something: what is complete is here on return.
///
/// # Errors
///
/// [`status::LOST`].
#[inline]
pub(crate) fn collect(session: &'static Session) -> Answer {
    match session.state.deferred_copies.any() {
        true => take(session, 0),
        false => Ok(()),
    }
}

/// The call reads or writes `len` bytes at `address` of the program: what is still to come there comes before.
///
/// # Errors
///
/// [`status::LOST`].
#[inline]
pub(crate) fn settle(session: &'static Session, address: usize, len: usize) -> Answer {
    match session.state.deferred_copies.any() {
        true => settle_all(session, address, len),
        false => Ok(()),
    }
}

#[cold]
fn settle_all(session: &'static Session, address: usize, len: usize) -> Answer {
    while let Some(ticket) = session.state.deferred_copies.overlapping(address, len) {
        if let Err(code) = take(session, ticket) {
            session.state.deferred_copies.wait_for_writers(address, len);
            return Err(code);
        }
        // Another thread may be about to send the copy itself.
        thread::yield_now();
    }
    Ok(())
}

/// Takes what is complete, once the copy `until` is, if it is not 0.
fn take(session: &'static Session, until: u64) -> Answer {
    let in_flight_on_other_lanes = with_lane(session, |lane| {
        let call = ask(lane, until, false)?;
        receive(lane, call)
    })?;
    session
        .state
        .deferred_copies
        .wait_for(session, &in_flight_on_other_lanes)
}

/// Sends the question for what is complete. It can be sent `behind` another call that is still to be answered: then it
/// is asked once that call is done, and costs no round trip of its own.
///
/// # Errors
///
/// [`status::LOST`].
pub(crate) fn ask(lane: &mut Lane, until: u64, behind: bool) -> Answer<Call> {
    let mut call = Call::new(COLLECT, Flags::default(), clock::now()).behind(behind);
    call.post(lane, &until.to_le_bytes(), &[])?;
    Ok(call)
}

/// Takes the answer; the copies that other threads are just taking, to be waited for with [`finish`].
///
/// # Errors
///
/// [`status::LOST`].
pub(crate) fn receive(lane: &mut Lane, mut call: Call) -> Answer<Vec<u64>> {
    let deferred_copies = &lane.session.state.deferred_copies;
    loop {
        call.wait(lane)?;
        // The error of an earlier call rides on whatever comes first.
        lane.note_sticky(call.header.context);
        if !call.header.flags.has(Flags::MORE) {
            break;
        }
        let len = call.header.bulk();
        let header = call.header;
        let piece = lane.arguments(&header, |r| {
            let piece = Piece::read(r)?;
            r.end()?;
            Ok(piece)
        })?;
        match deferred_copies.claim(piece, len) {
            Some(mut claim) => {
                let place = std::ptr::with_exposed_provenance_mut::<u8>(claim.address);
                // SAFETY: page-locked memory of the program, which it leaves alone until it has waited for the
                // copy. No other thread has these bytes, and the copy is not done before they are written.
                lane.bulk(unsafe { std::slice::from_raw_parts_mut(place, len) })?;
                claim.landed = true;
            }
            None => {
                log::once(
                    "deferred_copies",
                    "the server sent bytes that were not asked for",
                );
                lane.drop_bulk(len)?;
            }
        }
        call.received(len);
    }
    let mut taken = Taken::default();
    call.results(lane, |r: &mut Reader<'_>| {
        taken = Taken::read(r)?;
        Ok(())
    })?;
    call.end();
    for ticket in taken.failed {
        deferred_copies.change(ticket, |target| target.failed = true);
    }
    Ok(taken.in_flight_on_other_lanes)
}

/// Waits for what other threads are taking.
///
/// # Errors
///
/// [`status::LOST`].
pub(crate) fn finish(session: &Session, in_flight_on_other_lanes: &[u64]) -> Answer {
    session
        .state
        .deferred_copies
        .wait_for(session, in_flight_on_other_lanes)
}

/// Starts the thread that takes asynchronous work, once. False if there is none.
fn start(session: &'static Session) -> bool {
    let deferred_copies = &session.state.deferred_copies;
    if deferred_copies.started.load(Ordering::Acquire)
        || deferred_copies.started.swap(true, Ordering::AcqRel)
    {
        return true;
    }
    let what = "asynchronous copies, so that all are waited for";
    let started = background::start(session, "gtrace-collect", what, move || run(session));
    if !started {
        deferred_copies.started.store(false, Ordering::Release);
    }
    started
}

/// Takes what the program does not wait for, until the connection is lost.
fn run(session: &'static Session) {
    let deferred_copies = &session.state.deferred_copies;
    let first = |state: &State| state.pending.first_key_value().map(|(ticket, _)| *ticket);
    loop {
        let mut state = lock(&deferred_copies.state);
        let oldest = loop {
            match first(&state) {
                Some(oldest) => break oldest,
                None => {
                    state = deferred_copies
                        .begun
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        };
        drop(state);
        thread::sleep(PATIENCE);
        let still = first(&lock(&deferred_copies.state)) == Some(oldest);
        if still && take(session, oldest) == Err(status::LOST) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(address: usize, len: usize) -> Target {
        Target::new(address, len)
    }

    fn place(all: &DeferredCopies, piece: Piece, len: usize) -> Option<usize> {
        let claim = all.claim(piece, len)?;
        let address = claim.address;
        land(claim);
        Some(address)
    }

    fn land(mut claim: Claim<'_>) {
        claim.landed = true;
    }

    /// What a hostile server tries: the same piece on two lanes, and then what lies behind the end.
    #[test]
    fn two_threads_never_write_the_same_bytes_nor_any_beyond() {
        let all = DeferredCopies::default();
        let ticket = all.begin(target(1000, 10)).unwrap();
        let piece = |at| Piece { ticket, at };
        let first = all.claim(piece(0), 6).unwrap();
        assert!(all.claim(piece(0), 6).is_none(), "claimed already");
        assert!(all.claim(piece(12), 1 << 20).is_none());
        assert!(all.claim(piece(6), 5).is_none());
        let second = all.claim(piece(6), 4).unwrap();
        land(second);
        assert!(all.any(), "the first thread is still writing");
        land(first);
        assert!(!all.any());
        assert!(all.claim(piece(10), 1 << 20).is_none());
    }

    /// A copy that has failed is not done while a thread writes to it.
    #[test]
    fn a_failed_copy_ends_with_its_last_writer() {
        let all = DeferredCopies::default();
        let ticket = all.begin(target(1000, 10)).unwrap();
        let piece = |at| Piece { ticket, at };
        let writer = all.claim(piece(0), 6).unwrap();
        all.change(ticket, |target| target.failed = true);
        assert!(all.any());
        assert!(all.claim(piece(6), 4).is_none());
        land(writer);
        assert!(!all.any());
        // One whose connection broke in the middle.
        let ticket = all.begin(target(1000, 10)).unwrap();
        drop(all.claim(Piece { ticket, at: 0 }, 6).unwrap());
        assert!(!all.any());
        all.wait_for_writers(1000, 10);
    }

    #[test]
    fn bytes_land_in_order_and_only_where_they_were_asked_for() {
        let all = DeferredCopies::default();
        let ticket = all.begin(target(1000, 10)).unwrap();
        let piece = |at| Piece { ticket, at };
        assert!(all.any_until(ticket) && !all.any_until(ticket - 1));
        assert_eq!(place(&all, piece(0), 11), None);
        assert_eq!(place(&all, piece(4), 4), None);
        assert_eq!(place(&all, piece(0), 4), Some(1000));
        assert_eq!(place(&all, piece(0), 4), None);
        assert!(all.any());
        assert_eq!(place(&all, piece(4), 6), Some(1004));
        assert!(!all.any());
        assert_eq!(place(&all, piece(10), 0), None);
    }

    #[test]
    fn no_more_is_asked_for_than_the_server_keeps() {
        let all = DeferredCopies::default();
        let half = BLOCK * BLOCKS / 2;
        let first = all.begin(target(0, half)).unwrap();
        assert!(all.begin(target(half, half + 1)).is_none());
        all.begin(target(half, half)).unwrap();
        assert!(all.begin(target(2 * half, 1)).is_none());
        all.end(&mut lock(&all.state), first);
        assert!(all.begin(target(2 * half, 1)).is_some());
    }

    #[test]
    fn what_overlaps_is_found() {
        let all = DeferredCopies::default();
        let ticket = all.begin(target(1000, 10)).unwrap();
        assert_eq!(all.overlapping(1009, 1), Some(ticket));
        assert_eq!(all.overlapping(990, 11), Some(ticket));
        assert_eq!(all.overlapping(1010, 5), None);
        assert_eq!(all.overlapping(990, 10), None);
    }
}
