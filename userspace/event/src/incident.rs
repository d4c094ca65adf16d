//! The incident: events that belong together, what they come to, and what was kept of that time.

use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Advice, EventId, Gpu, IncidentId, Process, Severity};

/// Changes of state that an incident keeps, the newest.
const HISTORY_MAX: usize = 64;

/// One incident, as of its `revision`. Each change is a record of its own that carries the whole incident, so a
/// reader keeps the one with the highest revision.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Incident {
    /// Identifies it for ever.
    pub id: IncidentId,
    /// How often it has changed.
    #[serde(default)]
    pub revision: u32,
    /// When this revision was made.
    pub time: Timestamp,
    /// When its first event happened.
    pub opened: Timestamp,
    /// When the newest occurrence of one of its events happened.
    pub last_time: Timestamp,
    /// When somebody resolved it, or nothing more had happened for long enough.
    pub closed: Option<Timestamp>,
    /// What has been done about it.
    pub state: IncidentState,
    /// That of its most severe event.
    pub severity: Severity,
    /// What happened, in one sentence.
    pub title: String,
    /// The suspected class of failure.
    pub class: FailureClass,
    /// Whether all of it was injected: an exercise, which pages nobody.
    #[serde(default)]
    pub drill: bool,
    /// The host's name.
    pub host: Option<String>,
    /// As in [`crate::Event::machine_id`].
    pub machine_id: Option<String>,
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// Its events, the earliest first. Bounded: `event_count` counts all.
    pub events: Vec<EventId>,
    /// How many events belong to it.
    pub event_count: u64,
    /// How many occurrences these events stand for.
    pub occurrences: u64,
    /// What led to what, the first cause first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub chain: Vec<CausalLink>,
    /// Who and what it touches.
    #[serde(default)]
    pub affected: Affected,
    /// What to do now: that of the event that is most severe.
    pub advice: Option<Advice>,
    /// What was kept of that time, by name and hash.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub evidence: Vec<Evidence>,
    /// What would belong to the evidence and is not there.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<MissingEvidence>,
    /// Who changed its state, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub history: Vec<StateChange>,
}

impl Incident {
    /// An open incident of nothing but a time: its events, how many they are and its title are still to be filled in.
    pub fn new(opened: Timestamp, class: FailureClass, severity: Severity) -> Self {
        let unix_ms = u64::try_from(opened.as_millisecond()).unwrap_or(0);
        Self {
            id: IncidentId::new(unix_ms),
            revision: 0,
            time: opened,
            opened,
            last_time: opened,
            closed: None,
            state: IncidentState::Open,
            severity,
            title: String::new(),
            class,
            drill: false,
            host: None,
            machine_id: None,
            boot_id: None,
            events: Vec::new(),
            event_count: 0,
            occurrences: 0,
            chain: Vec::new(),
            affected: Affected::default(),
            advice: None,
            evidence: Vec::new(),
            missing: Vec::new(),
            history: Vec::new(),
        }
    }

    /// Changes its state, which makes a new revision.
    pub fn change_state(&mut self, change: StateChange) {
        self.revision += 1;
        self.time = change.time;
        self.state = change.state;
        self.closed = (change.state == IncidentState::Resolved).then_some(change.time);
        self.history.push(change);
        let surplus = self.history.len().saturating_sub(HISTORY_MAX);
        self.history.drain(..surplus);
    }

    /// How much it matters where there is no room for all: not at all once it is resolved, a drill less than a fault, then by
    /// severity.
    pub fn rank(&self) -> Option<(bool, Severity)> {
        (self.state != IncidentState::Resolved).then_some((!self.drill, self.severity))
    }

    /// Why it cannot go over into `state`, if it cannot: what is resolved is opened again first.
    pub fn refuses(&self, state: IncidentState) -> Option<String> {
        if self.state != IncidentState::Resolved || state == IncidentState::Open {
            return None;
        }
        let id = self.id;
        Some(match (state, self.history.last()) {
            (IncidentState::Resolved, Some(last)) => {
                format!(
                    "incident {id} is resolved already, by {} at {}",
                    last.by, last.time
                )
            }
            (IncidentState::Resolved, None) => format!("incident {id} is resolved already"),
            _ => format!(
                "incident {id} is resolved; `gtrace incidents reopen {id}` opens it again first"
            ),
        })
    }

    /// Adds what was kept of it, and what could not be, which makes a new revision. Whether any of it is news.
    pub fn add_evidence(
        &mut self,
        time: Timestamp,
        evidence: Vec<Evidence>,
        missing: Vec<MissingEvidence>,
    ) -> bool {
        let is_known = evidence.iter().all(|file| self.evidence.contains(file))
            && missing.iter().all(|gap| self.missing.contains(gap));
        if is_known {
            return false;
        }
        self.revision += 1;
        self.time = time;
        for file in evidence {
            self.evidence.retain(|known| known.name != file.name);
            self.evidence.push(file);
        }
        for gap in missing {
            if !self.missing.contains(&gap) {
                self.missing.push(gap);
            }
        }
        true
    }
}

