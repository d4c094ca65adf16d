//! What is reported about a call, from its arguments.

// Reads what pointers of the program point to.
#![allow(unsafe_code)]

use crate::{Details, NO_STREAM, kind, launch_words};
use gtrace_cuda::types::driver::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUlaunchConfig,
};

/// No stream.
#[inline(always)]
pub const fn none() -> u64 {
    NO_STREAM
}

/// Nothing.
#[inline(always)]
pub fn plain() -> Details {
    Details::default()
}

/// A stream.
#[inline(always)]
pub fn stream(stream: u64) -> Details {
    Details {
        kind: kind::STREAM,
        words: [0, stream, 0, 0],
        ..Details::default()
    }
}

/// A copy.
#[inline(always)]
pub fn copy(bytes: u64, stream: u64, to: u64, from: u64) -> Details {
    Details {
        kind: kind::COPY,
        words: [bytes, stream, to, from],
        bytes,
        extra: 0,
    }
}

/// Memory that is set.
#[inline(always)]
pub fn set(bytes: u64, stream: u64, to: u64) -> Details {
    Details {
        kind: kind::SET,
        words: [bytes, stream, to, 0],
        bytes,
        extra: 0,
    }
}

/// An allocation.
#[inline(always)]
pub fn allocation(bytes: u64, stream: u64, address: u64) -> Details {
    Details {
        kind: kind::ALLOCATE,
        words: [bytes, stream, address, 0],
        bytes,
        extra: 0,
    }
}

/// What is freed.
#[inline(always)]
pub fn free(stream: u64, address: u64) -> Details {
    Details {
        kind: kind::FREE,
        words: [0, stream, address, 0],
        ..Details::default()
    }
}

/// A launch of a kernel.
#[inline(always)]
pub fn launch(function: u64, stream: u64, grid: [u32; 3], block: [u32; 3], shared: u32) -> Details {
    let [grid, block] = launch_words(grid, block);
    Details {
        kind: kind::LAUNCH,
        extra: shared,
        words: [function, stream, grid, block],
        bytes: 0,
    }
}

/// A launch of a kernel by its configuration.
///
/// # Safety
///
/// Null, or a configuration.
#[inline(always)]
pub unsafe fn launch_ex(config: *const CUlaunchConfig, function: u64) -> Details {
    // SAFETY: the caller's promise.
    let Some(config) = (unsafe { config.as_ref() }) else {
        return launch(function, NO_STREAM, [0; 3], [0; 3], 0);
    };
    launch(
        function,
        config.hStream as u64,
        [config.gridDimX, config.gridDimY, config.gridDimZ],
        [config.blockDimX, config.blockDimY, config.blockDimZ],
        config.sharedMemBytes,
    )
}

/// The stream of such a configuration.
///
/// # Safety
///
/// Null, or a configuration.
#[inline(always)]
pub unsafe fn launch_stream(config: *const CUlaunchConfig) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { config.as_ref() }.map_or(0, |config| config.hStream as u64)
}

/// The handle by which a function without a suffix knows the stream `stream` of a function whose default stream
/// is `default`.
#[inline(always)]
pub const fn in_stream(stream: u64, default: u64) -> u64 {
    match stream {
        0 => default,
        stream => stream,
    }
}

/// Bytes of a copy in two dimensions.
///
/// # Safety
///
/// Null, or a copy.
#[inline(always)]
pub unsafe fn area(copy: *const CUDA_MEMCPY2D) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { copy.as_ref() }.map_or(0, |copy| {
        (copy.WidthInBytes as u64).wrapping_mul(copy.Height as u64)
    })
}

/// Bytes of a copy in three dimensions.
///
/// # Safety
///
/// Null, or a copy.
#[inline(always)]
pub unsafe fn volume(copy: *const CUDA_MEMCPY3D) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { copy.as_ref() }.map_or(0, |copy| {
        (copy.WidthInBytes as u64)
            .wrapping_mul(copy.Height as u64)
            .wrapping_mul(copy.Depth as u64)
    })
}

/// The same between devices.
///
/// # Safety
///
/// Null, or a copy.
#[inline(always)]
pub unsafe fn volume_peer(copy: *const CUDA_MEMCPY3D_PEER) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { copy.as_ref() }.map_or(0, |copy| {
        (copy.WidthInBytes as u64)
            .wrapping_mul(copy.Height as u64)
            .wrapping_mul(copy.Depth as u64)
    })
}

/// What a successful call has written; 0 otherwise.
///
/// # Safety
///
/// A place that the call writes to if it succeeds.
#[inline(always)]
pub unsafe fn given(place: *const u64, code: u32) -> u64 {
    match code == 0 && !place.is_null() {
        // SAFETY: the caller's promise.
        true => unsafe { place.read_unaligned() },
        false => 0,
    }
}
