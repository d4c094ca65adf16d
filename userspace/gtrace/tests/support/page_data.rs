//! A host with much to see: 8 GPUs, processes, calls, samples of half an hour, incidents, 10,000 events.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests only"
)]

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use gtrace_api::{
    CallStats, ComponentHealth, CudaCalls, CudaReport, CudaState, DeviceUser, HealthState,
};
use gtrace_devices::{
    Activity, ClockEventReasons, GpuInfo, GpuMemory, GpuSample, MigInstance, MigMode, PcieLink,
    PresentIn, Utilization,
};
use gtrace_engine::tally::Tally;
use gtrace_event::{
    Advice, Event, Gpu, HealthReport, Incident, Kind, PciAddress, Process, Provenance, Record,
    Severity, Timestamp,
};
use gtrace_history::{Kind as SampleKind, Options, Sample, Samples, SeriesKey, Value, Writer};
use gtrace_incident::{Correlator, Options as Correlation, Rules};
use gtrace_profile::Histogram;
use serde_json::json;

use crate::support::{Daemon, event, xid};

pub const EVENTS: usize = 10_000;
const CONTAINER: &str = "3f1c9ad0b7e24c5f8d6a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcd";

pub fn pci(n: u64) -> PciAddress {
    ["3b", "5e", "86", "af", "bd", "c5", "d8", "e1"]
        .map(|bus| format!("0000:{bus}:00.0").parse().unwrap())[n as usize]
}

/// Something that goes up and down, 0 to 1.
fn wave(second: i64, n: u64, period: f64) -> f64 {
    let phase = second as f64 / period + n as f64 * 1.7;
    (0.55 + 0.3 * phase.sin() + 0.15 * (phase * 5.3).sin()).clamp(0.0, 1.0)
}

fn gpu(n: u64, pids: &[u32]) -> GpuInfo {
    let mut gpu = GpuInfo::at(pci(n));
    gpu.name = Some("NVIDIA H100 80GB HBM3".to_owned());
    gpu.uuid = Some(format!("GPU-5fd1a0b2-4c3d-4e5f-8a9b-0c1d2e3f4a5{n}"));
    gpu.index = u32::try_from(n).ok();
    gpu.driver_bound = Some("nvidia".to_owned());
    gpu.driver_version = Some("580.82.07".to_owned());
    gpu.board.serial = Some(format!("165092400012{n}"));
    gpu.present_in = PresentIn {
        pci: true,
        nvml: true,
        proc: true,
    };
    let lanes = if n == 5 { 8 } else { 16 };
    gpu.link = Some(PcieLink {
        speed: Some(32.0),
        max_speed: Some(32.0),
        width: Some(lanes),
        max_width: Some(16),
    });
    if n == 7 {
        gpu.nvml_error = Some("GPU is lost".to_owned());
        gpu.present_in.nvml = false;
        return gpu;
    }
    let hot = n == 2;
    let sections = json!({
        "time": Timestamp::now(),
        "utilization": { "gpu": 40 + 7 * n, "memory": 30 },
        "memory": { "total": 85_899_345_920_u64, "used": 12_884_901_888 * (n % 6 + 1), "free": 8_589_934_592_u64 },
        "temperature": { "gpu": if hot { 88 } else { 48 + n }, "memory": 60, "slowdown_limit": 89 },
        "power": { "draw_w": 320.0 + 40.0 * n as f64, "limit_w": 700.0 },
        "clocks": { "sm": if hot { 1005 } else { 1980 }, "max_sm": 1980 },
        "ecc": { "enabled": true, "volatile": { "corrected": n * 3, "uncorrected": 0 } },
        "pcie_replays": 0, "performance_state": 0,
        "processes": pids.iter().enumerate().filter(|(at, _)| *at as u64 % 4 == n % 4).map(|(at, pid)| json!({
            "pid": pid, "comm": "python3", "type": "compute", "used_memory": 1_610_612_736_u64 * (at as u64 / 4 + 1),
        })).collect::<Vec<_>>(),
    });
    let mut sample: GpuSample = serde_json::from_value(sections).unwrap();
    if hot {
        sample.clock_event_reasons = Some(ClockEventReasons::SW_THERMAL_SLOWDOWN);
    }
    if n == 3 {
        divide(&mut sample);
    }
    gpu.sample = Some(sample);
    gpu
}

