//! The shared state of a running daemon: the live stream of records and the state that
//! every part reports. Cheap to read from the API while the pipeline runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_api::{
    CallStats, ComponentHealth, CudaReport, DeviceUser, HealthState, Published, PublishedIncident,
    SourceState, SourceStatus, Status,
};
use gtrace_devices::GpuInfo;
use gtrace_devices::HostNews;
use gtrace_event::{
    Ack, Event, EventChange, Evidence, HealthReport, Incident, IncidentId, MaintenanceWindow,
    MissingEvidence, Occasion, RecordId, StateChange, Timestamp, WitnessName,
};
use gtrace_store::StoreError;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::checks::{Checked, Looked};
use crate::flight::Recorder;
use crate::holders;
pub use crate::incident_table::INCIDENTS_MAX;
use crate::incident_table::IncidentTable;
use crate::latency::Latencies;
use crate::lock::lock;
use crate::metrics::Metrics;
use crate::samples::{Samples, is_stale};
use crate::supervise::{self, Outage, Registry, names};
use crate::tally::Tally;

/// How many published records a live reader may lag behind before it has to read the store. They stay in
/// memory until the slowest live reader has taken them.
const STREAM_DEPTH: usize = 2048;

/// What a live reader begins with, all of one moment.
#[derive(Debug)]
pub struct Subscription {
    /// The newest record that the store has. What comes later is sent to `live`.
    pub last: Option<RecordId>,
    /// What was published provisionally and waits for the store, oldest first.
    pub provisional: Vec<Arc<Published>>,
    /// What is published from now on.
    pub live: broadcast::Receiver<News>,
}

/// What live readers get.
#[derive(Clone, Debug)]
pub enum News {
    /// A record of an event.
    Event(Arc<Published>),
    /// An incident was opened or has changed.
    Incident(Arc<PublishedIncident>),
    /// The store has a record of health.
    Health(RecordId),
}

impl News {
    /// The record's id; `None` while the store has not taken it.
    pub fn id(&self) -> Option<RecordId> {
        match self {
            Self::Event(published) => published.id,
            Self::Incident(published) => published.id,
            Self::Health(id) => Some(*id),
        }
    }
}

/// The live stream, and what a reader that comes later has to know of it.
#[derive(Debug)]
struct LiveStream {
    readers: broadcast::Sender<News>,
    last: Option<RecordId>,
    provisional: VecDeque<Arc<Published>>,
}

/// What the API asks of the daemon's core.
#[derive(Debug)]
pub enum Command {
    /// Append an acknowledgement; the answer comes once the store has it, or could not take it.
    Ack(Ack, oneshot::Sender<Result<Event, String>>),
    /// Change the state of an incident; the answer comes once the store has it, or could not take it.
    Incident(
        IncidentId,
        Box<StateChange>,
        oneshot::Sender<Result<Incident, String>>,
    ),
    /// Keep the state of the host: open an incident of the reason given. The answer comes once the store has it.
    Capture(String, oneshot::Sender<Result<Incident, String>>),
    /// Add to an incident what was kept of it, and what could not be; the answer comes once the store has it.
    Evidence {
        /// Which.
        incident: IncidentId,
        /// Files.
        evidence: Vec<Evidence>,
        /// What is not there.
        missing: Vec<MissingEvidence>,
        /// How it ended.
        answer: oneshot::Sender<Result<(), Unchanged>>,
    },
    /// Something was observed that changes health and is no event.
    Observed(Occasion),
    /// A plugin of the site was run.
    Checked(Checked),
    /// Something happened to the part of the host of this name.
    HostNews(Box<HostNews>),
    /// The text of the site's rules of health, which was understood; none where it has none.
    SiteRules(Option<String>),
    /// It was looked which plugins there are.
    Looked(Looked),
    /// These processes were read: the holders have them, if they have a GPU for anybody.
    HoldersRead(BTreeSet<u32>),
    /// Begin or end a maintenance window; the answer comes once the store has it.
    Maintenance(
        MaintenanceWindow,
        oneshot::Sender<Result<MaintenanceWindow, String>>,
    ),
    /// Make everything captured so far readable in the store, by other processes too.
    Flush(oneshot::Sender<Result<(), String>>),
    /// Detach or attach every probe.
    Pause(Pause, oneshot::Sender<Result<(), String>>),
}

