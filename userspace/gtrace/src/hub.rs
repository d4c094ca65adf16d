//! The shared state of a running daemon: the live stream of records and what every part says
//! about itself. Cheap to read from the API while the pipeline runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gtrace_devices::GpuInfo;
use gtrace_event::{Ack, Event, PciAddress, Record, Timestamp, WitnessName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::cuda::{CudaReport, Tally};
use crate::metrics::Metrics;

/// How many published records a slow live reader may lag behind before it is told of a gap.
const STREAM_DEPTH: usize = 16_384;

/// A record as live readers get it, with the event it leads to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Number of the record in the store, rising by one; the store's `seq`.
    pub seq: u64,
    /// What was appended.
    pub record: Record,
    /// The event with the record applied.
    pub event: Event,
}

/// Whether a source works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// Gives all it can.
    Active,
    /// Gives less than it could; `reason` says what is missing.
    Degraded,
    /// This host does not have it.
    Absent,
    /// It should work and does not.
    Failed,
    /// Switched off by configuration.
    Off,
}

/// One source, as `gtrace status`, `/api/v1/sources` and `gtrace doctor` show it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SourceStatus {
    /// The source's name.
    pub name: String,
    /// The witness name that its events carry.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub witness: Option<WitnessName>,
    /// Whether it works.
    pub state: SourceState,
    /// What it gives.
    pub gives: String,
    /// What it needs.
    pub needs: String,
    /// Why it does not give all, with the cause as the system named it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// How to get it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<String>,
    /// Records taken since start.
    #[serde(default)]
    pub records: u64,
    /// Records known to be lost since start.
    #[serde(default)]
    pub lost: u64,
}

/// Cost of one BPF program, from the kernel's run statistics over sampled windows.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProbeCost {
    /// Program name.
    pub probe: String,
    /// Mean time of one run over all windows, nanoseconds.
    pub mean_ns: f64,
    /// Runs a second in the newest window.
    pub runs_per_second: f64,
    /// Share of one core that the program took in the newest window (0.01 = 1 %).
    pub core_share: f64,
    /// Runs that the kernel skipped because BPF was already running on that CPU.
    pub missed: u64,
}

/// Own footprint.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Footprint {
    /// Resident anonymous memory, bytes (RssAnon of /proc/self/status).
    pub rss_anon_bytes: u64,
    /// CPU time used since start, seconds.
    pub cpu_seconds: f64,
    /// Kernel memory of all BPF maps, bytes (memlock of their fdinfo).
    pub map_bytes: u64,
}

/// What `gtrace status` and `/api/v1/status` show.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// gtrace's version.
    pub version: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// The kernel's boot id.
    pub boot_id: String,
    /// When the daemon started.
    pub started: Timestamp,
    /// Whether probes are detached by `gtrace pause` or the kill-switch file.
    pub paused: bool,
    /// The newest record in the store.
    pub last_seq: u64,
    /// Open (unacknowledged) events by severity name, since start.
    pub events: std::collections::BTreeMap<String, u64>,
    /// Every source.
    pub sources: Vec<SourceStatus>,
    /// Cost of every BPF program.
    pub probes: Vec<ProbeCost>,
    /// Processes that have the driver's devices open.
    #[serde(default)]
    pub gpu_processes: Vec<DeviceUser>,
    /// How the RDMA ports of the host stand; absent where they are not looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rdma: Option<gtrace_devices::RdmaHealth>,
    /// Own footprint.
    pub footprint: Footprint,
    /// Trouble with the store, if any: records wait in memory until it is over.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub store_problem: Option<String>,
}

/// A process that has the driver's devices open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceUser {
    /// Process id.
    pub pid: u32,
    /// Process name.
    pub comm: String,
    /// Names of the device files: `nvidia0`, `nvidiactl`, `nvidia-uvm`.
    pub devices: Vec<String>,
    /// How many open files that are.
    pub open_files: u32,
}

/// How often a call failed in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallFailures {
    /// NV_STATUS, hex.
    pub status: String,
    /// Its public name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Calls that ended so.
    pub count: u64,
}

/// One row of the driver-call histograms.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CallStats {
    /// Process id.
    pub pid: u32,
    /// Process name.
    pub comm: String,
    /// Name of the device file: `nvidia0`, `nvidiactl`, `nvidia-uvm`; `MAJOR:MINOR` for what is
    /// not the driver's.
    pub device: String,
    /// PCI address of the GPU behind the device file, where it is one's own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<PciAddress>,
    /// ioctl request number, hex.
    pub ioctl: String,
    /// Name of the operation, where public.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub op: Option<String>,
    /// What the operation is about, hex: the control command of RM_CONTROL, the class of RM_ALLOC.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// Public name of `code`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code_name: Option<String>,
    /// Calls.
    pub count: u64,
    /// Calls whose ioctl(2) returned an error.
    pub errors: u64,
    /// Calls whose ioctl(2) returned 0 and which the driver failed all the same.
    #[serde(default)]
    pub failures: u64,
    /// How the driver failed them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub statuses: Vec<CallFailures>,
    /// Total time, nanoseconds.
    pub total_ns: u64,
    /// Percentiles and maximum, nanoseconds.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Maximum.
    pub max_ns: u64,
    /// Index and count of each bucket that is not empty, ascending, if they were asked for. See
    /// docs/profiles.md for the buckets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub buckets: Vec<(u16, u64)>,
}