/// MIG mode: three GPU instances, one of them with two compute instances. NVML has no use of the whole GPU then.
fn divide(sample: &mut GpuSample) {
    let instance = |gi: u32, ci: u32, profile: &str, of: u64, used: u64, busy: f64| MigInstance {
        gi,
        ci,
        profile: Some(profile.to_owned()),
        uuid: Some(format!("MIG-5fd1a0b2-4c3d-4e5f-8a9b-0c1d2e3f4a{gi}{ci}")),
        memory: GpuMemory {
            total: Some(of << 20),
            used: Some(used << 20),
            free: Some((of - used) << 20),
            reserved: None,
        },
        activity: Activity {
            graphics: Some(busy),
            ..Activity::default()
        },
        ..MigInstance::default()
    };
    sample.mig = Some(MigMode {
        enabled: true,
        pending: true,
    });
    sample.utilization = Utilization::default();
    sample.mig_instances = vec![
        instance(1, 0, "1c.3g.40gb", 40_448, 17_408, 0.62),
        instance(1, 1, "2c.3g.40gb", 40_448, 17_408, 0.62),
        instance(2, 0, "2g.20gb", 20_096, 19_456, 0.97),
        instance(9, 0, "1g.10gb", 9_856, 64, 0.0),
    ];
    let places = [(1, 0), (1, 1), (2, 0), (2, 0)];
    for (process, (gi, ci)) in sample.processes.iter_mut().zip(places.iter().cycle()) {
        (process.mig_gi, process.mig_ci) = (Some(*gi), Some(*ci));
    }
}

/// Half an hour of samples, for `pid` with latency histograms in which calls become slow for a while.
pub fn fill_history(dir: &Path, pid: u32) {
    let mut writer = Writer::open(&dir.join("samples"), Options::default()).unwrap();
    let now = Timestamp::now().as_second() / 10 * 10;
    let of = |metric: &str, unit: &str, kind, labels: &[(&str, &str)], value| Sample {
        series: SeriesKey::new(
            metric,
            unit,
            kind,
            labels
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect(),
        )
        .unwrap(),
        value,
    };
    let gauge = |metric: &str, unit: &str, labels: &[(&str, &str)], value: f64| {
        of(metric, unit, SampleKind::Gauge, labels, Value::gauge(value))
    };
    let pid = pid.to_string();
    for second in (now - 1800..now).step_by(10) {
        let mut samples = Vec::new();
        for n in 0..8_u64 {
            let address = pci(n).to_string();
            let gpu = [("gpu", address.as_str())];
            let sensor = [("gpu", address.as_str()), ("sensor", "gpu")];
            let busy = wave(second, n, 170.0);
            samples.push(gauge("gtrace_gpu_utilization_ratio", "ratio", &gpu, busy));
            let used = 1.2e10 * (n % 6 + 1) as f64;
            samples.push(gauge("gtrace_gpu_memory_used_bytes", "bytes", &gpu, used));
            let watts = 120.0 + 520.0 * busy;
            samples.push(gauge("gtrace_gpu_power_watts", "watts", &gpu, watts));
            let celsius = 38.0 + 30.0 * wave(second, n, 600.0) + if n == 2 { 18.0 } else { 0.0 };
            let metric = "gtrace_gpu_temperature_celsius";
            samples.push(gauge(metric, "celsius", &sensor, celsius));
            for (domain, hertz) in [("sm", 1.98e9), ("memory", 2.619e9)] {
                let labels = [("gpu", address.as_str()), ("domain", domain)];
                let held = if n == 2 && domain == "sm" { 0.51 } else { 1.0 };
                let (metric, hertz) = ("gtrace_gpu_clock_hertz", hertz * held);
                samples.push(gauge(metric, "hertz", &labels, hertz));
            }
            for (direction, most) in [("tx", 9e9), ("rx", 2.2e10)] {
                let labels = [("gpu", address.as_str()), ("direction", direction)];
                let metric = "gtrace_gpu_pcie_throughput_bytes_per_second";
                let rate = most * wave(second, n + 3, 130.0);
                samples.push(gauge(metric, "bytes_per_second", &labels, rate));
            }
            let labels = [("gpu", address.as_str()), ("type", "BadTLP")];
            let errors = if n == 7 {
                ((second - now + 2400).pow(2) / 9000) as f64
            } else {
                0.0
            };
            let (kind, value) = (SampleKind::Counter, Value::Counter(errors));
            samples.push(of("gtrace_pci_aer_errors", "", kind, &labels, value));
        }
        for (n, resource) in ["memory", "cpu", "io"].into_iter().enumerate() {
            let labels = [("resource", resource), ("kind", "some"), ("window", "10s")];
            let share = 0.08 * wave(second, n as u64, 90.0);
            samples.push(gauge("gtrace_pressure_ratio", "ratio", &labels, share));
        }
        for (call, median) in [
            ("RM_CONTROL", 6_000_u64),
            ("RM_ALLOC", 40_000),
            ("UVM_MAP_EXTERNAL_ALLOCATION", 210_000),
        ] {
            let slow = if (now - 900..now - 600).contains(&second) {
                8
            } else {
                1
            };
            let mut histogram = Histogram::default();
            for n in 1..60_u64 {
                let spread = (n * n * n) % 97;
                histogram.record_n(median * slow * (20 + spread) / 60, 1 + 3600 / (n * n + 20));
            }
            let labels = [
                ("call", call),
                ("device", "nvidia0"),
                ("pid", pid.as_str()),
                ("process", "python3"),
            ];
            let (kind, value) = (SampleKind::Histogram, Value::Histogram(histogram));
            let metric = "gtrace_driver_call_seconds";
            samples.push(of(metric, "seconds", kind, &labels, value));
        }
        let time_ms = second * 1000;
        writer.push(&Samples { time_ms, samples }).unwrap();
    }
}

