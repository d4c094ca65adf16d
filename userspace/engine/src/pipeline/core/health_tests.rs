//! Health from what sources send to what the store and the hub have.

use gtrace_event::{
    Gpu, HealthAction, HealthNews, HealthReport, HealthState, MaintenanceWindow, Occasion,
    PortChange, SubjectHealth,
};
use tokio::sync::oneshot;

use super::super::tests::{World, fault, fault_of, xid_79};
use super::*;
use crate::baseline::{self, Judgement};
use crate::checks::{Checked, Looked};
use crate::fake_sysfs::{FakeSysfs, GPU};
use crate::hub::Command;
use crate::input::{Input, Observation};
use gtrace_devices::PciTree;

#[path = "health_tests/flags.rs"]
mod flags;

fn tree() -> PciTree {
    PciTree::read(&FakeSysfs::with_gpu().root())
}

fn report(world: &World) -> HealthReport {
    world.flush();
    HealthReport::clone(&*world.hub.health_report().unwrap())
}

fn gpu(world: &World) -> SubjectHealth {
    let report = report(world);
    let found = report.subjects.into_iter().find(|s| s.subject.name == GPU);
    found.unwrap()
}

fn stored(world: &World) -> Vec<Record> {
    let records = world.reader().records_after(0, 10_000).unwrap();
    records.into_iter().map(|(_, record)| record).collect()
}

/// What whoever reads the store comes to.
fn replayed(world: &World) -> gtrace_event::HealthSnapshot {
    let mut fold = Fold::new(Rules::builtin().unwrap());
    replay(&mut fold, &world.reader(), None).unwrap();
    fold.snapshot()
}

fn fall_off(world: &World, provenance: Provenance) {
    let mut occurrence = xid_79(Some(0), clock::boottime_ns());
    occurrence.provenance = provenance;
    occurrence.gpu = Some(Gpu::at(GPU.parse().unwrap()));
    world.ingest_one(WitnessName::Kmsg, occurrence);
}

#[test]
fn a_fault_and_the_change_of_health_that_follows_are_one_transaction() {
    let world = World::new(tree());
    fall_off(&world, Provenance::Kernel);
    let known = gpu(&world);
    assert_eq!(
        (known.state, known.action),
        (HealthState::Unhealthy, HealthAction::Reboot)
    );
    let records = stored(&world);
    let at = records
        .iter()
        .position(|r| matches!(r, Record::Event(_)))
        .unwrap();
    let changed = |record: &Record| match record {
        Record::Health(record) => match &record.news {
            HealthNews::Changed { now, previous } => {
                Some((now.subject.to_string(), now.state, *previous))
            }
            _ => None,
        },
        _ => None,
    };
    let changes: Vec<_> = records[at..].iter().filter_map(changed).collect();
    let want = |name: &str| {
        (
            name.to_owned(),
            HealthState::Unhealthy,
            HealthState::Unknown,
        )
    };
    assert_eq!(changes, [want(&format!("gpu {GPU}")), want("host")]);
    // The chain has them.
    assert!(world.reader().verify().unwrap().is_ok());
}

#[test]
fn drills_and_forged_lines_change_no_health() {
    let world = World::new(tree());
    fall_off(&world, Provenance::Injected);
    fall_off(&world, Provenance::Userspace);
    let report = report(&world);
    assert_eq!(report.state, HealthState::Unknown);
    assert!(
        stored(&world)
            .iter()
            .all(|r| !matches!(r, Record::Health(_)))
    );
}

