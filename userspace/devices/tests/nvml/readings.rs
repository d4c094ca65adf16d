//! What a sample has, in which unit, and when it is read.

use gtrace_devices::{
    Activity, C2cLinkSample, FabricState, GpuInfo, LicenseTerm, Metric, NvmlGpu, Readings, metrics,
};
use serde_json::{Value, json};

use super::*;

/// A file of readings that the fake library takes its own from.
struct Fake(tempfile::TempDir);

impl Fake {
    fn new(readings: &str) -> Self {
        let fake = Self(tempfile::tempdir().unwrap());
        fake.set(readings);
        fake
    }

    fn set(&self, readings: &str) {
        std::fs::write(self.0.path().join("readings"), readings).unwrap();
    }

    fn client(&self, env: &[(&str, &str)]) -> NvmlClient {
        let file = self.0.path().join("readings");
        let readings = [("FAKE_NVML_READINGS", file.to_str().unwrap())];
        client(config(&[&readings, env].concat()))
    }
}

/// The first GPU, as the client reads it now.
fn first(client: &NvmlClient) -> NvmlGpu {
    client.sample().unwrap().gpus.remove(0)
}

/// The metrics of a GPU.
fn metrics_of(gpu: NvmlGpu) -> Vec<Metric> {
    metrics(&[GpuInfo {
        board: gpu.board,
        sample: Some(gpu.sample),
        ..GpuInfo::at(gpu.pci)
    }])
}

/// The metric of this name that has a label of this value, or any label where that is empty.
fn value(metrics: &[Metric], name: &str, label: &str) -> Option<f64> {
    let mut found = metrics.iter().filter(|m| m.name == name);
    let found = found.find(|m| label.is_empty() || m.labels.iter().any(|(_, v)| v == label));
    found.map(|m| m.value)
}

/// Each field of `wanted`, at every depth, is so in `have`.
fn has(have: &Value, wanted: &Value, at: &str) {
    match wanted {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(name, wanted)| has(&have[name], wanted, &format!("{at}/{name}"))),
        wanted => assert_eq!(have, wanted, "{at}"),
    }
}

#[test]
fn quick_readings_have_what_sessions_measure_and_pcie_in_turn() {
    let client = client(NvmlConfig {
        readings: Readings::Quick {
            pcie: 1,
            nvlink: true,
        },
        ..config(&[("FAKE_NVML_GPUS", "2")])
    });
    let mut with_pcie = Vec::new();
    for _ in 0..2 {
        let snapshot = client.sample().unwrap();
        for gpu in &snapshot.gpus {
            let s = &gpu.sample;
            assert!(gpu.name.is_some() && gpu.errors.is_empty());
            assert_eq!(
                (s.utilization.gpu, s.utilization.memory),
                (Some(87), Some(41))
            );
            assert_eq!(
                (s.memory.used, s.temperature.gpu),
                (Some(30 << 30), Some(64))
            );
            assert_eq!((s.power.draw_w, s.clocks.sm), (Some(312.5), Some(1411)));
            assert!(s.processes.is_empty() && s.violations.power.is_none());
            let nvlink = (s.nvlink_tx_bytes, s.nvlink_rx_bytes);
            assert_eq!(nvlink, (Some(5000 << 10), Some(7000 << 10)));
            if s.pcie_tx.is_some() && s.pcie_rx.is_some() {
                with_pcie.push(gpu.index);
            }
        }
    }
    with_pcie.sort_unstable();
    assert_eq!(with_pcie, [0, 1]);
}

#[test]
fn traffic_of_nvlink_5_is_the_sum_of_its_links() {
    for nvlink in [false, true] {
        let client = client(NvmlConfig {
            readings: Readings::Quick { pcie: 0, nvlink },
            ..config(&[("FAKE_NVML_NVLINK5", "1")])
        });
        let sample = first(&client).sample;
        let wanted = nvlink.then_some((404_001, 408_001)).unzip();
        assert_eq!((sample.nvlink_tx_bytes, sample.nvlink_rx_bytes), wanted);
    }
}

