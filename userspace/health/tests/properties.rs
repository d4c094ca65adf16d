//! What holds for any history: a replay of the store comes to the live state, and memory is bounded.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod common;

use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Event, EventId, Gpu, HealthAction, HealthNews, HealthState, HealthSubject, Kind, Occasion,
    Occurrence, PortChange, Provenance, Record, Severity, SlotChange, SubjectKind, Timestamp,
    WitnessName,
};
use jiff::SignedDuration;
use proptest::prelude::*;

use crate::common::{Host, replay, replay_from};

/// One thing that happens, some seconds after the one before.
#[derive(Clone, Debug)]
enum Op {
    Event {
        kind: Kind,
        code: u32,
        bus: u8,
        severity: Severity,
        provenance: Provenance,
        /// So long before the record: what the kernel's log had already.
        late_s: i64,
        choice: usize,
    },
    Amend {
        which: usize,
        repeats: u64,
        provenance: Provenance,
        bus: Option<u8>,
    },
    Ack(usize),
    Boot,
    Reload,
    Reset(u8),
    Found(u8, u8),
    Judged(u8, HealthState),
    Tick,
    /// Other rules of the site hold.
    Rules(usize),
    Restart(bool),
}

/// Files of a site; the last is one that only another version of gtrace understands.
const SITE: [Option<&str>; 4] = [
    None,
    Some(
        "[[rule]]\nname = \"off-the-bus\"\nstate = \"degraded\"\naction = \"replace\"\ntimes = 2\nwithin_s = 600\n\
         [[rule]]\nname = \"application\"\nstate = \"degraded\"\nclears = [\"quiet\"]\nquiet_s = 3600\n\
         [[rule]]\nname = \"own-48\"\nlike = \"off-the-bus\"\nmatch = { kinds = [\"xid\"], codes = [48, 63] }\n",
    ),
    Some(
        "[[rule]]\nname = \"off-the-bus\"\noff = true\n\
         [[rule]]\nname = \"every-xid\"\nmatch = { kinds = [\"xid\", \"aer\"] }\npart = \"gpu\"\nstate = \"unhealthy\"\n\
         action = \"drain\"\ntext = \"x\"\nclears = [\"acknowledgement\"]\n\
         [[recovery]]\nname = \"r\"\nmatch = { kinds = [\"sxid\"] }\npart = \"host\"\nas_by = \"reboot\"\n",
    ),
    Some("[[rule]]\nname = \"later\"\nsince = \"version 9\"\n"),
];

fn op() -> impl Strategy<Value = Op> {
    let kinds = prop::sample::select(
        Kind::ALL
            .into_iter()
            // The store writes these by itself.
            .filter(|kind| *kind != Kind::RecordsRemoved)
            .chain([Kind::Xid; 20])
            .chain([Kind::RecoveryAction; 6])
            .collect::<Vec<_>>(),
    );
    let codes = prop::sample::select(vec![
        13_u32, 31, 43, 46, 48, 62, 63, 64, 74, 79, 94, 95, 119, 149, 154, 171, 10004, 10005, 20034,
    ]);
    let severities = prop::sample::select(Severity::ALL.to_vec());
    let provenance = || {
        use Provenance::{Injected, Kernel, Unknown, Userspace};
        let often = [Kernel, Kernel, Kernel, Unknown, Userspace, Injected];
        prop::sample::select(often.to_vec())
    };
    let event = (
        kinds,
        codes,
        1..4_u8,
        severities,
        provenance(),
        0..400_i64,
        any::<usize>(),
    )
        .prop_map(
            |(kind, code, bus, severity, provenance, late_s, choice)| Op::Event {
                kind,
                code,
                bus,
                severity,
                provenance,
                late_s,
                choice,
            },
        );
    let amend = (
        any::<usize>(),
        0..2000_u64,
        provenance(),
        prop::option::weighted(0.2, 1..4_u8),
    )
        .prop_map(|(which, repeats, provenance, bus)| Op::Amend {
            which,
            repeats,
            provenance,
            bus,
        });
    let states = prop::sample::select(HealthState::ALL.to_vec());
    prop_oneof![
        12 => event,
        6 => amend,
        2 => any::<usize>().prop_map(Op::Ack),
        2 => Just(Op::Boot),
        1 => Just(Op::Reload),
        2 => (1..4_u8).prop_map(Op::Reset),
        2 => (1..4_u8, 0..3_u8).prop_map(|(bus, uuid)| Op::Found(bus, uuid)),
        1 => (0..3_u8, states).prop_map(|(name, state)| Op::Judged(name, state)),
        3 => Just(Op::Tick),
        1 => (0..SITE.len()).prop_map(Op::Rules),
        2 => any::<bool>().prop_map(Op::Restart),
    ]
}

