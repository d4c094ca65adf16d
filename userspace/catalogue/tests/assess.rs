//! What the decoded detail of an event changes in severity, meaning and action.
// clippy sees only the functions marked #[test] as tests, not their helpers.
#![allow(clippy::unwrap_used)]

use gtrace_catalogue::Catalogue;
use gtrace_event::Severity::{Critical, Fatal, Info, Warning};
use gtrace_event::{
    Action, Advice, Detail, Gpu, Kind, Occurrence, Provenance, Severity, SlotChange,
};
use serde_json::Value;

fn occurrence(kind: Kind, fill: impl FnOnce(&mut Detail)) -> Occurrence {
    let mut occ = Occurrence::new(kind, Severity::Info, "");
    occ.provenance = Provenance::Kernel;
    fill(&mut occ.detail);
    occ
}

fn assess(mut occ: Occurrence) -> (Severity, Advice) {
    let advice = Catalogue::builtin().assess(&mut occ);
    (occ.severity, advice)
}

/// Assesses an occurrence a line: its kind, what its detail has, and behind `=` severity and, unless it is left out, rule.
fn table(cases: &str) {
    for case in cases.lines().filter(|case| !case.is_empty()) {
        let (given, want) = case.split_once(" = ").unwrap();
        let (kind, detail) = given.split_once(' ').unwrap_or((given, "{}"));
        let fields: Value = serde_json::from_str(detail).unwrap();
        let (severity, advice) = assess(occurrence(kind.parse().unwrap(), |d| {
            *d = serde_json::from_value(fields.clone()).unwrap();
            assert_eq!(serde_json::to_value(&*d).unwrap(), fields);
        }));
        let (want, of) = want.split_once(' ').unwrap_or((want, rule(&advice)));
        assert_eq!((severity.name(), rule(&advice)), (want, of), "{case}");
    }
}

fn xid(code: u32, fill: impl FnOnce(&mut Detail)) -> (Severity, Advice) {
    assess(occurrence(Kind::Xid, |d| {
        d.xid.xid = Some(code);
        fill(d);
    }))
}

fn rule(advice: &Advice) -> &str {
    advice.rule.as_deref().unwrap_or("")
}

fn meaning(advice: &Advice) -> &str {
    advice.meaning.as_deref().unwrap_or("")
}

#[test]
fn a_gpu_off_the_bus_pages_and_a_programs_own_fault_does_not() {
    let (severity, advice) = xid(79, |_| {});
    assert_eq!((severity, rule(&advice)), (Fatal, "xid:79"));
    assert_eq!(advice.action.map(Action::name), Some("page"));
    for code in [13, 31, 43, 45] {
        let (severity, advice) = xid(code, |_| {});
        assert_eq!(severity, Warning, "{code}");
        assert_eq!(advice.action.map(Action::name), Some("log"), "{code}");
    }
}

#[test]
fn every_code_and_kind_gets_meaning_steps_action_and_rule() {
    let whole = |(_, a): (Severity, Advice)| {
        assert!(!meaning(&a).is_empty() && !a.vendor.is_empty(), "{a:?}");
        assert!(
            matches!(a.action.map(Action::name), Some("page" | "ticket" | "log")),
            "{a:?}"
        );
        assert!(!rule(&a).is_empty());
    };
    (0..200).for_each(|code| whole(xid(code, |_| {})));
    for e in Catalogue::builtin().sxids() {
        whole(assess(occurrence(Kind::Sxid, |d| {
            d.fabric.sxid = Some(e.code)
        })));
    }
    for kind in Kind::ALL {
        whole(assess(occurrence(kind, |_| {})));
    }
}

#[test]
fn an_unknown_code_says_so_and_opens_a_ticket() {
    for (severity, advice) in [
        xid(9999, |_| {}),
        assess(occurrence(Kind::Sxid, |d| d.fabric.sxid = Some(9999))),
    ] {
        assert_eq!(severity, Warning);
        assert!(meaning(&advice).contains("this version's catalogue does not have"));
        assert!(rule(&advice).ends_with(":unknown"));
        assert_eq!(advice.action.map(Action::name), Some("ticket"));
    }
}

