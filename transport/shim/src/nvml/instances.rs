//! Lists of instances of MIG. They do not say how many they have room for: as many as the profile can have, says NVML's
//! documentation. So the client keeps how many NVML has reported to the program for each profile, and writes no more than
//! that, whatever the server says.

// Reads and writes structures and lists of the program.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::mem::size_of;
use std::ptr::without_provenance_mut;
use std::sync::Mutex;

use gtrace_cuda::types::nvml::{
    self, nvmlComputeInstance_t, nvmlComputeInstancePlacement_t, nvmlComputeInstanceProfileInfo_t,
    nvmlComputeInstanceProfileInfo_v2_t, nvmlDevice_t, nvmlGpuInstance_t,
    nvmlGpuInstancePlacement_t, nvmlGpuInstanceProfileInfo_t, nvmlGpuInstanceProfileInfo_v2_t,
    nvmlReturn_t,
};
use gtrace_cuda::{Kind, wire};
use gtrace_protocol::{OpId, op_id};

use crate::generated::nvml::remote;
use crate::state::lock;
use crate::{entry, log};

/// How many instances of a profile there can be, by the device or GPU instance and the number of the profile: the least that was
/// reported to the program.
type Reported = BTreeMap<(usize, c_uint), c_uint>;

static REPORTED: Mutex<Reported> = Mutex::new(Reported::new());

/// Profiles that are kept: more than any server has.
const REPORTED_MAX: usize = 1 << 12;

/// It was reported to the program that `of` can have `count` instances of a profile.
fn keep(of: usize, profile: c_uint, count: c_uint) {
    let mut reported = lock(&REPORTED);
    if reported.len() < REPORTED_MAX || reported.contains_key(&(of, profile)) {
        let least = reported.entry((of, profile)).or_insert(count);
        *least = count.min(*least);
    }
}

/// The same of a structure that says its version, by which `places` finds the words with the number of the profile and the count.
/// Of other versions, and of smaller structures, nothing is kept.
///
/// # Safety
///
/// `info` is null or points to a structure of the size that it says, before and after the call.
unsafe fn versioned<T>(
    of: usize,
    info: *mut T,
    places: fn(c_uint) -> Option<(usize, usize)>,
    call: impl FnOnce() -> nvmlReturn_t,
) -> nvmlReturn_t {
    let words = info.cast::<c_uint>();
    // What it says before the call is what the program has room for.
    // SAFETY: the caller's promise.
    let version = unsafe { words.as_ref() }.copied().unwrap_or_default();
    let code = call();
    let size = (version & 0xff_ffff) as usize;
    if code == nvml::NVML_SUCCESS
        && let Some((profile, count)) = places(version >> 24)
        && size >= size_of::<c_uint>() * (profile.max(count) + 1)
    {
        // SAFETY: within the structure.
        let (profile, count) = unsafe { (words.add(profile).read(), words.add(count).read()) };
        keep(of, profile, count);
    }
    code
}

/// Words of a profile of GPU instances. The third version has no member for peer-to-peer.
fn of_gpu_profile(version: c_uint) -> Option<(usize, usize)> {
    match version {
        2 => Some((1, 4)),
        3 => Some((1, 3)),
        _ => None,
    }
}

/// Words of a profile of compute instances.
fn of_compute_profile(version: c_uint) -> Option<(usize, usize)> {
    matches!(version, 2 | 3).then_some((1, 3))
}

/// Functions that say what a profile is. The structure of those with a `V` says its version, by which its places are found.
macro_rules! profiles {
    ($($name:ident($of:ident: $handle:ty, $($profile:ident),+; $info:ty $(, $places:ident)?);)*) => {$(
        pub(crate) unsafe fn $name(
            $of: $handle,
            $($profile: c_uint,)+
            info: *mut $info,
        ) -> nvmlReturn_t {
            // SAFETY: pointers of the program.
            let call = || unsafe { remote::$name($of, $($profile,)+ info) };
            profiles!(@ $of info call $($places)?)
        }
    )*};
    (@ $of:ident $info:ident $call:ident) => {{
        let code = $call();
        if code == nvml::NVML_SUCCESS {
            // SAFETY: it was written to.
            let info = unsafe { $info.read() };
            keep($of.addr(), info.id, info.instanceCount);
        }
        code
    }};
    (@ $of:ident $info:ident $call:ident $places:ident) => {
        // SAFETY: a pointer of the program.
        unsafe { versioned($of.addr(), $info, $places, $call) }
    };
}

profiles! {
    nvmlDeviceGetGpuInstanceProfileInfo(device: nvmlDevice_t, profile; nvmlGpuInstanceProfileInfo_t);
    nvmlDeviceGetGpuInstanceProfileInfoV(
        device: nvmlDevice_t, profile; nvmlGpuInstanceProfileInfo_v2_t, of_gpu_profile
    );
    nvmlDeviceGetGpuInstanceProfileInfoByIdV(
        device: nvmlDevice_t, profileId; nvmlGpuInstanceProfileInfo_v2_t, of_gpu_profile
    );
    nvmlGpuInstanceGetComputeInstanceProfileInfo(
        instance: nvmlGpuInstance_t, profile, engProfile; nvmlComputeInstanceProfileInfo_t
    );
    nvmlGpuInstanceGetComputeInstanceProfileInfoV(
        instance: nvmlGpuInstance_t, profile, engProfile; nvmlComputeInstanceProfileInfo_v2_t, of_compute_profile
    );
}

