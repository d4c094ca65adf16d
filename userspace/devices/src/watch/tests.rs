use gtrace_event::{PciAddress, Timestamp};

use super::*;
use crate::{
    ClockEventReasons as Reasons, EccErrors, GpuInfo, GpuProcess, LicenseTerm, MigInstance,
    MigMode, NvLinkSample, ProcessType, SramEcc, VgpuLicense,
};

struct Bench {
    watch: SampleWatch,
    gpu: Gpu,
    second: i64,
    /// How the GPU stands by the newest sample.
    standing: Vec<Observed>,
}

impl Bench {
    fn new() -> Self {
        let gpu = Gpu::at(PciAddress::parse("0000:3b:00.0").unwrap());
        Self {
            watch: SampleWatch::new(),
            gpu,
            second: 0,
            standing: Vec::new(),
        }
    }

    /// A sample five seconds after the one before.
    fn see(&mut self, fill: impl FnOnce(&mut GpuSample)) -> Vec<Observed> {
        self.second += 5;
        let mut sample = GpuSample::at(Timestamp::from_second(self.second).unwrap());
        fill(&mut sample);
        let events = self.watch.observe(&self.gpu, &sample);
        let known: Vec<_> = every_metric();
        self.standing = self.watch.standing();
        for event in events.iter().chain(&self.standing) {
            let o = &event.occurrence;
            assert_eq!(
                (event.witness, o.provenance),
                (WitnessName::Nvml, Provenance::Kernel)
            );
            let metric = o.detail.sample.metric.as_deref().unwrap();
            assert!(known.contains(&metric), "{metric} is not among the metrics");
        }
        events
    }
}

/// Names of the metrics of a GPU that supports everything.
fn every_metric() -> Vec<&'static str> {
    let mut gpu = GpuInfo::at(PciAddress::parse("0000:3b:00.0").unwrap());
    let mut s = GpuSample::at(Timestamp::UNIX_EPOCH);
    let counts = Some(EccErrors {
        corrected: Some(0),
        uncorrected: Some(0),
    });
    s.ecc.volatile = counts;
    s.violations.power = Some(0);
    s.clock_event_reasons = Some(Reasons(0));
    (s.remapped_rows.pending, s.remapped_rows.failure) = (Some(false), Some(false));
    (s.remapped_rows.correctable, s.retired_pages.single_bit) = (Some(0), Some(0));
    s.retired_pages.pending = Some(false);
    s.repair.channel_pending = Some(false);
    s.ecc.sram = Some(worn(false));
    (s.pcie_replays, s.memory.used) = (Some(0), Some(0));
    s.mig = Some(MigMode::default());
    s.vgpu_license = Some(license(true));
    s.recovery_action = Some(0);
    s.nvlinks = vec![NvLinkSample {
        active: Some(true),
        replay: Some(0),
        effective_ber: Some(0.0),
        ..Default::default()
    }];
    gpu.sample = Some(s);
    crate::metrics(&[gpu]).iter().map(|m| m.name).collect()
}

fn texts(events: &[Observed]) -> Vec<&str> {
    events
        .iter()
        .map(|e| e.occurrence.message.as_str())
        .collect()
}

#[test]
fn a_protective_reason_is_one_event_for_as_long_as_it_lasts() {
    let mut bench = Bench::new();
    let hot = |s: &mut GpuSample| s.clock_event_reasons = Some(Reasons::HW_THERMAL_SLOWDOWN);
    assert!(bench.see(|_| {}).is_empty());
    let events = bench.see(hot);
    assert_eq!(events.len(), 1);
    let throttle = &events[0].occurrence;
    assert_eq!(
        (throttle.kind, throttle.severity),
        (Kind::Throttle, Severity::Warning)
    );
    assert_eq!(throttle.detail.sample.reasons, ["HwThermalSlowdown"]);
    for _ in 0..30 {
        assert!(bench.see(hot).is_empty());
        assert!(bench.see(|_| {}).is_empty(), "comes and goes");
    }
    for _ in 0..12 {
        assert!(bench.see(|_| {}).is_empty());
    }
    assert_eq!(
        bench.see(hot).len(),
        1,
        "after a quiet minute it is a new one"
    );
}

