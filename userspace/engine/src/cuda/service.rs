//! The daemon's thread that counts CUDA calls of every process.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_api::{CudaCalls, CudaReport, CudaState, SourceState};
use gtrace_devices::GpuInfo;
use gtrace_event::Timestamp;
use gtrace_profile::Histogram;
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{Options, Settings, TraceError, Watch};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};

use super::report_of;
use crate::bpf::map_bytes;
use crate::component::cuda::NAME;
use crate::component::holders::NAME as HOLDERS;
use crate::component::{Part, show};
use crate::hub::Hub;
use crate::lock::lock;
use crate::samples::{CUDA_CALLS, Latency, Rises};
use crate::supervise::{Registry, Task, beat};
use crate::tally::Tally;

/// Between reports.
const REPORT_EVERY: Duration = Duration::from_secs(2);
/// Between polls of processes, unless one maps a library. Each may take 4 ms.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// After a library was mapped, what is mapped next waits so long.
const SETTLE: Duration = Duration::from_millis(20);
/// When a function that was too expensive is tried again.
const RETRY: Duration = Duration::from_secs(60);
/// Processes that have ended and are still distinguished.
const ENDED: usize = 8;
/// How many notes are kept.
const NOTES: usize = 32;
/// Where losses are counted.
const SOURCE: &str = NAME;

/// What the thread needs.
#[derive(Debug)]
pub struct ServiceOptions {
    /// Where reports go.
    pub hub: Arc<Hub>,
    /// Share of the traced processes' CPU time that the probes may cost; `None` for any.
    pub budget: Option<f64>,
}

/// An order to the thread.
enum Order {
    /// Detach (true) or attach (false), and answer once it is done.
    Pause(bool, Sender<()>),
    /// Detach and end.
    Stop,
}

/// The task's name.
pub const TASK: &str = NAME;
/// Longest time between two heartbeats: attaching to a library takes a while.
const SILENCE: Duration = Duration::from_secs(60);
/// How long the task has to take its probes away at the end.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// The running task.
#[derive(Debug)]
pub struct Service {
    /// To the thread that runs now.
    orders: Arc<Mutex<Sender<Order>>>,
    /// Readable while there may be orders.
    ordered: Arc<OwnedFd>,
    tasks: Registry,
}

impl Service {
    /// Starts it. Its report states what it cannot do.
    pub fn start(options: ServiceOptions) -> std::io::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        let orders = Arc::new(Mutex::new(orders));
        let ordered = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let tasks = options.hub.tasks.clone();
        let task = Task::optional(TASK, SILENCE);
        let (first, renewed) = (Mutex::new(Some(inbox)), Arc::clone(&orders));
        let wake = Arc::clone(&ordered);
        tasks.start(task, move |_| {
            let first = lock(&first).take();
            let inbox = first.unwrap_or_else(|| {
                let (orders, inbox) = mpsc::channel();
                *lock(&renewed) = orders;
                inbox
            });
            run(
                &options,
                &Inbox {
                    orders: inbox,
                    wake: Arc::clone(&wake),
                },
            )
        })?;
        Ok(Self {
            orders,
            ordered,
            tasks,
        })
    }

    /// Whether the thread has not ended by itself.
    fn order(&self, order: Order) -> bool {
        let orders = lock(&self.orders);
        let is_sent = orders.send(order).is_ok();
        // It is full only after 2^64 orders, and the thread polls by itself each second.
        let _ = rustix::io::write(&self.ordered, &1_u64.to_ne_bytes());
        is_sent
    }
}

impl Part for Service {
    /// Detaches (true) or attaches (false), and returns once the thread has done it.
    fn pause(&self, pause: bool) {
        let (done, is_done) = mpsc::channel();
        if self.order(Order::Pause(pause, done)) {
            // The thread may have ended, and then nothing is attached.
            let _ = is_done.recv();
        }
    }

    /// Takes the probes away and ends the thread.
    fn stop(&self) {
        self.order(Order::Stop);
        for name in self.tasks.stop(&[TASK], STOP_PATIENCE) {
            tracing::error!("{name} does not end and is left behind");
        }
    }
}

/// Orders to the thread, as it sees them.
struct Inbox {
    orders: Receiver<Order>,
    /// Readable while there may be any.
    wake: Arc<OwnedFd>,
}

