//! What a sample has, in which unit, and when it is read.

use gtrace_devices::{
    Activity, C2cLinkSample, ClockEventReasons, FabricState, GpuInfo, LicenseTerm, Metric,
    ProcessType, Readings, SramErrors, metrics,
};

use super::*;

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
        let sample = client.sample().unwrap().gpus.remove(0).sample;
        let wanted = nvlink.then_some((404_001, 408_001)).unzip();
        assert_eq!((sample.nvlink_tx_bytes, sample.nvlink_rx_bytes), wanted);
    }
}

#[test]
fn recoveries_of_nvlink_5_are_a_field_of_each_link() {
    let client = client(config(&[("FAKE_NVML_NVLINK5", "1")]));
    let gpu = client.sample().unwrap().gpus.remove(0);
    assert_eq!(gpu.errors, Vec::<String>::new());
    let links = gpu.sample.nvlinks.iter();
    let counts: Vec<_> = links.map(|l| (l.active, l.recovery, l.replay)).collect();
    let down = (Some(false), None, None);
    assert_eq!(counts, [(Some(true), Some(5), None), down]);
}

#[test]
fn errors_and_ratios_of_nvlink_5_are_read_once_a_minute_and_not_at_all_where_there_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    let env = [
        ("FAKE_NVML_READINGS", readings.to_str().unwrap()),
        ("FAKE_NVML_NVLINK5", "1"),
    ];
    // Mantissa 3, exponent 12.
    std::fs::write(&readings, "ber 780\n").unwrap();
    let with = client(config(&env));
    let gpu = with.sample().unwrap().gpus.remove(0);
    assert_eq!(gpu.errors, Vec::<String>::new());
    let link = &gpu.sample.nvlinks[0];
    let packets = [
        link.malformed_packets,
        link.buffer_overruns,
        link.receive_errors,
        link.remote_errors,
        link.general_errors,
        link.integrity_errors,
        link.discards,
    ];
    assert_eq!(
        packets.map(Option::unwrap),
        [206, 207, 208, 209, 210, 211, 212]
    );
    let others = [
        link.recovery,
        link.failed_recoveries,
        link.effective_errors,
        link.symbol_errors,
    ];
    assert_eq!(others.map(Option::unwrap), [5, 214, 219, 221]);
    assert_eq!(
        (link.effective_ber, link.symbol_ber),
        (Some(3e-12), Some(0.0))
    );
    let down = &gpu.sample.nvlinks[1];
    assert_eq!((down.receive_errors, down.effective_ber), (None, None));
    let info = GpuInfo {
        sample: Some(gpu.sample.clone()),
        ..GpuInfo::at(gpu.pci)
    };
    let all = metrics(&[info]);
    let value = |name: &str, of: &str| {
        let mut found = all.iter().filter(|m| m.name == name);
        let found = found.find(|m| m.labels.iter().any(|(_, v)| v == of));
        found.map(|m| m.value)
    };
    let ratio = value("gtrace_gpu_nvlink_bit_error_ratio", "effective");
    assert_eq!(ratio, Some(3e-12));
    let failed = value("gtrace_gpu_nvlink_errors", "failed_recovery");
    assert_eq!(failed, Some(214.0));
    // Without errors there is a series for the ratio that is judged alone.
    assert_eq!(value("gtrace_gpu_nvlink_bit_error_ratio", "symbol"), None);
    let mut clean = gpu.sample.clone();
    clean.nvlinks[0].failed_recoveries = Some(0);
    let info = GpuInfo {
        sample: Some(clean),
        ..GpuInfo::at(gpu.pci)
    };
    let all = metrics(&[info]);
    let shown = |m: &Metric| m.labels.iter().any(|(_, v)| v == "failed_recovery");
    assert!(!all.iter().any(shown));

    std::fs::write(&readings, "ber 4095\n").unwrap();
    let again = with.sample().unwrap().gpus.remove(0).sample;
    assert_eq!(again.nvlinks, gpu.sample.nvlinks);

    // An older driver.
    std::fs::write(&readings, "link_errors 0\n").unwrap();
    let without = client(config(&env));
    let of = |client: &NvmlClient| client.sample().unwrap().gpus.remove(0).sample.nvlinks;
    let found = of(&without);
    assert_eq!(
        (found[0].recovery, found[0].receive_errors),
        (Some(5), None)
    );
    std::fs::write(&readings, "").unwrap();
    assert_eq!(of(&without), found, "it is not asked again");
}

