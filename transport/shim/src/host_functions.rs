//! Functions of the program that run when a stream gets there. A thread with a lane of its own waits
//! for the server to say so, runs the function, and lets the stream go on.

// Calls functions of the program.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use gtrace_cuda::payload::{
    HOST_DONE, HOST_NEXT, HostFunction, HostReached, LOCKED_MIN, Payload as _,
};
use gtrace_cuda::types::driver::{self as cuda, CUhostFn, CUresult, CUstream, CUstreamCallback};
use gtrace_protocol::{Flags, OpId, op_id};

use crate::copy::{self, push};
use crate::entry::{Answer, Call, check, written};
use crate::lane::Lane;
use crate::owner::Owner;
use crate::session::{self, Session, with_lane};
use crate::state::lock;
use crate::status::fail_if;
use crate::{background, capture, clock, deferred_copies, exit, managed, status};

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
pub(crate) struct Kept {
    ticket: u64,
    /// What was instantiated last with nodes that call it.
    pub(crate) owner: Owner,
}

impl Kept {
    /// Its number.
    pub(crate) const fn ticket(&self) -> u64 {
        self.ticket
    }

    /// The one of this number.
    pub(crate) fn numbered(ticket: u64) -> Arc<Self> {
        Arc::new(Self {
            ticket,
            owner: Owner::default(),
        })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(session) = session::current() {
            session.state.host_functions.forget(self.ticket);
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
    /// How many a launch calls of what was instantiated, by its handle.
    launches: Mutex<HashMap<u64, usize>>,
    /// Functions that no graph has any more, of which a launch under way may call some, and what can be launched no more.
    gone: Mutex<Vec<u64>>,
    tickets: AtomicU64,
    /// Whether there is a thread that runs them.
    started: Mutex<bool>,
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

    /// What was instantiated as `exec` is launched, which calls so many.
    ///
    /// # Errors
    ///
    /// OPERATING_SYSTEM without a thread for them that has a lane.
    pub(crate) fn expect(&self, session: &'static Session, exec: u64, count: usize) -> Answer {
        if count > 0 {
            self.start(session)?;
            lock(&self.launches).insert(exec, count);
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

    /// What was instantiated as `exec` is gone.
    pub(crate) fn forget_launches(&self, exec: u64) {
        if lock(&self.launches).contains_key(&exec) {
            self.forget(exec);
        }
    }

    /// No graph has this function any more, or what was instantiated by this handle is gone.
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
        let mut launches = lock(&self.launches);
        for ticket in gone.drain(..) {
            pending.remove(&ticket);
            launches.remove(&ticket);
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

    /// The server could not put a function into its stream, or not launch what was instantiated by this handle.
    fn never(&self, ticket: u64) {
        let launch = lock(&self.launches).get(&ticket).copied();
        match self.find(ticket) {
            None => self.expect_no_more(launch.unwrap_or(0)),
            Some(own) if own.stays => {}
            Some(_) => self.expect_no_more(1),
        }
    }

    fn find(&self, ticket: u64) -> Option<Pending> {
        let mut pending = lock(&self.pending);
        match pending.get(&ticket) {
            Some(own) if own.stays => Some(*own),
            _ => pending.remove(&ticket),
        }
    }

    /// Starts the thread that runs them, if there is none, and waits until it has a lane: without one it would run nothing, and
    /// streams would wait for ever.
    fn start(&self, session: &'static Session) -> Answer {
        let mut started = lock(&self.started);
        if *started {
            return Ok(());
        }
        let (opened, has_lane) = mpsc::channel();
        let work = move || {
            let lane = with_lane(session, |_| Ok(()));
            let _ = opened.send(lane);
            if lane.is_ok() {
                run(session);
            }
        };
        if !background::start(session, "gtrace-host-fn", "host functions", work) {
            return Err(cuda::CUDA_ERROR_OPERATING_SYSTEM);
        }
        // One that is gone without saying so has lost the session.
        has_lane.recv().unwrap_or(Err(status::LOST))?;
        *started = true;
        Ok(())
    }
}

/// What only this thread and the server need to know goes past all other lanes: one of them may be in a call of the
/// driver that waits for the function.
fn apart<T>(session: &'static Session, action: impl FnOnce() -> Answer<T>) -> Answer<T> {
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
fn past_calls(session: &'static Session, copies: impl FnOnce() -> Answer) -> Answer {
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

/// Runs functions until the connection is lost or the process ends.
fn run(session: &'static Session) {
    if apart(session, capture::set_relaxed) == Err(status::LOST) {
        return;
    }
    loop {
        let reached = match apart(session, || next(session)) {
            Ok(reached) => reached,
            Err(_) if session.is_lost() || exit::is_ending() => return,
            // The server has stopped waiting, and says why by the lane if it has ended the session.
            Err(cuda::CUDA_ERROR_NOT_READY) => continue,
            Err(code) => {
                let why = format!("it does not say which host functions are to run (error {code})");
                return session.lose_for(&why);
            }
        };
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
                |w| w.u64(reached.call),
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

fn next(session: &'static Session) -> Answer<HostReached> {
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
/// OPERATING_SYSTEM without a thread for it that has a lane.
pub(crate) fn keep(
    function: unsafe extern "C" fn(*mut c_void),
    user: *mut c_void,
) -> Answer<Arc<Kept>> {
    let session = session::cuda()?;
    session.state.host_functions.start(session)?;
    let ticket = session.state.host_functions.put(Pending {
        function: Function::Host(function),
        stream: 0,
        user: user.expose_provenance(),
        stays: true,
    });
    Ok(Kept::numbered(ticket))
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

fn add(op: OpId, stream: CUstream, function: Function, user: *mut c_void) -> Answer {
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
            |w| call.write(w),
            |lane, small| push(lane, op, Flags::default(), small, &[]),
        )
    });
    if let Some(id) = capture {
        let mut kept = Some(Kept::numbered(ticket));
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
) -> Answer {
    const OP: OpId = op_id("cuLaunchHostFunc");
    let function = fn_.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    add(OP, hStream, Function::Host(function), userData)
}

/// How the driver waits for the function makes no difference from here.
pub(crate) unsafe fn cuLaunchHostFunc_v2(
    hStream: CUstream,
    fn_: CUhostFn,
    userData: *mut c_void,
    _syncMode: c_uint,
) -> Answer {
    // SAFETY: the program's function and argument.
    unsafe { cuLaunchHostFunc(hStream, fn_, userData) }
}

pub(crate) unsafe fn cuStreamAddCallback(
    hStream: CUstream,
    callback: CUstreamCallback,
    userData: *mut c_void,
    flags: c_uint,
) -> Answer {
    const OP: OpId = op_id("cuStreamAddCallback");
    let function = callback.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    fail_if(flags != 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
    add(OP, hStream, Function::Callback(function), userData)
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

    #[test]
    fn a_launch_that_the_server_cannot_make_is_not_waited_for() {
        let functions = HostFunctions::default();
        let exec = gtrace_cuda::Kind::GraphExec.handle(7);
        lock(&functions.launches).insert(exec, 2);
        functions.outstanding.store(5, Ordering::Release);
        lock(&functions.awaited).count = 5;
        // It is gone by the time at which the server says so.
        functions.forget_launches(exec);
        functions.never(exec);
        assert_eq!(functions.outstanding.load(Ordering::Acquire), 3);
        assert_eq!(lock(&functions.awaited).count, 3);
        functions.returned(3);
        assert!(lock(&functions.launches).is_empty());
        functions.never(exec);
        assert!(!functions.are_outstanding());
        // One that was never launched.
        functions.outstanding.store(1, Ordering::Release);
        functions.forget_launches(exec);
        assert!(lock(&functions.gone).is_empty());
    }
}
