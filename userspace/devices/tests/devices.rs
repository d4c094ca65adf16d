//! PCI, /proc/driver/nvidia and NVML put together.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::Duration;

use gtrace_devices::{
    Devices, GpuSample, NvmlGpu, NvmlSnapshot, Observed, ProcRoot, UnreadableGpu, metrics,
};
use gtrace_event::{Kind, Timestamp, WitnessName};
use support::{Stuck, Sys, pci, proc_tree};

const FIRST: &str = "0000:3d:00.0";
const SECOND: &str = "0000:3e:00.0";
const INFORMATION: &str =
    "Model: NVIDIA H100\nGPU UUID: GPU-proc\nDevice Minor: 5\nGPU Excluded: No\n";

fn nvml_gpu(address: &str, index: u32) -> NvmlGpu {
    NvmlGpu {
        pci: pci(address),
        index,
        uuid: Some(format!("GPU-{index}")),
        sample: GpuSample::at(Timestamp::now()),
        ..NvmlGpu::default()
    }
}

fn snapshot(gpus: Vec<NvmlGpu>) -> Option<NvmlSnapshot> {
    Some(NvmlSnapshot {
        gpus,
        ..NvmlSnapshot::default()
    })
}

fn lost(events: &[Observed]) -> Vec<String> {
    let lost = events.iter().filter(|e| e.occurrence.kind == Kind::GpuLost);
    lost.map(|e| e.occurrence.detail.source.reason.clone().unwrap())
        .collect()
}

#[test]
fn every_source_adds_what_it_knows() {
    let sys = Sys::host();
    let proc = proc_tree(&[(FIRST, INFORMATION), ("0000:99:00.0", INFORMATION)]);
    let mut devices = Devices::new(sys.root(), ProcRoot(proc.path().to_owned()));
    let report = devices.poll(snapshot(vec![nvml_gpu(FIRST, 0)]));
    let shown: Vec<_> = report
        .gpus
        .iter()
        .map(|g| (g.pci.to_string(), g.present_in))
        .collect();
    assert_eq!(shown.len(), 3);
    let first = &report.gpus[0];
    assert!(first.present_in.pci && first.present_in.nvml && first.present_in.proc);
    assert_eq!(first.name.as_deref(), Some("NVIDIA H100"), "NVML gave none");
    assert_eq!(first.uuid.as_deref(), Some("GPU-0"), "NVML's comes first");
    assert_eq!((first.index, first.minor), (Some(0), Some(5)));
    assert_eq!(first.driver_version.as_deref(), Some("535.129.03"));
    assert!(first.sample.is_some());
    assert!(!report.gpus[2].present_in.pci && report.gpus[2].present_in.proc);
    assert_eq!(report.nvswitches, Some(vec![pci("0000:40:00.0")]));
    assert_eq!(report.driver.unwrap().branch(), Some(535));
    let json = serde_json::to_string(&report.gpus).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<gtrace_devices::GpuInfo>>(&json).unwrap(),
        report.gpus
    );
}

/// The driver asks the GPU's firmware for each reading of the file, and wakes a GPU that sleeps.
#[test]
fn what_the_driver_says_of_a_gpu_is_read_once() {
    let sys = Sys::new();
    let proc = proc_tree(&[(FIRST, "Model: NVIDIA H100\nGPU UUID: GPU-????\n")]);
    let mut devices = Devices::new(sys.root(), ProcRoot(proc.path().to_owned()));
    let uuid = |devices: &mut Devices| devices.poll(None).gpus[0].uuid.clone();
    let information = proc
        .path()
        .join(format!("driver/nvidia/gpus/{FIRST}/information"));
    // Until it is initialised there is nothing to ask, and more to learn.
    assert_eq!(uuid(&mut devices), None);
    std::fs::write(&information, INFORMATION).unwrap();
    assert_eq!(uuid(&mut devices).as_deref(), Some("GPU-proc"));
    std::fs::write(&information, "GPU UUID: GPU-read-again\n").unwrap();
    assert_eq!(uuid(&mut devices).as_deref(), Some("GPU-proc"));
    // Nobody knows which driver it is that comes back.
    let gpu = information.parent().unwrap();
    let away = proc.path().join("away");
    std::fs::rename(gpu, &away).unwrap();
    assert!(devices.poll(None).gpus.is_empty());
    std::fs::rename(&away, gpu).unwrap();
    assert_eq!(uuid(&mut devices).as_deref(), Some("GPU-read-again"));
}

