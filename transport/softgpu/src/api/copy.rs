//! Copies between host and device memory.
//!
//! A copy that waits for nothing is made in the calling thread, with one pass over the bytes. A
//! copy in a stream is queued if all of its memory stays valid (device or page-locked memory);
//! pageable memory is copied before the call returns, as CUDA allows.

use std::ffi::c_void;
use std::sync::Arc;

use crate::abi::{Answer, In, api, read_bytes};
use crate::array::Array;
use crate::command::{Command, Copy};
use crate::config::pageable_is_read_late;
use crate::context::{Context, bound};
use crate::error::{INVALID_VALUE, fail_if};
use crate::graph::capture;
use crate::graph::work::{Memcpy, Work, captured};
use crate::memory;
use crate::stream::{Stream, resolve};
use crate::types::{DevicePtr, Handle, Memcpy2D, Memcpy3D};

/// Pageable bytes up to which a copy to a busy stream is staged; a longer one waits for its turn.
const STAGED: usize = 64 << 10;

/// What a side of a copy is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Host,
    Device,
    /// By the address: device if known, else host.
    Either,
}

/// Whether the bytes stay where they are until a queued copy runs.
fn stays(address: u64, length: u64, side: Side) -> Answer<bool> {
    let known = memory::find_range(address, length).is_some();
    match side {
        Side::Device if !known => Err(INVALID_VALUE),
        // An address inside an allocation whose end the copy passes is an error on either side.
        Side::Either if !known && memory::find(address).is_some() => Err(INVALID_VALUE),
        _ if address == 0 => Err(INVALID_VALUE),
        _ => Ok(known),
    }
}

/// Bytes from the first to the last of a side.
fn extent(width: usize, height: usize, pitch: usize) -> Answer<u64> {
    let rows = (height as u64)
        .saturating_sub(1)
        .checked_mul(pitch as u64)
        .ok_or(INVALID_VALUE)?;
    rows.checked_add(width as u64).ok_or(INVALID_VALUE)
}

/// A copy, and what its sides are.
#[derive(Clone, Copy)]
struct Sided {
    copy: Copy,
    to: Side,
    from: Side,
}

impl Sided {
    /// Whether the bytes of either side (`to`, `from`) stay where they are.
    fn stay(&self) -> Answer<(bool, bool)> {
        let copy = &self.copy;
        let to = extent(copy.width, copy.height, copy.to_pitch)?;
        let from = extent(copy.width, copy.height, copy.from_pitch)?;
        Ok((
            stays(copy.to, to, self.to)?,
            stays(copy.from, from, self.from)?,
        ))
    }

    fn is_empty(&self) -> bool {
        self.copy.width == 0 || self.copy.height == 0
    }
}

/// What a node with these parameters does.
///
/// # Errors
/// Those of the copy functions.
pub(crate) fn work(given: &Memcpy3D, context: &Context) -> Answer<Work> {
    let pieces = slices(&in_memory(given)?)?;
    Ok(Work::Memcpy(Memcpy {
        given: *given,
        pieces: pieces.iter().map(|piece| piece.copy).collect(),
        context: context.handle,
    }))
}

/// A linear or flat copy as the parameters of a node.
fn given_of(sided: &Sided) -> Memcpy3D {
    let kind = |side: Side| match side {
        Side::Host => HOST,
        Side::Device => DEVICE,
        Side::Either => UNIFIED,
    };
    let mut given = Memcpy3D::default();
    let copy = &sided.copy;
    given.src_type = kind(sided.from);
    given.dst_type = kind(sided.to);
    match sided.from {
        Side::Host => given.src_host = copy.from,
        _ => given.src_device = copy.from,
    }
    match sided.to {
        Side::Host => given.dst_host = copy.to,
        _ => given.dst_device = copy.to,
    }
    given.src_pitch = copy.from_pitch;
    given.dst_pitch = copy.to_pitch;
    (given.width, given.height, given.depth) = (copy.width, copy.height, 1);
    given
}

/// Issues a copy. `is_async`: the function's name says so.
fn copy(copy: Copy, to: Side, from: Side, stream: Handle, is_async: bool) -> Answer {
    let sided = Sided { copy, to, from };
    let (context, stream) = resolve(stream)?;
    let node = || {
        sided.stay()?;
        Ok(Work::Memcpy(Memcpy {
            given: given_of(&sided),
            pieces: vec![copy],
            context: context.handle,
        }))
    };
    if is_async && !sided.is_empty() && captured(&stream, node)? {
        return Ok(());
    }
    issue(&sided, &context, &stream, is_async)
}

