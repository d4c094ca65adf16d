//! Configuration: one TOML file; every key is also a flag and an environment variable.
//! A flag wins over the environment, that over the file, that over the default.

mod parse;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use gtrace_abi::{DeviceFilter, STATUS_BITS};
use gtrace_event::WitnessName;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) use self::parse::parse_devices;
use self::parse::{CALL_FAILURES, parse_budget, parse_call_failures, parse_listen, parse_off};

/// Where the configuration is read from unless `--config` names another file.
pub const DEFAULT_FILE: &str = "/etc/gtrace/gtrace.toml";

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

macro_rules! keys {
    ($($(#[$meta:meta])* $key:ident: $ty:ty = $env:literal,)*) => {
        /// The keys as they are given: all optional.
        #[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Keys {
            $(
                $(#[$meta])*
                #[arg(long, env = $env, global = false)]
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
    };
}

keys! {
    /// Directory of the store.
    state_dir: PathBuf = "GTRACE_STATE_DIR",
    /// Unix socket of the API.
    socket: PathBuf = "GTRACE_SOCKET",
    /// Address of the API, loopback only; `off` for none.
    listen: String = "GTRACE_LISTEN",
    /// Site policy: a TOML file that changes severities, actions and steps.
    site_policy: PathBuf = "GTRACE_SITE_POLICY",
    /// Sources that are switched off, by name, with commas: `printk:console,nvml`.
    off: String = "GTRACE_OFF",
    /// Device nodes whose ioctls are traced: `auto` (NVIDIA's, from /proc/devices) or
    /// `MAJOR[:MINOR]`, with commas.
    devices: String = "GTRACE_DEVICES",
    /// Report calls that take at least so many milliseconds one by one; 0 for none.
    slow_call_ms: u64 = "GTRACE_SLOW_CALL_MS",
    /// Report calls that have not returned after so many seconds; 0 for none.
    hung_call_s: u64 = "GTRACE_HUNG_CALL_S",
    /// Report calls that the driver fails with one of these NV_STATUS values one by one: names or
    /// numbers with commas, `all`, or `none`; unless `none`, calls too that ioctl(2) itself refuses
    /// with EIO, ENXIO, ENODEV or ETIMEDOUT. All failures are counted in any case.
    call_failures: String = "GTRACE_CALL_FAILURES",
    /// Attach to nvidia:nvidia_dev_xid too: the text of an Xid even where the kernel log does not
    /// have it. While it is attached the driver cannot be unloaded, unless gtrace sees that
    /// somebody is about to and lets go first.
    dev_xid_tracepoint: bool = "GTRACE_DEV_XID_TRACEPOINT",
    /// Count CUDA calls of all processes by uprobes on their libcuda.so: latency, errors, bytes, device
    /// memory. Each call that is counted takes longer for it; see cuda_api_budget.
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    cuda_api: bool = "GTRACE_CUDA_API",
    /// What the probes on CUDA calls may cost, in percent of the CPU time of the traced processes; the
    /// dearest are taken away beyond it. 0 for any cost.
    cuda_api_budget: f64 = "GTRACE_CUDA_API_BUDGET",
    /// Room of the event ring in bytes; a power of two from 4096.
    ring_bytes: u32 = "GTRACE_RING_BYTES",
    /// The same event again within so many seconds is a repeat of the first.
    fold_window_s: u64 = "GTRACE_FOLD_WINDOW_S",
    /// Seconds between NVML samples; 0 for none.
    nvml_interval_s: u64 = "GTRACE_NVML_INTERVAL_S",
    /// Seconds after which an NVML call is given up and its process ended.
    nvml_deadline_s: u64 = "GTRACE_NVML_DEADLINE_S",
    /// NVML library, instead of libnvidia-ml.so.1 where the system finds it.
    nvml_library: PathBuf = "GTRACE_NVML_LIBRARY",
    /// Seconds between looks at the PCI devices and RDMA ports in sysfs; 0 for none.
    pci_interval_s: u64 = "GTRACE_PCI_INTERVAL_S",
    /// RDMA ports (InfiniBand, RoCE) of this host that are to be active; 0: those that are at the start.
    rdma_ports: u32 = "GTRACE_RDMA_PORTS",
    /// Their least rate in Gb/s; 0: the highest that each was seen with.
    rdma_rate_gbps: u32 = "GTRACE_RDMA_RATE_GBPS",
    /// Seconds between one-second measurements of the probes' cost; 0 for none.
    probe_cost_interval_s: u64 = "GTRACE_PROBE_COST_INTERVAL_S",
    /// Days that events are kept; 0 for ever.
    retention_days: u64 = "GTRACE_RETENTION_DAYS",
    /// Megabytes (10^6) that the store may take before its oldest day is dropped; 0 for no limit.
    retention_mb: u64 = "GTRACE_RETENTION_MB",
    /// While this file exists, every probe is detached.
    kill_switch: PathBuf = "GTRACE_KILL_SWITCH",
    /// Where sysfs is; another root serves tests.
    sysfs_root: PathBuf = "GTRACE_SYSFS_ROOT",
    /// Where procfs shows the driver and the devices; another root serves tests.
    proc_root: PathBuf = "GTRACE_PROC_ROOT",
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Directory of the store.
    pub state_dir: PathBuf,
    /// Unix socket of the API.
    pub socket: PathBuf,
    /// Address of the API.
    pub listen: Option<SocketAddr>,
    /// Site policy file.
    pub site_policy: Option<PathBuf>,
    /// Sources switched off.
    pub off: Vec<WitnessName>,
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
    /// Room of the event ring; 0 for the probes' own default.
    pub ring_bytes: u32,
    /// How long a repeat stays a repeat.
    pub fold_window: Duration,
    /// Between NVML samples.
    pub nvml_interval: Option<Duration>,
    /// Until an NVML call is given up.
    pub nvml_deadline: Duration,
    /// NVML library.
    pub nvml_library: Option<PathBuf>,
    /// Between looks at sysfs.
    pub pci_interval: Option<Duration>,
    /// What is expected of RDMA ports.
    pub rdma: (Option<u32>, Option<u32>),
    /// Between measurements of the probes' cost.
    pub probe_cost_interval: Option<Duration>,
    /// How long events are kept.
    pub retention_age: Option<Duration>,
    /// How many bytes are kept.
    pub retention_bytes: Option<u64>,
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

    /// The default of every key that has one.
    pub fn defaults() -> Keys {
        Keys {
            state_dir: Some("/var/lib/gtrace".into()),
            socket: Some("/run/gtrace/gtrace.sock".into()),
            listen: Some("127.0.0.1:7470".into()),
            site_policy: None,
            off: Some(String::new()),
            devices: Some("auto".into()),
            slow_call_ms: Some(1000),
            hung_call_s: Some(10),
            call_failures: Some(CALL_FAILURES.into()),
            dev_xid_tracepoint: Some(false),
            cuda_api: Some(false),
            cuda_api_budget: Some(1.0),
            ring_bytes: Some(8 << 20),
            fold_window_s: Some(60),
            nvml_interval_s: Some(10),
            nvml_deadline_s: Some(5),
            nvml_library: None,
            pci_interval_s: Some(10),
            rdma_ports: Some(0),
            rdma_rate_gbps: Some(0),
            probe_cost_interval_s: Some(60),
            retention_days: Some(90),
            retention_mb: Some(1000),
            kill_switch: Some("/run/gtrace/pause".into()),
            sysfs_root: Some("/sys".into()),
            proc_root: Some("/proc".into()),
        }
    }

    /// Checks every value.
    pub fn from_keys(keys: Keys) -> Result<Self, ConfigError> {
        let keys = keys.over(Self::defaults());
        let seconds = |value: Option<u64>| value.filter(|&s| s > 0).map(Duration::from_secs);
        let ring_bytes = keys.ring_bytes.unwrap_or(0);
        if ring_bytes < 4096 || !ring_bytes.is_power_of_two() {
            return Err(ConfigError::Value {
                key: "ring_bytes",
                reason: format!("{ring_bytes} is not a power of two from 4096 up"),
            });
        }
        Ok(Self {
            state_dir: keys.state_dir.unwrap_or_default(),
            socket: keys.socket.unwrap_or_default(),
            listen: parse_listen(&keys.listen.unwrap_or_default())?,
            site_policy: keys.site_policy,
            off: parse_off(&keys.off.unwrap_or_default())?,
            devices: parse_devices(&keys.devices.unwrap_or_default())?,
            slow_call: keys
                .slow_call_ms
                .filter(|&ms| ms > 0)
                .map(Duration::from_millis),
            hung_call: seconds(keys.hung_call_s),
            call_failures: parse_call_failures(&keys.call_failures.unwrap_or_default())?,
            dev_xid_tracepoint: keys.dev_xid_tracepoint.unwrap_or_default(),
            cuda_api: keys.cuda_api.unwrap_or_default(),
            cuda_api_budget: parse_budget(keys.cuda_api_budget.unwrap_or_default())?,
            ring_bytes,
            fold_window: Duration::from_secs(keys.fold_window_s.unwrap_or_default()),
            nvml_interval: seconds(keys.nvml_interval_s),
            nvml_deadline: seconds(keys.nvml_deadline_s).unwrap_or(Duration::from_secs(5)),
            nvml_library: keys.nvml_library,
            pci_interval: seconds(keys.pci_interval_s),
            rdma: (
                keys.rdma_ports.filter(|ports| *ports > 0),
                keys.rdma_rate_gbps.filter(|rate| *rate > 0),
            ),
            probe_cost_interval: seconds(keys.probe_cost_interval_s),
            retention_age: keys
                .retention_days
                .filter(|&days| days > 0)
                .map(|days| Duration::from_secs(days.saturating_mul(86_400))),
            retention_bytes: keys
                .retention_mb
                .filter(|&mb| mb > 0)
                .map(|mb| mb.saturating_mul(1_000_000)),
            kill_switch: keys.kill_switch.unwrap_or_default(),
            sysfs_root: keys.sysfs_root.unwrap_or_default(),
            proc_root: keys.proc_root.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut Keys)) -> Result<Config, ConfigError> {
        let mut keys = Keys::default();
        change(&mut keys);
        Config::from_keys(keys)
    }

    #[test]
    fn failures_are_named_numbered_all_or_none() {
        let parse = |text: &str| parse_call_failures(text);
        let failures = parse("no_memory,0x0f,NV_ERR_TIMEOUT").unwrap();
        let has = |status: usize| failures.statuses[status / 64] >> (status % 64) & 1 == 1;
        assert!(has(0x51) && has(0x0f) && has(0x65) && !has(0x56));
        let errno = |e: i32| failures.errnos[e as usize / 64] >> (e % 64) & 1 == 1;
        assert!(errno(libc::EIO) && errno(libc::ETIMEDOUT) && !errno(libc::EINVAL));
        assert_eq!(parse("none").unwrap(), CallFailures::default());
        assert_eq!(parse("all").unwrap().statuses[0] & 3, 2);
        for wrong in ["0", "0x10000", "no_such", "256"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn defaults_are_valid_and_listen_on_loopback_only() {
        let config = with(|_| {}).unwrap();
        assert_eq!(config.listen, Some("127.0.0.1:7470".parse().unwrap()));
        assert_eq!(config.store(), Path::new("/var/lib/gtrace/store.db"));
    }

    #[test]
    fn bad_values_name_key_cause_and_what_is_allowed() {
        type Change = fn(&mut Keys);
        let cases: [(Change, &str, &str); 6] = [
            (
                |k| k.listen = Some("0.0.0.0:7470".into()),
                "listen",
                "loopback",
            ),
            (
                |k| k.listen = Some("7470".into()),
                "listen",
                "127.0.0.1:7470",
            ),
            (|k| k.off = Some("kmsg".into()), "off", "/dev/kmsg"),
            (
                |k| k.devices = Some("nvidia0".into()),
                "devices",
                "MAJOR[:MINOR]",
            ),
            (
                |k| k.cuda_api_budget = Some(-1.0),
                "cuda_api_budget",
                "0 to 100",
            ),
            (|k| k.ring_bytes = Some(5000), "ring_bytes", "power of two"),
        ];
        for (change, key, hint) in cases {
            let text = with(change).unwrap_err().to_string();
            assert!(text.contains(key) && text.contains(hint), "{text}");
        }
    }

    #[test]
    fn a_flag_wins_over_the_file_and_an_unknown_key_is_refused_by_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("gtrace.toml");
        fs::write(&file, "slow_call_ms = 5\nfold_window_s = 7\n").unwrap();
        let flags = Keys {
            slow_call_ms: Some(9),
            ..Keys::default()
        };
        let config = Config::load(Some(&file), flags).unwrap();
        assert_eq!(config.slow_call, Some(Duration::from_millis(9)));
        assert_eq!(config.fold_window, Duration::from_secs(7));
        fs::write(&file, "slow_call_ms = 5\nlissten = \"off\"\n").unwrap();
        let error = Config::load(Some(&file), Keys::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2") && error.contains("lissten"),
            "{error}"
        );
    }

    #[test]
    fn devices_take_majors_minors_and_auto() {
        let config = with(|k| k.devices = Some("1:3, 195".into())).unwrap();
        let any = DeviceFilter::ANY_MINOR;
        let want = vec![
            DeviceFilter { major: 1, minor: 3 },
            DeviceFilter {
                major: 195,
                minor: any,
            },
        ];
        assert_eq!(config.devices, Some(want));
        assert_eq!(with(|_| {}).unwrap().devices, None);
    }

    #[test]
    fn the_packaged_example_has_every_key_at_its_default() {
        let example = include_str!("../../../packaging/gtrace.toml");
        let keys: String = example
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| {
                line.split_once(" = ")
                    .is_some_and(|(key, _)| !key.contains(' '))
            })
            .map(|line| format!("{line}\n"))
            .collect();
        let example: Keys = toml::from_str(&keys).unwrap();
        let defaults = Config::defaults();
        let expected = Keys {
            // Without a default, so the example names where they usually lie.
            site_policy: example.site_policy.clone(),
            nvml_library: example.nvml_library.clone(),
            ..defaults
        };
        assert!(expected.site_policy.is_some() && expected.nvml_library.is_some());
        assert_eq!(example, expected);
    }
}
