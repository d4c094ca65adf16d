//! Records of calls and of what the GPU did for them.

// What the client's library reports lies at addresses.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::CStr;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU32, Ordering};

use gtrace_recording::observe::{Ended, place};
use gtrace_recording::{NO_STREAM, kind as details};

use crate::records::{Call, Copy, External, Graph, Kernel, NONE, Record, Set, Wait, kind};
use crate::state::{Inner, Times};
use crate::{buffers, callbacks, cbids, records, state};

/// So many complete records are handed to the program without its asking.
const ENOUGH: usize = 1 << 16;

/// `CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC`, which fills have too.
const ASYNC: u8 = 1;

/// Which number of a thread its records have: `CUpti_ActivityThreadIdType`.
pub(crate) static THREAD_ID_TYPE: AtomicU32 = AtomicU32::new(0);
/// The thread's number for the system; not that of the C library.
pub(crate) const THREAD_ID_SYSTEM: u32 = 1;

thread_local! {
    /// Kinds and numbers that the thread's calls belong to, the newest last.
    static EXTERNAL: RefCell<Vec<(u32, u64)>> = const { RefCell::new(Vec::new()) };
}

/// The thread's calls belong to `id` from now on, for correlations of this kind.
pub(crate) fn push_external(kind: u32, id: u64) {
    let _ = EXTERNAL.try_with(|all| all.borrow_mut().push((kind, id)));
}

/// No longer to the newest, which this gives.
pub(crate) fn pop_external(kind: u32) -> Option<u64> {
    let popped = EXTERNAL.try_with(|all| {
        let mut all = all.borrow_mut();
        let at = all.iter().rposition(|(known, _)| *known == kind)?;
        Some(all.remove(at).1)
    });
    popped.ok().flatten()
}

/// The newest of each kind.
fn externals() -> Vec<(u32, u64)> {
    let newest = EXTERNAL.try_with(|all| {
        let mut newest: Vec<(u32, u64)> = Vec::new();
        for (kind, id) in all.borrow().iter().rev() {
            if !newest.iter().any(|(known, _)| known == kind) {
                newest.push((*kind, *id));
            }
        }
        newest
    });
    newest.unwrap_or_default()
}

fn thread() -> u32 {
    match THREAD_ID_TYPE.load(Ordering::Relaxed) {
        // SAFETY: asks for a number.
        THREAD_ID_SYSTEM => unsafe { libc::gettid() }.cast_unsigned(),
        // SAFETY: likewise.
        _ => unsafe { libc::pthread_self() as u32 },
    }
}

/// A call is about to return.
///
/// # Safety
///
/// `ended` is what the client's library reports.
pub(crate) unsafe extern "C" fn end(ended: *const Ended) {
    let _ = catch_unwind(|| {
        // SAFETY: the caller's promise.
        let ended = unsafe { &*ended };
        // SAFETY: a string of the client's library.
        let name = unsafe { CStr::from_ptr(ended.call.name) };
        let of = callbacks::Of::end(ended, name);
        if state::is_active() {
            record(ended, name, &of);
        }
    });
}

fn record(ended: &Ended, name: &CStr, of: &callbacks::Of) {
    let state = state::get();
    let mut inner = state.lock();
    let kinds = inner.wanted.of(ended.call.context.addr());
    let wants = |kind: u32| kinds & 1 << kind != 0;
    let cbid = u32::from(cbids::of(name));
    let is_call = inner.wanted.is_call(kinds, cbid);
    let is_work = work(&mut inner, ended, name, kinds, of);
    if wants(kind::EXTERNAL_CORRELATION) && (is_call || is_work) {
        for (whose, id) in externals() {
            let external = External {
                kind: kind::EXTERNAL_CORRELATION,
                whose,
                id,
                correlation: of.correlation,
                reserved: 0,
            };
            inner.done(Record::External(external), Times::Known);
        }
    }
    if is_call {
        let call = Call {
            kind: kind::DRIVER,
            cbid,
            start: of.start,
            end: of.end,
            process: std::process::id(),
            thread: thread(),
            correlation: of.correlation,
            result: ended.code,
        };
        inner.done(Record::Call(call), Times::Known);
    }
    if wants(kind::SYNCHRONIZATION) && ended.code == 0 {
        wait(&mut inner, ended, name, of);
    }
    let enough = inner.done.len() >= ENOUGH;
    let first = inner.buffer.is_none() && (!inner.done.is_empty() || !inner.pending.is_empty());
    drop(inner);
    if enough {
        buffers::deliver_if_free(state);
    } else if first {
        buffers::prepare(state);
    }
}

