use crate::nvlink::COUNTERS;
use crate::{
    Activity, C2cLinkSample, EccErrors, GpuInfo, GpuSample, MigInstance, NvLinkSample, SpareRows,
    SramErrors, SramSources,
};

/// Whether a metric only rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Rises until its source is reset.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// One value for `/metrics`.
///
/// `name` is the OpenMetrics family name: with the unit as its last word, without the `_total`
/// that a counter's sample line adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Family name, for example `gtrace_gpu_memory_used_bytes`.
    pub name: &'static str,
    /// What it is, one line.
    pub help: &'static str,
    /// The unit that `name` ends with, or "" where there is none.
    pub unit: &'static str,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// Labels; those of a GPU are `gpu` (PCI address) and, where known, `uuid`, then its own.
    pub labels: Vec<(&'static str, String)>,
    /// The value, in `unit`.
    pub value: f64,
}

impl Metric {
    /// A gauge without labels: name and unit, help, value.
    pub fn gauge(
        (name, unit): (&'static str, &'static str),
        help: &'static str,
        value: f64,
    ) -> Self {
        Self {
            name,
            help,
            unit,
            kind: Gauge,
            labels: Vec::new(),
            value,
        }
    }

    /// As [`gauge`](Self::gauge), a counter.
    pub fn counter(named: (&'static str, &'static str), help: &'static str, value: f64) -> Self {
        Self {
            kind: Counter,
            ..Self::gauge(named, help, value)
        }
    }

