//! Instances of a GPU in MIG mode (Multi-Instance GPU).
//!
//! Source: nvml.h, "Multi Instance GPU Management". The wrapper lacks the numbers of instances.

#![allow(unsafe_code, reason = "calls of NVML that the wrapper does not have")]

use nvml_wrapper::error::{NvmlError, nvml_sym, nvml_try};
use nvml_wrapper::{Device, Nvml};
use nvml_wrapper_sys::bindings::{nvmlDevice_t, nvmlReturn_t};

use super::gpm::Gpm;
use super::processes;
use super::protocol::NvmlGpu;
use super::reader::Reader;
use crate::{GpuMemory, MigInstance};

/// No GPU has more than seven GPU instances, of seven slices together; a guard against a nonsense count.
const MOST: u32 = 64;

/// Takes the instances of `device` into the sample of `gpu`, and the processes in them where NVML lists none for the whole GPU.
/// Where one call fails, which instances there are is not known: part of them would look like another division.
pub(super) fn read(nvml: &Nvml, gpm: &mut Gpm, device: &Device<'_>, index: u32, gpu: &mut NvmlGpu) {
    let mut reader = Reader::new(device);
    match instances(nvml, &mut reader, gpu.sample.memory.total) {
        Some(found) => take(nvml, gpm, &mut reader, index, gpu, found),
        None => gpu.sample.mig_instances_unread = true,
    }
    gpu.lost |= reader.lost;
    gpu.errors.append(&mut reader.errors);
}

type Found<'nvml> = Vec<(MigInstance, Device<'nvml>)>;

fn take(
    nvml: &Nvml,
    gpm: &mut Gpm,
    reader: &mut Reader<'_, '_>,
    index: u32,
    gpu: &mut NvmlGpu,
    found: Found<'_>,
) {
    let sample = &mut gpu.sample;
    // Only the privileged see the processes of all instances together.
    if sample.processes.is_empty() {
        for (instance, device) in &found {
            let listed = processes::of_instance(reader, device, (instance.gi, instance.ci));
            sample.processes.extend(listed);
        }
        sample.processes.truncate(processes::MAX_PROCESSES);
    }
    sample.mig_instances = found.into_iter().map(|(instance, _)| instance).collect();
    gpm.keep_instances(nvml, index, &sample.mig_instances);
    let mut last = None;
    for instance in &mut sample.mig_instances {
        // Those of one GPU instance have its activity.
        let activity = match last.take() {
            Some((gi, activity)) if gi == instance.gi => activity,
            _ => {
                let read = |gpu: &Device<'_>| gpm.read_instance(nvml, gpu, index, instance);
                reader.may(read).unwrap_or_default()
            }
        };
        instance.activity = activity.clone();
        last = Some((instance.gi, activity));
    }
}

/// Every instance; `None` where a call failed that says which there are.
fn instances<'nvml>(
    nvml: &'nvml Nvml,
    reader: &mut Reader<'_, 'nvml>,
    total: Option<u64>,
) -> Option<Found<'nvml>> {
    const LIST: &str = "list of MIG instances";
    let most = reader.must(LIST, Device::mig_device_count)?.min(MOST);
    let mut found = Vec::new();
    for place in 0..most {
        let device = reader.must(LIST, |gpu| match gpu.mig_device_by_index(place) {
            Ok(device) => Ok(Some(device)),
            Err(NvmlError::NotFound) => Ok(None),
            // Past the end.
            Err(NvmlError::InvalidArg) if place > 0 => Ok(None),
            Err(error) => Err(error),
        })?;
        let Some(device) = device else { continue };
        let (instance, by_attributes) = instance(nvml, reader, &device, total)?;
        found.push((instance, device, by_attributes));
    }
    // The attributes do not tell `1g.10gb` from `1g.10gb+me`: they count only where this driver gives no instance a name.
    let named = found
        .iter()
        .any(|(instance, ..)| instance.profile.is_some());
    let found = found.into_iter();
    let mut found: Found<'_> = found
        .map(|(mut instance, device, by_attributes)| {
            if !named {
                instance.profile = by_attributes;
            }
            (instance, device)
        })
        .collect();
    found.sort_by_key(|(instance, _)| (instance.gi, instance.ci));
    (!reader.lost).then_some(found)
}

