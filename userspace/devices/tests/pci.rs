//! The watch over PCI on fake sysfs trees.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::Duration;

use gtrace_devices::{Observed, PciClass, PciReport, PciTree, PciWatch, Relation, inventory};
use gtrace_event::{Kind, PciAddress, Provenance, Severity, WitnessName};
use support::{Stuck, Sys, pci};

const GPU: &str = "0000:3d:00.0";
const ROOT: &str = "0000:3a:00.0";
/// Between the root port and the GPU.
const UP: &str = "0000:3b:00.0";
const PORT: &str = "0000:3c:01.0";
const OTHER: &str = "0000:3e:00.0";
const NVSWITCH: &str = "0000:40:00.0";

fn poll(watch: &mut PciWatch) -> Vec<Observed> {
    watch.poll(|_| false).unwrap().events
}

/// The same while the GPU is busy.
fn poll_busy(watch: &mut PciWatch) -> Vec<Observed> {
    watch.poll(|at| at == pci(GPU)).unwrap().events
}

fn kinds(events: &[Observed]) -> Vec<Kind> {
    events.iter().map(|e| e.occurrence.kind).collect()
}

/// A GPU at the end of a chain of ports.
fn add_gpu(sys: &Sys, chain: &[&str]) {
    sys.add(chain, "0x10de\n", "0x030200\n");
}

/// Longer than a device must not answer before it counts as lost.
fn wait_until_silent_for_long() {
    std::thread::sleep(Duration::from_millis(1050));
}

/// The GPU that the event is tied to.
fn gpu_of(event: &Observed) -> Option<PciAddress> {
    event.occurrence.gpu.as_ref()?.pci
}

#[test]
fn the_inventory_has_gpus_and_switches_and_nothing_else() {
    let sys = Sys::host();
    let devices = inventory(&sys.root()).unwrap();
    let found: Vec<_> = devices
        .iter()
        .map(|d| (d.pci.to_string(), d.class))
        .collect();
    let want = [
        (GPU, PciClass::Gpu),
        (OTHER, PciClass::Gpu),
        (NVSWITCH, PciClass::NvSwitch),
    ];
    assert_eq!(
        found,
        want.map(|(p, c)| (p.to_owned(), c)),
        "no audio, no adapter, no virtual function"
    );
    let gpu = &devices[0];
    assert_eq!(gpu.upstream, [ROOT, UP, PORT].map(pci));
    assert_eq!(
        (gpu.driver.as_deref(), gpu.numa_node),
        (Some("nvidia"), Some(1))
    );
    assert_eq!(gpu.id.unwrap().to_string(), "10de:2330");
    let link = gpu.link.unwrap();
    assert_eq!((link.speed, link.width), (Some(32.0), Some(16)));
    assert_eq!((link.max_speed, link.max_width), (Some(32.0), Some(16)));
    assert!(!gpu.dead && !gpu.suspended);
}

#[test]
fn a_host_without_pci_is_an_error_and_not_a_host_that_lost_its_gpus() {
    let sys = Sys::host();
    let mut watch = sys.watch();
    poll(&mut watch);
    std::fs::rename(sys.root().0.join("bus"), sys.root().0.join("gone")).unwrap();
    assert!(watch.poll(|_| false).is_err());
    std::fs::rename(sys.root().0.join("gone"), sys.root().0.join("bus")).unwrap();
    assert!(poll(&mut watch).is_empty());
}

#[test]
fn errors_counted_before_the_start_are_no_event() {
    let sys = Sys::host();
    sys.aer(GPU, 12, 1);
    let mut watch = sys.watch();
    assert!(poll(&mut watch).is_empty());
    assert!(poll(&mut watch).is_empty());
}

#[test]
fn counters_that_are_to_be_left_alone_are_not_opened() {
    let sys = Sys::host();
    let path = sys.root().0.join("bus/pci/devices").join(GPU);
    let path = path.join("aer_dev_correctable");
    let _ = std::fs::remove_file(&path);
    // Nobody writes into it, so that whoever opens it waits.
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let unanswered = |mut watch: PciWatch| watch.poll(|_| false).unwrap().aer.unanswered;
    assert_eq!(unanswered(sys.watch()), [pci(GPU)]);
    assert_eq!(unanswered(sys.watch().without_aer()), []);
}

