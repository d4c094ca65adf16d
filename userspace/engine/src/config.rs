//! Configuration: one TOML file; every key is also a flag and an environment variable.
//! A flag wins over the environment, that over the file, that over the default.

mod address;
mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use gtrace_abi::{DeviceFilter, STATUS_BITS};
use gtrace_devices::{HostThresholds, RdmaExpected};
use gtrace_event::WitnessName;
use gtrace_tls::AccessFiles;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::address::{NotLoopback, ReadAddress};
pub use self::parse::parse_devices;
use self::parse::{
    CALL_FAILURES, parse_access, parse_after, parse_alertmanager, parse_call_failures,
    parse_compat, parse_disabled_sources, parse_evidence, parse_head, parse_history, parse_listen,
    parse_otlp, parse_plugins, parse_share, parse_state_dir, parse_thresholds, refused, seconds,
};
use crate::alertmanager;
use crate::component::{self, driver_modules, plugins, pressure, runtimes};
use crate::contention;
use crate::hub::Hub;
use crate::nvsentinel;
use crate::otlp;
use crate::previous_boot;
use crate::recorder;

/// Where the configuration is read from unless `--config` names another file.
pub const DEFAULT_FILE: &str = "/etc/gtrace/gtrace.toml";

/// Where `gtrace agent enroll` keeps the credential unless `head_credential` names another file.
const DEFAULT_HEAD_CREDENTIAL: &str = "/var/lib/gtrace/head.json";

/// Where the baseline is unless `baseline` names another file.
const DEFAULT_BASELINE: &str = "/etc/gtrace/baseline.toml";

/// Where the site's rules of health are unless `health_rules` names another file.
const DEFAULT_HEALTH_RULES: &str = "/etc/gtrace/health-rules.toml";

/// Why the configuration is refused.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("configuration {path} cannot be read: {cause}; name another with --config")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is no TOML, or has a key that does not exist.
    #[error(
        "configuration {path} is refused: {cause}\nremedy: correct that line; `gtrace config show` lists every key with its value"
    )]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column and reason.
        cause: toml::de::Error,
    },
    /// A value is out of range or not understood.
    #[error("configuration key {key}: {reason}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong and what is allowed.
        reason: String,
    },
}

/// What help and errors write for the value of a key.
trait ValueName {
    const NAME: &'static str;
}

