//! What NVML gives under the names, labels and units of dcgm-exporter, so that dashboards and rules for that one work.
//!
//! Names and units are those of its `etc/default-counters.csv`, as far as NVML has the value. It writes counters without
//! `_total`, so that this is the text format 0.0.4 written by hand and no OpenMetrics.

use std::fmt::Write as _;

use gtrace_devices::{GpuInfo, GpuSample};

/// Bytes of a mebibyte.
const MIB: f64 = 1_048_576.0;

struct Field {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    read: fn(&GpuSample) -> Option<f64>,
}

const fn gauge(
    name: &'static str,
    help: &'static str,
    read: fn(&GpuSample) -> Option<f64>,
) -> Field {
    Field {
        name,
        kind: "gauge",
        help,
        read,
    }
}

const fn counter(
    name: &'static str,
    help: &'static str,
    read: fn(&GpuSample) -> Option<f64>,
) -> Field {
    Field {
        kind: "counter",
        ..gauge(name, help, read)
    }
}

/// In the order of the file.
const FIELDS: &[Field] = &[
    gauge("DCGM_FI_DEV_SM_CLOCK", "SM clock, MHz", |s| {
        s.clocks.sm.map(f64::from)
    }),
    gauge("DCGM_FI_DEV_MEM_CLOCK", "Memory clock, MHz", |s| {
        s.clocks.memory.map(f64::from)
    }),
    gauge(
        "DCGM_FI_DEV_MEMORY_TEMP",
        "Temperature of the memory, C",
        |s| s.temperature.memory.map(f64::from),
    ),
    gauge("DCGM_FI_DEV_GPU_TEMP", "Temperature of the GPU, C", |s| {
        s.temperature.gpu.map(f64::from)
    }),
    gauge("DCGM_FI_DEV_POWER_USAGE", "Power draw, W", |s| {
        s.power.draw_w
    }),
    counter(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "Energy since the driver was loaded, mJ",
        |s| s.power.energy_j.map(|joules| joules * 1000.0),
    ),
    counter("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "PCIe replays", |s| {
        s.pcie_replays.map(|n| n as f64)
    }),
    gauge(
        "DCGM_FI_DEV_GPU_UTIL",
        "Share of time with a kernel running, %",
        |s| s.utilization.gpu.map(f64::from),
    ),
    gauge(
        "DCGM_FI_DEV_MEM_COPY_UTIL",
        "Share of time with device memory read or written, %",
        |s| s.utilization.memory.map(f64::from),
    ),
    gauge("DCGM_FI_DEV_FB_FREE", "Free device memory, MiB", |s| {
        s.memory.free.map(mebibytes)
    }),
    gauge("DCGM_FI_DEV_FB_USED", "Device memory in use, MiB", |s| {
        s.memory.used.map(mebibytes)
    }),
    counter(
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "Rows remapped for uncorrectable errors",
        |s| s.remapped_rows.uncorrectable.map(|n| n as f64),
    ),
    counter(
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "Rows remapped for correctable errors",
        |s| s.remapped_rows.correctable.map(|n| n as f64),
    ),
    gauge(
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "Whether a remapping has failed",
        |s| s.remapped_rows.failure.map(|b| f64::from(u8::from(b))),
    ),
    gauge(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "Share of time with the graphics engine active",
        |s| s.activity.graphics,
    ),
    gauge(
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "Share of time with the tensor pipe active",
        |s| s.activity.tensor,
    ),
    gauge(
        "DCGM_FI_PROF_DRAM_ACTIVE",
        "Share of the bandwidth of device memory in use",
        |s| s.activity.dram,
    ),
    gauge(
        "DCGM_FI_PROF_SM_ACTIVE",
        "Share of time with a warp on a multiprocessor",
        |s| s.activity.sm,
    ),
    gauge(
        "DCGM_FI_PROF_NVLINK_TX_BYTES",
        "NVLink traffic sent, B/s",
        |s| s.activity.nvlink_tx.map(|n| n as f64),
    ),
    gauge(
        "DCGM_FI_PROF_NVLINK_RX_BYTES",
        "NVLink traffic received, B/s",
        |s| s.activity.nvlink_rx.map(|n| n as f64),
    ),
];

fn mebibytes(bytes: u64) -> f64 {
    (bytes as f64 / MIB).floor()
}

/// The GPUs that NVML shows, in Prometheus text 0.0.4.
pub(crate) fn text(gpus: &[GpuInfo], host: &str) -> String {
    let mut text = String::new();
    for field in FIELDS {
        let values = gpus.iter().filter_map(|gpu| {
            let value = (field.read)(gpu.sample.as_ref()?)?;
            Some((labels(gpu, host)?, value))
        });
        for (n, (labels, value)) in values.enumerate() {
            let Field {
                name, kind, help, ..
            } = field;
            // Writing to a String cannot fail.
            if n == 0 {
                let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            }
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    text
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

/// A label's value as the text format wants it.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}
