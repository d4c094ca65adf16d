//! The exposition with everything in it, as those read it who collect it.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use gtrace_api::{
    ComponentHealth, CudaCalls, CudaMemory, CudaReport, CudaState, DeviceUser, FunctionCost,
};
use gtrace_devices::{
    C2cLinkSample, ClockEventReasons, GpuInfo, GpuProcess, GpuSample, MigInstance, MigMode,
    NvLinkSample, ProcessType, VgpuLicense,
};
use gtrace_engine::metrics::Counted;
use gtrace_engine::samples::Batch;
use gtrace_engine::tally::Tally;
use gtrace_event::{Event, Gpu, Kind, Occurrence, PciAddress, Severity, Timestamp, WitnessName};
use gtrace_server::SessionStatus;
use serde_json::json;

use super::*;

fn gpu(address: &str, mig: bool) -> GpuInfo {
    let mut gpu = GpuInfo::at(address.parse().unwrap());
    gpu.uuid = Some(format!("GPU-5fd1a0b2-{address}"));
    gpu.index = Some(0);
    let number = 7_u64;
    let sections = json!({
        "time": Timestamp::now(),
        "utilization": { "gpu": 50, "memory": 20, "jpeg": 1, "ofa": 2 },
        "memory": { "total": number, "used": number, "free": number, "reserved": number },
        "temperature": {
            "gpu": 40, "memory": 50, "slowdown_limit": 90, "shutdown_limit": 95, "memory_limit": 95,
            "margin": -3,
        },
        "bar1": { "total": 128_u64 << 30, "used": number, "free": number },
        "power": {
            "draw_w": 300.5, "limit_w": 700.0, "energy_j": 1e9, "memory_w": 47.5, "module_w": 640.5,
            "requested_limit_w": 650.0,
        },
        "clocks": {
            "graphics": 1000, "sm": 1000, "memory": 2000, "max_graphics": 2000, "max_sm": 2000,
            "max_memory": 3000,
        },
        "violations": { "power": number, "thermal": number, "reliability": number },
        "ecc": {
            "enabled": true,
            "volatile": { "corrected": number, "uncorrected": 0 },
            "aggregate": { "corrected": number, "uncorrected": 0 },
            "sram": {
                "volatile": { "corrected": number, "parity": 0, "sec_ded": 0 },
                "sources": { "l2": number, "sm": 0 },
                "threshold_exceeded": false,
            },
        },
        "remapped_rows": {
            "correctable": number, "uncorrectable": 0, "pending": false, "failure": false,
            "spare": { "max": 638, "high": 2, "partial": 0, "low": 0, "none": 0 },
        },
        "repair": { "channel_pending": false, "tpc_pending": true },
        "retired_pages": { "single_bit": number, "double_bit": 0, "pending": false },
        "pcie_replays": number, "pcie_tx": number, "pcie_rx": number,
        "nvlink_tx_bytes": number, "nvlink_rx_bytes": number,
        "performance_state": 0, "persistence_mode": true, "fan": 30,
    });
    gpu.board.power_limit_max_w = Some(750.0);
    let mut sample: GpuSample = serde_json::from_value(sections).unwrap();
    sample.clock_event_reasons = ClockEventReasons::ALL.first().map(|(reason, _)| *reason);
    sample.mig = Some(MigMode {
        enabled: mig,
        pending: false,
    });
    sample.nvlinks = vec![NvLinkSample {
        active: Some(true),
        replay: Some(1),
        crc_flit: Some(2),
        effective_ber: Some(1e-13),
        ..NvLinkSample::default()
    }];
    sample.c2c_links = vec![C2cLinkSample {
        active: Some(true),
        max_bandwidth: Some(number),
        crc_errors: Some(0),
        ..C2cLinkSample::default()
    }];
    sample.processes = vec![GpuProcess {
        pid: 42,
        comm: Some("python3".to_owned()),
        used_memory: Some(number),
        kind: ProcessType::Compute,
        mig_gi: mig.then_some(1),
        mig_ci: mig.then_some(0),
    }];
    if mig {
        sample.mig_instances = vec![
            instance(1, 0, "1g.10gb"),
            instance(2, 0, "1c.3g.40gb"),
            instance(2, 1, "2c.3g.40gb"),
        ];
    }
    gpu.sample = Some(sample);
    gpu
}