#[test]
fn recoveries_of_nvlink_5_are_a_field_of_each_link() {
    let gpu = first(&client(config(&[("FAKE_NVML_NVLINK5", "1")])));
    assert_eq!(gpu.errors, Vec::<String>::new());
    let links = gpu.sample.nvlinks.iter();
    let counts: Vec<_> = links.map(|l| (l.active, l.recovery, l.replay)).collect();
    let down = (Some(false), None, None);
    assert_eq!(counts, [(Some(true), Some(5), None), down]);
}

#[test]
fn errors_and_ratios_of_nvlink_5_are_read_once_a_minute_and_not_at_all_where_there_are_none() {
    let env = [("FAKE_NVML_NVLINK5", "1")];
    // Mantissa 3, exponent 12.
    let fake = Fake::new("ber 780\n");
    let with = fake.client(&env);
    let gpu = first(&with);
    assert_eq!(gpu.errors, Vec::<String>::new());
    let wanted = json!({
        "malformed_packets": 206, "buffer_overruns": 207, "receive_errors": 208, "remote_errors": 209,
        "general_errors": 210, "integrity_errors": 211, "discards": 212, "recovery": 5,
        "failed_recoveries": 214, "effective_errors": 219, "symbol_errors": 221,
        "effective_ber": 3e-12, "symbol_ber": 0.0,
    });
    let links = serde_json::to_value(&gpu.sample.nvlinks).unwrap();
    has(&links[0], &wanted, "link");
    let down = &gpu.sample.nvlinks[1];
    assert_eq!((down.receive_errors, down.effective_ber), (None, None));
    let all = metrics_of(gpu.clone());
    let ratio = value(&all, "gtrace_gpu_nvlink_bit_error_ratio", "effective");
    assert_eq!(ratio, Some(3e-12));
    let failed = value(&all, "gtrace_gpu_nvlink_errors", "failed_recovery");
    assert_eq!(failed, Some(214.0));
    // Without errors there is a series for the ratio that is judged alone.
    let symbol = value(&all, "gtrace_gpu_nvlink_bit_error_ratio", "symbol");
    assert_eq!(symbol, None);
    let mut clean = gpu.clone();
    clean.sample.nvlinks[0].failed_recoveries = Some(0);
    let all = metrics_of(clean);
    let shown = |m: &Metric| m.labels.iter().any(|(_, v)| v == "failed_recovery");
    assert!(!all.iter().any(shown));

    fake.set("ber 4095\n");
    assert_eq!(first(&with).sample.nvlinks, gpu.sample.nvlinks);

    // An older driver.
    fake.set("link_errors 0\n");
    let without = fake.client(&env);
    let found = first(&without).sample.nvlinks;
    assert_eq!(
        (found[0].recovery, found[0].receive_errors),
        (Some(5), None)
    );
    fake.set("");
    let again = first(&without).sample.nvlinks;
    assert_eq!(again, found, "it is not asked again");
}

