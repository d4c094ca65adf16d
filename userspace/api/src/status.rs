//! How the daemon and its sources stand: `/api/v1/status`, `/api/v1/sources`, `/healthz`.

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use gtrace_event::HealthState;
use gtrace_event::{Timestamp, WitnessName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

gtrace_event::named_enum! {
    /// Whether a source works.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum SourceState {
        /// Gives all it can.
        Active = "active",
        /// Gives less than it could; `reason` says what is missing.
        Degraded = "degraded",
        /// This host does not have it.
        Absent = "absent",
        /// It should work and does not.
        Failed = "failed",
        /// Switched off by configuration.
        #[default]
        Off = "off",
    }
}

/// One source, as `gtrace status`, `/api/v1/sources` and `gtrace doctor` show it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SourceStatus {
    /// The source's name.
    pub name: String,
    /// The witness name that its events carry.
    pub witness: Option<WitnessName>,
    /// Whether it works.
    pub state: SourceState,
    /// What it gives.
    pub gives: String,
    /// What it needs.
    pub needs: String,
    /// Why it does not give all, with the cause as the system named it.
    pub reason: Option<String>,
    /// How to get it.
    pub remedy: Option<String>,
    /// Records taken since start.
    #[serde(default)]
    pub records: u64,
    /// Records known to be lost since start.
    #[serde(default)]
    pub lost: u64,
}

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Its thread runs and gives heartbeats.
    Running,
    /// It failed and waits for its next start.
    Restarting,
    /// It gives no heartbeat and cannot be replaced.
    Hung,
    /// It failed, and only a new process can start it again.
    Failed,
    /// It has ended in order.
    Ended,
}

/// One thread of the daemon, as `/api/v1/status` shows it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskStatus {
    /// Name, without the `gtrace-` of its thread.
    pub name: String,
    /// How it stands.
    pub state: TaskState,
    /// Whether the daemon is unfit without it.
    pub needed: bool,
    /// Whether another thread can take its place; else only a new process starts it again.
    #[serde(default)]
    pub replaceable: bool,
    /// Why it failed last.
    pub reason: Option<String>,
    /// Since when it stands so.
    pub since: Timestamp,
    /// How often it was started again.
    pub restarts: u64,
    /// Milliseconds since its last heartbeat.
    pub last_seen_ms: u64,
    /// The sources that give nothing without it.
    pub sources: Vec<WitnessName>,
    /// CPU time that its thread has used, seconds; absent where the kernel does not count it.
    pub cpu_seconds: Option<f64>,
}

impl TaskState {
    /// Whether a task does what it is for, or has done it.
    pub fn is_up(self) -> bool {
        matches!(self, Self::Running | Self::Ended)
    }
}

impl TaskStatus {
    /// Whether it does what it is for, or has done it.
    pub fn is_up(&self) -> bool {
        self.state.is_up()
    }

    /// Whether the daemon can do with it as it stands.
    pub fn is_well(&self) -> bool {
        !self.needed || self.is_up()
    }
}

/// The health that a component sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentHealth {
    /// The state.
    pub state: HealthState,
    /// Why it is not healthy.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
    /// Since when the state is this one.
    pub since: Timestamp,
}

impl ComponentHealth {
    /// Health as judged now.
    pub fn now(state: HealthState, reasons: impl IntoIterator<Item = String>) -> Self {
        Self {
            state,
            reasons: reasons.into_iter().collect(),
            since: Timestamp::now(),
        }
    }
}

/// What a component costs, as far as that is measured.
#[serde_with::skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentCost {
    /// Share of one core that its BPF programs took in the newest window (0.01 = 1 %).
    pub core_share: Option<f64>,
    /// CPU time that its thread has used, seconds; absent where it shares a thread with others.
    pub cpu_seconds: Option<f64>,
}

