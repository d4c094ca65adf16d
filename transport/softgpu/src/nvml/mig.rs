//! MIG mode: how a device is divided, as `GTRACE_SOFTGPU_FAULT` and the control file say. Only NVML shows it; programs that compute
//! use the whole device, and are shown in its first instance.

use std::ffi::{c_uint, c_ulonglong};

use super::{
    DEVICE_BASE, DeviceHandle, INVALID_ARGUMENT, NO_PERMISSION, NOT_FOUND, NOT_SUPPORTED, Reply,
    any_device, device, handle_of, nvml,
};
use crate::abi::Out;
use crate::attributes::multiprocessors;
use crate::device::Device;
use crate::error::fail_if;
use crate::mig::{Instance, MOST};

/// A device, or an instance of it in MIG mode.
pub(crate) enum Subject {
    /// The whole of it.
    Whole(&'static Device),
    /// A compute instance, and its place among all.
    Part(&'static Device, Instance, usize),
}

impl Subject {
    /// What the handle is of; neither may be lost.
    pub(crate) fn of(handle: DeviceHandle) -> Reply<Self> {
        let place = (handle.wrapping_sub(DEVICE_BASE) & 15) as usize;
        let whole = device(handle & !15)?;
        if place == 0 {
            return Ok(Self::Whole(whole));
        }
        let found = instances(whole).get(place - 1).cloned();
        // The handle of an instance that was destroyed.
        let instance = found.ok_or(INVALID_ARGUMENT)?;
        Ok(Self::Part(whole, instance, place - 1))
    }

    /// The device that it is or is part of.
    pub(crate) fn device(&self) -> &'static Device {
        match self {
            Self::Whole(device) | Self::Part(device, ..) => device,
        }
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Whole(device) => device.name.clone(),
            Self::Part(device, instance, _) => format!("{} MIG {}", device.name, instance.profile),
        }
    }

    /// Its UUID.
    pub(crate) fn uuid(&self) -> String {
        match self {
            Self::Whole(device) => device.uuid_text(),
            Self::Part(device, instance, place) => instance.uuid_text(device, *place),
        }
    }
}

/// The instances of a device; none where it is not in MIG mode.
pub(crate) fn instances(device: &Device) -> Vec<Instance> {
    device.faults.injected().mig.unwrap_or_default()
}

/// Whether a device is in MIG mode.
pub(crate) fn is_divided(device: &Device) -> bool {
    device.faults.injected().mig.is_some()
}

/// The device of a handle, which has to be in MIG mode.
pub(crate) fn divided(handle: DeviceHandle) -> Reply<&'static Device> {
    let device = device(handle)?;
    is_divided(device).then_some(device).ok_or(NOT_SUPPORTED)
}

/// The handle of an instance with this UUID.
pub(crate) fn by_uuid(uuid: &str, devices: &[Device]) -> Option<DeviceHandle> {
    devices.iter().find_map(|device| {
        let of_device = instances(device);
        let mut places = of_device.iter().enumerate();
        let (place, _) = places.find(|(place, one)| one.uuid_text(device, *place) == uuid)?;
        Some(part_of(device, place))
    })
}

fn part_of(device: &Device, place: usize) -> DeviceHandle {
    handle_of(device) + 1 + place as u64
}

fn part(handle: DeviceHandle) -> Reply<Instance> {
    match Subject::of(handle)? {
        Subject::Part(_, instance, _) => Ok(instance),
        Subject::Whole(_) => Err(NOT_SUPPORTED),
    }
}

/// `nvmlDeviceAttributes_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "the names are those of NVML")]
pub struct Attributes {
    pub multiprocessors: c_uint,
    pub shared_copy_engines: c_uint,
    pub shared_decoders: c_uint,
    pub shared_encoders: c_uint,
    pub shared_jpeg: c_uint,
    pub shared_ofa: c_uint,
    pub gpu_instance_slices: c_uint,
    pub compute_instance_slices: c_uint,
    pub memory_mib: c_ulonglong,
}

nvml! {
    /// Whether a device is divided, and will be after a reset: as it is now.
    fn nvmlDeviceGetMigMode(handle: DeviceHandle, current: Out<c_uint>, pending: Out<c_uint>) {
        let on = c_uint::from(is_divided(device(handle)?));
        current.put(on)?;
        Ok(pending.put(on)?)
    }

    /// Changing it is for root.
    fn nvmlDeviceSetMigMode(handle: DeviceHandle, mode: c_uint, status: Out<c_uint>) {
        let _ = (mode, status);
        device(handle)?;
        Err(NO_PERMISSION)
    }

    /// Parts that a device can have.
    fn nvmlDeviceGetMaxMigDeviceCount(handle: DeviceHandle, count: Out<c_uint>) {
        let divided = is_divided(device(handle)?);
        Ok(count.put(if divided { MOST as c_uint } else { 0 })?)
    }

    /// The part of a device at a place.
    fn nvmlDeviceGetMigDeviceHandleByIndex(
        handle: DeviceHandle, index: c_uint, out: Out<DeviceHandle>,
    ) {
        let device = divided(handle)?;
        fail_if(index as usize >= MOST, INVALID_ARGUMENT)?;
        fail_if(index as usize >= instances(device).len(), NOT_FOUND)?;
        Ok(out.put(part_of(device, index as usize))?)
    }

    /// The device that has a part.
    fn nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle: DeviceHandle, out: Out<DeviceHandle>) {
        let subject = Subject::of(handle)?;
        fail_if(matches!(subject, Subject::Whole(_)), INVALID_ARGUMENT)?;
        Ok(out.put(handle_of(subject.device()))?)
    }

    /// Whether the handle is that of a part of a device.
    fn nvmlDeviceIsMigDeviceHandle(handle: DeviceHandle, is_part: Out<c_uint>) {
        let _ = any_device(handle & !15)?;
        Ok(is_part.put(c_uint::from(handle.wrapping_sub(DEVICE_BASE) & 15 != 0))?)
    }

    /// Number of the GPU instance that a part is in.
    fn nvmlDeviceGetGpuInstanceId(handle: DeviceHandle, id: Out<c_uint>) {
        Ok(id.put(part(handle)?.gi)?)
    }

    /// Number of the compute instance that a part is.
    fn nvmlDeviceGetComputeInstanceId(handle: DeviceHandle, id: Out<c_uint>) {
        Ok(id.put(part(handle)?.ci)?)
    }

    /// What a part has of the device.
    fn nvmlDeviceGetAttributes_v2(handle: DeviceHandle, out: Out<Attributes>) {
        let Subject::Part(device, instance, _) = Subject::of(handle)? else {
            return Err(NOT_SUPPORTED);
        };
        Ok(out.put(Attributes {
            multiprocessors: (multiprocessors() * instance.computing / 7).max(1),
            gpu_instance_slices: instance.slices,
            compute_instance_slices: instance.computing,
            memory_mib: instance.memory(device.memory) >> 20,
            ..Attributes::default()
        })?)
    }
}

// As nvml.h lays it out.
const _: () = assert!(size_of::<Attributes>() == 40);