#[test]
fn a_restart_knows_what_was_known_and_an_acknowledgement_reaches_it() {
    let world = World::new(tree());
    let text = "PCIe link runs with 8 of 16 lanes";
    let mut narrow = fault_of(GPU, Kind::PcieLink, Severity::Warning, text);
    narrow.detail.sample.metric = Some("gtrace_gpu_pcie_link_width".to_owned());
    narrow.detail.pcie.pci_device = Some(GPU.parse().unwrap());
    world.ingest_one(WitnessName::SysfsPci, narrow);
    let before = gpu(&world);
    assert_eq!(before.state, HealthState::Degraded);
    let event = world
        .stored(None)
        .into_iter()
        .find(|e| e.kind == Kind::PcieLink)
        .unwrap();

    let world = world.restart(tree());
    assert_eq!(gpu(&world), before);
    world.acknowledged(&event);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    let live = replayed(&world);
    let world = world.restart(tree());
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    let again = replayed(&world);
    assert_eq!(again.subjects, live.subjects);
}

#[test]
fn gpus_that_are_found_are_healthy_and_a_counter_of_energy_that_goes_back_is_a_reset() {
    let world = World::new(tree());
    let with = |energy: f64| {
        let mut gpu = GpuInfo::at(GPU.parse().unwrap());
        gpu.uuid = Some("GPU-1".to_owned());
        let mut sample = gtrace_devices::GpuSample::at(Timestamp::now());
        sample.power.energy_j = Some(energy);
        gpu.sample = Some(sample);
        Input::Gpus(vec![gpu])
    };
    world.send(with(5000.0));
    let known = gpu(&world);
    assert_eq!(
        (known.state, known.uuid.as_deref()),
        (HealthState::Healthy, Some("GPU-1"))
    );
    let text = "NVRM: Xid (PCI:0000:3b:00): 62, x";
    let mut halted = fault_of(GPU, Kind::Xid, Severity::Fatal, text);
    halted.detail.xid.xid = Some(62);
    world.ingest_one(WitnessName::Kmsg, halted);
    world.send(with(6000.0));
    assert_eq!(gpu(&world).action, HealthAction::ResetGpu);
    world.send(with(3.0));
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    let resets = stored(&world);
    let is_reset = |record: &&Record| {
        matches!(record, Record::Health(record)
            if matches!(record.news, HealthNews::Observed { occasion: Occasion::GpuReset { .. } }))
    };
    assert_eq!(resets.iter().filter(is_reset).count(), 1);
}

#[test]
fn an_nvswitch_that_is_found_again_is_healthy_also_after_a_restart() {
    const SWITCHES: [&str; 2] = ["0000:c0:00.0", "0000:c1:00.0"];
    let find = |world: &World, at: &[&str]| {
        let at = at.iter().map(|at| at.parse().unwrap());
        world.send(Input::Nvswitches(at.collect()));
    };
    let lose = |world: &World, at: &str| {
        let text = "NVSwitch is no longer among the PCI devices";
        let lost = fault_of(at, Kind::GpuLost, Severity::Fatal, text);
        world.ingest_one(WitnessName::SysfsPci, lost);
    };
    let states = |world: &World| {
        let report = report(world);
        SWITCHES.map(|at| {
            let subject = HealthSubject::new(SubjectKind::Nvswitch, at);
            let mut subjects = report.subjects.iter();
            subjects.find(|s| s.subject == subject).map(|s| s.state)
        })
    };
    let (healthy, unhealthy) = (Some(HealthState::Healthy), Some(HealthState::Unhealthy));
    let world = World::new(tree());
    find(&world, &SWITCHES);
    assert_eq!(states(&world), [healthy, healthy]);
    lose(&world, SWITCHES[0]);
    find(&world, &SWITCHES[1..]);
    assert_eq!(states(&world), [unhealthy, healthy]);
    find(&world, &SWITCHES);
    assert_eq!(states(&world), [healthy, healthy]);
    lose(&world, SWITCHES[1]);
    let world = world.restart(tree());
    assert_eq!(states(&world), [healthy, unhealthy]);
    find(&world, &SWITCHES);
    assert_eq!(states(&world), [healthy, healthy]);
}

