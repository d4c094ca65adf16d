//! A day of random faults by a clock of its own: tables stay bounded and empty themselves, and no state stays for ever.
//!
//! What the core asks a clock for is simulated: the fold, the correlator with what waits for the store, and health.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gtrace_catalogue::Catalogue;
use gtrace_event::{
    Ack, Event, EventId, Gpu, HealthAction, HealthRecord, HealthState, HealthSubject, IncidentId,
    IncidentState, Kind, Occasion, Occurrence, PortChange, Process, Provenance, ReasonStatus,
    Severity, SlotChange, StateChange, SubjectKind, Timestamp, WitnessName,
};
use gtrace_incident::{Correlator, Options, Rules};
use jiff::SignedDuration;

use super::fold::{Fold, Folded, MAX_LIVE, Observed};
use super::incidents::Changes;

const S: u64 = 1_000_000_000;
const WINDOW_NS: u64 = 60 * S;
const GPUS: u8 = 8;
const XIDS: [u32; 14] = [13, 31, 43, 45, 46, 48, 63, 64, 74, 79, 94, 95, 119, 154];

/// An hour; with `cargo xtask test --long` a day.
fn hours() -> u64 {
    match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => 24,
        None => 1,
    }
}

struct Day {
    began: Instant,
    now_ns: u64,
    boots: u32,
    catalogue: Catalogue,
    fold: Fold,
    correlator: Correlator,
    changes: Changes,
    health: gtrace_health::Fold,
    /// Events that a person may acknowledge: those that health knows.
    acknowledgeable: BTreeMap<EventId, ()>,
    resolvable: BTreeMap<IncidentId, ()>,
    faults: u64,
}

impl Day {
    fn new() -> Self {
        let mut day = Self {
            began: Instant::now(),
            now_ns: S,
            boots: 0,
            catalogue: Catalogue::builtin(),
            fold: Fold::new(WINDOW_NS),
            correlator: Correlator::new(Rules::builtin().unwrap(), Options::default()),
            changes: Changes::default(),
            health: gtrace_health::Fold::new(gtrace_health::Rules::builtin().unwrap()),
            acknowledgeable: BTreeMap::new(),
            resolvable: BTreeMap::new(),
            faults: 0,
        };
        day.boot();
        day
    }

    fn wall(&self) -> Timestamp {
        let begin: Timestamp = "2026-03-03T00:00:00Z".parse().unwrap();
        begin + SignedDuration::from_nanos(i64::try_from(self.now_ns).unwrap())
    }

    fn instant(&self) -> Instant {
        self.began + Duration::from_nanos(self.now_ns)
    }

    fn observe(&mut self, occasion: Occasion) {
        let record = HealthRecord::observed(self.wall(), occasion);
        self.health.record(&record);
    }

    fn boot(&mut self) {
        self.boots += 1;
        let boot = format!("boot-{}", self.boots);
        self.observe(Occasion::Boot { boot });
        self.find("first");
    }

    /// Every GPU and NVSwitch is seen.
    fn find(&mut self, of: &str) {
        let gpus = (0..GPUS).map(|n| (gpu_subject(n), format!("GPU-{of}-{n}")));
        let switches = (0..2).map(|n| (switch_subject(n), format!("SW-{of}-{n}")));
        for (subject, uuid) in gpus.chain(switches).collect::<Vec<_>>() {
            let uuid = Some(uuid);
            self.observe(Occasion::Found { subject, uuid });
        }
    }

    /// As the core does it: what is new at once, the rest with the next amendments.
    fn take(&mut self, witness: WitnessName, mut occurrence: Occurrence, count: u64) {
        self.faults += count;
        let advice = self.catalogue.assess(&mut occurrence);
        let observed = Observed {
            witness,
            occurrence,
            at_ns: self.now_ns,
            time: self.wall(),
            count,
        };
        let boot = format!("boot-{}", self.boots);
        let folded = self.fold.take(observed, |event| {
            event.advice = Some(advice);
            event.boot_id = Some(boot);
        });
        for (folded, _) in folded {
            if let Folded::New(id) = folded {
                let event = self.fold.event(id).unwrap().clone();
                self.publish(&event);
            }
        }
    }

    fn publish(&mut self, event: &Event) {
        for incident in self.correlator.ingest(event) {
            self.resolvable.insert(incident.id, ());
            self.changes.add(incident);
        }
        if !self.health.event(event).is_empty() {
            self.acknowledgeable.insert(event.id, ());
        }
    }

    fn amend(&mut self) {
        for (_, event) in self.fold.amendments(self.wall(), usize::MAX) {
            self.publish(&event);
        }
    }

