//! Functions of NVML in their first versions, whose structures are the beginning of what the newest version answers; and those
//! that are refused.

// Writes results through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::c_uint;
use std::mem::{MaybeUninit, offset_of};
use std::ptr;

use gtrace_cuda::Kind;
use gtrace_cuda::types::nvml::{
    self, nvmlComputeInstance_t, nvmlComputeInstanceInfo_t, nvmlDevice_t, nvmlDeviceAttributes_t,
    nvmlPciInfo_t, nvmlReturn_t,
};

use super::{answer, ready};
use crate::generated::nvml::remote;

/// `nvmlPciInfo_t` of NVML 1 ends here, bytes.
const PCI_1: usize = offset_of!(nvmlPciInfo_t, pciSubSystemId);
/// That of the second version, but for 16 reserved bytes that are left as they are.
const PCI_2: usize = offset_of!(nvmlPciInfo_t, busId);
/// `nvmlDeviceAttributes_t` of the first version.
const ATTRIBUTES_1: usize = offset_of!(nvmlDeviceAttributes_t, gpuInstanceSliceCount);
/// `nvmlComputeInstanceInfo_t` of the first version.
const COMPUTE_INSTANCE_1: usize = offset_of!(nvmlComputeInstanceInfo_t, placement);

/// Has the newest version answer, and gives the program the first `size` bytes of it.
///
/// # Safety
///
/// `to` is null or has room for `size` bytes; `newest` fills its argument if it succeeds.
pub(super) unsafe fn beginning<T>(
    to: *mut T,
    size: usize,
    newest: impl FnOnce(*mut T) -> nvmlReturn_t,
) -> nvmlReturn_t {
    if let Err(code) = ready() {
        return code;
    }
    if to.is_null() {
        return nvml::NVML_ERROR_INVALID_ARGUMENT;
    }
    let mut whole = MaybeUninit::<T>::zeroed();
    let code = newest(whole.as_mut_ptr());
    if code == nvml::NVML_SUCCESS {
        // SAFETY: `size` is at most that of `T`, and the caller's promise.
        unsafe { ptr::copy_nonoverlapping(whole.as_ptr().cast::<u8>(), to.cast(), size) };
    }
    code
}

macro_rules! older {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $size:ident of $newest:ident;)*) => {$(
        pub(crate) unsafe fn $name($($argument: $type,)* to: *mut $result) -> nvmlReturn_t {
            // SAFETY: the program's pointer, and a structure of this function.
            unsafe { beginning(to, $size, |whole| remote::$newest($($argument,)* whole)) }
        }
    )*};
}

older! {
    nvmlDeviceGetPciInfo(device: nvmlDevice_t) -> nvmlPciInfo_t, PCI_1 of nvmlDeviceGetPciInfo_v3;
    nvmlDeviceGetPciInfo_v2(device: nvmlDevice_t) -> nvmlPciInfo_t, PCI_2 of nvmlDeviceGetPciInfo_v3;
    nvmlDeviceGetNvLinkRemotePciInfo(device: nvmlDevice_t, link: c_uint) -> nvmlPciInfo_t,
        PCI_2 of nvmlDeviceGetNvLinkRemotePciInfo_v2;
    nvmlDeviceGetAttributes(device: nvmlDevice_t) -> nvmlDeviceAttributes_t,
        ATTRIBUTES_1 of nvmlDeviceGetAttributes_v2;
    nvmlComputeInstanceGetInfo(instance: nvmlComputeInstance_t) -> nvmlComputeInstanceInfo_t,
        COMPUTE_INSTANCE_1 of nvmlComputeInstanceGetInfo_v2;
}

/// What a function answers that does not travel; whether NVML is initialised and whether the device or unit is one come first,
/// as with a driver.
pub(crate) fn refused(of: Option<(Kind, usize)>, refusal: nvmlReturn_t) -> nvmlReturn_t {
    let is_one = |(kind, handle): (Kind, usize)| kind.matches(handle as u64);
    answer(ready().and_then(|()| match of.is_none_or(is_one) {
        true => Err(refusal),
        false => Err(nvml::NVML_ERROR_INVALID_ARGUMENT),
    }))
}