/// A copy of a batch: either side may be whatever its address says.
pub(super) fn of_batch(to: u64, from: u64, length: usize, stream: Handle) -> Answer {
    copy(
        Copy::plain(to, from, length),
        Side::Either,
        Side::Either,
        stream,
        true,
    )
}

fn issue(sided: &Sided, context: &Arc<Context>, stream: &Stream, is_async: bool) -> Answer {
    let copy = sided.copy;
    if sided.is_empty() {
        return Ok(());
    }
    let (to_stays, from_stays) = sided.stay()?;
    // Between device memory even the functions without Async return before the copy is made. The host
    // may look at managed memory at once.
    let device_only = is_device(copy.to) && is_device(copy.from);
    let late = sided.from == Side::Host && pageable_is_read_late();
    if (is_async || device_only) && to_stays && (from_stays || late) {
        return stream.submit(context, Command::Copy(copy));
    }
    capture::refuse(stream)?;
    capture::refuse_implicit(stream)?;
    if is_async && to_stays && copy.width <= STAGED && copy.height == 1 && !stream.is_idle(context)
    {
        // SAFETY: the source is valid for reads by the contract of the copy functions.
        let bytes = unsafe { read_bytes(copy.from, copy.width) };
        return stream.submit(context, Command::CopyIn(copy.to, bytes));
    }
    stream.quiesce(context);
    context.health.check()?;
    copy.run();
    Ok(())
}

fn is_device(address: u64) -> bool {
    let own = |kind: memory::Kind| kind.on_device() && kind != memory::Kind::Managed;
    memory::find(address).is_some_and(|found| own(found.kind))
}

/// `CU_MEMORYTYPE_HOST`, `_DEVICE`, `_ARRAY` and `_UNIFIED`.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// An array as a side of a copy: address of its first byte, bytes of a row, and rows of a slice.
struct ArraySide {
    base: u64,
    pitch: usize,
    height: usize,
}

/// The array, if the copy of `extent` from `at` (bytes, rows, slices) stays within it.
fn array_side(array: Handle, at: [usize; 3], extent: [usize; 3]) -> Answer<ArraySide> {
    let array = Array::of(array)?;
    let plane = array.plane;
    let [_, height, depth] = plane.size;
    let most = [plane.pitch as usize, height as usize, depth as usize];
    for axis in 0..3 {
        let end = at[axis].checked_add(extent[axis]);
        fail_if(end.is_none_or(|end| end > most[axis]), INVALID_VALUE)?;
    }
    Ok(ArraySide {
        base: plane.address,
        pitch: most[0],
        height: most[1],
    })
}

/// A copy of a rectangle, a box of one slice, of which arrays may be sides.
fn copy_flat(request: &Memcpy3D, stream: Handle, is_async: bool) -> Answer {
    let sided = slice(&in_memory(request)?, 0)?;
    copy(sided.copy, sided.to, sided.from, stream, is_async)
}

/// A box whose sides are memory, where they were arrays.
fn in_memory(request: &Memcpy3D) -> Answer<Memcpy3D> {
    let mut request = *request;
    let extent = [request.width, request.height, request.depth];
    if request.src_type == ARRAY {
        let at = [request.src_x, request.src_y, request.src_z];
        let side = array_side(request.src_array, at, extent)?;
        request.src_type = DEVICE;
        (request.src_device, request.src_pitch) = (side.base, side.pitch);
        request.src_height = side.height;
    }
    if request.dst_type == ARRAY {
        let at = [request.dst_x, request.dst_y, request.dst_z];
        let side = array_side(request.dst_array, at, extent)?;
        request.dst_type = DEVICE;
        (request.dst_device, request.dst_pitch) = (side.base, side.pitch);
        request.dst_height = side.height;
    }
    Ok(request)
}

/// A side of a copy of `width` bytes of one dimension.
#[derive(Clone, Copy)]
enum Line {
    Host(u64),
    Device(DevicePtr),
    /// An array, from a byte on.
    Array(Handle, usize),
}