/// It numbers those that it finds, so behind one that is gone others have that one's minor.
#[test]
fn a_driver_that_was_loaded_anew_is_asked_again() {
    let sys = Sys::new();
    let proc = proc_tree(&[(FIRST, INFORMATION)]);
    let modules = sys.root().0.join("module");
    std::fs::create_dir_all(modules.join("nvidia")).unwrap();
    let mut devices = Devices::new(sys.root(), ProcRoot(proc.path().to_owned()));
    let minor = |devices: &mut Devices| devices.poll(None).gpus[0].minor;
    assert_eq!(minor(&mut devices), Some(5));
    let information = proc
        .path()
        .join(format!("driver/nvidia/gpus/{FIRST}/information"));
    std::fs::write(information, "GPU UUID: GPU-proc\nDevice Minor: 4\n").unwrap();
    assert_eq!(minor(&mut devices), Some(5));
    // Both are there for a moment, so that they differ by their inodes.
    std::fs::create_dir(modules.join("anew")).unwrap();
    std::fs::rename(modules.join("anew"), modules.join("nvidia")).unwrap();
    assert_eq!(minor(&mut devices), Some(4));
}

#[test]
fn a_gpu_that_does_not_answer_nvml_is_not_lost() {
    let sys = Sys::host();
    let proc = proc_tree(&[]);
    let mut devices = Devices::new(sys.root(), ProcRoot(proc.path().to_owned()));
    // Its address is not known if it was never read.
    for at in [Some(pci(SECOND)), None] {
        let silent = UnreadableGpu {
            index: 1,
            pci: at,
            silent: true,
            error: "no answer".into(),
            ..UnreadableGpu::default()
        };
        for _ in 0..3 {
            let report = devices.poll(Some(NvmlSnapshot {
                gpus: vec![nvml_gpu(FIRST, 0)],
                unreadable: vec![silent.clone()],
                ..NvmlSnapshot::default()
            }));
            assert!(lost(&report.events).is_empty(), "{at:?}");
            let second = report.gpus.iter().find(|gpu| gpu.pci == pci(SECOND));
            let error = second.and_then(|gpu| gpu.nvml_error.as_deref());
            assert_eq!(error, at.map(|_| "no answer"));
        }
    }
}

#[test]
fn a_gpu_that_nvml_was_not_asked_about_is_not_lost() {
    let sys = Sys::host();
    let proc = proc_tree(&[]);
    let mut devices = Devices::new(sys.root(), ProcRoot(proc.path().to_owned()));
    for _ in 0..3 {
        let report = devices.poll(Some(NvmlSnapshot {
            gpus: vec![nvml_gpu(FIRST, 0)],
            cut_short: true,
            ..NvmlSnapshot::default()
        }));
        assert!(lost(&report.events).is_empty());
    }
}

#[test]
fn a_gpu_that_the_driver_has_and_nvml_does_not_show_is_lost() {
    let sys = Sys::host();
    let proc = proc_tree(&[]);
    let mut devices = Devices::new(sys.root(), ProcRoot(proc.path().to_owned()));
    let missing = || {
        Some(NvmlSnapshot {
            gpus: vec![nvml_gpu(FIRST, 0)],
            unreadable: vec![UnreadableGpu {
                index: 1,
                lost: true,
                error: "fell off".into(),
                ..UnreadableGpu::default()
            }],
            ..NvmlSnapshot::default()
        })
    };
    assert!(
        lost(&devices.poll(missing()).events).is_empty(),
        "it may just have been bound"
    );
    assert!(
        lost(&devices.poll(None).events).is_empty(),
        "no NVML says nothing"
    );
    let events = devices.poll(missing()).events;
    let reasons = lost(&events);
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].contains("does not show it") && reasons[0].contains("index 1: fell off"));
    assert_eq!(events[0].witness, WitnessName::Nvml);
    assert_eq!(
        events[0].occurrence.gpu.as_ref().unwrap().pci,
        Some(pci(SECOND))
    );
    assert!(lost(&devices.poll(missing()).events).is_empty(), "once");
    let whole = snapshot(vec![nvml_gpu(FIRST, 0), nvml_gpu(SECOND, 1)]);
    assert!(lost(&devices.poll(whole).events).is_empty());
    devices.poll(missing());
    assert_eq!(lost(&devices.poll(missing()).events).len(), 1, "lost again");
}

#[test]
fn a_gpu_of_another_driver_or_excluded_is_not_lost() {
    let sys = Sys::host();
    std::fs::remove_file(sys.device(FIRST).join("driver")).unwrap();
    sys.bind(FIRST, "vfio-pci");
    let proc = proc_tree(&[(SECOND, "GPU Excluded: Yes\n")]);
    let mut devices = Devices::new(sys.root(), ProcRoot(proc.path().to_owned()));
    for _ in 0..4 {
        assert!(devices.poll(snapshot(Vec::new())).events.is_empty());
    }
}