    /// What the core does as time passes.
    fn pass(&mut self, time: Duration) {
        self.now_ns += u64::try_from(time.as_nanos()).unwrap();
        self.amend();
        for incident in self.correlator.tick(self.wall()) {
            self.changes.add(incident);
        }
        let _ = self.changes.take(self.instant(), false);
        if self.health.due().is_some_and(|due| due <= self.wall()) {
            self.observe(Occasion::Quiet);
        }
        self.fold.expire(self.now_ns);
    }

    fn acknowledge(&mut self, id: EventId) {
        self.acknowledgeable.remove(&id);
        let ack = Ack::new(id, self.wall(), "oncall", "");
        self.health.ack(&ack);
    }

    fn resolve(&mut self, id: IncidentId) {
        self.resolvable.remove(&id);
        let change = StateChange::new(self.wall(), IncidentState::Resolved, "oncall", "");
        self.correlator
            .change(id, |incident| incident.change_state(change));
    }

    /// Parts that are not well, with what is wrong.
    fn bad(&self) -> Vec<String> {
        let bad = self.health.subjects().filter(|known| known.state.is_bad());
        bad.map(|known| {
            let active = known.reasons.iter();
            let active = active.filter(|reason| reason.status != ReasonStatus::Cleared);
            let rules: Vec<_> = active.map(|reason| reason.rule.as_str()).collect();
            format!("{} {:?} {rules:?}", known.subject, known.state)
        })
        .collect()
    }
}

fn address(n: u8) -> String {
    format!("0000:{:02x}:00.0", 0x10 + n % GPUS)
}

fn gpu_subject(n: u8) -> HealthSubject {
    HealthSubject::new(SubjectKind::Gpu, address(n))
}

fn switch_subject(n: u8) -> HealthSubject {
    HealthSubject::new(SubjectKind::Nvswitch, format!("0000:{:02x}:00.0", 0xc0 + n))
}

fn one<T: Clone>(of: &[T]) -> T {
    of[fastrand::usize(..of.len())].clone()
}

/// Anything that can happen, of any kind, mostly an Xid of a GPU.
fn fault() -> (WitnessName, Occurrence) {
    let kind = match fastrand::u8(..10) {
        0..4 => Kind::Xid,
        4 => Kind::Sxid,
        _ => one(&Kind::ALL),
    };
    let n = fastrand::u8(..GPUS);
    let severity = one(&Severity::ALL);
    let mut occurrence = Occurrence::new(kind, severity, format!("{kind} of {n}"));
    occurrence.provenance = match fastrand::u8(..20) {
        0 => Provenance::Injected,
        1 => Provenance::Userspace,
        2 => Provenance::Unknown,
        _ => Provenance::Kernel,
    };
    occurrence.gpu = fastrand::bool().then(|| Gpu::at(address(n).parse().unwrap()));
    occurrence.process = fastrand::bool().then(|| Process {
        pid: Some(fastrand::u32(1000..1200)),
        comm: Some("python3".to_owned()),
        ..Process::default()
    });
    let detail = &mut occurrence.detail;
    match kind {
        Kind::Xid | Kind::RecoveryAction => {
            occurrence.gpu = Some(Gpu::at(address(n).parse().unwrap()));
            detail.xid.xid = (kind == Kind::Xid).then(|| one(&XIDS));
            let to = ["None", "GPU Reset Required", "Drain P2P", "Drain and Reset"];
            detail.xid.recovery_to = Some(one(&to).to_owned());
        }
        Kind::Sxid => {
            let switch = switch_subject(n % 2).name;
            occurrence.gpu = Some(Gpu::at(switch.parse().unwrap()));
            detail.fabric.sxid = Some(one(&[10004, 10005, 20034, 22013]));
        }
        Kind::Aer => detail.aer.recovery = Some(one(&["successful", "failed"]).to_owned()),
        Kind::PcieHotplug => detail.pcie.hotplug = Some(one(&SlotChange::ALL)),
        Kind::RdmaPort => {
            detail.rdma.rdma_device = Some(format!("mlx5_{}", n % 4));
            detail.rdma.rdma_port = Some(1);
            let changes = [PortChange::Down, PortChange::Up, PortChange::Flapping];
            detail.rdma.port_change = Some(one(&changes));
        }
        _ => {}
    }
    (WitnessName::Kmsg, occurrence)
}

/// Something that people or the host do.
fn deed(day: &mut Day) {
    let n = fastrand::u8(..GPUS);
    match fastrand::u8(..8) {
        0 => day.observe(Occasion::GpuReset {
            subject: gpu_subject(n),
        }),
        1 => day.observe(Occasion::DriverReload),
        2 => day.boot(),
        3 => {
            let subject =
                HealthSubject::new(SubjectKind::Component, one(&["disk", "clock", "cpu"]));
            let state = one(&[HealthState::Healthy, HealthState::Degraded]);
            day.observe(Occasion::Judged {
                subject,
                rule: "component".to_owned(),
                state,
                action: HealthAction::Watch,
                text: String::new(),
            });
        }
        4 | 5 => {
            if let Some((id, ())) = day.acknowledgeable.pop_first() {
                day.acknowledge(id);
            }
        }
        _ => {
            if let Some((id, ())) = day.resolvable.pop_first() {
                day.resolve(id);
            }
        }
    }
}

