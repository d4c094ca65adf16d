//! The health of the host and of its parts: states, reasons, and the records by which they change.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Advice, Confidence, EventId, HealthId};

crate::named_enum! {
    /// How a part of the host is, as far as anybody can judge. Whether a source of gtrace works is another matter.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum HealthState {
        /// All is as it should be.
        Healthy = "healthy",
        /// It works, and worse than it should.
        Degraded = "degraded",
        /// It does not do what it is for.
        Unhealthy = "unhealthy",
        /// Nobody can say now.
        #[default]
        Unknown = "unknown",
    }
}

impl HealthState {
    /// The worse of two: what is known to be bad is worse than what nobody knows.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let rank = |state| match state {
            Self::Healthy => 0,
            Self::Unknown => 1,
            Self::Degraded => 2,
            Self::Unhealthy => 3,
        };
        match rank(other) > rank(self) {
            true => other,
            false => self,
        }
    }

    /// Whether it is known to be worse than it should.
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Degraded | Self::Unhealthy)
    }
}

crate::named_enum! {
    /// What to do, the mildest first. `drain` includes an inspection of the hardware.
    #[derive(
        Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum HealthAction {
        /// Nothing.
        #[default]
        None = "none",
        /// Watch whether it gets worse.
        Watch = "watch",
        /// Restart the application.
        RestartApplication = "restart_application",
        /// Reset the GPU.
        ResetGpu = "reset_gpu",
        /// Reboot the host.
        Reboot = "reboot",
        /// Take the host out of service and inspect it.
        Drain = "drain",
        /// Switch the host off and on.
        PowerCycle = "power_cycle",
        /// Replace the part.
        Replace = "replace",
    }
}

crate::named_enum! {
    /// What kind of part has a health.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum SubjectKind {
        /// The host as a whole.
        Host = "host",
        /// A GPU.
        Gpu = "gpu",
        /// An NVSwitch.
        Nvswitch = "nvswitch",
        /// A network adapter or a port of one.
        Port = "port",
        /// What a component of gtrace watches.
        Component = "component",
    }
}

/// A part that has a health.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct HealthSubject {
    /// What kind of part it is.
    pub part: SubjectKind,
    /// Which one: the PCI address of a GPU or NVSwitch (its UUID where it has none), `mlx5_0/1` of a port, the name of a
    /// component. Empty for the host.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub name: String,
}

impl HealthSubject {
    /// The host.
    pub const fn host() -> Self {
        Self {
            part: SubjectKind::Host,
            name: String::new(),
        }
    }

    /// The part `name` of this kind.
    pub fn new(part: SubjectKind, name: impl Into<String>) -> Self {
        Self {
            part,
            name: name.into(),
        }
    }
}

impl fmt::Display for HealthSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            SubjectKind::Host => f.pad("host"),
            part => f.pad(&format!("{} {}", part.name(), self.name)),
        }
    }
}

crate::named_enum! {
    /// What ends a reason. Each of `gpu_reset`, `driver_reload` and `reboot` includes those before it.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        JsonSchema,
    )]
    pub enum Clearing {
        /// The GPU was reset.
        GpuReset = "gpu_reset",
        /// The driver was loaded anew.
        DriverReload = "driver_reload",
        /// The host was started anew: another boot id.
        Reboot = "reboot",
        /// The device is there again.
        Found = "found",
        /// Driver or kernel say that it is over.
        Recovery = "recovery",
        /// It has not happened again for as long as the rule says.
        Quiet = "quiet",
        /// A person has acknowledged one of its events.
        Acknowledgement = "acknowledgement",
        /// Another device is in its place.
        Replacement = "replacement",
    }
}

/// Whether a reason holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonStatus {
    /// It has not happened often enough yet.
    Pending,
    /// It holds.
    Active,
    /// It held, and is over.
    Cleared,
}

/// An event that a reason rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonEvent {
    /// The event.
    pub id: EventId,
    /// How often it happened.
    pub count: u64,
    /// How many of these were before the reason was last cleared.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub before: u64,
    /// How many of these were before a person last acknowledged it.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub settled: u64,
    /// When it last happened.
    pub last: Timestamp,
}

/// Events that a reason no longer keeps one by one, of an hour; of longer where there are many tallies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonTally {
    /// How often they happened.
    pub count: u64,
    /// As in [`ReasonEvent`].
    #[serde(skip_serializing_if = "is_zero", default)]
    pub before: u64,
    /// As in [`ReasonEvent`].
    #[serde(skip_serializing_if = "is_zero", default)]
    pub settled: u64,
    /// When the oldest happened; absent in records of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<Timestamp>,
    /// When the newest happened.
    pub last: Timestamp,
    /// The newest of them, as more may become known of each. Bounded.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<ReasonCount>,
}

