//! The end of the process: the calls that it did not wait for are executed by then, or its user learns that they are not.

// exit(3) and its like.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::session::{Session, with_lane};
use crate::{device_idle, log, times};

/// How long the server may take for what is still to be executed.
const PATIENCE: Duration = Duration::from_secs(5);
/// With `GTRACE_STRICT_EXIT`, what a program exits with whose calls are lost: EX_IOERR of sysexits.h.
const CALLS_LOST: i32 = 74;

static ENDING: AtomicBool = AtomicBool::new(false);
static CONFIRMED: AtomicBool = AtomicBool::new(false);

/// Whether the process is at its end.
pub(crate) fn is_ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

/// Whether the process is at its end and all that it gave the device to do is executed: who then ends the links loses no call.
pub(crate) fn is_confirmed() -> bool {
    CONFIRMED.load(Ordering::Relaxed)
}

/// Sends what lies unsent and waits until it is executed. One round trip, and none where the program has waited for
/// all that it gave the device to do. A library that traces is given the times of threads that are still there.
pub(crate) fn confirm(session: &'static Session) {
    ENDING.store(true, Ordering::Relaxed);
    let sent_any = session.last.load(Ordering::Acquire) != 0;
    let is_unknown = sent_any && !device_idle::is(session);
    if !session.is_lost() && (is_unknown || times::is_taken_at_exit()) {
        within_patience(session, || {
            session.lanes.flush(&mut Vec::new());
            // Not possible in the middle of a call, as in a host function that ends the process.
            let is_executed = !is_unknown || with_lane(session, |lane| lane.confirm()).is_ok();
            CONFIRMED.store(is_executed, Ordering::Relaxed);
            times::report_at_exit(session);
            session.lanes.say_ending();
        });
    } else {
        session.lanes.flush(&mut Vec::new());
        session.lanes.say_ending();
    }
}

/// Ends the process with a status of its own if calls are lost and the program is to be strict about that. Handlers
/// that were registered before this library was loaded do not run then.
pub(crate) fn be_strict(session: &Session) {
    if session.settings.strict_exit && session.is_lost() && !is_confirmed() {
        // SAFETY: ends the process; a null stream stands for all of them.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(CALLS_LOST);
        }
    }
}

/// Does `action`, and ends the links if that takes too long.
fn within_patience(session: &'static Session, action: impl FnOnce()) {
    let (done, watched) = mpsc::channel::<()>();
    let started = gtrace_link::without_signals(|| {
        thread::Builder::new()
            .name("gtrace-exit".into())
            .spawn(move || {
                // It ends with the sender.
                if watched.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    session.lose_for("the server has not executed them within 5 s");
                }
            })
    });
    match started {
        Ok(_) => action(),
        // Who cannot be watched is not waited for.
        Err(error) => log::say(&format!(
            "no thread at the end of the program ({error}): whether its last calls were executed is not known"
        )),
    }
    drop(done);
}