#[test]
fn a_maintenance_window_is_recorded_and_outlives_the_daemon() {
    let world = World::new(tree());
    let ask = |world: &World, seconds: i64| {
        let from = Timestamp::now();
        let window = MaintenanceWindow {
            from,
            until: from + jiff::SignedDuration::from_secs(seconds),
            by: "alice".to_owned(),
            note: "fans".to_owned(),
        };
        let (answer, done) = oneshot::channel();
        world.send(Input::Command(Command::Maintenance(window, answer)));
        done.blocking_recv().unwrap()
    };
    assert!(
        ask(&world, 0)
            .unwrap_err()
            .contains("no maintenance window")
    );
    let begun = ask(&world, 3600).unwrap();
    assert!(world.hub.is_in_maintenance(Timestamp::now()));
    let world = world.restart(tree());
    assert!(world.hub.is_in_maintenance(Timestamp::now()));
    let longer = ask(&world, 7200).unwrap();
    assert_eq!(longer.from, begun.from, "it goes on");
    ask(&world, 0).unwrap();
    assert!(!world.hub.is_in_maintenance(Timestamp::now()));
}

#[test]
fn what_differs_from_the_baseline_is_a_reason_until_it_does_not_and_one_event_over_a_restart() {
    let judge = |world: &World, found: Option<&str>| {
        let difference = |found: &str| gtrace_devices::Difference {
            setting: gtrace_devices::Setting::Ecc,
            expected: "on".to_owned(),
            found: found.to_owned(),
            missing: false,
        };
        let judgement = Judgement {
            subject: HealthSubject::new(SubjectKind::Gpu, GPU),
            gpu: Some(Gpu::at(GPU.parse().unwrap())),
            differences: found.map(difference).into_iter().collect(),
        };
        world.send(Input::Baseline(vec![judgement]));
    };
    let world = World::new(tree());
    judge(&world, None);
    judge(&world, Some("off"));
    judge(&world, Some("off"));
    let known = gpu(&world);
    assert_eq!(known.state, HealthState::Degraded);
    assert_eq!(known.reasons[0].text, "ecc off, expected on");
    let world = world.restart(tree());
    judge(&world, Some("off"));
    assert_eq!(gpu(&world).state, HealthState::Degraded);
    assert_eq!(world.happened(Kind::BaselineDrift), 1);
    judge(&world, None);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    let live = replayed(&world);
    assert_eq!(world.happened(Kind::BaselineDrift), 1);
    assert!(live.subjects.iter().all(|s| s.reasons.is_empty()));
}

/// A run of the plugin `site`, and what it says of GPUs that are not there.
fn report_checks(world: &World, outcome: Result<&str, &str>, of_unknown: &str) {
    let checks = |output: &str| gtrace_plugins::parse(output.as_bytes()).checks;
    let checked = Checked {
        of_unknown: checks(of_unknown),
        ..Checked::new("site", outcome.map(checks).map_err(str::to_owned))
    };
    world.send(Input::Command(Command::Checked(checked)));
}

