//! The supervisor's status: JSON on a Unix socket, one object a connection.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::control::Client;
use crate::sandbox::{Layer, SandboxMode};
use crate::stats::{OpStats, SessionStats, Times};

/// Longest status that is read, bytes.
const STATUS_MAX: u64 = 64 << 20;

/// Most operations that are counted by name. There are some 700.
const OPS_MAX: usize = 2048;

/// One device of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// As the driver names it.
    pub name: String,
    /// `GPU-` and the UUID in lower case.
    pub uuid: String,
    /// PCI address.
    pub pci: String,
    /// Bytes.
    pub memory: u64,
}

/// The driver, as a worker found it when the server started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverInfo {
    /// Its library.
    pub libcuda: String,
    /// NVML's library, if it can be loaded.
    pub libnvml: Option<String>,
    /// `cuDriverGetVersion`: 1000 * major + 10 * minor of CUDA.
    pub version: i32,
    /// Devices that clients can see.
    pub devices: Vec<Device>,
}

/// Since the server started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Connections accepted by a listener.
    pub accepted: u64,
    /// Connections that were not let in, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Sessions that were let in.
    pub sessions: u64,
    /// The same by credential, `token NAME` or `certificate NAME`: at most as many as the file of credentials has had.
    #[serde(default)]
    pub by_credential: BTreeMap<String, u64>,
    /// Sessions that were ended because their credential was revoked or had expired.
    #[serde(default)]
    pub sessions_revoked: u64,
    /// Lanes that were let in.
    pub lanes: u64,
    /// Workers that ended by a signal or an error.
    pub workers_failed: u64,
    /// Frames of sessions that have ended.
    pub frames: u64,
    /// Bytes of their requests.
    pub bytes_in: u64,
    /// Bytes of their replies.
    pub bytes_out: u64,
    /// Lanes of them that were closed because their client did not keep to the protocol.
    #[serde(default)]
    pub lanes_broken: u64,
    /// Times that RDMA was asked for and not agreed upon.
    #[serde(default)]
    pub rdma_refused: u64,
    /// Times that their lanes gave RDMA up for the connection.
    #[serde(default)]
    pub failovers: u64,
    /// Times that they took it again.
    #[serde(default)]
    pub failbacks: u64,
    /// Times that connections of their lanes broke.
    #[serde(default)]
    pub severed: u64,
    /// Times that other connections took their place.
    #[serde(default)]
    pub resumed: u64,
    /// Time between arrival and start of their calls.
    pub queue: Times,
    /// Time of their calls in the driver.
    pub driver: Times,
    /// Each of their operations, by name.
    pub ops: BTreeMap<String, OpStats>,
}

impl Counters {
    /// Counts a connection that was not let in.
    pub(super) fn refuse(&mut self, reason: &str) {
        *self.refused.entry(reason.to_owned()).or_default() += 1;
    }

    /// Counts a session that was let in, by this credential.
    pub(super) fn let_in(&mut self, credential: Option<&str>) {
        self.sessions += 1;
        self.lanes += 1;
        if let Some(name) = credential {
            *self.by_credential.entry(name.to_owned()).or_default() += 1;
        }
    }

    /// Adds what a session did.
    pub(super) fn add(&mut self, stats: &SessionStats) {
        self.frames += stats.frames;
        self.bytes_in += stats.bytes_in;
        self.bytes_out += stats.bytes_out;
        self.lanes_broken += stats.lanes_broken;
        self.rdma_refused += stats.rdma_refused;
        self.failovers += stats.failovers;
        self.failbacks += stats.failbacks;
        self.severed += stats.severed;
        self.resumed += stats.resumed;
        self.queue.add(&stats.queue);
        self.driver.add(&stats.driver);
        for op in &stats.ops {
            // A worker that has been taken over may make names up.
            if self.ops.len() >= OPS_MAX && !self.ops.contains_key(&op.name) {
                continue;
            }
            let sum = self.ops.entry(op.name.clone()).or_default();
            sum.name.clone_from(&op.name);
            sum.errors += op.errors;
            sum.bytes += op.bytes;
            sum.queue.add(&op.queue);
            sum.driver.add(&op.driver);
        }
    }
}

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// First eight digits of its id.
    pub id: String,
    /// Its worker process.
    pub worker: u32,
    /// Its client, once it was let in.
    pub client: Option<Client>,
    /// Since it was let in, s.
    pub age_s: f64,
    /// Calls a second, over the last second.
    pub calls_per_second: f64,
    /// Most memory that it may allocate, bytes.
    pub memory_limit: Option<u64>,
    /// What it did.
    pub stats: SessionStats,
}

/// The server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Version of gtrace.
    pub version: String,
    /// Process of the supervisor.
    pub pid: u32,
    /// Host.
    pub host: String,
    /// Since start, s.
    pub uptime_s: f64,
    /// Addresses it listens on.
    pub listen: Vec<String>,
    /// Whether clients have to know a token.
    pub token: bool,
    /// Whether TLS can be used.
    pub tls: bool,
    /// Whether certificates of clients are taken in place of a token.
    #[serde(default)]
    pub certificates: bool,
    /// Why the files of credentials and certificates as they are now do not hold.
    #[serde(default)]
    pub credentials_error: Option<String>,
    /// Whether workers are confined.
    #[serde(default)]
    pub sandbox: SandboxMode,
    /// How, and what is not in force.
    #[serde(default)]
    pub layers: Vec<Layer>,
    /// Most clients.
    pub max_clients: usize,
    /// The driver.
    pub driver: DriverInfo,
    /// Since start.
    pub counters: Counters,
    /// Those under way.
    pub sessions: Vec<SessionStatus>,
}

impl ServerStatus {
    /// Since start, sessions under way included: these never fall.
    pub fn totals(&self) -> Counters {
        let mut totals = self.counters.clone();
        for session in &self.sessions {
            totals.add(&session.stats);
        }
        totals
    }

    /// Asks the server whose status socket is at `path`.
    ///
    /// # Errors
    ///
    /// The system's: nobody listens there, no permission, no answer within two seconds; `InvalidData`
    /// for an answer that is none.
    pub fn ask(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.set_write_timeout(Some(Duration::from_secs(2)))?;
        let mut text = Vec::new();
        stream.take(STATUS_MAX).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// Writes it to whoever asked.
    pub(super) fn send(&self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_write_timeout(Some(Duration::from_secs(2)))?;
        stream.set_nonblocking(false)?;
        let text = serde_json::to_vec(self)?;
        stream.write_all(&text)
    }
}
