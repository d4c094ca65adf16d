use super::*;
use crate::fake_sysfs::{FakeSysfs, GPU, PORT};
use crate::hub::Command;
use crate::hub::News;
use crate::input::Observation;
use crate::poll::{self, PollScheduler};
use crate::sources::records;
use crate::supervise::names;
use gtrace_abi::AerRecord;
use gtrace_api::Published;
use gtrace_decoder::{Decoder, LogRecord};
use gtrace_devices::{GpuInfo, PciTree, PciWatch};
use gtrace_event::{Ack, Event, IncidentState, StateChange, WitnessName};
use gtrace_event::{Action, Kind, PciAddress, Provenance, RemovalCause};
use gtrace_store::{Filter, GpuFilter, Store, StoreError};
use tokio::sync::broadcast;
use tokio::sync::oneshot;

const RAS: WitnessName = WitnessName::RasAer;
const CONSOLE: WitnessName = WitnessName::PrintkConsole;
const KMSG: WitnessName = WitnessName::Kmsg;
const SYSFS: WitnessName = WitnessName::SysfsAer;

fn pci(text: &str) -> PciAddress {
    text.parse().unwrap()
}

/// A core with a store of its own.
pub(super) struct World {
    pub(super) dir: tempfile::TempDir,
    pub(super) hub: Arc<Hub>,
    core: Core,
    stream: broadcast::Receiver<News>,
    scheduler: PollScheduler,
    end_record: EndRecord,
    /// The thread that reads /dev/kmsg runs until this is dropped.
    kmsg: Option<std::sync::mpsc::Sender<()>>,
}

impl World {
    pub(super) fn new(tree: PciTree) -> Self {
        Self::start(tempfile::tempdir().unwrap(), tree)
    }

    fn start(dir: tempfile::TempDir, tree: PciTree) -> Self {
        Self::start_with(dir, tree, gtrace_store::Options::default())
    }

    fn start_with(dir: tempfile::TempDir, tree: PciTree, options: gtrace_store::Options) -> Self {
        let store_path = dir.path().join("store.db");
        let (hub, _) = Hub::new(crate::hub::bare_status());
        let stream = hub.subscribe().live;
        let (poll_soon, scheduler) = poll::channel();
        let end_record = EndRecord::new().unwrap();
        let core = spawn(CoreOptions {
            hub: Arc::clone(&hub),
            catalogue: Catalogue::builtin(),
            store: Store::open(&store_path, options).unwrap(),
            store_path,
            dedup_window: Duration::from_secs(60),
            host: "h".to_owned(),
            machine_id: None,
            boot_id: "b".to_owned(),
            tree,
            poll_soon,
            end_record: end_record.clone(),
        })
        .unwrap();
        Self {
            dir,
            hub,
            core,
            stream,
            scheduler,
            end_record,
            kmsg: None,
        }
    }

    /// A core that knows one GPU, beside a thread that reads /dev/kmsg.
    fn with_kmsg() -> Self {
        let mut world = Self::new(PciTree::read(&FakeSysfs::with_gpu().root()));
        let (kmsg, ended) = std::sync::mpsc::channel::<()>();
        let task = Task {
            name: names::KMSG,
            needed: true,
            silence: None,
            sources: Vec::new(),
        };
        let tasks = &world.hub.tasks;
        let body = move || {
            // It ends when the other end is dropped.
            let _ = ended.recv();
        };
        tasks.start_once(task, body).unwrap();
        world.kmsg = Some(kmsg);
        world
    }

    /// How often Xid 79 of the GPU was counted, by provenance: kernel, userspace, injected, unknown.
    fn counted(&self) -> [u64; 4] {
        self.flush();
        [
            Provenance::Kernel,
            Provenance::Userspace,
            Provenance::Injected,
            Provenance::Unknown,
        ]
        .map(|provenance| {
            let labels = crate::metrics::XidLabels {
                gpu: GPU.to_owned(),
                xid: "79".to_owned(),
                provenance: provenance.name(),
            };
            let counter = self.hub.metrics.xid.get(&labels);
            counter.map_or(0, |counter| counter.get())
        })
    }

    /// The next record of an event that is published.
    fn next_record(&mut self) -> Arc<Published> {
        loop {
            if let News::Event(published) = self.stream.blocking_recv().unwrap() {
                return published;
            }
        }
    }

    /// The next state of an event that is published, which must not page while nobody has confirmed it.
    fn next_event(&mut self) -> Event {
        let event = self.next_record().event.clone();
        let pages = action(&event) == Some(Action::Page);
        assert!(
            event.provenance == Provenance::Kernel || !pages,
            "{event:#?}"
        );
        event
    }

    pub(super) fn send(&self, input: Input) {
        self.core.inputs.send(input).unwrap();
    }

    pub(super) fn ingest_one(&self, witness: WitnessName, occurrence: Occurrence) {
        self.send(Observation::once(witness, occurrence));
    }

    /// Waits until everything sent is in the store.
    pub(super) fn flush(&self) {
        let (answer, done) = oneshot::channel();
        self.send(Input::Command(Command::Flush(answer)));
        done.blocking_recv().unwrap().unwrap();
    }

    pub(super) fn stored(&self, gpu: Option<&str>) -> Vec<Event> {
        self.flush();
        let reader = Reader::open(&self.dir.path().join("store.db")).unwrap();
        let gpu = gpu.map(|gpu| GpuFilter::Pci(pci(gpu)));
        let filter = Filter {
            gpu,
            ..Filter::default()
        };
        reader.query(&filter).unwrap()
    }

    fn poll_is_requested(&mut self) -> bool {
        self.flush();
        self.scheduler.wait(Duration::from_millis(1));
        let asked = self.scheduler.is_due();
        if asked {
            // A new scheduler: the follow-up polls are not the subject here.
            self.scheduler.taken();
        }
        asked
    }

    pub(super) fn restart(self, tree: PciTree) -> Self {
        let Self { dir, core, .. } = self;
        core.finish();
        Self::start(dir, tree)
    }
}

fn count(event: &Event, source: WitnessName) -> u64 {
    let witness = event.witnesses.iter().find(|w| w.source == source);
    witness.map_or(0, |w| w.count)
}