impl Command {
    /// Answers a request, which is not carried out, with `why`. Gives back what is none.
    pub(crate) fn refuse(self, why: &str) -> Option<Self> {
        let why = why.to_owned();
        // Whoever asked may have given up.
        match self {
            Self::Ack(_, answer) => drop(answer.send(Err(why))),
            Self::Incident(_, _, answer) | Self::Capture(_, answer) => {
                drop(answer.send(Err(why)));
            }
            Self::Maintenance(_, answer) => drop(answer.send(Err(why))),
            Self::Flush(answer) | Self::Pause(_, answer) => drop(answer.send(Err(why))),
            other => return Some(other),
        }
        None
    }
}

/// Whether probes are to be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// true detaches every probe, false attaches them.
    pub paused: bool,
    /// After which they are attached again by themselves.
    pub lease: Option<Duration>,
}

/// Why an incident is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unchanged {
    /// Neither the daemon nor its store has it.
    #[error("there is no incident {0}")]
    NoIncident(IncidentId),
    /// Any other reason.
    #[error("{0}")]
    Failed(String),
}

/// What is wrong with the store, by the thread that knows.
#[derive(Debug, Default)]
pub(crate) struct StoreProblems {
    /// Records cannot be appended.
    pub(crate) append: Option<String>,
    /// What was appended cannot be synced.
    pub(crate) sync: Option<String>,
}

/// The shared state.
#[derive(Debug)]
pub struct Hub {
    /// Counters for `/metrics`.
    pub metrics: Metrics,
    /// The daemon's threads.
    pub tasks: Registry,
    /// What components measure.
    pub samples: Samples,
    /// The last minutes, for incidents.
    pub recorder: Recorder,
    /// Who has which GPU.
    pub holders: holders::Kept,
    /// How long they had GPUs.
    pub usage: crate::usage::Usage,
    /// How long calls took.
    pub latencies: Arc<Latencies>,
    stream: Mutex<LiveStream>,
    commands: mpsc::UnboundedSender<Command>,
    status: Mutex<Status>,
    store_problems: Mutex<StoreProblems>,
    gpus: Mutex<Vec<GpuInfo>>,
    /// Whether somebody has looked for them.
    looked_for_gpus: AtomicBool,
    calls: Mutex<Vec<CallStats>>,
    /// Who waits for the next reading of driver calls.
    calls_wanted: Mutex<Vec<oneshot::Sender<()>>>,
    cuda: Mutex<Arc<(CudaReport, Tally)>>,
    health: Mutex<BTreeMap<&'static str, Judged>>,
    seen: Mutex<BTreeMap<&'static str, Timestamp>>,
    remote: Mutex<Option<(RemoteAnswer, Instant)>>,
    /// Those that are not resolved, and some that were, as they are now.
    incidents: Mutex<IncidentTable>,
    /// The health of host and parts, as the core saw it last.
    health_report: Mutex<Option<Arc<HealthReport>>>,
    /// Whether the health of earlier runs was read back.
    health_restored: AtomicBool,
    /// Whether the unresolved incidents of earlier runs were read back, all of them.
    incidents_taken_up: AtomicBool,
    /// Parts and reasons of health that found no room.
    health_dropped: AtomicU64,
    /// Processes that the daemon has started, and that use the GPUs on its behalf.
    own: Mutex<VecDeque<u32>>,
    /// Whether a reader has met damage in the store.
    store_suspect: AtomicBool,
}

/// What comes of asking `gtrace serve` of this host for its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAnswer {
    /// There is no server.
    Absent,
    /// It answered.
    Answered,
    /// It took the question and did not answer in time.
    Silent,
}

/// Health of a component, as it judged last.
#[derive(Debug)]
struct Judged {
    health: ComponentHealth,
    at: Instant,
    interval: Duration,
}

impl Judged {
    /// Unknown once it is not of now.
    fn now(&self) -> ComponentHealth {
        let age = self.at.elapsed();
        if !is_stale(self.interval, age) {
            return self.health.clone();
        }
        let reason = format!("not checked for {} s", age.as_secs());
        ComponentHealth::now(HealthState::Unknown, [reason])
    }
}