#[test]
fn links_to_the_cpu_are_read_where_there_are_some() {
    let fake = Fake::new("");
    let client = fake.client(&[]);
    let gpu = first(&client);
    assert!(gpu.sample.c2c_links.is_empty() && gpu.errors.is_empty());
    fake.set("c2c 2\n");
    let gpu = first(&client);
    assert_eq!(gpu.errors, Vec::<String>::new());
    let link = |link: u32, active| C2cLinkSample {
        link,
        active: Some(active),
        max_bandwidth: Some(u64::from(172 + link) * 1_000_000),
        crc_errors: Some(u64::from(231 + link)),
        replays: Some(u64::from(232 + link)),
        // This driver does not count them.
        repeated_replays: None,
    };
    assert_eq!(gpu.sample.c2c_links, [link(0, true), link(1, false)]);
    let all = metrics_of(gpu);
    let values = |name: &str| {
        let found = all.iter().filter(|m| m.name == name);
        let of = |m: &Metric| (m.labels.last().unwrap().1.clone(), m.value);
        found.map(of).collect::<Vec<_>>()
    };
    let of = |label: &str, value: f64| (label.to_owned(), value);
    let active = values("gtrace_gpu_c2c_link_active");
    assert_eq!(active, [of("0", 1.0), of("1", 0.0)]);
    let limit = values("gtrace_gpu_c2c_link_limit_bytes_per_second");
    assert_eq!(limit, [of("0", 172e6), of("1", 173e6)]);
    let errors = values("gtrace_gpu_c2c_link_errors");
    let wanted = [
        ("crc", 231.0),
        ("replay", 232.0),
        ("crc", 232.0),
        ("replay", 233.0),
    ];
    assert_eq!(errors, wanted.map(|(kind, count)| of(kind, count)));
}

#[test]
fn a_sample_has_every_reading_in_its_unit() {
    let fake = Fake::new("repair_tpc 1\nsram_threshold 1\n");
    let client = fake.client(&[]);
    let snapshot = client.sample().unwrap();
    assert_eq!(snapshot.driver_version.as_deref(), Some("535.129.03"));
    assert_eq!(snapshot.cuda_version.as_deref(), Some("12.2"));
    let gpu = &snapshot.gpus[0];
    assert_eq!(
        (gpu.pci.to_string().as_str(), gpu.index),
        ("0000:3b:00.0", 0)
    );
    assert_eq!(
        gpu.uuid.as_deref(),
        Some("GPU-fa4e0000-0000-0000-0000-000000000000")
    );
    assert_eq!(gpu.errors, Vec::<String>::new());
    let board = json!({
        "serial": "1650522003820", "vbios": "96.00.74.00.01", "firmware": "535.129.03",
        "inforom_valid": true, "confidential_computing": null,
        "power_limit_default_w": 720.0, "power_limit_min_w": 200.0, "power_limit_max_w": 730.0,
    });
    has(&serde_json::to_value(&gpu.board).unwrap(), &board, "board");
    let s = &gpu.sample;
    let sample = json!({
        "utilization": { "gpu": 87, "memory": 41, "encoder": 12, "decoder": 7, "jpeg": 5, "ofa": 3 },
        "memory": { "total": 80_u64 << 30, "used": 30_u64 << 30, "free": 49_u64 << 30, "reserved": 1_u64 << 30 },
        "bar1": { "total": 128_u64 << 30, "used": 1_u64 << 30, "free": 127_u64 << 30 },
        "temperature": {
            "gpu": 64, "memory": 71, "margin": 23, "slowdown_limit": 89, "shutdown_limit": 92, "memory_limit": 95,
        },
        // The memory has a mean, the module only what it draws now.
        "power": {
            "draw_w": 312.5, "memory_w": 47.75, "module_w": 640.5, "limit_w": 700.0, "requested_limit_w": 710.0,
            "energy_j": 123_456.789,
        },
        "clocks": { "graphics": 1410, "sm": 1411, "memory": 2619, "max_sm": 1980 },
        "clock_event_reasons": { "bits": "0x24", "names": ["SwPowerCap", "SwThermalSlowdown"] },
        // The last has a value of a type that nobody knows.
        "violations": {
            "power": 5_000_000_000_u64, "thermal": 250_000_000, "sync_boost": null,
            "sw_thermal_slowdown": 700_000_000, "hw_power_brake_slowdown": null,
        },
        "ecc": {
            "volatile": { "corrected": 0, "uncorrected": 10 },
            "aggregate": { "uncorrected": 11 },
            "sram": {
                "aggregate": { "parity": 100, "sec_ded": 101, "corrected": 102 },
                "volatile": { "parity": 103, "sec_ded": 104, "corrected": 105 },
                "sources": { "l2": 200, "sm": 201, "pcie": 202, "microcontroller": 203, "other": 204 },
                "threshold_exceeded": true,
            },
        },
    });
    let read = serde_json::to_value(s).unwrap();
    has(&read, &sample, "sample");
    let sample = json!({
        "remapped_rows": {
            "correctable": 3, "uncorrectable": 1, "pending": true, "failure": false,
            "spare": { "max": 638, "high": 2, "partial": 1, "low": 0, "none": 0 },
        },
        "retired_pages": { "double_bit": null },
        "repair": { "channel_pending": false, "tpc_pending": true },
        "pcie_replays": 2, "pcie_tx": 1_024_000, "pcie_rx": 2_048_000,
        "nvlink_tx_bytes": 5000 << 10, "nvlink_rx_bytes": 7000 << 10,
        "performance_state": 0, "persistence_mode": true, "fan": 31, "recovery_action": 0,
        "mig": { "enabled": false, "pending": true },
    });
    has(&read, &sample, "sample");
    assert_eq!(s.nvlinks.len(), 2);
    let up = json!({ "active": true, "version": 4, "recovery": 1, "crc_data": 3 });
    has(&read["nvlinks"][0], &up, "link");
    let down = json!({ "active": false, "replay": null });
    has(&read["nvlinks"][1], &down, "link");
    assert_eq!(s.processes.len(), 1);
    // The fake says that the process is the one that asks.
    let process = json!({
        "type": "compute_and_graphics", "used_memory": 2_u64 << 30, "comm": "gtrace-nvml", "mig_gi": null,
    });
    has(&read["processes"][0], &process, "process");
    let status = client.status();
    assert_eq!(
        (status.state, status.samples, status.starts),
        (NvmlState::Ok, 1, 1)
    );
    assert_eq!(
        status.pid,
        Some(s.processes[0].pid),
        "NVML runs in the child"
    );
}