/// What the tracepoint says; `severity` 0 non-fatal, 1 fatal, 2 corrected.
fn ras(device: &str, severity: u32, at_ns: u64) -> Occurrence {
    let mut record = AerRecord {
        status: 1,
        severity,
        ..AerRecord::default()
    };
    record.dev_name[..device.len()].copy_from_slice(device.as_bytes());
    record.header.boottime_ns = at_ns;
    records::aer(&record)
}

/// What the kernel log says of `text`; `facility` as /dev/kmsg gives it.
fn logged(text: &str, facility: Option<u8>, at_ns: u64) -> Vec<Occurrence> {
    let mut decoder = Decoder::new(gtrace_decoder::Options::default());
    let mut out = Vec::new();
    for (number, text) in text.lines().enumerate() {
        let record = LogRecord {
            text,
            facility,
            timestamp_us: Some(at_ns / 1000),
            number: number as u64,
            ..LogRecord::default()
        };
        decoder.feed(&record, &mut out);
    }
    decoder.flush(&mut out);
    for occurrence in &mut out {
        occurrence.boottime_ns = Some(at_ns);
        occurrence.lines = None;
    }
    out
}

fn corrected(device: &str) -> String {
    format!(
        "pcieport {PORT}: AER: Correctable error message received from {device}\n\
         nvidia {device}: PCIe Bus Error: severity=Correctable, type=Physical Layer, (Receiver ID)\n\
         nvidia {device}:   device [10de:2330] error status/mask=00000001/0000a000\n\
         nvidia {device}:    [ 0] RxErr                  (First)"
    )
}