/// What a wait is of: `CUpti_ActivitySynchronizationType`.
fn waits_for(name: &CStr) -> Option<u32> {
    let name = name.to_bytes();
    let is = |wait: &[u8]| name.starts_with(wait);
    match () {
        () if is(b"cuEventSynchronize") => Some(1),
        () if is(b"cuStreamSynchronize") => Some(3),
        () if is(b"cuCtxSynchronize") => Some(4),
        () => None,
    }
}

fn wait(inner: &mut Inner, ended: &Ended, name: &CStr, of: &callbacks::Of) {
    let Some(what) = waits_for(name) else { return };
    let wait = Wait {
        kind: kind::SYNCHRONIZATION,
        what,
        start: of.start,
        end: of.end,
        correlation: of.correlation,
        context: ended.call.context_number,
        stream: match what {
            3 => ended.stream,
            _ => NONE,
        },
        event: NONE,
        event_sync: 0,
        result: ended.code,
        pad: 0,
    };
    inner.done(Record::Wait(wait), Times::Known);
}

/// Keeps a record of what the GPU does for a call, if that is wanted. Whether it is.
fn work(inner: &mut Inner, ended: &Ended, name: &CStr, kinds: u64, of: &callbacks::Of) -> bool {
    let wants = |kind: u32| kinds & 1 << kind != 0;
    // The program waits in copies and fills that name no stream.
    let waited = ended.code == 0 && ended.details.words[1] == NO_STREAM;
    let record = match ended.details.kind {
        details::LAUNCH if wants(kind::CONCURRENT_KERNEL) => {
            Some(kernel(inner, kind::CONCURRENT_KERNEL, ended, of))
        }
        details::LAUNCH if wants(kind::KERNEL) => Some(kernel(inner, kind::KERNEL, ended, of)),
        details::COPY if wants(kind::MEMCPY) => Some(copy(ended, name, of, waited)),
        details::SET if wants(kind::MEMSET) => Some(set(ended, of, waited)),
        details::STREAM if wants(kind::GRAPH_TRACE) && ended.is_work => Some(graph(ended, of)),
        _ => None,
    };
    let Some(mut record) = record else {
        return false;
    };
    match (ended.is_work, waited) {
        (true, _) if ended.is_timed => inner.pending(ended.token, record, of.start, thread()),
        // The server does not know when.
        (true, _) => inner.dropped += 1,
        (false, true) => {
            record.set_times(of.start, of.end);
            inner.done(record, Times::Known);
        }
        // It failed, or is captured.
        (false, false) => return false,
    }
    true
}

fn kernel(inner: &mut Inner, kind: u32, ended: &Ended, of: &callbacks::Of) -> Record {
    let [_, _, grid, block] = ended.details.words;
    let part = |word: u64, from: u32, bits: u32| (word >> from & ((1 << bits) - 1)) as i32;
    let [registers, static_shared, local] = ended.attributes;
    let name = match ended.kernel.is_null() {
        true => c"(kernel without a name)".as_ptr(),
        false => ended.kernel,
    };
    Record::Kernel(Box::new(Kernel {
        kind,
        registers: u16::try_from(registers).unwrap_or(0),
        device: ended.device.cast_unsigned(),
        context: ended.call.context_number,
        stream: ended.stream,
        grid: [part(grid, 0, 32), part(grid, 32, 16), part(grid, 48, 16)],
        block: [part(block, 0, 16), part(block, 16, 16), part(block, 32, 16)],
        static_shared,
        dynamic_shared: ended.details.extra.cast_signed(),
        local_per_thread: local.cast_unsigned(),
        correlation: of.correlation,
        grid_id: of.correlation.into(),
        name: inner.name(name).expose_provenance(),
        // CUPTI_CHANNEL_TYPE_COMPUTE
        channel_kind: 1,
        ..Kernel::default()
    }))
}