#[test]
fn a_protective_reason_that_lasts_is_reported_every_twenty_minutes_and_the_power_cap_once() {
    let mut bench = Bench::new();
    let mut reports = |reason: Reasons, minutes: usize| {
        let samples = (0..minutes * 12).map(|_| {
            let events = bench.see(|s| s.clock_event_reasons = Some(reason));
            events.len()
        });
        samples.collect::<Vec<_>>()
    };
    let hot = reports(Reasons::HW_THERMAL_SLOWDOWN, 61);
    let at = |reports: &[usize]| -> Vec<usize> {
        let all = reports.iter().enumerate();
        all.filter(|(_, n)| **n > 0).map(|(at, _)| at).collect()
    };
    assert_eq!(at(&hot), [0, 240, 480, 720]);
    assert_eq!(at(&reports(Reasons::SW_POWER_CAP, 61)), [0]);
}

#[test]
fn a_throttle_between_two_samples_shows_in_its_counter() {
    let mut bench = Bench::new();
    let at = |ns| move |s: &mut GpuSample| s.violations.hw_power_brake_slowdown = Some(ns);
    assert!(bench.see(at(7_000_000_000)).is_empty(), "long ago");
    assert!(bench.see(at(7_000_000_000)).is_empty());
    let events = bench.see(at(7_250_000_000));
    assert_eq!(
        texts(&events),
        ["Hardware halved the clocks or more: the system's power supply asked for it"]
    );
    let sample = &events[0].occurrence.detail.sample;
    assert_eq!((sample.previous, sample.value), (Some(7.0), Some(7.25)));
    assert_eq!(sample.reasons, ["HwPowerBrakeSlowdown"]);
}

#[test]
fn the_power_cap_is_for_information_and_idle_is_nothing() {
    let mut bench = Bench::new();
    let idle = Reasons(Reasons::GPU_IDLE.0 | Reasons::APPLICATIONS_CLOCKS_SETTING.0);
    assert!(bench.see(|s| s.clock_event_reasons = Some(idle)).is_empty());
    let events = bench.see(|s| s.clock_event_reasons = Some(Reasons::SW_POWER_CAP));
    assert_eq!(
        (events.len(), events[0].occurrence.severity),
        (1, Severity::Info)
    );
}

#[test]
fn a_bare_hardware_slowdown_must_last() {
    let mut bench = Bench::new();
    let slow = |s: &mut GpuSample| s.clock_event_reasons = Some(Reasons::HW_SLOWDOWN);
    assert!(
        bench.see(slow).is_empty(),
        "any change of the performance state shows it"
    );
    assert_eq!(
        texts(&bench.see(slow)),
        ["Hardware halved the clocks or more"]
    );
}

#[test]
fn the_thermal_policy_counts_where_single_reasons_have_no_counters() {
    let mut bench = Bench::new();
    let old = |ns| move |s: &mut GpuSample| s.violations.thermal = Some(ns);
    bench.see(old(1));
    assert_eq!(texts(&bench.see(old(2))), ["Clocks were lowered for heat"]);
    let mut bench = Bench::new();
    let new = |ns| {
        move |s: &mut GpuSample| {
            s.violations.thermal = Some(ns);
            s.violations.sw_thermal_slowdown = Some(ns);
        }
    };
    bench.see(new(1));
    assert_eq!(texts(&bench.see(new(2))).len(), 1);
}

