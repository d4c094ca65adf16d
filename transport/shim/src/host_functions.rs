//! Functions of the program that run when a stream gets there. A thread with a lane of its own waits
//! for the server to say so, runs the function, and lets the stream go on.

// Calls functions of the program.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use gtrace_cuda::payload::{
    HOST_DONE, HOST_NEXT, HostFunction, HostReached, LOCKED_MIN, Payload as _,
};
use gtrace_cuda::types::driver::{self as cuda, CUhostFn, CUresult, CUstream, CUstreamCallback};
use gtrace_protocol::{Flags, OpId, op_id};

use crate::copy::{self, push};
use crate::entry::{Call, check, done, written};
use crate::lane::Lane;
use crate::session::{self, Session, with_lane};
use crate::state::lock;
use crate::{background, capture, clock, deferred_copies, log, managed, status};

/// What the program wants to have run.
#[derive(Clone, Copy)]
enum Function {
    Host(unsafe extern "C" fn(*mut c_void)),
    Callback(unsafe extern "C" fn(CUstream, CUresult, *mut c_void)),
}

#[derive(Clone, Copy)]
struct Pending {
    function: Function,
    stream: usize,
    user: usize,
    /// Of a node of a graph: it runs at each launch. It stays as long as its [`Kept`].
    stays: bool,
}

/// A function of nodes of graphs. It can be called as long as this lives, and then until no function is still to run: a launch may
/// be under way when its graph is destroyed.
#[derive(Debug)]
pub(crate) struct Kept(u64);

impl Kept {
    /// Its number.
    pub(crate) const fn ticket(&self) -> u64 {
        self.0
    }

    /// One that there is not.
    #[cfg(test)]
    pub(crate) fn numbered(ticket: u64) -> Arc<Self> {
        Arc::new(Self(ticket))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(session) = session::current() {
            session.state.host_functions.forget(self.0);
        }
    }
}

/// Functions for which streams of the server may wait.
#[derive(Default)]
struct Awaited {
    count: usize,
    /// The process's last one-way call before the first of them: it waits for none of them.
    before: u64,
}

/// Host functions under way.
#[derive(Default)]
pub(crate) struct HostFunctions {
    pending: Mutex<HashMap<u64, Pending>>,
    /// Functions that no graph has any more, of which a launch under way may call some.
    gone: Mutex<Vec<u64>>,
    tickets: AtomicU64,
    started: AtomicBool,
    /// Asked for and not yet done.
    outstanding: AtomicUsize,
    /// Asked for, and the server does not know yet that they are done.
    awaited: Mutex<Awaited>,
}

impl HostFunctions {
    /// Whether one is still to run, or runs, in whatever stream.
    #[inline]
    pub(crate) fn are_outstanding(&self) -> bool {
        self.outstanding.load(Ordering::Acquire) != 0
    }

    /// A graph is launched that calls so many.
    ///
    /// # Errors
    ///
    /// OPERATING_SYSTEM without a thread for them.
    pub(crate) fn expect(&self, session: &'static Session, count: usize) -> Result<(), CUresult> {
        if count > 0 {
            self.start(session)?;
            self.begin(session, count);
        }
        Ok(())
    }

    /// So many are about to be asked for. What is sent of memory that they may use is sent, or is not yet begun.
    fn begin(&self, session: &Session, count: usize) {
        let _between = managed::between_transfers();
        let mut awaited = lock(&self.awaited);
        if awaited.count == 0 {
            awaited.before = session.last.load(Ordering::Acquire);
        }
        awaited.count += count;
        self.outstanding.fetch_add(count, Ordering::AcqRel);
    }

    /// Where streams may wait for a function: the process's last one-way call that waits for none.
    pub(crate) fn awaited(&self) -> Option<u64> {
        let awaited = lock(&self.awaited);
        (awaited.count > 0).then_some(awaited.before)
    }

    /// So many have returned.
    fn returned(&self, count: usize) {
        let less = |own: usize| Some(own.saturating_sub(count));
        let _ = self
            .outstanding
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        self.forget_gone();
    }

    /// No graph has this function any more.
    fn forget(&self, ticket: u64) {
        lock(&self.gone).push(ticket);
        self.forget_gone();
    }

    fn forget_gone(&self) {
        let mut gone = lock(&self.gone);
        // Whoever has put one there has launched its graph before.
        if gone.is_empty() || self.are_outstanding() {
            return;
        }
        let mut pending = lock(&self.pending);
        for ticket in gone.drain(..) {
            pending.remove(&ticket);
        }
    }

    /// The server has been sent that so many have returned.
    fn reported(&self, count: usize) {
        let mut awaited = lock(&self.awaited);
        awaited.count = awaited.count.saturating_sub(count);
    }

