//! The way of pages: copies in a stream of their own, which waits for no kernel. Page-locked memory, which the server has in
//! its own process, goes past the driver.

// Calls of the remote driver, with pointers of this file.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::Ordering;

use gtrace_cuda::payload::{HERE, LOCKED_MIN};
use gtrace_cuda::types::driver as cuda;
use gtrace_protocol::{Flags, OpId, op_id};

use crate::context::{self, Current};
use crate::copy;
use crate::entry::{Answer, check, holding_back, written};
use crate::generated::driver::remote;
use crate::lane::Lane;
use crate::session::{self, Session, with_lane};
use crate::times::Aside;

const UPLOAD: OpId = op_id("cuMemcpyHtoDAsync_v2");
const DOWNLOAD: OpId = op_id("cuMemcpyDtoHAsync_v2");
const SYNCHRONIZE: OpId = op_id("cuStreamSynchronize");

/// Whose pages travel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    /// The context of the memory.
    pub(super) context: u64,
    /// It is page-locked memory.
    pub(super) locked: bool,
}

impl Owner {
    /// Page-locked memory that was mapped in this context.
    pub(super) fn locked(context: u64) -> Self {
        Self {
            context,
            locked: true,
        }
    }

    fn current(self) -> Current {
        Current {
            // The driver is not asked, so no context has to be made current.
            handle: if self.locked { 0 } else { self.context },
            // Frames name the context alone.
            device: 0,
        }
    }

    /// In place of which stream, or in which, its pages are copied.
    fn stream(self, streams: &mut BTreeMap<u64, u64>) -> Answer<u64> {
        match self.locked {
            true => Ok(HERE),
            false => stream_of(streams, self.context),
        }
    }
}

/// By what pages travel.
pub(super) struct Way {
    /// A stream by context.
    streams: BTreeMap<u64, u64>,
    /// A lane of its own, once it was needed.
    lane: Option<Box<Lane>>,
}

impl Way {
    pub(super) const fn new() -> Self {
        Self {
            streams: BTreeMap::new(),
            lane: None,
        }
    }

    /// A context is gone, with its stream.
    pub(super) fn forget(&mut self, context: u64) {
        self.streams.remove(&context);
    }

    /// Does `action` with the streams, by the calling thread's lane and in the order of the process's calls.
    ///
    /// While streams of the server may wait for functions of the program, a call of any lane may be halted there until such a
    /// function returns, which may need these pages. So they take a lane of their own then, past all others, and nothing that
    /// travels there waits for another stream: pieces are too small for page-locked memory of the server. What the functions
    /// have changed is behind them ([`crate::host_functions`]), and so are all calls that come later ([`Session::pages`]).
    fn take<T>(
        &mut self,
        session: &'static Session,
        action: impl FnOnce(&mut BTreeMap<u64, u64>) -> Answer<T>,
    ) -> Answer<T> {
        let Some(before) = session.state.host_functions.awaited() else {
            // An earlier call's error is the program's, and no reason not to move pages.
            return holding_back(session, || action(&mut self.streams));
        };
        let mut lane = match self.lane.take().filter(|lane| !lane.is_foreign()) {
            Some(lane) => lane,
            None => {
                let mut lane = session.lane()?;
                lane.chunk = lane.chunk.min(LOCKED_MIN / 2);
                lane
            }
        };
        lane.set_apart_behind(before);
        let streams = &mut self.streams;
        let done = session::by_lane(&mut lane, || action(streams));
        lane.flush();
        session.pages.store(lane.last(), Ordering::Release);
        self.lane = Some(lane);
        done
    }
}

/// The stream for pages of a context, which is current.
fn stream_of(streams: &mut BTreeMap<u64, u64>, context: u64) -> Answer<u64> {
    if let Some(stream) = streams.get(&context) {
        return Ok(*stream);
    }
    let mut made = ptr::null_mut();
    // SAFETY: the pointer is writable.
    check(unsafe { remote::cuStreamCreate(&raw mut made, cuda::CU_STREAM_NON_BLOCKING) })?;
    let made = copy::stream(made);
    streams.insert(context, made);
    Ok(made)
}

/// Sends bytes to their addresses on the device. What is launched after it sees them.
///
/// # Errors
///
/// [`crate::status::LOST`], or the failure of an earlier call.
pub(super) fn send<'a>(
    session: &'static Session,
    way: &mut Way,
    owner: Owner,
    pieces: impl Iterator<Item = (u64, &'a [u8])>,
) -> Answer {
    let _aside = Aside::new();
    let by = |streams: &mut BTreeMap<u64, u64>| {
        let stream = owner.stream(streams)?;
        for (address, bytes) in pieces {
            copy::upload(session, UPLOAD, address, bytes, stream)?;
        }
        if owner.locked {
            return Ok(());
        }
        // The bytes are on their way, in no order with the program's streams.
        with_lane(session, |lane| {
            written(
                lane,
                |w| w.u64(stream),
                |lane, small| copy::push(lane, SYNCHRONIZE, Flags::default(), small, &[]),
            )
        })
    };
    context::within(owner.current(), || way.take(session, by))
}

/// Fetches bytes from several addresses, for little more than one round trip.
pub(super) fn fetch_all(
    session: &'static Session,
    way: &mut Way,
    owner: Owner,
    parts: &mut [(u64, Vec<u8>)],
) -> Answer {
    let _aside = Aside::new();
    let by = |streams: &mut BTreeMap<u64, u64>| {
        let stream = owner.stream(streams)?;
        for some in parts.chunks_mut(copy::DOWNLOADS_MAX) {
            copy::download_all(session, DOWNLOAD, some, stream)?;
        }
        Ok(())
    };
    context::within(owner.current(), || way.take(session, by))
}

/// Fetches bytes of the device.
pub(super) fn fetch(
    session: &'static Session,
    way: &mut Way,
    owner: Owner,
    address: u64,
    into: &mut [u8],
) -> Answer {
    let _aside = Aside::new();
    let by = |streams: &mut BTreeMap<u64, u64>| {
        let stream = owner.stream(streams)?;
        copy::download_alone(session, DOWNLOAD, into, address, stream)
    };
    context::within(owner.current(), || way.take(session, by))
}