#[test]
fn only_a_plugin_that_is_not_there_is_forgotten() {
    let look = |world: &World, there: Result<&[&str], &str>, refused: &[&str]| {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let refused = refused
            .iter()
            .map(|name| ((*name).to_owned(), "mode".to_owned()));
        let looked = Looked {
            there: there.map(names).map_err(str::to_owned),
            refused: refused.collect(),
        };
        world.send(Input::Command(Command::Looked(looked)));
    };
    let part = |world: &World| {
        let mut subjects = report(world).subjects.into_iter();
        subjects.find(|s| s.subject.name == "plugin/site")
    };
    let of_gpu = format!("{{\"check\":\"cable\",\"state\":\"degraded\",\"gpu\":\"{GPU}\"}}");
    let fan = "{\"check\":\"fan\",\"state\":\"unhealthy\",\"reason\":\"stands still\"}";
    let world = World::new(tree());
    report_checks(&world, Ok(&format!("{of_gpu}\n{fan}")), "");
    assert_eq!(gpu(&world).state, HealthState::Degraded);
    // The GPU is gone: the plugin says the same of it, or that it is well.
    report_checks(&world, Ok(fan), &of_gpu);
    report_checks(&world, Ok(fan), &of_gpu.replace("degraded", "healthy"));
    assert_eq!(gpu(&world).state, HealthState::Degraded);
    let reasons = |world: &World| part(world).unwrap().reasons.len();
    assert_eq!(reasons(&world), 1);
    // A line that cannot be read may name both checks.
    let unread = Checked {
        is_complete: false,
        ..Checked::new("site", Ok(Vec::new()))
    };
    world.send(Input::Command(Command::Checked(unread)));
    assert_eq!(
        (reasons(&world), gpu(&world).state),
        (1, HealthState::Degraded)
    );
    // Refused, or the folder is; and neither after a restart.
    look(&world, Ok(&["site"]), &["site"]);
    assert_eq!(
        (reasons(&world), gpu(&world).state),
        (2, HealthState::Degraded)
    );
    let world = world.restart(tree());
    look(&world, Err("no such folder"), &[]);
    assert_eq!(
        (reasons(&world), gpu(&world).state),
        (2, HealthState::Degraded)
    );
    let known = part(&world).unwrap();
    assert_eq!(known.state, HealthState::Unhealthy);
    assert!(known.reasons.iter().any(|r| r.text == "no such folder"));
    // Another is no news of it, and it is run again.
    look(&world, Ok(&["other", "site"]), &["other"]);
    assert!(
        report(&world)
            .subjects
            .iter()
            .all(|s| s.subject.name != "plugin/other")
    );
    report_checks(&world, Ok(fan), &of_gpu);
    assert_eq!(
        (reasons(&world), gpu(&world).state),
        (1, HealthState::Degraded)
    );
    // It is taken away while the daemon is down.
    let world = world.restart(tree());
    look(&world, Ok(&["other"]), &[]);
    assert!(part(&world).is_none());
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    assert_eq!(report(&world).state, HealthState::Healthy);
    let live = replayed(&world);
    assert!(
        live.subjects
            .iter()
            .all(|s| s.subject.name != "plugin/site" && s.reasons.is_empty())
    );
}

#[test]
fn what_a_plugin_finds_is_a_reason_until_it_does_not_and_an_event_where_it_is_news() {
    let report_site = |world: &World, outcome| report_checks(world, outcome, "");
    let part = |world: &World| {
        let mut subjects = report(world).subjects.into_iter();
        let found = subjects.find(|s| s.subject.name == "plugin/site");
        found.unwrap()
    };
    let events = |world: &World| {
        let events = world.stored(None).into_iter();
        let of_plugins = events.filter(|e| e.kind == Kind::PluginCheck);
        of_plugins
            .map(|e| (e.severity, e.message))
            .collect::<Vec<_>>()
    };
    let good = "{\"check\":\"fan\",\"state\":\"healthy\"}";
    let bad = "{\"check\":\"fan\",\"state\":\"unhealthy\",\"reason\":\"stands still\"}";
    let of_gpu =
        format!("{{\"check\":\"cable\",\"state\":\"degraded\",\"gpu\":\"{GPU}\"}}\n{good}");
    let slow = bad.replace("stands still", "is slow");
    let world = World::new(tree());
    report_site(&world, Ok(good));
    assert_eq!(part(&world).state, HealthState::Healthy);
    assert!(events(&world).is_empty());
    report_site(&world, Ok(bad));
    report_site(&world, Ok(bad));
    let known = part(&world);
    assert_eq!(
        (known.state, known.reasons[0].text.as_str()),
        (HealthState::Unhealthy, "stands still")
    );
    // Another reason is shown, and is no event.
    report_site(&world, Ok(&slow));
    assert_eq!(part(&world).reasons[0].text, "is slow");
    report_site(&world, Ok(bad));
    assert_eq!(part(&world).reasons[0].text, "stands still");
    let world = world.restart(tree());
    report_site(&world, Ok(bad));
    let plugin_events = events(&world);
    assert_eq!(plugin_events.len(), 1, "{plugin_events:?}");
    assert_eq!(
        plugin_events[0],
        (
            Severity::Critical,
            "plugin site: fan is unhealthy: stands still".to_owned()
        )
    );
    // It fails: nothing says that what it found is over.
    report_site(&world, Err("it did not end"));
    let known = part(&world);
    assert_eq!(known.reasons.len(), 2);
    report_site(&world, Ok(&of_gpu));
    assert_eq!(part(&world).state, HealthState::Healthy);
    assert_eq!(gpu(&world).state, HealthState::Degraded);
    assert_eq!(
        events(&world).len(),
        3,
        "the fan is well again, and the cable is not"
    );
    report_site(&world, Err("it did not end"));
    assert_eq!(part(&world).state, HealthState::Unknown);
    assert_eq!(gpu(&world).state, HealthState::Degraded);
    report_site(&world, Ok(""));
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    let live = replayed(&world);
    assert!(live.subjects.iter().all(|s| s.reasons.is_empty()));
}

