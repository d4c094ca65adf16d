//! The daemon's thread that counts CUDA calls of every process.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_devices::GpuInfo;
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{Options, Settings, TraceError, Watch};

use super::{CudaReport, CudaState, Tally};
use crate::bpf::map_bytes;
use crate::hub::Hub;

/// Between reports.
const REPORT_EVERY: Duration = Duration::from_secs(2);
/// Between looks at processes. Each may take 4 ms.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Between looks at whether to pause.
const TICK: Duration = Duration::from_millis(250);
/// When a function that was too dear is tried again.
const RETRY: Duration = Duration::from_secs(60);
/// Processes that have ended and are still told apart.
const ENDED: usize = 8;
/// What was said is kept so long.
const NOTES: usize = 32;
/// Where losses are counted.
const SOURCE: &str = "cuda api";

/// What the thread needs.
#[derive(Debug)]
pub(crate) struct ServiceOptions {
    /// Where reports go.
    pub(crate) hub: Arc<Hub>,
    /// Share of the traced processes' CPU time that the probes may cost; `None` for any.
    pub(crate) budget: Option<f64>,
}

/// What the thread is told.
enum Order {
    /// Detach (true) or attach (false), and answer once it is done.
    Pause(bool, Sender<()>),
    /// Detach and end.
    Stop,
}

/// The running thread.
#[derive(Debug)]
pub(crate) struct Service {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

impl Service {
    /// Starts it. What it cannot do it says in its report.
    pub(crate) fn start(options: ServiceOptions) -> std::io::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("gtrace-cuda".to_owned())
            .spawn(move || run(&options, &inbox))?;
        Ok(Self { orders, thread })
    }

    /// A handle that detaches (true) or attaches (false) from another thread, and returns once it is done.
    pub(crate) fn pauser(&self) -> impl Fn(bool) + Send + Sync + use<> {
        let orders = self.orders.clone();
        move |pause| {
            let (done, is_done) = mpsc::channel();
            if orders.send(Order::Pause(pause, done)).is_ok() {
                // The thread may have ended, and then nothing is attached.
                let _ = is_done.recv();
            }
        }
    }

    /// Takes the probes away and ends the thread.
    pub(crate) fn stop(self) {
        // It may have ended by itself.
        let _ = self.orders.send(Order::Stop);
        if self.thread.join().is_err() {
            tracing::error!("the thread that counts CUDA calls panicked");
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
        // No call is told of by itself.
        ring_bytes: 4096,
        ..Options::new(None, default_set())
    }
}

fn run(options: &ServiceOptions, inbox: &Receiver<Order>) {
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
        Err(error) => return failed(&error),
    };
    let mut counting = Counting {
        hub,
        watch,
        tally: Tally::default(),
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
    if let Err(error) = counting.go_on(inbox) {
        failed(&error);
    }
}

/// Bytes of device memory that are free, where there is but one GPU to allocate from.
fn free_memory(gpus: &[GpuInfo]) -> Option<u64> {
    let [gpu] = gpus else { return None };
    let memory = &gpu.sample.as_ref()?.memory;
    Some(memory.total?.saturating_sub(memory.used?))
}

struct Counting<'a> {
    hub: &'a Hub,
    watch: Watch,
    tally: Tally,
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
        let mut looked = Instant::now();
        loop {
            match inbox.recv_timeout(TICK) {
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
            if self.paused || looked.elapsed() < LOOK_EVERY {
                continue;
            }
            looked = Instant::now();
            self.watch.look()?;
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
        let mut report = CudaReport::new(&self.watch, &report, self.since.elapsed(), notes);
        if self.paused {
            report.state = CudaState::Paused;
        }
        self.tally.take(&report);
        self.hub.set_cuda(report, self.tally.clone());
        Ok(())
    }
}