/// A fault of the kernel, which is known at once.
fn fault(kind: Kind, severity: Severity, code: u32, bus: u8, choice: usize) -> Op {
    Op::Event {
        kind,
        code,
        bus,
        severity,
        provenance: Provenance::Kernel,
        late_s: 0,
        choice,
    }
}

fn begin() -> Timestamp {
    "2026-03-03T03:12:00Z".parse().unwrap()
}

fn gpu(bus: u8) -> Gpu {
    Gpu::at(format!("0000:{bus:02x}:00.0").parse().unwrap())
}

fn subject(bus: u8) -> HealthSubject {
    HealthSubject::new(SubjectKind::Gpu, format!("0000:{bus:02x}:00.0"))
}

fn event(op: &Op, now: Timestamp, boot: &str) -> Event {
    let Op::Event {
        kind,
        code,
        bus,
        severity,
        provenance,
        late_s,
        choice,
    } = op
    else {
        panic!("no event")
    };
    let texts = [
        "GPU is no longer among the PCI devices",
        "GPU does not answer",
        "NVSwitch is gone",
        "GPU was there before the reboot and is not now",
    ];
    let mut occurrence = Occurrence::new(*kind, *severity, texts[choice % texts.len()]);
    occurrence.provenance = *provenance;
    occurrence.gpu = (choice % 7 > 0).then(|| gpu(*bus));
    let detail = &mut occurrence.detail;
    match kind {
        Kind::Xid | Kind::RecoveryAction => {
            detail.xid.xid = (*kind == Kind::Xid).then_some(*code);
            let to = ["None", "GPU Reset Required", "Drain P2P", "Drain and Reset"];
            detail.xid.recovery_to = Some(to[choice % to.len()].to_owned());
            detail.xid.reset_required = Some(choice % 2 == 0);
        }
        Kind::Sxid => detail.fabric.sxid = Some(*code),
        Kind::Aer => {
            let ends = ["successful", "failed"];
            detail.aer.recovery = (choice % 3 > 0).then(|| ends[choice % 2].to_owned());
            detail.aer.severity = (choice % 2 > 0).then(|| "Corrected".to_owned());
            detail.pcie.gpus_below = vec![gpu(1).pci.unwrap(), gpu(2).pci.unwrap()];
        }
        Kind::PcieHotplug => {
            detail.pcie.hotplug = Some(SlotChange::ALL[choice % SlotChange::ALL.len()]);
        }
        Kind::RdmaPort => {
            let changes = [PortChange::Down, PortChange::Up, PortChange::Flapping];
            detail.rdma.rdma_device = Some(format!("mlx5_{bus}"));
            detail.rdma.rdma_port = Some(1);
            detail.rdma.port_change = Some(changes[choice % 3]);
        }
        _ => {}
    }
    let time = now - SignedDuration::from_secs(*late_s);
    let advice = Catalogue::builtin().assess(&mut occurrence);
    let mut event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
    (event.advice, event.boot_id) = (Some(advice), Some(boot.to_owned()));
    event
}

struct Player {
    host: Host,
    now: Timestamp,
    boots: u32,
    ids: Vec<EventId>,
}