#[test]
fn a_gpu_that_nvml_calls_lost_is_lost_at_once_but_not_twice() {
    let sys = Sys::host();
    let mut devices = Devices::new(sys.root(), ProcRoot(proc_tree(&[]).path().to_owned()));
    let dead = || {
        let mut gpu = nvml_gpu(FIRST, 0);
        (gpu.lost, gpu.errors) = (true, vec!["device fell off the bus".into()]);
        snapshot(vec![gpu, nvml_gpu(SECOND, 1)])
    };
    let report = devices.poll(dead());
    assert_eq!(lost(&report.events), ["device fell off the bus"]);
    assert_eq!(
        report.gpus[0].nvml_error.as_deref(),
        Some("device fell off the bus")
    );
    assert!(devices.poll(dead()).events.is_empty());

    // Whoever is sure first reports it; PCI needs two readings a second apart.
    let long = Duration::from_millis(1050);
    let mut devices = Devices::new(sys.root(), ProcRoot::default());
    sys.write(FIRST, "config", [0xff; 4]);
    let events = devices.poll(dead()).events;
    assert_eq!((events.len(), events[0].witness), (1, WitnessName::Nvml));
    std::thread::sleep(long);
    assert!(devices.poll(dead()).events.is_empty());
    sys.remove(FIRST);
    let events = devices.poll(dead()).events;
    assert!(events.is_empty(), "known to PCI too: {events:?}");

    let sys = Sys::host();
    let mut devices = Devices::new(sys.root(), ProcRoot::default());
    sys.write(FIRST, "config", [0xff; 4]);
    assert!(devices.poll(None).events.is_empty());
    std::thread::sleep(long);
    let events = devices.poll(dead()).events;
    assert_eq!(
        (events.len(), events[0].witness),
        (1, WitnessName::SysfsPci)
    );
}