    /// The same with these labels.
    pub fn with(self, labels: Vec<(&'static str, String)>) -> Self {
        Self { labels, ..self }
    }
}

/// An array of [`Metric`]s without labels, a line each: kind, name, the unit that it ends with or "", what it is, and its value.
#[macro_export]
macro_rules! metric_table {
    ($($kind:ident $name:literal [$unit:literal] $help:literal => $value:expr;)*) => {
        [$($crate::Metric::$kind(($name, $unit), $help, $value)),*]
    };
}

use MetricKind::{Counter, Gauge};

/// One reading of a GPU: own labels and value.
type Reading = (Vec<(&'static str, String)>, f64);

struct Family {
    name: &'static str,
    help: &'static str,
    unit: &'static str,
    kind: MetricKind,
    read: fn(&GpuInfo) -> Vec<Reading>,
}

/// Everything that `gpus` show, as metrics. Those of one family stand together, as OpenMetrics
/// wants it.
pub fn metrics(gpus: &[GpuInfo]) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for family in FAMILIES {
        for gpu in gpus {
            for (own, value) in (family.read)(gpu) {
                let mut labels = vec![("gpu", gpu.pci.to_string())];
                labels.extend(gpu.uuid.clone().map(|uuid| ("uuid", uuid)));
                labels.extend(own);
                let Family {
                    name,
                    help,
                    unit,
                    kind,
                    ..
                } = *family;
                metrics.push(Metric {
                    name,
                    help,
                    unit,
                    kind,
                    labels,
                    value,
                });
            }
        }
    }
    metrics
}

/// One reading without own labels, if the sample has it.
fn one(gpu: &GpuInfo, read: impl Fn(&GpuSample) -> Option<f64>) -> Vec<Reading> {
    gpu.sample
        .as_ref()
        .and_then(read)
        .map(|value| (Vec::new(), value))
        .into_iter()
        .collect()
}

/// One reading for each of several values of the label `key`.
fn by<const N: usize>(
    gpu: &GpuInfo,
    key: &'static str,
    read: impl Fn(&GpuSample) -> [(&'static str, Option<f64>); N],
) -> Vec<Reading> {
    let readings = gpu.sample.as_ref().map(read).into_iter().flatten();
    readings
        .filter_map(|(label, v)| Some((vec![(key, label.to_owned())], v?)))
        .collect()
}

fn count(n: Option<u64>) -> Option<f64> {
    n.map(|n| n as f64)
}

fn float(n: Option<u32>) -> Option<f64> {
    n.map(f64::from)
}

fn flag(b: Option<bool>) -> Option<f64> {
    b.map(|b| f64::from(u8::from(b)))
}

fn ratio(percent: Option<u32>) -> Option<f64> {
    percent.map(|p| f64::from(p) / 100.0)
}

fn hertz(mhz: Option<u32>) -> Option<f64> {
    mhz.map(|m| f64::from(m) * 1e6)
}

fn seconds(ns: Option<u64>) -> Option<f64> {
    ns.map(|n| n as f64 / 1e9)
}

fn gauge_one(value: Option<f64>) -> Vec<Reading> {
    value.map(|v| (Vec::new(), v)).into_iter().collect()
}

macro_rules! families {
    ($($kind:ident $name:literal [$unit:literal] $help:literal => $read:expr;)*) => {
        const FAMILIES: &[Family] = &[$(Family {
            name: $name, help: $help, unit: $unit, kind: $kind, read: $read,
        }),*];
    };
}

families! {
    Gauge "gtrace_gpu_present" [""] "Whether a source shows the GPU (source: pci, nvml, proc)" =>
        |g| [("pci", g.present_in.pci), ("nvml", g.present_in.nvml), ("proc", g.present_in.proc)]
            .map(|(s, b)| (vec![("source", s.to_owned())], f64::from(u8::from(b)))).into();
    Gauge "gtrace_gpu_info" [""] "Always 1 (index, model, serial, vbios, firmware, driver: of the GPU, where known)" => info;
    Gauge "gtrace_gpu_utilization_ratio" ["ratio"] "Share of time with a kernel running" =>
        |g| one(g, |s| ratio(s.utilization.gpu));
    Gauge "gtrace_gpu_memory_utilization_ratio" ["ratio"] "Share of time with device memory read or written" =>
        |g| one(g, |s| ratio(s.utilization.memory));
    Gauge "gtrace_gpu_encoder_utilization_ratio" ["ratio"] "Share of time with the video encoder at work" =>
        |g| one(g, |s| ratio(s.utilization.encoder));
    Gauge "gtrace_gpu_decoder_utilization_ratio" ["ratio"] "Share of time with the video decoder at work" =>
        |g| one(g, |s| ratio(s.utilization.decoder));
    Gauge "gtrace_gpu_jpeg_utilization_ratio" ["ratio"] "Share of time with the JPEG decoder at work" =>
        |g| one(g, |s| ratio(s.utilization.jpeg));
    Gauge "gtrace_gpu_ofa_utilization_ratio" ["ratio"] "Share of time with the optical flow accelerator at work" =>
        |g| one(g, |s| ratio(s.utilization.ofa));
    Gauge "gtrace_gpu_activity_ratio" ["ratio"] "Share of time that a part of the GPU was active (unit: graphics, sm, tensor, dram, fp64, fp32, fp16, integer)" =>
        |g| by(g, "unit", |s| {
            units(&s.activity)
        });
    Gauge "gtrace_gpu_sm_occupancy_ratio" ["ratio"] "Warps of the most that the multiprocessors can have" =>
        |g| one(g, |s| s.activity.sm_occupancy);
    Gauge "gtrace_gpu_nvlink_throughput_bytes_per_second" ["bytes_per_second"] "Traffic over all NVLinks (direction: tx, rx)" =>
        |g| by(g, "direction", |s| [("tx", count(s.activity.nvlink_tx)), ("rx", count(s.activity.nvlink_rx))]);
    Gauge "gtrace_gpu_fabric_state" [""] "1 for the state of the registration with the NVLink fabric (state; clique, cluster where known)" =>
        fabric_state;
    Gauge "gtrace_gpu_fabric_healthy" [""] "Whether the NVLink fabric is well, where it has been registered with" =>
        |g| one(g, |s| {
            let fabric = s.fabric.as_ref().filter(|f| f.state == crate::FabricState::Completed)?;
            flag(Some(fabric.fault().is_none()))
        });
    Gauge "gtrace_gpu_memory_size_bytes" ["bytes"] "Device memory" =>
        |g| one(g, |s| count(s.memory.total));
    Gauge "gtrace_gpu_memory_used_bytes" ["bytes"] "Device memory allocated" =>
        |g| one(g, |s| count(s.memory.used));
    Gauge "gtrace_gpu_memory_free_bytes" ["bytes"] "Device memory free" =>
        |g| one(g, |s| count(s.memory.free));
    Gauge "gtrace_gpu_memory_reserved_bytes" ["bytes"] "Device memory reserved by driver and firmware" =>
        |g| one(g, |s| count(s.memory.reserved));
    Gauge "gtrace_gpu_bar1_size_bytes" ["bytes"] "Window to device memory over PCIe (BAR1)" =>
        |g| one(g, |s| count(s.bar1.total));
    Gauge "gtrace_gpu_bar1_used_bytes" ["bytes"] "BAR1 mapped" => |g| one(g, |s| count(s.bar1.used));
    Gauge "gtrace_gpu_bar1_free_bytes" ["bytes"] "BAR1 free" => |g| one(g, |s| count(s.bar1.free));
    Gauge "gtrace_gpu_temperature_celsius" ["celsius"] "Temperature (sensor: gpu, memory)" =>
        |g| by(g, "sensor", |s| [("gpu", float(s.temperature.gpu)), ("memory", float(s.temperature.memory))]);
    Gauge "gtrace_gpu_temperature_limit_celsius" ["celsius"] "Temperature limit (limit: slowdown, shutdown, memory)" =>
        |g| by(g, "limit", |s| [
            ("slowdown", float(s.temperature.slowdown_limit)),
            ("shutdown", float(s.temperature.shutdown_limit)),
            ("memory", float(s.temperature.memory_limit)),
        ]);
    Gauge "gtrace_gpu_temperature_margin_celsius" ["celsius"] "Up to the nearest temperature at which clocks are lowered (T.Limit); negative beyond it" =>
        |g| one(g, |s| s.temperature.margin.map(f64::from));
    Gauge "gtrace_gpu_power_watts" ["watts"] "Power drawn" => |g| one(g, |s| s.power.draw_w);
    Gauge "gtrace_gpu_power_limit_watts" ["watts"] "Enforced power limit" => |g| one(g, |s| s.power.limit_w);
    Gauge "gtrace_gpu_power_limit_setting_watts" ["watts"] "Power limits beside the enforced one (limit: requested, default, min, max)" =>
        power_limits;
    Gauge "gtrace_gpu_part_power_watts" ["watts"] "Power drawn by device memory and by the module that the GPU is on (part: memory, module)" =>
        |g| by(g, "part", |s| [("memory", s.power.memory_w), ("module", s.power.module_w)]);
    Counter "gtrace_gpu_energy_joules" ["joules"] "Energy drawn since the driver was loaded" =>
        |g| one(g, |s| s.power.energy_j);
    Gauge "gtrace_gpu_clock_hertz" ["hertz"] "Clock (domain: graphics, sm, memory)" =>
        |g| by(g, "domain", |s| [
            ("graphics", hertz(s.clocks.graphics)), ("sm", hertz(s.clocks.sm)), ("memory", hertz(s.clocks.memory)),
        ]);
    Gauge "gtrace_gpu_clock_limit_hertz" ["hertz"] "Highest clock (domain: graphics, sm, memory)" =>
        |g| by(g, "domain", |s| [
            ("graphics", hertz(s.clocks.max_graphics)), ("sm", hertz(s.clocks.max_sm)),
            ("memory", hertz(s.clocks.max_memory)),
        ]);
    Gauge "gtrace_gpu_clock_event_reason" [""] "Whether a clock event reason is active (reason: NVML's name)" =>
        clock_event_reasons;
    Counter "gtrace_gpu_violation_seconds" ["seconds"] "Time that a policy or reason held the clocks down" =>
        violations;
    Gauge "gtrace_gpu_ecc_enabled" [""] "Whether ECC is switched on" => |g| one(g, |s| flag(s.ecc.enabled));
    Counter "gtrace_gpu_ecc_errors" [""] "ECC errors (scope: volatile, aggregate; type: corrected, uncorrected)" =>
        ecc_errors;
    Counter "gtrace_gpu_sram_errors" [""] "ECC errors of on-chip memory (scope: volatile, aggregate; type: corrected, parity, sec_ded)" =>
        sram_errors;
    Counter "gtrace_gpu_sram_uncorrected_errors" [""] "Aggregate of uncorrected errors of on-chip memory (source: l2, sm, microcontroller, pcie, other)" =>
        sram_sources;
    Gauge "gtrace_gpu_sram_threshold_exceeded" [""] "Whether on-chip memory had more uncorrected errors than a GPU may have" =>
        |g| one(g, |s| flag(s.ecc.sram.as_ref()?.threshold_exceeded));
    Counter "gtrace_gpu_remapped_rows" [""] "Remapped memory rows (cause: correctable, uncorrectable)" =>
        |g| by(g, "cause", |s| [
            ("correctable", count(s.remapped_rows.correctable)),
            ("uncorrectable", count(s.remapped_rows.uncorrectable)),
        ]);
    Gauge "gtrace_gpu_remapped_rows_pending" [""] "Whether a row waits for a reset to be remapped" =>
        |g| one(g, |s| flag(s.remapped_rows.pending));
    Gauge "gtrace_gpu_remapped_rows_failure" [""] "Whether a row could not be remapped" =>
        |g| one(g, |s| flag(s.remapped_rows.failure));
    Gauge "gtrace_gpu_memory_banks" [""] "Banks of device memory by what they have left of spare rows (spare_rows: max, high, partial, low, none)" =>
        memory_banks;
    Gauge "gtrace_gpu_repair_pending" [""] "Whether a repair waits for a reset (part: channel, tpc)" =>
        |g| by(g, "part", |s| [
            ("channel", flag(s.repair.channel_pending)), ("tpc", flag(s.repair.tpc_pending)),
        ]);
    Counter "gtrace_gpu_retired_pages" [""] "Retired memory pages (cause: single_bit, double_bit)" =>
        |g| by(g, "cause", |s| [
            ("single_bit", count(s.retired_pages.single_bit)), ("double_bit", count(s.retired_pages.double_bit)),
        ]);
    Gauge "gtrace_gpu_retired_pages_pending" [""] "Whether a page waits to be retired" =>
        |g| one(g, |s| flag(s.retired_pages.pending));
    Gauge "gtrace_gpu_inforom_valid" [""] "Whether the checksum of the InfoROM is right" =>
        |g| gauge_one(flag(g.board.inforom_valid));
    Counter "gtrace_gpu_pcie_replays" [""] "PCIe replays" => |g| one(g, |s| count(s.pcie_replays));
    Gauge "gtrace_gpu_pcie_throughput_bytes_per_second" ["bytes_per_second"] "PCIe traffic over 20 ms (direction: tx, rx)" =>
        |g| by(g, "direction", |s| [("tx", count(s.pcie_tx)), ("rx", count(s.pcie_rx))]);
    Gauge "gtrace_gpu_pcie_link_speed_transfers_per_second" ["transfers_per_second"] "PCIe link speed of each lane" =>
        |g| gauge_one(g.link.and_then(|l| l.speed).map(|s| s * 1e9));
    Gauge "gtrace_gpu_pcie_link_speed_limit_transfers_per_second" ["transfers_per_second"] "Highest PCIe link speed" =>
        |g| gauge_one(g.link.and_then(|l| l.max_speed).map(|s| s * 1e9));
    Gauge "gtrace_gpu_pcie_link_width" [""] "PCIe lanes in use" =>
        |g| gauge_one(float(g.link.and_then(|l| l.width)));
    Gauge "gtrace_gpu_pcie_link_width_limit" [""] "PCIe lanes that device and slot have" =>
        |g| gauge_one(float(g.link.and_then(|l| l.max_width)));
    Gauge "gtrace_gpu_nvlink_active" [""] "Whether an NVLink is up (link: its number)" => nvlink_active;
    Counter "gtrace_gpu_nvlink_errors" [""] "NVLink errors (link; type: replay, recovery, crc_flit, crc_data, and those of NVLink 5)" =>
        nvlink_errors;
    Gauge "gtrace_gpu_nvlink_bit_error_ratio" ["ratio"] "Errors of an NVLink, of all bits that it received (link; type: effective, symbol)" =>
        nvlink_ratios;
    Counter "gtrace_gpu_nvlink_bytes" ["bytes"] "Bytes over all NVLinks (direction: tx, rx)" =>
        |g| by(g, "direction", |s| [("tx", count(s.nvlink_tx_bytes)), ("rx", count(s.nvlink_rx_bytes))]);
    Gauge "gtrace_gpu_c2c_link_active" [""] "Whether a link to the CPU on the same module (NVLink-C2C) is up (link: its number)" =>
        |g| of_c2c_links(g, |l| [("", flag(l.active))]);
    Gauge "gtrace_gpu_c2c_link_limit_bytes_per_second" ["bytes_per_second"] "What a link to the CPU on the same module can carry (link)" =>
        |g| of_c2c_links(g, |l| [("", count(l.max_bandwidth))]);
    Counter "gtrace_gpu_c2c_link_errors" [""] "Errors of a link to the CPU on the same module (link; type: crc, replay, repeated_replay)" =>
        |g| of_c2c_links(g, |l| [
            ("crc", count(l.crc_errors)), ("replay", count(l.replays)), ("repeated_replay", count(l.repeated_replays)),
        ]);
    Gauge "gtrace_gpu_processes" [""] "Processes that use the GPU" =>
        |g| one(g, |s| Some(s.processes.len() as f64));
    Gauge "gtrace_gpu_performance_state" [""] "Performance state, 0 (fastest) to 15" =>
        |g| one(g, |s| float(s.performance_state));
    Gauge "gtrace_gpu_mig_enabled" [""] "Whether MIG mode is on" => |g| one(g, |s| flag(s.mig.map(|m| m.enabled)));
    Gauge "gtrace_gpu_mig_instance_info" [""] "Always 1 (mig_gi, mig_ci, mig_profile, mig_uuid: an instance in MIG mode)" => mig_info;
    Gauge "gtrace_gpu_mig_instance_processes" [""] "Processes in an instance in MIG mode (mig_gi, mig_ci)" => mig_processes;
    Gauge "gtrace_gpu_mig_instance_memory_size_bytes" ["bytes"] "Device memory of a GPU instance in MIG mode (mig_gi, mig_profile)" =>
        |g| of_gpu_instances(g, |i| count(i.memory.total));
    Gauge "gtrace_gpu_mig_instance_memory_used_bytes" ["bytes"] "Device memory allocated in a GPU instance (mig_gi, mig_profile)" =>
        |g| of_gpu_instances(g, |i| count(i.memory.used));
    Gauge "gtrace_gpu_mig_instance_memory_free_bytes" ["bytes"] "Device memory free in a GPU instance (mig_gi, mig_profile)" =>
        |g| of_gpu_instances(g, |i| count(i.memory.free));
    Gauge "gtrace_gpu_mig_instance_activity_ratio" ["ratio"] "Share of time that a part of a GPU instance was active (mig_gi, mig_profile; unit: as of the GPU)" =>
        mig_activity;
    Gauge "gtrace_gpu_vgpu_licensed" [""] "Whether the vGPU has its licence; absent where none is needed" =>
        |g| one(g, |s| flag(s.vgpu_license.as_ref().map(|l| l.is_valid(s.time))));
    Gauge "gtrace_gpu_vgpu_license_expiry_seconds" ["seconds"] "When the licence of the vGPU ends, Unix time" =>
        |g| one(g, |s| Some(s.vgpu_license.as_ref()?.expiry?.as_second() as f64));
    Gauge "gtrace_gpu_recovery_action" [""] "What the driver asks for: 0 nothing, 1 reset of the GPU, 2 reboot of the host, 3 drain of peer-to-peer traffic, 4 drain and reset, 5 recovery of the IMEX domain, 6 reset of the PCIe bus, 7 reboot of the system" =>
        |g| one(g, |s| float(s.recovery_action));
    Gauge "gtrace_gpu_persistence_mode" [""] "Whether persistence mode is on" =>
        |g| one(g, |s| flag(s.persistence_mode));
    Gauge "gtrace_gpu_fan_ratio" ["ratio"] "Fan speed as a share of its maximum" => |g| one(g, |s| ratio(s.fan));
}

/// Of each unit the share of the time that it was active.
fn units(a: &Activity) -> [(&'static str, Option<f64>); 8] {
    [
        ("graphics", a.graphics),
        ("sm", a.sm),
        ("tensor", a.tensor),
        ("dram", a.dram),
        ("fp64", a.fp64),
        ("fp32", a.fp32),
        ("fp16", a.fp16),
        ("integer", a.integer),
    ]
}

/// Labels of a GPU instance.
fn gi_labels(instance: &MigInstance) -> Vec<(&'static str, String)> {
    let mut labels = vec![("mig_gi", instance.gi.to_string())];
    let profile = instance.gpu_profile();
    labels.extend(profile.map(|profile| ("mig_profile", profile.to_owned())));
    labels
}

fn mig_info(gpu: &GpuInfo) -> Vec<Reading> {
    let instances = gpu.sample.iter().flat_map(|s| &s.mig_instances);
    instances
        .map(|instance| {
            let labels = [
                ("mig_gi", Some(instance.gi.to_string())),
                ("mig_ci", Some(instance.ci.to_string())),
                ("mig_profile", instance.profile.clone()),
                ("mig_uuid", instance.uuid.clone()),
            ];
            let known = labels.into_iter();
            let known = known.filter_map(|(key, value)| Some((key, value?)));
            (known.collect(), 1.0)
        })
        .collect()
}

fn mig_processes(gpu: &GpuInfo) -> Vec<Reading> {
    let Some(sample) = &gpu.sample else {
        return Vec::new();
    };
    let instances = sample.mig_instances.iter();
    instances
        .map(|instance| {
            let labels = vec![
                ("mig_gi", instance.gi.to_string()),
                ("mig_ci", instance.ci.to_string()),
            ];
            (labels, sample.processes_of(instance).count() as f64)
        })
        .collect()
}

/// Of each GPU instance once: its compute instances share it.
fn of_gpu_instances(gpu: &GpuInfo, read: fn(&MigInstance) -> Option<f64>) -> Vec<Reading> {
    let instances = gpu.sample.iter().flat_map(GpuSample::gpu_instances);
    instances
        .filter_map(|instance| Some((gi_labels(instance), read(instance)?)))
        .collect()
}

fn mig_activity(gpu: &GpuInfo) -> Vec<Reading> {
    let instances = gpu.sample.iter().flat_map(GpuSample::gpu_instances);
    instances
        .flat_map(|instance| {
            let known = units(&instance.activity).into_iter();
            known.filter_map(|(unit, share)| {
                let mut labels = gi_labels(instance);
                labels.push(("unit", unit.to_owned()));
                Some((labels, share?))
            })
        })
        .collect()
}

/// What names a GPU in labels of its own, to join by `gpu`.
fn info(gpu: &GpuInfo) -> Vec<Reading> {
    let labels = [
        ("index", gpu.index.map(|index| index.to_string())),
        ("model", gpu.name.clone()),
        ("serial", gpu.board.serial.clone()),
        ("vbios", gpu.board.vbios.clone()),
        ("firmware", gpu.board.firmware.clone()),
        ("driver", gpu.driver_version.clone()),
    ];
    let known = labels
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)));
    vec![(known.collect(), 1.0)]
}

fn clock_event_reasons(gpu: &GpuInfo) -> Vec<Reading> {
    let Some(now) = gpu.sample.as_ref().and_then(|s| s.clock_event_reasons) else {
        return Vec::new();
    };
    crate::ClockEventReasons::ALL
        .iter()
        .map(|&(reason, name)| {
            (
                vec![("reason", name.to_owned())],
                f64::from(u8::from(now.intersects(reason))),
            )
        })
        .collect()
}

fn violations(gpu: &GpuInfo) -> Vec<Reading> {
    by(gpu, "policy", |s| {
        let v = &s.violations;
        [
            ("power", seconds(v.power)),
            ("thermal", seconds(v.thermal)),
            ("sync_boost", seconds(v.sync_boost)),
            ("board_limit", seconds(v.board_limit)),
            ("low_utilization", seconds(v.low_utilization)),
            ("reliability", seconds(v.reliability)),
            ("total_app_clocks", seconds(v.total_app_clocks)),
            ("total_base_clocks", seconds(v.total_base_clocks)),
            ("sw_thermal_slowdown", seconds(v.sw_thermal_slowdown)),
            ("hw_thermal_slowdown", seconds(v.hw_thermal_slowdown)),
            (
                "hw_power_brake_slowdown",
                seconds(v.hw_power_brake_slowdown),
            ),
        ]
    })
}

fn ecc_errors(gpu: &GpuInfo) -> Vec<Reading> {
    let Some(sample) = &gpu.sample else {
        return Vec::new();
    };
    let scopes = [
        ("volatile", &sample.ecc.volatile),
        ("aggregate", &sample.ecc.aggregate),
    ];
    let mut readings = Vec::new();
    for (scope, errors) in scopes {
        let Some(EccErrors {
            corrected,
            uncorrected,
        }) = errors
        else {
            continue;
        };
        for (kind, n) in [("corrected", corrected), ("uncorrected", uncorrected)] {
            let labels = vec![("scope", scope.to_owned()), ("type", kind.to_owned())];
            readings.extend(count(*n).map(|value| (labels, value)));
        }
    }
    readings
}

fn sram_errors(gpu: &GpuInfo) -> Vec<Reading> {
    let sram = gpu.sample.iter().filter_map(|s| s.ecc.sram.as_ref());
    let scopes = sram.flat_map(|s| [("volatile", &s.volatile), ("aggregate", &s.aggregate)]);
    let mut readings = Vec::new();
    for (scope, errors) in scopes {
        let Some(SramErrors {
            corrected,
            parity,
            sec_ded,
        }) = errors
        else {
            continue;
        };
        let kinds = [
            ("corrected", corrected),
            ("parity", parity),
            ("sec_ded", sec_ded),
        ];
        for (kind, n) in kinds {
            let labels = vec![("scope", scope.to_owned()), ("type", kind.to_owned())];
            readings.extend(count(*n).map(|value| (labels, value)));
        }
    }
    readings
}

fn sram_sources(gpu: &GpuInfo) -> Vec<Reading> {
    by(gpu, "source", |s| {
        let sources = s.ecc.sram.as_ref().and_then(|sram| sram.sources.as_ref());
        let of = |read: fn(&SramSources) -> Option<u64>| count(sources.and_then(read));
        [
            ("l2", of(|s| s.l2)),
            ("sm", of(|s| s.sm)),
            ("microcontroller", of(|s| s.microcontroller)),
            ("pcie", of(|s| s.pcie)),
            ("other", of(|s| s.other)),
        ]
    })
}

fn memory_banks(gpu: &GpuInfo) -> Vec<Reading> {
    by(gpu, "spare_rows", |s| {
        let spare = s.remapped_rows.spare.as_ref();
        let of = |read: fn(&SpareRows) -> Option<u32>| float(spare.and_then(read));
        [
            ("max", of(|s| s.max)),
            ("high", of(|s| s.high)),
            ("partial", of(|s| s.partial)),
            ("low", of(|s| s.low)),
            ("none", of(|s| s.none)),
        ]
    })
}

fn power_limits(gpu: &GpuInfo) -> Vec<Reading> {
    let requested = gpu.sample.as_ref().and_then(|s| s.power.requested_limit_w);
    let limits = [
        ("requested", requested),
        ("default", gpu.board.power_limit_default_w),
        ("min", gpu.board.power_limit_min_w),
        ("max", gpu.board.power_limit_max_w),
    ];
    let known = limits.into_iter();
    known
        .filter_map(|(limit, watts)| Some((vec![("limit", limit.to_owned())], watts?)))
        .collect()
}

fn fabric_state(gpu: &GpuInfo) -> Vec<Reading> {
    let Some(fabric) = gpu.sample.as_ref().and_then(|s| s.fabric.as_ref()) else {
        return Vec::new();
    };
    let mut labels = vec![("state", fabric.state.name().to_owned())];
    labels.extend(fabric.clique.map(|clique| ("clique", clique.to_string())));
    labels.extend(fabric.cluster.clone().map(|cluster| ("cluster", cluster)));
    vec![(labels, 1.0)]
}

fn nvlink_active(gpu: &GpuInfo) -> Vec<Reading> {
    let links = gpu.sample.iter().flat_map(|s| &s.nvlinks);
    links
        .filter_map(|l| Some((vec![("link", l.link.to_string())], flag(l.active)?)))
        .collect()
}

/// Those of NVLink 5 once they have counted something: a host of eight GPUs has 144 links.
fn nvlink_errors(gpu: &GpuInfo) -> Vec<Reading> {
    let links = gpu.sample.iter().flat_map(|s| &s.nvlinks);
    let counters = links.flat_map(|link| COUNTERS.iter().map(move |counter| (link, counter)));
    counters
        .filter_map(|(link, counter)| {
            let counted = (counter.read)(link).filter(|n| counter.field.is_none() || *n > 0);
            Some((of_link(link, counter.name), count(counted)?))
        })
        .collect()
}

fn nvlink_ratios(gpu: &GpuInfo) -> Vec<Reading> {
    let links = gpu.sample.iter().flat_map(|s| &s.nvlinks);
    let ratios = links.flat_map(|link| {
        let of = [
            ("effective", link.effective_ber),
            ("symbol", link.symbol_ber.filter(|ratio| *ratio > 0.0)),
        ];
        of.map(|(kind, ratio)| Some((of_link(link, kind), ratio?)))
    });
    ratios.flatten().collect()
}

fn of_link(link: &NvLinkSample, kind: &str) -> Vec<(&'static str, String)> {
    vec![("link", link.link.to_string()), ("type", kind.to_owned())]
}

/// Of each link to the CPU the values by type, or one without a type.
fn of_c2c_links<const N: usize>(
    gpu: &GpuInfo,
    read: impl Fn(&C2cLinkSample) -> [(&'static str, Option<f64>); N],
) -> Vec<Reading> {
    let links = gpu.sample.iter().flat_map(|s| &s.c2c_links);
    let values = links.flat_map(|link| read(link).map(|(kind, value)| (link.link, kind, value)));
    values
        .filter_map(|(link, kind, value)| {
            let mut labels = vec![("link", link.to_string())];
            labels.extend((!kind.is_empty()).then(|| ("type", kind.to_owned())));
            Some((labels, value?))
        })
        .collect()
}