/// An instance with the profile that its name says, and the profile by its attributes where it has a name without one.
fn instance(
    nvml: &Nvml,
    reader: &mut Reader<'_, '_>,
    device: &Device<'_>,
    total: Option<u64>,
) -> Option<(MigInstance, Option<String>)> {
    let lib = nvml.lib();
    let gi = reader.must("number of a MIG GPU instance", |_| {
        number(nvml_sym(lib.nvmlDeviceGetGpuInstanceId.as_ref())?, device)
    })?;
    let ci = reader.must("number of a MIG compute instance", |_| {
        number(
            nvml_sym(lib.nvmlDeviceGetComputeInstanceId.as_ref())?,
            device,
        )
    })?;
    let memory = reader.get("memory of a MIG instance", |_| device.memory_info());
    let memory = memory.map_or_else(GpuMemory::default, |memory| GpuMemory {
        total: Some(memory.total),
        used: Some(memory.used),
        free: Some(memory.free),
        reserved: Some(memory.reserved),
    });
    let attributes = reader.get("attributes of a MIG instance", |_| device.attributes());
    let name = reader.get("name of a MIG instance", |_| device.name());
    let profile = name.as_deref().and_then(profile_in).map(str::to_owned);
    let by_attributes = attributes.as_ref().zip(total).filter(|_| name.is_some());
    let by_attributes = by_attributes.and_then(|(found, total)| {
        let slices = (
            found.gpu_instance_slice_count,
            found.compute_instance_slice_count,
        );
        self::profile(slices, found.memory_size_mb, total)
    });
    let instance = MigInstance {
        gi,
        ci,
        profile,
        uuid: reader.get("UUID of a MIG instance", |_| device.uuid()),
        memory,
        multiprocessors: attributes.map(|found| found.multiprocessor_count),
        ..MigInstance::default()
    };
    Some((instance, by_attributes))
}

/// The profile in the name of a MIG device: `NVIDIA A100-SXM4-40GB MIG 1g.5gb`.
fn profile_in(name: &str) -> Option<&str> {
    let (_, profile) = name.rsplit_once(" MIG ")?;
    Some(profile.trim()).filter(|profile| !profile.is_empty())
}

/// What NVIDIA's tools call an instance of so many slices of the GPU (and so many of those for computing) with so much of its
/// memory (MiB, bytes): the memory in eighths of the GPU's, in whole GiB.
fn profile((slices, computing): (u32, u32), memory_mib: u64, total: u64) -> Option<String> {
    const GIB: f64 = 1_073_741_824.0;
    if slices == 0 || total == 0 {
        return None;
    }
    let part = memory_mib as f64 * 1_048_576.0 / total as f64;
    let part = (part * 8.0).ceil() / 8.0;
    let gib = (part * (total as f64 / GIB).ceil()).round();
    let whole = format!("{slices}g.{gib:.0}gb");
    Some(match computing == slices {
        true => whole,
        false => format!("{computing}c.{whole}"),
    })
}

type Numbers = unsafe extern "C" fn(nvmlDevice_t, *mut u32) -> nvmlReturn_t;

fn number(call: &Numbers, device: &Device<'_>) -> Result<u32, NvmlError> {
    let mut number = 0;
    // SAFETY: the handle is NVML's own for a device that is open, and `number` takes what the call writes.
    nvml_try(unsafe { call(device.handle(), &raw mut number) })?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_named_as_nvidia_smi_names_them() {
        for (slices, mib, total_mib, name) in [
            ((1, 1), 4864, 40536, "1g.5gb"),
            ((3, 3), 19968, 40536, "3g.20gb"),
            ((7, 7), 40192, 40536, "7g.40gb"),
            ((1, 1), 9856, 81559, "1g.10gb"),
            ((3, 1), 40448, 81559, "1c.3g.40gb"),
            ((1, 1), 16384, 143_771, "1g.18gb"),
        ] {
            let found = profile(slices, mib, total_mib << 20);
            assert_eq!(found.as_deref(), Some(name));
        }
        assert_eq!(profile((0, 0), 1, 1 << 30), None);
        assert_eq!(profile_in("NVIDIA A100 MIG 1g.5gb"), Some("1g.5gb"));
        assert_eq!(profile_in("NVIDIA A100"), None);
        let mut instance = MigInstance::default();
        for (profile, of_gpu) in [
            ("1c.3g.40gb", "3g.40gb"),
            ("1g.10gb+me", "1g.10gb+me"),
            ("c.3g", "c.3g"),
        ] {
            instance.profile = Some(profile.to_owned());
            assert_eq!(instance.gpu_profile(), Some(of_gpu));
        }
    }
}
