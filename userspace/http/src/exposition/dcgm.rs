//! What NVML gives under the names, labels and units of dcgm-exporter, so that dashboards and rules for that one work.
//!
//! Names and units are those of its `etc/default-counters.csv`, as far as NVML has the value, and of fields of DCGM that a site can
//! add to that file. It writes counters without `_total`, which OpenMetrics has for metrics of unknown type only.

use std::fmt::Write as _;

use gtrace_devices::{Activity, GpuBoard, GpuInfo, GpuMemory, GpuSample, MigInstance, SpareRows};
use gtrace_event::PciAddress;
use gtrace_profile::openmetrics::escaped;

use super::Format;

/// Bytes of a mebibyte, and of a megabyte.
const MIB: f64 = 1_048_576.0;
const MB: f64 = 1_000_000.0;

/// Where a value is from.
#[derive(Clone, Copy)]
enum Source {
    Sample(fn(&GpuSample) -> Option<f64>),
    /// What each GPU instance has in MIG mode, in place of the GPU.
    Divided(fn(&GpuMemory, &Activity) -> Option<f64>),
    /// What does not change.
    Board(fn(&GpuBoard) -> Option<f64>),
    /// The last Xid, which no sample has.
    LastXid,
}

struct Field {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    read: Source,
}

/// In the order of the file, a line each: kind, name, what it is, and where its value is from.
macro_rules! fields {
    ($($kind:ident $name:literal $help:literal $source:ident $(($read:expr))?;)*) => {
        const FIELDS: &[Field] = &[$(Field {
            name: $name, kind: stringify!($kind), help: $help, read: Source::$source $(($read))?,
        }),*];
    };
}