fn instance(gi: u32, ci: u32, profile: &str) -> MigInstance {
    let mut instance = MigInstance {
        gi,
        ci,
        profile: Some(profile.to_owned()),
        uuid: Some(format!("MIG-{gi}-{ci}")),
        ..MigInstance::default()
    };
    instance.memory.used = Some(7 << 20);
    instance.activity.graphics = Some(0.5);
    instance
}

fn cuda() -> (CudaReport, Tally) {
    let report = CudaReport {
        state: CudaState::Active,
        calls: vec![CudaCalls {
            pid: Some(42),
            comm: "odd \"name\"\n\\".to_owned(),
            function: "cuMemcpyHtoD_v2".to_owned(),
            calls: 5,
            timed: 5,
            bytes: 20,
            total_ns: 5000,
            buckets: vec![(126, 5)],
            ..CudaCalls::default()
        }],
        memory: vec![CudaMemory {
            pid: 42,
            comm: "python3".to_owned(),
            ..CudaMemory::default()
        }],
        cost: gtrace_api::CudaCost {
            functions: vec![FunctionCost {
                function: "cuMemcpyHtoD_v2".to_owned(),
                ..FunctionCost::default()
            }],
            ..gtrace_api::CudaCost::default()
        },
        ..CudaReport::default()
    };
    let mut tally = Tally::default();
    tally.take(&report);
    (report, tally)
}

fn server() -> ServerStatus {
    let mut session = SessionStatus {
        id: "12345678".to_owned(),
        client: Some(Default::default()),
        ..SessionStatus::default()
    };
    session.stats.lanes = 2;
    session.stats.frames = 9;
    ServerStatus {
        sessions: vec![session],
        ..ServerStatus::default()
    }
}

/// GPUs, one with MIG, their processes, driver calls, CUDA calls, a server of remote GPUs, events, refusals.
fn everything(format: Format) -> String {
    let (hub, _commands) = Hub::new(Status::default());
    let time = Timestamp::now();
    for (kind, code) in [(Kind::Xid, 79), (Kind::Sxid, 20034)] {
        let mut event = Event::seen(
            time,
            WitnessName::Kmsg,
            1,
            Occurrence::new(kind, Severity::Fatal, "NVRM: Xid"),
        );
        event.detail.xid.xid = Some(code);
        event.detail.fabric.sxid = Some(code);
        event.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        let counted = Counted::from(&event);
        hub.metrics
            .count_event(&counted, Provenance::Kernel, true, 1);
    }
    hub.metrics.count_lost("store", "queue_full", 1);
    hub.metrics.count_refused("tcp", "connections");
    let gpus = [gpu("0000:3b:00.0", true), gpu("0000:5e:00.0", false)];
    hub.samples.publish(&Batch {
        component: WitnessName::Nvml.name(),
        time,
        interval: Duration::from_secs(3600),
        metrics: gtrace_devices::metrics(&gpus),
    });
    hub.set_gpus(gpus.into());
    hub.set_gpu_processes(vec![DeviceUser {
        pid: 42,
        comm: "python3".to_owned(),
        devices: vec!["nvidia0".to_owned()],
        open_files: 1,
    }]);
    hub.set_calls(vec![CallStats {
        device: "nvidia0".to_owned(),
        gpu: Some("0000:3b:00.0".parse().unwrap()),
        op: Some("RM_CONTROL".to_owned()),
        count: 3,
        ..CallStats::default()
    }]);
    let (report, tally) = cuda();
    hub.set_cuda(report, tally);
    let hour = Duration::from_secs(3600);
    hub.set_health(
        "nvml",
        ComponentHealth::now(HealthState::Healthy, None),
        hour,
    );
    let health = json!({ "time": time, "state": "healthy", "action": "none", "subjects": [] });
    hub.set_health_report(serde_json::from_value(health).unwrap(), 0);
    let clients = Clients {
        readers: 1,
        remote: Some(server()),
        unanswered: 1,
        dcgm: true,
    };
    text(&hub, clients, format).unwrap()
}

#[test]
fn no_family_comes_twice() {
    for format in [Format::OpenMetrics, Format::Prometheus] {
        let text = everything(format);
        let types = text.lines().filter_map(|l| l.strip_prefix("# TYPE "));
        let mut names = BTreeSet::new();
        for name in types.filter_map(|line| line.split(' ').next()) {
            assert!(names.insert(name), "{name} comes twice");
        }
        for part in [
            "gtrace_gpu_processes{gpu=\"0000:3b:00.0\"",
            "gtrace_device_users 1",
            "gtrace_gpu_mig_enabled{",
            "gtrace_cuda_calls_total{",
            "gtrace_cuda_memory_live_bytes{",
            "gtrace_remote_lanes{",
            "gtrace_driver_calls_total{",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}

/// Runs `command` with `text` at its standard input; it has to be content.
fn check(command: Command, text: &str) {
    let (status, printed) = run(command, text);
    assert!(status.success(), "{printed}");
}

/// Runs `command` with `text` at its standard input; its status and what it said.
fn run(mut command: Command, text: &str) -> (ExitStatus, String) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status, printed.into_owned())
}

