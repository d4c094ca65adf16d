//! Around a call: its time, and what is reported about it.

use gtrace_recording::{Details, Open, Recorder};

use crate::gpu::{self, Begun, Submitted};
use crate::server;
use crate::threads::{self, Way};

/// A call that is under way; `None` where nothing is recorded.
pub(crate) type Call = Option<(&'static Recorder, Way, Open)>;

/// `function` is about to be called.
#[inline(always)]
pub(crate) fn begin(function: u16) -> Call {
    let (recorder, way) = threads::recorder()?;
    Some((recorder, way, recorder.begin(function)))
}

/// `function` has answered.
#[inline(always)]
pub(crate) fn end(call: Call, function: u16, code: u32, details: impl FnOnce() -> Details) {
    if let Some((recorder, way, open)) = call {
        recorder.end(open, function, code, details);
        server::returned(recorder, function, open.start());
        if way == Way::Borrowed {
            threads::give_back(recorder);
        }
    }
}

/// `function` has answered, which gives a stream work.
#[inline(always)]
pub(crate) fn end_work(
    begun: Begun,
    call: Call,
    function: u16,
    code: u32,
    details: impl FnOnce() -> Details,
) {
    match begun {
        Begun::Untimed => end(call, function, code, details),
        begun => end_timed(begun, call, function, code, details()),
    }
}

#[inline(never)]
fn end_timed(begun: Begun, call: Call, function: u16, code: u32, details: Details) {
    let Some((recorder, way, open)) = call else {
        return;
    };
    recorder.end(open, function, code, || details);
    let submitted = Submitted {
        function,
        start: open.start(),
        thread: recorder.thread(),
        details,
    };
    gpu::end(begun, recorder, code, &submitted);
    server::returned(recorder, function, open.start());
    if way == Way::Borrowed {
        threads::give_back(recorder);
    }
}