fn copy_line(to: Line, from: Line, width: usize, stream: Handle, is_async: bool) -> Answer {
    let mut request = Memcpy3D {
        width,
        height: 1,
        depth: 1,
        ..Memcpy3D::default()
    };
    let (kind, x) = (&mut request.src_type, &mut request.src_x);
    match from {
        Line::Host(host) => (*kind, request.src_host) = (HOST, host),
        Line::Device(device) => (*kind, request.src_device) = (DEVICE, device),
        Line::Array(array, at) => (*kind, request.src_array, *x) = (ARRAY, array, at),
    }
    let (kind, x) = (&mut request.dst_type, &mut request.dst_x);
    match to {
        Line::Host(host) => (*kind, request.dst_host) = (HOST, host),
        Line::Device(device) => (*kind, request.dst_device) = (DEVICE, device),
        Line::Array(array, at) => (*kind, request.dst_array, *x) = (ARRAY, array, at),
    }
    copy_flat(&request, stream, is_async)
}

/// Slice `z` of a box whose sides are memory.
fn slice(request: &Memcpy3D, z: usize) -> Answer<Sided> {
    let side = |kind: u32, host: u64, device: u64| match kind {
        HOST => Ok((host, Side::Host)),
        DEVICE => Ok((device, Side::Device)),
        UNIFIED => Ok((device, Side::Either)),
        _ => Err(INVALID_VALUE),
    };
    let (to, to_side) = side(request.dst_type, request.dst_host, request.dst_device)?;
    let (from, from_side) = side(request.src_type, request.src_host, request.src_device)?;
    let given_or = |given: usize, least: usize| if given == 0 { least } else { given };
    let to_pitch = given_or(request.dst_pitch, request.width);
    let from_pitch = given_or(request.src_pitch, request.width);
    let fits = |at: usize, extent: usize, room: usize| {
        at.checked_add(extent).is_some_and(|end| end <= room)
    };
    // Neither rows nor slices may run into each other.
    let one_row = request.height <= 1 && request.depth <= 1;
    let rows = |x: usize, pitch: usize| one_row || fits(x, request.width, pitch);
    let slices = |y: usize, height: usize| {
        request.depth <= 1 || height == 0 || fits(y, request.height, height)
    };
    let apart = rows(request.dst_x, to_pitch)
        && rows(request.src_x, from_pitch)
        && slices(request.dst_y, request.dst_height)
        && slices(request.src_y, request.src_height);
    fail_if(!apart, INVALID_VALUE)?;
    let start = |base: u64, [x, y, first]: [usize; 3], pitch: usize, height: usize| {
        let height = given_or(height, request.height);
        let rows = first.checked_add(z)?.checked_mul(height)?.checked_add(y)?;
        let offset = rows.checked_mul(pitch)?.checked_add(x)?;
        base.checked_add(offset as u64)
    };
    let at = [request.dst_x, request.dst_y, request.dst_z];
    let to = start(to, at, to_pitch, request.dst_height).ok_or(INVALID_VALUE)?;
    let at = [request.src_x, request.src_y, request.src_z];
    let from = start(from, at, from_pitch, request.src_height).ok_or(INVALID_VALUE)?;
    Ok(Sided {
        copy: Copy {
            to,
            from,
            width: request.width,
            height: request.height,
            to_pitch,
            from_pitch,
        },
        to: to_side,
        from: from_side,
    })
}

/// Slice by slice.
fn slices(request: &Memcpy3D) -> Answer<Vec<Sided>> {
    let mut slices = Vec::new();
    for z in 0..request.depth {
        let sided = slice(request, z)?;
        // A depth that no memory has ends here, not in this list.
        if !sided.is_empty() {
            sided.stay()?;
            slices.push(sided);
        }
    }
    Ok(slices)
}

fn copy_3d(request: &Memcpy3D, stream: Handle, is_async: bool) -> Answer {
    let (context, stream) = resolve(stream)?;
    if request.width == 0 || request.height == 0 || request.depth == 0 {
        return Ok(());
    }
    if is_async && captured(&stream, || work(request, &context))? {
        return Ok(());
    }
    for sided in slices(&in_memory(request)?)? {
        issue(&sided, &context, &stream, is_async)?;
    }
    Ok(())
}