#[test]
fn a_storm_of_corrected_errors_is_one_event_with_the_right_count() {
    const ERRORS: u64 = 10_000;
    const LOGGED_EVERY: u64 = 100;
    const CHUNK: u64 = 100;
    let sys = FakeSysfs::with_gpu();
    sys.corrected(GPU, 0);
    let mut watch = PciWatch::new(sys.root());
    watch.poll(|_| false).unwrap();

    let mut world = World::new(watch.tree().clone());
    let begun = Instant::now();
    // The errors lie behind us: no time of theirs is in the future.
    let first_ns = clock::boottime_ns() - 2_000_000_000;
    for i in 0..ERRORS {
        let at_ns = first_ns + i * 100_000;
        world.ingest_one(RAS, ras(GPU, 2, at_ns));
        if i % LOGGED_EVERY == 0 {
            for occurrence in logged(&corrected(GPU), None, at_ns) {
                world.ingest_one(CONSOLE, occurrence);
            }
            for occurrence in logged(&corrected(GPU), Some(0), at_ns) {
                world.ingest_one(KMSG, occurrence);
            }
        }
        if i % CHUNK == CHUNK - 1 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    sys.corrected(GPU, ERRORS);
    for found in watch.poll(|_| false).unwrap().events {
        world.send(Input::Observation(Box::new(Observation {
            witness: found.witness,
            occurrence: found.occurrence,
            count: found.count,
        })));
    }
    let events = world.stored(None);
    let took = begun.elapsed();

    assert_eq!(events.len(), 1, "{events:#?}");
    let event = &events[0];
    assert_eq!((event.kind, event.repeats), (Kind::Aer, ERRORS - 1));
    assert_eq!(event.gpu.as_ref().unwrap().pci, Some(pci(GPU)));
    let counts = [RAS, CONSOLE, KMSG, SYSFS].map(|source| count(event, source));
    let lines = ERRORS / LOGGED_EVERY;
    assert_eq!(counts, [ERRORS, lines, lines, ERRORS]);
    assert!(
        event.message.contains("PCIe Bus Error"),
        "{}",
        event.message
    );

    let mut amendments = 0;
    while let Ok(news) = world.stream.try_recv() {
        let record = match &news {
            News::Event(published) => &published.record,
            News::Incident(_) | News::Health(_) => continue,
        };
        amendments += u128::from(matches!(record, Record::Amendment(_)));
    }
    // One with the event itself, one for each period, one for the flush.
    let most = took.as_millis() / 100 + 2;
    assert!(amendments <= most, "{amendments} amendments in {took:?}");
    assert!(amendments >= 2, "somebody who follows sees it grow");
}

#[test]
fn an_error_of_the_port_is_found_by_its_gpu_whoever_saw_it() {
    let sys = FakeSysfs::with_gpu();
    sys.corrected(PORT, 0);
    let mut watch = PciWatch::new(sys.root());
    watch.poll(|_| false).unwrap();
    sys.corrected(PORT, 1);
    let polled = watch.poll(|_| false).unwrap().events;
    assert_eq!(polled.len(), 1);

    let at_ns = clock::boottime_ns();
    let text = format!(
        "pcieport {PORT}: AER: Correctable error message received from {PORT}\n\
         pcieport {PORT}: PCIe Bus Error: severity=Correctable, type=Physical Layer, (Receiver ID)"
    );
    let observations = [
        (RAS, ras(PORT, 2, at_ns)),
        (CONSOLE, logged(&text, None, at_ns).remove(0)),
        (KMSG, logged(&text, Some(0), at_ns).remove(0)),
        (SYSFS, polled[0].occurrence.clone()),
    ];
    // Whichever comes first.
    for first in 0..observations.len() {
        let world = World::new(watch.tree().clone());
        let mut gpu = GpuInfo::at(pci(GPU));
        gpu.uuid = Some("GPU-1".to_owned());
        gpu.index = Some(3);
        world.send(Input::Gpus(vec![gpu]));
        for i in 0..observations.len() {
            let (witness, occurrence) = observations[(first + i) % observations.len()].clone();
            world.ingest_one(witness, occurrence);
        }
        let found = world.stored(Some(GPU));
        assert_eq!(world.stored(None).len(), 1);
        assert_eq!((found.len(), found[0].witnesses.len()), (1, 4));
        let event = &found[0];
        assert_eq!(event.repeats, 0);
        assert_eq!(event.detail.pcie.pci_device, Some(pci(PORT)));
        let gpu = event.gpu.as_ref().unwrap();
        assert_eq!((gpu.uuid.as_deref(), gpu.index), (Some("GPU-1"), Some(3)));
    }
}

#[test]
fn after_a_restart_the_logs_history_finds_the_event_though_the_tree_has_changed() {
    let sys = FakeSysfs::with_gpu();
    let at_ns = clock::boottime_ns();
    let text = format!("pcieport {PORT}: pciehp: Slot(4): Link Down");
    let fatal = format!(
        "pcieport {PORT}: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Transaction Layer, (Receiver ID)"
    );
    let world = World::new(PciTree::read(&sys.root()));
    for text in [&text, &fatal] {
        world.ingest_one(CONSOLE, logged(text, None, at_ns).remove(0));
    }
    assert_eq!(world.stored(Some(GPU)).len(), 2);
    // The GPU is gone, so the new run has no way to know what was below the port.
    let world = world.restart(PciTree::default());
    for text in [&text, &fatal] {
        world.ingest_one(KMSG, logged(text, Some(0), at_ns).remove(0));
    }
    let events = world.stored(Some(GPU));
    assert_eq!((events.len(), world.stored(None).len()), (2, 2));
    for event in events {
        assert_eq!((event.repeats, event.witnesses.len()), (0, 2));
    }
}

#[test]
fn an_error_of_an_adapter_is_nobodys() {
    let world = World::new(PciTree::read(&FakeSysfs::with_gpu().root()));
    world.ingest_one(RAS, ras("0000:5d:00.0", 2, clock::boottime_ns()));
    let events = world.stored(None);
    assert_eq!(events[0].gpu, None);
    assert_eq!(events[0].detail.pcie.pci_device, Some(pci("0000:5d:00.0")));
    assert!(world.stored(Some(GPU)).is_empty());
}

#[test]
fn uncorrected_errors_and_lost_links_make_somebody_look_and_corrected_ones_do_not() {
    let tree = PciTree::read(&FakeSysfs::with_gpu().root());
    let link_down = format!("pcieport {PORT}: pciehp: Slot(4): Link Down");
    let off_the_bus = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
    let now = clock::boottime_ns();
    for (occurrence, want) in [
        (ras(GPU, 2, now), false),
        (ras(GPU, 0, now), true),
        (ras(PORT, 1, now), true),
        (ras("0000:5d:00.0", 1, now), false),
        (logged(&link_down, None, now).remove(0), true),
        (logged(off_the_bus, None, now).remove(0), true),
    ] {
        let mut world = World::new(tree.clone());
        world.ingest_one(CONSOLE, occurrence.clone());
        assert_eq!(world.poll_is_requested(), want, "{occurrence:?}");
    }
}

#[test]
fn a_lost_link_is_critical_where_a_gpu_is_below_and_a_new_card_gets_its_gpu() {
    let sys = FakeSysfs::with_gpu();
    let now = clock::boottime_ns();
    let slot_event = |text: &str| {
        let text = format!("pcieport {PORT}: pciehp: Slot(4): {text}");
        logged(&text, None, now).remove(0)
    };
    let world = World::new(PciTree::read(&sys.root()));
    world.ingest_one(CONSOLE, slot_event("Link Down"));
    let events = world.stored(Some(GPU));
    assert_eq!(events[0].severity, gtrace_event::Severity::Critical);

    let empty = FakeSysfs::port();
    let world = World::new(PciTree::read(&empty.root()));
    world.ingest_one(CONSOLE, slot_event("Link Down"));
    world.ingest_one(CONSOLE, slot_event("Card present"));
    assert!(world.stored(Some(GPU)).is_empty());
    empty.add_gpu();
    world.send(Input::PciTree(PciTree::read(&empty.root())));
    let found = world.stored(Some(GPU));
    assert_eq!(found.len(), 1, "what went away was not this GPU");
    assert_eq!(found[0].message, slot_event("Card present").message);
}

#[test]
fn who_acknowledges_an_event_closes_it_in_the_status() {
    let world = World::new(PciTree::default());
    let mut occurrence = Occurrence::new(Kind::Xid, Severity::Critical, "Xid 79");
    occurrence.provenance = Provenance::Kernel;
    occurrence.detail.xid.xid = Some(79);
    world.ingest_one(KMSG, occurrence);
    let event = world.stored(None).remove(0);
    let open = || {
        let events = world.hub.status().events;
        events.values().sum::<u64>()
    };
    assert_eq!(open(), 1);
    for _ in 0..2 {
        let (answer, done) = oneshot::channel();
        let ack = Ack {
            id: event.id,
            time: Timestamp::now(),
            by: "alice".into(),
            note: "seen".into(),
        };
        world.send(Input::Command(Command::Ack(ack, answer)));
        done.blocking_recv().unwrap().unwrap();
        assert_eq!(open(), 0);
    }
}

fn xid(text: &str) -> Occurrence {
    Occurrence::new(Kind::Xid, Severity::Critical, text)
}

/// What comes of an acknowledgement of `event`.
pub(super) fn acknowledge(
    world: &World,
    event: &Event,
) -> oneshot::Receiver<Result<Event, String>> {
    let (answer, done) = oneshot::channel();
    let ack = Ack {
        id: event.id,
        time: Timestamp::now(),
        by: "alice".into(),
        note: "seen".into(),
    };
    world.send(Input::Command(Command::Ack(ack, answer)));
    done
}

#[test]
fn while_the_store_takes_nothing_an_event_is_seen_at_once_and_again_once_it_is_stored() {
    // A store that answers that it is busy, and one whose writer is stuck.
    for busy_timeout in [Duration::from_millis(1), Duration::from_secs(60)] {
        let fails = busy_timeout < Duration::from_secs(1);
        let options = gtrace_store::Options {
            busy_timeout,
            ..gtrace_store::Options::default()
        };
        let dir = tempfile::tempdir().unwrap();
        let other = rusqlite::Connection::open(dir.path().join("store.db")).unwrap();
        let mut world = World::start_with(dir, PciTree::default(), options);
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        world.ingest_one(KMSG, xid("Xid 79"));

        let first = world.next_record();
        assert!(first.provisional && first.id.is_none(), "{first:?}");
        let who_comes_later = world.hub.subscribe();
        assert_eq!(who_comes_later.provisional.len(), 1);
        assert_eq!(
            (who_comes_later.last, world.hub.status().last_seq),
            (None, 0)
        );
        let acked = acknowledge(&world, &first.event);
        let acked = if fails {
            let why = acked.blocking_recv().unwrap().unwrap_err();
            assert!(why.contains("the acknowledgement waits"), "{why}");
            None
        } else {
            Some(acked)
        };

        other.execute_batch("ROLLBACK").unwrap();
        if let Some(acked) = acked {
            assert_eq!(acked.blocking_recv().unwrap().unwrap().acks.len(), 1);
        }
        let mut committed = Vec::new();
        while committed.len() < 2 {
            let published = world.next_record();
            match published.seq {
                Some(seq) => committed.push((seq, published.record.clone())),
                None => assert!(committed.is_empty(), "provisional after it was committed"),
            }
        }
        assert_eq!(committed[0], (1, first.record.clone()));
        assert!(matches!(committed[1], (2, Record::Ack(_))), "{committed:?}");
        assert!(world.hub.subscribe().provisional.is_empty());
        assert_eq!(world.stored(None)[0].acks.len(), 1);
    }
}

#[test]
fn an_acknowledgement_is_answered_once_it_can_be_read_in_the_store() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 79"));
    let event = world.stored(None).remove(0);
    let reader = Reader::open(&world.dir.path().join("store.db")).unwrap();
    for acks in 1..=50 {
        let acked = acknowledge(&world, &event)
            .blocking_recv()
            .unwrap()
            .unwrap();
        assert_eq!(acked.acks.len(), acks);
        assert_eq!(reader.event(event.id).unwrap().unwrap().acks, acked.acks);
    }
}