impl CallStats {
    /// The operation in few words: what RM_CONTROL or RM_ALLOC is about, without the class that
    /// the name begins with, else the ioctl.
    pub fn label(&self) -> String {
        let about = self.code_name.as_deref().map(|name| {
            name.split_once("_CTRL_CMD_")
                .map_or(name, |(_, command)| command)
        });
        let op = self.op.as_deref().unwrap_or(&self.ioctl);
        match (about, &self.code) {
            (Some(about), _) => about.to_owned(),
            (None, Some(code)) => format!("{op} {code}"),
            (None, None) => op.to_owned(),
        }
    }
}

/// What the API asks of the daemon's core.
#[derive(Debug)]
pub enum Command {
    /// Append an acknowledgement; the answer says whether the event exists and it was stored.
    Ack(Ack, oneshot::Sender<Result<Event, String>>),
    /// Make everything published so far durable and readable by other processes.
    Flush(oneshot::Sender<Result<(), String>>),
    /// Detach (true) or attach (false) every probe.
    Pause(bool, oneshot::Sender<Result<(), String>>),
}

/// The shared state.
#[derive(Debug)]
pub struct Hub {
    /// Counters for `/metrics`.
    pub metrics: Metrics,
    stream: broadcast::Sender<Arc<Published>>,
    commands: mpsc::UnboundedSender<Command>,
    status: Mutex<Status>,
    gpus: Mutex<Vec<GpuInfo>>,
    calls: Mutex<Vec<CallStats>>,
    cuda: Mutex<Arc<(CudaReport, Tally)>>,
    pci_metrics: Mutex<Vec<gtrace_devices::Metric>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind that is still the newest known.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    /// A hub with `status` to begin with, and the receiver of [`Command`]s.
    pub fn new(status: Status) -> (Arc<Self>, mpsc::UnboundedReceiver<Command>) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let hub = Arc::new(Self {
            metrics: Metrics::new(),
            stream: broadcast::channel(STREAM_DEPTH).0,
            commands,
            status: Mutex::new(status),
            gpus: Mutex::default(),
            calls: Mutex::default(),
            cuda: Mutex::default(),
            pci_metrics: Mutex::default(),
        });
        (hub, receiver)
    }

    /// Sends a record to every live reader.
    pub fn publish(&self, published: Published) {
        // No reader is no error.
        let _ = self.stream.send(Arc::new(published));
    }

    /// A live reader from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Published>> {
        self.stream.subscribe()
    }

    /// Asks the core for something; false if the core has ended.
    pub fn command(&self, command: Command) -> bool {
        self.commands.send(command).is_ok()
    }

    /// The status now.
    pub fn status(&self) -> Status {
        let mut status = lock(&self.status).clone();
        for source in &mut status.sources {
            source.records = source.witness.map_or(0, |w| self.metrics.records_of(w));
            source.lost = self.metrics.lost_of(&source.name);
        }
        status
    }

    /// Changes the status.
    pub fn update_status(&self, change: impl FnOnce(&mut Status)) {
        change(&mut lock(&self.status));
    }

    /// The GPUs of this host, as last seen.
    pub fn gpus(&self) -> Vec<GpuInfo> {
        lock(&self.gpus).clone()
    }

    /// Replaces the GPUs.
    pub fn set_gpus(&self, gpus: Vec<GpuInfo>) {
        *lock(&self.gpus) = gpus;
    }

    /// Driver-call statistics, as last read from the kernel.
    pub fn calls(&self) -> Vec<CallStats> {
        lock(&self.calls).clone()
    }

    /// Counters of the PCI devices, newest.
    pub fn pci_metrics(&self) -> Vec<gtrace_devices::Metric> {
        lock(&self.pci_metrics).clone()
    }

    /// Sets the counters of the PCI devices.
    pub fn set_pci_metrics(&self, metrics: Vec<gtrace_devices::Metric>) {
        *lock(&self.pci_metrics) = metrics;
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
        let mut status = lock(&self.status);
        if status.gpu_processes != users {
            status.gpu_processes = users;
        }
    }

    /// CUDA calls, as last read from the kernel, with their sums for `/metrics`.
    pub(crate) fn cuda(&self) -> Arc<(CudaReport, Tally)> {
        Arc::clone(&lock(&self.cuda))
    }

    /// Replaces them.
    pub(crate) fn set_cuda(&self, report: CudaReport, tally: Tally) {
        *lock(&self.cuda) = Arc::new((report, tally));
    }

    /// Replaces the driver-call statistics.
    pub fn set_calls(&self, calls: Vec<CallStats>) {
        *lock(&self.calls) = calls;
    }
}

/// A status that says nothing, for tests.
#[cfg(test)]
pub(crate) fn bare_status() -> Status {
    serde_json::from_value(serde_json::json!({
        "version": "0", "pid": 1, "host": "h", "boot_id": "b",
        "started": "2026-03-03T00:00:00Z", "paused": false, "last_seq": 0,
        "events": {}, "sources": [], "probes": [],
        "footprint": { "rss_anon_bytes": 0, "cpu_seconds": 0.0, "map_bytes": 0 },
    }))
    .unwrap()
}