/// Where instances of a profile can be. Programs make room for lists of instances by their number too.
///
/// # Safety
///
/// `count` is null or says how many elements `placements` has room for, which may be null.
unsafe fn placements<P: Copy>(
    op: OpId,
    of: usize,
    profile: c_uint,
    placements: *mut P,
    count: *mut c_uint,
) -> nvmlReturn_t {
    if count.is_null() {
        return nvml::NVML_ERROR_INVALID_ARGUMENT;
    }
    // SAFETY: the caller's promise.
    let room = unsafe { count.read() };
    let wanted = !placements.is_null();
    let mut found = None;
    let code = entry::nvml(
        op,
        &mut |w| {
            w.u64(of as u64);
            w.u32(profile);
            w.u8(wanted.into());
            w.u32(room);
            Ok(())
        },
        &mut |r| {
            if wanted {
                let filled = r.len(room as usize)?;
                // SAFETY: integers, and the list has room for as many as the program says.
                unsafe { wire::take(r, placements, filled) }?;
            }
            found = Some(r.u32()?);
            Ok(())
        },
    );
    if let Some(mut found) = found {
        // Whatever the server says, the program reads no more than it has room for.
        if wanted && code == nvml::NVML_SUCCESS {
            found = found.min(room);
        }
        // SAFETY: as above.
        unsafe { count.write(found) };
        keep(of, profile, found);
    }
    code
}

/// The instances of a profile that there are.
///
/// # Safety
///
/// `list` is null or has room for as many as were reported to the program for the profile; `count` is null or writable.
unsafe fn instances<T>(
    op: OpId,
    (kind, of): (Kind, usize),
    profile: c_uint,
    list: *mut *mut T,
    count: *mut c_uint,
) -> nvmlReturn_t {
    if let Err(code) = super::ready() {
        return code;
    }
    if !kind.matches(of as u64) || list.is_null() || count.is_null() {
        return nvml::NVML_ERROR_INVALID_ARGUMENT;
    }
    let room = lock(&REPORTED).get(&(of, profile)).copied();
    let Some(room) = room else {
        log::once(
            "instances of MIG",
            "instances of MIG were asked for before their profile, which says how much room their \
             list has; it was answered with NOT_SUPPORTED",
        );
        return nvml::NVML_ERROR_NOT_SUPPORTED;
    };
    entry::nvml(
        op,
        &mut |w| {
            w.u64(of as u64);
            w.u32(profile);
            Ok(())
        },
        &mut |r| {
            let found = r.len(room as usize)?;
            for at in 0..found {
                let instance = without_provenance_mut(r.u64()? as usize);
                // SAFETY: the caller's promise, as no more are found than there is room for.
                unsafe { list.add(at).write(instance) };
            }
            // SAFETY: the caller's promise.
            unsafe { count.write(found as c_uint) };
            Ok(())
        },
    )
}

/// Functions that list what a device or GPU instance has for a profile.
macro_rules! lists {
    ($($name:ident($handle:ty, $element:ty) => |$of:ident| $list:ident($about:expr);)*) => {$(
        pub(crate) unsafe fn $name(
            $of: $handle,
            profileId: c_uint,
            list: *mut $element,
            count: *mut c_uint,
        ) -> nvmlReturn_t {
            const OP: OpId = op_id(stringify!($name));
            // SAFETY: pointers of the program.
            unsafe { $list(OP, $about, profileId, list, count) }
        }
    )*};
}

lists! {
    nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t, nvmlGpuInstancePlacement_t) =>
        |device| placements(device.addr());
    nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvmlGpuInstance_t, nvmlComputeInstancePlacement_t) =>
        |instance| placements(instance.addr());
    nvmlDeviceGetGpuInstances(nvmlDevice_t, nvmlGpuInstance_t) =>
        |device| instances((Kind::NvmlDevice, device.addr()));
    nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t, nvmlComputeInstance_t) =>
        |instance| instances((Kind::NvmlGpuInstance, instance.addr()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(of: usize, profile: c_uint) -> Option<c_uint> {
        lock(&REPORTED).get(&(of, profile)).copied()
    }

    #[test]
    fn the_least_count_that_was_reported_is_kept() {
        keep(1, 19, 7);
        keep(1, 19, 3);
        keep(1, 19, 5);
        keep(2, 19, 4);
        assert_eq!(
            (reported(1, 19), reported(2, 19), reported(1, 9)),
            (Some(3), Some(4), None)
        );
    }

    #[test]
    fn a_profile_is_read_by_its_version_and_size() {
        let answered = |of: usize, said: c_uint, words: [c_uint; 5]| {
            let mut info = [said, 0, 0, 0, 0];
            let to = info.as_mut_ptr();
            let answer = || {
                // SAFETY: the array above.
                unsafe { to.cast::<[c_uint; 5]>().write(words) };
                nvml::NVML_SUCCESS
            };
            // SAFETY: it says no more bytes than it has.
            unsafe { versioned(of, to, of_gpu_profile, answer) }
        };
        // Whatever version comes back.
        answered(10, 2 << 24 | 20, [0, 19, 0, 1, 7]);
        answered(11, 3 << 24 | 20, [0, 19, 1, 7, 8]);
        answered(12, 2 << 24 | 16, [0, 19, 0, 1, 7]);
        answered(13, 4 << 24 | 20, [0, 19, 0, 1, 7]);
        let all = [10, 11, 12, 13].map(|of| reported(of, 19));
        assert_eq!(all, [Some(7), Some(7), None, None]);
    }
}