fn action(event: &Event) -> Option<Action> {
    event.advice.as_ref()?.action
}

/// Xid 79 of the GPU; `facility` as /dev/kmsg gives it, none for printk:console.
pub(super) fn xid_79(facility: Option<u8>, at_ns: u64) -> Occurrence {
    let text = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=x, GPU has fallen off the bus.";
    logged(text, facility, at_ns).remove(0)
}

/// The same by the driver's own function, which has no text.
fn reported_79(at_ns: u64) -> Occurrence {
    let mut report = xid_79(Some(0), at_ns);
    report.message = format!("{}Xid 79", crate::input::SYNTHETIC);
    report
}

/// Open events by severity and provenance.
fn open(world: &World) -> Vec<(String, String, u64)> {
    let status = world.hub.status();
    let kernel = [("kernel".to_owned(), status.events)];
    let all = kernel.into_iter().chain(status.events_apart);
    let all = all.flat_map(|(provenance, open)| {
        open.into_iter()
            .map(move |(severity, n)| (severity, provenance.clone(), n))
    });
    all.filter(|(.., n)| *n > 0).collect()
}

#[test]
fn a_line_that_nobody_has_confirmed_is_no_fault_until_dev_kmsg_shows_who_wrote_it() {
    for (facility, provenance, act, counts) in [
        (0, Provenance::Kernel, Action::Page, [1, 0, 0, 0]),
        (1, Provenance::Userspace, Action::Ticket, [0, 1, 0, 0]),
    ] {
        let mut world = World::with_kmsg();
        let at_ns = clock::boottime_ns();
        world.ingest_one(CONSOLE, xid_79(None, at_ns));
        let first = world.next_event();
        assert_eq!(
            (first.provenance, action(&first)),
            (Provenance::Unknown, Some(Action::Log))
        );
        assert_eq!(world.counted(), [0; 4], "nobody knows yet as what");
        let unconfirmed = ("fatal".to_owned(), "unknown".to_owned(), 1);
        assert_eq!(open(&world), [unconfirmed]);
        assert_eq!(world.end_record.take(), Some(at_ns), "it may be open");

        world.ingest_one(KMSG, xid_79(Some(facility), at_ns));
        let mut event = world.next_event();
        while event.provenance == Provenance::Unknown {
            event = world.next_event();
        }
        assert_eq!((event.provenance, action(&event)), (provenance, Some(act)));
        assert_eq!(world.counted(), counts);
        let by_provenance = ("fatal".to_owned(), provenance.name().to_owned(), 1);
        assert_eq!(open(&world), [by_provenance]);
        assert_eq!(world.stored(None).len(), 1);
    }
}

#[test]
fn a_forged_line_never_pages_whoever_shows_it_first() {
    for console_first in [true, false] {
        let mut world = World::with_kmsg();
        let at_ns = clock::boottime_ns();
        let mut observations = [
            (CONSOLE, xid_79(None, at_ns)),
            (KMSG, xid_79(Some(1), at_ns)),
        ];
        if !console_first {
            observations.reverse();
        }
        for (witness, occurrence) in observations {
            world.ingest_one(witness, occurrence);
        }
        let mut event = world.next_event();
        while event.witnesses.len() < 2 {
            event = world.next_event();
        }
        assert_eq!(event.provenance, Provenance::Userspace);
        assert_eq!(world.counted(), [0, 1, 0, 0]);
    }
}

#[test]
fn a_forged_repeat_of_a_true_fault_is_never_counted_as_the_kernels() {
    let mut world = World::with_kmsg();
    let true_ns = clock::boottime_ns();
    world.ingest_one(KMSG, xid_79(Some(0), true_ns));
    world.ingest_one(CONSOLE, xid_79(None, true_ns));
    while world.next_event().witnesses.len() < 2 {}
    assert_eq!(world.counted(), [1, 0, 0, 0]);
    // The record of this line comes only when the line is in the fold already.
    let forged_ns = clock::boottime_ns();
    world.ingest_one(CONSOLE, xid_79(None, forged_ns));
    while world.next_event().repeats < 1 {}
    assert_eq!(world.counted(), [1, 0, 0, 0]);
    world.ingest_one(KMSG, xid_79(Some(1), forged_ns));
    assert_eq!(world.counted(), [1, 1, 0, 0]);
    let events = world.stored(None);
    assert_eq!(events.len(), 2);
    assert!(events.iter().all(|event| event.repeats == 0));
}