#[test]
fn a_rise_of_aer_counters_is_an_event_of_the_device_that_counted() {
    let sys = Sys::host();
    let mut watch = sys.watch();
    poll(&mut watch);
    sys.aer(GPU, 3, 1);
    sys.aer(ROOT, 2, 0);
    let events = poll(&mut watch);
    let found: Vec<_> = events
        .iter()
        .map(|e| {
            (
                e.occurrence.detail.pcie.pci_device.unwrap().to_string(),
                e.occurrence.detail.aer.severity.clone().unwrap(),
                e.count,
            )
        })
        .collect();
    let want = [
        (ROOT, "Correctable", 2),
        (GPU, "Correctable", 3),
        (GPU, "Uncorrectable (Fatal)", 1),
    ];
    assert_eq!(found, want.map(|(p, s, n)| (p.to_owned(), s.to_owned(), n)));
    let gpus: Vec<_> = events.iter().map(gpu_of).collect();
    assert_eq!(gpus, [None, Some(pci(GPU)), Some(pci(GPU))]);
    assert_eq!(
        events[0].occurrence.detail.pcie.gpus_below,
        [GPU, OTHER].map(pci),
        "the root port is above both"
    );
    assert_eq!(events[1].occurrence.detail.aer.errors, ["RxErr"]);
    assert_eq!(events[2].occurrence.detail.aer.errors, ["DLP"]);
    for event in &events {
        assert_eq!(event.occurrence.kind, Kind::Aer);
        assert_eq!(event.occurrence.provenance, Provenance::Kernel);
        assert_eq!(event.witness, WitnessName::SysfsAer);
    }
    assert!(poll(&mut watch).is_empty(), "once");
    sys.aer(GPU, 1, 1);
    let events = poll(&mut watch);
    assert_eq!(
        (events.len(), events[0].count),
        (1, 1),
        "counters began anew"
    );
}

#[test]
fn the_port_above_a_vanished_gpu_still_says_why() {
    let sys = Sys::host();
    sys.aer(PORT, 0, 0);
    let mut watch = sys.watch();
    poll(&mut watch);
    sys.remove(GPU);
    sys.aer(PORT, 0, 1);
    let reported: Vec<_> = poll(&mut watch)
        .iter()
        .map(|e| {
            let occurrence = &e.occurrence;
            (
                occurrence.kind,
                gpu_of(e),
                occurrence.detail.pcie.pci_device,
            )
        })
        .collect();
    let gpu = Some(pci(GPU));
    assert_eq!(
        reported,
        [
            (Kind::GpuLost, gpu, None),
            (Kind::Aer, gpu, Some(pci(PORT)))
        ]
    );
}

#[test]
fn a_vanished_gpu_keeps_its_place_in_the_tree_until_another_device_takes_it() {
    let chain = |device| [ROOT, UP, PORT, device];
    let sys = Sys::host();
    let mut watch = sys.watch();
    poll(&mut watch);
    assert_eq!(watch.tree(), &PciTree::read(&sys.root()));
    let above = Relation::Above(pci(GPU));
    assert_eq!(watch.tree().relation(pci(PORT)), above);

    sys.remove(GPU);
    for _ in 0..3 {
        poll(&mut watch);
        assert_eq!(watch.tree().relation(pci(PORT)), above);
        assert_eq!(watch.tree().relation(pci(GPU)), Relation::Is(pci(GPU)));
    }
    // A disk at the same address.
    sys.add(&chain(GPU), "0x144d\n", "0x010802\n");
    poll(&mut watch);
    assert_eq!(watch.tree().relation(pci(PORT)), Relation::None);
    assert_eq!(watch.tree().relation(pci(GPU)), Relation::None);

    sys.remove(GPU);
    poll(&mut watch);
    add_gpu(&sys, &chain(GPU));
    poll(&mut watch);
    assert_eq!(watch.tree().relation(pci(PORT)), above);
    // Another GPU in the same slot under another number.
    sys.remove(GPU);
    poll(&mut watch);
    add_gpu(&sys, &chain("0000:3d:01.0"));
    poll(&mut watch);
    let other = Relation::Above(pci("0000:3d:01.0"));
    assert_eq!(watch.tree().relation(pci(PORT)), other);
}