#[test]
fn instances_of_mig_are_read_with_their_memory_processes_and_activity() {
    let fake = Fake::new("mig 1\n");
    let together = fake.client(&[("FAKE_NVML_GPUS", "2")]);
    let snapshot = together.sample().unwrap();
    let sample = &snapshot.gpus[0].sample;
    assert_eq!(snapshot.gpus[0].errors, Vec::<String>::new());
    assert!(sample.mig.is_some_and(|mig| mig.enabled));
    let found: Vec<_> = sample.mig_instances.iter().collect();
    let names: Vec<_> = found
        .iter()
        .map(|i| (i.gi, i.ci, i.profile.as_deref()))
        .collect();
    let want = [
        (1, 0, Some("1g.10gb")),
        (2, 0, Some("1c.3g.40gb")),
        (2, 1, Some("2c.3g.40gb")),
    ];
    assert_eq!(names, want);
    let instance = json!({
        "uuid": "MIG-fa4e0000-0000-0000-0000-000000000003",
        "memory": { "total": 9856_u64 << 20, "used": 3_u64 << 30, "free": (9856_u64 << 20) - (3 << 30) },
    });
    has(
        &serde_json::to_value(found[0]).unwrap(),
        &instance,
        "instance",
    );
    assert_eq!(found[2].multiprocessors, Some(32));
    let of_memory: Vec<_> = sample.gpu_instances().map(|i| i.gi).collect();
    assert_eq!(of_memory, [1, 2], "compute instances share the memory");
    let in_each = found.iter().map(|i| sample.processes_of(i).count());
    assert_eq!(in_each.collect::<Vec<_>>(), [0, 0, 1]);
    assert!(found.iter().all(|i| i.activity == Activity::default()));
    // The other GPU is in no such mode.
    let whole = &snapshot.gpus[1].sample;
    assert!(whole.mig_instances.is_empty() && whole.mig_layout().is_none());
    // Activity is between two samples, of each GPU instance alone.
    let sample = first(&together).sample;
    assert!(sample.activity == Activity::default());
    let shares = sample.mig_instances.iter().map(|i| i.activity.graphics);
    assert_eq!(shares.collect::<Vec<_>>(), [Some(0.11); 3]);
    // NVML fails at one place: nobody knows which instances there are. Lost is lost.
    for (code, lost) in [(999, false), (4, false), (15, true)] {
        fake.set(&format!("mig 1\nmig_error {code}\n"));
        let gpu = first(&together);
        assert_eq!((gpu.errors.len(), gpu.lost), (1, lost), "{:?}", gpu.errors);
        let sample = gpu.sample;
        assert!(sample.mig_instances_unread && sample.mig_instances.is_empty());
        assert_eq!(sample.mig_layout(), None);
    }
    // Where others have a name, one without it has none that is certain.
    fake.set("mig 1\nmig_plain 3\n");
    let sample = first(&together).sample;
    assert_eq!(
        (sample.mig_layout(), sample.mig_instances_unread),
        (None, false)
    );
    // The GPU instance of that number has another profile than before: nothing to compare with.
    let shares = sample.mig_instances.iter().map(|i| i.activity.graphics);
    let wanted = [None, Some(0.11), Some(0.11)];
    assert_eq!(shares.collect::<Vec<_>>(), wanted);
    // Another layout, whose names lack it, and none.
    fake.set("mig 2\n");
    let sample = first(&together).sample;
    assert_eq!(sample.mig_layout().unwrap(), ["7g.80gb"]);
    fake.set("mig 3\n");
    let sample = first(&together).sample;
    assert_eq!(sample.mig_layout().unwrap(), Vec::<String>::new());
    // Without the right to see all of them, each instance is asked for its own.
    fake.set("mig 1\npid 4711\n");
    let sample = first(&fake.client(&[("FAKE_NVML_ALONE", "1")])).sample;
    let listed: Vec<_> = sample
        .processes
        .iter()
        .map(|p| (p.pid, p.mig_gi, p.mig_ci))
        .collect();
    let want = [
        (4714, Some(1), Some(0)),
        (4711, Some(2), Some(0)),
        (4713, Some(2), Some(1)),
    ];
    assert_eq!(listed, want);
}