#[test]
fn a_report_of_the_driver_confirms_a_line_whichever_comes_first() {
    for line_first in [true, false] {
        let mut world = World::with_kmsg();
        let at_ns = clock::boottime_ns();
        let mut observations = [
            (CONSOLE, xid_79(None, at_ns)),
            (WitnessName::ReportError, reported_79(at_ns)),
        ];
        if !line_first {
            observations.reverse();
        }
        for (witness, occurrence) in observations {
            world.ingest_one(witness, occurrence);
        }
        let mut event = world.next_event();
        while event.witnesses.len() < 2 {
            event = world.next_event();
        }
        assert_eq!(
            (event.provenance, action(&event)),
            (Provenance::Kernel, Some(Action::Page))
        );
        assert_eq!(world.counted(), [1, 0, 0, 0]);
    }
}

#[test]
fn what_dev_kmsg_cannot_disprove_is_a_fault() {
    // The thread that reads it is down.
    let world = World::new(PciTree::read(&FakeSysfs::with_gpu().root()));
    world.ingest_one(CONSOLE, xid_79(None, clock::boottime_ns()));
    assert_eq!(action(&world.stored(None)[0]), Some(Action::Page));

    // It was overwritten before it was read.
    let mut world = World::with_kmsg();
    world.ingest_one(CONSOLE, xid_79(None, clock::boottime_ns()));
    assert_eq!(action(&world.next_event()), Some(Action::Log));
    let kmsg = KMSG.name();
    world.hub.metrics.count_lost(kmsg, "overwritten", 1);
    let lost = crate::input::loss(kmsg, 1, "overwritten before they were read");
    world.ingest_one(KMSG, lost);
    let events = world.stored(Some(GPU));
    assert_eq!(
        (events[0].provenance, action(&events[0])),
        (Provenance::Unknown, Some(Action::Page))
    );
}

#[test]
fn a_drill_is_counted_and_shown_apart_from_faults() {
    let world = World::with_kmsg();
    let mut drill = xid_79(Some(1), clock::boottime_ns());
    drill.provenance = Provenance::Injected;
    world.ingest_one(KMSG, drill);
    assert_eq!(world.counted(), [0, 0, 1, 0]);
    let apart = ("fatal".to_owned(), "injected".to_owned(), 1);
    assert_eq!(open(&world), [apart]);
    assert_eq!(world.hub.status().open_apart(), ["drills: 1"]);
    let event = world.stored(None).remove(0);
    acknowledge(&world, &event)
        .blocking_recv()
        .unwrap()
        .unwrap();
    assert_eq!(open(&world), []);
}

/// Damages an index of the store under a running writer, which reads it again before its next append.
fn damage(store: &std::path::Path) {
    use std::os::unix::fs::FileExt as _;
    let conn = rusqlite::Connection::open(store).unwrap();
    let folded = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    folded.unwrap();
    let sql = "SELECT rootpage FROM sqlite_master WHERE name GLOB 'records_*_event'";
    let page: u32 = conn.query_row(sql, [], |row| row.get(0)).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(store).unwrap();
    file.write_all_at(&[0x5a; 100], u64::from(page - 1) * 4096)
        .unwrap();
    // Another connection has written: the writer's pages are old.
    conn.execute("UPDATE meta SET value = value", []).unwrap();
}

/// Waits for the event by which the store says that a damaged file was moved aside.
fn moved_aside(world: &mut World) -> (u64, Event) {
    loop {
        let published = world.next_record();
        let event = published.event.clone();
        if event.kind == Kind::RecordsRemoved {
            assert_eq!(event.detail.removal.removal, Some(RemovalCause::Damage));
            let moved = event.detail.removal.moved_to.clone().unwrap();
            assert!(std::path::Path::new(&moved).exists(), "{moved}");
            return (published.seq.unwrap(), event);
        }
    }
}

#[test]
fn a_store_that_somebody_removes_is_begun_anew_and_the_loss_recorded() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        let _ = std::fs::remove_file(world.dir.path().join(file));
    }
    let event = loop {
        let published = world.next_record();
        if published.event.kind == Kind::RecordsRemoved {
            break published.event.clone();
        }
    };
    assert_eq!(event.detail.removal.moved_to, None);
    assert!(event.message.contains("removed"), "{}", event.message);
    world.ingest_one(KMSG, xid("Xid 79, after"));
    let stored = world.stored(None);
    assert_eq!(stored.len(), 2, "{stored:?}");
    assert_eq!(world.hub.status().store_problem, None);
}

#[test]
fn nothing_that_comes_after_the_store_was_removed_is_lost_however_often_that_is() {
    let world = World::new(PciTree::default());
    let path = world.dir.path().join("store.db");
    let mut gpus = (0..100_u8).map(|n| pci(&format!("0000:{n:02x}:00.0")));
    let mut add = |text: &str| {
        let mut occurrence = xid(text);
        occurrence.gpu = gpus.next().map(gtrace_event::Gpu::at);
        world.ingest_one(KMSG, occurrence);
        world.flush();
    };
    let kept = || {
        let stored = world.stored(None);
        let xids = stored.iter().filter(|event| event.kind == Kind::Xid);
        xids.map(|event| event.message.clone()).collect::<Vec<_>>()
    };
    add("Xid 79, before");
    for round in 0..3 {
        std::fs::remove_file(&path).unwrap();
        let texts = ["one", "two"].map(|n| format!("Xid 79, {n} of round {round}"));
        texts.iter().for_each(|text| add(text));
        assert_eq!(kept(), texts);
        let report = Reader::open(&path).unwrap().verify().unwrap();
        assert!(report.is_ok(), "{report:?}");
    }
    // Another file in its place is not what the writer writes to either. It is kept.
    let other = world.dir.path().join("other");
    std::fs::write(&other, "not a store").unwrap();
    std::fs::rename(&other, &path).unwrap();
    add("Xid 79, last");
    assert_eq!(kept(), ["Xid 79, last"]);
    let files = std::fs::read_dir(world.dir.path()).unwrap();
    let mut contents = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    assert!(contents.any(|content| content == b"not a store"));
}