#[test]
fn a_gpu_on_the_root_bus_has_no_port_and_hides_none() {
    let sys = Sys::new();
    add_gpu(&sys, &["0000:05:00.0"]);
    let tree = PciTree::read(&sys.root());
    let gpu = pci("0000:05:00.0");
    assert_eq!(tree.relation(gpu), Relation::Is(gpu));
    assert_eq!(tree.relation(pci(ROOT)), Relation::None);
    let nowhere = gtrace_devices::SysRoot("/nonexistent".into());
    assert_eq!(PciTree::read(&nowhere), PciTree::default());
}

#[test]
fn a_vanished_gpu_is_lost_once_and_again_after_it_was_back() {
    let sys = Sys::host();
    let mut watch = sys.watch();
    poll(&mut watch);
    for _ in 0..2 {
        sys.remove(GPU);
        let report = watch.poll(|_| false).unwrap();
        assert_eq!(report.events.len(), 1);
        let lost = &report.events[0].occurrence;
        assert_eq!((lost.kind, lost.severity), (Kind::GpuLost, Severity::Fatal));
        assert_eq!((report.gpus.len(), report.lost), (1, vec![pci(GPU)]));
        assert!(poll(&mut watch).is_empty(), "reported already");
        add_gpu(&sys, &[ROOT, UP, PORT, GPU]);
        let report = watch.poll(|_| false).unwrap();
        assert!(report.events.is_empty() && report.lost.is_empty());
    }
}

#[test]
fn a_device_that_reads_all_ones_a_second_later_still_is_lost() {
    let sys = Sys::host();
    sys.write(GPU, "config", [0xff; 64]);
    sys.write(NVSWITCH, "config", [0xff; 64]);
    sys.link(GPU, "Unknown", "63");
    let mut watch = sys.watch();
    assert!(poll(&mut watch).is_empty(), "one reading is no proof");
    wait_until_silent_for_long();
    let events = poll(&mut watch);
    assert_eq!(events.len(), 2);
    for (event, what) in events.iter().zip(["GPU", "NVSwitch"]) {
        let begins = format!("{what} does not answer");
        assert!(event.occurrence.message.starts_with(&begins), "{event:?}");
    }
    assert!(poll(&mut watch).is_empty());
    sys.write(GPU, "config", [0xde, 0x10]);
    assert!(poll(&mut watch).is_empty());
    sys.write(GPU, "config", [0xff; 64]);
    poll(&mut watch);
    wait_until_silent_for_long();
    assert_eq!(poll(&mut watch).len(), 1, "lost again");
}

#[test]
fn a_gpu_whose_link_is_down_for_a_moment_is_not_lost() {
    let sys = Sys::host();
    let mut watch = sys.watch();
    poll(&mut watch);
    for _ in 0..2 {
        sys.write(GPU, "config", [0xff; 64]);
        for _ in 0..5 {
            let report = watch.poll_now().unwrap();
            assert!(report.events.is_empty() && report.lost.is_empty());
        }
        sys.write(GPU, "config", [0xde, 0x10, 0x30, 0x23]);
        wait_until_silent_for_long();
        assert!(
            watch.poll_now().unwrap().events.is_empty(),
            "it answers again"
        );
    }
}

#[test]
fn a_port_above_a_gpu_and_an_adapter_is_not_the_gpus() {
    const ADAPTER: [&str; 4] = [ROOT, UP, "0000:3c:03.0", "0000:3f:00.0"];
    let sys = Sys::host();
    sys.add(&ADAPTER[..3], "0x8086\n", "0x060400\n");
    sys.remove(OTHER);
    let mut watch = sys.watch();
    poll(&mut watch);
    let alone = Relation::Above(pci(GPU));
    for port in [ROOT, UP, PORT] {
        assert_eq!(watch.tree().relation(pci(port)), alone, "{port}");
    }
    sys.add(&ADAPTER, "0x15b3\n", "0x020700\n");
    sys.aer(ROOT, 1, 0);
    let events = poll(&mut watch);
    assert_eq!((events.len(), gpu_of(&events[0])), (1, None));
    let below = &events[0].occurrence.detail.pcie.gpus_below;
    assert_eq!(below, &[pci(GPU)]);
    assert_eq!(watch.tree().relation(pci(PORT)), alone);
    assert_eq!(watch.tree(), &PciTree::read(&sys.root()));
    // All that is below the switch goes at once.
    sys.remove(ADAPTER[3]);
    sys.remove(GPU);
    poll(&mut watch);
    let several = Relation::AboveSeveral(vec![pci(GPU)]);
    assert_eq!(watch.tree().relation(pci(ROOT)), several);
}

