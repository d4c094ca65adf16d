//! Readings of this host for profiling sessions of a fleet: its GPUs by NVML, its driver and CUDA calls by its daemon.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use gtrace_agent::{Measured, Read, Sampled, Sampler, Wanted, now_ns};
use gtrace_api::client::Client;
use gtrace_devices::{GpuInfo, NvmlClient, NvmlConfig, NvmlGpu, Readings};
use gtrace_event::{Timestamp, nanos};
use gtrace_fleet::{CallFrame, GpuFrame, GpuState, Metric};
use gtrace_profile::{Differences, Histogram, Row};

use crate::{Collector as _, Daemon};

/// Readings that wait to be taken: 256 GPUs for some rounds.
const WAITING: usize = 4096;
/// Between two questions for calls; the daemon counts them every 2 s.
const CALLS_EVERY: Duration = Duration::from_secs(1);
/// How long NVML takes for the traffic of one GPU, both ways.
const PCIE_MS: u32 = 40;

/// Makes the configuration of NVML, each time that a session begins.
pub type NvmlOf = Box<dyn Fn() -> NvmlConfig + Send + Sync>;

/// Reads this host's GPUs and its calls in threads, which run only while a session is on: no GPU is opened before.
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
    Reading(Box<Measured>),
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
        let of_gpus = wanted.metrics.iter().any(|metric| metric.is_of_gpus());
        if of_gpus {
            let (nvml, wanted) = (std::sync::Arc::clone(&self.nvml), wanted.clone());
            let body = move |stop, news| gpus(nvml(), &wanted, &stop, &news);
            start("session-gpus", Box::new(body));
        }
        let kinds = [
            (Metric::Calls, OfCalls::DRIVER),
            (Metric::CudaCalls, OfCalls::CUDA),
        ];
        for (_, of) in kinds
            .into_iter()
            .filter(|(metric, _)| wanted.metrics.contains(metric))
        {
            let client = self.daemon.clone();
            // Of a host whose GPUs are not measured only this shows that it was there.
            let alone = (!of_gpus).then(|| Duration::from_millis(wanted.every_ms.into()));
            let body = move |stop, news| calls(&of, client, alone, &stop, &news);
            start(of.thread, Box::new(body));
        }
        self.running = Some(Running { news, _stop: stop });
    }

    fn take(&mut self, _now: i64) -> Sampled {
        let mut readings = Vec::new();
        if let Some(running) = &self.running {
            for news in running.news.try_iter().take(WAITING) {
                match news {
                    News::Reading(reading) => readings.push(*reading),
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
        readings: Readings::Quick {
            pcie,
            nvlink: wanted.metrics.contains(&Metric::Nvlink),
        },
        ..config
    });
    let nvml = match nvml {
        Ok(nvml) => nvml,
        Err(error) => return drop(news.send(News::Problem(Some(error.to_string())))),
    };
    let every = Duration::from_millis(u64::from(wanted.every_ms));
    let mut due = Instant::now();
    let mut reported = None;
    let mut rates = Rates::default();
    loop {
        let problem = match nvml.sample() {
            Ok(snapshot) => {
                for gpu in &snapshot.gpus {
                    // A reader that is behind is sent no more: its frames lack it, and it is not held up further.
                    let _ = news.try_send(News::Reading(Box::new(measured(gpu, &mut rates))));
                }
                let silent = snapshot.unreadable.first();
                silent.map(|gpu| format!("GPU {}: {}", gpu.index, gpu.error))
            }
            Err(error) => Some(error.to_string()),
        };
        if reported.as_ref() != Some(&problem) {
            let _ = news.try_send(News::Problem(problem.clone()));
            reported = Some(problem);
        }
        // Rounds that took too long are left out: they are not made up for in a burst.
        due = (due + every).max(Instant::now());
        if !next(stop, due) {
            return;
        }
    }
}

/// Traffic over NVLink, which the driver counts: between two readings of a GPU.
#[derive(Default)]
struct Rates(HashMap<u32, Counted>);

/// What was counted, received and sent, and when.
#[derive(Clone, Copy)]
struct Counted {
    time: Timestamp,
    bytes: [Option<u64>; 2],
}

impl Rates {
    /// Bytes a second, received and sent, since the reading before.
    fn nvlink(&mut self, gpu: &NvmlGpu) -> [Option<f64>; 2] {
        let now = Counted {
            time: gpu.sample.time,
            bytes: [gpu.sample.nvlink_rx_bytes, gpu.sample.nvlink_tx_bytes],
        };
        let Some(before) = self.0.insert(gpu.index, now) else {
            return [None; 2];
        };
        let seconds = now.time.duration_since(before.time).as_secs_f64();
        [0, 1].map(|way| {
            // Counters that fell began anew.
            let more = now.bytes[way]?.checked_sub(before.bytes[way]?)?;
            (seconds > 0.0).then(|| more as f64 / seconds)
        })
    }
}

fn measured(gpu: &NvmlGpu, rates: &mut Rates) -> Measured {
    let [nvlink_rx, nvlink_tx] = rates.nvlink(gpu);
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
        nvlink_rx,
        nvlink_tx,
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

/// A kind of calls.
#[derive(Clone, Copy)]
struct OfCalls {
    thread: &'static str,
    read: fn(&mut Daemon) -> anyhow::Result<Vec<Row>>,
    reading: fn(CallFrame) -> Read,
}

impl OfCalls {
    const DRIVER: Self = Self {
        thread: "session-calls",
        read: Daemon::read,
        reading: Read::Calls,
    };
    const CUDA: Self = Self {
        thread: "session-cuda",
        read: Daemon::read_cuda,
        reading: Read::CudaCalls,
    };
}

/// `alone`: the session measures nothing of GPUs, so that what keeps calls from being read is why there is nothing; and so often the
/// host was there, whether or not there were calls.
fn calls(
    of: &OfCalls,
    client: Client,
    alone: Option<Duration>,
    stop: &Receiver<()>,
    news: &SyncSender<News>,
) {
    let mut daemon = Daemon::new(client);
    let send = |read| {
        let time_ns = now_ns();
        let _ = news.try_send(News::Reading(Box::new(Measured { time_ns, read })));
    };
    let mut before: Option<(Instant, Differences)> = None;
    let mut reported = None;
    let begin = Instant::now();
    let (mut due, mut ask) = (begin, begin);
    loop {
        if ask <= Instant::now() {
            ask = (ask + CALLS_EVERY).max(Instant::now());
            let mut problem = None;
            match (of.read)(&mut daemon) {
                Ok(rows) => match &mut before {
                    None => before = Some((Instant::now(), Differences::begin(&rows))),
                    Some((at, differences)) => {
                        let mut all = Histogram::default();
                        for row in differences.advance(&rows) {
                            all.merge(&row.counts.histogram);
                        }
                        if !all.is_empty() {
                            let span = u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX);
                            send((of.reading)(CallFrame::new(&all, span)));
                            *at = Instant::now();
                        }
                    }
                },
                // Where GPUs are measured that is no fault of theirs.
                Err(error) => {
                    before = None;
                    problem = alone.map(|_| format!("{error:#}"));
                }
            }
            if reported != problem {
                let _ = news.try_send(News::Problem(problem.clone()));
                reported = problem;
            }
        }
        if alone.is_some() && before.is_some() {
            send(Read::Nothing);
        }
        due = (due + alone.unwrap_or(CALLS_EVERY)).max(Instant::now());
        if !next(stop, due) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use gtrace_devices::GpuSample;

    use super::*;

    #[test]
    fn traffic_over_nvlink_is_what_was_counted_between_two_readings() {
        let at = |ms: i64, tx: Option<u64>, rx: Option<u64>| {
            let mut gpu = NvmlGpu {
                pci: "0000:3b:00.0".parse().unwrap(),
                index: 3,
                sample: GpuSample::at(Timestamp::from_millisecond(ms).unwrap()),
                ..NvmlGpu::default()
            };
            (gpu.sample.nvlink_tx_bytes, gpu.sample.nvlink_rx_bytes) = (tx, rx);
            gpu
        };
        let mut rates = Rates::default();
        let mut next = |ms, tx, rx| rates.nvlink(&at(ms, tx, rx));
        assert_eq!(next(1000, Some(500), Some(0)), [None, None]);
        assert_eq!(next(1100, Some(700), Some(0)), [Some(0.0), Some(2000.0)]);
        assert_eq!(
            next(1100, Some(800), Some(0)),
            [None, None],
            "no time between"
        );
        assert_eq!(
            next(1200, Some(10), None),
            [None, None],
            "the driver began anew"
        );
        assert_eq!(next(1400, Some(20), Some(5)), [None, Some(50.0)]);
        assert_eq!(next(1600, None, Some(6)), [Some(5.0), None]);
    }
}
