//! The program's buffers for records.

// Functions and memory of the program.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr::{null_mut, slice_from_raw_parts_mut};
use std::sync::{MutexGuard, PoisonError};

use crate::clock::Scale;
use crate::records::Record;
use crate::state::{Held, State, Times};

/// `CUpti_BuffersCallbackRequestFunc`
pub(crate) type Request = unsafe extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
/// `CUpti_BuffersCallbackCompleteFunc`
pub(crate) type Complete = unsafe extern "C" fn(*mut std::ffi::c_void, u32, *mut u8, usize, usize);

/// By how much two times of the server's clock may be misjudged against each other.
const CLOCK_OFF_NS: u64 = 1_000_000;

/// The functions that give buffers and take them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffers {
    pub(crate) request: Request,
    pub(crate) complete: Complete,
}

thread_local! {
    /// The thread is in one of these functions.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// A buffer that is being filled.
#[derive(Debug)]
pub(crate) struct Buffer {
    start: *mut u8,
    size: usize,
    /// Records that it may have; 0: as many as fit.
    most: usize,
    used: usize,
    count: usize,
}

// SAFETY: memory that the program lends, which only the holder of this writes to.
unsafe impl Send for Buffer {}

impl Buffer {
    /// One that has room for a record, if the program gives one.
    fn request(buffers: &Buffers) -> Option<Self> {
        let mut buffer = Self {
            start: null_mut(),
            size: 0,
            most: 0,
            used: 0,
            count: 0,
        };
        // SAFETY: places for what is given.
        unsafe {
            (buffers.request)(
                &raw mut buffer.start,
                &raw mut buffer.size,
                &raw mut buffer.most,
            );
        }
        (!buffer.start.is_null()).then_some(buffer)
    }

    /// Puts a record behind the others; whether there was room.
    fn put(&mut self, record: &Record) -> bool {
        let bytes = record.bytes();
        let full = self.most != 0 && self.count == self.most;
        if full || self.size - self.used < bytes.len() {
            return false;
        }
        // SAFETY: within the buffer, which the program lends until it is completed.
        unsafe {
            let room = slice_from_raw_parts_mut(self.start.add(self.used), bytes.len());
            (*room).copy_from_slice(bytes);
        }
        self.used += bytes.len();
        self.count += 1;
        true
    }

    fn complete(self, buffers: &Buffers) {
        // SAFETY: a buffer of the program's.
        unsafe { (buffers.complete)(null_mut(), 0, self.start, self.size, self.used) };
    }
}

/// Has one of the program's buffers, now that there is a record: programs ask for records only once they have given one. The
/// calling thread waits for no function of the program in another thread, which may wait for what this one holds.
pub(crate) fn prepare(state: &State) {
    if WITHIN.get() {
        return;
    }
    let mut inner = state.lock();
    let is_due = inner.buffer.is_none() && !inner.is_requesting;
    let Some(buffers) = inner.buffers.filter(|_| is_due) else {
        return;
    };
    inner.is_requesting = true;
    drop(inner);
    let buffer = within(|| Buffer::request(&buffers));
    let mut inner = state.lock();
    inner.is_requesting = false;
    inner.buffer = buffer;
}

/// Gives back the buffer that is kept; not in the middle of one of the program's own functions.
pub(crate) fn release(state: &State) {
    if WITHIN.get() {
        return;
    }
    let _delivering = delivering(state);
    let (buffers, buffer) = {
        let mut inner = state.lock();
        (inner.buffers, inner.buffer.take())
    };
    if let (Some(buffers), Some(buffer)) = (buffers, buffer) {
        within(|| buffer.complete(&buffers));
    }
}

fn delivering(state: &State) -> MutexGuard<'_, ()> {
    let held = state.delivering.lock();
    held.unwrap_or_else(PoisonError::into_inner)
}

/// Calls functions of the program.
fn within<T>(calls: impl FnOnce() -> T) -> T {
    WITHIN.set(true);
    let result = calls();
    WITHIN.set(false);
    result
}

/// Fills buffers with all records, `buffer` first; how many found no room.
fn fill(buffers: &Buffers, mut buffer: Option<Buffer>, records: &[Record]) -> usize {
    let mut left = records.iter();
    let mut dropped = 0;
    let mut next = left.next();
    while let Some(record) = next {
        let given = buffer.take().or_else(|| Buffer::request(buffers));
        let Some(mut buffer) = given else {
            return dropped + 1 + left.len();
        };
        let mut first = true;
        while let Some(record) = next {
            if !buffer.put(record) {
                break;
            }
            first = false;
            next = left.next();
        }
        buffer.complete(buffers);
        if first && next.is_some_and(|next| std::ptr::eq(next, record)) {
            // It does not fit into an empty one.
            dropped += 1;
            next = left.next();
        }
    }
    dropped
}