#[test]
fn ecc_counts_the_rise_and_not_what_was_there() {
    let mut bench = Bench::new();
    let errors = |c, u| {
        Some(EccErrors {
            corrected: Some(c),
            uncorrected: Some(u),
        })
    };
    let both = |v: (u64, u64), a: (u64, u64)| {
        move |s: &mut GpuSample| {
            s.ecc.volatile = errors(v.0, v.1);
            s.ecc.aggregate = errors(a.0, a.1);
        }
    };
    assert!(bench.see(both((5, 1), (50, 10))).is_empty());
    let events = bench.see(both((8, 3), (53, 12)));
    let found: Vec<_> = events
        .iter()
        .map(|e| (e.occurrence.severity, e.count))
        .collect();
    assert_eq!(found, [(Severity::Critical, 2), (Severity::Info, 3)]);
    // The driver was loaded anew: the volatile counters are zero, the aggregate remembers.
    let events = bench.see(both((0, 0), (53, 13)));
    assert_eq!((events.len(), events[0].count), (1, 1));
    // Somebody cleared the aggregate.
    assert!(bench.see(both((0, 0), (2, 2))).is_empty());
}

fn worn(out: bool) -> SramEcc {
    SramEcc {
        threshold_exceeded: Some(out),
        ..SramEcc::default()
    }
}

#[test]
fn a_row_that_waits_or_failed_is_how_the_gpu_stands_until_it_is_news() {
    let mut bench = Bench::new();
    let rows = |pending, failure, uncorrectable| {
        move |s: &mut GpuSample| {
            s.remapped_rows.pending = Some(pending);
            s.remapped_rows.failure = Some(failure);
            s.remapped_rows.uncorrectable = Some(uncorrectable);
        }
    };
    assert!(bench.see(rows(true, true, 4)).is_empty());
    let stands = |bench: &Bench| -> Vec<_> {
        let standing = bench.standing.iter().map(|e| &e.occurrence);
        let rows = standing.filter(|o| o.kind == Kind::RowRemap);
        rows.map(|o| (o.kind, o.severity)).collect()
    };
    let both = [
        (Kind::RowRemap, Severity::Critical),
        (Kind::RowRemap, Severity::Warning),
    ];
    assert_eq!(stands(&bench), both);
    for _ in 0..11 {
        assert!(bench.see(rows(true, true, 4)).is_empty());
        assert!(stands(&bench).is_empty());
    }
    assert!(bench.see(rows(true, true, 4)).is_empty());
    assert_eq!(stands(&bench), both, "once a minute");
    assert!(bench.see(rows(false, true, 4)).is_empty());
    let events = bench.see(rows(true, true, 6));
    assert_eq!(
        texts(&events),
        [
            "Rows of GPU memory were remapped for uncorrectable errors",
            "A row of GPU memory waits for a GPU reset to be remapped"
        ]
    );
    assert_eq!((events[0].count, events[1].count), (2, 1));
}

#[test]
fn memory_that_is_worn_out_and_repairs_that_wait_for_a_reset_are_events() {
    let mut bench = Bench::new();
    let flags = |set: bool| {
        move |s: &mut GpuSample| {
            s.ecc.sram = Some(worn(set));
            s.retired_pages.single_bit = Some(40);
            s.retired_pages.double_bit = Some(if set { 23 } else { 22 });
            s.repair.channel_pending = Some(set);
            s.repair.tpc_pending = Some(set);
        }
    };
    assert!(bench.see(flags(false)).is_empty());
    let events = bench.see(flags(true));
    let found: Vec<_> = events
        .iter()
        .map(|e| (e.occurrence.kind, e.occurrence.severity))
        .collect();
    assert_eq!(
        found,
        [
            // One more page was retired.
            (Kind::RowRemap, Severity::Warning),
            (Kind::Ecc, Severity::Critical),
            (Kind::RowRemap, Severity::Critical),
            (Kind::RowRemap, Severity::Warning),
            (Kind::RowRemap, Severity::Warning)
        ]
    );
    // A reading that failed says nothing.
    assert!(bench.see(|_| {}).is_empty());
    assert!(bench.see(flags(true)).is_empty());
}