#[test]
fn another_reason_of_a_component_is_news_and_another_figure_is_not() {
    let bad = HealthState::Degraded;
    let mut fold = Fold::new(Rules::builtin().unwrap());
    let subject = HealthSubject::new(SubjectKind::Component, "nvml");
    let known = fold.subject(&subject);
    assert!(!is_news(known, HealthState::Unknown, "not read yet"));
    assert!(is_news(known, HealthState::Healthy, ""));
    let mut judge = |state: HealthState, text: &str| {
        let occasion = Occasion::Judged {
            subject: subject.clone(),
            rule: component::RULE.to_owned(),
            state,
            action: HealthAction::Watch,
            text: text.to_owned(),
        };
        fold.record(&HealthRecord::observed(Timestamp::now(), occasion));
        fold.subject(&subject).unwrap().clone()
    };
    let well = judge(HealthState::Healthy, "");
    assert!(!is_news(
        Some(&well),
        HealthState::Healthy,
        "all of 8 are there"
    ));
    assert!(is_news(Some(&well), bad, "mlx5_0 port 1 is DOWN"));
    let lost = "records were lost, the last at 03:12:01 UTC, 7 since the start";
    let more = "records were lost, the last at 04:15:59 UTC, 19 since the start";
    let loses = judge(bad, lost);
    assert!(!is_news(Some(&loses), bad, more));
    assert!(is_news(Some(&loses), bad, "records were lost"));
    assert!(is_news(Some(&loses), HealthState::Unhealthy, lost));
    let fills = judge(bad, "/data has 9.9 % of its space left");
    assert!(!is_news(
        Some(&fills),
        bad,
        "/data has 10.0 % of its space left"
    ));
    assert!(is_news(
        Some(&fills),
        bad,
        "/home has 9.9 % of its space left"
    ));
    let fails = judge(bad, "GPU 0000:18:00.0: no fabric");
    assert!(is_news(Some(&fails), bad, "GPU 0000:19:00.0: no fabric"));
    let both = "GPU 0000:18:00.0: no fabric; GPU 0000:19:00.0: no fabric";
    assert!(is_news(Some(&fails), bad, both));
}

#[test]
fn a_gpu_that_is_gone_after_a_reboot_is_missing_though_the_host_has_no_other() {
    let mut health = Health::new().unwrap();
    let subject = HealthSubject::new(SubjectKind::Gpu, GPU);
    let boot = |boot: &str| Occasion::Boot {
        boot: boot.to_owned(),
    };
    for occasion in [
        boot("a"),
        Occasion::Found {
            subject: subject.clone(),
            uuid: None,
        },
        // Bad for another reason too, so that its state is not unknown.
        Occasion::Judged {
            subject,
            rule: baseline::RULE.to_owned(),
            state: HealthState::Degraded,
            action: HealthAction::Watch,
            text: "ecc off, expected on".to_owned(),
        },
        boot("b"),
    ] {
        let record = HealthRecord::observed(Timestamp::now(), occasion);
        health.fold.record(&record);
    }
    let late = health.started + MISSING_AFTER;
    assert_eq!(health.missing(late), None, "nobody has looked");
    health.looked_at_gpus = true;
    assert_eq!(health.missing(health.started), None, "there was no time");
    assert_eq!(health.missing(late), Some(vec![GPU.parse().unwrap()]));
    health.looked_for_missing = true;
    assert_eq!(health.missing(late), None, "once");
}