/// As the daemon judges this host: two GPUs are not fit, one is worse than it should be, and so is a port.
fn health() -> HealthReport {
    let now = Timestamp::now();
    let reason = |state: &str, text: &str, action: &str| {
        json!({
            "rule": "test", "status": "active", "state": state, "action": action, "confidence": "high",
            "text": text, "occurrences": 1, "since": now, "last": now,
        })
    };
    let mut subjects = vec![json!({
        "subject": { "part": "host" }, "state": "unhealthy", "since": now, "action": "drain",
    })];
    for n in 0..8_u64 {
        let (state, action, text) = match n {
            2 => ("unhealthy", "watch", "clocks are lowered for heat"),
            5 => ("degraded", "drain", "the PCIe link has 8 of 16 lanes"),
            7 => ("unhealthy", "drain", "the GPU fell off the bus (Xid 79)"),
            _ => ("healthy", "none", ""),
        };
        let reasons: Vec<_> = (!text.is_empty())
            .then(|| reason(state, text, action))
            .into_iter()
            .collect();
        subjects.push(json!({
            "subject": { "part": "gpu", "name": pci(n).to_string() }, "state": state, "since": now,
            "action": action, "reasons": reasons,
        }));
    }
    subjects.push(json!({
        "subject": { "part": "port", "name": "mlx5_1/1" }, "state": "degraded", "since": now, "action": "watch",
        "reasons": [reason("degraded", "the port is slower than it was", "watch")],
    }));
    let report =
        json!({ "time": now, "state": "unhealthy", "action": "drain", "subjects": subjects });
    serde_json::from_value(report).unwrap()
}

fn ago(seconds: i64) -> String {
    (Timestamp::now() - Duration::from_secs(u64::try_from(seconds).unwrap())).to_string()
}

fn process(pid: u32) -> Process {
    Process {
        pid: Some(pid),
        comm: Some("python3".into()),
        cgroup: None,
        container: Some(CONTAINER.into()),
    }
}

/// PCIe errors, then a GPU that is lost, then the end of the program on it: one incident.
fn course(pid: u32) -> (Vec<Event>, Vec<Incident>) {
    let gpu = Gpu {
        index: Some(7),
        ..Gpu::at(pci(7))
    };
    let of = |kind, severity, seconds, text: &str| event(kind, severity, &ago(seconds), text);
    let text = "pcieport 0000:e0:01.0: AER: Uncorrected (Non-Fatal) error received: 0000:e1:00.0";
    let mut aer = of(Kind::Aer, Severity::Warning, 420, text);
    aer.gpu = Some(gpu.clone());
    aer.detail.pcie.pci_device = gpu.pci;
    let mut lost = xid(&pci(7).to_string(), 79, Severity::Fatal, &ago(417));
    lost.message = format!(
        "NVRM: Xid (PCI:0000:e1:00): 79, pid={pid}, name=python3, GPU has fallen off the bus."
    );
    lost.gpu = Some(gpu.clone());
    lost.advice = Some(Advice {
        meaning: Some(
            "The GPU no longer answers on PCIe: its link is down, or it lost power.".to_owned(),
        ),
        vendor: vec![
            "Drain the node and restart it.".to_owned(),
            "If it comes again, reseat or replace the GPU.".to_owned(),
        ],
        rule: Some("xid:79".to_owned()),
        ..Advice::default()
    });
    let text = "python3 was killed by signal 7 (SIGBUS)";
    let mut exit = of(Kind::GpuProcessExit, Severity::Warning, 415, text);
    exit.gpu = Some(gpu);
    let mut events = vec![aer, lost, exit];
    for event in &mut events {
        event.provenance = Provenance::Kernel;
        event.process = Some(process(pid));
    }
    let mut heat = of(Kind::Throttle, Severity::Critical, 200, "HwThermalSlowdown");
    heat.gpu = Some(Gpu {
        index: Some(2),
        ..Gpu::at(pci(2))
    });
    heat.provenance = Provenance::Kernel;
    events.push(heat);
    let mut correlator = Correlator::new(Rules::builtin().unwrap(), Correlation::default());
    let mut incidents: Vec<Incident> = Vec::new();
    for event in &events {
        for changed in correlator.ingest(event) {
            incidents.retain(|known| known.id != changed.id);
            incidents.push(changed);
        }
    }
    (events, incidents)
}