#[test]
fn memory_errors_follow_the_resets_that_the_driver_asks_for() {
    table(
        r#"
xid {"xid": 94} = warning
xid {"xid": 94, "reset_required": false, "drain_reset_required": false} = warning
xid {"xid": 94, "reset_required": false, "drain_reset_required": true} = critical
xid {"xid": 94, "reset_required": true, "drain_reset_required": false} = fatal
xid {"xid": 95} = fatal
xid {"xid": 95, "reset_required": true, "drain_reset_required": false} = fatal
xid {"xid": 95, "reset_required": false, "drain_reset_required": false} = critical
"#,
    );
}

#[test]
fn recovery_actions_go_by_the_new_one() {
    for (to, want, name) in [
        ("None", Info, "xid:154:none"),
        ("GPU Reset Required", Fatal, "xid:154:gpu_reset"),
        ("Node Reboot Required", Fatal, "xid:154:node_reboot"),
        ("Drain P2P", Critical, "xid:154:drain_p2p"),
        ("Drain and Reset", Critical, "xid:154:drain_and_reset"),
        (
            "Recover IMEX Domain",
            Critical,
            "xid:154:recover_imex_domain",
        ),
        ("Bus Reset", Fatal, "xid:154:bus_reset"),
        ("System Reboot", Fatal, "xid:154:system_reboot"),
        ("Something New", Critical, "xid:154:unknown"),
    ] {
        let (severity, advice) = xid(154, |d| d.xid.recovery_to = Some(to.to_owned()));
        assert_eq!((severity, rule(&advice)), (want, name), "{to}");
        // NVML reads the same.
        let read = occurrence(Kind::RecoveryAction, |d| {
            d.xid.recovery_to = Some(to.to_owned());
        });
        let (severity, advice) = assess(read);
        let name = name.replace("xid:154", "recovery_action");
        assert_eq!((severity, rule(&advice)), (want, &*name), "{to}");
    }
}

#[test]
fn a_channel_removed_because_of_another_xid_points_to_it() {
    let (severity, advice) = xid(45, |d| d.xid.caused_by_xid = Some(31));
    assert_eq!((severity, rule(&advice)), (Info, "xid:45:caused"));
    assert!(advice.vendor.iter().any(|s| s.contains("Xid 31")));
}

fn nvlink5(
    code: u32,
    unit: &str,
    severity_text: &str,
    sub: u32,
    status: &str,
) -> (Severity, Advice) {
    xid(code, |d| {
        d.xid.sub_unit = Some(unit.to_owned());
        d.xid.sub_severity = Some(severity_text.to_owned());
        d.xid.sub_code = Some(sub);
        d.xid.words = vec!["0x40988e2".to_owned(), status.to_owned()];
        d.fabric.link = Some(12);
    })
}

#[test]
fn nvlink5_goes_by_unit_sub_code_and_status() {
    let (severity, advice) = nvlink5(145, "RLW_SRC_TRACK", "Nonfatal", 0, "0x8");
    assert_eq!(severity, Warning);
    assert!(advice.vendor[0].contains("Xid 154"), "{advice:?}");
    assert_eq!(nvlink5(145, "RLW_SRC_TRACK", "Fatal", 0, "0x1").0, Fatal);
    assert_eq!(nvlink5(145, "RLW_SRC_TRACK", "Nonfatal", 0, "0x2").0, Info);
    // Raised by the driver from a row that is non-fatal as a rule.
    let (severity, advice) = nvlink5(145, "RLW_RXPIPE", "Fatal", 0, "0x2");
    assert_eq!(severity, Fatal);
    assert!(advice.vendor[0].contains("reset"), "{advice:?}");
    // Not in the public decode: the line's word decides.
    assert_eq!(nvlink5(146, "TLW_NEW", "Nonfatal", 9, "0x7").0, Warning);
    assert_eq!(nvlink5(146, "TLW_NEW", "Fatal", 9, "0x7").0, Fatal);
}

