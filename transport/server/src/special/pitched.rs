//! Copies in two and three dimensions. What travels is packed; rows are laid out by the driver.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::mem;
use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{Extent, Payload as _, Pitched, Side, SideKind};
use gtrace_cuda::types::driver::{
    CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, CUDA_MEMCPY2D, CUDA_MEMCPY3D,
};
use gtrace_protocol::{Reader, Writer};

use super::copies::{Lender, When};
use super::{INVALID_VALUE, NOT_SUPPORTED, checked, code_of};
use crate::exec::{Called, Code, Exec};

/// Both sides with the driver's names for arrays; the client's memory is filled in later.
pub(super) fn description(exec: &Exec, copy: &Pitched) -> Result<CUDA_MEMCPY3D, Code> {
    // SAFETY: zeros are a value.
    let mut description: CUDA_MEMCPY3D = unsafe { mem::zeroed() };
    let array = |side: &Side| match side.kind {
        SideKind::Array => exec.handles.real(Kind::Array, side.place),
        _ => Ok(std::ptr::null_mut()),
    };
    let size = |value: u64| usize::try_from(value).map_err(|_| INVALID_VALUE);
    let kind = |side: &Side| match side.kind {
        SideKind::Client => CU_MEMORYTYPE_HOST,
        SideKind::Device => CU_MEMORYTYPE_DEVICE,
        SideKind::Array => CU_MEMORYTYPE_ARRAY,
    };
    let (from, to) = (&copy.from, &copy.to);
    description.srcMemoryType = kind(from);
    description.dstMemoryType = kind(to);
    description.srcArray = array(from)?.cast();
    description.dstArray = array(to)?.cast();
    if from.kind == SideKind::Device {
        description.srcDevice = from.place;
    }
    if to.kind == SideKind::Device {
        description.dstDevice = to.place;
    }
    // The client's memory is packed: it begins at its first byte.
    if from.kind != SideKind::Client {
        description.srcXInBytes = size(from.x)?;
        description.srcY = size(from.y)?;
        description.srcZ = size(from.z)?;
        description.srcLOD = size(from.lod)?;
        description.srcPitch = size(from.pitch)?;
        description.srcHeight = size(from.height)?;
    }
    if to.kind != SideKind::Client {
        description.dstXInBytes = size(to.x)?;
        description.dstY = size(to.y)?;
        description.dstZ = size(to.z)?;
        description.dstLOD = size(to.lod)?;
        description.dstPitch = size(to.pitch)?;
        description.dstHeight = size(to.height)?;
    }
    description.WidthInBytes = size(copy.extent.width)?;
    description.Height = size(copy.extent.height)?;
    description.Depth = size(copy.extent.depth)?;
    Ok(description)
}

/// The same in two dimensions: what the driver checks, and may have only so, is that of the call
/// that the client made.
fn flat(d: &CUDA_MEMCPY3D) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcXInBytes: d.srcXInBytes,
        srcY: d.srcY,
        srcMemoryType: d.srcMemoryType,
        srcHost: d.srcHost,
        srcDevice: d.srcDevice,
        srcArray: d.srcArray,
        srcPitch: d.srcPitch,
        dstXInBytes: d.dstXInBytes,
        dstY: d.dstY,
        dstMemoryType: d.dstMemoryType,
        dstHost: d.dstHost,
        dstDevice: d.dstDevice,
        dstArray: d.dstArray,
        dstPitch: d.dstPitch,
        WidthInBytes: d.WidthInBytes,
        Height: d.Height,
    }
}

/// The driver's function for a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Two,
    TwoUnaligned,
    Three,
}

/// By which function, and in which order.
#[derive(Clone, Copy)]
struct How {
    shape: Shape,
    when: When,
}

/// Makes the copy, and waits for it if memory of this process is part of it.
fn make(
    lender: Lender<'_>,
    description: &CUDA_MEMCPY3D,
    how: How,
    local: bool,
) -> Result<(), Code> {
    let driver = lender.driver;
    let _lent = match how.when {
        When::In(stream) if local => Some(lender.lend(stream)?),
        _ => None,
    };
    let two = flat(description);
    // Safe in each case: memory of this process has the bytes that the description says, and stays
    // until the stream is synchronised.
    let (made, stream) = match (how.shape, how.when) {
        (Shape::Two, When::Now) => {
            let call = driver.cuMemcpy2D_v2.ok_or(NOT_SUPPORTED)?;
            // SAFETY: as above.
            (unsafe { call(&raw const two) }, None)
        }
        (Shape::TwoUnaligned, When::Now) => {
            let call = driver.cuMemcpy2DUnaligned_v2.ok_or(NOT_SUPPORTED)?;
            // SAFETY: as above.
            (unsafe { call(&raw const two) }, None)
        }
        (Shape::Three, When::Now) => {
            let call = driver.cuMemcpy3D_v2.ok_or(NOT_SUPPORTED)?;
            // SAFETY: as above.
            (unsafe { call(description) }, None)
        }
        (Shape::Three, When::In(stream)) => {
            let call = driver.cuMemcpy3DAsync_v2.ok_or(NOT_SUPPORTED)?;
            // SAFETY: as above.
            (unsafe { call(description, stream) }, Some(stream))
        }
        (_, When::In(stream)) => {
            let call = driver.cuMemcpy2DAsync_v2.ok_or(NOT_SUPPORTED)?;
            // SAFETY: as above.
            (unsafe { call(&raw const two, stream) }, Some(stream))
        }
        (_, When::Here) => return Err(INVALID_VALUE),
    };
    checked(made)?;
    match stream {
        Some(stream) if local => lender.synchronise(stream),
        _ => Ok(()),
    }
}