fields! {
    gauge "DCGM_FI_DEV_SM_CLOCK" "SM clock, MHz" Sample(|s| s.clocks.sm.map(f64::from));
    gauge "DCGM_FI_DEV_MEM_CLOCK" "Memory clock, MHz" Sample(|s| s.clocks.memory.map(f64::from));
    gauge "DCGM_FI_DEV_MEMORY_TEMP" "Temperature of the memory, C" Sample(|s| s.temperature.memory.map(f64::from));
    gauge "DCGM_FI_DEV_GPU_TEMP" "Temperature of the GPU, C" Sample(|s| s.temperature.gpu.map(f64::from));
    gauge "DCGM_FI_DEV_POWER_USAGE" "Power draw, W" Sample(|s| s.power.draw_w);
    counter "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" "Energy since the driver was loaded, mJ"
        Sample(|s| s.power.energy_j.map(|joules| joules * 1000.0));
    counter "DCGM_FI_DEV_PCIE_REPLAY_COUNTER" "PCIe replays" Sample(|s| s.pcie_replays.map(|n| n as f64));
    gauge "DCGM_FI_DEV_GPU_UTIL" "Share of time with a kernel running, %" Sample(|s| s.utilization.gpu.map(f64::from));
    gauge "DCGM_FI_DEV_MEM_COPY_UTIL" "Share of time with device memory read or written, %"
        Sample(|s| s.utilization.memory.map(f64::from));
    gauge "DCGM_FI_DEV_ENC_UTIL" "Encoder utilisation, %" Sample(|s| s.utilization.encoder.map(f64::from));
    gauge "DCGM_FI_DEV_DEC_UTIL" "Decoder utilisation, %" Sample(|s| s.utilization.decoder.map(f64::from));
    gauge "DCGM_FI_DEV_XID_ERRORS" "Newest Xid since the daemon was started, without drills; 0: none" LastXid;
    gauge "DCGM_FI_DEV_FB_FREE" "Free device memory, MiB" Divided(|memory, _| memory.free.map(mebibytes));
    gauge "DCGM_FI_DEV_FB_USED" "Device memory in use, MiB" Divided(|memory, _| memory.used.map(mebibytes));
    counter "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS" "Rows remapped for uncorrectable errors"
        Sample(|s| s.remapped_rows.uncorrectable.map(|n| n as f64));
    counter "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS" "Rows remapped for correctable errors"
        Sample(|s| s.remapped_rows.correctable.map(|n| n as f64));
    gauge "DCGM_FI_DEV_ROW_REMAP_FAILURE" "Whether a remapping has failed"
        Sample(|s| s.remapped_rows.failure.map(|b| f64::from(u8::from(b))));
    gauge "DCGM_FI_DEV_VGPU_LICENSE_STATUS" "Whether the vGPU has its licence"
        Sample(|s| s.vgpu_license.as_ref().map(|l| f64::from(u8::from(l.is_valid(s.time)))));
    // dcgm-exporter calls it a counter. DCGM gives a rate.
    gauge "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL" "NVLink traffic sent and received, MB/s"
        Sample(|s| Some(s.activity.nvlink_tx?.saturating_add(s.activity.nvlink_rx?) as f64 / MB));
    gauge "DCGM_FI_PROF_GR_ENGINE_ACTIVE" "Share of time with the graphics engine active"
        Divided(|_, activity| activity.graphics);
    gauge "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE" "Share of time with the tensor pipe active"
        Divided(|_, activity| activity.tensor);
    gauge "DCGM_FI_PROF_DRAM_ACTIVE" "Share of the bandwidth of device memory in use"
        Divided(|_, activity| activity.dram);
    gauge "DCGM_FI_PROF_SM_ACTIVE" "Share of time with a warp on a multiprocessor" Divided(|_, activity| activity.sm);
    gauge "DCGM_FI_PROF_SM_OCCUPANCY" "Warps of the most that multiprocessors can have"
        Divided(|_, activity| activity.sm_occupancy);
    gauge "DCGM_FI_PROF_PIPE_FP64_ACTIVE" "Share of time with the pipe of 64-bit floating point active"
        Divided(|_, activity| activity.fp64);
    gauge "DCGM_FI_PROF_PIPE_FP32_ACTIVE" "Share of time with the pipe of 32-bit floating point active"
        Divided(|_, activity| activity.fp32);
    gauge "DCGM_FI_PROF_PIPE_FP16_ACTIVE" "Share of time with the pipe of 16-bit floating point active"
        Divided(|_, activity| activity.fp16);
    gauge "DCGM_FI_PROF_PCIE_TX_BYTES" "PCIe traffic sent, B/s" Sample(|s| s.pcie_tx.map(|n| n as f64));
    gauge "DCGM_FI_PROF_PCIE_RX_BYTES" "PCIe traffic received, B/s" Sample(|s| s.pcie_rx.map(|n| n as f64));
    gauge "DCGM_FI_PROF_NVLINK_TX_BYTES" "NVLink traffic sent, B/s" Sample(|s| s.activity.nvlink_tx.map(|n| n as f64));
    gauge "DCGM_FI_PROF_NVLINK_RX_BYTES" "NVLink traffic received, B/s"
        Sample(|s| s.activity.nvlink_rx.map(|n| n as f64));
    // From here on not in the file: fields of DCGM by the same names.
    gauge "DCGM_FI_DEV_GPU_TEMP_LIMIT" "Margin up to the nearest temperature of slowdown, C"
        Sample(|s| s.temperature.margin.map(f64::from));
    gauge "DCGM_FI_DEV_ENFORCED_POWER_LIMIT" "Power limit in force, W" Sample(|s| s.power.limit_w);
    gauge "DCGM_FI_DEV_POWER_MGMT_LIMIT" "Power limit that was set, W" Sample(|s| s.power.requested_limit_w);
    gauge "DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN" "Lowest power limit, W" Board(|b| b.power_limit_min_w);
    gauge "DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX" "Highest power limit, W" Board(|b| b.power_limit_max_w);
    gauge "DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF" "Default power limit, W" Board(|b| b.power_limit_default_w);
    gauge "DCGM_FI_DEV_BAR1_TOTAL" "BAR1, MiB" Sample(|s| s.bar1.total.map(mebibytes));
    gauge "DCGM_FI_DEV_BAR1_USED" "BAR1 in use, MiB" Sample(|s| s.bar1.used.map(mebibytes));
    gauge "DCGM_FI_DEV_BAR1_FREE" "Free BAR1, MiB" Sample(|s| s.bar1.free.map(mebibytes));
    gauge "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_MAX" "Banks of memory with all spare rows"
        Sample(|s| banks(s, |rows| rows.max));
    gauge "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_HIGH" "Banks of memory with many spare rows"
        Sample(|s| banks(s, |rows| rows.high));
    gauge "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_PARTIAL" "Banks of memory with some spare rows"
        Sample(|s| banks(s, |rows| rows.partial));
    gauge "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_LOW" "Banks of memory with few spare rows"
        Sample(|s| banks(s, |rows| rows.low));
    gauge "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE" "Banks of memory without spare rows"
        Sample(|s| banks(s, |rows| rows.none));
}