    /// So many that were asked for do not come.
    pub(crate) fn expect_no_more(&self, count: usize) {
        self.returned(count);
        self.reported(count);
    }

    /// The server could not put a function into its stream.
    fn never(&self, ticket: u64) {
        if self.find(ticket).is_some_and(|own| !own.stays) {
            self.expect_no_more(1);
        }
    }

    fn find(&self, ticket: u64) -> Option<Pending> {
        let mut pending = lock(&self.pending);
        match pending.get(&ticket) {
            Some(own) if own.stays => Some(*own),
            _ => pending.remove(&ticket),
        }
    }

    /// Starts the thread that runs them, once.
    fn start(&self, session: &'static Session) -> Result<(), CUresult> {
        if self.started.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let started = gtrace_link::without_signals(|| {
            thread::Builder::new()
                .name("gtrace-host-fn".into())
                .spawn(move || background::run(session, "gtrace-host-fn", || run(session)))
        });
        started.map(drop).map_err(|error| {
            self.started.store(false, Ordering::Release);
            log::once(
                "host functions",
                &format!("no thread for host functions: {error}"),
            );
            cuda::CUDA_ERROR_OPERATING_SYSTEM
        })
    }
}

/// What only this thread and the server need to know goes past all other lanes: one of them may be in a call of the
/// driver that waits for the function.
fn apart<T>(
    session: &'static Session,
    action: impl FnOnce() -> Result<T, CUresult>,
) -> Result<T, CUresult> {
    let set = |apart| {
        with_lane(session, |lane| {
            lane.set_apart(apart);
            Ok(())
        })
    };
    set(true)?;
    let done = action();
    set(false)?;
    done
}

/// Copies beside the function, for which a stream waits: past all calls since the first that may wait for a function, as one
/// of them may be halted in the driver until this one has returned.
fn past_calls(
    session: &'static Session,
    copies: impl FnOnce() -> Result<(), CUresult>,
) -> Result<(), CUresult> {
    // No call is halted for a function.
    let Some(before) = session.state.host_functions.awaited() else {
        return copies();
    };
    with_lane(session, |lane| {
        // A driver may lock memory only once all streams are done.
        lane.chunk = lane.chunk.min(LOCKED_MIN / 2);
        lane.set_past_calls_since(before);
        Ok(())
    })?;
    let done = copies();
    with_lane(session, |lane| {
        lane.set_apart(false);
        Ok(())
    })?;
    done
}

/// Runs functions until the connection is lost.
fn run(session: &'static Session) {
    while let Ok(reached) = apart(session, || next(session)) {
        if reached.call == HostReached::NEVER {
            session.state.host_functions.never(reached.ticket);
            continue;
        }
        let pending = session.state.host_functions.find(reached.ticket);
        // What the stream has done by now is there for the function, and what the function does for the
        // stream.
        managed::after_wait(0, false);
        if apart(session, || deferred_copies::collect(session)) == Err(status::LOST) {
            return;
        }
        if let Some(pending) = &pending {
            let user = std::ptr::with_exposed_provenance_mut(pending.user);
            let stream = std::ptr::without_provenance_mut(pending.stream);
            let plan = match pending.stays {
                true => lock(&session.state.graphs.plans)
                    .get(&reached.ticket)
                    .cloned(),
                false => None,
            };
            // Context errors are reported by the next call.
            let _ = plan
                .as_ref()
                .map(|plan| past_calls(session, || plan.begin(session)));
            // SAFETY: the program gave function and argument to be called so. A panic of Rust code
            // cannot come out of an `extern "C"` function.
            unsafe {
                match pending.function {
                    Function::Host(function) => function(user),
                    Function::Callback(function) => function(stream, reached.status, user),
                }
            }
            let _ = plan
                .as_ref()
                .map(|plan| past_calls(session, || plan.end(session)));
            // Others forget it from here on, so that its memory is not freed by this thread, for which the stream waits.
            drop(plan);
            session.state.host_functions.returned(1);
        }
        let giving = managed::in_use().then(|| managed::before_any(session));
        if matches!(giving, Some(Err(status::LOST))) {
            return;
        }
        let send = |lane: &mut Lane| {
            // Other threads may have sent what the function wrote, by the lane of pages: what the stream does next is to find
            // it.
            lane.set_apart_behind(session.pages.load(Ordering::Acquire));
            let reported = written(
                lane,
                |w| {
                    w.u64(reached.call);
                    Ok(())
                },
                |lane, small| push(lane, HOST_DONE, Flags::default(), small, &[]),
            );
            // The stream waits for it.
            lane.flush();
            reported
        };
        let reported = apart(session, || with_lane(session, send));
        if pending.is_some() {
            session.state.host_functions.reported(1);
        }
        if reported == Err(status::LOST) {
            return;
        }
    }
}