#[test]
fn nvlink5_link_down_names_link_and_reason() {
    let (severity, advice) = nvlink5(149, "NETIR_LINK_DOWN", "Fatal", 0x23, "0x0");
    assert_eq!(severity, Fatal);
    assert!(meaning(&advice).contains("link 12"), "{advice:?}");
    assert!(meaning(&advice).contains("too hot"), "{advice:?}");
}

#[test]
fn nvlink4_status_bits_may_take_the_alarm_back() {
    table(
        r#"
xid {"xid": 74} = fatal
xid {"xid": 74, "words": ["0x1", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0"]} = info
xid {"xid": 74, "words": ["0x200000", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0"]} = warning
xid {"xid": 74, "words": ["0x2", "0x0", "0x0", "0x10000", "0x0", "0x0", "0x0"]} = warning
xid {"xid": 74, "words": ["0x0", "0x0", "0x0", "0x0", "0x100000", "0x0", "0x0"]} = warning
xid {"xid": 74, "words": ["0x10", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0"]} = fatal
xid {"xid": 74, "words": ["0x1", "0x0", "0x1", "0x0", "0x0", "0x0", "0x0"]} = fatal
"#,
    );
}

#[test]
fn nvlink4_status_words_are_read_from_the_text_too() {
    let mut occ = occurrence(Kind::Xid, |d| d.xid.xid = Some(74));
    occ.message = "NVRM: Xid (PCI:0000:3b:00): 74, pid=1, NVLink: fatal error detected on link 5\
                   (0x200000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"
        .to_owned();
    let (severity, advice) = assess(occ);
    assert_eq!((severity, rule(&advice)), (Warning, "xid:74:marginal"));
}

#[test]
fn aer_goes_by_class() {
    for (word, want, action) in [
        ("Corrected", Info, "log"),
        ("Correctable", Info, "log"),
        ("Uncorrected (Non-Fatal)", Warning, "ticket"),
        ("Uncorrectable (Fatal)", Critical, "page"),
    ] {
        let (severity, advice) = assess(occurrence(Kind::Aer, |d| {
            d.aer.severity = Some(word.to_owned());
        }));
        assert_eq!(severity, want, "{word}");
        assert_eq!(advice.action.map(Action::name), Some(action), "{word}");
    }
}

#[test]
fn containment_and_failed_recovery_page_and_a_recovery_is_good_news() {
    table(
        r#"
aer {"dpc_reason": "ERR_FATAL"} = critical aer:contained
aer {"recovery": "failed"} = critical aer:recovery_failed
aer {"recovery": "successful"} = info aer:recovered
"#,
    );
}

#[test]
fn a_slot_that_loses_its_gpu_pages_and_what_somebody_asked_for_does_not() {
    let of = |change: SlotChange, gpu: bool, several: bool| {
        let mut occ = occurrence(Kind::PcieHotplug, |d| d.pcie.hotplug = Some(change));
        let at = "0000:3b:00.0".parse().unwrap();
        occ.gpu = gpu.then(|| Gpu::at(at));
        if several {
            occ.detail.pcie.gpus_below = vec![at, "0000:3c:00.0".parse().unwrap()];
        }
        let (severity, advice) = assess(occ);
        (severity, rule(&advice).to_owned())
    };
    for change in SlotChange::ALL {
        let alone = of(change, false, false);
        let with_gpu = of(change, true, false);
        assert_eq!(with_gpu, of(change, false, true), "{change:?}");
        let want = match (change.is_surprise(), change.is_failure()) {
            (true, _) => (Warning, Critical),
            (_, true) => (Warning, Critical),
            _ => (Info, Info),
        };
        assert_eq!((alone.0, with_gpu.0), want, "{change:?}");
    }
    let rule = |change, gpu| of(change, gpu, false).1;
    assert_eq!(rule(SlotChange::LinkDown, true), "pcie_hotplug:gpu_gone");
    assert_eq!(rule(SlotChange::LinkDown, false), "pcie_hotplug:surprise");
    assert_eq!(rule(SlotChange::CardPresent, true), "pcie_hotplug:arrived");
    assert_eq!(
        rule(SlotChange::PoweringOff, true),
        "pcie_hotplug:requested"
    );
    assert_eq!(rule(SlotChange::PowerFault, true), "pcie_hotplug:failed");
    assert_eq!(assess(occurrence(Kind::PcieHotplug, |_| {})).0, Warning);
}

#[test]
fn a_link_that_the_kernel_calls_limited_is_a_fault_only_of_a_gpu_with_fewer_lanes() {
    let of = |width, gpu: bool| {
        let mut occ = occurrence(Kind::PcieLink, |d| {
            d.pcie.bandwidth_gbps = Some(63.008);
            d.pcie.max_bandwidth_gbps = Some(126.016);
            d.pcie.limited_by = Some("0000:3a:00.0".parse().unwrap());
            d.sample.width = Some(width);
            d.sample.max_width = Some(16);
        });
        occ.gpu = gpu.then(|| Gpu::at("0000:3b:00.0".parse().unwrap()));
        assess(occ)
    };
    let (severity, advice) = of(8, true);
    assert_eq!((severity, rule(&advice)), (Warning, "pcie_link:limited"));
    assert!(
        advice
            .meaning
            .unwrap()
            .contains("The link at 0000:3a:00.0 is the limit.")
    );
    assert_eq!(of(16, true).0, Info, "the speed alone");
    assert_eq!(of(8, false).0, Info, "a disk, an adapter");
}

#[test]
fn sxids_believe_the_line_over_the_table() {
    table(
        r#"
sxid {"sxid": 12028, "scope": "Non-fatal"} = warning
sxid {"sxid": 12028, "scope": "Fatal"} = critical
sxid {"sxid": 20034, "scope": "Fatal"} = fatal
sxid {"sxid": 20034} = fatal
sxid {"sxid": 20034, "scope": "Non-fatal"} = warning
sxid {"sxid": 10005} = info
sxid {"sxid": 99999, "scope": "Fatal"} = critical
"#,
    );
}

#[test]
fn ends_of_processes_go_by_signal_and_status() {
    table(
        r#"
gpu_process_exit {"exit_code": 0} = info gpu_process_exit:ok
gpu_process_exit {"exit_code": 1} = warning gpu_process_exit:failed
gpu_process_exit {"signal": 9} = warning gpu_process_exit:killed
gpu_process_exit {"signal": 11} = warning gpu_process_exit:crashed
gpu_process_exit {"signal": 15} = info gpu_process_exit:stopped
gpu_process_exit {"exit_code": 137} = warning gpu_process_exit:killed
gpu_process_exit {"exit_code": 139} = warning gpu_process_exit:crashed
gpu_process_exit {"exit_code": 0, "signal": 0} = info gpu_process_exit:ok
"#,
    );
}

#[test]
fn throttling_goes_by_the_worst_reason_however_it_is_spelt() {
    table(
        r#"
throttle {"reasons": ["SwPowerCap"]} = info
throttle {"reasons": ["GpuIdle"]} = info
throttle {"reasons": ["SwThermalSlowdown"]} = warning
throttle {"reasons": ["HwSlowdown"]} = warning
throttle {"reasons": ["SwPowerCap", "HwSlowdown", "HwThermalSlowdown"]} = critical
throttle {"reasons": ["HW_POWER_BRAKE_SLOWDOWN"]} = critical
throttle {"reasons": ["hw_thermal_slowdown"]} = critical
"#,
    );
}

#[test]
fn readings_go_by_what_rose() {
    table(
        r#"
ecc {"metric": "ecc_volatile_uncorrected_total", "value": 1.0} = critical
ecc {"metric": "ecc_volatile_corrected_total", "value": 1.0} = info
ecc {"metric": "ecc_volatile_corrected_total", "value": 9.0, "limit": 5.0} = warning
row_remap {"metric": "row_remap_pending", "value": 1.0} = warning
row_remap {"metric": "row_remap_pending", "value": 0.0} = info
row_remap {"metric": "row_remap_failure", "value": 1.0} = critical
row_remap {"metric": "row_remap_uncorrectable", "value": 1.0} = warning
nvlink {"metric": "nvlink_crc_errors_total", "value": 5.0} = warning
nvlink {"metric": "nvlink_state", "value": 0.0} = critical
pcie_link {"metric": "pcie_replay_total", "value": 3.0} = info
"#,
    );
}

#[test]
fn worn_out_on_chip_memory_is_a_replacement_and_a_repair_a_reset() {
    let of = |kind, metric: &str| {
        let (severity, advice) = assess(occurrence(kind, |d| {
            d.sample.metric = Some(metric.to_owned());
        }));
        (severity, rule(&advice).to_owned(), advice.vendor.join(" "))
    };
    let (severity, rule, vendor) = of(Kind::Ecc, "gtrace_gpu_sram_threshold_exceeded");
    assert_eq!((severity, rule.as_str()), (Critical, "ecc:sram_threshold"));
    assert!(vendor.contains("replacement"), "{vendor}");
    let mut full = occurrence(Kind::RowRemap, |_| {});
    "Nearly all pages of GPU memory that can be retired are".clone_into(&mut full.message);
    let (severity, advice) = assess(full);
    assert_eq!(severity, Critical);
    assert_eq!(advice.rule.as_deref(), Some("row_remap:retired_full"));
    let (severity, rule, vendor) = of(Kind::RowRemap, "gtrace_gpu_repair_pending");
    assert_eq!((severity, rule.as_str()), (Warning, "row_remap:repair"));
    assert!(vendor.contains("reset"), "{vendor}");
}

#[test]
fn what_the_fabric_manager_logs_has_steps_of_its_own() {
    let of = |error: &str| {
        let (severity, advice) = assess(occurrence(Kind::ServiceFailed, |d| {
            d.host.error = Some(error.to_owned());
        }));
        (severity, rule(&advice).to_owned(), advice.vendor.join(" "))
    };
    let (severity, rule, vendor) = of("topology");
    assert_eq!(
        (severity, rule.as_str()),
        (Critical, "service_failed:topology")
    );
    assert!(vendor.contains("lspci"), "{vendor}");
    let (severity, rule, vendor) = of("multicast");
    assert_eq!(
        (severity, rule.as_str()),
        (Warning, "service_failed:multicast")
    );
    assert!(vendor.contains("Fabric"), "{vendor}");
}

#[test]
fn nvlinks_that_were_not_detected_are_no_counters_that_rose() {
    let (severity, advice) = assess(occurrence(Kind::Nvlink, |d| {
        d.host.error = Some("receiver detection failed".to_owned());
    }));
    assert_eq!((severity, rule(&advice)), (Warning, "nvlink:undetected"));
    assert!(!meaning(&advice).contains("counters"), "{advice:?}");
}

#[test]
fn an_nvlink_with_too_many_bit_errors_and_one_that_failed_to_recover() {
    let of = |message: &str, error: Option<&str>| {
        let mut occ = occurrence(Kind::Nvlink, |d| {
            d.fabric.link = Some(7);
            d.host.error = error.map(str::to_owned);
            d.sample.metric = Some("gtrace_gpu_nvlink_bit_error_ratio".to_owned());
        });
        occ.message = message.to_owned();
        let (severity, advice) = assess(occ);
        let about = (rule(&advice).to_owned(), meaning(&advice).to_owned());
        (severity, about.0, about.1)
    };
    let (severity, rule, meaning) = of("NVLink 7 has more bit errors", Some("bit error rate"));
    assert_eq!((severity, rule.as_str()), (Warning, "nvlink:bit_errors"));
    assert!(meaning.contains("link 7") && meaning.contains("10^12"));
    let (severity, rule, _) = of("none any more", Some("bit error rate is within its limit"));
    assert_eq!((severity, rule.as_str()), (Info, "nvlink:ok"));
    let text = "NVLink 7 could not be recovered, and went down";
    let (severity, rule, _) = of(text, None);
    assert_eq!((severity, rule.as_str()), (Critical, "nvlink:down"));
    let (severity, rule, _) = of("NVLink 7 counted link_integrity errors", None);
    assert_eq!((severity, rule.as_str()), (Warning, "nvlink"));
}

#[test]
fn crc_errors_of_an_nvlink_are_no_warning_below_the_rate_of_dcgm() {
    let of = |message: &str, error: Option<&str>| {
        let mut occ = occurrence(Kind::Nvlink, |d| {
            d.host.error = error.map(str::to_owned);
            d.sample.metric = Some("gtrace_gpu_nvlink_errors".to_owned());
        });
        message.clone_into(&mut occ.message);
        let (severity, advice) = assess(occ);
        (severity, rule(&advice).to_owned())
    };
    for name in ["crc_flit", "crc_data"] {
        let few = of(&format!("NVLink 3 counted {name} errors"), None);
        assert_eq!(few, (Info, "nvlink:crc".to_owned()));
        let text = format!("NVLinks counted 100 {name} errors a second or more");
        let many = of(&text, Some("CRC error rate"));
        assert_eq!(many, (Warning, "nvlink:crc_errors".to_owned()));
    }
    let replay = of("NVLink 3 counted replay errors", None);
    assert_eq!(replay, (Warning, "nvlink".to_owned()));
}

#[test]
fn a_narrow_pcie_link_is_worse_than_a_slow_one() {
    table(
        r#"
pcie_link {"width": 8, "max_width": 16, "speed": "32.0 GT/s PCIe", "max_speed": "32.0 GT/s PCIe"} = warning
pcie_link {"width": 16, "max_width": 16, "speed": "2.5 GT/s PCIe", "max_speed": "32.0 GT/s PCIe"} = info
"#,
    );
    let mut occ = occurrence(Kind::PcieLink, |d| {
        d.sample.speed = Some("8 GT/s".to_owned());
        d.sample.max_speed = Some("32 GT/s".to_owned());
    });
    occ.message = "PCIe link runs at 8 of 32 GT/s while the GPU is busy".to_owned();
    assert_eq!(assess(occ).0, Warning);
}

#[test]
fn oom_kills_distinguish_a_full_host_from_a_full_control_group() {
    let of = |constraint: &str| {
        assess(occurrence(Kind::OomKill, |d| {
            d.host.constraint = Some(constraint.to_owned());
            d.host.limit_cgroup = Some("/slurm/job_1".to_owned());
        }))
    };
    let (severity, advice) = of("CONSTRAINT_MEMCG");
    assert_eq!((severity, advice.action), (Warning, Some(Action::Ticket)));
    let text = format!("{} {}", advice.meaning.unwrap(), advice.vendor.join(" "));
    assert!(
        text.contains("/slurm/job_1") && text.contains("limit"),
        "{text}"
    );
    for wrong in ["memory of the host ran out", "larger host"] {
        assert!(!text.contains(wrong), "{text}");
    }
    let (severity, advice) = of("CONSTRAINT_NONE");
    assert_eq!((severity, advice.action), (Critical, Some(Action::Page)));
    assert!(
        advice
            .meaning
            .unwrap()
            .contains("memory of the host ran out")
    );
}

#[test]
fn slow_calls_are_worse_far_beyond_their_threshold() {
    table(
        r#"
slow_call {"latency_ns": 200, "threshold_ns": 100} = info
slow_call {"latency_ns": 1000, "threshold_ns": 100} = warning
slow_call {"latency_ns": 1000, "threshold_ns": 0} = warning
slow_call = info
"#,
    );
}

#[test]
fn names_and_actions_can_be_asked_for() {
    let catalogue = Catalogue::builtin();
    let mut occ = occurrence(Kind::Xid, |d| d.xid.xid = Some(119));
    assert_eq!(catalogue.name(&occ), Some("GSP_RPC_TIMEOUT"));
    assert_eq!(catalogue.action(&occ), Action::Page);
    occ.detail.xid.xid = Some(9999);
    assert_eq!(catalogue.name(&occ), None);
}

#[test]
fn faults_of_the_host_go_by_what_the_kernel_said() {
    table(
        r#"
gpu_hang {"error": "RC watchdog"} = warning gpu_hang:watchdog
gpu_hang {"error": "repeated GSP RPC errors"} = critical gpu_hang:gsp
iommu_fault {"error": "IO_PAGE_FAULT"} = warning iommu_fault
cpu_stall {"error": "hard lockup"} = critical cpu_stall:hard_lockup
cpu_stall {"error": "RCU stall"} = warning cpu_stall:rcu
cpu_stall {"error": "RCU thread starved"} = warning cpu_stall:rcu
cpu_stall {"error": "work queue stuck"} = warning cpu_stall:work_queue
machine_check {"error": "machine check", "corrected": true} = info machine_check:corrected
machine_check {"error": "machine check", "corrected": false} = critical machine_check:uncorrected
machine_check {"error": "deferred error", "corrected": false} = critical machine_check:deferred
dimm_error {"error": "memory read error", "corrected": true} = info dimm_error:corrected
dimm_error {"error": "memory read error", "corrected": false} = critical dimm_error:uncorrected
efa_error {"error": "admin queue closed"} = critical efa_error
efa_error {"error": "command failed"} = warning efa_error:command
netfs_stall {"error": "not responding"} = warning netfs_stall
netfs_stall {"error": "timed out"} = warning netfs_stall:timed_out
netfs_stall {"error": "answers again"} = info netfs_stall:ok
service_failed {"error": "failed"} = warning service_failed
service_failed {"error": "restarts"} = warning service_failed:restarts
service_failed {"error": "runs again"} = info service_failed:ok
disk_lost {"error": "reset failed"} = critical disk_lost
disk_lost {"error": "no usable path"} = warning disk_lost:path
raid_degraded {"error": "disk failed"} = warning raid_degraded
raid_degraded {"error": "array failed"} = critical raid_degraded:failed
io_error {"error": "I/O error"} = warning io_error
io_error {"error": "lost async page write"} = critical io_error:lost_write
fs_error {"error": "metadata corrupt"} = warning fs_error
fs_error {"error": "journal aborted"} = critical fs_error:journal
host_restart {"error": "no shutdown"} = warning host_restart
host_restart {"error": "Fatal exception"} = critical host_restart:panic
kernel_panic {"error": "x"} = fatal kernel_panic
kernel_oops {"error": "x"} = critical kernel_oops
file_limit {"error": ""} = critical file_limit
cpu_throttle {"error": "core"} = warning cpu_throttle
"#,
    );
    let mut fatal = occurrence(Kind::MachineCheck, |d| d.host.corrected = Some(false));
    fatal.severity = Fatal;
    let (severity, advice) = assess(fatal);
    assert_eq!((severity, rule(&advice)), (Fatal, "machine_check:fatal"));
    let mut of_gpu = occurrence(Kind::IommuFault, |_| {});
    of_gpu.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
    let (severity, advice) = assess(of_gpu);
    assert_eq!((severity, rule(&advice)), (Critical, "iommu_fault:gpu"));
}