#[test]
fn a_day_of_random_faults_leaves_no_table_and_no_state_behind() {
    let seed = fastrand::u64(..);
    fastrand::seed(seed);
    println!("seed {seed}");
    let mut day = Day::new();
    let end = day.now_ns + hours() * 3600 * S;
    let mut bad = 0;
    while day.now_ns < end {
        match fastrand::u16(..1000) {
            // A storm.
            0 => {
                let (witness, occurrence) = fault();
                for pid in 0..300 {
                    let mut one = occurrence.clone();
                    one.message = format!("{} {pid}", one.message);
                    one.process = Some(Process {
                        pid: Some(10_000 + pid),
                        ..Process::default()
                    });
                    day.take(witness, one, 1);
                    day.now_ns += S / 1000;
                }
            }
            1..300 => {
                let (witness, occurrence) = fault();
                day.take(witness, occurrence, fastrand::u64(1..4));
            }
            300..320 => deed(&mut day),
            _ => {}
        }
        day.pass(Duration::from_millis(fastrand::u64(100..2000)));
        bad = bad.max(day.bad().len());
        assert!(day.fold.len() <= MAX_LIVE);
        assert!(day.correlator.incidents().count() <= Options::default().incidents);
    }
    println!(
        "{} faults in {} h, {bad} parts bad at once",
        day.faults,
        hours()
    );
    assert!(day.faults > 500 * hours(), "{}", day.faults);
    assert!(bad > usize::from(GPUS), "{bad}");

    // Memory: what nothing more is expected of is gone.
    day.pass(Duration::from_secs(1));
    day.pass(Duration::from_secs(WINDOW_NS / S + 61));
    day.pass(Duration::from_secs(1));
    // Of every table, whatever there are: an entry that stays is text.
    assert_eq!(
        format!("{:?}", day.fold),
        format!("{:?}", Fold::new(WINDOW_NS))
    );
    for id in day
        .correlator
        .incidents()
        .map(|one| one.id)
        .collect::<Vec<_>>()
    {
        day.resolve(id);
    }
    day.pass(Duration::from_secs(3601));
    day.pass(Duration::from_secs(120));
    assert_eq!(day.correlator.incidents().count(), 0);
    // What it knows of events that are over is bounded, and the rest is gone.
    let left = format!("{:?}", day.correlator).len();
    assert!(
        left < 1 << 20,
        "{left} bytes of a correlator without incidents"
    );
    let waiting = day
        .changes
        .take(day.instant() + Duration::from_secs(3600), true);
    assert!(
        waiting.len() <= Options::default().incidents,
        "{}",
        waiting.len()
    );
    assert_eq!(day.changes.deadline(), None);
    let snapshot = serde_json::to_string(&day.health.snapshot()).unwrap();
    assert!(
        snapshot.len() < 4 << 20,
        "{} bytes of health",
        snapshot.len()
    );

    // States: what time ends, time ends; then a restart of the host, resets, people, other devices.
    for _ in 0..10_000 {
        let Some(due) = day.health.due() else { break };
        let wait = due
            .duration_since(day.wall())
            .max(SignedDuration::from_secs(1));
        day.pass(Duration::try_from(wait).unwrap());
    }
    assert_eq!(day.health.due(), None, "time never ends it");
    day.boot();
    for n in 0..GPUS {
        day.observe(Occasion::GpuReset {
            subject: gpu_subject(n),
        });
    }
    let known: Vec<EventId> = day
        .health
        .subjects()
        .flat_map(|known| known.reasons.iter())
        .flat_map(|reason| reason.events.iter().map(|event| event.id))
        .collect();
    for id in known {
        day.acknowledge(id);
    }
    for n in 0..4 {
        let mut up = Occurrence::new(Kind::RdmaPort, Severity::Info, format!("port of {n} is up"));
        up.provenance = Provenance::Kernel;
        up.detail.rdma.rdma_device = Some(format!("mlx5_{n}"));
        up.detail.rdma.rdma_port = Some(1);
        up.detail.rdma.port_change = Some(PortChange::Up);
        day.take(WitnessName::SysfsRdma, up, 1);
    }
    for component in ["disk", "clock", "cpu"] {
        day.observe(Occasion::Judged {
            subject: HealthSubject::new(SubjectKind::Component, component),
            rule: "component".to_owned(),
            state: HealthState::Healthy,
            action: HealthAction::None,
            text: String::new(),
        });
    }
    day.find("another");
    day.pass(Duration::from_secs(1));
    assert_eq!(day.bad(), Vec::<String>::new(), "nothing ends these");
}
