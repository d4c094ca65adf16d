//! Readings of this host for profiling sessions of a fleet: its GPUs by NVML, its driver calls by its daemon.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use gtrace_agent::{Measured, Read, Sampled, Sampler, Wanted, now_ns};
use gtrace_api::client::Client;
use gtrace_devices::{GpuInfo, NvmlClient, NvmlConfig, NvmlGpu, Readings};
use gtrace_event::Timestamp;
use gtrace_fleet::{CallFrame, GpuFrame, GpuState, Metric};
use gtrace_profile::{Differences, Histogram};

use crate::{Collector as _, Daemon};

/// Readings that wait to be taken: 256 GPUs for some rounds.
const WAITING: usize = 4096;
/// Between two questions for driver calls; the daemon counts them every 2 s.
const CALLS_EVERY: Duration = Duration::from_secs(1);
/// How long NVML takes for the traffic of one GPU, both ways.
const PCIE_MS: u32 = 40;

/// Makes the configuration of NVML, each time that a session begins.
pub type NvmlOf = Box<dyn Fn() -> NvmlConfig + Send + Sync>;

/// Reads this host's GPUs and driver calls in threads, which run only while a session is on: no GPU is opened before.
pub struct HostSampler {
    nvml: std::sync::Arc<NvmlOf>,
    daemon: Client,
    running: Option<Running>,
    problem: Option<String>,
}

struct Running {
    news: Receiver<News>,
    /// Its end ends the threads.
    _stop: Vec<mpsc::Sender<()>>,
}

enum News {
    Reading(Measured),
    Problem(Option<String>),
}

impl HostSampler {
    /// For the NVML of `nvml` and the daemon that `daemon` asks.
    pub fn new(nvml: NvmlOf, daemon: Client) -> Self {
        Self {
            nvml: std::sync::Arc::new(nvml),
            daemon,
            running: None,
            problem: None,
        }
    }
}

impl Sampler for HostSampler {
    fn want(&mut self, wanted: Option<&Wanted>) {
        // The threads end by themselves; a hung GPU holds only its own.
        self.running = None;
        self.problem = None;
        let Some(wanted) = wanted else {
            return;
        };
        let (sender, news) = mpsc::sync_channel(WAITING);
        let mut stop = Vec::new();
        let mut start =
            |name: &str, body: Box<dyn FnOnce(Receiver<()>, SyncSender<News>) + Send>| {
                let (end, ended) = mpsc::channel();
                let sender = sender.clone();
                let thread = std::thread::Builder::new().name(name.to_owned());
                match thread.spawn(move || body(ended, sender)) {
                    Ok(_) => stop.push(end),
                    Err(error) => self.problem = Some(format!("cannot start a thread: {error}")),
                }
            };
        if wanted.metrics.iter().any(|metric| *metric != Metric::Calls) {
            let (nvml, wanted) = (std::sync::Arc::clone(&self.nvml), wanted.clone());
            let body = move |stop, news| gpus(nvml(), &wanted, &stop, &news);
            start("session-gpus", Box::new(body));
        }
        if wanted.metrics.contains(&Metric::Calls) {
            let client = self.daemon.clone();
            let body = move |stop, news| calls(client, &stop, &news);
            start("session-calls", Box::new(body));
        }
        self.running = Some(Running { news, _stop: stop });
    }

    fn take(&mut self, _now: i64) -> Sampled {
        let mut readings = Vec::new();
        if let Some(running) = &self.running {
            for news in running.news.try_iter().take(WAITING) {
                match news {
                    News::Reading(reading) => readings.push(reading),
                    News::Problem(problem) => self.problem = problem,
                }
            }
        }
        Sampled {
            readings,
            problem: self.problem.clone(),
        }
    }
}

