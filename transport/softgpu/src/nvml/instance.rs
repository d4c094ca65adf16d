//! GPU instances and compute instances of a device in MIG mode, by their numbers and profiles, and the profiles themselves.

use std::ffi::{c_uint, c_ulonglong};

use super::mig::{divided, instances};
use super::{
    DEVICE_BASE, DeviceHandle, INVALID_ARGUMENT, NOT_FOUND, NOT_SUPPORTED, Reply, device,
    handle_of, nvml,
};
use crate::abi::{Out, layouts};
use crate::attributes::multiprocessors;
use crate::device::Device;
use crate::error::fail_if;
use crate::mig::Instance;

/// Handles are those of the device, with the number of the instance in the higher bits.
const GPU_INSTANCE: u64 = 0x0010_0000_0000_0000;
const COMPUTE_INSTANCE: u64 = 0x0011_0000_0000_0000;
const GI_SHIFT: u32 = 24;
const CI_SHIFT: u32 = 32;

/// Profiles of GPU instances in the order of NVML: slices, number of the profile, and how many instances there can be.
const GPU_PROFILES: [(u32, c_uint, c_uint); 5] =
    [(1, 19, 7), (2, 14, 3), (3, 9, 2), (4, 5, 1), (7, 0, 1)];
/// Slices of compute instances in the order of NVML, which is that of the numbers of their profiles too.
const COMPUTE_PROFILES: [u32; 5] = [1, 2, 3, 4, 7];

layouts! {
    /// `nvmlGpuInstanceInfo_t`.
    #[derive(Default, PartialEq, Eq)]
    GpuInstanceInfo {
        device: DeviceHandle,
        id: c_uint,
        profile: c_uint,
        start: c_uint,
        size: c_uint,
    }

    /// `nvmlComputeInstanceInfo_t`.
    #[derive(Default, PartialEq, Eq)]
    ComputeInstanceInfo {
        device: DeviceHandle,
        gpu_instance: u64,
        id: c_uint,
        profile: c_uint,
        start: c_uint,
        size: c_uint,
    }

    /// `nvmlGpuInstanceProfileInfo_t`.
    #[derive(Default, PartialEq, Eq)]
    GpuProfile {
        id: c_uint,
        p2p: c_uint,
        slices: c_uint,
        instances: c_uint,
        multiprocessors: c_uint,
        copy_engines: c_uint,
        decoders: c_uint,
        encoders: c_uint,
        jpeg: c_uint,
        ofa: c_uint,
        memory_mib: c_ulonglong,
    }

    /// `nvmlComputeInstanceProfileInfo_t`.
    #[derive(Default, PartialEq, Eq)]
    ComputeProfile {
        id: c_uint,
        slices: c_uint,
        instances: c_uint,
        multiprocessors: c_uint,
        shared_engines: [c_uint; 5],
    }
}

/// The device of a handle that is made of its own, `mark` and numbers of instances.
fn device_of(handle: u64, mark: u64) -> Reply<(&'static Device, c_uint, c_uint)> {
    let below = handle.wrapping_sub(DEVICE_BASE);
    let numbers = below.wrapping_sub(mark);
    fail_if(numbers >> 40 != 0, INVALID_ARGUMENT)?;
    let own = DEVICE_BASE + (numbers & ((1 << GI_SHIFT) - 1));
    let number = |shift: u32| (numbers >> shift & 0xff) as c_uint;
    Ok((device(own)?, number(GI_SHIFT), number(CI_SHIFT)))
}

/// The compute instances of a GPU instance of a device; without any there is none.
fn computing(device: &Device, gi: c_uint) -> Reply<Vec<Instance>> {
    let mut all = instances(device);
    all.retain(|one| one.gi == gi);
    match all.is_empty() {
        true => Err(NOT_FOUND),
        false => Ok(all),
    }
}

/// A GPU instance that its handle is of: gone, it is no argument.
fn gpu_instance(handle: u64) -> Reply<(&'static Device, Vec<Instance>)> {
    let (device, gi, _) = device_of(handle, GPU_INSTANCE)?;
    let computing = computing(device, gi).map_err(|_| INVALID_ARGUMENT)?;
    Ok((device, computing))
}

fn gpu_instance_handle(device: &Device, gi: c_uint) -> u64 {
    handle_of(device) + GPU_INSTANCE + (u64::from(gi) << GI_SHIFT)
}

fn compute_instance_handle(device: &Device, one: &Instance) -> u64 {
    let numbers = u64::from(one.gi) << GI_SHIFT | u64::from(one.ci) << CI_SHIFT;
    handle_of(device) + COMPUTE_INSTANCE + numbers
}

/// Gives the handles of instances, of which there is room for as many as their profile can have.
fn give(list: Out<u64>, count: Out<c_uint>, handles: &[u64]) -> Reply {
    fail_if(list.is_null() || count.is_null(), INVALID_ARGUMENT)?;
    for (place, handle) in handles.iter().enumerate() {
        list.put_at(place, *handle)?;
    }
    Ok(count.put(handles.len() as c_uint)?)
}

fn gpu_profile(slices: u32) -> Reply<(u32, c_uint, c_uint)> {
    let mut profiles = GPU_PROFILES.iter();
    let found = profiles.find(|(of, ..)| *of == slices);
    found.copied().ok_or(NOT_SUPPORTED)
}

/// Number of the profile of a compute instance.
fn compute_profile(slices: u32) -> c_uint {
    let found = COMPUTE_PROFILES.iter().position(|of| *of == slices);
    found.unwrap_or_default() as c_uint
}

/// Where a GPU instance begins, in slices: behind those before it.
fn start(device: &Device, gi: c_uint) -> c_uint {
    let mut before: Vec<_> = instances(device)
        .iter()
        .filter(|one| one.gi < gi)
        .map(|one| (one.gi, one.slices))
        .collect();
    before.dedup();
    before.iter().map(|(_, slices)| slices).sum()
}