#[test]
fn an_nvlink_that_goes_down_or_counts_errors() {
    let mut bench = Bench::new();
    let links = |up: bool, recovery, crc| {
        move |s: &mut GpuSample| {
            let link = NvLinkSample {
                link: 3,
                active: Some(up),
                ..NvLinkSample::default()
            };
            let ok = NvLinkSample {
                link: 4,
                active: Some(false),
                ..NvLinkSample::default()
            };
            s.nvlinks = vec![
                NvLinkSample {
                    recovery: Some(recovery),
                    crc_data: Some(crc),
                    ..link
                },
                ok,
            ];
        }
    };
    assert!(
        bench.see(links(true, 1, 9)).is_empty(),
        "never up is no event"
    );
    let events = bench.see(links(true, 2, 12));
    assert_eq!(
        texts(&events),
        [
            "NVLink 3 counted recovery errors",
            "NVLink 3 counted crc_data errors"
        ]
    );
    assert_eq!((events[0].count, events[1].count), (1, 3));
    let events = bench.see(links(false, 2, 12));
    assert_eq!(texts(&events), ["NVLink 3 went down"]);
    assert_eq!(events[0].occurrence.detail.fabric.link, Some(3));
    assert!(bench.see(links(false, 2, 12)).is_empty());
}

#[test]
fn pcie_replays_count_by_the_minute() {
    let mut bench = Bench::new();
    let replays = |n| move |s: &mut GpuSample| s.pcie_replays = Some(n);
    assert!(bench.see(replays(1000)).is_empty());
    for n in 0..30 {
        assert!(
            bench.see(replays(1000 + n / 2)).is_empty(),
            "six a minute are noise"
        );
    }
    let events = bench.see(replays(1040));
    assert_eq!(
        (events.len(), events[0].occurrence.kind),
        (1, Kind::PcieLink)
    );
    assert_eq!(events[0].occurrence.detail.sample.limit, Some(8.0));
    assert!(bench.see(replays(1040)).is_empty());
    assert_eq!(
        bench.see(replays(20))[0].count,
        20,
        "the counter began anew"
    );
}

#[test]
fn a_sample_of_the_same_moment_shows_nothing_and_another_gpu_starts_anew() {
    let mut bench = Bench::new();
    bench.gpu.uuid = Some("GPU-1".into());
    bench.see(|s| s.remapped_rows.correctable = Some(1));
    bench.second -= 5;
    assert!(
        bench
            .see(|s| s.remapped_rows.correctable = Some(9))
            .is_empty(),
        "the same moment"
    );
    bench.gpu.uuid = Some("GPU-2".into());
    assert!(
        bench
            .see(|s| s.remapped_rows.correctable = Some(9))
            .is_empty(),
        "another GPU"
    );
    assert_eq!(
        bench.see(|s| s.remapped_rows.correctable = Some(10)).len(),
        1
    );
}

#[test]
fn a_clock_that_is_set_back_hides_nothing() {
    let mut bench = Bench::new();
    bench.second = 7200;
    bench.see(|s| s.remapped_rows.correctable = Some(1));
    bench.second = 0;
    assert_eq!(
        bench.see(|s| s.remapped_rows.correctable = Some(2)).len(),
        1
    );
}

/// Readings of one process, every ten seconds, on a GPU of 1,000 bytes with a window of ten minutes; when it was reported.
fn growth(readings: impl IntoIterator<Item = u64>) -> Vec<i64> {
    let mut bench = Bench::new();
    bench.watch.report_growth(Some(Duration::from_secs(600)));
    let mut reported = Vec::new();
    for used in readings {
        bench.second += 5;
        let events = bench.see(|s| {
            s.memory.total = Some(1000);
            s.processes = vec![GpuProcess {
                pid: 7,
                comm: Some("train".to_owned()),
                used_memory: Some(used),
                kind: ProcessType::Compute,
                mig_gi: None,
                mig_ci: None,
            }];
        });
        for event in events {
            let found = event.occurrence;
            assert_eq!(found.kind, Kind::MemoryGrowth);
            assert_eq!(found.process.and_then(|process| process.pid), Some(7));
            assert_eq!(found.detail.sample.value, Some(used as f64));
            reported.push(bench.second);
        }
    }
    reported
}