fn next(session: &'static Session) -> Result<HostReached, CUresult> {
    with_lane(session, |lane| {
        let mut call = Call::new(HOST_NEXT, Flags::default(), clock::now()).send(lane, &[], &[])?;
        let mut reached = None;
        call.results(lane, |r| {
            reached = Some(HostReached::read(r)?);
            Ok(())
        })?;
        // A one-way call of another lane has failed if something has; it is reported there.
        check(call.header.status)?;
        call.end();
        reached.ok_or(cuda::CUDA_ERROR_UNKNOWN)
    })
}

/// Keeps a function of a node for all its launches.
///
/// # Errors
///
/// OPERATING_SYSTEM without a thread for it.
pub(crate) fn keep(
    function: unsafe extern "C" fn(*mut c_void),
    user: *mut c_void,
) -> Result<Arc<Kept>, CUresult> {
    let session = session::cuda()?;
    session.state.host_functions.start(session)?;
    let ticket = session.state.host_functions.put(Pending {
        function: Function::Host(function),
        stream: 0,
        user: user.expose_provenance(),
        stays: true,
    });
    Ok(Arc::new(Kept(ticket)))
}

/// A function that was kept, and its argument.
pub(crate) fn kept(
    session: &Session,
    ticket: u64,
) -> Option<(unsafe extern "C" fn(*mut c_void), *mut c_void)> {
    let pending = *lock(&session.state.host_functions.pending).get(&ticket)?;
    match pending.function {
        Function::Host(function) => Some((
            function,
            std::ptr::with_exposed_provenance_mut(pending.user),
        )),
        Function::Callback(_) => None,
    }
}

impl HostFunctions {
    /// Keeps a function; its number.
    fn put(&self, pending: Pending) -> u64 {
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.pending).insert(ticket, pending);
        ticket
    }
}

fn add(op: OpId, stream: CUstream, function: Function, user: *mut c_void) -> Result<(), CUresult> {
    let session = session::cuda()?;
    let functions = &session.state.host_functions;
    functions.start(session)?;
    let capture = capture::of(session, stream)?;
    let ticket = functions.put(Pending {
        function,
        stream: stream.addr(),
        user: user.expose_provenance(),
        stays: capture.is_some(),
    });
    if capture.is_none() {
        functions.begin(session, 1);
    }
    let call = HostFunction {
        stream: copy::stream(stream),
        ticket,
    };
    let sent = with_lane(session, |lane| {
        check(lane.take_sticky())?;
        written(
            lane,
            |w| {
                call.write(w);
                Ok(())
            },
            |lane, small| push(lane, op, Flags::default(), small, &[]),
        )
    });
    if let Some(id) = capture {
        let mut kept = Some(Arc::new(Kept(ticket)));
        if sent.is_ok() {
            capture::hold(session, id, |held| held.functions.extend(kept.take()));
            // The graph of a capture that is not known here has it for ever.
            std::mem::forget(kept);
        }
    } else if sent.is_err() && lock(&functions.pending).remove(&ticket).is_some() {
        functions.expect_no_more(1);
    }
    sent
}

pub(crate) unsafe fn cuLaunchHostFunc(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
) -> CUresult {
    const OP: OpId = op_id("cuLaunchHostFunc");
    done(|| {
        let function = fn_.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        add(OP, hStream, Function::Host(function), userData)
    })
}

/// How the driver waits for the function makes no difference from here.
pub(crate) unsafe fn cuLaunchHostFunc_v2(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
    _syncMode: c_uint,
) -> CUresult {
    // SAFETY: the program's function and argument.
    unsafe { cuLaunchHostFunc(hStream, fn_, userData) }
}

pub(crate) unsafe fn cuStreamAddCallback(
    hStream: CUstream,
    callback: CUstreamCallback,
    userData: *mut c_void,
    flags: c_uint,
) -> CUresult {
    const OP: OpId = op_id("cuStreamAddCallback");
    done(|| {
        let function = callback.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        if flags != 0 {
            return Err(cuda::CUDA_ERROR_INVALID_VALUE);
        }
        add(OP, hStream, Function::Callback(function), userData)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_nodes_stay_while_a_launch_may_call_them() {
        unsafe extern "C" fn nothing(_: *mut c_void) {}
        let functions = HostFunctions::default();
        let put = || {
            functions.put(Pending {
                function: Function::Host(nothing),
                stream: 0,
                user: 0,
                stays: true,
            })
        };
        let (one, two) = (put(), put());
        functions.forget(one);
        assert!(functions.find(one).is_none());
        assert!(functions.find(two).is_some());
        functions.outstanding.store(1, Ordering::Release);
        functions.forget(two);
        assert!(functions.find(two).is_some());
        functions.returned(1);
        assert!(functions.find(two).is_none());
    }
}
