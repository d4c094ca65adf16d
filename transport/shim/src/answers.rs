//! What the server reported with the calling thread's last answers, for the library that traces the program
//! (`gtrace exec --trace`).

// An exported symbol.
#![allow(unsafe_code)]

use std::cell::Cell;

use crate::clock;
use crate::stats::Answered;

/// Awaited answers since somebody asked; times in ns.
#[derive(Clone, Copy)]
struct Answers {
    count: u64,
    /// The first request was handed to the link.
    sent: u64,
    /// The link had the last answer.
    seen: u64,
    queue: u64,
    exec: u64,
}

const NONE: Answers = Answers {
    count: 0,
    sent: 0,
    seen: 0,
    queue: 0,
    exec: 0,
};

thread_local! {
    /// It has no destructor, so that it can be used until the thread's very end.
    static ANSWERS: Cell<Answers> = const { Cell::new(NONE) };
}

/// A call of this thread has been answered.
#[inline]
pub(crate) fn note(call: &Answered) {
    let before = ANSWERS.get();
    ANSWERS.set(Answers {
        count: before.count + 1,
        sent: match before.count {
            0 => call.sent,
            _ => before.sent,
        },
        seen: call.seen,
        queue: before.queue + call.queue,
        exec: before.exec + call.exec,
    });
}

/// Answers until now were to calls of this library.
pub(crate) fn forget() {
    ANSWERS.set(NONE);
}

/// Writes how long ago, in ns, the calling thread's first request was sent and its last answer was there since
/// this was asked last; then the sums of the times that the requests waited in the server and were executed
/// there. Gives the number of answers; with 0 nothing is written.
///
/// # Safety
///
/// `times` is a place for four numbers.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn gtrace_shim_answered(times: *mut [u64; 4]) -> u64 {
    let answers = ANSWERS.replace(NONE);
    if answers.count > 0 && !times.is_null() {
        let now = clock::now();
        let ago = |time: u64| now.saturating_sub(time);
        // SAFETY: the caller's promise.
        unsafe {
            times.write([
                ago(answers.sent),
                ago(answers.seen),
                answers.queue,
                answers.exec,
            ]);
        }
    }
    answers.count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_summed_until_they_are_asked_for() {
        let now = clock::now();
        let call = |sent, seen| Answered {
            op: gtrace_protocol::op_id("test of answers"),
            behind: false,
            began: 0,
            sent,
            seen,
            queue: 5,
            exec: 7,
            bytes_out: 0,
            bytes_in: 0,
        };
        note(&call(now - 9_000, now - 8_000));
        note(&call(now - 7_000, now - 6_000));
        let mut times = [0; 4];
        // SAFETY: a place for four numbers.
        assert_eq!(unsafe { gtrace_shim_answered(&raw mut times) }, 2);
        let [sent, seen, queue, exec] = times;
        // Both were that long ago before the clock was read again.
        assert!(sent >= 9_000 && seen >= 6_000 && sent - seen == 3_000);
        assert_eq!((queue, exec), (10, 14));
        // SAFETY: as above.
        assert_eq!(unsafe { gtrace_shim_answered(&raw mut times) }, 0);
    }
}