impl Hub {
    /// A hub with `status` to begin with, and the receiver of [`Command`]s.
    pub fn new(status: Status) -> (Arc<Self>, mpsc::UnboundedReceiver<Command>) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let stream = LiveStream {
            readers: broadcast::channel(STREAM_DEPTH).0,
            last: None,
            provisional: VecDeque::new(),
        };
        let hub = Arc::new(Self {
            metrics: Metrics::new(),
            tasks: Registry::default(),
            stream: Mutex::new(stream),
            commands,
            status: Mutex::new(status),
            store_problems: Mutex::default(),
            gpus: Mutex::default(),
            looked_for_gpus: AtomicBool::new(false),
            calls: Mutex::default(),
            calls_wanted: Mutex::default(),
            cuda: Mutex::default(),
            samples: Samples::default(),
            recorder: Recorder::default(),
            holders: holders::Kept::default(),
            usage: crate::usage::Usage::default(),
            latencies: Arc::default(),
            health: Mutex::default(),
            seen: Mutex::default(),
            remote: Mutex::default(),
            incidents: Mutex::default(),
            health_report: Mutex::default(),
            health_restored: AtomicBool::new(false),
            incidents_taken_up: AtomicBool::new(false),
            health_dropped: AtomicU64::new(0),
            own: Mutex::default(),
            store_suspect: AtomicBool::new(false),
        });
        hub.samples.subscribe(Arc::clone(&hub.latencies) as _);
        (hub, receiver)
    }

    /// What a thread knows that another has replaced is not news.
    fn publish_value<T>(&self, place: &Mutex<T>, value: T) {
        if !supervise::is_revoked() {
            *lock(place) = value;
        }
    }

    /// Notes that the daemon has started the process `pid`.
    pub fn started_own(&self, pid: u32) {
        /// Ends of those before were missed.
        const MOST: usize = 64;
        let mut own = lock(&self.own);
        own.push_back(pid);
        let surplus = own.len().saturating_sub(MOST);
        own.drain(..surplus);
    }

    /// Whether the process `pid`, which has ended, was one of the daemon's own.
    pub fn ended_own(&self, pid: u32) -> bool {
        let mut own = lock(&self.own);
        let place = own.iter().position(|known| *known == pid);
        place.and_then(|place| own.remove(place)).is_some()
    }

    /// Sets the last record of the store when it was opened.
    pub fn begin_after(&self, last: Option<RecordId>) {
        lock(&self.stream).last = last;
    }

    /// Sends a record that the store has to every live reader. Records are to come in the order of
    /// their numbers, and those that were published provisionally in the order of that.
    pub fn publish(&self, id: RecordId, change: Option<EventChange>, event: Event) {
        let published = Arc::new(Published::committed(id, change, event));
        self.send(id, News::Event(published), true);
    }

    /// As [`Self::publish`], of a change of an incident. Those are never provisional: what an incident is made of was
    /// published before.
    pub fn publish_incident(&self, id: RecordId, incident: Incident) {
        let published = Arc::new(PublishedIncident::new(Some(id), incident));
        self.send(id, News::Incident(published), false);
    }

    /// The store has a record of health.
    pub fn publish_health(&self, id: RecordId) {
        self.send(id, News::Health(id), false);
    }

    /// As [`Self::publish`], of a new event that the store wrote by itself: nobody has seen it provisionally.
    pub fn publish_own(&self, id: RecordId, event: Event) {
        let published = Arc::new(Published::committed(id, None, event));
        self.send(id, News::Event(published), false);
    }

    /// `may_wait`: it may be the first of what was published provisionally.
    fn send(&self, id: RecordId, news: News, may_wait: bool) {
        let mut stream = lock(&self.stream);
        stream.last = Some(id);
        if may_wait {
            stream.provisional.pop_front();
        }
        // No reader is no error.
        let _ = stream.readers.send(news);
    }

    /// Shows the health as it is now, whether or not the store has it yet, and how much found no room.
    pub fn set_health_report(&self, report: HealthReport, dropped: u64) {
        *lock(&self.health_report) = Some(Arc::new(report));
        self.health_dropped.store(dropped, Ordering::Relaxed);
        self.tasks.wake(names::ALERTMANAGER);
    }

    /// The unresolved incidents of earlier runs were read back, all of them.
    pub fn set_incidents_taken_up(&self) {
        self.incidents_taken_up.store(true, Ordering::Relaxed);
    }

    /// Whether every incident that nobody has resolved is among [`Self::incidents`], while these are fewer than
    /// [`INCIDENTS_MAX`].
    pub fn has_taken_up_incidents(&self) -> bool {
        self.incidents_taken_up.load(Ordering::Relaxed)
    }

    /// The health of earlier runs was read back, from a snapshot on.
    pub fn set_health_restored(&self) {
        self.health_restored.store(true, Ordering::Relaxed);
    }

    /// Whether what the health report does not have is known to be over.
    pub fn is_health_restored(&self) -> bool {
        self.health_restored.load(Ordering::Relaxed)
    }

    /// The health as the core saw it last.
    pub fn health_report(&self) -> Option<Arc<HealthReport>> {
        lock(&self.health_report).clone()
    }

    /// Parts and reasons of health that found no room.
    pub fn health_dropped(&self) -> u64 {
        self.health_dropped.load(Ordering::Relaxed)
    }

    /// Whether people work on the host now.
    pub fn is_in_maintenance(&self, now: Timestamp) -> bool {
        let report = self.health_report();
        report.is_some_and(|report| report.maintenance.as_ref().is_some_and(|w| w.is_on(now)))
    }

    /// Shows the incident as it is now, whether or not the store has it yet.
    pub fn set_incident(&self, incident: Incident) {
        let id = incident.id;
        let gone = lock(&self.incidents).insert(incident);
        // One that changes and has no room as before was counted then.
        let is_news = |gone: &Incident| gone.id != id || gone.revision == 0;
        if gone.is_some_and(|gone| gone.rank().is_some() && is_news(&gone)) {
            self.metrics.count_lost("incidents", "no_room", 1);
        }
        self.tasks.wake(names::ALERTMANAGER);
    }

    /// The incidents that it keeps, the one that began first at the front.
    pub fn incidents(&self) -> Vec<Incident> {
        lock(&self.incidents).values().cloned().collect()
    }

    /// The incident `id`, if it is one of those that it keeps.
    pub fn incident(&self, id: IncidentId) -> Option<Incident> {
        lock(&self.incidents).get(id).cloned()
    }

    /// Has the store's thread check the file, if `error` of a reader says that it is damaged.
    pub fn suspect_store(&self, error: &StoreError) {
        if matches!(error, StoreError::Corrupt { .. }) {
            self.store_suspect.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a reader has met damage in the store since the last call.
    pub fn take_store_suspicion(&self) -> bool {
        self.store_suspect.swap(false, Ordering::Relaxed)
    }

    /// Sends a provisional record to every live reader; with `waits`, it will be published again
    /// once the store has it.
    pub fn publish_provisional(&self, published: Arc<Published>, waits: bool) {
        let mut stream = lock(&self.stream);
        if waits {
            stream.provisional.push_back(Arc::clone(&published));
        }
        let _ = stream.readers.send(News::Event(published));
    }

    /// A live reader from now on.
    pub fn subscribe(&self) -> Subscription {
        let stream = lock(&self.stream);
        Subscription {
            last: stream.last,
            provisional: stream.provisional.iter().cloned().collect(),
            live: stream.readers.subscribe(),
        }
    }

    /// How many live readers there are.
    pub fn live_readers(&self) -> usize {
        lock(&self.stream).readers.receiver_count()
    }

    /// Asks the core for something; false if the core has ended.
    pub fn command(&self, command: Command) -> bool {
        self.commands.send(command).is_ok()
    }

    /// The status now.
    pub fn status(&self) -> Status {
        let mut status = lock(&self.status).clone();
        status.last_seq = lock(&self.stream).last.map_or(0, |id| id.seq);
        status.tasks = self.tasks.statuses();
        self.complete(&mut status.sources, &self.tasks.outages());
        status
    }

    /// How every source stands now, while these tasks are down.
    pub fn sources(&self, outages: &[Outage]) -> Vec<SourceStatus> {
        let mut sources = lock(&self.status).sources.clone();
        self.complete(&mut sources, outages);
        sources
    }

    /// Adds what others than its own thread know of each source.
    fn complete(&self, sources: &mut [SourceStatus], outages: &[Outage]) {
        for source in sources {
            source.records = source.witness.map_or(0, |w| self.metrics.records_of(w));
            source.lost = self.metrics.lost_of(&source.name);
            for outage in outages {
                show_outage(source, outage);
            }
        }
    }

    /// Processes that have the driver's devices open.
    pub fn gpu_processes(&self) -> Vec<DeviceUser> {
        lock(&self.status).gpu_processes.clone()
    }

    /// Changes the status.
    pub fn update_status(&self, change: impl FnOnce(&mut Status)) {
        if supervise::is_revoked() {
            return;
        }
        change(&mut lock(&self.status));
    }

    /// Changes what is wrong with the store. The status has one of it, first that nothing can be appended.
    pub(crate) fn update_store_problems(&self, change: impl FnOnce(&mut StoreProblems)) {
        if supervise::is_revoked() {
            return;
        }
        let mut problems = lock(&self.store_problems);
        change(&mut problems);
        let shown = problems.append.clone().or_else(|| problems.sync.clone());
        self.update_status(|status| status.store_problem = shown);
    }

    /// The GPUs of this host, as last seen; marked where the sample is not of now.
    pub fn gpus(&self) -> Vec<GpuInfo> {
        let sampled = self.samples.age(WitnessName::Nvml.name());
        let mut gpus = lock(&self.gpus).clone();
        for gpu in &mut gpus {
            let known = gpu.sample.as_ref().zip(sampled);
            gpu.stale = known.is_some_and(|(sample, (newest, interval, age))| {
                let before = Duration::try_from(newest.duration_since(sample.time));
                is_stale(interval, age + before.unwrap_or_default())
            });
        }
        gpus
    }

    /// Whether somebody has looked for GPUs: before that nobody knows which there are.
    pub fn has_looked_for_gpus(&self) -> bool {
        self.looked_for_gpus.load(Ordering::Acquire)
    }

    /// The health that `component` saw when it was checked last; unknown once that is long ago.
    pub fn health(&self, component: &str) -> Option<ComponentHealth> {
        lock(&self.health).get(component).map(Judged::now)
    }

    /// Keeps the health that a check of `component` found, which is checked again after `interval`.
    pub fn set_health(
        &self,
        component: &'static str,
        mut health: ComponentHealth,
        interval: Duration,
    ) {
        if supervise::is_revoked() {
            return;
        }
        let mut all = lock(&self.health);
        if let Some(before) = all
            .get(component)
            .filter(|b| b.health.state == health.state)
        {
            health.since = before.health.since;
        }
        let at = Instant::now();
        all.insert(
            component,
            Judged {
                health,
                at,
                interval,
            },
        );
    }

    /// Notes that the component `name`, which is no witness, has delivered something now.
    pub fn saw(&self, name: &'static str) {
        if !supervise::is_revoked() {
            lock(&self.seen).insert(name, Timestamp::now());
        }
    }

    /// When the component `name` last delivered something, if it is no witness.
    pub fn last_seen(&self, name: &str) -> Option<Timestamp> {
        lock(&self.seen).get(name).copied()
    }

    /// Notes what came of asking `gtrace serve` of this host for its state.
    pub fn set_remote(&self, answer: RemoteAnswer) {
        *lock(&self.remote) = Some((answer, Instant::now()));
    }

    /// What came of it last, and how long ago.
    pub fn remote(&self) -> Option<(RemoteAnswer, Duration)> {
        lock(&self.remote).map(|(answer, at)| (answer, at.elapsed()))
    }

    /// Replaces the GPUs.
    pub fn set_gpus(&self, gpus: Vec<GpuInfo>) {
        let driver = gpus.iter().find_map(|gpu| gpu.driver_version.as_deref());
        self.latencies.driver_is(driver);
        self.publish_value(&self.gpus, gpus);
        self.looked_for_gpus.store(true, Ordering::Release);
    }

    /// Driver-call statistics, as last read from the kernel.
    pub fn calls(&self) -> Vec<CallStats> {
        lock(&self.calls).clone()
    }

    /// How the component `name` stands, whatever its thread does.
    pub fn state(&self, name: &str) -> Option<SourceState> {
        let status = lock(&self.status);
        let source = status.sources.iter().find(|source| source.name == name)?;
        Some(source.state)
    }

    /// Whether the probes are detached on request.
    pub fn is_paused(&self) -> bool {
        lock(&self.status).paused
    }

    /// Whether there are no driver-call statistics.
    pub fn no_calls(&self) -> bool {
        lock(&self.calls).is_empty()
    }

    /// Shows which processes have the driver's devices open, if that has changed.
    pub fn set_gpu_processes(&self, users: Vec<DeviceUser>) {
        self.update_status(|status| {
            if status.gpu_processes != users {
                status.gpu_processes = users;
            }
        });
    }

    /// CUDA calls, as last read from the kernel, with their sums for `/metrics`.
    pub fn cuda(&self) -> Arc<(CudaReport, Tally)> {
        Arc::clone(&lock(&self.cuda))
    }

    /// Replaces them.
    pub fn set_cuda(&self, report: CudaReport, tally: Tally) {
        self.publish_value(&self.cuda, Arc::new((report, tally)));
    }

    /// Has the kernel's counts of driver calls read anew. The answer comes once [`Self::calls`] has every call that
    /// has returned by now; it never comes, and the sender is dropped, where nobody counts.
    pub fn read_calls(&self) -> oneshot::Receiver<()> {
        let (answer, answered) = oneshot::channel();
        if self.tasks.is_running(names::HOUSEKEEPING) {
            let mut wanted = lock(&self.calls_wanted);
            // Those who gave up: a thread that hangs takes nobody off the list.
            wanted.retain(|answer| !answer.is_closed());
            wanted.push(answer);
            drop(wanted);
            self.tasks.wake(names::HOUSEKEEPING);
        }
        answered
    }

    /// Those who wait for a reading that begins after this.
    pub(crate) fn take_calls_wanted(&self) -> Vec<oneshot::Sender<()>> {
        std::mem::take(&mut *lock(&self.calls_wanted))
    }

    /// Whether somebody waits for a reading.
    pub(crate) fn are_calls_wanted(&self) -> bool {
        !lock(&self.calls_wanted).is_empty()
    }

    /// Replaces the driver-call statistics.
    pub fn set_calls(&self, calls: Vec<CallStats>) {
        self.publish_value(&self.calls, calls);
    }
}

/// A source gives nothing while its thread is down, whatever state it reported before.
fn show_outage(source: &mut SourceStatus, outage: &Outage) {
    let by_witness = source.witness.is_some_and(|w| outage.sources.contains(&w));
    let of_task = by_witness || source.name == outage.task;
    if of_task && matches!(source.state, SourceState::Active | SourceState::Degraded) {
        let reason = outage.reason.as_deref().unwrap_or("no reason given");
        source.state = SourceState::Failed;
        source.reason = Some(format!("the thread {} {reason}", outage.task));
        source.remedy = Some("none needed: it is started again".to_owned());
    }
}

/// An empty status, for tests.
#[cfg(test)]
pub(crate) fn bare_status() -> Status {
    Status::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Batch;

    #[test]
    fn an_own_process_ends_once_and_the_next_one_of_its_number_is_anothers() {
        let (hub, _commands) = Hub::new(bare_status());
        assert!(!hub.ended_own(4711));
        hub.started_own(4711);
        assert!(hub.ended_own(4711));
        assert!(!hub.ended_own(4711));
        (0..100).for_each(|pid| hub.started_own(pid));
        assert!(!hub.ended_own(0) && hub.ended_own(99));
    }

    #[test]
    fn a_sample_older_than_three_intervals_is_marked() {
        let (hub, _commands) = Hub::new(bare_status());
        hub.samples.publish_now(
            WitnessName::Nvml.name(),
            Duration::from_secs(60),
            Vec::new(),
        );
        let gpu = |age: i64| {
            let time = Timestamp::now() - jiff::SignedDuration::from_secs(age);
            let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
            gpu.sample = Some(gtrace_devices::GpuSample::at(time));
            gpu
        };
        hub.set_gpus(vec![gpu(170), gpu(190)]);
        let stale: Vec<_> = hub.gpus().iter().map(|gpu| gpu.stale).collect();
        assert_eq!(stale, [false, true]);
        // The clock was set back by an hour since.
        hub.samples.publish(&Batch {
            component: WitnessName::Nvml.name(),
            time: Timestamp::now() + jiff::SignedDuration::from_hours(1),
            interval: Duration::from_millis(1),
            metrics: Vec::new(),
        });
        hub.set_gpus(vec![gpu(-3600)]);
        std::thread::sleep(Duration::from_millis(20));
        assert!(hub.gpus()[0].stale);
    }

    #[test]
    fn health_keeps_its_time_while_the_state_stays_and_is_unknown_when_nobody_judges() {
        let (hub, _commands) = Hub::new(bare_status());
        let minute = Duration::from_secs(60);
        let health = || hub.health("pressure").unwrap();
        hub.set_health(
            "pressure",
            ComponentHealth::now(HealthState::Healthy, None),
            minute,
        );
        let since = health().since;
        hub.set_health(
            "pressure",
            ComponentHealth::now(HealthState::Healthy, None),
            minute,
        );
        assert_eq!(health().since, since);
        hub.set_health(
            "pressure",
            ComponentHealth::now(HealthState::Degraded, None),
            minute,
        );
        assert_eq!(health().state, HealthState::Degraded);
        hub.set_health(
            "pressure",
            ComponentHealth::now(HealthState::Degraded, None),
            Duration::ZERO,
        );
        assert_eq!(health().state, HealthState::Unknown);
    }
}
