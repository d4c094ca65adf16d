//! The way of pages: copies in a stream of their own, which waits for no kernel.

// Calls of the remote driver, with pointers of this file.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ptr;

use gtrace_cuda::types::driver::{self as cuda, CUresult};
use gtrace_protocol::{Flags, OpId, op_id};

use crate::context::{self, Current};
use crate::copy;
use crate::entry::{check, written};
use crate::generated::driver::remote;
use crate::session::{Session, with_lane};
use crate::times::Aside;

const UPLOAD: OpId = op_id("cuMemcpyHtoDAsync_v2");
const DOWNLOAD: OpId = op_id("cuMemcpyDtoHAsync_v2");
const SYNCHRONIZE: OpId = op_id("cuStreamSynchronize");

/// The stream for pages of a context, which is current.
fn stream_of(streams: &mut BTreeMap<u64, u64>, context: u64) -> Result<u64, CUresult> {
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

fn current(context: u64) -> Current {
    Current {
        handle: context,
        // Frames name the context alone.
        device: 0,
    }
}

/// Sends bytes to their addresses on the device. What is launched after it sees them.
///
/// # Errors
///
/// [`crate::status::LOST`], or the failure of an earlier call.
pub(super) fn send<'a>(
    session: &'static Session,
    streams: &mut BTreeMap<u64, u64>,
    context: u64,
    pieces: impl Iterator<Item = (u64, &'a [u8])>,
) -> Result<(), CUresult> {
    let _aside = Aside::new();
    context::within(current(context), || {
        let stream = stream_of(streams, context)?;
        for (address, bytes) in pieces {
            copy::upload(session, UPLOAD, address, bytes, stream)?;
        }
        // The bytes are on their way, in no order with the program's streams.
        with_lane(session, |lane| {
            written(
                lane,
                |w| {
                    w.u64(stream);
                    Ok(())
                },
                |lane, small| copy::push(lane, SYNCHRONIZE, Flags::default(), small, &[]),
            )
        })
    })
}

/// Fetches bytes from several addresses, for little more than one round trip.
///
/// # Errors
///
/// As [`send`].
pub(super) fn fetch_all(
    session: &'static Session,
    streams: &mut BTreeMap<u64, u64>,
    context: u64,
    parts: &mut [(u64, Vec<u8>)],
) -> Result<(), CUresult> {
    let _aside = Aside::new();
    context::within(current(context), || {
        let stream = stream_of(streams, context)?;
        for some in parts.chunks_mut(copy::DOWNLOADS_MAX) {
            copy::download_all(session, DOWNLOAD, some, stream)?;
        }
        Ok(())
    })
}

/// Fetches bytes of the device.
///
/// # Errors
///
/// As [`send`].
pub(super) fn fetch(
    session: &'static Session,
    streams: &mut BTreeMap<u64, u64>,
    context: u64,
    address: u64,
    into: &mut [u8],
) -> Result<(), CUresult> {
    let _aside = Aside::new();
    context::within(current(context), || {
        let stream = stream_of(streams, context)?;
        copy::download_alone(session, DOWNLOAD, into, address, stream)
    })
}