#[test]
fn a_store_that_turns_damaged_is_replaced_and_nothing_that_waits_is_lost() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    let path = world.dir.path().join("store.db");
    damage(&path);
    for n in 0..100_u8 {
        let mut occurrence = xid(&format!("Xid 79, number {n}"));
        occurrence.gpu = Some(gtrace_event::Gpu::at(pci(&format!("0000:{n:02x}:00.0"))));
        world.ingest_one(KMSG, occurrence);
    }
    let stored = world.stored(None);
    assert_eq!(stored.len(), 101, "{stored:?}");
    assert_eq!(world.hub.status().store_problem, None);
    assert_eq!(world.hub.metrics.store_moved_aside.get(), 1);

    // Numbers go on, so a live reader misses nothing; the first record of the new file says it all.
    let (seq, event) = moved_aside(&mut world);
    assert_eq!(seq, 2);
    assert_eq!(event.host.as_deref(), Some("h"));
    assert_eq!(
        event.advice.unwrap().action.map(|a| a.name()),
        Some("ticket")
    );
    for want in 3..=102 {
        let published = loop {
            let published = world.next_record();
            if !published.provisional {
                break published;
            }
        };
        assert_eq!(published.seq, Some(want));
    }
    let report = Reader::open(&path).unwrap().verify().unwrap();
    assert!(report.is_ok(), "{report:?}");
    assert_eq!((report.first_seq, report.last_seq), (2, 102));
}

#[test]
fn damage_that_a_reader_meets_has_the_store_checked_and_replaced() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    let path = world.dir.path().join("store.db");
    let error = || StoreError::Corrupt {
        path: path.clone(),
        why: "a page".to_owned(),
    };
    damage(&path);
    world.hub.suspect_store(&error());
    // Anything wakes the store's thread before its time.
    world.send(Input::KmsgProgress(7));
    world.flush();
    moved_aside(&mut world);
    // A check that finds nothing changes nothing.
    world.hub.suspect_store(&error());
    world.ingest_one(KMSG, xid("Xid 79"));
    assert_eq!(world.stored(None).len(), 2);
    assert_eq!(world.hub.metrics.store_moved_aside.get(), 1);
}

#[test]
fn a_store_that_is_damaged_at_the_start_is_an_event_and_a_metric() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, xid("Xid 13, the first"));
    world.flush();
    let World { dir, core, .. } = world;
    core.finish();
    damage(&dir.path().join("store.db"));
    let world = World::start(dir, PciTree::default());
    world.ingest_one(KMSG, xid("Xid 79"));
    let kinds: Vec<_> = world.stored(None).iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::RecordsRemoved, Kind::Xid]);
    assert_eq!(world.hub.metrics.store_moved_aside.get(), 1);
    assert!(world.hub.status().store_problem.is_none());
}

#[test]
fn a_start_with_a_wrong_clock_removes_nothing_by_age() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(
        &dir.path().join("store.db"),
        gtrace_store::Options::default(),
    )
    .unwrap();
    // By the clock of this start years ago.
    for (n, year) in ["2019", "2020"].into_iter().enumerate() {
        let time: Timestamp = format!("{year}-01-01T00:00:00Z").parse().unwrap();
        let witness = gtrace_event::Witness {
            source: KMSG,
            count: 1,
            first_time: time,
        };
        let event = Event::new(time, witness, xid(&format!("Xid 79, number {n}")));
        let records = [Record::Event(Box::new(event))];
        store.append_at(time, &records, &[]).unwrap();
    }
    drop(store);
    let world = World::start(dir, PciTree::default());
    world.ingest_one(KMSG, xid("Xid 79"));
    let kinds: Vec<_> = world.stored(None).iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Xid; 3]);
}

/// Both sources of the kernel log show the lines, each at its time.
fn log_lines<'a>(world: &World, lines: impl IntoIterator<Item = (&'a str, u64)>) {
    for (text, at_ns) in lines {
        for (witness, facility) in [(CONSOLE, None), (KMSG, Some(0))] {
            for occurrence in logged(text, facility, at_ns) {
                world.ingest_one(witness, occurrence);
            }
        }
    }
}

fn mmu_fault(gpu: &str, process: &str, unit: &str, address: u32) -> String {
    format!(
        "NVRM: Xid (PCI:{gpu}): 31, {process}, intr 00000000. MMU Fault: ENGINE {unit} GPC1 \
         GPCCLIENT_T1_3 faulted @ 0x7f_{address:08x}. Fault is of type FAULT_PDE \
         ACCESS_TYPE_VIRT_READ"
    )
}

#[test]
fn mmu_faults_at_a_thousand_addresses_are_one_event_and_other_places_are_others() {
    const FAULTS: u64 = 1000;
    let world = World::new(PciTree::default());
    let first_ns = clock::boottime_ns() - 2_000_000_000;
    let process = "pid=41822, name=python3, Ch 00000010";
    let at_addresses: Vec<String> = (0..FAULTS as u32)
        .map(|n| mmu_fault("0000:3b:00", process, "GRAPHICS", n << 12))
        .collect();
    let times = (0..).map(|n| first_ns + n * 1_000_000);
    log_lines(&world, at_addresses.iter().map(String::as_str).zip(times));
    let others = [
        mmu_fault("0000:5e:00", process, "GRAPHICS", 0),
        mmu_fault(
            "0000:3b:00",
            "pid=7, name=python3, Ch 00000010",
            "GRAPHICS",
            0,
        ),
        mmu_fault(
            "0000:3b:00",
            "pid=41822, name=python3, Ch 00000011",
            "GRAPHICS",
            0,
        ),
        mmu_fault("0000:3b:00", process, "CE3", 0),
        "NVRM: Xid (PCI:0000:3b:00): 43, pid=41822, name=python3, Ch 00000010".to_owned(),
    ];
    let after = first_ns + 1_500_000_000;
    log_lines(&world, others.iter().map(|text| (text.as_str(), after)));

    let events = world.stored(None);
    assert_eq!(events.len(), 1 + others.len(), "{events:#?}");
    let (faults, rest): (Vec<_>, Vec<_>) = events.iter().partition(|e| e.repeats > 0);
    let [event] = &faults[..] else {
        panic!("{faults:#?}");
    };
    assert!(rest.iter().all(|e| e.repeats == 0 && e.variants.is_empty()));
    assert_eq!(event.repeats, FAULTS - 1);
    assert_eq!([CONSOLE, KMSG].map(|w| count(event, w)), [FAULTS; 2]);
    assert!(event.message.contains("0x7f_00000000"), "{}", event.message);
    assert_eq!(event.variants.len(), 8);
    assert!(
        event.variants[7].message.contains("0x7f_00008000"),
        "{event:#?}"
    );
    let took = event.last_time.unwrap().duration_since(event.time);
    assert!((995..=1005).contains(&took.as_millis()), "{took:?}");
}