/// A component: the health of what it watches, when it last delivered something, and what it costs.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentStatus {
    /// Its name, as in the list of sources.
    pub name: String,
    /// The health that it sees; absent until it was checked.
    pub health: Option<ComponentHealth>,
    /// When it took its newest samples.
    pub last_sample: Option<Timestamp>,
    /// When it last delivered an observation or a sample.
    pub last_seen: Option<Timestamp>,
    /// How long ago that was, seconds.
    pub last_seen_age_s: Option<f64>,
    /// What it costs; absent where that is not measured.
    pub cost: Option<ComponentCost>,
}

/// The health of the host: the worst that a component sees. Whether gtrace itself is fit is [`Health`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostHealth {
    /// The state; `unknown` only if no component can judge.
    pub state: HealthState,
    /// Why it is not healthy, each with its component.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
}

impl HostHealth {
    /// The worst of `components`; one that cannot judge says nothing about the host.
    pub fn of(components: &[ComponentStatus]) -> Self {
        let judged = || {
            components
                .iter()
                .filter_map(|c| Some((c, c.health.as_ref()?)))
        };
        let states = [
            HealthState::Unhealthy,
            HealthState::Degraded,
            HealthState::Healthy,
        ];
        let is = |state: &HealthState| judged().any(|(_, health)| health.state == *state);
        let state = states.into_iter().find(is).unwrap_or_default();
        let ill = judged().filter(|(_, health)| {
            matches!(health.state, HealthState::Unhealthy | HealthState::Degraded)
        });
        let reasons = ill.map(|(component, health)| {
            format!("{}: {}", component.name, health.reasons.join("; "))
        });
        Self {
            state,
            reasons: reasons.collect(),
        }
    }
}

/// Cost of one BPF program, from the kernel's run statistics over sampled windows where it keeps them.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProbeCost {
    /// Program name.
    pub probe: String,
    /// The source that it serves.
    pub witness: Option<WitnessName>,
    /// Mean time of one run over all windows, nanoseconds; this and the next two are absent while the
    /// kernel keeps no run statistics.
    pub mean_ns: Option<f64>,
    /// Runs a second in the newest window.
    pub runs_per_second: Option<f64>,
    /// Share of one core that the program took in the newest window (0.01 = 1 %).
    pub core_share: Option<f64>,
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
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// gtrace's version.
    pub version: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// The machine, whatever its name: derived from /etc/machine-id; absent where there is none.
    pub machine_id: Option<String>,
    /// The kernel's boot id.
    pub boot_id: String,
    /// When the daemon started.
    pub started: Timestamp,
    /// Whether probes are detached by `gtrace pause` or the kill-switch file.
    pub paused: bool,
    /// The store's file.
    pub store: Option<PathBuf>,
    /// The newest record in the store.
    pub last_seq: u64,
    /// Open (unacknowledged) events by severity name, since start, of what the kernel wrote.
    pub events: BTreeMap<String, u64>,
    /// The same by provenance name of all else: drills (`injected`), forged lines (`userspace`), and lines that nobody
    /// has confirmed (`unknown`).
    #[serde(default)]
    pub events_apart: BTreeMap<String, BTreeMap<String, u64>>,
    /// Every source.
    pub sources: Vec<SourceStatus>,
    /// Every thread of the daemon.
    #[serde(default)]
    pub tasks: Vec<TaskStatus>,
    /// Every component with the health that it sees.
    #[serde(default)]
    pub components: Vec<ComponentStatus>,
    /// The health of the host, by its components.
    #[serde(default)]
    pub host_health: HostHealth,
    /// Cost of every BPF program; empty before it is looked at the first time.
    pub probes: Vec<ProbeCost>,
    /// Why the time of BPF programs is not measured, with the remedy.
    pub probe_cost_unmeasured: Option<String>,
    /// Processes that have the driver's devices open.
    #[serde(default)]
    pub gpu_processes: Vec<DeviceUser>,
    /// Own footprint.
    pub footprint: Footprint,
    /// Trouble with the store, if any: records wait in memory until it is over.
    pub store_problem: Option<String>,
    /// Records that wait in memory meanwhile.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub store_waiting: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Status {
    /// Open events beside those that the kernel wrote, in words.
    pub fn open_apart(&self) -> Vec<String> {
        let counts = self.events_apart.iter().map(|(provenance, by_severity)| {
            let what = match provenance.as_str() {
                "injected" => "drills",
                "userspace" => "forged lines",
                "unknown" => "unconfirmed",
                other => other,
            };
            (what, by_severity.values().sum::<u64>())
        });
        let counts = counts.filter(|(_, count)| *count > 0);
        counts.map(|(what, n)| format!("{what}: {n}")).collect()
    }
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