/// Where `cargo xtask test` puts public tools: the directory of target that tests are built in.
fn tools() -> PathBuf {
    // target/debug/deps/gtrace_http-...
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(3).unwrap().to_owned()
}

/// A program of a package that `cargo xtask test` has unpacked in `folder`, or of the system.
fn program(folder: &str, name: &str) -> Option<PathBuf> {
    let unpacked = tools().join(folder).join("usr/bin").join(name);
    let program = match unpacked.is_file() {
        true => unpacked,
        false => PathBuf::from(name),
    };
    if Command::new(&program).arg("--version").output().is_err() {
        println!("SKIPPED: no {name}: cargo xtask test fetches the package of Debian");
        return None;
    }
    Some(program)
}

fn promtool() -> Option<PathBuf> {
    program("e2e-prometheus", "promtool")
}

#[test]
fn promtool_accepts_the_rules_and_their_tests_and_amtool_the_example() {
    let packaging = packaging();
    if let Some(promtool) = promtool() {
        let rules = packaging.join("prometheus");
        for arguments in [
            &["check", "rules", "recording.rules.yml", "alerts.rules.yml"][..],
            &["check", "config", "prometheus.example.yml"],
            &["test", "rules", "tests.yml"],
        ] {
            let mut command = Command::new(&promtool);
            command.current_dir(&rules).args(arguments);
            check(command, "");
        }
    }
    if let Some(amtool) = program("e2e-prometheus-alertmanager", "amtool") {
        let mut command = Command::new(amtool);
        command
            .arg("check-config")
            .arg(packaging.join("alertmanager.yml"));
        check(command, "");
    }
}

fn packaging() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

/// Names of gtrace's metrics, and of recorded ones, that a text has.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    text.split(|c: char| !is_part(c))
        .filter(|word| word.starts_with("gtrace_") || word.contains(":gtrace_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_metric_of_rules_and_dashboards_is_exposed_or_documented() {
    let packaging = packaging();
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    let rules = ["recording.rules.yml", "alerts.rules.yml"]
        .map(|file| read(packaging.join("prometheus").join(file)));
    let dashboards = ["executive.json", "on-call.json", "debug.json"]
        .map(|file| read(packaging.join("../xtask/src/dashboards").join(file)));
    let recorded: BTreeSet<&str> = rules
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.trim().strip_prefix("- record: "))
        .collect();
    let docs = packaging.join("../docs");
    let documented = ["api.md", "gpu-samples.md", "incidents.md", "samples.md"]
        .map(|page| read(docs.join(page)))
        .concat();
    let mut known = names(&documented);
    known.extend(names(&everything(Format::Prometheus)));
    let is_known = |name: &str| {
        // A counter is documented without `_total` where its table says that it is one.
        let ends = ["_total", "_bucket", "_sum", "_count"];
        let family = ends.iter().find_map(|end| name.strip_suffix(end));
        recorded.contains(name) || known.contains(name) || family.is_some_and(|f| known.contains(f))
    };
    assert!(!is_known("gtrace_no_such_metric_total"));
    let mut used = BTreeSet::new();
    for text in rules.iter().chain(&dashboards) {
        used.extend(names(text));
    }
    let unknown: Vec<_> = used.iter().filter(|name| !is_known(name)).collect();
    assert_eq!(unknown, Vec::<&String>::new());
    assert!(used.len() > 60, "{used:?}");
    // What is recorded is for something.
    let all = rules.concat() + &dashboards.concat() + &read(docs.join("alerts.md"));
    for name in recorded {
        assert!(all.matches(name).count() > 1, "nothing reads {name}");
    }
}

/// Whether a line of a page has `name`: whole, or by its end behind a name that begins alike (`gtrace_a_used`, `_free`).
fn names_it(line: &str, name: &str) -> bool {
    let codes = line.split('`').skip(1).step_by(2);
    let codes: Vec<&str> = codes.filter_map(|code| code.split('{').next()).collect();
    codes.iter().any(|code| {
        let end = code.trim_start_matches('.');
        match name.strip_suffix(end) {
            Some(stem) if end.starts_with('_') => codes
                .iter()
                .any(|whole| whole.starts_with("gtrace_") && whole.starts_with(stem)),
            _ => *code == name,
        }
    })
}