#[test]
fn memory_that_only_rises_is_reported_and_again_after_another_rise() {
    // A byte each ten seconds: 60 in a window. At 610 s, and when 50 more have come.
    assert_eq!(growth(100..240), [610, 1110]);
}

#[test]
fn memory_that_is_given_back_or_stays_is_no_growth() {
    let start_up = (0..30).map(|n| n * 30).chain([900; 200]);
    assert_eq!(growth(start_up), [0; 0]);
    let sawtooth = (0..300).map(|n| 100 + n % 40 * 5);
    assert_eq!(growth(sawtooth), [0; 0]);
    let slow = (0..600).map(|n| 100 + n / 3);
    assert_eq!(growth(slow), [0; 0]);
}

/// MIG mode, on with these instances.
fn divided(sample: &mut GpuSample, instances: Option<&[(u32, &str, &str)]>) {
    sample.mig = Some(MigMode {
        enabled: instances.is_some(),
        pending: false,
    });
    let instances = instances.unwrap_or_default().iter();
    sample.mig_instances = instances
        .map(|(gi, profile, uuid)| MigInstance {
            gi: *gi,
            profile: Some((*profile).to_owned()),
            uuid: Some((*uuid).to_owned()),
            ..MigInstance::default()
        })
        .collect();
}

#[test]
fn another_division_of_the_gpu_is_one_event_each() {
    let mut bench = Bench::new();
    let mut see = |instances: Option<&[(u32, &str, &str)]>| {
        let events = bench.see(|s| divided(s, instances));
        events.into_iter().map(|e| e.occurrence).collect::<Vec<_>>()
    };
    // How it is at first is nothing that happened.
    assert!(see(None).is_empty());
    let on = see(Some(&[]));
    assert_eq!(on[0].message, "MIG mode was switched on: no instances");
    assert_eq!(
        (on[0].kind, on[0].severity),
        (Kind::MigLayout, Severity::Info)
    );
    let two: &[_] = &[(1, "3g.40gb", "MIG-1"), (9, "1g.10gb", "MIG-2")];
    let made = see(Some(two)).remove(0);
    assert_eq!(
        made.message,
        "the MIG instances are now: 1g.10gb 3g.40gb; before: no instances"
    );
    assert_eq!(made.detail.mig.mig_instances, ["1g.10gb", "3g.40gb"]);
    assert!(see(Some(two)).is_empty());
    // The same profiles, and programs still lose their instance.
    let anew = see(Some(&[(1, "3g.40gb", "MIG-3"), (9, "1g.10gb", "MIG-2")]));
    assert_eq!(
        anew[0].message,
        "MIG instances were made anew: 1g.10gb 3g.40gb"
    );
    let off = see(None).remove(0);
    assert_eq!(
        off.message,
        "MIG mode was switched off, before: 1g.10gb 3g.40gb"
    );
    assert_eq!(off.detail.mig.mig_instances_before, ["1g.10gb", "3g.40gb"]);
    assert!(see(None).is_empty());
}