#[test]
fn functions_of_a_card_are_its_own_and_those_of_another_vendor_are_not() {
    let sys = Sys::host();
    let vf = "0000:3d:02.3";
    add_gpu(&sys, &[vf]);
    sys.virtual_function(vf, GPU);
    // A virtual machine with a GPU and an adapter at one address.
    add_gpu(&sys, &["0000:05:00.0"]);
    sys.add(&["0000:05:00.1"], "0x15b3\n", "0x020000\n");
    sys.add(&["0000:05:00.2"], "0x10de\n", "0x0c0330\n");
    // A virtual function of the adapter.
    sys.add(&["0000:41:00.1"], "0x15b3\n", "0x020700\n");
    sys.virtual_function("0000:41:00.1", "0000:41:00.0");
    let tree = PciTree::read(&sys.root());
    let whole = |text| Relation::Is(pci(text));
    for (at, want) in [
        ("0000:3d:00.1", whole(GPU)),
        ("0000:42:00.0", whole(GPU)),
        (vf, whole(GPU)),
        ("0000:05:00.2", whole("0000:05:00.0")),
        ("0000:05:00.1", Relation::None),
        ("0000:41:00.1", Relation::None),
    ] {
        assert_eq!(tree.relation(pci(at)), want, "{at}");
    }
    let mut watch = sys.watch();
    poll(&mut watch);
    sys.remove(GPU);
    sys.remove("0000:3d:00.1");
    poll(&mut watch);
    assert_eq!(watch.tree().relation(pci("0000:3d:00.1")), whole(GPU));
}

#[test]
fn a_sleeping_gpu_is_left_alone() {
    let sys = Sys::host();
    sys.write(GPU, "power/runtime_status", "suspended\n");
    sys.write(GPU, "config", [0xff; 64]);
    sys.write(GPU, "current_link_width", "1");
    let report = sys.watch().poll(|_| true).unwrap();
    assert!(report.events.is_empty());
    assert!(report.gpus[0].suspended && report.gpus[0].link.is_none());
}

#[test]
fn a_narrow_link_is_reported_once_for_each_width() {
    let sys = Sys::host();
    let mut watch = sys.watch();
    sys.write(GPU, "current_link_width", "8\n");
    let events = poll(&mut watch);
    assert_eq!(kinds(&events), [Kind::PcieLink]);
    let sample = &events[0].occurrence.detail.sample;
    assert_eq!(
        (sample.width, sample.max_width, sample.limit),
        (Some(8), Some(16), Some(16.0))
    );
    assert_eq!(sample.speed.as_deref(), Some("32.0 GT/s PCIe"));
    assert!(poll(&mut watch).is_empty());
    sys.write(GPU, "current_link_width", "4\n");
    assert_eq!(poll(&mut watch).len(), 1, "worse");
    sys.write(GPU, "current_link_width", "16\n");
    assert!(poll(&mut watch).is_empty());
    sys.write(GPU, "current_link_width", "4\n");
    assert_eq!(poll(&mut watch).len(), 1, "again after it was whole");
}

#[test]
fn a_narrow_link_of_a_gpu_that_was_away_is_reported_again() {
    let sys = Sys::host();
    let mut watch = sys.watch();
    sys.write(GPU, "current_link_width", "8\n");
    assert_eq!(poll(&mut watch).len(), 1);
    sys.remove(GPU);
    poll(&mut watch);
    add_gpu(&sys, &[ROOT, UP, PORT, GPU]);
    sys.link(GPU, "32.0 GT/s PCIe", "16");
    sys.write(GPU, "current_link_width", "8\n");
    assert_eq!(kinds(&poll(&mut watch)), [Kind::PcieLink]);
}

#[test]
fn a_wide_gpu_in_a_narrow_slot_is_no_fault() {
    let sys = Sys::host();
    sys.write(PORT, "max_link_width", "8");
    sys.write(PORT, "max_link_speed", "16.0 GT/s PCIe");
    sys.write(GPU, "current_link_width", "8");
    sys.write(GPU, "current_link_speed", "16.0 GT/s PCIe");
    let mut watch = sys.watch();
    for _ in 0..3 {
        assert!(watch.poll(|_| true).unwrap().events.is_empty());
    }
}