/// How often an event of a [`ReasonTally`] is counted there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonCount {
    /// The event.
    pub id: EventId,
    /// How often it happened.
    pub count: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// When and by what a reason ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cleared {
    /// When.
    pub time: Timestamp,
    /// By what.
    pub by: Clearing,
}

crate::named_enum! {
    /// Whose rule gave a reason.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum RuleOrigin {
        /// One that comes with gtrace, or a judgement of gtrace's own.
        #[default]
        Builtin = "builtin",
        /// One of the site's file, or one that comes with gtrace as that file changes it.
        Site = "site",
    }
}

impl RuleOrigin {
    fn is_builtin(&self) -> bool {
        *self == Self::Builtin
    }
}

/// Why a part is not as it should be.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthReason {
    /// The rule that says so, to look it up; a name of gtrace's own for what no event says.
    pub rule: String,
    /// Whose rule that is. Left out for one that comes with gtrace.
    #[serde(skip_serializing_if = "RuleOrigin::is_builtin", default)]
    pub origin: RuleOrigin,
    /// Code of the Xid or SXid: one rule may be for several, and each is a reason of its own.
    pub code: Option<u32>,
    /// Whether it holds.
    pub status: ReasonStatus,
    /// What it makes of the part.
    pub state: HealthState,
    /// What to do.
    pub action: HealthAction,
    /// How sure that is.
    pub confidence: Confidence,
    /// In one sentence.
    pub text: String,
    /// The vendor's steps and the site's, apart, of its newest event.
    pub advice: Option<Advice>,
    /// Its newest events. Bounded: `occurrences` counts all.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<ReasonEvent>,
    /// Those before them, the oldest first. Bounded.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub earlier: Vec<ReasonTally>,
    /// How often it happened, since it is known.
    #[serde(default)]
    pub occurrences: u64,
    /// Since when it holds; while it is pending, when it first happened.
    pub since: Timestamp,
    /// When it last happened.
    pub last: Timestamp,
    /// Boots in which it happened, the newest last. Bounded.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub boots: Vec<String>,
    /// It came back too often, so that only a person clears it, or another device.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub escalated: bool,
    /// When a person acknowledged one of its events without clearing it by that.
    pub acknowledged: Option<Timestamp>,
    /// When it last ended, also if it holds again.
    pub cleared: Option<Cleared>,
}

impl HealthReason {
    /// A reason that no event and no rule says, and that holds since `time`.
    pub fn own(
        rule: &str,
        state: HealthState,
        action: HealthAction,
        text: &str,
        time: Timestamp,
    ) -> Self {
        Self {
            rule: rule.to_owned(),
            origin: RuleOrigin::Builtin,
            code: None,
            status: ReasonStatus::Active,
            state,
            action,
            confidence: Confidence::High,
            text: text.to_owned(),
            advice: None,
            events: Vec::new(),
            earlier: Vec::new(),
            occurrences: 1,
            since: time,
            last: time,
            boots: Vec::new(),
            escalated: false,
            acknowledged: None,
            cleared: None,
        }
    }
}

/// The health of one part.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectHealth {
    /// Which part.
    pub subject: HealthSubject,
    /// `GPU-…`, as NVML gives it, once known.
    pub uuid: Option<String>,
    /// How it is. The host is as its worst part.
    pub state: HealthState,
    /// Since when.
    pub since: Timestamp,
    /// What to do: the most that a reason asks for.
    pub action: HealthAction,
    /// How sure the state is; absent while it is healthy.
    pub confidence: Option<Confidence>,
    /// Reasons that hold. One of state `healthy` is a notice, which makes nothing worse.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<HealthReason>,
    /// Reasons that are pending or over; only in snapshots.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub past: Vec<HealthReason>,
}

impl SubjectHealth {
    /// A part that is healthy since `since`.
    pub fn healthy(subject: HealthSubject, since: Timestamp) -> Self {
        Self {
            subject,
            uuid: None,
            state: HealthState::Healthy,
            since,
            action: HealthAction::None,
            confidence: None,
            reasons: Vec::new(),
            past: Vec::new(),
        }
    }
}

/// A time in which people work on the host. States go on; alerts carry a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaintenanceWindow {
    /// When it begins.
    pub from: Timestamp,
    /// When it ends, or ended.
    pub until: Timestamp,
    /// Who asked for it, as they named themselves.
    pub by: String,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub note: String,
}

impl MaintenanceWindow {
    /// Whether it is on at `now`.
    pub fn is_on(&self, now: Timestamp) -> bool {
        self.from <= now && now < self.until
    }
}