#[test]
fn the_exceptions_that_one_bad_kernel_raises_on_many_sms_are_one_event() {
    let mut lines = Vec::new();
    for (gpc, sm) in [(0, 0), (0, 1), (3, 0), (9, 0), (9, 1)] {
        let place = format!("(GPC {gpc}, TPC 1, SM {sm})");
        lines.extend([
            format!("Graphics SM Warp Exception on {place}: Out Of Range Address"),
            format!("Graphics SM Global Exception on {place}: Multiple Warp Errors"),
            format!("Graphics Exception: ESR 0x50{gpc}e{sm}8=0x107000e 0x50cf34=0x20"),
        ]);
    }
    lines.push("Graphics Exception: ChID 001f, Class 0000c7c0, Offset 0, Data 0".to_owned());
    let lines: Vec<String> = lines
        .iter()
        .map(|text| {
            format!("NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=<unknown>, {text}")
        })
        .collect();
    let world = World::new(PciTree::default());
    let now = clock::boottime_ns();
    let times = (0..).map(|n| now - 4_000_000 + n * 250_000);
    log_lines(&world, lines.iter().map(String::as_str).zip(times));
    let events = world.stored(None);
    let repeats: Vec<_> = events
        .iter()
        .map(|e| (e.repeats, e.witnesses.len()))
        .collect();
    // The last names a channel.
    assert_eq!(repeats, [(14, 2), (0, 2)], "{events:#?}");
    assert_eq!(events[0].variants.len(), 8);
}

#[test]
fn a_counters_rise_is_stored_exactly_however_large() {
    let world = World::new(PciTree::read(&FakeSysfs::with_gpu().root()));
    for count in [1_000_000, 65_537] {
        let mut occurrence = ras(GPU, 2, clock::boottime_ns());
        occurrence.boottime_ns = None;
        world.send(Input::Observation(Box::new(Observation {
            witness: SYSFS,
            occurrence,
            count,
        })));
    }
    let events = world.stored(None);
    assert_eq!((events.len(), events[0].repeats), (1, 1_065_536));
    assert_eq!(count(&events[0], SYSFS), 1_065_537);
}

#[test]
fn an_acknowledgement_that_finds_the_queue_full_is_refused_and_nobody_sees_it() {
    let options = gtrace_store::Options {
        busy_timeout: Duration::from_millis(1),
        ..gtrace_store::Options::default()
    };
    let world = World::start_with(tempfile::tempdir().unwrap(), PciTree::default(), options);
    world.ingest_one(KMSG, xid("Xid 79"));
    let event = world.stored(None).remove(0);
    let store = world.dir.path().join("store.db");
    let other = rusqlite::Connection::open(&store).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for n in 0..=MAX_WAITING {
        world.ingest_one(KMSG, xid(&format!("Xid 31, number {n}")));
    }
    let (answer, done) = oneshot::channel();
    world.send(Input::Command(Command::Flush(answer)));
    assert!(done.blocking_recv().unwrap().is_err());
    let lost = world.hub.metrics.lost_of("store");
    assert!(lost > 0, "the queue is not full");

    let mut live = world.hub.subscribe().live;
    let refused = acknowledge(&world, &event).blocking_recv().unwrap();
    assert!(refused.unwrap_err().contains("no more records may wait"));
    assert!(live.try_recv().is_err(), "it was streamed");
    assert_eq!(world.hub.metrics.lost_of("store"), lost);

    other.execute_batch("ROLLBACK").unwrap();
    while live.blocking_recv().is_ok_and(|news| news.id().is_none()) {}
    let acked = acknowledge(&world, &event).blocking_recv().unwrap();
    assert_eq!(acked.unwrap().acks.len(), 1);
    let reader = Reader::open(&store).unwrap();
    assert_eq!(reader.event(event.id).unwrap().unwrap().acks.len(), 1);
}

impl World {
    fn incident(&self) -> gtrace_event::Incident {
        self.flush();
        let mut incidents = self.hub.incidents();
        assert_eq!(incidents.len(), 1, "{incidents:#?}");
        incidents.remove(0)
    }

    fn stored_incidents(&self) -> Vec<gtrace_event::Incident> {
        self.flush();
        let reader = Reader::open(&self.dir.path().join("store.db")).unwrap();
        reader
            .incidents(&gtrace_store::IncidentFilter::default())
            .unwrap()
    }

    fn change_incident(
        &self,
        id: gtrace_event::IncidentId,
        state: IncidentState,
    ) -> Result<gtrace_event::Incident, String> {
        let change = StateChange {
            time: Timestamp::now(),
            state,
            by: "me".to_owned(),
            note: String::new(),
        };
        let (answer, done) = oneshot::channel();
        self.send(Input::Command(Command::Incident(
            id,
            Box::new(change),
            answer,
        )));
        done.blocking_recv().unwrap()
    }
}

fn fallen(provenance: Provenance) -> Occurrence {
    let mut occurrence =
        xid("NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.");
    occurrence.detail.xid.xid = Some(79);
    occurrence.provenance = provenance;
    occurrence
}