#[test]
fn a_gpu_that_is_hotter_than_its_limit_has_a_negative_margin() {
    let set = "margin 2\nbeyond 5\nrepair_tpc 1\nsram_threshold 1\ninforom 14\n";
    let gpu = first(&Fake::new(set).client(&[]));
    assert_eq!(gpu.sample.temperature.margin, Some(-3));
    let all = metrics_of(gpu);
    for (name, label, wanted) in [
        ("temperature_margin_celsius", "", -3.0),
        ("power_limit_setting_watts", "requested", 710.0),
        ("power_limit_setting_watts", "default", 720.0),
        ("power_limit_setting_watts", "min", 200.0),
        ("power_limit_setting_watts", "max", 730.0),
        ("part_power_watts", "memory", 47.75),
        ("memory_banks", "partial", 1.0),
        ("repair_pending", "tpc", 1.0),
        ("sram_errors", "sec_ded", 104.0),
        ("sram_uncorrected_errors", "microcontroller", 203.0),
        ("sram_threshold_exceeded", "", 1.0),
        ("inforom_valid", "", 0.0),
        ("bar1_used_bytes", "", 1_073_741_824.0),
        ("ofa_utilization_ratio", "", 0.03),
    ] {
        let found = value(&all, &format!("gtrace_gpu_{name}"), label);
        assert_eq!(found, Some(wanted), "{name} {label}");
    }
}