/// Waits for the next round; false at the end.
fn next(stop: &Receiver<()>, due: Instant) -> bool {
    let wait = due.saturating_duration_since(Instant::now());
    matches!(stop.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

fn gpus(config: NvmlConfig, wanted: &Wanted, stop: &Receiver<()>, news: &SyncSender<News>) {
    let pcie = match wanted.metrics.contains(&Metric::Pcie) {
        // Half of the time for it.
        true => (wanted.every_ms / 2 / PCIE_MS).max(1),
        false => 0,
    };
    let nvml = NvmlClient::new(NvmlConfig {
        readings: Readings::Quick { pcie },
        ..config
    });
    let nvml = match nvml {
        Ok(nvml) => nvml,
        Err(error) => return drop(news.send(News::Problem(Some(error.to_string())))),
    };
    let every = Duration::from_millis(u64::from(wanted.every_ms));
    let mut due = Instant::now();
    let mut said = None;
    loop {
        let problem = match nvml.sample() {
            Ok(snapshot) => {
                for gpu in &snapshot.gpus {
                    // A reader that is behind is sent no more: its frames lack it, and it is not held up further.
                    let _ = news.try_send(News::Reading(measured(gpu)));
                }
                let silent = snapshot.unreadable.first();
                silent.map(|gpu| format!("GPU {}: {}", gpu.index, gpu.error))
            }
            Err(error) => Some(error.to_string()),
        };
        if said.as_ref() != Some(&problem) {
            let _ = news.try_send(News::Problem(problem.clone()));
            said = Some(problem);
        }
        // Rounds that took too long are left out: they are not made up for in a burst.
        due = (due + every).max(Instant::now());
        if !next(stop, due) {
            return;
        }
    }
}

fn measured(gpu: &NvmlGpu) -> Measured {
    let sample = &gpu.sample;
    let share = |percent: Option<u32>| percent.map(|percent| f64::from(percent) / 100.0);
    let float = |value: Option<u64>| value.map(|value| value as f64);
    let (used, total) = (float(sample.memory.used), float(sample.memory.total));
    let frame = GpuFrame {
        index: gpu.index,
        name: gpu.name.clone().unwrap_or_default(),
        samples: 1,
        utilization: share(sample.utilization.gpu),
        memory_busy: share(sample.utilization.memory),
        memory: used
            .zip(total)
            .filter(|(_, total)| *total > 0.0)
            .map(|(used, total)| used / total),
        memory_used: used,
        pcie_rx: float(sample.pcie_rx),
        pcie_tx: float(sample.pcie_tx),
        power_w: sample.power.draw_w,
        sm_mhz: sample.clocks.sm.map(f64::from),
        memory_mhz: sample.clocks.memory.map(f64::from),
        temperature_c: sample.temperature.gpu.map(f64::from),
    };
    Measured {
        time_ns: nanos(sample.time),
        read: Read::Gpu(frame),
    }
}

/// A GPU as the head of a fleet wants it; `None` where NVML does not count it.
pub fn gpu_state(gpu: &GpuInfo) -> Option<GpuState> {
    Some(GpuState {
        index: gpu.index?,
        pci: Some(gpu.pci.to_string()),
        uuid: gpu.uuid.clone(),
        name: gpu.name.clone(),
        vbios: gpu.board.vbios.clone(),
        firmware: gpu.board.firmware.clone(),
    })
}

fn nanos(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

fn calls(client: Client, stop: &Receiver<()>, news: &SyncSender<News>) {
    let mut daemon = Daemon::new(client);
    let mut before: Option<(Instant, Differences)> = None;
    let mut due = Instant::now();
    loop {
        // Without a daemon there are none; that is no fault of the GPUs.
        match daemon.read() {
            Ok(rows) => match &mut before {
                None => before = Some((Instant::now(), Differences::begin(&rows))),
                Some((at, differences)) => {
                    let mut all = Histogram::default();
                    for row in differences.advance(&rows) {
                        all.merge(&row.counts.histogram);
                    }
                    if !all.is_empty() {
                        let frame = call_frame(&all, at.elapsed());
                        let reading = Measured {
                            time_ns: now_ns(),
                            read: Read::Calls(frame),
                        };
                        let _ = news.try_send(News::Reading(reading));
                        *at = Instant::now();
                    }
                }
            },
            Err(_) => before = None,
        }
        due = (due + CALLS_EVERY).max(Instant::now());
        if !next(stop, due) {
            return;
        }
    }
}

fn call_frame(histogram: &Histogram, span: Duration) -> CallFrame {
    CallFrame {
        count: histogram.count(),
        p50_ns: histogram.quantile(0.5),
        p90_ns: histogram.quantile(0.9),
        p99_ns: histogram.quantile(0.99),
        max_ns: histogram.max_ns(),
        sum_ns: histogram.sum_ns(),
        span_ms: u64::try_from(span.as_millis()).unwrap_or(u64::MAX),
        buckets: histogram.buckets().collect(),
    }
}