#[test]
fn an_instance_whose_profile_could_not_be_read_says_nothing_about_the_division() {
    let mut bench = Bench::new();
    let two: &[_] = &[(1, "3g.40gb", "MIG-1"), (9, "1g.10gb", "MIG-2")];
    assert!(bench.see(|s| divided(s, Some(two))).is_empty());
    let nameless = |s: &mut GpuSample| {
        divided(s, Some(two));
        s.mig_instances[1].profile = None;
    };
    let unread = |s: &mut GpuSample| {
        divided(s, Some(&[]));
        s.mig_instances_unread = true;
    };
    assert!(bench.see(nameless).is_empty());
    assert!(bench.see(unread).is_empty());
    assert!(bench.see(|s| s.mig = None).is_empty());
    assert!(bench.see(|s| divided(s, Some(two))).is_empty());
    // What changed meanwhile is compared with what was last certain.
    let third: &[_] = &[(0, "7g.80gb", "MIG-4")];
    assert!(bench.see(unread).is_empty());
    assert!(bench.see(nameless).is_empty());
    let events = bench.see(|s| divided(s, Some(third)));
    assert_eq!(
        texts(&events),
        ["the MIG instances are now: 7g.80gb; before: 1g.10gb 3g.40gb"]
    );
    // The mode is certain before the instances are.
    let off = bench.see(|s| divided(s, None));
    assert_eq!(texts(&off), ["MIG mode was switched off, before: 7g.80gb"]);
    assert_eq!(texts(&bench.see(unread)), ["MIG mode was switched on"]);
    let events = bench.see(|s| divided(s, Some(two)));
    assert_eq!(
        texts(&events),
        ["the MIG instances are now: 1g.10gb 3g.40gb; before: no instances"]
    );
}

fn license(licensed: bool) -> VgpuLicense {
    VgpuLicense {
        licensed,
        product: Some("NVIDIA Virtual Compute Server".to_owned()),
        term: licensed.then_some(LicenseTerm::Limited),
        expiry: licensed.then(|| Timestamp::from_second(60).unwrap()),
    }
}

#[test]
fn a_vgpu_without_its_licence_is_reported_once_and_so_is_the_end_of_that() {
    let mut bench = Bench::new();
    // What happened; in brackets how it stands.
    let mut see = |license: Option<VgpuLicense>, unread: bool| {
        let events = bench.see(|s| {
            (s.vgpu_license, s.vgpu_license_unread) = (license, unread);
        });
        let standing = bench.standing.iter();
        let standing = standing.map(|e| format!("({})", e.occurrence.message));
        texts(&events).join(";") + &standing.collect::<String>()
    };
    let none = || Some(license(false));
    let ended = || Some(license(true));
    let renewed = || {
        let mut license = license(true);
        license.expiry = None;
        Some(license)
    };
    // After a boot it is not there at once: samples are 5 seconds apart.
    for _ in 0..30 {
        assert_eq!(see(none(), false), "");
    }
    assert_eq!(see(renewed(), false), "(the vGPU has its licence again)");
    for _ in 0..36 {
        assert_eq!(see(none(), false), "");
    }
    let lacks = "the vGPU has no licence of NVIDIA Virtual Compute Server";
    assert_eq!(see(none(), false), lacks);
    assert_eq!(see(none(), false), "");
    assert_eq!(see(renewed(), false), "the vGPU has its licence again");
    // One that has ended was there, so nobody waits for it to be fetched.
    assert_eq!(see(ended(), false) + &see(ended(), false), "");
    assert!(see(ended(), false).ends_with("ended at 1970-01-01T00:01:00Z"));
    // That it could not be read says nothing; that none is needed ends it.
    for _ in 0..4 {
        assert_eq!(see(None, true), "");
    }
    assert_eq!(see(None, false) + &see(None, false), "");
    assert_eq!(see(None, false), "the GPU needs no licence any more");
    assert_eq!(see(None, false), "");
}

#[test]
fn a_gpu_that_never_needed_a_licence_stands_so_after_three_samples() {
    let mut bench = Bench::new();
    let mut stands = 0;
    for _ in 0..5 {
        assert!(bench.see(|_| {}).is_empty());
        stands += bench.standing.len();
    }
    assert_eq!(stands, 1);
}