fn peer_deep(request: &Memcpy3D, stream: Handle, is_async: bool) -> Answer {
    bound()?;
    let sides = [
        (request.src_type, request.src_reserved),
        (request.dst_type, request.dst_reserved),
    ];
    for (kind, context) in sides {
        if kind != HOST {
            Context::of(context)?;
        }
    }
    copy_3d(request, stream, is_async)
}

api! { TABLE:
    /// Copies to the device.
    fn cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds; cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz [stream, is_async] (
        to: DevicePtr, from: *const c_void, length: usize,
    ) {
        copy(Copy::plain(to, from as u64, length), Side::Device, Side::Host, stream, is_async)
    }

    /// Copies from the device.
    fn cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds; cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz [stream, is_async] (
        to: *mut c_void, from: DevicePtr, length: usize,
    ) {
        copy(Copy::plain(to as u64, from, length), Side::Host, Side::Device, stream, is_async)
    }

    /// Copies within device memory.
    fn cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds; cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz [stream, is_async] (
        to: DevicePtr, from: DevicePtr, length: usize,
    ) {
        copy(Copy::plain(to, from, length), Side::Device, Side::Device, stream, is_async)
    }

    /// Copies between any memory.
    fn cuMemcpy, cuMemcpy_ptds; cuMemcpyAsync, cuMemcpyAsync_ptsz [stream, is_async] (
        to: DevicePtr, from: DevicePtr, length: usize,
    ) {
        copy(Copy::plain(to, from, length), Side::Either, Side::Either, stream, is_async)
    }

    /// Copies between the memory of two contexts.
    fn cuMemcpyPeer, cuMemcpyPeer_ptds; cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz [stream, is_async] (
        to: DevicePtr, to_context: Handle, from: DevicePtr, from_context: Handle, length: usize,
    ) {
        bound()?;
        Context::of(to_context)?;
        Context::of(from_context)?;
        copy(Copy::plain(to, from, length), Side::Device, Side::Device, stream, is_async)
    }

    /// Copies a rectangle.
    fn cuMemcpy2D_v2, cuMemcpy2D_v2_ptds; cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz [stream, is_async] (
        request: In<Memcpy2D>,
    ) {
        copy_flat(&request.get()?.into(), stream, is_async)
    }

    /// Copies a rectangle of any alignment.
    fn cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds [let stream] (request: In<Memcpy2D>) {
        copy_flat(&request.get()?.into(), stream, false)
    }

    /// Copies a box.
    fn cuMemcpy3D_v2, cuMemcpy3D_v2_ptds; cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz [stream, is_async] (
        request: In<Memcpy3D>,
    ) {
        copy_3d(&request.get()?, stream, is_async)
    }

    /// Copies a box between contexts, which stand where the others' structure is reserved.
    fn cuMemcpy3DPeer, cuMemcpy3DPeer_ptds; cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz [stream, is_async] (
        request: In<Memcpy3D>,
    ) {
        peer_deep(&request.get()?, stream, is_async)
    }

    /// Copies to an array.
    fn cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds; cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz [stream, is_async] (
        to: Handle, offset: usize, from: *const c_void, length: usize,
    ) {
        copy_line(Line::Array(to, offset), Line::Host(from as u64), length, stream, is_async)
    }

    /// Copies from an array.
    fn cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds; cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz [stream, is_async] (
        to: *mut c_void, from: Handle, offset: usize, length: usize,
    ) {
        copy_line(Line::Host(to as u64), Line::Array(from, offset), length, stream, is_async)
    }

    /// Copies device memory to an array.
    fn cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds [let stream] (
        to: Handle, offset: usize, from: DevicePtr, length: usize,
    ) {
        copy_line(Line::Array(to, offset), Line::Device(from), length, stream, false)
    }

    /// Copies an array to device memory.
    fn cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds [let stream] (
        to: DevicePtr, from: Handle, offset: usize, length: usize,
    ) {
        copy_line(Line::Device(to), Line::Array(from, offset), length, stream, false)
    }

    /// Copies between arrays.
    fn cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds [let stream] (
        to: Handle, to_offset: usize, from: Handle, from_offset: usize, length: usize,
    ) {
        let (to, from) = (Line::Array(to, to_offset), Line::Array(from, from_offset));
        copy_line(to, from, length, stream, false)
    }
}