#[test]
fn a_fault_opens_an_incident_that_a_restart_takes_up_and_a_person_resolves() {
    let mut world = World::new(PciTree::default());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let opened = world.incident();
    let event = world.stored(None).remove(0);
    assert_eq!(
        (opened.events.as_slice(), opened.state),
        (&[event.id][..], IncidentState::Open)
    );
    assert_eq!(opened.host.as_deref(), Some("h"));
    assert_eq!(world.stored_incidents(), std::slice::from_ref(&opened));
    let acked = world
        .change_incident(opened.id, IncidentState::Acknowledged)
        .unwrap();
    assert_eq!(world.stored_incidents(), std::slice::from_ref(&acked));
    let published = loop {
        if let News::Incident(published) = world.stream.blocking_recv().unwrap()
            && published.incident.state == IncidentState::Acknowledged
        {
            break published;
        }
    };
    // Behind the event, the incident, the boot and the change of health.
    assert_eq!(
        (published.incident.clone(), published.seq),
        (acked.clone(), Some(5))
    );

    let World { dir, core, .. } = world;
    core.finish();
    let world = World::start(dir, PciTree::default());
    assert_eq!(world.incident(), acked);
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let again = world.incident();
    assert_eq!(
        (again.id, again.event_count),
        (acked.id, 1),
        "the repeat is another event"
    );
    let resolved = world
        .change_incident(opened.id, IncidentState::Resolved)
        .unwrap();
    assert!(resolved.closed.is_some());
    assert!(
        world
            .stored_incidents()
            .iter()
            .all(|i| i.state == IncidentState::Resolved)
    );
    assert!(
        world
            .change_incident(gtrace_event::IncidentId::new(1), IncidentState::Open)
            .is_err()
    );
    let report = Reader::open(&world.dir.path().join("store.db"))
        .unwrap()
        .verify()
        .unwrap();
    assert!(report.is_ok(), "{report:?}");
}

#[test]
fn what_a_program_wrote_opens_no_incident_until_the_kernel_confirms_it() {
    let mut world = World::with_kmsg();
    let mut line =
        xid("NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=a, GPU has fallen off the bus.");
    line.provenance = Provenance::Unknown;
    world.ingest_one(CONSOLE, line.clone());
    let first = world.next_event();
    assert_eq!(first.provenance, Provenance::Unknown);
    assert!(world.hub.incidents().is_empty());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    assert_eq!(world.incident().events, [first.id]);
}

#[test]
fn what_is_resolved_is_opened_again_before_anything_else_and_lives_then() {
    let world = World::new(PciTree::default());
    let fallen = || {
        let mut occurrence = fallen(Provenance::Kernel);
        occurrence.gpu = Some(gtrace_event::Gpu::at(pci(GPU)));
        occurrence
    };
    world.ingest_one(KMSG, fallen());
    let opened = world.incident();
    world
        .change_incident(opened.id, IncidentState::Resolved)
        .unwrap();
    let again = world.change_incident(opened.id, IncidentState::Resolved);
    assert!(again.unwrap_err().contains("resolved already, by me"));
    let acked = world.change_incident(opened.id, IncidentState::Acknowledged);
    assert!(acked.unwrap_err().contains("incidents reopen"));
    // After a restart the correlator has let go of it, as an hour after it was resolved.
    let world = world.restart(PciTree::default());
    let reopened = world
        .change_incident(opened.id, IncidentState::Open)
        .unwrap();
    assert_eq!(
        (reopened.state, reopened.event_count),
        (IncidentState::Open, 1)
    );
    let mut other = fallen();
    other.message =
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=2, name=b, GPU has fallen off the bus.".into();
    other.boottime_ns = Some(clock::boottime_ns() + 1);
    world.ingest_one(KMSG, other);
    world.flush();
    let incidents = world.hub.incidents();
    assert_eq!(incidents.len(), 1, "{incidents:#?}");
    assert!(incidents[0].occurrences > reopened.occurrences);
}

#[test]
fn evidence_is_added_once_and_that_there_is_no_incident_is_said_apart() {
    let world = World::new(PciTree::default());
    world.ingest_one(KMSG, fallen(Provenance::Kernel));
    let opened = world.incident();
    let add = |id| {
        let (answer, done) = oneshot::channel();
        let missing = gtrace_event::MissingEvidence {
            what: "samples".to_owned(),
            why: "there are none".to_owned(),
        };
        world.send(Input::Command(Command::Evidence {
            incident: id,
            evidence: Vec::new(),
            missing: vec![missing],
            answer,
        }));
        done.blocking_recv().unwrap()
    };
    assert_eq!(add(opened.id), Ok(()));
    let first = world.hub.incident(opened.id).unwrap();
    assert_eq!(first.missing.len(), 1);
    assert_eq!(add(opened.id), Ok(()));
    assert_eq!(world.hub.incident(opened.id).unwrap(), first);
    let nobody = "01KJSZ3M7B0000000000ABCDEF".parse().unwrap();
    assert_eq!(add(nobody), Err(crate::hub::Unchanged::NoIncident(nobody)));
}

#[test]
fn the_worst_of_many_unresolved_incidents_are_taken_up_and_the_rest_is_counted() {
    const LEFT_OUT: usize = 9;
    let mut correlator = gtrace_incident::Correlator::new(
        gtrace_incident::Rules::builtin().unwrap(),
        gtrace_incident::Options::default(),
    );
    let mut records = Vec::new();
    for nth in 0..crate::hub::INCIDENTS_MAX + LEFT_OUT {
        let mut occurrence = Occurrence::new(Kind::GpuLost, Severity::Fatal, "gone");
        occurrence.provenance = Provenance::Kernel;
        let at = format!("{nth:04x}:3b:00.0");
        occurrence.gpu = Some(gtrace_event::Gpu::at(pci(&at)));
        let time = Timestamp::now();
        let witness = gtrace_event::Witness {
            source: SYSFS,
            count: 1,
            first_time: time,
        };
        let mut incident = correlator
            .ingest(&Event::new(time, witness, occurrence))
            .remove(0);
        // The oldest is the worst.
        if nth > 0 {
            incident.severity = Severity::Warning;
        }
        records.push(gtrace_event::Record::Incident(Box::new(incident)));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let mut store = Store::open(&path, gtrace_store::Options::default()).unwrap();
    store.append(&records, &[]).unwrap();
    store.close();
    let world = World::start(dir, PciTree::default());
    world.flush();
    let taken_up = world.hub.incidents();
    assert_eq!(taken_up.len(), crate::hub::INCIDENTS_MAX);
    let fatal = taken_up.iter().filter(|i| i.severity == Severity::Fatal);
    assert_eq!(fatal.count(), 1);
    assert!(world.hub.has_taken_up_incidents());
    let lost = world.hub.metrics.lost_of("incidents");
    assert_eq!(lost, LEFT_OUT as u64);
}