fn of_multiprocessors(slices: u32) -> c_uint {
    (multiprocessors() * slices / 7).max(1)
}

nvml! {
    /// The GPU instance of a number.
    fn nvmlDeviceGetGpuInstanceById(handle: DeviceHandle, id: c_uint, out: Out<u64>) {
        let device = divided(handle)?;
        computing(device, id)?;
        Ok(out.put(gpu_instance_handle(device, id))?)
    }

    /// The GPU instances of a profile.
    fn nvmlDeviceGetGpuInstances(
        handle: DeviceHandle, profile: c_uint, list: Out<u64>, count: Out<c_uint>,
    ) {
        let device = divided(handle)?;
        let mut profiles = GPU_PROFILES.iter();
        let found = profiles.find(|(_, id, _)| *id == profile);
        let (slices, _, most) = *found.ok_or(NOT_SUPPORTED)?;
        let mut numbers: Vec<_> = instances(device)
            .iter()
            .filter(|one| one.slices == slices)
            .map(|one| one.gi)
            .collect();
        // Each compute instance names its own.
        numbers.dedup();
        let handles = numbers.iter().map(|gi| gpu_instance_handle(device, *gi));
        give(list, count, &handles.take(most as usize).collect::<Vec<_>>())
    }

    /// A profile of GPU instances.
    fn nvmlDeviceGetGpuInstanceProfileInfo(
        handle: DeviceHandle, profile: c_uint, out: Out<GpuProfile>,
    ) {
        let device = divided(handle)?;
        let (slices, id, most) = *GPU_PROFILES.get(profile as usize).ok_or(NOT_SUPPORTED)?;
        // Seven slices have all eight parts of the memory, and three of them four.
        let eighths = slices + u32::from(slices == 3 || slices == 7);
        Ok(out.put(GpuProfile {
            id,
            slices,
            instances: most,
            multiprocessors: of_multiprocessors(slices),
            copy_engines: slices,
            memory_mib: (device.memory >> 23) * u64::from(eighths),
            ..GpuProfile::default()
        })?)
    }

    /// What a GPU instance is.
    fn nvmlGpuInstanceGetInfo(instance: u64, out: Out<GpuInstanceInfo>) {
        let (device, computing) = gpu_instance(instance)?;
        let (gi, slices) = computing.first().map_or((0, 0), |one| (one.gi, one.slices));
        Ok(out.put(GpuInstanceInfo {
            device: handle_of(device),
            id: gi,
            profile: gpu_profile(slices)?.1,
            start: start(device, gi),
            size: slices,
        })?)
    }

    /// A profile of compute instances in a GPU instance; there is one kind of engines.
    fn nvmlGpuInstanceGetComputeInstanceProfileInfo(
        instance: u64, profile: c_uint, engines: c_uint, out: Out<ComputeProfile>,
    ) {
        let (_, computing) = gpu_instance(instance)?;
        let slices = *COMPUTE_PROFILES.get(profile as usize).ok_or(INVALID_ARGUMENT)?;
        let of = computing.first().map_or(0, |one| one.slices);
        fail_if(slices > of || engines != 0, NOT_SUPPORTED)?;
        Ok(out.put(ComputeProfile {
            id: profile,
            slices,
            instances: of / slices,
            multiprocessors: of_multiprocessors(slices),
            ..ComputeProfile::default()
        })?)
    }

    /// The compute instance of a number in a GPU instance.
    fn nvmlGpuInstanceGetComputeInstanceById(instance: u64, id: c_uint, out: Out<u64>) {
        let (device, computing) = gpu_instance(instance)?;
        let found = computing.iter().find(|one| one.ci == id).ok_or(NOT_FOUND)?;
        Ok(out.put(compute_instance_handle(device, found))?)
    }

    /// The compute instances of a profile in a GPU instance.
    fn nvmlGpuInstanceGetComputeInstances(
        instance: u64, profile: c_uint, list: Out<u64>, count: Out<c_uint>,
    ) {
        let (device, computing) = gpu_instance(instance)?;
        let slices = *COMPUTE_PROFILES.get(profile as usize).ok_or(NOT_SUPPORTED)?;
        let most = computing.first().map_or(0, |one| one.slices) / slices;
        let of_profile = computing.iter().filter(|one| one.computing == slices);
        let handles = of_profile.map(|one| compute_instance_handle(device, one));
        give(list, count, &handles.take(most as usize).collect::<Vec<_>>())
    }

    /// What a compute instance is.
    fn nvmlComputeInstanceGetInfo_v2(instance: u64, out: Out<ComputeInstanceInfo>) {
        let (device, gi, ci) = device_of(instance, COMPUTE_INSTANCE)?;
        let computing = computing(device, gi).map_err(|_| INVALID_ARGUMENT)?;
        let place = computing.iter().position(|one| one.ci == ci).ok_or(INVALID_ARGUMENT)?;
        let (before, own) = computing.split_at(place);
        let size = own.first().map_or(0, |one| one.computing);
        Ok(out.put(ComputeInstanceInfo {
            device: handle_of(device),
            gpu_instance: gpu_instance_handle(device, gi),
            id: ci,
            profile: compute_profile(size),
            start: before.iter().map(|one| one.computing).sum(),
            size,
        })?)
    }
}

// As nvml.h lays them out.
const _: () = {
    assert!(size_of::<GpuInstanceInfo>() == 24);
    assert!(size_of::<ComputeInstanceInfo>() == 32);
    assert!(size_of::<GpuProfile>() == 48);
    assert!(size_of::<ComputeProfile>() == 36);
};