impl Player {
    fn new() -> Self {
        let mut player = Self {
            host: Host::new(),
            now: begin(),
            boots: 0,
            ids: Vec::new(),
        };
        player.boot();
        player
    }

    fn boot(&mut self) {
        self.boots += 1;
        let boot = format!("boot-{}", self.boots);
        self.host.observe(self.now, Occasion::Boot { boot });
    }

    fn play(&mut self, op: &Op, seconds: i64, restarts: bool) {
        self.now += SignedDuration::from_secs(seconds);
        match op {
            Op::Event { .. } => {
                let event = event(op, self.now, &format!("boot-{}", self.boots));
                self.ids.push(event.id);
                self.host.append(Record::Event(Box::new(event)));
            }
            Op::Amend {
                which,
                repeats,
                provenance,
                bus,
            } => {
                let Some(id) = self.pick(*which) else { return };
                let now = self.now;
                self.host.amend(id, now, |event| {
                    event.repeats = event.repeats.max(*repeats);
                    event.last_time = Some(now);
                    event.provenance = *provenance;
                    if let Some(bus) = bus {
                        event.gpu = Some(gpu(*bus));
                    }
                });
            }
            Op::Ack(which) => {
                if let Some(id) = self.pick(*which) {
                    self.host.ack(id, self.now);
                }
            }
            Op::Boot => self.boot(),
            Op::Reload => self.host.observe(self.now, Occasion::DriverReload),
            Op::Reset(bus) => {
                let subject = subject(*bus);
                self.host.observe(self.now, Occasion::GpuReset { subject });
            }
            Op::Found(bus, uuid) => {
                let uuid = (*uuid > 0).then(|| format!("GPU-{uuid}"));
                let subject = subject(*bus);
                self.host
                    .observe(self.now, Occasion::Found { subject, uuid });
            }
            Op::Judged(name, state) => {
                let occasion = Occasion::Judged {
                    subject: HealthSubject::new(SubjectKind::Component, format!("c{name}")),
                    rule: "component".to_owned(),
                    state: *state,
                    action: HealthAction::Watch,
                    text: String::new(),
                };
                self.host.observe(self.now, occasion);
            }
            Op::Tick => self.host.tick(self.now),
            Op::Rules(which) => {
                let site = SITE[*which].map(str::to_owned);
                self.host.observe(self.now, Occasion::Rules { site });
            }
            Op::Restart(in_order) if restarts => self.host.restart(self.now, *in_order),
            Op::Restart(_) => {}
        }
    }

    fn pick(&self, which: usize) -> Option<EventId> {
        let n = self.ids.len();
        (n > 0).then(|| self.ids[which % n])
    }
}

fn history() -> impl Strategy<Value = Vec<(Op, i64)>> {
    // Mostly minutes, now and then days, so that times of quiet pass.
    let gap = prop_oneof![8 => 0..300_i64, 2 => 0..20_000_i64, 1 => 0..2_000_000_i64];
    prop::collection::vec((op(), gap), 1..80)
}

