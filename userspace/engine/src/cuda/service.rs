//! The daemon's thread that counts CUDA calls of every process.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtrace_api::{CudaCalls, CudaReport, CudaState, SourceState};
use gtrace_devices::GpuInfo;
use gtrace_event::Timestamp;
use gtrace_profile::Histogram;
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{Options, Settings, TraceError, Watch};

use super::report_of;
use crate::bpf::map_bytes;
use crate::component::cuda::NAME;
use crate::component::{Part, show};
use crate::hub::Hub;
use crate::samples::{Latency, Rises};
use crate::supervise::{Registry, Task, beat};
use crate::tally::Tally;

/// Between reports.
const REPORT_EVERY: Duration = Duration::from_secs(2);
/// Between polls of processes. Each may take 4 ms.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// When a function that was too dear is tried again.
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
    tasks: Registry,
}

impl Service {
    /// Starts it. Its report states what it cannot do.
    pub fn start(options: ServiceOptions) -> std::io::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        let orders = Arc::new(Mutex::new(orders));
        let tasks = options.hub.tasks.clone();
        let task = Task {
            name: TASK,
            needed: false,
            silence: Some(SILENCE),
            sources: Vec::new(),
        };
        let (first, renewed) = (Mutex::new(Some(inbox)), Arc::clone(&orders));
        tasks.start(task, move |_| {
            let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
            let inbox = first.unwrap_or_else(|| {
                let (orders, inbox) = mpsc::channel();
                *renewed.lock().unwrap_or_else(PoisonError::into_inner) = orders;
                inbox
            });
            run(&options, &inbox)
        })?;
        Ok(Self { orders, tasks })
    }
}

impl Part for Service {
    /// Detaches (true) or attaches (false), and returns once the thread has done it.
    fn pause(&self, pause: bool) {
        let (done, is_done) = mpsc::channel();
        let orders = self
            .orders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if orders.send(Order::Pause(pause, done)).is_ok() {
            // The thread may have ended, and then nothing is attached.
            let _ = is_done.recv();
        }
    }

    /// Takes the probes away and ends the thread.
    fn stop(&self) {
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended by itself.
        let _ = orders.send(Order::Stop);
        drop(orders);
        for name in self.tasks.stop(&[TASK], STOP_PATIENCE) {
            tracing::error!("{name} does not end and is left behind");
        }
    }
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
fn run(options: &ServiceOptions, inbox: &Receiver<Order>) -> Result<(), String> {
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
        name: "gtrace_cuda_call_seconds",
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
    fn go_on(&mut self, inbox: &Receiver<Order>) -> Result<(), TraceError> {
        self.report()?;
        let mut reported = Instant::now();
        loop {
            beat();
            match inbox.recv_timeout(POLL_INTERVAL) {
                Ok(Order::Pause(pause, done)) => {
                    self.pause(pause)?;
                    // Whoever asked may have given up.
                    let _ = done.send(());
                    continue;
                }
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            // By the kill-switch file.
            self.pause(self.hub.is_paused())?;
            if self.paused {
                continue;
            }
            self.watch.poll()?;
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
        for (counter, value) in &report.counters {
            let before = self.lost.insert(counter.name(), *value).unwrap_or(0);
            if *value > before && *counter != gtrace_abi::ApiCounter::Sent {
                let metrics = &self.hub.metrics;
                metrics.count_lost(SOURCE, counter.name(), *value - before);
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