/// Something that changes health and is no event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Occasion {
    /// The host was started.
    Boot {
        /// The kernel's boot id.
        boot: String,
    },
    /// The driver was loaded anew.
    DriverReload,
    /// A GPU was reset.
    GpuReset {
        /// Which.
        subject: HealthSubject,
    },
    /// A device is there: for the first time, again, or another in its place.
    Found {
        /// Which.
        subject: HealthSubject,
        /// Its UUID, where known.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        uuid: Option<String>,
    },
    /// A component or a comparison with what is expected has judged a part; `healthy` takes that back.
    Judged {
        /// Which part.
        subject: HealthSubject,
        /// Name of the judgement, one of each at a time.
        rule: String,
        /// How it is.
        state: HealthState,
        /// What to do.
        action: HealthAction,
        /// Why.
        #[serde(skip_serializing_if = "String::is_empty", default)]
        text: String,
    },
    /// A part is no longer watched by anybody: it goes, with all that is known of it.
    Forgotten {
        /// Which.
        subject: HealthSubject,
    },
    /// Time has passed: what has been quiet for long enough is over.
    Quiet,
    /// From here on these rules of the site hold, beside those that come with gtrace.
    Rules {
        /// The text of the site's file; absent where there is none.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        site: Option<String>,
    },
}

/// All that is known of health at one moment, so that a start of the daemon need not read all records.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthSnapshot {
    /// The boot that it is of.
    pub boot: Option<String>,
    /// When that boot began, by the wall clock as it was with the newest event.
    pub began: Option<Timestamp>,
    /// Every part.
    pub subjects: Vec<SubjectHealth>,
    /// The last maintenance window.
    pub maintenance: Option<MaintenanceWindow>,
    /// Parts and reasons that found no room.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub dropped: u64,
    /// The text of the site's rules that held.
    pub site_rules: Option<String>,
}

/// What a record of health says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "health", rename_all = "snake_case")]
pub enum HealthNews {
    /// A part has changed; it follows from the records before.
    Changed {
        /// The part as it is now.
        now: Box<SubjectHealth>,
        /// Its state before.
        previous: HealthState,
    },
    /// Something was observed that changes health.
    Observed {
        /// What.
        occasion: Occasion,
    },
    /// A maintenance window was begun or ended.
    Maintenance {
        /// The window as it is now.
        window: MaintenanceWindow,
    },
    /// All that follows from the records before.
    Snapshot {
        /// Everything.
        snapshot: Box<HealthSnapshot>,
    },
}

/// A record of health.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthRecord {
    /// Identifies it for ever.
    pub id: HealthId,
    /// When it was made.
    pub time: Timestamp,
    /// The host's name.
    pub host: Option<String>,
    /// As in [`crate::Event::machine_id`].
    pub machine_id: Option<String>,
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// What it says.
    #[serde(flatten)]
    pub news: HealthNews,
}

impl HealthRecord {
    /// A record made at `time`, of no host yet.
    pub fn new(time: Timestamp, news: HealthNews) -> Self {
        let unix_ms = u64::try_from(time.as_millisecond()).unwrap_or(0);
        Self {
            id: HealthId::new(unix_ms),
            time,
            host: None,
            machine_id: None,
            boot_id: None,
            news,
        }
    }

    /// A record of `occasion`.
    pub fn observed(time: Timestamp, occasion: Occasion) -> Self {
        Self::new(time, HealthNews::Observed { occasion })
    }
}

/// The health of a host: `/api/v1/health`, `gtrace health --json`, `gtrace scan --json`.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthReport {
    /// As of when.
    pub time: Timestamp,
    /// The host's name.
    pub host: Option<String>,
    /// As in [`crate::Event::machine_id`].
    pub machine_id: Option<String>,
    /// The kernel's boot id.
    pub boot_id: Option<String>,
    /// The host's state: that of its worst part.
    pub state: HealthState,
    /// What to do: the most that a part asks for.
    pub action: HealthAction,
    /// Every part, the host first.
    pub subjects: Vec<SubjectHealth>,
    /// The maintenance window that is on.
    pub maintenance: Option<MaintenanceWindow>,
    /// What could not be looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_checked: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_is_worse_than_unknown() {
        let (healthy, unknown) = (HealthState::Healthy, HealthState::Unknown);
        assert_eq!(healthy.worse(unknown), unknown);
        assert_eq!(unknown.worse(HealthState::Degraded), HealthState::Degraded);
        assert_eq!(
            HealthState::Unhealthy.worse(HealthState::Degraded),
            HealthState::Unhealthy
        );
    }
}
