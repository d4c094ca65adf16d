//! What was found, as it is written with `--json`. `gtrace schema bench-remote` prints the schema.

use std::collections::BTreeMap;

use crate::{Case, Distribution};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the form.
pub const FORM: &str = "gtrace.bench.remote/1";

/// What `gtrace bench remote` found. Times are in ns, rates in bytes a second.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `gtrace.bench.remote/1`.
    pub form: String,
    /// Version of gtrace.
    pub version: String,
    /// When it began.
    pub time: jiff::Timestamp,
    /// The client.
    pub client: Client,
    /// The server.
    pub server: Server,
    /// How calls were made due.
    pub schedule: Schedule,
    /// The program whose calls were made again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recorded: Option<Recorded>,
    /// What was measured, a link each.
    pub links: Vec<Link>,
    /// Links that were not, and why.
    pub not_measured: Vec<NotMeasured>,
}

/// The machine of the client.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Client {
    /// Its name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// CPUs that this process may use.
    pub cpus: usize,
}

/// The server and what it executes on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Server {
    /// Its address, or that it was started for this.
    pub address: String,
    /// Whether it was started for this, on this machine.
    pub started_here: bool,
    /// Name of the first device.
    pub device: String,
    /// Whether the device is the CPU emulator: then what is measured is remoting, not a GPU.
    pub cpu_emulator: bool,
    /// CUDA version of the driver, 1000 x major + 10 x minor.
    pub driver_version: i32,
    /// Device memory that was free, bytes.
    pub free_bytes: u64,
}

/// A recorded program, whose calls the case `replay` makes again by name.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// The trace.
    pub file: String,
    /// Calls in it that had succeeded.
    pub calls: u64,
    /// Those that each repetition makes again.
    pub replayed: u64,
    /// Those that it leaves out, by function.
    pub left_out: BTreeMap<String, u64>,
}

/// How calls were made due.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// `open`: calls are due by the clock, whatever those before them took.
    pub kind: String,
    /// Calls a second that were asked for; absent: half of what a loop that waits for each call makes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_per_s: Option<f64>,
    /// How `corrected` was made from `service`.
    pub correction: String,
}

/// A link.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// `shm`, `unix`, `tcp`, `tls` or `rdma`.
    pub link: String,
    /// The address that it was opened with.
    pub address: String,
    /// TCP's congestion control.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub congestion_control: Option<String>,
    /// Its limits.
    pub raw: Raw,
    /// What was measured over it.
    pub cases: Vec<Measurement>,
}

/// What a link gives without CUDA, measured in the same run.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Raw {
    /// A frame of 64 bytes to the server's lane and 64 back, over this very link: from when it was due until it was back.
    pub echo: Distribution,
    /// The same from its begin.
    pub echo_service: Distribution,
    /// Echoes a second.
    pub echo_rate_per_s: f64,
    /// Bytes a second to the server, which reads them to nowhere.
    pub to_server: f64,
    /// Bytes a second from the server; absent with servers that send none.
    pub from_server: Option<f64>,
    /// What this machine gives without gtrace; absent where the server is on another.
    pub machine: Option<Machine>,
}

/// What the operating system gives between two threads of one machine, both spinning.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// `tcp` (loopback), `unix` or `memory`.
    pub kind: String,
    /// An exchange of 64 bytes there and 80 back; over memory of a cache line each way.
    pub exchange: Distribution,
    /// Bytes a second in one direction; over memory through a ring that one thread fills and another empties.
    pub stream: f64,
}

/// A case over a link.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// What was called.
    pub case: Case,
    /// Its name, as the table has it.
    pub name: String,
    /// Bytes that each call copied.
    pub bytes: Option<u64>,
    /// Why it was not measured; then the rest is absent.
    pub skipped: Option<String>,
    /// What was measured.
    pub times: Option<Times>,
}

/// Times of a case.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Calls a second that were due.
    pub rate_per_s: f64,
    /// Calls that began more than one interval of the schedule late.
    pub late: u64,
    /// Mean of a call in a loop that makes one when the one before is done.
    pub closed_loop_ns: u64,
    /// From when a call was due until it was done: what a program notices.
    pub response: Distribution,
    /// From a call's begin to its end.
    pub service: Distribution,
    /// `service`, corrected for calls that were not made while one took long.
    pub corrected: Distribution,
    /// Bytes a second of copies, by the median of `service`.
    pub bytes_per_s: Option<f64>,
    /// Median of `service` as a multiple of the limit: the echo, or the raw stream of the same link and direction for
    /// copies of 1 MiB and more. Absent for launches, which nobody waits for, and for whole programs.
    pub times_raw: Option<f64>,
    /// The driver's functions that each call made, with the parts of their time; the loop that warms up included.
    pub operations: Vec<Operation>,
}

/// A function of the driver.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// `client`, `wire`, `queue`, `driver`, `wake`; a function that is not awaited has `client` alone.
    pub parts: BTreeMap<String, Distribution>,
}

/// A link that was not measured.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NotMeasured {
    /// Its name.
    pub link: String,
    /// Why not.
    pub reason: String,
}