#[test]
fn a_busy_gpu_with_a_slow_link_is_found_with_nvmls_help() {
    let sys = Sys::host();
    sys.write(FIRST, "current_link_speed", "8.0 GT/s PCIe");
    let mut devices = Devices::new(sys.root(), ProcRoot(proc_tree(&[]).path().to_owned()));
    let mut found = 0;
    for _ in 0..4 {
        let mut gpu = nvml_gpu(FIRST, 0);
        gpu.sample.utilization.gpu = Some(98);
        gpu.sample.performance_state = Some(0);
        let report = devices.poll(snapshot(vec![gpu, nvml_gpu(SECOND, 1)]));
        found += report
            .events
            .iter()
            .filter(|e| e.occurrence.kind == Kind::PcieLink)
            .count();
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(found, 1);
}

#[test]
fn nvml_and_pci_are_asked_apart_and_what_the_other_said_last_stands() {
    let sys = Sys::host();
    let mut devices = Devices::new(sys.root(), ProcRoot(proc_tree(&[]).path().to_owned()));
    let whole = || snapshot(vec![nvml_gpu(FIRST, 0), nvml_gpu(SECOND, 1)]);
    let report = devices.poll_now();
    assert_eq!(report.gpus.len(), 2);
    assert!(report.rdma.is_some() && !report.gpus[0].present_in.nvml);
    let report = devices.sample(whole());
    assert!(report.rdma.is_none(), "not looked at");
    let present = report.gpus[0].present_in;
    assert!(present.pci && present.nvml);
    assert!(report.gpus[0].link.is_some());
    let report = devices.poll_now();
    assert!(report.gpus[0].present_in.nvml && report.gpus[0].sample.is_some());

    // Gone from PCI, which was not polled yet.
    sys.remove(SECOND);
    let dead = || snapshot(vec![nvml_gpu(FIRST, 0)]);
    for _ in 0..3 {
        assert!(devices.sample(dead()).events.is_empty(), "PCI's to report");
    }
    let events = devices.poll_now().events;
    assert_eq!(lost(&events).len(), 1);
    assert_eq!(events[0].witness, WitnessName::SysfsPci);
    assert!(devices.sample(dead()).events.is_empty());
}

#[test]
fn a_gpu_that_is_lost_is_reported_once_by_whoever_is_asked_first() {
    let dead = || {
        let mut gpu = nvml_gpu(FIRST, 0);
        (gpu.lost, gpu.errors) = (true, vec!["device fell off the bus".into()]);
        snapshot(vec![gpu, nvml_gpu(SECOND, 1)])
    };
    let long = Duration::from_millis(1050);
    for nvml_first in [true, false] {
        let sys = Sys::host();
        let mut devices = Devices::new(sys.root(), ProcRoot::default());
        sys.write(FIRST, "config", [0xff; 4]);
        assert!(devices.poll_now().events.is_empty());
        std::thread::sleep(long);
        let events = match nvml_first {
            true => [devices.sample(dead()).events, devices.poll_now().events].concat(),
            false => [devices.poll_now().events, devices.sample(dead()).events].concat(),
        };
        let by = match nvml_first {
            true => WitnessName::Nvml,
            false => WitnessName::SysfsPci,
        };
        assert_eq!((lost(&events).len(), events[0].witness), (1, by));
    }
}

#[test]
fn a_gpu_that_was_taken_from_the_driver_between_polls_is_not_lost() {
    let sys = Sys::host();
    let mut devices = Devices::new(sys.root(), ProcRoot(proc_tree(&[]).path().to_owned()));
    devices.poll_now();
    let without = || snapshot(vec![nvml_gpu(FIRST, 0)]);
    std::fs::remove_file(sys.device(SECOND).join("driver")).unwrap();
    for _ in 0..3 {
        assert!(devices.sample(without()).events.is_empty());
    }
    sys.bind(SECOND, "nvidia");
    assert!(devices.sample(without()).events.is_empty());
    let events = devices.sample(without()).events;
    assert_eq!(lost(&events).len(), 1, "two snapshots, no look between");
}

#[test]
fn one_sample_that_says_busy_judges_one_poll_of_the_link() {
    let sys = Sys::host();
    sys.write(FIRST, "current_link_speed", "8.0 GT/s PCIe");
    let mut devices = Devices::new(sys.root(), ProcRoot(proc_tree(&[]).path().to_owned()));
    let busy = || {
        let mut gpu = nvml_gpu(FIRST, 0);
        gpu.sample.utilization.gpu = Some(98);
        gpu.sample.performance_state = Some(0);
        snapshot(vec![gpu, nvml_gpu(SECOND, 1)])
    };
    devices.sample(busy());
    for _ in 0..5 {
        assert!(devices.poll_now().events.is_empty());
    }
    devices.sample(busy());
    assert_eq!(devices.poll_now().events[0].occurrence.kind, Kind::PcieLink);
}

#[test]
fn metrics_of_one_family_stand_together_and_end_with_their_unit() {
    let sys = Sys::host();
    let mut devices = Devices::new(sys.root(), ProcRoot(proc_tree(&[]).path().to_owned()));
    let mut gpu = nvml_gpu(FIRST, 0);
    gpu.sample.clocks.sm = Some(1980);
    gpu.sample.utilization.gpu = Some(50);
    let metrics = metrics(&devices.poll(snapshot(vec![gpu, nvml_gpu(SECOND, 1)])).gpus);
    let mut names: Vec<_> = metrics.iter().map(|m| m.name).collect();
    names.dedup();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "a family in two places");
    for metric in &metrics {
        assert!(metric.name.ends_with(metric.unit) && !metric.name.ends_with("_total"));
        assert_eq!(metric.labels[0].0, "gpu");
        assert_eq!(metric.labels[1].0, "uuid");
    }
    let value = |name: &str| metrics.iter().find(|m| m.name == name).map(|m| m.value);
    assert_eq!(value("gtrace_gpu_clock_hertz"), Some(1.98e9));
    assert_eq!(value("gtrace_gpu_utilization_ratio"), Some(0.5));
}

#[test]
fn a_driver_that_does_not_answer_what_it_knows_of_a_gpu_holds_nobody_up() {
    let sys = Sys::host();
    let proc = proc_tree(&[(FIRST, INFORMATION), (SECOND, INFORMATION)]);
    let file = proc
        .path()
        .join("driver/nvidia/gpus")
        .join(FIRST)
        .join("information");
    let _stuck = Stuck::at(file);
    let root = ProcRoot(proc.path().to_owned());
    let (done, reports) = std::sync::mpsc::channel();
    let mut devices = Devices::new(sys.root(), root.clone());
    std::thread::spawn(move || {
        for _ in 0..2 {
            done.send(devices.poll(None)).unwrap();
        }
    });
    for _ in 0..2 {
        let report = reports.recv_timeout(Duration::from_secs(60)).unwrap();
        let uuids = report
            .gpus
            .iter()
            .map(|gpu| (gpu.present_in.proc, gpu.uuid.as_deref()));
        assert_eq!(
            uuids.collect::<Vec<_>>(),
            [(true, None), (true, Some("GPU-proc"))]
        );
        assert_eq!(report.proc_unanswered, [pci(FIRST)]);
    }
    let once = gtrace_devices::proc_gpus(&root);
    assert_eq!(once.len(), 2);
}