/// Severity, the actions before and now, and the number of the one before.
type Asked<'a> = (Severity, Option<&'a str>, Option<&'a str>, Option<f64>);

fn asked(events: &[Observed]) -> Vec<Asked<'_>> {
    let asked = events
        .iter()
        .filter(|e| e.occurrence.kind == Kind::RecoveryAction);
    asked
        .map(|e| {
            let (severity, detail) = (e.occurrence.severity, &e.occurrence.detail);
            let xid = &detail.xid;
            let (from, to) = (xid.recovery_from.as_deref(), xid.recovery_to.as_deref());
            (severity, from, to, detail.sample.previous)
        })
        .collect()
}

#[test]
fn what_the_driver_asks_for_is_reported_as_it_begins_changes_and_ends() {
    let mut bench = Bench::new();
    let asks = |action: u32| move |s: &mut GpuSample| s.recovery_action = Some(action);
    assert!(bench.see(asks(0)).is_empty());
    assert_eq!(
        asked(&bench.standing),
        [(Severity::Info, None, Some("None"), None)]
    );
    let events = bench.see(asks(3));
    assert_eq!(
        texts(&events),
        ["the driver asks for a recovery action: Drain P2P"]
    );
    assert_eq!(
        asked(&events),
        [(
            Severity::Critical,
            Some("None"),
            Some("Drain P2P"),
            Some(0.0)
        )]
    );
    assert!(bench.see(asks(3)).is_empty() && asked(&bench.standing).is_empty());
    assert!(bench.see(|_| {}).is_empty(), "a reading that failed");
    let fatal = |from, to, previous| (Severity::Fatal, Some(from), Some(to), Some(previous));
    let events = bench.see(asks(1));
    assert_eq!(
        asked(&events),
        [fatal("Drain P2P", "GPU Reset Required", 3.0)]
    );
    let events = bench.see(asks(0));
    assert_eq!(
        texts(&events),
        ["the driver asks for no recovery action any more"]
    );
    assert_eq!(
        asked(&events),
        [(
            Severity::Info,
            Some("GPU Reset Required"),
            Some("None"),
            Some(1.0)
        )]
    );
    for _ in 0..20 {
        assert!(bench.see(asks(0)).is_empty());
        assert!(asked(&bench.standing).is_empty(), "nothing is wrong");
    }
}

#[test]
fn what_the_driver_asks_for_at_the_first_sample_is_how_the_gpu_stands_until_it_ends() {
    let mut bench = Bench::new();
    let mut stated = 0;
    // Samples are 5 seconds apart.
    for _ in 0..25 {
        assert!(bench.see(|s| s.recovery_action = Some(7)).is_empty());
        let now = asked(&bench.standing);
        let wanted = (Severity::Fatal, None, Some("System Reboot"), None);
        assert!(now.iter().all(|asked| *asked == wanted), "{now:?}");
        stated += now.len();
    }
    assert_eq!(stated, 3, "once a minute");
    // Another card in the slot.
    bench.gpu.uuid = Some("GPU-1".to_owned());
    assert!(bench.see(|s| s.recovery_action = Some(7)).is_empty());
    bench.gpu.uuid = Some("GPU-2".to_owned());
    assert!(bench.see(|s| s.recovery_action = Some(0)).is_empty());
    assert_eq!(asked(&bench.standing)[0].2, Some("None"));
}

#[test]
fn an_action_that_nobody_knows_is_shown_by_its_number() {
    let mut bench = Bench::new();
    bench.see(|s| s.recovery_action = Some(0));
    let names: Vec<String> = (5..=9)
        .map(|action| {
            let events = bench.see(|s| s.recovery_action = Some(action));
            asked(&events)[0].2.unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        names,
        [
            "Recover IMEX Domain",
            "Bus Reset",
            "System Reboot",
            "unknown (8)",
            "unknown (9)"
        ]
    );
}