/// Fills a daemon; the processes that it shows live as long as the result.
pub struct Filled(Vec<Child>);

impl Filled {
    pub fn pid(&self) -> u32 {
        self.0[0].id()
    }

    /// Processes to show.
    pub fn processes(count: usize) -> Self {
        Self(
            (0..count)
                .map(|_| Command::new("sleep").arg("900").spawn().unwrap())
                .collect(),
        )
    }

    pub fn fill(&self, daemon: &Daemon) {
        let pids: Vec<u32> = self.0.iter().map(Child::id).collect();
        let hub = &daemon.hub;
        hub.set_gpus((0..8).map(|n| gpu(n, &pids)).collect());
        let users = pids.iter().enumerate().map(|(n, pid)| DeviceUser {
            pid: *pid,
            comm: "python3".into(),
            devices: vec![
                format!("nvidia{}", n % 8),
                "nvidiactl".into(),
                "nvidia-uvm".into(),
            ],
            open_files: 6,
        });
        hub.set_health_report(health(), 0);
        hub.set_gpu_processes(users.collect());
        let calls = pids.iter().take(40).enumerate().map(|(n, pid)| {
            let mut histogram = Histogram::default();
            histogram.record_n(7_000 + 900 * n as u64, 5_000);
            histogram.record_n(2_000_000, 20);
            CallStats {
                pid: *pid,
                comm: "python3".into(),
                device: "nvidia0".into(),
                ioctl: "0x2a".into(),
                op: Some("RM_CONTROL".into()),
                count: histogram.count(),
                total_ns: histogram.sum_ns(),
                p50_ns: histogram.quantile(0.5),
                p99_ns: histogram.quantile(0.99),
                max_ns: histogram.max_ns(),
                buckets: histogram.buckets().collect(),
                ..CallStats::default()
            }
        });
        hub.set_calls(calls.collect());
        let row = CudaCalls {
            pid: Some(pids[0]),
            comm: "python3".into(),
            function: "cuLaunchKernel".into(),
            calls: 912_000,
            timed: 912_000,
            p50_ns: 2_900,
            p99_ns: 14_000,
            max_ns: 900_000,
            total_ns: 3_100_000_000,
            buckets: vec![(170, 912_000)],
            ..CudaCalls::default()
        };
        let report = CudaReport {
            state: CudaState::Active,
            calls: vec![row],
            ..CudaReport::default()
        };
        hub.set_cuda(report, Tally::default());
        let lost = ComponentHealth::now(
            HealthState::Unhealthy,
            Some("GPU 0000:e1:00.0 is lost".to_owned()),
        );
        hub.set_health("nvml", lost, Duration::from_secs(3600));
        let (course, incidents) = course(pids[0]);
        let mut events: Vec<Event> = (0..EVENTS - course.len())
            .map(|n| {
                let code = [13, 31, 43, 45, 94][n % 5];
                let severity = [Severity::Info, Severity::Warning, Severity::Warning][n % 3];
                let mut event = xid(
                    &pci(n as u64 % 7).to_string(),
                    code,
                    severity,
                    &ago(90_000 - 8 * n as i64),
                );
                event.message = format!(
                    "NVRM: Xid (PCI:{}): {code}, pid={}, name=python3, Ch 0000{n:04x}",
                    pci(n as u64 % 7),
                    pids[n % pids.len()]
                );
                event.process = Some(process(pids[n % pids.len()]));
                event.repeats = if n % 9 == 0 { 3 } else { 0 };
                event
            })
            .collect();
        events.extend(course);
        for part in events.chunks(500) {
            let records: Vec<_> = part
                .iter()
                .map(|event| (Record::Event(Box::new(event.clone())), event.clone()))
                .collect();
            daemon.core().publish(&records);
        }
        for incident in incidents {
            daemon.core().publish_incident(&incident);
        }
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
