//! Whether the device has nothing to do for this process.
//!
//! Freeing memory and destroying a context wait for the device and report earlier failures. Where
//! the program has waited for everything already, there is nothing to wait for and nothing to report:
//! then the call need not be awaited either. That is how most programs end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gtrace_protocol::{After, Flags, OpId, Writer};

use crate::entry::{Answer, send_one_way_with, written};
use crate::lane::{Bulk, Lane};
use crate::session::Session;
use crate::state::lock;
use crate::{clock, entry};

/// What is known of it.
#[derive(Debug, Default)]
pub(crate) struct DeviceIdleTracker {
    /// The last one-way call when the device had done everything.
    mark: AtomicU64,
    /// A stream was made, which a synchronous copy need not wait for.
    streams: AtomicBool,
}

/// What a call that waits for the device will have waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until(u64);

impl DeviceIdleTracker {
    /// A stream is made.
    pub(crate) fn stream_made(&self) {
        if !self.streams.load(Ordering::Relaxed) {
            self.streams.store(true, Ordering::Relaxed);
        }
    }
}

/// To be asked before a call that waits for the device is sent.
pub(crate) fn until(session: &Session) -> Until {
    Until(session.last.load(Ordering::Acquire))
}

/// The current context is done with everything until then: `cuCtxSynchronize` has succeeded. Whether
/// the device is, as far as this process has given it something to do.
pub(crate) fn synchronised(session: &Session, until: Until) -> bool {
    // Others may still be at work, and so may be a function of the program.
    let alone = lock(&session.state.contexts).count() <= 1;
    let all = alone && !session.state.host_functions.are_outstanding();
    if all {
        session.device_idle.mark.store(until.0, Ordering::Release);
    }
    all
}

/// A synchronous copy from the device has succeeded.
pub(crate) fn copied(session: &Session, until: Until) {
    if !session.device_idle.streams.load(Ordering::Relaxed) {
        synchronised(session, until);
    }
}

/// Whether the device has nothing to do.
pub(crate) fn is(session: &Session) -> bool {
    session.last.load(Ordering::Acquire) == session.device_idle.mark.load(Ordering::Acquire)
        && session.broken() == 0
        && !session.settings.strict
}

/// A call of this lane, with this number, has given the device nothing to do.
pub(crate) fn still(lane: &Lane, seq: u64) {
    let mine = After::new(lane.number(), seq).0;
    // Otherwise another thread has sent something before it, since the device was found idle.
    let mark = &lane.session.device_idle.mark;
    let _ = mark.compare_exchange(lane.before(), mine, Ordering::AcqRel, Ordering::Acquire);
}

/// Sends a call of one handle or address that waits for the device, without waiting, if the device
/// has nothing to do. False if it has to be awaited.
///
/// # Errors
///
/// [`crate::status::LOST`], or the failure of an earlier call, which does not keep this one from being sent.
pub(crate) fn send_if_idle(session: &'static Session, op: OpId, argument: u64) -> Answer<bool> {
    if !is(session) {
        return Ok(false);
    }
    crate::session::with_lane(session, |lane| {
        let began = clock::now();
        let earlier = entry::check(lane.take_sticky());
        let write = |w: &mut Writer| w.u64(argument);
        let seq = written(lane, write, |lane, small| {
            send_one_way_with(lane, op, Flags::ONE_WAY, small, Bulk::default(), began)
        })?;
        still(lane, seq);
        earlier.map(|()| true)
    })
}