/// The NVML samples of a daemon's run.
struct Samples<'a> {
    world: &'a World,
    watch: gtrace_devices::SampleWatch,
    second: i64,
}

impl<'a> Samples<'a> {
    /// Of a daemon that has just been started.
    fn new(world: &'a World) -> Self {
        Self {
            world,
            watch: gtrace_devices::SampleWatch::new(),
            second: 0,
        }
    }

    /// Takes one, four minutes after the one before, and the core what that shows, as the thread of the devices does it.
    fn take(&mut self, fill: impl FnOnce(&mut gtrace_devices::GpuSample)) {
        self.second += 240;
        let time = Timestamp::now() + jiff::SignedDuration::from_secs(self.second);
        let mut sample = gtrace_devices::GpuSample::at(time);
        fill(&mut sample);
        let happened = self.watch.observe(&Gpu::at(GPU.parse().unwrap()), &sample);
        for observed in happened {
            self.world.ingest_one(observed.witness, observed.occurrence);
        }
        for observed in self.watch.standing() {
            self.world.send(Input::Standing(Box::new(Observation::new(
                observed.witness,
                observed.occurrence,
                1,
            ))));
        }
        let mut gpu = GpuInfo::at(GPU.parse().unwrap());
        gpu.sample = Some(sample);
        self.world.send(Input::Gpus(vec![gpu]));
        self.world.flush();
    }
}

fn rules(world: &World) -> Vec<String> {
    let reasons = gpu(world).reasons.into_iter();
    reasons.map(|reason| reason.rule).collect()
}

#[test]
fn a_licence_is_missing_once_over_restarts_and_is_there_again_whenever_that_was() {
    let licence = |samples: &mut Samples<'_>, licensed: bool| {
        samples.take(|sample| {
            sample.vgpu_license = Some(gtrace_devices::VgpuLicense {
                licensed,
                product: None,
                term: None,
                expiry: None,
            });
        });
    };
    let world = World::new(tree());
    licence(&mut Samples::new(&world), true);
    assert_eq!(
        world.happened(Kind::VgpuLicense),
        0,
        "that it is there is no news"
    );
    // Three samples without it, in each run.
    let lacks = |world: &World| {
        let mut samples = Samples::new(world);
        (0..4).for_each(|_| licence(&mut samples, false));
        assert_eq!(rules(world), ["vgpu-unlicensed"]);
        assert_eq!(world.happened(Kind::VgpuLicense), 1);
    };
    lacks(&world);
    let world = world.restart(tree());
    lacks(&world);
    let world = world.restart(tree());
    // It came back while no daemon ran.
    let mut samples = Samples::new(&world);
    licence(&mut samples, true);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    licence(&mut samples, true);
    assert_eq!(world.happened(Kind::VgpuLicense), 2);
    (0..3).for_each(|_| licence(&mut samples, false));
    assert_eq!(rules(&world), ["vgpu-unlicensed"]);
    // After another restart none is needed.
    let world = world.restart(tree());
    let mut samples = Samples::new(&world);
    (0..3).for_each(|_| samples.take(|_| {}));
    assert_eq!(gpu(&world).state, HealthState::Healthy);
}