/// Whether gtrace captures what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureState {
    /// Everything that should work works.
    Ok,
    /// Somebody had the probes detached: what they would see is not captured.
    Paused,
    /// Something does not work.
    Failed,
}

/// Answer of `/healthz`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Whether everything that should work works, or is paused on request.
    pub ok: bool,
    /// The same, with a pause distinguished from full work.
    pub state: CaptureState,
    /// What does not work.
    pub reasons: Vec<String>,
    /// Every component with the health that it sees of the host, on which `ok` does not depend.
    #[serde(default)]
    pub components: Vec<ComponentStatus>,
}

impl Health {
    /// Health as `status` shows it: a failed source or trouble with the store is ill; a source
    /// that the host does not have is not. A pause is no failure, as somebody wanted it.
    pub fn of(status: &Status) -> Self {
        let failed = status
            .sources
            .iter()
            .filter(|s| s.state == SourceState::Failed);
        let mut reasons: Vec<String> = failed
            .map(|s| {
                format!(
                    "source {} failed: {}",
                    s.name,
                    s.reason.as_deref().unwrap_or("no reason")
                )
            })
            .collect();
        let down = status.tasks.iter().filter(|task| !task.is_well());
        reasons.extend(down.map(|task| {
            let reason = task.reason.as_deref().unwrap_or("no reason");
            format!("thread {}: {reason}", task.name)
        }));
        reasons.extend(status.store_problem.iter().map(|p| format!("store: {p}")));
        let state = match (reasons.is_empty(), status.paused) {
            (false, _) => CaptureState::Failed,
            (true, true) => CaptureState::Paused,
            (true, false) => CaptureState::Ok,
        };
        Self {
            ok: state != CaptureState::Failed,
            state,
            reasons,
            components: status.components.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(name: &str, state: HealthState, reason: Option<&str>) -> ComponentStatus {
        ComponentStatus {
            name: name.to_owned(),
            health: Some(ComponentHealth::now(state, reason.map(str::to_owned))),
            last_sample: None,
            last_seen: None,
            last_seen_age_s: None,
            cost: None,
        }
    }

    #[test]
    fn the_host_is_as_its_worst_component_and_one_that_cannot_judge_says_nothing() {
        let unknown = component("nvml", HealthState::Unknown, Some("no driver"));
        let healthy = component("pressure", HealthState::Healthy, None);
        let degraded = component("sysfs:rdma", HealthState::Degraded, Some("slow"));
        let unhealthy = component("nvml", HealthState::Unhealthy, Some("hangs"));
        let host = |components: &[&ComponentStatus]| {
            HostHealth::of(&components.iter().copied().cloned().collect::<Vec<_>>())
        };
        assert_eq!(host(&[]).state, HealthState::Unknown);
        assert_eq!(host(&[&unknown]), HostHealth::default());
        assert_eq!(host(&[&unknown, &healthy]).state, HealthState::Healthy);
        let worst = host(&[&healthy, &degraded, &unhealthy]);
        assert_eq!(worst.state, HealthState::Unhealthy);
        assert_eq!(worst.reasons, ["sysfs:rdma: slow", "nvml: hangs"]);
        assert_eq!(host(&[&healthy, &degraded]).state, HealthState::Degraded);
    }
}