/// Hands complete records to the program. Nothing happens in the middle of one of its own functions for that.
pub(crate) fn deliver(state: &State) {
    if !WITHIN.get() {
        hand_on(state, delivering(state));
    }
}

/// The same at the end of a call, which does not wait while another thread does so already.
pub(crate) fn deliver_if_free(state: &State) {
    if !WITHIN.get()
        && let Ok(free) = state.delivering.try_lock()
    {
        hand_on(state, free);
    }
}

fn hand_on(state: &State, _delivering: MutexGuard<'_, ()>) {
    let (buffers, buffer, held, since) = {
        let mut inner = state.lock();
        let (Some(buffers), Some(since)) = (inner.buffers, inner.since) else {
            return;
        };
        if inner.done.is_empty() {
            return;
        }
        let held = std::mem::take(&mut inner.done);
        (buffers, inner.buffer.take(), held, since)
    };
    let measured = |held: &Held| matches!(held.times, Times::Measured(_));
    let scale = held.iter().any(measured).then(|| Scale::since(since));
    let mut order = Vec::new();
    let mut records: Vec<Record> = Vec::with_capacity(held.len());
    for Held { mut record, times } in held {
        if let (Times::Measured(work), Some(scale)) = (times, &scale) {
            let begun = scale.at(work.begun);
            let took = scale.at(work.ended).saturating_sub(begun);
            // Work does not begin before it was asked for.
            let begun = begun.max(work.called);
            record.set_times(begun, begun.saturating_add(took));
            order.push((records.len(), work.thread));
        }
        records.push(record);
    }
    in_order(&mut records, order);
    let dropped = within(|| fill(&buffers, buffer, &records));
    state.lock().dropped += dropped;
}

/// What a stream does begins when what it was given before has ended: by which thread, else the calls may have been in another
/// order. The server's clock is known to some microseconds, and for each exchange anew; how long something took is known better.
fn in_order(records: &mut [Record], mut order: Vec<(usize, u32)>) {
    order.sort_by_key(|(at, _)| records[*at].correlation());
    let mut ends: HashMap<(u32, u32), (u64, u32)> = HashMap::new();
    for (at, thread) in order {
        let record = &mut records[at];
        let Some((stream, begun, ended)) = record.work() else {
            continue;
        };
        let (before, by) = ends.get(&stream).copied().unwrap_or_default();
        let early = before.saturating_sub(begun);
        let early = match by == thread || early <= CLOCK_OFF_NS {
            true => early,
            false => 0,
        };
        record.set_times(begun + early, ended + early);
        ends.insert(stream, (before.max(ended + early), thread));
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;

    use super::*;
    use crate::records::{Copy, kind};

    fn copy(correlation: u32, stream: u32, begun: u64, ended: u64) -> Record {
        let mut record = Record::Copy(Copy {
            kind: kind::MEMCPY,
            correlation,
            stream,
            ..Copy::default()
        });
        record.set_times(begun, ended);
        record
    }

    unsafe extern "C" fn request(buffer: *mut *mut u8, size: *mut usize, most: *mut usize) {
        // SAFETY: places for what is given.
        unsafe {
            *buffer = Box::leak(Box::new([0u64; 64])).as_mut_ptr().cast();
            (*size, *most) = (512, 0);
        }
    }

    unsafe extern "C" fn complete(_: *mut c_void, _: u32, _: *mut u8, _: usize, _: usize) {}

    /// Which may wait for what the calling thread holds.
    #[test]
    fn calls_do_not_wait_for_functions_of_the_program_in_another_thread() {
        let state = State::default();
        state.lock().buffers = Some(Buffers { request, complete });
        let of_another = delivering(&state);
        prepare(&state);
        deliver_if_free(&state);
        // The program's function ends everything.
        within(|| release(&state));
        assert!(state.lock().buffer.is_some());
        drop(of_another);
        release(&state);
        assert!(state.lock().buffer.is_none());
    }

    #[test]
    fn work_of_a_stream_begins_when_what_was_before_has_ended() {
        let far = 10 * CLOCK_OFF_NS;
        let mut records = vec![
            copy(3, 7, 90, 130),
            copy(1, 7, 100, 120),
            copy(2, 8, 90, 95),
            copy(4, 7, far, far + 5),
            copy(5, 7, 10, 20),
            copy(6, 7, 10, 20),
        ];
        // The last is another thread's, and earlier by more than a clock is off.
        let order = vec![(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 2)];
        in_order(&mut records, order);
        let works = records.iter().filter_map(Record::work);
        let times: Vec<_> = works.map(|(_, begun, ended)| (begun, ended)).collect();
        let rest = [(far, far + 5), (far + 5, far + 15), (10, 20)];
        assert_eq!(times[..3], [(120, 160), (100, 120), (90, 95)]);
        assert_eq!(times[3..], rest);
    }
}