/// `CUpti_ActivityMemcpyKind` of a copy, by its name, or else by what memory it is between.
fn copy_kind(name: &CStr, from: u8, to: u8) -> u8 {
    const NAMED: [(&[u8], u8); 9] = [
        (b"HtoD", 1),
        (b"DtoH", 2),
        (b"HtoA", 3),
        (b"AtoH", 4),
        (b"AtoA", 5),
        (b"AtoD", 6),
        (b"DtoA", 7),
        (b"DtoD", 8),
        (b"Peer", 10),
    ];
    let bytes = name.to_bytes();
    let named = NAMED
        .iter()
        .find(|(part, _)| bytes.windows(4).any(|at| at == *part));
    let host = |place: u8| matches!(place, place::PAGEABLE | place::PINNED);
    match named {
        Some((_, kind)) => *kind,
        None if from == place::UNKNOWN || to == place::UNKNOWN => 0,
        None => match (host(from), host(to)) {
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 8,
            (true, true) => 9,
        },
    }
}

fn copy(ended: &Ended, name: &CStr, of: &callbacks::Of, waited: bool) -> Record {
    Record::Copy(Copy {
        kind: kind::MEMCPY,
        copy: copy_kind(name, ended.from, ended.to),
        from: ended.from,
        to: ended.to,
        flags: if waited { 0 } else { ASYNC },
        bytes: ended.details.bytes,
        device: ended.device.cast_unsigned(),
        context: ended.call.context_number,
        stream: stream(ended, waited),
        correlation: of.correlation,
        // CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY
        channel_kind: 2,
        count: 1,
        ..Copy::default()
    })
}

/// The stream of a copy; that of one that names none is the default stream.
fn stream(ended: &Ended, waited: bool) -> u32 {
    match waited {
        true => callbacks::DEFAULT_STREAM,
        false => ended.stream,
    }
}

fn set(ended: &Ended, of: &callbacks::Of, waited: bool) -> Record {
    Record::Set(Set {
        kind: kind::MEMSET,
        bytes: ended.details.bytes,
        device: ended.device.cast_unsigned(),
        context: ended.call.context_number,
        stream: stream(ended, waited),
        correlation: of.correlation,
        flags: if waited { 0 } else { ASYNC.into() },
        memory: ended.to.into(),
        channel_kind: 1,
        ..Set::default()
    })
}

/// A graph launch, whose first argument is the instance.
fn graph(ended: &Ended, of: &callbacks::Of) -> Record {
    // SAFETY: a struct of the arguments of `cuGraphLaunch`, which gives a stream work, and is reported with its stream.
    let instance = unsafe { ended.call.arguments.cast::<u64>().read() };
    let (device, context) = (ended.device.cast_unsigned(), ended.call.context_number);
    Record::Graph(Graph {
        kind: kind::GRAPH_TRACE,
        correlation: of.correlation,
        device,
        graph: records::graph(instance),
        context,
        stream: ended.stream,
        end_device: device,
        end_context: context,
        ..Graph::default()
    })
}

/// When the GPU did what call `token` gave it to do.
pub(crate) extern "C" fn work_reported(token: u64, begun: u64, ended: u64) {
    let _ = catch_unwind(|| state::get().lock().reported(token, begun, ended));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_of_the_kind_that_their_name_or_their_memory_says() {
        let (host, device) = (place::PAGEABLE, place::DEVICE);
        assert_eq!(copy_kind(c"cuMemcpyHtoDAsync_v2", host, device), 1);
        assert_eq!(copy_kind(c"cuMemcpyAsync", place::PINNED, device), 1);
        assert_eq!(copy_kind(c"cuMemcpyAsync", device, host), 2);
        assert_eq!(copy_kind(c"cuMemcpyAsync", device, place::MANAGED), 8);
        assert_eq!(copy_kind(c"cuMemcpyAsync", host, host), 9);
        assert_eq!(copy_kind(c"cuMemcpy3D_v2", 0, 0), 0);
    }

    #[test]
    fn the_newest_external_number_of_each_kind_counts() {
        push_external(3, 1);
        push_external(4, 2);
        push_external(3, 5);
        assert_eq!(externals(), [(3, 5), (4, 2)]);
        assert_eq!((pop_external(3), pop_external(3)), (Some(5), Some(1)));
        assert_eq!((pop_external(3), pop_external(4)), (None, Some(2)));
    }
}
