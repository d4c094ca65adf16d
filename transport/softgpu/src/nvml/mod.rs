//! The exported functions of NVML.
//!
//! Values follow what the stand-in does: memory in use, the process that asks with its memory, the
//! share of time in which kernels ran, injected faults. What a CPU emulator does not have (power,
//! fans, NVLink) answers `NVML_ERROR_NOT_SUPPORTED`; temperatures, limits of power,
//! MIG mode and the licence of a vGPU are there only if they are set to be reported (README.md). NVML counts devices without regard to `CUDA_VISIBLE_DEVICES`.
#![allow(unsafe_code, non_snake_case)]

pub mod device;
pub mod events;
pub mod gpm;
pub mod instance;
pub mod license;
pub mod mig;
pub mod power;
pub mod process;
pub mod readings;
pub mod repair;
pub mod rest;
pub mod system;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::device::Device;
use crate::error::{CuError, fail_if};
use crate::state::{State, shared};

/// An `nvmlReturn_t` that is not success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvmlError(pub u32);

/// NVML was not initialised.
pub const UNINITIALIZED: NvmlError = NvmlError(1);
/// An argument is out of range or null.
pub const INVALID_ARGUMENT: NvmlError = NvmlError(2);
/// This device does not have it.
pub const NOT_SUPPORTED: NvmlError = NvmlError(3);
/// The user is not root.
pub const NO_PERMISSION: NvmlError = NvmlError(4);
/// No such device or process.
pub const NOT_FOUND: NvmlError = NvmlError(6);
/// A buffer is too small.
pub const INSUFFICIENT_SIZE: NvmlError = NvmlError(7);
/// The driver cannot be used.
pub const DRIVER_NOT_LOADED: NvmlError = NvmlError(9);
/// The time is over.
pub const TIMEOUT: NvmlError = NvmlError(10);
/// The GPU has fallen off the bus.
pub const GPU_IS_LOST: NvmlError = NvmlError(15);
/// A structure's version is not known.
pub const VERSION_MISMATCH: NvmlError = NvmlError(25);
/// Something else.
pub const UNKNOWN: NvmlError = NvmlError(999);

/// What the body of an exported function of NVML gives.
pub type Reply<T = ()> = Result<T, NvmlError>;

impl From<CuError> for NvmlError {
    /// Errors of [`crate::abi`]: a null pointer or a text that is none.
    fn from(_: CuError) -> Self {
        INVALID_ARGUMENT
    }
}

/// A device as programs of NVML hold it.
pub type DeviceHandle = u64;

/// Handles of devices lie beside those of the driver API; the lowest four bits are the place of a MIG instance, from 1 on.
const DEVICE_BASE: u64 = 0x5f20_0000_0000_0000;

static USERS: AtomicU32 = AtomicU32::new(0);

/// Runs the body of an exported function.
pub(crate) fn guard(body: impl FnOnce() -> Reply) -> u32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => error.0,
        Err(_) => UNKNOWN.0,
    }
}

/// The state, for functions that need `nvmlInit` first.
pub(crate) fn state() -> Reply<&'static State> {
    fail_if(USERS.load(Ordering::Acquire) == 0, UNINITIALIZED)?;
    shared().ok_or(DRIVER_NOT_LOADED)
}

/// `nvmlInit`.
pub(crate) fn enter() -> Reply {
    shared().ok_or(DRIVER_NOT_LOADED)?;
    USERS.fetch_add(1, Ordering::AcqRel);
    Ok(())
}

/// `nvmlShutdown`.
pub(crate) fn leave() -> Reply {
    USERS
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, |users| {
            users.checked_sub(1)
        })
        .map(|_| ())
        .map_err(|_| UNINITIALIZED)
}

/// The handle of a device.
pub(crate) fn handle_of(device: &Device) -> DeviceHandle {
    DEVICE_BASE + ((device.index as u64 + 1) << 4)
}

/// The device of a handle, lost or not.
pub(crate) fn any_device(handle: DeviceHandle) -> Reply<&'static Device> {
    let state = state()?;
    let index = handle.wrapping_sub(DEVICE_BASE);
    fail_if(index & 15 != 0 || index == 0, INVALID_ARGUMENT)?;
    let device = state
        .devices
        .get((index >> 4) as usize - 1)
        .ok_or(INVALID_ARGUMENT)?;
    state.refresh(device);
    Ok(device)
}

/// The device of a handle, which must not be lost.
pub(crate) fn device(handle: DeviceHandle) -> Reply<&'static Device> {
    let device = any_device(handle)?;
    if device.is_lost() {
        Err(GPU_IS_LOST)
    } else {
        Ok(device)
    }
}

/// Exports functions of NVML.
macro_rules! nvml {
    ($($(#[$meta:meta])* fn $($name:ident),+ ($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $($crate::nvml::nvml! { @names [$($name)+] $(#[$meta])* ($($arg: $ty),*) $body })*
    };
    (@names [$name:ident $($more:ident)*] $(#[$meta:meta])* ($($arg:ident: $ty:ty),*) $body:block) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// Pointers are null or valid as NVML's reference says of this function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::nvml::guard(move || -> $crate::nvml::Reply { $body })
        }
        $crate::nvml::nvml! { @names [$($more)*] $(#[$meta])* ($($arg: $ty),*) $body }
    };
    (@names [] $(#[$meta:meta])* ($($arg:ident: $ty:ty),*) $body:block) => {};
}
pub(crate) use nvml;