crate::named_enum! {
    /// What has been done about an incident.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum IncidentState {
        /// Nothing yet.
        Open = "open",
        /// Somebody is on it.
        Acknowledged = "acknowledged",
        /// Its effects have ended; the cause may be there yet.
        Mitigated = "mitigated",
        /// It is over.
        Resolved = "resolved",
    }
}

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $title:literal;)*) => {
        crate::named_enum! {
            /// Classes of failure. F1 to F8 are those of guides for operators of GPU clusters.
            #[derive(
                Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
                JsonSchema,
            )]
            pub enum FailureClass {
                $($(#[$doc])* $variant = $name,)*
            }
        }

        impl FailureClass {
            /// What people call it.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }
        }
    };
}

classes! {
    /// F1: an allocation on a GPU failed, or the host ran out of memory.
    GpuOom = "gpu_oom", "out of memory";
    /// F2: clocks were lowered for heat or power.
    Thermal = "thermal", "thermal throttling";
    /// F3: the driver or the GPU's firmware failed.
    DriverCrash = "driver_crash", "driver or firmware failure";
    /// F4: the GPU's PCIe link failed.
    Pcie = "pcie", "PCIe failure";
    /// F5: another process takes the GPU's time.
    NoisyNeighbour = "noisy_neighbour", "noisy neighbour";
    /// F6: a process allocates more and more.
    MemoryLeak = "memory_leak", "memory leak";
    /// F7: library and kernel module are of different versions.
    LibraryMismatch = "library_mismatch", "library mismatch";
    /// F8: work waits while GPUs are idle.
    Starvation = "starvation", "starvation";
    /// The memory of a GPU is faulty.
    GpuMemory = "gpu_memory", "GPU memory fault";
    /// NVLink or NVSwitch.
    Nvlink = "nvlink", "NVLink or NVSwitch failure";
    /// Network adapters, RDMA ports, remote GPUs.
    Network = "network", "network failure";
    /// A program's own fault, such as an access to memory that is not its own.
    Application = "application", "application fault";
    /// Memory, disks and CPUs of the host.
    Host = "host", "host failure";
    /// gtrace itself lost a source or records.
    Monitoring = "monitoring", "loss of monitoring";
    /// Nothing is known that tells.
    Unknown = "unknown", "unknown failure";
}

/// A word that names no [`FailureClass`].
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no class of failure; known classes: {known}", known = FailureClass::ALL.iter().map(|c| c.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownClass(pub String);

impl FromStr for FailureClass {
    type Err = UnknownClass;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|class| class.name() == s);
        known.ok_or_else(|| UnknownClass(s.to_owned()))
    }
}

/// One event led to another, or may have: [`confidence`](Self::confidence) says how sure that is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CausalLink {
    /// The cause.
    pub from: EventId,
    /// The effect.
    pub to: EventId,
    /// Why that is believed.
    pub why: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// The rule that says so, to look it up.
    pub rule: String,
}

impl CausalLink {
    /// How cause and effect stand to each other, in words that are as sure as the link is, between the two. `reversed`: the
    /// cause was seen after its effect, which is at the same time as far as the clocks show.
    pub const fn relation(&self, reversed: bool) -> &'static str {
        match (reversed, self.confidence) {
            (true, _) => "happened at the same time as, and may have led to,",
            (false, Confidence::Low) => "happened shortly before, and may have led to,",
            (false, Confidence::Medium) => "probably led to",
            (false, Confidence::High) => "led to",
        }
    }
}

crate::named_enum! {
    /// How sure a conclusion is.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum Confidence {
        /// They happened close together, no more.
        Low = "low",
        /// The usual course.
        Medium = "medium",
        /// The driver or the kernel says so, or nothing else can be.
        High = "high",
    }
}

/// Who and what an incident touches. Each list is bounded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Affected {
    /// GPUs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gpus: Vec<Gpu>,
    /// Processes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub processes: Vec<Process>,
    /// Containers, by id.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub containers: Vec<String>,
    /// Jobs of a scheduler, such as `slurm:4711` or `pod:UID`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub jobs: Vec<String>,
    /// Clients of `gtrace serve`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub remote_clients: Vec<String>,
}

/// A file that was kept of an incident.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The file's name in the incident's directory.
    pub name: String,
    /// SHA-256 of the file, hex.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// The first time that it covers.
    pub from: Option<Timestamp>,
    /// The last time that it covers.
    pub to: Option<Timestamp>,
}

/// Evidence that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingEvidence {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

impl MissingEvidence {
    /// `what` is not there, and why.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        let (what, why) = (what.into(), why.into());
        Self { what, why }
    }
}

/// Somebody changed the state of an incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateChange {
    /// When.
    pub time: Timestamp,
    /// The new state.
    pub state: IncidentState,
    /// Who, as they named themselves; `gtrace` where it was closed by itself.
    pub by: String,
    /// Why, or what was done.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub note: String,
}

impl StateChange {
    /// `by` changed it to `state` at `time`, with a note of why, or of what was done.
    pub fn new(
        time: Timestamp,
        state: IncidentState,
        by: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        let (by, note) = (by.into(), note.into());
        Self {
            time,
            state,
            by,
            note,
        }
    }
}