#[test]
fn a_recovery_action_that_is_pending_when_the_daemon_starts_is_a_reason_until_it_is_none() {
    let asks = |samples: &mut Samples<'_>, action: u32| {
        samples.take(|sample| sample.recovery_action = Some(action));
    };
    let world = World::new(tree());
    let mut samples = Samples::new(&world);
    asks(&mut samples, 1);
    let known = gpu(&world);
    assert_eq!(
        (known.state, known.action),
        (HealthState::Unhealthy, HealthAction::ResetGpu)
    );
    assert_eq!(rules(&world), ["recovery-reset"]);
    asks(&mut samples, 1);
    // The daemon is restarted twice, and in between the driver asks for more.
    let world = world.restart(tree());
    asks(&mut Samples::new(&world), 1);
    assert_eq!(world.happened(Kind::RecoveryAction), 1, "it is known");
    let world = world.restart(tree());
    let mut samples = Samples::new(&world);
    asks(&mut samples, 2);
    assert_eq!(rules(&world), ["recovery-reboot"], "its newest word");
    assert_eq!(world.happened(Kind::RecoveryAction), 2);
    // By its energy counter the GPU is reset, and the driver asks for that again: it did not help.
    let energy = |samples: &mut Samples<'_>, joules: f64| {
        samples.take(|sample| {
            sample.recovery_action = Some(1);
            sample.power.energy_j = Some(joules);
        });
    };
    energy(&mut samples, 5000.0);
    assert_eq!(rules(&world), ["recovery-reset"]);
    energy(&mut samples, 3.0);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    energy(&mut samples, 30.0);
    assert_eq!(rules(&world), ["recovery-reset"]);
    asks(&mut samples, 0);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    let before = world.happened(Kind::RecoveryAction);
    let live = replayed(&world);
    assert!(live.subjects.iter().all(|s| s.reasons.is_empty()));
    let world = world.restart(tree());
    asks(&mut Samples::new(&world), 0);
    assert_eq!(world.happened(Kind::RecoveryAction), before);
}

#[test]
fn a_port_that_came_up_while_no_daemon_ran_is_healthy_again() {
    let port = |severity: Severity, change: PortChange| {
        let text = format!("mlx5_0 port 1: {change:?}");
        let mut occurrence = fault(Kind::RdmaPort, severity, &text);
        let rdma = &mut occurrence.detail.rdma;
        (rdma.rdma_device, rdma.rdma_port) = (Some("mlx5_0".to_owned()), Some(1));
        rdma.port_change = Some(change);
        occurrence
    };
    let stands = |world: &World| {
        world.send(Input::Standing(Box::new(Observation::new(
            WitnessName::SysfsRdma,
            port(Severity::Info, PortChange::Up),
            1,
        ))));
    };
    let world = World::new(tree());
    stands(&world);
    assert_eq!(world.happened(Kind::RdmaPort), 0, "that is no news");
    world.ingest_one(
        WitnessName::SysfsRdma,
        port(Severity::Critical, PortChange::Down),
    );
    assert_eq!(report(&world).state, HealthState::Unhealthy);
    let world = world.restart(tree());
    stands(&world);
    assert_eq!(report(&world).state, HealthState::Healthy);
    stands(&world);
    assert_eq!(world.happened(Kind::RdmaPort), 2);
}

#[test]
fn an_action_that_nobody_knows_and_somebody_has_acknowledged_is_no_reason_until_it_changes() {
    let asks = |samples: &mut Samples<'_>, action: u32| {
        samples.take(|sample| sample.recovery_action = Some(action));
    };
    let world = World::new(tree());
    let mut samples = Samples::new(&world);
    asks(&mut samples, 8);
    assert_eq!(rules(&world), ["recovery-other"]);
    let events = world.stored(None).into_iter();
    let mut events = events.filter(|event| event.kind == Kind::RecoveryAction);
    let event = events.next().unwrap();
    assert!(event.message.ends_with("unknown (8)"), "{}", event.message);
    world.acknowledged(&event);
    asks(&mut samples, 8);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    let world = world.restart(tree());
    let mut samples = Samples::new(&world);
    asks(&mut samples, 8);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    assert_eq!(world.happened(Kind::RecoveryAction), 1);
    asks(&mut samples, 9);
    assert_eq!(rules(&world), ["recovery-other"]);
}