#[test]
fn a_fault_that_a_site_has_made_a_recovery_counts_no_more_once_it_is_a_drill() {
    let mut player = Player::new();
    player.play(&fault(Kind::Sxid, Severity::Warning, 10004, 2, 2), 0, true);
    let rests_on = |player: &Player| {
        let report = player.host.fold.report(player.now);
        let reasons = report.subjects.iter().flat_map(|subject| &subject.reasons);
        reasons.map(|reason| reason.events.len()).sum::<usize>()
    };
    assert!(rests_on(&player) > 0);
    player.play(&Op::Rules(2), 60, true);
    let amend = Op::Amend {
        which: 0,
        repeats: 1,
        provenance: Provenance::Injected,
        bus: None,
    };
    player.play(&amend, 60, true);
    assert_eq!(rests_on(&player), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_replay_of_the_store_comes_to_the_live_state(ops in history()) {
        let mut player = Player::new();
        let mut snapshots = Vec::new();
        for (op, seconds) in &ops {
            player.play(op, *seconds, true);
            snapshots.push((player.host.records.len(), player.host.fold.snapshot()));
        }
        let live = player.host.fold.snapshot();
        let records = &player.host.records;
        prop_assert_eq!(replay(records).fold.snapshot(), live.clone());
        // From any moment on.
        for (at, snapshot) in snapshots.iter().step_by(7) {
            prop_assert_eq!(replay_from(records, *at, snapshot.clone()), live.clone());
        }
    }

    #[test]
    fn a_daemon_that_starts_again_knows_what_one_knows_that_never_ended(ops in history()) {
        let mut restarted = Player::new();
        for (op, seconds) in &ops {
            restarted.play(op, *seconds, true);
        }
        // One that takes the same records and passes over the snapshots.
        let mut steady = Host::new();
        let is_snapshot = |record: &&Record| {
            matches!(record, Record::Health(health) if matches!(health.news, HealthNews::Snapshot { .. }))
        };
        for record in restarted.host.records.iter().filter(|record| !is_snapshot(record)) {
            steady.take(record);
        }
        prop_assert_eq!(steady.fold.snapshot(), restarted.host.fold.snapshot());
    }

    #[test]
    fn a_state_is_never_better_than_its_worst_reason_and_nothing_but_the_kernel_makes_it_worse(ops in history()) {
        let mut player = Player::new();
        for (op, seconds) in &ops {
            player.play(op, *seconds, true);
            let report = player.host.fold.report(player.now);
            let mut worst = HealthState::Healthy;
            for subject in &report.subjects {
                for reason in &subject.reasons {
                    prop_assert_eq!(subject.state.worse(reason.state), subject.state, "{:?}", subject);
                    prop_assert!(subject.action >= reason.action);
                    for event in &reason.events {
                        let provenance = player.host.events[&event.id].provenance;
                        prop_assert_eq!(provenance, Provenance::Kernel);
                    }
                }
                if subject.state.is_bad() {
                    worst = worst.worse(subject.state);
                }
            }
            if worst.is_bad() {
                prop_assert_eq!(report.state, worst);
            }
        }
    }

    #[test]
    fn another_device_begins_well(ops in history(), bus in 1..4_u8) {
        let mut player = Player::new();
        let subject = subject(bus);
        let found = |uuid: &str| Occasion::Found { subject: subject.clone(), uuid: Some(uuid.to_owned()) };
        player.host.observe(player.now, found("GPU-a"));
        for (op, seconds) in ops.iter().filter(|(op, _)| !matches!(op, Op::Found(..) | Op::Judged(..))) {
            player.play(op, *seconds, true);
        }
        player.host.observe(player.now, found("GPU-b"));
        let known = player.host.fold.subject(&subject).unwrap();
        prop_assert_eq!(known.state, HealthState::Healthy, "{:?}", known);
        prop_assert!(known.reasons.is_empty() && known.past.is_empty());
    }
}

#[test]
fn the_first_boot_that_is_seen_is_no_reboot() {
    let mut host = Host::new();
    let (subject, uuid) = (subject(1), None);
    host.observe(
        begin(),
        Occasion::Found {
            subject: subject.clone(),
            uuid,
        },
    );
    let boot = |n: u32| Occasion::Boot {
        boot: format!("boot-{n}"),
    };
    host.observe(begin(), boot(1));
    let state = |host: &Host| host.fold.subject(&subject).unwrap().state;
    assert_eq!(state(&host), HealthState::Healthy);
    host.observe(begin(), boot(2));
    assert_eq!(state(&host), HealthState::Unknown);
}

#[test]
fn what_comes_after_the_clock_was_set_back_is_newer_than_what_was_before() {
    const BACK_S: i64 = 3600;
    let of = |kind, choice| fault(kind, Severity::Warning, 62, 1, choice);
    // So long since boot, by a clock that was `back_s` set back.
    let happened = |op: &Op, second: i64, back_s: i64| {
        let time = begin() + SignedDuration::from_secs(second - back_s);
        let mut event = event(op, time, "boot-1");
        event.boottime_ns = Some(second.unsigned_abs() * 1_000_000_000);
        event
    };
    let (down, up, fault) = (
        of(Kind::RdmaPort, 3),
        of(Kind::RdmaPort, 1),
        of(Kind::Xid, 1),
    );
    let mut host = Host::new();
    let boot = "boot-1".to_owned();
    host.observe(begin(), Occasion::Boot { boot });
    let state = |host: &Host, subject: &HealthSubject| host.fold.subject(subject).unwrap().state;
    let (port, gpu) = (
        HealthSubject::new(SubjectKind::Port, "mlx5_1/1"),
        subject(1),
    );
    let ends = happened(&down, 5000, 0);
    let id = ends.id;
    host.append(Record::Event(Box::new(ends)));
    host.append(Record::Event(Box::new(happened(&fault, 5001, 0))));
    let reset = Occasion::GpuReset {
        subject: gpu.clone(),
    };
    host.observe(begin() + SignedDuration::from_secs(5005), reset);
    assert_eq!(state(&host, &port), HealthState::Unhealthy);
    assert_eq!(state(&host, &gpu), HealthState::Healthy);

    host.append(Record::Event(Box::new(happened(&up, 5010, BACK_S))));
    assert_eq!(state(&host, &port), HealthState::Healthy);
    host.append(Record::Event(Box::new(happened(&fault, 5011, BACK_S))));
    assert_eq!(state(&host, &gpu), HealthState::Unhealthy);
    // The event from before happens again, and is over again.
    let time = begin() + SignedDuration::from_secs(5020 - BACK_S);
    host.amend(id, time, |event| {
        (event.repeats, event.last_time) = (1, Some(time));
    });
    assert_eq!(state(&host, &port), HealthState::Unhealthy);
    host.append(Record::Event(Box::new(happened(&up, 5030, BACK_S))));
    assert_eq!(state(&host, &port), HealthState::Healthy);
    assert_eq!(replay(&host.records).fold.snapshot(), host.fold.snapshot());
    host.restart(time, true);
    assert_eq!(
        host.fold.snapshot().began,
        Some(begin() - SignedDuration::from_secs(BACK_S))
    );
}

#[test]
fn what_happens_after_a_reboot_is_newer_though_the_clock_is_behind() {
    let of = |kind, choice| fault(kind, Severity::Warning, 62, 1, choice);
    let (fault, down, up) = (
        of(Kind::Xid, 1),
        of(Kind::RdmaPort, 3),
        of(Kind::RdmaPort, 1),
    );
    let port = HealthSubject::new(SubjectKind::Port, "mlx5_1/1");
    let (gpu, day) = (subject(1), SignedDuration::from_hours(24));
    let mut host = Host::new();
    let happens = |host: &mut Host, op: &Op, time, boot: &str| {
        host.append(Record::Event(Box::new(event(op, time, boot))));
    };
    let state = |host: &Host, subject: &HealthSubject| host.fold.subject(subject).unwrap().state;
    let second = |n: i64| begin() + SignedDuration::from_secs(n);
    let boot = |n: u32| Occasion::Boot {
        boot: format!("boot-{n}"),
    };
    host.observe(begin(), boot(1));
    happens(&mut host, &fault, second(10), "boot-1");
    let reset = Occasion::GpuReset {
        subject: gpu.clone(),
    };
    host.observe(second(20), reset);
    happens(&mut host, &down, second(30), "boot-1");
    happens(&mut host, &up, second(40), "boot-1");
    assert_eq!(state(&host, &gpu), HealthState::Healthy);

    // The battery of the clock is empty.
    host.observe(begin() - day, boot(2));
    happens(&mut host, &fault, second(5) - day, "boot-2");
    assert_eq!(state(&host, &gpu), HealthState::Unhealthy);
    happens(&mut host, &down, second(6) - day, "boot-2");
    assert_eq!(state(&host, &port), HealthState::Unhealthy);
    happens(&mut host, &up, second(7) - day, "boot-2");
    assert_eq!(state(&host, &port), HealthState::Healthy);
    assert_eq!(replay(&host.records).fold.snapshot(), host.fold.snapshot());
}

#[test]
fn what_the_store_writes_by_itself_says_nothing_of_the_clock() {
    let of = |kind, second: i64, since_boot: u64| {
        let time = begin() + SignedDuration::from_secs(second);
        let mut event = event(&fault(kind, Severity::Warning, 62, 1, 1), time, "boot-1");
        event.boottime_ns = Some(since_boot * 1_000_000_000);
        Record::Event(Box::new(event))
    };
    let mut host = Host::new();
    let boot = "boot-1".to_owned();
    host.observe(begin(), Occasion::Boot { boot });
    host.append(of(Kind::Xid, 5000, 5000));
    let live = host.fold.snapshot();
    assert!(live.began.is_some());
    // Of when the removal began; it was long.
    host.records.push(of(Kind::RecordsRemoved, 5010, 5015));
    assert_eq!(replay(&host.records).fold.snapshot(), live);
}

#[test]
fn a_part_that_is_forgotten_is_gone_and_the_host_is_judged_without_it() {
    let mut host = Host::new();
    let part = HealthSubject::new(SubjectKind::Component, "plugin/site");
    let state = |host: &Host| host.fold.subject(&HealthSubject::host()).unwrap().state;
    let (gpu, uuid) = (subject(1), None);
    host.observe(begin(), Occasion::Found { subject: gpu, uuid });
    host.observe(
        begin(),
        Occasion::Judged {
            subject: part.clone(),
            rule: "plugin/site".to_owned(),
            state: HealthState::Degraded,
            action: HealthAction::Watch,
            text: "it is slow".to_owned(),
        },
    );
    assert_eq!(state(&host), HealthState::Degraded);
    for subject in [part.clone(), part.clone(), HealthSubject::host()] {
        host.observe(begin(), Occasion::Forgotten { subject });
        assert!(host.fold.subject(&part).is_none());
        assert_eq!(state(&host), HealthState::Healthy);
    }
}

#[test]
fn a_storm_of_everything_stays_bounded() {
    let mut player = Player::new();
    let begun = std::time::Instant::now();
    const EVENTS: u32 = 20_000;
    let mut events = Vec::new();
    for n in 0..EVENTS {
        let kind = Kind::ALL[n as usize % Kind::ALL.len()];
        let op = fault(kind, Severity::Fatal, n % 180, (n % 250) as u8, n as usize);
        player.now += SignedDuration::from_millis(5);
        let mut event = event(&op, player.now, &format!("boot-{}", n / 100));
        // More GPUs than any host has.
        let address = format!("{:04x}:{:02x}:00.0", n % 7, n % 250);
        event.gpu = Some(Gpu::at(address.parse().unwrap()));
        events.push(event);
    }
    for event in &events {
        player.host.fold.event(event);
    }
    println!(
        "{} us an event",
        begun.elapsed().as_micros() / u128::from(EVENTS)
    );
    let snapshot = player.host.fold.snapshot();
    assert!(
        snapshot.subjects.len() <= 256,
        "{}",
        snapshot.subjects.len()
    );
    for subject in &snapshot.subjects {
        assert!(subject.reasons.len() + subject.past.len() <= 32);
        for reason in subject.reasons.iter().chain(&subject.past) {
            assert!(reason.events.len() <= 16 && reason.boots.len() <= 8);
            assert!(reason.earlier.len() <= 24 && reason.text.len() < 1024);
        }
    }
    assert!(snapshot.dropped > 0, "what found no room is counted");
}
