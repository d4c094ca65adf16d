#[path = "core_tests/clocks.rs"]
mod clocks;
#[path = "core_tests/confirm.rs"]
mod confirm;
#[path = "core_tests/folding.rs"]
mod folding;
#[path = "core_tests/incidents.rs"]
mod incidents;
#[path = "core_tests/store.rs"]
mod store;

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
use gtrace_event::{Ack, Event, IncidentState, Record, StateChange, WitnessName};
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
            site_rules: super::SiteRules::default(),
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
        self.send(Input::once(witness, occurrence));
    }

    /// Waits until everything sent is in the store.
    pub(super) fn flush(&self) {
        let (answer, done) = oneshot::channel();
        self.send(Input::Command(Command::Flush(answer)));
        done.blocking_recv().unwrap().unwrap();
    }

    /// Of the store, with everything sent.
    pub(super) fn reader(&self) -> Reader {
        self.flush();
        Reader::open(&self.dir.path().join("store.db")).unwrap()
    }

    pub(super) fn stored(&self, gpu: Option<&str>) -> Vec<Event> {
        let gpu = gpu.map(|gpu| GpuFilter::Pci(pci(gpu)));
        let filter = Filter {
            gpu,
            ..Filter::default()
        };
        self.reader().query(&filter).unwrap()
    }

    /// How often it happened by the events of a kind.
    pub(super) fn happened(&self, kind: Kind) -> u64 {
        let events = self.stored(None).into_iter();
        let events = events.filter(|event| event.kind == kind);
        events.map(|event| 1 + event.repeats).sum()
    }

    /// The event once it is acknowledged.
    pub(super) fn acknowledged(&self, event: &Event) -> Event {
        acknowledge(self, event).blocking_recv().unwrap().unwrap()
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
        world.send(Input::Observation(Box::new(found)));
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
        let change = match &news {
            News::Event(published) => &published.change,
            News::Incident(_) | News::Health(_) => continue,
        };
        amendments += u128::from(matches!(change, Some(EventChange::Amendment(_))));
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
    let mut occurrence = fault(Kind::Xid, Severity::Critical, "Xid 79");
    occurrence.detail.xid.xid = Some(79);
    world.ingest_one(KMSG, occurrence);
    let event = world.stored(None).remove(0);
    let open = || {
        let events = world.hub.status().events;
        events.values().sum::<u64>()
    };
    assert_eq!(open(), 1);
    for _ in 0..2 {
        world.acknowledged(&event);
        assert_eq!(open(), 0);
    }
}

fn xid(text: &str) -> Occurrence {
    Occurrence::new(Kind::Xid, Severity::Critical, text)
}

/// What the kernel reports.
pub(super) fn fault(kind: Kind, severity: Severity, text: &str) -> Occurrence {
    let mut occurrence = Occurrence::new(kind, severity, text);
    occurrence.provenance = Provenance::Kernel;
    occurrence
}

/// The same of the GPU or NVSwitch at an address.
pub(super) fn fault_of(at: &str, kind: Kind, severity: Severity, text: &str) -> Occurrence {
    let mut occurrence = fault(kind, severity, text);
    occurrence.gpu = Some(gtrace_event::Gpu::at(pci(at)));
    occurrence
}

/// What comes of an acknowledgement of `event`.
pub(super) fn acknowledge(
    world: &World,
    event: &Event,
) -> oneshot::Receiver<Result<Event, String>> {
    let (answer, done) = oneshot::channel();
    let ack = Ack::new(event.id, Timestamp::now(), "alice", "seen");
    world.send(Input::Command(Command::Ack(ack, answer)));
    done
}

/// Xid 79 of the GPU; `facility` as /dev/kmsg gives it, none for printk:console.
pub(super) fn xid_79(facility: Option<u8>, at_ns: u64) -> Occurrence {
    let text = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=x, GPU has fallen off the bus.";
    logged(text, facility, at_ns).remove(0)
}

fn action(event: &Event) -> Option<Action> {
    event.advice.as_ref()?.action
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
