//! Processes that use a GPU, or an instance of one in MIG mode.

use std::collections::BTreeMap;
use std::path::Path;

use nvml_wrapper::Device;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;

use super::reader::Reader;
use crate::{GpuProcess, ProcessType, sysfs};

/// Processes listed for a GPU at most; each costs a read in /proc and some 60 bytes of JSON.
pub(super) const MAX_PROCESSES: usize = 1024;

/// Processes of the whole GPU.
pub(super) fn of_gpu(reader: &mut Reader<'_, '_>) -> Vec<GpuProcess> {
    let lists = [
        (
            ProcessType::Compute,
            reader.get("processes", Device::running_compute_processes),
        ),
        (
            ProcessType::Graphics,
            reader.get("processes", Device::running_graphics_processes),
        ),
        (
            ProcessType::Mps,
            reader.get("processes", Device::mps_running_compute_processes),
        ),
    ];
    merged(lists)
}

/// Processes in a MIG device, which is this GPU instance and compute instance.
pub(super) fn of_instance(
    reader: &mut Reader<'_, '_>,
    device: &Device<'_>,
    (gi, ci): (u32, u32),
) -> Vec<GpuProcess> {
    const WHAT: &str = "processes of a MIG instance";
    let lists = [
        (
            ProcessType::Compute,
            reader.get(WHAT, |_| device.running_compute_processes()),
        ),
        (
            ProcessType::Mps,
            reader.get(WHAT, |_| device.mps_running_compute_processes()),
        ),
    ];
    let mut found = merged(lists);
    for process in &mut found {
        (process.mig_gi, process.mig_ci) = (Some(gi), Some(ci));
    }
    found
}

/// Each process of several lists once.
fn merged<const N: usize>(lists: [(ProcessType, Option<Vec<ProcessInfo>>); N]) -> Vec<GpuProcess> {
    let mut found: BTreeMap<_, GpuProcess> = BTreeMap::new();
    for (kind, list) in lists {
        for info in list.unwrap_or_default().into_iter().take(MAX_PROCESSES) {
            let key = (info.pid, info.gpu_instance_id, info.compute_instance_id);
            found
                .entry(key)
                .and_modify(|p| p.kind = both(p.kind, kind))
                .or_insert_with(|| process(&info, kind));
        }
    }
    found.into_values().take(MAX_PROCESSES).collect()
}

fn both(a: ProcessType, b: ProcessType) -> ProcessType {
    match (a, b) {
        (ProcessType::Mps, _) | (_, ProcessType::Mps) => ProcessType::Mps,
        (a, b) if a == b => a,
        _ => ProcessType::ComputeAndGraphics,
    }
}

fn process(info: &ProcessInfo, kind: ProcessType) -> GpuProcess {
    GpuProcess {
        pid: info.pid,
        comm: sysfs::text(Path::new(&format!("/proc/{}/comm", info.pid))),
        used_memory: match info.used_gpu_memory {
            UsedGpuMemory::Used(bytes) => Some(bytes),
            UsedGpuMemory::Unavailable => None,
        },
        kind,
        mig_gi: info.gpu_instance_id,
        mig_ci: info.compute_instance_id,
    }
}