macro_rules! value_names {
    ($($ty:ty = $name:literal,)*) => { $(impl ValueName for $ty { const NAME: &'static str = $name; })* };
}

value_names! {
    PathBuf = "PATH",
    String = "VALUE",
    bool = "BOOL",
    f64 = "NUMBER",
    u32 = "N",
    u64 = "N",
}

macro_rules! keys {
    ($($(#[$meta:meta])* $key:ident: $ty:ty = $env:literal $(=> $default:expr)?,)*) => {
        /// The keys as they are given: all optional.
        #[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Keys {
            $(
                $(#[$meta])*
                #[arg(long, env = $env, global = false, value_name = <$ty as ValueName>::NAME)]
                #[serde(skip_serializing_if = "Option::is_none", default)]
                pub $key: Option<$ty>,
            )*
        }

        impl Keys {
            /// These keys, and those of `lower` where these say nothing.
            pub fn over(self, lower: Self) -> Self {
                Self { $($key: self.$key.or(lower.$key),)* }
            }
        }

        impl Config {
            /// The default of every key that has one.
            pub fn defaults() -> Keys {
                Keys { $($key: default_of!($($default)?),)* }
            }
        }
    };
}

macro_rules! default_of {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

keys! {
    /// Directory of the store.
    state_dir: PathBuf = "GTRACE_STATE_DIR" => "/var/lib/gtrace".into(),
    /// Unix socket of the API.
    socket: PathBuf = "GTRACE_SOCKET" => "/run/gtrace/gtrace.sock".into(),
    /// Addresses of the API, separated by commas; `off` for none. 127.0.0.1:7470 is on loopback, for reading only;
    /// `https://0.0.0.0:7471` is for other hosts, and needs tls_cert, tls_key and credentials.
    listen: String = "GTRACE_LISTEN" => "127.0.0.1:7470".into(),
    /// PEM file of the certificate for https, with those between it and its authority.
    tls_cert: PathBuf = "GTRACE_TLS_CERT",
    /// PEM file of the private key of that certificate.
    tls_key: PathBuf = "GTRACE_TLS_KEY",
    /// PEM file of the authorities whose certificates clients may show over https.
    tls_client_ca: PathBuf = "GTRACE_TLS_CLIENT_CA",
    /// PEM file of the certificates that those authorities have revoked.
    tls_client_crl: PathBuf = "GTRACE_TLS_CLIENT_CRL",
    /// Credentials for https: tokens and certificates with their roles; `gtrace token new` writes it.
    credentials: PathBuf = "GTRACE_CREDENTIALS" => gtrace_tls::DEFAULT_CREDENTIALS.into(),
    /// Site policy: a TOML file that changes severities, actions and steps.
    site_policy: PathBuf = "GTRACE_SITE_POLICY",
    /// Triggers of the site: a TOML file of rules for samples and events that open an incident.
    triggers: PathBuf = "GTRACE_TRIGGERS",
    /// Baseline: a TOML file of what driver, GPUs and counts of devices should be, which need not be there;
    /// `gtrace baseline save` writes it.
    baseline: PathBuf = "GTRACE_BASELINE" => DEFAULT_BASELINE.into(),
    /// Rules of health of the site: a TOML file that adds rules and changes those that come with gtrace, which need not be
    /// there.
    health_rules: PathBuf = "GTRACE_HEALTH_RULES" => DEFAULT_HEALTH_RULES.into(),
    /// Disabled sources, by name, separated by commas: `printk:console,nvml`.
    disabled_sources: String = "GTRACE_DISABLED_SOURCES" => String::new(),
    /// Device nodes whose ioctls are traced: `auto` (NVIDIA's, from /proc/devices) or
    /// `MAJOR[:MINOR]`, separated by commas.
    devices: String = "GTRACE_DEVICES" => "auto".into(),
    /// Slow call threshold in milliseconds: a longer driver call is an event; 0 for none.
    slow_call_ms: u64 = "GTRACE_SLOW_CALL_MS" => 1000,
    /// Hung call threshold in seconds: a call that has not returned by then is an event; 0 for none.
    hung_call_s: u64 = "GTRACE_HUNG_CALL_S" => 10,
    /// NV_STATUS values that make a failed driver call an event: names or numbers separated by commas,
    /// `all` or `none`. Unless `none`, an ioctl(2) that fails with EIO, ENXIO, ENODEV or ETIMEDOUT is an
    /// event too. All failures are counted in any case.
    call_failures: String = "GTRACE_CALL_FAILURES" => CALL_FAILURES.into(),
    /// Attach to nvidia:nvidia_dev_xid too: it gives the text of an Xid that the kernel log lacks. While
    /// it is attached the driver cannot be unloaded; gtrace detaches it when rmmod or modprobe starts.
    dev_xid_tracepoint: bool = "GTRACE_DEV_XID_TRACEPOINT" => false,
    /// Measure CUDA calls of all processes by uprobes on their libcuda.so: latency, errors, bytes, device
    /// memory. Probes slow down each call; see cuda_api_budget.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    cuda_api: bool = "GTRACE_CUDA_API" => false,
    /// Budget of the probes on CUDA calls, in percent of the CPU time of the traced processes: beyond it
    /// functions are sampled or detached. 0 for no limit.
    cuda_api_budget: f64 = "GTRACE_CUDA_API_BUDGET" => 1.0,
    /// Make an event also of each process with a GPU device open that ended with exit status 0. All ends are
    /// counted in any case.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    successful_exits: bool = "GTRACE_SUCCESSFUL_EXITS" => false,
    /// Size of the event ring buffer in bytes; a power of two from 4096.
    ring_bytes: u32 = "GTRACE_RING_BYTES" => 8 << 20,
    /// Deduplication window, in seconds.
    dedup_window_s: u64 = "GTRACE_DEDUP_WINDOW_S" => 60,
    /// Sampling interval of NVML, in seconds; 0 for none.
    nvml_interval_s: u64 = "GTRACE_NVML_INTERVAL_S" => 10,
    /// Deadline of an NVML call, in seconds; then its process is killed.
    nvml_deadline_s: u64 = "GTRACE_NVML_DEADLINE_S" => 5,
    /// Path of the NVML library; libnvidia-ml.so.1 of the system by default.
    nvml_library: PathBuf = "GTRACE_NVML_LIBRARY",
    /// Window of memory growth in seconds: a process whose GPU memory rises throughout it, by a twentieth of the
    /// GPU's at least, is an event; 0 for none.
    memory_growth_s: u64 = "GTRACE_MEMORY_GROWTH_S" => 1800,
    /// Window in seconds after which a GPU that is shared by several owners and busy, or held and hardly used while its
    /// process waits for the host, is an event; 0 for none.
    contention_s: u64 = "GTRACE_CONTENTION_S" => 600,
    /// Polling interval of PCI devices and RDMA ports in sysfs, in seconds; 0 for none.
    pci_interval_s: u64 = "GTRACE_PCI_INTERVAL_S" => 10,
    /// Expected number of active RDMA ports (InfiniBand, RoCE); 0: those that were active once.
    rdma_ports: u32 = "GTRACE_RDMA_PORTS" => 0,
    /// Their minimum rate in Gb/s; 0: the highest rate of each so far.
    rdma_rate_gbps: u32 = "GTRACE_RDMA_RATE_GBPS" => 0,
    /// Percent of the space or inodes of a file system left below which it counts as degraded; 0 for never.
    disk_low_percent: f64 = "GTRACE_DISK_LOW_PERCENT" => 5.0,
    /// And below which it counts as unhealthy; 0 for never.
    disk_empty_percent: f64 = "GTRACE_DISK_EMPTY_PERCENT" => 1.0,
    /// Percent of the host's file handles or tasks in use from which on it counts as degraded; 0 for never.
    limits_high_percent: f64 = "GTRACE_LIMITS_HIGH_PERCENT" => 80.0,
    /// And from which on it counts as unhealthy; 0 for never.
    limits_full_percent: f64 = "GTRACE_LIMITS_FULL_PERCENT" => 95.0,
    /// Percent of the memory available below which the host counts as degraded; 0 for never.
    memory_low_percent: f64 = "GTRACE_MEMORY_LOW_PERCENT" => 0.0,
    /// Corrected errors of a memory controller within an hour above which memory counts as degraded; 0 for never.
    memory_errors_hourly: u64 = "GTRACE_MEMORY_ERRORS_HOURLY" => 100,
    /// Milliseconds that the clock may be wrong by, as the kernel knows, before it counts as degraded; 0 for any.
    clock_error_ms: u64 = "GTRACE_CLOCK_ERROR_MS" => 1000,
    /// Milliseconds that the clock may be off by, as its daemon estimates, before it counts as degraded; 0 for any.
    clock_offset_ms: u64 = "GTRACE_CLOCK_OFFSET_MS" => 100,
    /// Percent of the CPUs' time that a hypervisor may take before they count as degraded; 0 for any.
    cpu_stolen_percent: f64 = "GTRACE_CPU_STOLEN_PERCENT" => 10.0,
    /// Seconds of uninterruptible sleep after which a process with a GPU open counts as stuck, and tenfold as unhealthy; 0 for never.
    stuck_process_s: u64 = "GTRACE_STUCK_PROCESS_S" => 60,
    /// Zombies above which tasks count as degraded; 0 for any number.
    zombie_processes: u32 = "GTRACE_ZOMBIE_PROCESSES" => 100,
    /// Seconds that an enabled service may not run before it counts as degraded; 0 for ever.
    service_down_s: u64 = "GTRACE_SERVICE_DOWN_S" => 60,
    /// Seconds between readings of /proc/pressure; 0 for none.
    pressure_interval_s: u64 = "GTRACE_PRESSURE_INTERVAL_S" => 10,
    /// The host's memory counts as degraded while all tasks are stalled by lack of it for more than this
    /// share of a minute, in percent; 0 for never.
    memory_pressure_percent: f64 = "GTRACE_MEMORY_PRESSURE_PERCENT" => 10.0,
    /// Interval of the one-second measurements of the probes' cost, in seconds; 0 for none.
    probe_cost_interval_s: u64 = "GTRACE_PROBE_COST_INTERVAL_S" => 60,
    /// Retention of events, in days; 0 for ever.
    retention_days: u64 = "GTRACE_RETENTION_DAYS" => 90,
    /// Maximum size of the store in megabytes (10^6 bytes): the least severe and oldest events are removed;
    /// 0 for no limit.
    retention_mb: u64 = "GTRACE_RETENTION_MB" => 1000,
    /// Keep samples on disk, beside the store.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    sample_history: bool = "GTRACE_SAMPLE_HISTORY" => true,
    /// Most megabytes (10^6 bytes) of samples on disk, from 9. The oldest go first.
    sample_history_mb: u64 = "GTRACE_SAMPLE_HISTORY_MB" => 256,
    /// Flight recorder: keep the last minutes in memory and on disk, and what belongs to an incident when one opens.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    flight_recorder: bool = "GTRACE_FLIGHT_RECORDER" => true,
    /// Seconds for which a recording goes on after its incident has opened, 1 to 600.
    recording_after_s: u64 = "GTRACE_RECORDING_AFTER_S" => 30,
    /// Most megabytes (10^6 bytes) of evidence of incidents on disk, from 16. The oldest goes first.
    evidence_mb: u64 = "GTRACE_EVIDENCE_MB" => 256,
    /// Base URLs of the Alertmanagers that get an alert for each incident, separated by commas:
    /// `http://127.0.0.1:9093`. Each gets all alerts.
    alertmanager_url: String = "GTRACE_ALERTMANAGER_URL" => String::new(),
    /// File with the bearer token for Alertmanager.
    alertmanager_token_file: PathBuf = "GTRACE_ALERTMANAGER_TOKEN_FILE",
    /// CA certificates (PEM) for Alertmanager over https; those of the system by default.
    alertmanager_ca_file: PathBuf = "GTRACE_ALERTMANAGER_CA_FILE",
    /// Send drills to Alertmanager too, with the label drill="true".
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    alertmanager_drills: bool = "GTRACE_ALERTMANAGER_DRILLS" => false,
    /// Runbook link of alerts; `{class}` stands for the class of failure:
    /// `https://wiki.example.com/gpu/{class}`.
    alertmanager_runbook_url: String = "GTRACE_ALERTMANAGER_RUNBOOK_URL",
    /// Base URL of a collector of OpenTelemetry that gets metrics and events by OTLP over HTTP: `http://127.0.0.1:4318`.
    /// None by default.
    otlp_url: String = "GTRACE_OTLP_URL" => String::new(),
    /// File with the bearer token for the collector.
    otlp_token_file: PathBuf = "GTRACE_OTLP_TOKEN_FILE",
    /// CA certificates (PEM) for the collector over https; those of the system by default.
    otlp_ca_file: PathBuf = "GTRACE_OTLP_CA_FILE",
    /// Seconds between two sendings of metrics, 5 to 3600. Events are sent within a second.
    otlp_interval_s: u64 = "GTRACE_OTLP_INTERVAL_S" => 60,
    /// The kubelet's pod-resources socket, which names the pods that have a GPU; it need not be there.
    kubelet_socket: PathBuf = "GTRACE_KUBELET_SOCKET" => gtrace_grpc::kubelet::SOCKET.into(),
    /// Socket of NVSentinel's platform connector, which gets the health of GPUs, NVSwitches, ports and the host:
    /// `/var/run/nvsentinel/platform-connector.sock`. None by default.
    nvsentinel_socket: PathBuf = "GTRACE_NVSENTINEL_SOCKET",
    /// NVSentinel only stores what it gets: no quarantine and no drain follows.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    nvsentinel_store_only: bool = "GTRACE_NVSENTINEL_STORE_ONLY" => false,
    /// Head of a fleet, to which the records of this host go: `https://head.example.com:7481`, or the NATS servers between:
    /// `nats://n1.example.com,n2.example.com`; none by default. `gtrace agent enroll` takes the host into the fleet.
    head: String = "GTRACE_HEAD_URL",
    /// File with the credential for the head, as `gtrace agent enroll` writes it.
    head_credential: PathBuf = "GTRACE_HEAD_CREDENTIAL" => DEFAULT_HEAD_CREDENTIAL.into(),
    /// Labels of the host in the fleet, separated by commas: `rack=r7,switch=s2,feed=b`.
    head_labels: String = "GTRACE_HEAD_LABELS" => String::new(),
    /// Most bytes a second to the head, on average; 0 for no limit.
    head_rate: u64 = "GTRACE_HEAD_RATE" => 0,
    /// Let the head start profiling sessions: GPUs are read by NVML while one is on.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    head_sessions: bool = "GTRACE_HEAD_SESSIONS" => false,
    /// Let the head fetch reports of incidents, as `gtrace report` writes them.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    head_reports: bool = "GTRACE_HEAD_REPORTS" => false,
    /// Let the head trace a process: its CUDA and driver calls, as `gtrace trace --pid` writes them, for at most a minute.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    head_traces: bool = "GTRACE_HEAD_TRACES" => false,
    /// Let the head show the page of this host: what the API answers to readers, processes with their names included.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    head_page: bool = "GTRACE_HEAD_PAGE" => false,
    /// Site of this host, a part of its subjects in NATS.
    head_site: String = "GTRACE_HEAD_SITE" => "default".into(),
    /// File with the credentials for NATS: a .creds file, the seed of an nkey, `USER:PASSWORD` or a token.
    head_nats_credentials: PathBuf = "GTRACE_HEAD_NATS_CREDENTIALS",
    /// Authorities (PEM) of the NATS servers' certificates; those of the system by default.
    head_nats_ca: PathBuf = "GTRACE_HEAD_NATS_CA",
    /// Certificate that is shown to the NATS servers (PEM).
    head_nats_cert: PathBuf = "GTRACE_HEAD_NATS_CERT",
    /// Its private key (PEM).
    head_nats_key: PathBuf = "GTRACE_HEAD_NATS_KEY",
    /// Answer as other programs too, for their clients, separated by commas: `gpud`, `dcgm`; or `none`.
    compat: String = "GTRACE_COMPAT" => "none".into(),
    /// Folder of plugins, executables of root that say what they found: `/etc/gtrace/plugins.d`. None by default.
    plugins: PathBuf = "GTRACE_PLUGINS",
    /// Seconds between two runs of a plugin, 10 to 86400.
    plugins_interval_s: u64 = "GTRACE_PLUGINS_INTERVAL_S" => 60,
    /// Seconds until a plugin that has not ended is killed; less than plugins_interval_s.
    plugins_deadline_s: u64 = "GTRACE_PLUGINS_DEADLINE_S" => 20,
    /// Kill switch: every probe is detached while this file exists.
    kill_switch: PathBuf = "GTRACE_KILL_SWITCH" => "/run/gtrace/pause".into(),
    /// Root of sysfs; other values are for tests.
    sysfs_root: PathBuf = "GTRACE_SYSFS_ROOT" => "/sys".into(),
    /// Root of procfs; other values are for tests.
    proc_root: PathBuf = "GTRACE_PROC_ROOT" => "/proc".into(),
}

/// Other programs whose clients are answered too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compat {
    /// GPUd's routes.
    pub gpud: bool,
    /// The names of dcgm-exporter in `/metrics`.
    pub dcgm: bool,
}

/// The head of the fleet that this host belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadConfig {
    /// Its URL.
    pub url: String,
    /// File with the host's credential.
    pub credential: PathBuf,
    /// Labels of the host.
    pub labels: BTreeMap<String, String>,
    /// Most bytes a second, on average.
    pub rate: Option<u64>,
    /// Whether it may start profiling sessions.
    pub sessions: bool,
    /// Whether it may fetch reports of incidents.
    pub reports: bool,
    /// Whether it may trace processes.
    pub traces: bool,
    /// Whether it may show this host's page.
    pub page: bool,
    /// Of NATS servers, where the URL is theirs.
    pub nats: NatsFiles,
}

/// How NATS servers are used that are between the host and its head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NatsFiles {
    /// The host's site.
    pub site: String,
    /// File with the credentials.
    pub credentials: Option<PathBuf>,
    /// Authorities of the servers' certificates.
    pub ca: Option<PathBuf>,
    /// Certificate and key that are shown to them.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Directory of the store.
    pub state_dir: PathBuf,
    /// Unix socket of the API.
    pub socket: PathBuf,
    /// Address of the API on loopback.
    pub listen: Option<ReadAddress>,
    /// Addresses of the API that other hosts may reach.
    pub listen_https: Vec<SocketAddr>,
    /// What https needs; `None` where no certificate is configured.
    pub access: Option<AccessFiles>,
    /// Site policy file.
    pub site_policy: Option<PathBuf>,
    /// File of triggers.
    pub triggers: Option<PathBuf>,
    /// File of the baseline.
    pub baseline: PathBuf,
    /// File of the site's rules of health.
    pub health_rules: PathBuf,
    /// Components switched off.
    pub disabled: Vec<&'static str>,
    /// Those of them that are witnesses, and those that only work with them.
    pub disabled_sources: Vec<WitnessName>,
    /// Devices named; `None` for NVIDIA's, as the kernel lists them.
    pub devices: Option<Vec<DeviceFilter>>,
    /// Threshold of slow calls.
    pub slow_call: Option<Duration>,
    /// After what time a call that has not returned is reported.
    pub hung_call: Option<Duration>,
    /// Which failed calls are reported.
    pub call_failures: CallFailures,
    /// Whether nvidia:nvidia_dev_xid is attached to.
    pub dev_xid_tracepoint: bool,
    /// Whether CUDA calls are counted.
    pub cuda_api: bool,
    /// Share of the traced processes' CPU time that this may cost; `None` for any.
    pub cuda_api_budget: Option<f64>,
    /// Whether an end of a GPU process with exit status 0 is an event too.
    pub successful_exits: bool,
    /// Room of the event ring; 0 for the probes' own default.
    pub ring_bytes: u32,
    /// How long a repeat stays a repeat.
    pub dedup_window: Duration,
    /// Between NVML samples.
    pub nvml_interval: Option<Duration>,
    /// Until an NVML call is given up.
    pub nvml_deadline: Duration,
    /// NVML library.
    pub nvml_library: Option<PathBuf>,
    /// For how long the GPU memory of a process has to rise to be reported.
    pub memory_growth: Option<Duration>,
    /// For how long a GPU has to be contended for, or starved, to be reported.
    pub contention: Option<Duration>,
    /// Between polls of sysfs.
    pub pci_interval: Option<Duration>,
    /// What is expected of RDMA ports.
    pub rdma: RdmaExpected,
    /// From where on parts of the host count as wrong.
    pub thresholds: HostThresholds,
    /// How pressure is watched.
    pub pressure: pressure::Options,
    /// Between measurements of the probes' cost.
    pub probe_cost_interval: Option<Duration>,
    /// How long events are kept.
    pub retention_age: Option<Duration>,
    /// How many bytes are kept.
    pub retention_bytes: Option<u64>,
    /// How many bytes of samples are kept; `None`: none.
    pub history_bytes: Option<u64>,
    /// How many bytes of evidence are kept; `None`: nothing is recorded.
    pub evidence_bytes: Option<u64>,
    /// How long a recording goes on.
    pub recording_after: Duration,
    /// Where alerts go; `None`: nowhere.
    pub alertmanager: Option<alertmanager::Options>,
    /// Where metrics and events go by OTLP; `None`: nowhere.
    pub otlp: Option<otlp::Options>,
    /// The kubelet's socket.
    pub kubelet_socket: PathBuf,
    /// How health is reported to NVSentinel; `None`: not.
    pub nvsentinel: Option<nvsentinel::Options>,
    /// The head that the host's records go to; `None`: nowhere.
    pub head: Option<HeadConfig>,
    /// As which other programs the daemon answers.
    pub compat: Compat,
    /// How plugins are run; `None`: not.
    pub plugins: Option<plugins::Options>,
    /// Kill-switch file.
    pub kill_switch: PathBuf,
    /// Root of sysfs.
    pub sysfs_root: PathBuf,
    /// Root of procfs.
    pub proc_root: PathBuf,
}

/// Which failed calls are reported one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFailures {
    /// NV_STATUS values: bit s % 64 of word s / 64.
    pub statuses: [u64; STATUS_BITS / 64],
    /// Error numbers of ioctl(2) itself: bit e % 64 of word e / 64.
    pub errnos: [u64; 2],
}

impl Config {
    /// What components are started with.
    pub fn components(&self, hub: &Arc<Hub>) -> component::Context {
        component::Context {
            hub: Arc::clone(hub),
            parts: Arc::default(),
            disabled: self.disabled.clone(),
            proc_root: self.proc_root.clone(),
            sysfs_root: self.sysfs_root.clone(),
            pressure: self.pressure,
            baseline: self.baseline.clone(),
            health_rules: self.health_rules.clone(),
            rules_read: Arc::default(),
            kubelet: self.kubelet_socket.clone(),
            compared: Arc::default(),
            rdma: Arc::default(),
            host: Arc::default(),
            thresholds: self.thresholds,
            cgroups: Arc::default(),
            runtimes: Arc::new(runtimes::Runtimes::of_host(&self.kubelet_socket)),
            plugins: Arc::new(plugins::Plugins::new(self.plugins.clone())),
        }
    }

    /// Where to look for how the boot before ended.
    pub fn previous_boot(&self) -> previous_boot::Places {
        previous_boot::Places {
            state: self.state_dir.clone(),
            sysfs: self.sysfs_root.clone(),
            var: PathBuf::from("/var"),
        }
    }

    /// Bounds of the history of samples; `None` where none is kept.
    pub fn history(&self) -> Option<gtrace_history::Options> {
        self.history_bytes.map(|max_bytes| gtrace_history::Options {
            max_bytes,
            ..gtrace_history::Options::default()
        })
    }

    /// How the flight recorder works; `None` where nothing is recorded.
    pub fn recorder(&self) -> Option<recorder::Options> {
        self.evidence_bytes.map(|evidence_bytes| recorder::Options {
            store: self.store(),
            evidence_bytes,
            evidence_age: self.retention_age,
            after: self.recording_after,
            proc_root: self.proc_root.clone(),
            sysfs_root: self.sysfs_root.clone(),
        })
    }

    /// The store's file.
    pub fn store(&self) -> PathBuf {
        self.state_dir.join("store.db")
    }

    /// Reads `file` (by default [`DEFAULT_FILE`], which need not exist) under `flags`.
    pub fn load(file: Option<&Path>, flags: Keys) -> Result<Self, ConfigError> {
        Self::from_keys(Self::load_keys(file, flags)?)
    }

    /// The keys of `file` under `flags`, with every default filled in.
    pub fn load_keys(file: Option<&Path>, flags: Keys) -> Result<Keys, ConfigError> {
        let path = file.unwrap_or(Path::new(DEFAULT_FILE));
        let keys = match fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).map_err(|cause| ConfigError::Parse {
                path: path.to_owned(),
                cause,
            })?,
            Err(e) if file.is_none() && e.kind() == std::io::ErrorKind::NotFound => Keys::default(),
            Err(cause) => {
                return Err(ConfigError::Read {
                    path: path.to_owned(),
                    cause,
                });
            }
        };
        Ok(flags.over(keys).over(Self::defaults()))
    }

    /// Checks every value.
    pub fn from_keys(keys: Keys) -> Result<Self, ConfigError> {
        let keys = keys.over(Self::defaults());
        let alertmanager = parse_alertmanager(&keys)?;
        let otlp = parse_otlp(&keys)?;
        let access = parse_access(&keys)?;
        let listen = parse_listen(keys.listen.as_deref().unwrap_or_default(), access.is_some())?;
        let head = parse_head(&keys)?;
        let nvsentinel = keys
            .nvsentinel_socket
            .clone()
            .map(|socket| nvsentinel::Options {
                socket,
                store_only: keys.nvsentinel_store_only.unwrap_or_default(),
                state_dir: keys.state_dir.clone().unwrap_or_default(),
            });
        let plugins = parse_plugins(&keys)?;
        let thresholds = parse_thresholds(&keys)?;
        let ring_bytes = keys.ring_bytes.unwrap_or(0);
        if ring_bytes < 4096 || !ring_bytes.is_power_of_two() {
            return Err(refused(
                "ring_bytes",
                format!("{ring_bytes} is not a power of two from 4096 up"),
            ));
        }
        let mut disabled = parse_disabled_sources(&keys.disabled_sources.unwrap_or_default())?;
        if !keys.cuda_api.unwrap_or_default() {
            disabled.push(component::cuda::NAME);
        }
        let mut disabled_sources: Vec<_> = disabled
            .iter()
            .filter_map(|name| component::find(name)?.witness())
            .collect();
        if disabled.contains(&driver_modules::NAME) {
            disabled_sources.extend(driver_modules::PROBES);
        }
        Ok(Self {
            state_dir: parse_state_dir(keys.state_dir)?,
            socket: socket(keys.socket.unwrap_or_default())?,
            listen: listen.loopback,
            listen_https: listen.https,
            access,
            site_policy: keys.site_policy,
            triggers: keys.triggers,
            baseline: keys.baseline.unwrap_or_default(),
            health_rules: keys.health_rules.unwrap_or_default(),
            disabled_sources,
            devices: parse_devices(&keys.devices.unwrap_or_default())?,
            slow_call: keys
                .slow_call_ms
                .filter(|&ms| ms > 0)
                .map(Duration::from_millis),
            hung_call: seconds(keys.hung_call_s),
            call_failures: parse_call_failures(&keys.call_failures.unwrap_or_default())?,
            dev_xid_tracepoint: keys.dev_xid_tracepoint.unwrap_or_default(),
            cuda_api: !disabled.contains(&component::cuda::NAME),
            cuda_api_budget: parse_share("cuda_api_budget", keys.cuda_api_budget)?,
            successful_exits: keys.successful_exits.unwrap_or_default(),
            ring_bytes,
            dedup_window: seconds(keys.dedup_window_s).unwrap_or_default(),
            nvml_interval: seconds(keys.nvml_interval_s),
            nvml_deadline: seconds(keys.nvml_deadline_s).unwrap_or(Duration::from_secs(5)),
            nvml_library: keys.nvml_library,
            memory_growth: seconds(keys.memory_growth_s),
            // A window of fewer samples shows nothing.
            contention: seconds(keys.contention_s).map(|window| {
                let interval = seconds(keys.nvml_interval_s).unwrap_or_default();
                window.max(interval * contention::SAMPLES_LEAST)
            }),
            pci_interval: seconds(keys.pci_interval_s),
            rdma: RdmaExpected {
                ports: keys.rdma_ports.filter(|ports| *ports > 0),
                rate_gbps: keys.rdma_rate_gbps.filter(|rate| *rate > 0).map(f64::from),
            },
            thresholds,
            pressure: pressure::Options {
                interval: seconds(keys.pressure_interval_s)
                    .filter(|_| !disabled.contains(&pressure::NAME)),
                memory_full: parse_share("memory_pressure_percent", keys.memory_pressure_percent)?,
            },
            probe_cost_interval: seconds(keys.probe_cost_interval_s),
            retention_age: keys
                .retention_days
                .filter(|&days| days > 0)
                .map(|days| Duration::from_secs(days.saturating_mul(86_400))),
            retention_bytes: keys
                .retention_mb
                .filter(|&mb| mb > 0)
                .map(|mb| mb.saturating_mul(1_000_000)),
            history_bytes: parse_history(keys.sample_history, keys.sample_history_mb)?,
            evidence_bytes: parse_evidence(keys.flight_recorder, keys.evidence_mb)?,
            recording_after: parse_after(keys.recording_after_s)?,
            alertmanager,
            otlp,
            kubelet_socket: keys.kubelet_socket.unwrap_or_default(),
            nvsentinel,
            head,
            compat: parse_compat(&keys.compat.unwrap_or_default())?,
            plugins,
            kill_switch: keys.kill_switch.unwrap_or_default(),
            sysfs_root: keys.sysfs_root.unwrap_or_default(),
            proc_root: keys.proc_root.unwrap_or_default(),
            disabled,
        })
    }
}

/// The longest path of a Unix socket, bytes: `sun_path` of `sockaddr_un` without the zero at its end.
const SUN_PATH: usize = 107;

fn socket(path: PathBuf) -> Result<PathBuf, ConfigError> {
    let length = path.as_os_str().len();
    let reason = match length {
        0 => "it is empty: give the path of a Unix socket".to_owned(),
        1..=SUN_PATH => return Ok(path),
        _ => format!("{length} bytes are too long: a Unix socket's path has at most {SUN_PATH}"),
    };
    Err(refused("socket", reason))
}
