//! Fills of device memory with a value of 1, 2 or 4 bytes.

use std::ffi::{c_uchar, c_uint, c_ushort};

use crate::abi::{Answer, api};
use crate::command::{Command, Fill};
use crate::context::Context;
use crate::error::{INVALID_VALUE, fail_if};
use crate::graph::work::{Memset, Work, captured};
use crate::memory::{self, Allocation, Kind};
use crate::stream::resolve;
use crate::types::{DevicePtr, Handle, MemsetNodeParams};

/// Issues a fill. Even the functions without Async return before it is made if the memory is the
/// device's, as CUDA documents. Managed memory is not only the device's: the host may look at it at once.
fn fill(fill: Fill, stream: Handle, is_async: bool) -> Answer {
    let (context, stream) = resolve(stream)?;
    if fill.width == 0 || fill.height == 0 {
        return Ok(());
    }
    if is_async && captured(&stream, || work(&given_of(&fill), &context))? {
        return Ok(());
    }
    let found = check(&fill)?;
    stream.submit(&context, Command::Fill(fill))?;
    if !is_async && (!found.kind.on_device() || found.kind == Kind::Managed) {
        stream.quiesce(&context);
    }
    Ok(())
}

/// A fill as the parameters of a node.
fn given_of(fill: &Fill) -> MemsetNodeParams {
    MemsetNodeParams {
        to: fill.to,
        pitch: fill.pitch,
        value: fill.value,
        element_size: fill.size as u32,
        width: fill.width,
        height: fill.height,
    }
}

/// What a node with these parameters does.
pub(crate) fn work(given: &MemsetNodeParams, context: &Context) -> Answer<Work> {
    let size = given.element_size as usize;
    fail_if(
        !matches!(size, 1 | 2 | 4) || given.width == 0 || given.height == 0,
        INVALID_VALUE,
    )?;
    let fill = Fill {
        to: given.to,
        value: given.value,
        size,
        width: given.width,
        height: given.height,
        pitch: if given.height > 1 { given.pitch } else { 0 },
    };
    check(&fill)?;
    Ok(Work::Memset(Memset {
        given: *given,
        fill,
        context: context.handle,
    }))
}

/// Whether a fill keeps to an allocation, and which.
fn check(fill: &Fill) -> Answer<Allocation> {
    let row = fill.width.checked_mul(fill.size).ok_or(INVALID_VALUE)?;
    let aligned = fill.to.is_multiple_of(fill.size as u64) && fill.pitch.is_multiple_of(fill.size);
    fail_if(
        !aligned || (fill.height > 1 && fill.pitch < row),
        INVALID_VALUE,
    )?;
    let rows = (fill.height - 1)
        .checked_mul(fill.pitch)
        .ok_or(INVALID_VALUE)?;
    let length = rows.checked_add(row).ok_or(INVALID_VALUE)? as u64;
    memory::find_range(fill.to, length).ok_or(INVALID_VALUE)
}

fn row(to: DevicePtr, value: u32, size: usize, width: usize) -> Fill {
    Fill {
        to,
        value,
        size,
        width,
        height: 1,
        pitch: 0,
    }
}

/// The functions for values of a type, which has so many bytes: a row and a rectangle, without and with `Async`.
macro_rules! fills {
    ($($ty:ident of $size:literal:
        $row:ident $row_twin:ident, $row_async:ident $row_async_twin:ident,
        $rectangle:ident $rectangle_twin:ident, $rectangle_async:ident $rectangle_async_twin:ident;
    )*) => {
        api! { TABLE: $(
            /// Fills with a value.
            fn $row, $row_twin; $row_async, $row_async_twin [stream, is_async] (
                to: DevicePtr, value: $ty, count: usize,
            ) {
                fill(row(to, value.into(), $size, count), stream, is_async)
            }

            /// Fills a rectangle with a value.
            fn $rectangle, $rectangle_twin; $rectangle_async, $rectangle_async_twin [stream, is_async] (
                to: DevicePtr, pitch: usize, value: $ty, width: usize, height: usize,
            ) {
                let rectangle = Fill { to, value: value.into(), size: $size, width, height, pitch };
                fill(rectangle, stream, is_async)
            }
        )* }
    };
}

fills! {
    c_uchar of 1: cuMemsetD8_v2 cuMemsetD8_v2_ptds, cuMemsetD8Async cuMemsetD8Async_ptsz,
        cuMemsetD2D8_v2 cuMemsetD2D8_v2_ptds, cuMemsetD2D8Async cuMemsetD2D8Async_ptsz;
    c_ushort of 2: cuMemsetD16_v2 cuMemsetD16_v2_ptds, cuMemsetD16Async cuMemsetD16Async_ptsz,
        cuMemsetD2D16_v2 cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async cuMemsetD2D16Async_ptsz;
    c_uint of 4: cuMemsetD32_v2 cuMemsetD32_v2_ptds, cuMemsetD32Async cuMemsetD32Async_ptsz,
        cuMemsetD2D32_v2 cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async cuMemsetD2D32Async_ptsz;
}