#[test]
fn every_metric_is_documented() {
    let docs = packaging().join("../docs");
    let pages = [
        "api",
        "gpu-samples",
        "health",
        "incidents",
        "remoting",
        "samples",
    ]
    .map(|page| std::fs::read_to_string(docs.join(format!("{page}.md"))).unwrap())
    .concat();
    let text = everything(Format::Prometheus);
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names = types.filter_map(|line| line.split(' ').next());
    let unknown: Vec<&str> = names
        .filter(|name| name.starts_with("gtrace_"))
        .filter(|&name| {
            let short = name.strip_suffix("_total").unwrap_or(name);
            !pages
                .lines()
                .any(|line| names_it(line, name) || names_it(line, short))
        })
        .collect();
    assert_eq!(unknown, Vec::<&str>::new());
}

#[test]
fn alerts_count_what_the_kernel_wrote_and_no_drills() {
    let file = packaging().join("prometheus");
    for name in ["recording.rules.yml", "alerts.rules.yml"] {
        let text = std::fs::read_to_string(file.join(name)).unwrap();
        for (metric, label) in [
            ("gtrace_xid_total{", "provenance=\"kernel\""),
            ("gtrace_sxid_total{", "provenance=\"kernel\""),
            ("gtrace_events_total{", "provenance=\"kernel\""),
            ("gtrace_open_incidents{", "drill=\"false\""),
            ("gtrace_incidents_opened_total{", "drill=\"false\""),
        ] {
            // Recorded metrics have the name within theirs.
            let name = &metric[..metric.len() - 1];
            let bare = text.match_indices(name).filter(|(at, _)| {
                let after = &text[at + name.len()..];
                !text[..*at].ends_with(':') && !after.starts_with(['{', '_'])
            });
            assert_eq!(bare.count(), 0, "{name} without labels");
            for part in text.split(metric).skip(1) {
                let labels = part.split('}').next().unwrap();
                assert!(labels.contains(label), "{name}: {metric}{labels}}}");
            }
        }
    }
}