#[test]
fn links_to_the_cpu_are_read_where_there_are_some() {
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    let env = [("FAKE_NVML_READINGS", readings.to_str().unwrap())];
    let client = client(config(&env));
    let gpu = client.sample().unwrap().gpus.remove(0);
    assert!(gpu.sample.c2c_links.is_empty() && gpu.errors.is_empty());
    std::fs::write(&readings, "c2c 2\n").unwrap();
    let gpu = client.sample().unwrap().gpus.remove(0);
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
    let info = GpuInfo {
        sample: Some(gpu.sample),
        ..GpuInfo::at(gpu.pci)
    };
    let all = metrics(&[info]);
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
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    std::fs::write(&readings, "repair_tpc 1\nsram_threshold 1\n").unwrap();
    let env = [("FAKE_NVML_READINGS", readings.to_str().unwrap())];
    let client = client(config(&env));
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
    let s = &gpu.sample;
    assert_eq!(
        (s.utilization.gpu, s.utilization.memory),
        (Some(87), Some(41))
    );
    assert_eq!(
        (s.utilization.encoder, s.utilization.decoder),
        (Some(12), Some(7))
    );
    let board = &gpu.board;
    assert_eq!(board.serial.as_deref(), Some("1650522003820"));
    assert_eq!(board.vbios.as_deref(), Some("96.00.74.00.01"));
    assert_eq!(board.firmware.as_deref(), Some("535.129.03"));
    assert_eq!(board.inforom_valid, Some(true));
    assert_eq!(board.confidential_computing, None);
    assert_eq!(board.power_limit_default_w, Some(720.0));
    assert_eq!(
        (board.power_limit_min_w, board.power_limit_max_w),
        (Some(200.0), Some(730.0))
    );
    assert_eq!(s.power.requested_limit_w, Some(710.0));
    // The memory has a mean, the module only what it draws now.
    assert_eq!(
        (s.power.memory_w, s.power.module_w),
        (Some(47.75), Some(640.5))
    );
    assert_eq!((s.utilization.jpeg, s.utilization.ofa), (Some(5), Some(3)));
    assert_eq!(
        (s.bar1.total, s.bar1.used, s.bar1.free),
        (Some(128 << 30), Some(1 << 30), Some(127 << 30))
    );
    assert_eq!(s.temperature.margin, Some(23));
    let spare = s.remapped_rows.spare.as_ref().unwrap();
    assert_eq!(
        (spare.max, spare.high, spare.partial, spare.low, spare.none),
        (Some(638), Some(2), Some(1), Some(0), Some(0))
    );
    assert_eq!(
        (s.repair.channel_pending, s.repair.tpc_pending),
        (Some(false), Some(true))
    );
    let sram = s.ecc.sram.as_ref().unwrap();
    let errors = |of: &Option<SramErrors>| {
        let of = of.as_ref().unwrap();
        [of.parity, of.sec_ded, of.corrected].map(Option::unwrap)
    };
    assert_eq!(errors(&sram.aggregate), [100, 101, 102]);
    assert_eq!(errors(&sram.volatile), [103, 104, 105]);
    let at = sram.sources.as_ref().unwrap();
    assert_eq!(
        [at.l2, at.sm, at.pcie, at.microcontroller, at.other].map(Option::unwrap),
        [200, 201, 202, 203, 204]
    );
    assert_eq!(sram.threshold_exceeded, Some(true));
    assert_eq!(
        (s.memory.total, s.memory.used),
        (Some(80 << 30), Some(30 << 30))
    );
    assert_eq!(
        (s.memory.free, s.memory.reserved),
        (Some(49 << 30), Some(1 << 30))
    );
    assert_eq!(
        (s.temperature.gpu, s.temperature.memory),
        (Some(64), Some(71))
    );
    assert_eq!(
        (s.temperature.slowdown_limit, s.temperature.shutdown_limit),
        (Some(89), Some(92))
    );
    assert_eq!(s.temperature.memory_limit, Some(95));
    assert_eq!(
        (s.power.draw_w, s.power.limit_w),
        (Some(312.5), Some(700.0))
    );
    assert_eq!(s.power.energy_j, Some(123_456.789));
    assert_eq!(
        (s.clocks.graphics, s.clocks.sm, s.clocks.memory),
        (Some(1410), Some(1411), Some(2619))
    );
    assert_eq!(s.clocks.max_sm, Some(1980));
    assert_eq!(s.clock_event_reasons, Some(ClockEventReasons(0x24)));
    assert_eq!(
        s.clock_event_reasons.unwrap().names(),
        ["SwPowerCap", "SwThermalSlowdown"]
    );
    assert_eq!(
        (s.violations.power, s.violations.thermal),
        (Some(5_000_000_000), Some(250_000_000))
    );
    assert_eq!(s.violations.sync_boost, None);
    assert_eq!(s.violations.sw_thermal_slowdown, Some(700_000_000));
    assert_eq!(
        s.violations.hw_power_brake_slowdown, None,
        "a value type nobody knows"
    );
    let volatile = s.ecc.volatile.as_ref().unwrap();
    assert_eq!(
        (volatile.corrected, volatile.uncorrected),
        (Some(0), Some(10))
    );
    assert_eq!(s.ecc.aggregate.as_ref().unwrap().uncorrected, Some(11));
    assert_eq!(
        (s.remapped_rows.correctable, s.remapped_rows.uncorrectable),
        (Some(3), Some(1))
    );
    assert_eq!(
        (s.remapped_rows.pending, s.remapped_rows.failure),
        (Some(true), Some(false))
    );
    assert_eq!(s.retired_pages.double_bit, None);
    assert_eq!(
        (s.pcie_replays, s.pcie_tx, s.pcie_rx),
        (Some(2), Some(1_024_000), Some(2_048_000))
    );
    assert_eq!(s.nvlinks.len(), 2);
    assert_eq!(
        (s.nvlink_tx_bytes, s.nvlink_rx_bytes),
        (Some(5000 << 10), Some(7000 << 10))
    );
    assert_eq!(
        (s.nvlinks[0].active, s.nvlinks[0].version),
        (Some(true), Some(4))
    );
    assert_eq!(
        (s.nvlinks[0].recovery, s.nvlinks[0].crc_data),
        (Some(1), Some(3))
    );
    assert_eq!(
        (s.nvlinks[1].active, s.nvlinks[1].replay),
        (Some(false), None)
    );
    assert_eq!(s.processes.len(), 1);
    assert_eq!(s.processes[0].kind, ProcessType::ComputeAndGraphics);
    assert_eq!(s.processes[0].used_memory, Some(2 << 30));
    assert_eq!(
        (s.processes[0].comm.as_deref(), s.processes[0].mig_gi),
        // The fake says that the process is the one that asks.
        (Some("gtrace-nvml"), None)
    );
    assert_eq!(
        (s.performance_state, s.persistence_mode, s.fan),
        (Some(0), Some(true), Some(31))
    );
    assert_eq!(
        (s.recovery_action, s.remapped_rows.failure),
        (Some(0), Some(false))
    );
    assert!(s.mig.is_some_and(|m| !m.enabled && m.pending));
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
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    std::fs::write(&readings, "mig 1\n").unwrap();
    let path = readings.to_str().unwrap();
    let env = [("FAKE_NVML_READINGS", path), ("FAKE_NVML_GPUS", "2")];
    let together = client(config(&env));
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
    let memory = &found[0].memory;
    assert_eq!(
        (memory.total, memory.used, memory.free),
        (
            Some(9856 << 20),
            Some(3 << 30),
            Some((9856 << 20) - (3 << 30))
        )
    );
    assert_eq!(
        found[0].uuid.as_deref(),
        Some("MIG-fa4e0000-0000-0000-0000-000000000003")
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
    let sample = together.sample().unwrap().gpus.remove(0).sample;
    assert!(sample.activity == Activity::default());
    let shares = sample.mig_instances.iter().map(|i| i.activity.graphics);
    assert_eq!(shares.collect::<Vec<_>>(), [Some(0.11); 3]);
    // NVML fails at one place: nobody knows which instances there are. Lost is lost.
    for (code, lost) in [(999, false), (4, false), (15, true)] {
        std::fs::write(&readings, format!("mig 1\nmig_error {code}\n")).unwrap();
        let gpu = together.sample().unwrap().gpus.remove(0);
        assert_eq!((gpu.errors.len(), gpu.lost), (1, lost), "{:?}", gpu.errors);
        let sample = gpu.sample;
        assert!(sample.mig_instances_unread && sample.mig_instances.is_empty());
        assert_eq!(sample.mig_layout(), None);
    }
    // Where others have a name, one without it has none that is certain.
    std::fs::write(&readings, "mig 1\nmig_plain 3\n").unwrap();
    let sample = together.sample().unwrap().gpus.remove(0).sample;
    assert_eq!(
        (sample.mig_layout(), sample.mig_instances_unread),
        (None, false)
    );
    // The GPU instance of that number has another profile than before: nothing to compare with.
    let shares = sample.mig_instances.iter().map(|i| i.activity.graphics);
    let wanted = [None, Some(0.11), Some(0.11)];
    assert_eq!(shares.collect::<Vec<_>>(), wanted);
    // Another layout, whose names lack it, and none.
    std::fs::write(&readings, "mig 2\n").unwrap();
    let sample = together.sample().unwrap().gpus.remove(0).sample;
    assert_eq!(sample.mig_layout().unwrap(), ["7g.80gb"]);
    std::fs::write(&readings, "mig 3\n").unwrap();
    let sample = together.sample().unwrap().gpus.remove(0).sample;
    assert_eq!(sample.mig_layout().unwrap(), Vec::<String>::new());
    // Without the right to see all of them, each instance is asked for its own.
    std::fs::write(&readings, "mig 1\npid 4711\n").unwrap();
    let alone = client(config(&[env[0], ("FAKE_NVML_ALONE", "1")]));
    let sample = alone.sample().unwrap().gpus.remove(0).sample;
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
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    let set = "margin 2\nbeyond 5\nrepair_tpc 1\nsram_threshold 1\ninforom 14\n";
    std::fs::write(&readings, set).unwrap();
    let env = [("FAKE_NVML_READINGS", readings.to_str().unwrap())];
    let gpu = client(config(&env)).sample().unwrap().gpus.remove(0);
    assert_eq!(gpu.sample.temperature.margin, Some(-3));
    let info = GpuInfo {
        sample: Some(gpu.sample),
        board: gpu.board,
        ..GpuInfo::at(gpu.pci)
    };
    let all = metrics(&[info]);
    let value = |name: &str, label: &str| {
        let mut found = all.iter().filter(|m| m.name == name);
        let found = found.find(|m| label.is_empty() || m.labels.iter().any(|(_, v)| v == label));
        found.map(|m| m.value)
    };
    assert_eq!(
        value("gtrace_gpu_temperature_margin_celsius", ""),
        Some(-3.0)
    );
    for (limit, watts) in [
        ("requested", 710.0),
        ("default", 720.0),
        ("min", 200.0),
        ("max", 730.0),
    ] {
        let found = value("gtrace_gpu_power_limit_setting_watts", limit);
        assert_eq!(found, Some(watts), "{limit}");
    }
    assert_eq!(value("gtrace_gpu_part_power_watts", "memory"), Some(47.75));
    assert_eq!(value("gtrace_gpu_memory_banks", "partial"), Some(1.0));
    assert_eq!(value("gtrace_gpu_repair_pending", "tpc"), Some(1.0));
    assert_eq!(value("gtrace_gpu_sram_errors", "sec_ded"), Some(104.0));
    assert_eq!(
        value("gtrace_gpu_sram_uncorrected_errors", "microcontroller"),
        Some(203.0)
    );
    assert_eq!(value("gtrace_gpu_sram_threshold_exceeded", ""), Some(1.0));
    assert_eq!(value("gtrace_gpu_inforom_valid", ""), Some(0.0));
    assert_eq!(
        value("gtrace_gpu_bar1_used_bytes", ""),
        Some(1_073_741_824.0)
    );
    assert_eq!(value("gtrace_gpu_ofa_utilization_ratio", ""), Some(0.03));
}

#[test]
fn the_licence_of_a_vgpu_is_read_where_one_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    let env = [("FAKE_NVML_READINGS", readings.to_str().unwrap())];
    let client = client(config(&env));
    let read = |text: &str| {
        std::fs::write(&readings, text).unwrap();
        client.sample().unwrap().gpus.remove(0).sample.vgpu_license
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
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    std::fs::write(&readings, "fabric 2\n").unwrap();
    let file = readings.to_str().unwrap();
    let of = |env: &[(&str, &str)]| client(config(env));
    let client = of(&[("FAKE_NVML_READINGS", file)]);
    let first = client.sample().unwrap().gpus.remove(0).sample;
    assert_eq!(first.activity, Activity::default());
    let waits = first.fabric.unwrap();
    assert_eq!(waits.state, FabricState::InProgress);
    assert!(waits.waiting_s.is_some());
    std::fs::write(&readings, "fabric_health 1\n").unwrap();
    let second = client.sample().unwrap().gpus.remove(0).sample;
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
    assert!(
        client.sample().unwrap().gpus[0]
            .sample
            .activity
            .sm
            .is_some()
    );

    std::fs::write(&readings, "fabric_status 999\n").unwrap();
    let old = of(&[("FAKE_NVML_READINGS", file), ("FAKE_NVML_OLD", "1")]);
    old.sample().unwrap();
    let sample = old.sample().unwrap().gpus.remove(0).sample;
    assert_eq!(sample.activity, Activity::default());
    assert!(sample.fabric.unwrap().fault().unwrap().contains("999"));
    let bare = of(&[("FAKE_NVML_BARE", "1")]);
    let sample = bare.sample().unwrap().gpus.remove(0).sample;
    assert_eq!(
        (sample.activity, sample.fabric),
        (Activity::default(), None)
    );
}

#[test]
fn what_does_not_change_is_read_once_by_a_child() {
    let dir = tempfile::tempdir().unwrap();
    let readings = dir.path().join("readings");
    let env = [("FAKE_NVML_READINGS", readings.to_str().unwrap())];
    let client = client(config(&env));
    let default = |watts: u32| {
        std::fs::write(&readings, format!("default_limit {}\n", watts * 1000)).unwrap();
        let board = client.sample().unwrap().gpus.remove(0).board;
        board.power_limit_default_w
    };
    assert_eq!(default(500), Some(500.0));
    assert_eq!(default(600), Some(500.0));
    // The driver is loaded anew.
    client.close();
    client.resume();
    assert_eq!(default(600), Some(600.0));
}