#[test]
fn a_slow_link_is_a_fault_only_while_the_gpu_is_busy() {
    let sys = Sys::host();
    sys.write(GPU, "current_link_speed", "2.5 GT/s PCIe");
    let mut watch = sys.watch();
    for _ in 0..5 {
        assert!(poll(&mut watch).is_empty(), "idle: power management");
    }
    assert!(poll_busy(&mut watch).is_empty(), "work may just have come");
    assert!(poll(&mut watch).is_empty());
    assert!(poll_busy(&mut watch).is_empty());
    let events = poll_busy(&mut watch);
    assert_eq!(kinds(&events), [Kind::PcieLink]);
    assert_eq!(events[0].occurrence.detail.sample.value, Some(2.5e9));
    for _ in 0..3 {
        assert!(poll_busy(&mut watch).is_empty(), "once");
        assert!(poll(&mut watch).is_empty());
    }
    let again = (0..2000).filter(|nth| match nth % 100 {
        0 => !poll_busy(&mut watch).is_empty(),
        _ => !poll(&mut watch).is_empty(),
    });
    assert_eq!(
        again.count(),
        3,
        "a link that stays slow is reported again, also of a GPU that is rarely busy"
    );
    sys.write(GPU, "current_link_speed", "32.0 GT/s PCIe");
    assert!(poll_busy(&mut watch).is_empty());
}

#[test]
fn a_poll_out_of_turn_sees_what_is_lost_and_leaves_speeds_to_the_polls() {
    let sys = Sys::host();
    sys.write(GPU, "current_link_speed", "2.5 GT/s PCIe");
    let mut watch = sys.watch();
    assert!(watch.poll(|_| true).unwrap().events.is_empty());
    for _ in 0..5 {
        assert!(watch.poll_now().unwrap().events.is_empty());
    }
    // The second poll in a row, as if none had looked.
    assert_eq!(watch.poll(|_| true).unwrap().events.len(), 1);
    sys.remove(GPU);
    let lost = watch.poll_now().unwrap().events;
    assert_eq!(kinds(&lost), [Kind::GpuLost]);
    assert!(watch.poll(|_| true).unwrap().events.is_empty(), "once");
}

/// sysfs shows `Unknown` for a speed code that the kernel does not know, and 0 or 255 lanes where
/// there is no link register or it reads all ones.
#[test]
fn a_link_whose_maximum_is_not_known_is_not_judged() {
    for (speed, width) in [
        ("Unknown\n", "255\n"),
        ("Unknown speed\n", "0\n"),
        ("\n", "\n"),
        ("16.0 GT/s PCIe\n", "0\n"),
    ] {
        let sys = Sys::host();
        sys.write(GPU, "max_link_speed", speed);
        sys.write(GPU, "max_link_width", width);
        sys.write(GPU, "current_link_speed", "16.0 GT/s PCIe\n");
        sys.write(GPU, "current_link_width", "4\n");
        let mut watch = sys.watch();
        for _ in 0..3 {
            let report = watch.poll(|_| true).unwrap();
            assert!(report.events.is_empty(), "{speed:?} {:?}", report.events);
            let link = report.gpus[0].link.unwrap();
            assert_eq!((link.width, link.max_width), (Some(4), None));
        }
    }
    let sys = Sys::host();
    sys.write(GPU, "current_link_speed", "Unknown\n");
    sys.write(GPU, "current_link_width", "255\n");
    assert!(sys.watch().poll(|_| true).unwrap().events.is_empty());
    // The port's own maximum missing is no reason to leave the device's out.
    let sys = Sys::host();
    sys.write(PORT, "max_link_width", "255\n");
    sys.write(GPU, "current_link_width", "8\n");
    let events = poll(&mut sys.watch());
    assert_eq!(events.len(), 1, "without NVML");
    assert_eq!(events[0].occurrence.detail.sample.max_width, Some(16));
}