#[test]
fn dashboards_of_dcgm_exporter_find_their_names_labels_and_units() {
    let mut one = gpu("0000:3b:00.0", false);
    one.index = Some(1);
    one.name = Some("NVIDIA \"H100\"".to_owned());
    one.driver_version = Some("580.95.05".to_owned());
    let memory = &mut one.sample.as_mut().unwrap().memory;
    (memory.used, memory.free) = (Some(3 << 20), Some((80 << 30) - 1));
    // NVML has given this one no number.
    let mut other = gpu("0000:5e:00.0", false);
    other.index = None;
    let activity = &mut one.sample.as_mut().unwrap().activity;
    (activity.nvlink_tx, activity.nvlink_rx) = (Some(3_000_000), Some(1_500_000));
    let xid = |of: PciAddress| (of == one.pci).then_some(79);
    let text = dcgm::text(&[one.clone(), other], "node7", xid, Format::Prometheus);
    let labels = "{gpu=\"1\",UUID=\"GPU-5fd1a0b2-0000:3b:00.0\",pci_bus_id=\"00000000:3B:00.0\",device=\"nvidia1\",\
         modelName=\"NVIDIA \\\"H100\\\"\",Hostname=\"node7\",DCGM_FI_DRIVER_VERSION=\"580.95.05\"}";
    for (name, value) in [
        ("DCGM_FI_DEV_SM_CLOCK", "1000"),
        ("DCGM_FI_DEV_GPU_TEMP", "40"),
        ("DCGM_FI_DEV_POWER_USAGE", "300.5"),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "1000000000000"),
        ("DCGM_FI_DEV_GPU_UTIL", "50"),
        ("DCGM_FI_DEV_XID_ERRORS", "79"),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "4.5"),
        ("DCGM_FI_DEV_FB_USED", "3"),
        ("DCGM_FI_DEV_FB_FREE", "81919"),
        ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "0"),
        ("DCGM_FI_DEV_GPU_TEMP_LIMIT", "-3"),
        ("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "700"),
        ("DCGM_FI_DEV_POWER_MGMT_LIMIT", "650"),
        ("DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX", "750"),
        ("DCGM_FI_DEV_BAR1_TOTAL", "131072"),
        ("DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_HIGH", "2"),
    ] {
        let line = format!("{name}{labels} {value}\n");
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("5e:00"), "{text}");
    // What NVML does not have is absent.
    assert!(!text.contains("POWER_MGMT_LIMIT_MIN"), "{text}");
    assert!(text.contains("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n"));
    // In MIG mode each GPU instance has its own, and what NVML has of the whole GPU alone stays as it is.
    let mut divided = gpu("0000:3b:00.0", true);
    divided.sample.as_mut().unwrap().vgpu_license = Some(VgpuLicense {
        licensed: true,
        product: None,
        term: None,
        expiry: divided.sample.as_ref().map(|sample| sample.time),
    });
    let text = dcgm::text(&[divided], "node7", |_| None, Format::Prometheus);
    let ends = |name: &str| {
        let lines = text.lines().filter(|line| line.starts_with(name));
        let ends = lines.map(|line| line.rsplit_once("DRIVER_VERSION=\"\"").unwrap().1);
        ends.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        ends("DCGM_FI_DEV_FB_USED{"),
        [
            ",GPU_I_PROFILE=\"1g.10gb\",GPU_I_ID=\"1\"} 7",
            ",GPU_I_PROFILE=\"3g.40gb\",GPU_I_ID=\"2\"} 7",
        ]
    );
    assert_eq!(
        ends("DCGM_FI_PROF_GR_ENGINE_ACTIVE{")[1],
        ",GPU_I_PROFILE=\"3g.40gb\",GPU_I_ID=\"2\"} 0.5"
    );
    assert_eq!(ends("DCGM_FI_DEV_GPU_TEMP{"), ["} 40"]);
    // A licence that has ended is none.
    assert_eq!(ends("DCGM_FI_DEV_VGPU_LICENSE_STATUS{"), ["} 0"]);
    // A sample that is not of now is not shown.
    let mut stale = one.clone();
    stale.stale = true;
    let text = dcgm::text(&[stale], "node7", |_| Some(79), Format::Prometheus);
    assert!(text.contains("DCGM_FI_DEV_XID_ERRORS{"), "{text}");
    assert!(!text.contains("DCGM_FI_DEV_GPU_TEMP{"), "{text}");
    // Without an Xid there is a value too.
    let text = dcgm::text(&[one], "node7", |_| None, Format::OpenMetrics);
    assert!(
        text.contains(&format!("DCGM_FI_DEV_XID_ERRORS{labels} 0\n")),
        "{text}"
    );
    // OpenMetrics has no counter without `_total`.
    assert!(text.contains("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION unknown\n"));
    let all = everything(Format::OpenMetrics);
    assert!(
        all.contains("\nDCGM_FI_DEV_GPU_TEMP{") && all.ends_with("\n# EOF\n"),
        "{all}"
    );
}

#[test]
fn promtool_accepts_the_prometheus_text() {
    let Some(promtool) = promtool() else {
        return;
    };
    let mut command = Command::new(promtool);
    command.args(["check", "metrics"]);
    let (status, printed) = run(command, &everything(Format::Prometheus));
    // It can be parsed. 3: names are not as Prometheus advises, as those of dcgm-exporter, which are NVIDIA's.
    assert!(matches!(status.code(), Some(0 | 3)), "{status}: {printed}");
    let own: Vec<_> = printed
        .lines()
        .filter(|l| !l.starts_with("DCGM_FI_"))
        .collect();
    assert!(own.is_empty(), "{own:#?}");
}

#[test]
fn a_parser_of_others_accepts_both_formats() {
    let named = std::env::var_os("GTRACE_E2E_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| tools().join("e2e-python"));
    let python = python.join("bin/python3");
    let import = ["-c", "import prometheus_client"];
    let has = Command::new(&python).args(import).output();
    if !has.is_ok_and(|output| output.status.success()) {
        println!(
            "SKIPPED: no Python environment with prometheus_client: cargo xtask test makes it"
        );
        return;
    }
    for (format, parser) in [
        (Format::OpenMetrics, "prometheus_client.openmetrics.parser"),
        (Format::Prometheus, "prometheus_client.parser"),
    ] {
        let script = format!(
            "import sys\nfrom {parser} import text_string_to_metric_families as parse\n\
             names = [family.name for family in parse(sys.stdin.read())]\n\
             assert len(names) == len(set(names)) > 80, names"
        );
        let mut command = Command::new(&python);
        command.args(["-c", &script]);
        check(command, &everything(format));
    }
}