fn banks(sample: &GpuSample, read: fn(&SpareRows) -> Option<u32>) -> Option<f64> {
    let spare = sample.remapped_rows.spare.as_ref()?;
    read(spare).map(f64::from)
}

fn mebibytes(bytes: u64) -> f64 {
    (bytes as f64 / MIB).floor()
}

/// The GPUs that NVML shows; `last_xid` is of one of them.
pub(crate) fn text(
    gpus: &[GpuInfo],
    host: &str,
    last_xid: impl Fn(PciAddress) -> Option<u32>,
    format: Format,
) -> String {
    let mut text = String::new();
    for field in FIELDS {
        let values = gpus
            .iter()
            .flat_map(|gpu| series(field, gpu, host, &last_xid));
        for (n, (labels, value)) in values.enumerate() {
            let Field {
                name, kind, help, ..
            } = field;
            let kind = match (format, *kind) {
                (Format::OpenMetrics, "counter") => "unknown",
                (_, kind) => kind,
            };
            // Writing to a String cannot fail.
            if n == 0 {
                let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            }
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    text
}

/// Labels and values of a field: of the GPU, or in MIG mode of each of its GPU instances, as dcgm-exporter has it.
fn series(
    field: &Field,
    gpu: &GpuInfo,
    host: &str,
    last_xid: &impl Fn(PciAddress) -> Option<u32>,
) -> Vec<(String, f64)> {
    let (Some(sample), Some(of_gpu)) = (&gpu.sample, labels(gpu, host)) else {
        return Vec::new();
    };
    let value = match field.read {
        Source::Board(read) => read(&gpu.board),
        Source::LastXid => Some(last_xid(gpu.pci).map_or(0.0, f64::from)),
        _ if gpu.stale => None,
        Source::Sample(read) => read(sample),
        Source::Divided(read) if sample.mig_instances.is_empty() => {
            read(&sample.memory, &sample.activity)
        }
        Source::Divided(read) => {
            let read = |i: &MigInstance| read(&i.memory, &i.activity);
            let instances = sample.gpu_instances();
            let values = instances.filter_map(|i| Some((of_mig(&of_gpu, i), read(i)?)));
            return values.collect();
        }
    };
    value.map(|value| (of_gpu, value)).into_iter().collect()
}

/// The labels of a GPU instance in MIG mode.
fn of_mig(of_gpu: &str, instance: &MigInstance) -> String {
    format!(
        "{of_gpu},GPU_I_PROFILE=\"{}\",GPU_I_ID=\"{}\"",
        escaped(instance.gpu_profile().unwrap_or_default()),
        instance.gi
    )
}

/// As dcgm-exporter labels a GPU; `None` where NVML has given it no number.
fn labels(gpu: &GpuInfo, host: &str) -> Option<String> {
    let index = gpu.index?;
    let pci = &gpu.pci;
    let pairs = [
        ("gpu", index.to_string()),
        ("UUID", gpu.uuid.clone().unwrap_or_default()),
        (
            "pci_bus_id",
            format!(
                "{:08X}:{:02X}:{:02X}.{:X}",
                pci.domain, pci.bus, pci.device, pci.function
            ),
        ),
        ("device", format!("nvidia{index}")),
        ("modelName", gpu.name.clone().unwrap_or_default()),
        ("Hostname", host.to_owned()),
        (
            "DCGM_FI_DRIVER_VERSION",
            gpu.driver_version.clone().unwrap_or_default(),
        ),
    ];
    let pairs = pairs.map(|(name, value)| format!("{name}=\"{}\"", escaped(&value)));
    Some(pairs.join(","))
}