#[test]
fn a_recovery_action_that_ended_while_no_daemon_ran_ends_its_reason() {
    let world = World::new(tree());
    let text = "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)";
    let mut line = fault_of(GPU, Kind::Xid, Severity::Critical, text);
    line.detail.xid.xid = Some(154);
    line.detail.xid.recovery_to = Some("GPU Reset Required".to_owned());
    world.ingest_one(WitnessName::Kmsg, line);
    let mut samples = Samples::new(&world);
    samples.take(|sample| sample.recovery_action = Some(1));
    assert_eq!(world.happened(Kind::RecoveryAction), 0, "its line is known");
    assert_eq!(rules(&world), ["recovery-reset"]);
    let world = world.restart(tree());
    let mut samples = Samples::new(&world);
    // A reading that failed says nothing.
    samples.take(|_| {});
    assert_eq!(rules(&world), ["recovery-reset"]);
    samples.take(|sample| sample.recovery_action = Some(0));
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    assert_eq!(world.happened(Kind::RecoveryAction), 1);
    // The line and the reading are of one incident.
    assert_eq!(world.hub.incidents().len(), 1);
}

#[test]
fn what_happened_to_a_service_is_one_event_over_a_restart_and_another_after_it_ran() {
    let happens = |world: &World, error: &str| {
        let message = format!("nvidia-fabricmanager.service {error}");
        let mut occurrence = fault(Kind::ServiceFailed, Severity::Critical, &message);
        occurrence.detail.host.unit = Some("nvidia-fabricmanager".to_owned());
        occurrence.detail.host.error = Some(error.to_owned());
        let news = gtrace_devices::HostNews::stands(occurrence);
        world.send(Input::Command(Command::HostNews(Box::new(news))));
        world.happened(Kind::ServiceFailed)
    };
    let over = gtrace_devices::RUNS_AGAIN;
    let world = World::new(tree());
    assert_eq!(happens(&world, over), 0, "nothing was wrong with it");
    assert_eq!(happens(&world, "failed"), 1);
    let world = world.restart(tree());
    assert_eq!(happens(&world, "failed"), 1);
    assert_eq!(happens(&world, "restarts"), 2, "that is another thing");
    let world = world.restart(tree());
    assert_eq!((happens(&world, over), happens(&world, over)), (3, 3));
    let world = world.restart(tree());
    assert_eq!(
        (happens(&world, "failed"), happens(&world, "failed")),
        (4, 4)
    );
}

#[test]
fn rules_of_the_site_hold_over_a_restart_and_for_whoever_reads_the_store() {
    let apply = |world: &World, text: Option<&str>| {
        let command = Command::SiteRules(text.map(str::to_owned));
        world.send(Input::Command(command));
    };
    let world = World::new(tree());
    fall_off(&world, Provenance::Kernel);
    assert_eq!(gpu(&world).action, HealthAction::Reboot);
    let rules = "[[rule]]\nname = \"off-the-bus\"\nstate = \"degraded\"\naction = \"drain\"\n";
    for _ in 0..2 {
        apply(&world, Some(rules));
    }
    let is_by_site = |known: &SubjectHealth| {
        let of_site = gtrace_event::RuleOrigin::Site;
        let by = known.reasons.first().map(|reason| reason.origin);
        known.state == HealthState::Degraded && by == Some(of_site)
    };
    assert!(is_by_site(&gpu(&world)));
    let changes = stored(&world);
    let is_rules = |record: &&Record| match record {
        Record::Health(record) => matches!(
            record.news,
            HealthNews::Observed {
                occasion: Occasion::Rules { .. }
            }
        ),
        _ => false,
    };
    let recorded = changes.iter().filter(is_rules).count();
    assert_eq!(recorded, 1, "what holds already is no news");
    // A daemon whose file is refused goes on with what the store has.
    let world = world.restart(tree());
    assert!(is_by_site(&gpu(&world)));
    let live = replayed(&world);
    assert_eq!(live.site_rules.as_deref(), Some(rules));
    assert!(live.subjects.iter().any(is_by_site));
    apply(&world, None);
    assert_eq!(gpu(&world).state, HealthState::Unhealthy);
    assert_eq!(replayed(&world).site_rules, None);
}