#[test]
fn the_licence_of_a_vgpu_is_read_where_one_is_needed() {
    let fake = Fake::new("");
    let client = fake.client(&[]);
    let read = |text: &str| {
        fake.set(text);
        first(&client).sample.vgpu_license
    };
    assert_eq!(read(""), None, "no feature is enabled");
    let (before, after) = ("2027-03-30T12:00:00Z", "2027-04-01T00:00:00Z");
    let (before, after) = (before.parse().unwrap(), after.parse().unwrap());
    let none = read("license 0\n").unwrap();
    assert_eq!((none.licensed, none.term), (false, None));
    assert_eq!(
        none.fault(before).unwrap(),
        "the vGPU has no licence of NVIDIA Virtual Compute Server"
    );
    let lease = read("license 1\n").unwrap();
    assert_eq!(lease.term, Some(LicenseTerm::Limited));
    assert_eq!(lease.expiry.unwrap().to_string(), "2027-03-31T00:00:00Z");
    assert_eq!(lease.fault(before), None);
    assert!(lease.fault(after).unwrap().contains("ended at 2027-03-31"));
    let ever = read("license 2\n").unwrap();
    assert_eq!(
        (ever.term, ever.fault(after)),
        (Some(LicenseTerm::Permanent), None)
    );
}

#[test]
fn what_a_gpu_does_not_support_is_no_error() {
    let snapshot = client(config(&[("FAKE_NVML_BARE", "1")])).sample().unwrap();
    let gpu = &snapshot.gpus[0];
    assert!(gpu.errors.is_empty() && !gpu.lost, "{:?}", gpu.errors);
    assert_eq!(gpu.sample, gtrace_devices::GpuSample::at(gpu.sample.time));
}

#[test]
fn activity_comes_with_the_second_sample_and_the_fabric_with_each() {
    let fake = Fake::new("fabric 2\n");
    let client = fake.client(&[]);
    let begun = first(&client).sample;
    assert_eq!(begun.activity, Activity::default());
    let waits = begun.fabric.unwrap();
    assert_eq!(waits.state, FabricState::InProgress);
    assert!(waits.waiting_s.is_some());
    fake.set("fabric_health 1\n");
    let second = first(&client).sample;
    let a = &second.activity;
    assert_eq!(
        (a.graphics, a.sm, a.sm_occupancy),
        (Some(0.11), Some(0.12), Some(0.13))
    );
    assert_eq!((a.tensor, a.dram, a.fp64), (Some(0.15), Some(0.20), None));
    assert_eq!(a.nvlink_tx, Some(161 << 20));
    let fabric = second.fabric.unwrap();
    assert_eq!(
        (fabric.state, fabric.waiting_s, fabric.clique),
        (FabricState::Completed, None, Some(7))
    );
    assert_eq!(fabric.fault().unwrap(), "NVLink fabric: degraded bandwidth");
    assert!(fabric.cluster.unwrap().starts_with("01020300-"));
    // The pipe stays in step: a third sample is of the time since the second.
    assert!(first(&client).sample.activity.sm.is_some());

    fake.set("fabric_status 999\n");
    let old = fake.client(&[("FAKE_NVML_OLD", "1")]);
    old.sample().unwrap();
    let sample = first(&old).sample;
    assert_eq!(sample.activity, Activity::default());
    assert!(sample.fabric.unwrap().fault().unwrap().contains("999"));
    let sample = first(&fake.client(&[("FAKE_NVML_BARE", "1")])).sample;
    assert_eq!(
        (sample.activity, sample.fabric),
        (Activity::default(), None)
    );
}

#[test]
fn what_does_not_change_is_read_once_by_a_child() {
    let fake = Fake::new("");
    let client = fake.client(&[]);
    let default = |watts: u32| {
        fake.set(&format!("default_limit {}\n", watts * 1000));
        first(&client).board.power_limit_default_w
    };
    assert_eq!(default(500), Some(500.0));
    assert_eq!(default(600), Some(500.0));
    // The driver is loaded anew.
    client.close();
    client.resume();
    assert_eq!(default(600), Some(600.0));
}
