//! What a running daemon knows of the time of a trace: the kernel's log, PCIe errors, calls that were slow or
//! failed, and samples of the GPUs.

use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use gtrace_api::client::{Client, ClientError, target};
use gtrace_devices::{GpuInfo, NvmlClient, NvmlConfig};
use gtrace_engine::clock::boottime_ns;
use gtrace_event::Timestamp;

use crate::{Host, Samples};

/// Between samples.
const EVERY: Duration = Duration::from_millis(500);

/// Asks the daemon while a program runs.
pub struct Daemon {
    client: Client,
    since: Timestamp,
    stop: mpsc::Sender<()>,
    sampler: Option<JoinHandle<Result<Samples, String>>>,
}

impl Daemon {
    /// Begins, with this daemon. `nvml`: the library to ask, if not the daemon.
    pub fn watch(client: Client, nvml: Option<PathBuf>) -> Self {
        let (stop, stopped) = mpsc::channel();
        let asked = client.clone();
        let sampler = std::thread::Builder::new()
            .name("samples".into())
            .spawn(move || match nvml {
                Some(library) => sample_nvml(cpu_emulator(library), &stopped),
                None => sample(&asked, &stopped).or_else(|error| {
                    let own = sample_nvml(NvmlConfig::this_program(), &stopped);
                    own.map_err(|nvml| format!("{error}; {nvml}"))
                }),
            })
            .ok();
        Self {
            client,
            since: Timestamp::now(),
            stop,
            sampler,
        }
    }

    /// Ends, with all that the daemon sent. `say` gets a line where something is missing.
    pub fn end(self, say: fn(&str)) -> Host {
        drop(self.stop);
        let samples = self.sampler.and_then(|sampler| sampler.join().ok());
        let samples = match samples {
            Some(Ok(samples)) => samples,
            Some(Err(error)) => {
                say(&format!("the trace has no samples of GPUs: {error}"));
                Vec::new()
            }
            None => Vec::new(),
        };
        // So that what came last can be read.
        let _ = self.client.flush();
        let since = self.since.to_string();
        let query = target(
            "/api/v1/events",
            &[("since", since.as_str()), ("limit", "10000")],
        );
        let events = self.client.get(&query).unwrap_or_else(|error| {
            say(&format!(
                "the trace has nothing of kernel log and PCIe: {error}"
            ));
            Vec::new()
        });
        Host { events, samples }
    }
}

/// NVML of the CPU emulator, which has no driver.
fn cpu_emulator(library: PathBuf) -> NvmlConfig {
    let config = NvmlConfig::with_command(move || {
        let mut command = std::process::Command::new("/proc/self/exe");
        command.arg("nvml-child").arg("--library").arg(&library);
        command
    });
    NvmlConfig {
        driver_loaded: None,
        ..config
    }
}

/// Asks NVML, in a process of its own, where no daemon does.
fn sample_nvml(config: NvmlConfig, stopped: &mpsc::Receiver<()>) -> Result<Samples, String> {
    let nvml = NvmlClient::new(config).map_err(|error| error.to_string())?;
    let mut samples: Samples = Vec::new();
    loop {
        match nvml.sample() {
            Ok(snapshot) => samples.extend(snapshot.gpus.into_iter().map(|gpu| {
                let info = GpuInfo {
                    index: Some(gpu.index),
                    sample: Some(gpu.sample),
                    ..GpuInfo::at(gpu.pci)
                };
                (boottime_ns(), info)
            })),
            Err(error) if samples.is_empty() => return Err(error.to_string()),
            // It may come back.
            Err(_) => {}
        }
        match stopped.recv_timeout(EVERY) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return Ok(samples),
        }
    }
}

fn sample(client: &Client, stopped: &mpsc::Receiver<()>) -> Result<Samples, ClientError> {
    let mut samples: Samples = Vec::new();
    let mut first = true;
    loop {
        match client.get::<Vec<GpuInfo>>("/api/v1/gpus") {
            Ok(gpus) => {
                let now = boottime_ns();
                for gpu in gpus {
                    // The daemon samples at its own pace: each of its samples once.
                    let taken = gpu.sample.as_ref().map(|sample| sample.time);
                    let known = samples.iter().rev().find(|(_, one)| one.pci == gpu.pci);
                    let known = known.and_then(|(_, one)| Some(one.sample.as_ref()?.time));
                    if taken.is_some() && taken != known {
                        samples.push((now, gpu));
                    }
                }
            }
            Err(error) if first => return Err(error),
            // It may be restarting.
            Err(_) => {}
        }
        first = false;
        match stopped.recv_timeout(EVERY) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return Ok(samples),
        }
    }
}