fn copy(exec: &mut Exec, r: &mut Reader<'_>, shape: Shape) -> Called {
    let copy = Pitched::whole(r)?;
    let when = When::of(exec, copy.stream)?;
    let how = How { shape, when };
    let description = description(exec, &copy)?;
    let bytes = copy.extent.bytes().ok_or(INVALID_VALUE)?;
    match (copy.from.kind, copy.to.kind) {
        (SideKind::Client, SideKind::Client) => Ok(INVALID_VALUE),
        (SideKind::Client, _) => from_client(exec, description, bytes, how),
        (_, SideKind::Client) => to_client(exec, &copy, description, bytes, how),
        _ => {
            let session = Arc::clone(&exec.session);
            let lender = Lender::of(exec, &session);
            Ok(code_of(make(lender, &description, how, false)))
        }
    }
}

/// The frame's bulk part is the whole extent: the driver gets it in one piece.
fn from_client(exec: &mut Exec, mut description: CUDA_MEMCPY3D, bytes: u64, how: How) -> Called {
    let packed = super::images::take_bulk(exec)?;
    if packed.len() as u64 != bytes {
        return Ok(INVALID_VALUE);
    }
    description.srcHost = packed.as_ptr().cast();
    description.srcPitch = description.WidthInBytes;
    description.srcHeight = description.Height;
    let session = Arc::clone(&exec.session);
    let lender = Lender::of(exec, &session);
    Ok(code_of(make(lender, &description, how, true)))
}

/// Most bytes that are copied from the device at once.
const TO_CLIENT_MAX: u64 = 4 << 20;

/// Copies by parts of whole rows, and sends the bytes of a part before the next is copied.
fn to_client(
    exec: &mut Exec,
    copy: &Pitched,
    description: CUDA_MEMCPY3D,
    bytes: u64,
    how: How,
) -> Called {
    let Extent { width, height, .. } = copy.extent;
    if width > TO_CLIENT_MAX {
        return wide(exec, copy, description, bytes, how);
    }
    let rows_at_once = (TO_CLIENT_MAX / width.max(1)).max(1);
    let mut part: Vec<u8> = Vec::new();
    let mut part_at = 0u64;
    let session = Arc::clone(&exec.session);
    let lender = Lender::of(exec, &session);
    let mut next_row = 0u64;
    let code = exec.bulk_out(bytes, copy.chunk as usize, &[], |offset, to| {
        let mut filled = 0;
        while filled < to.len() {
            let at = offset + filled as u64;
            if at >= part_at + part.len() as u64 {
                part_at = next_row * width;
                let in_slice = next_row % height.max(1);
                let rows = rows_at_once.min(height - in_slice);
                part.resize((rows * width) as usize, 0);
                let mut piece = description;
                piece.srcY += in_slice as usize;
                piece.srcZ += (next_row / height.max(1)) as usize;
                piece.Height = rows as usize;
                piece.Depth = 1;
                piece.dstHost = part.as_mut_ptr().cast();
                piece.dstPitch = width as usize;
                piece.dstHeight = rows as usize;
                make(lender, &piece, how, true)?;
                next_row += rows;
            }
            let from = (at - part_at) as usize;
            let len = (part.len() - from).min(to.len() - filled);
            to[filled..filled + len].copy_from_slice(&part[from..from + len]);
            filled += len;
        }
        Ok(())
    })?;
    Ok(code)
}

/// Rows larger than a part: each piece of the answer is a part of one row.
fn wide(
    exec: &mut Exec,
    copy: &Pitched,
    description: CUDA_MEMCPY3D,
    bytes: u64,
    how: How,
) -> Called {
    let Extent { width, height, .. } = copy.extent;
    let session = Arc::clone(&exec.session);
    let lender = Lender::of(exec, &session);
    let code = exec.bulk_out(bytes, copy.chunk as usize, &[], |offset, to| {
        let mut filled = 0;
        while filled < to.len() {
            let at = offset + filled as u64;
            let (row, x) = (at / width, at % width);
            let len = (width - x).min((to.len() - filled) as u64) as usize;
            let mut piece = description;
            piece.srcXInBytes += x as usize;
            piece.srcY += (row % height) as usize;
            piece.srcZ += (row / height) as usize;
            (piece.WidthInBytes, piece.Height, piece.Depth) = (len, 1, 1);
            piece.dstHost = to[filled..].as_mut_ptr().cast();
            (piece.dstPitch, piece.dstHeight) = (len, 1);
            make(lender, &piece, how, true)?;
            filled += len;
        }
        Ok(())
    })?;
    Ok(code)
}

macro_rules! pitched {
    ($($(#[$meta:meta])* $name:ident: $shape:ident)*) => {$(
        $(#[$meta])*
        pub(crate) fn $name(
            exec: &mut Exec,
            r: &mut Reader<'_>,
            _: &mut Writer,
        ) -> Called {
            copy(exec, r, Shape::$shape)
        }
    )*};
}

pitched! {
    /// In two dimensions.
    cuMemcpy2D_v2: Two
    /// In two dimensions, with pitches that the device does not like.
    cuMemcpy2DUnaligned_v2: TwoUnaligned
    /// In two dimensions, in a stream.
    cuMemcpy2DAsync_v2: Two
    /// In three dimensions.
    cuMemcpy3D_v2: Three
    /// In three dimensions, in a stream.
    cuMemcpy3DAsync_v2: Three
}