impl Inbox {
    /// Waits for an order, for a process to map a library, or for the time of the next poll. `settle`: a library was just
    /// mapped; where processes start without end, each is not waited for by itself.
    ///
    /// # Errors
    ///
    /// If nobody can give orders any more.
    fn wait(&self, watch: &Watch, settle: &mut bool) -> Result<Option<Order>, TryRecvError> {
        if let Ok(order) = self.orders.try_recv() {
            return Ok(Some(order));
        }
        let wakes = watch.wakes();
        let mut fds = vec![PollFd::new(&self.wake, PollFlags::IN)];
        let is_ordered = std::mem::take(settle) && wait_for(&mut fds, SETTLE);
        if !is_ordered && let Some(wakes) = &wakes {
            fds.push(PollFd::new(wakes, PollFlags::IN));
        }
        if !is_ordered {
            wait_for(&mut fds, POLL_INTERVAL);
        }
        *settle = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
        // Empty where nothing was ordered.
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        match self.orders.try_recv() {
            Ok(order) => Ok(Some(order)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether one is readable within `time`.
fn wait_for(fds: &mut [PollFd<'_>], time: Duration) -> bool {
    let time = Timespec::try_from(time).ok();
    // Interrupted by a signal: as if the time were over.
    rustix::event::poll(fds, time.as_ref()).is_ok_and(|ready| ready > 0)
}

fn options() -> Options {
    // Kernel memory of all maps of the daemon is to stay below 32 MiB, of which its other probes have 26.
    // About 20 processes that use CUDA at once have room.
    Options {
        histograms: 440,
        allocations: 10_240,
        under_way: 4096,
        processes: 256,
        failures: 512,
        // No call is reported by itself.
        ring_bytes: 4096,
        ..Options::new(None, default_set())
    }
}

/// Counts until it is ordered to stop. What this host lacks for it is no failure; what happens later is.
fn run(options: &ServiceOptions, inbox: &Inbox) -> Result<(), String> {
    let hub = &options.hub;
    let failed = |error: &TraceError| {
        tracing::warn!("CUDA calls are not counted: {error}");
        hub.set_cuda(
            CudaReport {
                state: CudaState::Failed,
                reason: Some(error.to_string()),
                ..CudaReport::default()
            },
            Tally::default(),
        );
    };
    let settings = Settings {
        budget: options.budget,
        ended: ENDED,
        retry: Some(RETRY),
        ..Settings::default()
    };
    let watch = match Watch::start(self::options(), settings) {
        Ok(watch) => watch,
        Err(error) => {
            failed(&error);
            show(hub, NAME, SourceState::Absent, Some(error.to_string()));
            return Ok(());
        }
    };
    let mut counting = Counting {
        hub,
        watch,
        tally: Tally::default(),
        latency: Rises::default(),
        notes: VecDeque::new(),
        lost: HashMap::new(),
        paused: false,
        since: Instant::now(),
    };
    hub.update_status(|status| status.footprint.map_bytes = map_bytes());
    tracing::info!(
        "CUDA calls of all processes are counted by {}",
        counting.watch.tracer().way().name()
    );
    counting.go_on(inbox).map_err(|error| {
        failed(&error);
        show(hub, NAME, SourceState::Failed, Some(error.to_string()));
        error.to_string()
    })
}

/// Bytes of device memory that are free, where there is but one GPU to allocate from.
fn free_memory(gpus: &[GpuInfo]) -> Option<u64> {
    let [gpu] = gpus else { return None };
    let memory = &gpu.sample.as_ref()?.memory;
    Some(memory.total?.saturating_sub(memory.used?))
}

/// The latency of one function of a live process.
fn latency_of(row: &CudaCalls) -> Option<Latency> {
    let histogram = Histogram::from_buckets(&row.buckets, row.total_ns, row.max_ns).ok()?;
    Some(Latency {
        name: CUDA_CALLS,
        labels: vec![
            ("call", row.function.clone()),
            ("pid", row.pid?.to_string()),
            ("process", row.comm.clone()),
        ],
        histogram,
    })
}

struct Counting<'a> {
    hub: &'a Hub,
    watch: Watch,
    tally: Tally,
    latency: Rises,
    notes: VecDeque<String>,
    /// What was known to be lost.
    lost: HashMap<&'static str, u64>,
    paused: bool,
    since: Instant,
}

impl Counting<'_> {
    fn go_on(&mut self, inbox: &Inbox) -> Result<(), TraceError> {
        self.report()?;
        let mut reported = Instant::now();
        let mut settle = false;
        loop {
            beat();
            match inbox.wait(&self.watch, &mut settle) {
                Ok(Some(Order::Pause(pause, done))) => {
                    self.pause(pause)?;
                    // Whoever asked may have given up.
                    let _ = done.send(());
                    continue;
                }
                Ok(Some(Order::Stop)) | Err(_) => return Ok(()),
                Ok(None) => {}
            }
            // By the kill-switch file.
            self.pause(self.hub.is_paused())?;
            if self.paused {
                continue;
            }
            self.watch.poll()?;
            let found = self.watch.newly_found();
            if !found.is_empty() {
                self.hub.holders.note_started(found);
                self.hub.tasks.wake(HOLDERS);
            }
            for word in self.watch.take_words() {
                tracing::info!("CUDA calls: {word}");
                if self.notes.len() == NOTES {
                    self.notes.pop_front();
                }
                self.notes.push_back(word);
            }
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                self.report()?;
            }
        }
    }

    fn pause(&mut self, pause: bool) -> Result<(), TraceError> {
        if pause == self.paused {
            return Ok(());
        }
        self.paused = pause;
        match pause {
            true => self.watch.detach(),
            false => self.watch.attach_again(),
        }
        self.report()
    }

    fn report(&mut self) -> Result<(), TraceError> {
        self.watch.set_device_free(free_memory(&self.hub.gpus()));
        let report = self.watch.so_far()?;
        for (what, value) in report.lost() {
            let before = self.lost.insert(what, value).unwrap_or(0);
            if value > before {
                self.hub.metrics.count_lost(SOURCE, what, value - before);
            }
        }
        let notes = self.notes.iter().cloned().collect();
        let mut report = report_of(&self.watch, &report, self.since.elapsed(), notes);
        if self.paused {
            report.state = CudaState::Paused;
            show(self.hub, NAME, SourceState::Off, Some("paused".to_owned()));
        } else {
            show(self.hub, NAME, SourceState::Active, None);
            self.hub.saw(NAME);
        }
        self.tally.take(&report);
        let latency = self
            .latency
            .rises(report.calls.iter().filter_map(latency_of));
        self.hub.samples.publish_latency(Timestamp::now(), &latency);
        self.hub.set_cuda(report, self.tally.clone());
        Ok(())
    }
}