#[test]
fn garbage_in_sysfs_is_passed_over() {
    let sys = Sys::host();
    for file in [
        "aer_dev_correctable",
        "current_link_speed",
        "current_link_width",
        "max_link_width",
    ] {
        sys.write(
            GPU,
            file,
            b"\xff\x00garbage 99999999999999999999999\n\n\t\n",
        );
    }
    sys.write(GPU, "numa_node", "-1");
    sys.write(GPU, "device", "");
    sys.write(OTHER, "class", "0xzz");
    sys.write(OTHER, "config", "");
    sys.add(&["weird name"], "0x10de", "0x030000");
    let mut watch = sys.watch();
    for _ in 0..2 {
        let report = watch.poll(|_| true).unwrap();
        assert!(report.events.is_empty(), "{:?}", report.events);
        assert_eq!(report.gpus.len(), 1);
        assert_eq!((report.gpus[0].id, report.gpus[0].numa_node), (None, None));
    }
}

#[test]
fn metrics_name_every_counter_of_devices_and_ports() {
    let sys = Sys::host();
    sys.aer(ROOT, 7, 0);
    sys.write(ROOT, "aer_rootport_total_err_cor", "9\n");
    let mut watch = sys.watch();
    let metrics = watch.poll(|_| false).unwrap().aer.metrics;
    let find = |name: &str, labels: &[(&str, &str)]| {
        let found = metrics.iter().find(|m| {
            m.name == name
                && labels
                    .iter()
                    .all(|(k, v)| m.labels.contains(&(*k, (*v).to_owned())))
        });
        found.map(|m| m.value)
    };
    let labels = [
        ("device", ROOT),
        ("severity", "correctable"),
        ("error", "RxErr"),
    ];
    assert_eq!(find("gtrace_pci_aer_errors", &labels), Some(7.0));
    assert_eq!(
        find("gtrace_pci_aer_root_port_messages", &[("device", ROOT)]),
        Some(9.0)
    );
    assert_eq!(
        find(
            "gtrace_pci_aer_errors",
            &[("device", GPU), ("error", "DLP")]
        ),
        Some(0.0)
    );
}

#[test]
fn a_device_whose_configuration_space_hangs_holds_up_no_other() {
    let sys = Sys::host();
    let mut watch = sys.watch();
    let (stuck, other) = (pci(GPU), pci(OTHER));
    let first = watch.poll(|_| false).unwrap();
    let link = |report: &PciReport, at| {
        let gpu = report.gpus.iter().find(|gpu| gpu.pci == at).unwrap();
        (gpu.link.is_some(), gpu.unanswered)
    };
    assert_eq!(link(&first, stuck), (true, false));

    let _config = Stuck::at(sys.device(GPU).join("config"));
    for _ in 0..3 {
        let report = watch.poll(|_| false).unwrap();
        // Its link is not of now.
        assert_eq!(link(&report, stuck), (false, true));
        assert_eq!(link(&report, other), (true, false));
        assert!(report.events.is_empty(), "{:?}", report.events);
    }
    // The other one is watched as before.
    sys.write(OTHER, "config", [0xff; 4]);
    let lost = (0..)
        .find_map(|_| watch.poll_now().unwrap().events.pop())
        .unwrap();
    assert_eq!(lost.occurrence.kind, Kind::GpuLost);
    assert_eq!(lost.occurrence.gpu.unwrap().pci, Some(other));
}

#[test]
fn a_device_whose_error_counters_hang_holds_up_no_other() {
    let sys = Sys::host();
    sys.aer(GPU, 3, 0);
    sys.aer(OTHER, 5, 0);
    let mut watch = sys.watch();
    poll(&mut watch);
    let _counters = Stuck::at(sys.device(GPU).join("aer_dev_correctable"));
    sys.aer(OTHER, 6, 0);
    let report = watch.poll(|_| false).unwrap();
    let counted: Vec<_> = report.events.iter().map(|e| (gpu_of(e), e.count)).collect();
    assert_eq!(counted, [(Some(pci(OTHER)), 1)]);
    let report = watch.poll(|_| false).unwrap();
    assert!(report.events.is_empty());
    assert_eq!(report.aer.unanswered, [pci(GPU)]);
    let of = |device: &str| {
        let label = ("device", device.to_owned());
        let metrics = &report.aer.metrics;
        metrics.iter().filter(|m| m.labels.contains(&label)).count()
    };
    assert_eq!(of(GPU), 0, "what was read earlier is not of now");
    assert!(of(OTHER) > 0);
}
