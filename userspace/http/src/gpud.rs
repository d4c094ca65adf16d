//! The reading routes of GPUd, for clients that speak to it: `/v1/states`, `/v1/events`, `/v1/metrics`, `/v1/info`, and its body of
//! `/healthz`. Only with `compat = "gpud"`.
//!
//! Source of the shapes: leptonai/gpud, api/v1/types.go. What gtrace knows is sorted into GPUd's components; those that it lacks
//! have gtrace's own names.

use std::collections::{BTreeMap, BTreeSet};

use axum::Extension;
use axum::Json;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use gtrace_api::Health;
use gtrace_devices::Metric;
use gtrace_engine::component;
use gtrace_event::{
    Event, HealthAction, HealthReason, HealthReport, HealthState, Kind, Provenance, Severity,
    SubjectHealth, SubjectKind, Timestamp,
};
use jiff::SignedDuration;
use serde::Serialize;
use serde_json::{Value, json};

use super::AppState;
use super::handlers::health::known;
use super::peer::Peer;
use super::problem::Problem;
use super::query::EventQuery;

type Pairs = Query<Vec<(String, String)>>;

/// Events of so long ago are given where no `startTime` is.
const SINCE: SignedDuration = SignedDuration::from_mins(30);
/// Events in one answer at most, the newest.
const MOST_EVENTS: usize = 1_000;
/// What GPUd answers while it works.
const WELL: &str = r#"{"status":"ok","version":"v1"}"#;

const XID: &str = "accelerator-nvidia-error-xid";
const SXID: &str = "accelerator-nvidia-error-sxid";
const INFINIBAND: &str = "accelerator-nvidia-infiniband";

/// GPUd's routes.
pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/v1/states", get(states))
        .route("/v1/events", get(events))
        .route("/v1/metrics", get(metrics))
        .route("/v1/info", get(info))
}

/// `/healthz` as GPUd's clients want it: byte for byte while all works.
pub(super) async fn healthz(State(state): State<AppState>) -> Response {
    let health = Health::of(&component::status(&state.hub));
    match health.ok {
        true => ([(header::CONTENT_TYPE, "application/json")], WELL).into_response(),
        false => (StatusCode::SERVICE_UNAVAILABLE, Json(health)).into_response(),
    }
}

#[derive(Debug, Serialize)]
struct StateOf {
    time: Timestamp,
    component: &'static str,
    name: String,
    health: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggested_actions: Option<Suggested>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra_info: BTreeMap<&'static str, String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Suggested {
    description: String,
    repair_actions: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct EventOf {
    component: &'static str,
    time: Timestamp,
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
struct MetricOf {
    unix_seconds: i64,
    name: &'static str,
    value: f64,
    labels: BTreeMap<&'static str, String>,
    /// GPUd's own older name of `name`, which its clients still read.
    metric_name: &'static str,
}

#[derive(Debug, Default, Serialize)]
struct Parts {
    states: Vec<StateOf>,
    events: Vec<EventOf>,
    metrics: Vec<MetricOf>,
}

/// What a client asks for.
struct Wish {
    components: BTreeSet<String>,
    start: Timestamp,
    end: Timestamp,
}

impl Wish {
    fn of(Query(pairs): Pairs, now: Timestamp) -> Result<Self, Problem> {
        let mut wish = Self {
            components: BTreeSet::new(),
            start: now - SINCE,
            end: now,
        };
        for (name, value) in pairs {
            match name.as_str() {
                "components" => {
                    let names = value.split(',').map(str::trim).filter(|n| !n.is_empty());
                    wish.components.extend(names.map(str::to_owned));
                }
                "startTime" => wish.start = unix(&name, &value)?,
                "endTime" => wish.end = unix(&name, &value)?,
                // Others, as GPUd's, are passed over.
                _ => {}
            }
        }
        Ok(wish)
    }

    fn wants(&self, component: &str) -> bool {
        self.components.is_empty() || self.components.contains(component)
    }
}

fn unix(name: &str, value: &str) -> Result<Timestamp, Problem> {
    let seconds = value.parse().ok();
    seconds
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .ok_or_else(|| {
            Problem::bad_request(
                format!("`{name}` is `{value}`"),
                "give seconds since 1970, such as 1772510706",
            )
        })
}

async fn states(State(state): State<AppState>, pairs: Pairs) -> Result<Json<Vec<Value>>, Problem> {
    let wish = Wish::of(pairs, Timestamp::now())?;
    let sorted = by_component(states_of(&known(&state)?), |state| state.component);
    Ok(answer(
        sorted,
        &wish,
        |component, states| json!({ "component": component, "states": states }),
    ))
}

async fn events(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    pairs: Pairs,
) -> Result<Json<Vec<Value>>, Problem> {
    let wish = Wish::of(pairs, Timestamp::now())?;
    let sorted = by_component(read_events(&state, peer, &wish).await?, |e| e.component);
    let (start, end) = (wish.start, wish.end);
    Ok(answer(
        sorted,
        &wish,
        |component, events| json!({ "component": component, "startTime": start, "endTime": end, "events": events }),
    ))
}

async fn metrics(State(state): State<AppState>, pairs: Pairs) -> Result<Json<Vec<Value>>, Problem> {
    let now = Timestamp::now();
    let wish = Wish::of(pairs, now)?;
    let sorted = read_metrics(&state, now);
    Ok(answer(
        sorted,
        &wish,
        |component, metrics| json!({ "component": component, "metrics": metrics }),
    ))
}

async fn info(
    State(state): State<AppState>,
    Extension(peer): Extension<Peer>,
    pairs: Pairs,
) -> Result<Json<Vec<Value>>, Problem> {
    let now = Timestamp::now();
    let wish = Wish::of(pairs, now)?;
    let mut parts: BTreeMap<&'static str, Parts> = BTreeMap::new();
    for state in states_of(&known(&state)?) {
        parts.entry(state.component).or_default().states.push(state);
    }
    for event in read_events(&state, peer, &wish).await? {
        parts.entry(event.component).or_default().events.push(event);
    }
    for (component, metrics) in read_metrics(&state, now) {
        parts.entry(component).or_default().metrics = metrics;
    }
    let (start, end) = (wish.start, wish.end);
    Ok(answer(
        parts,
        &wish,
        |component, info| json!({ "component": component, "startTime": start, "endTime": end, "info": info }),
    ))
}

async fn read_events(state: &AppState, peer: Peer, wish: &Wish) -> Result<Vec<EventOf>, Problem> {
    // What cannot be stored now cannot be read; the rest can.
    let _ = state.flush().await;
    let query = EventQuery {
        since: Some(wish.start),
        until: Some(wish.end),
        provenance: Some(Provenance::Kernel),
        limit: Some(MOST_EVENTS),
        ..EventQuery::default()
    };
    let found = state
        .read(peer, move |archive| archive.query(&query))
        .await?;
    Ok(found.into_iter().map(event_of).collect())
}

fn read_metrics(state: &AppState, now: Timestamp) -> BTreeMap<&'static str, Vec<MetricOf>> {
    let mut sorted: BTreeMap<&'static str, Vec<MetricOf>> = BTreeMap::new();
    for metric in state.hub.samples.newest() {
        let component = of_metric(&metric);
        let metric = MetricOf {
            unix_seconds: now.as_second(),
            name: metric.name,
            value: metric.value,
            labels: metric.labels.iter().cloned().collect(),
            metric_name: metric.name,
        };
        sorted.entry(component).or_default().push(metric);
    }
    sorted
}

fn by_component<T>(
    all: Vec<T>,
    component: impl Fn(&T) -> &'static str,
) -> BTreeMap<&'static str, Vec<T>> {
    let mut sorted: BTreeMap<&'static str, Vec<T>> = BTreeMap::new();
    for one in all {
        sorted.entry(component(&one)).or_default().push(one);
    }
    sorted
}

fn answer<T>(
    sorted: BTreeMap<&'static str, T>,
    wish: &Wish,
    make: impl Fn(&'static str, T) -> Value,
) -> Json<Vec<Value>> {
    let wanted = sorted.into_iter().filter(|(name, _)| wish.wants(name));
    Json(
        wanted
            .map(|(component, what)| make(component, what))
            .collect(),
    )
}

/// Each part of the host as states of GPUd's components: one for each reason, or one that says that all is well.
fn states_of(report: &HealthReport) -> Vec<StateOf> {
    let mut states = Vec::new();
    for part in &report.subjects {
        let component = of_part(part);
        if part.reasons.is_empty() {
            states.push(state_of(component, part, report.time, None));
        }
        for reason in &part.reasons {
            states.push(state_of(component, part, report.time, Some(reason)));
        }
    }
    states
}

fn state_of(
    component: &'static str,
    part: &SubjectHealth,
    now: Timestamp,
    reason: Option<&HealthReason>,
) -> StateOf {
    let mut extra_info = BTreeMap::new();
    extra_info.extend(part.uuid.clone().map(|uuid| ("uuid", uuid)));
    extra_info.extend(reason.map(|reason| ("rule", reason.rule.clone())));
    extra_info.extend(reason.map(|reason| ("action", reason.action.name().to_owned())));
    StateOf {
        time: reason.map_or(now, |reason| reason.last),
        component,
        name: part.subject.to_string(),
        health: health_of(reason.map_or(part.state, |reason| reason.state)),
        reason: reason.map(|reason| reason.text.clone()).unwrap_or_default(),
        suggested_actions: reason.and_then(suggested),
        extra_info,
    }
}

const fn health_of(state: HealthState) -> &'static str {
    match state {
        HealthState::Healthy => "Healthy",
        HealthState::Degraded => "Degraded",
        HealthState::Unhealthy => "Unhealthy",
        HealthState::Unknown => "Initializing",
    }
}

fn suggested(reason: &HealthReason) -> Option<Suggested> {
    let action = match reason.action {
        HealthAction::None => return None,
        HealthAction::Watch => "IGNORE_NO_ACTION_REQUIRED",
        HealthAction::RestartApplication => "CHECK_USER_APP_AND_GPU",
        // GPUd has no word for a reset of one GPU: by a reboot it is one.
        HealthAction::ResetGpu | HealthAction::Reboot | HealthAction::PowerCycle => "REBOOT_SYSTEM",
        HealthAction::Drain | HealthAction::Replace => "HARDWARE_INSPECTION",
    };
    let vendor = reason
        .advice
        .as_ref()
        .and_then(|advice| advice.vendor.first());
    Some(Suggested {
        description: vendor.unwrap_or(&reason.text).clone(),
        repair_actions: vec![action],
    })
}

fn event_of(event: Event) -> EventOf {
    EventOf {
        component: of_kind(event.kind),
        time: event.time,
        name: event.kind.name(),
        kind: match event.severity {
            Severity::Info => "Info",
            Severity::Warning => "Warning",
            Severity::Critical => "Critical",
            Severity::Fatal => "Fatal",
        },
        message: event.message,
    }
}

/// GPUd's component of a part. One of gtrace's own is found by its name.
fn of_part(part: &SubjectHealth) -> &'static str {
    match part.subject.part {
        SubjectKind::Host => "os",
        SubjectKind::Gpu => XID,
        SubjectKind::Nvswitch => SXID,
        SubjectKind::Port => INFINIBAND,
        SubjectKind::Component => of_component(&part.subject.name),
    }
}

fn of_component(name: &str) -> &'static str {
    match name {
        "nvml" => "accelerator-nvidia-info",
        "sysfs:pci" | "/proc/driver/nvidia" => "accelerator-nvidia-gpu-counts",
        "sysfs:rdma" => INFINIBAND,
        "cpu" => "cpu",
        "disk" | "nvme" => "disk",
        "memory" | "pressure" | "cgroups" => "memory",
        "isolation" => "pci",
        "fabric_manager" => "accelerator-nvidia-fabric-manager",
        "network_file_systems" => "nfs",
        "kernel" | "tasks" | "limits" | "/dev/kmsg" | "printk:console" => "os",
        "driver_modules" => "kernel-module",
        "baseline" => "accelerator-nvidia-info",
        _ => "gtrace",
    }
}

fn of_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Xid
        | Kind::GpuLost
        | Kind::GpuHang
        | Kind::DriverInitFailed
        | Kind::RecoveryAction => XID,
        Kind::Sxid => SXID,
        Kind::Ecc => "accelerator-nvidia-ecc",
        Kind::RowRemap => "accelerator-nvidia-remapped-rows",
        Kind::Nvlink => "accelerator-nvidia-nvlink",
        Kind::Throttle => "accelerator-nvidia-hw-slowdown",
        Kind::NcclSegfault => "accelerator-nvidia-nccl",
        Kind::PeermemError => "accelerator-nvidia-peermem",
        Kind::MemoryGrowth => "accelerator-nvidia-memory",
        Kind::GpuContended | Kind::GpuStarved => "accelerator-nvidia-utilization",
        Kind::GpuProcessExit | Kind::ApiError | Kind::SlowCall => "accelerator-nvidia-processes",
        Kind::BaselineDrift | Kind::DriverMismatch | Kind::MigLayout | Kind::VgpuLicense => {
            "accelerator-nvidia-info"
        }
        Kind::RdmaPort
        | Kind::RdmaErrors
        | Kind::RdmaLost
        | Kind::Mlx5SlotPower
        | Kind::Mlx5Overheat
        | Kind::Mlx5AccessReg
        | Kind::Mlx5Health
        | Kind::Mlx5CmdTimeout
        | Kind::Mlx5PortModule
        | Kind::NetTimeout
        | Kind::EfaError => INFINIBAND,
        Kind::Aer | Kind::IommuFault | Kind::PcieLink | Kind::PcieHotplug => "pci",
        Kind::SoftLockup | Kind::HungTask | Kind::CpuStall | Kind::CpuThrottle => "cpu",
        Kind::OomKill | Kind::DimmError => "memory",
        Kind::NetfsStall => "nfs",
        Kind::FsReadonly
        | Kind::NvmeTimeout
        | Kind::DiskLost
        | Kind::RaidDegraded
        | Kind::IoError
        | Kind::FsError => "disk",
        Kind::MachineCheck
        | Kind::KernelPanic
        | Kind::HostRestart
        | Kind::KernelOops
        | Kind::FileLimit
        | Kind::ServiceFailed => "os",
        Kind::SourceLost
        | Kind::RecordsRemoved
        | Kind::SiteTrigger
        | Kind::PluginCheck
        | Kind::Capture => "gtrace",
    }
}

fn of_metric(metric: &Metric) -> &'static str {
    const FAMILIES: [(&str, &str); 18] = [
        ("gtrace_gpu_ecc", "accelerator-nvidia-ecc"),
        ("gtrace_gpu_remapped", "accelerator-nvidia-remapped-rows"),
        ("gtrace_gpu_nvlink", "accelerator-nvidia-nvlink"),
        ("gtrace_gpu_clock_event", "accelerator-nvidia-hw-slowdown"),
        ("gtrace_gpu_clock", "accelerator-nvidia-clock-speed"),
        ("gtrace_gpu_temperature", "accelerator-nvidia-temperature"),
        ("gtrace_gpu_power", "accelerator-nvidia-power"),
        ("gtrace_gpu_energy", "accelerator-nvidia-power"),
        ("gtrace_gpu_memory_", "accelerator-nvidia-memory"),
        ("gtrace_gpu_utilization", "accelerator-nvidia-utilization"),
        (
            "gtrace_gpu_persistence",
            "accelerator-nvidia-persistence-mode",
        ),
        ("gtrace_gpu_processes", "accelerator-nvidia-processes"),
        ("gtrace_gpu_", "accelerator-nvidia-info"),
        ("gtrace_rdma_", INFINIBAND),
        ("gtrace_cpu_", "cpu"),
        ("gtrace_disk_", "disk"),
        ("gtrace_filesystem_", "disk"),
        ("gtrace_memory_", "memory"),
    ];
    let family = FAMILIES
        .iter()
        .find(|(begin, _)| metric.name.starts_with(begin));
    family.map_or("os", |(_, component)| component)
}

#[cfg(test)]
mod tests {
    use gtrace_event::HealthSubject;

    use super::*;

    fn reason(action: HealthAction, state: HealthState) -> HealthReason {
        let text = "fell off the bus (Xid 79)";
        HealthReason {
            code: Some(79),
            ..HealthReason::own("off-the-bus", state, action, text, Timestamp::UNIX_EPOCH)
        }
    }

    fn part(kind: SubjectKind, name: &str, reasons: Vec<HealthReason>) -> SubjectHealth {
        SubjectHealth {
            state: reasons.first().map_or(HealthState::Healthy, |r| r.state),
            reasons,
            ..SubjectHealth::healthy(HealthSubject::new(kind, name), Timestamp::UNIX_EPOCH)
        }
    }

    #[test]
    fn a_reason_is_a_state_in_the_shape_of_gpud() {
        let lost = reason(HealthAction::Reboot, HealthState::Unhealthy);
        let report = HealthReport {
            state: HealthState::Unhealthy,
            action: HealthAction::Reboot,
            subjects: vec![
                part(SubjectKind::Gpu, "0000:3b:00.0", vec![lost]),
                part(SubjectKind::Component, "disk", Vec::new()),
            ],
            ..HealthReport::default()
        };
        let states = states_of(&report);
        assert_eq!(
            serde_json::to_value(&states).unwrap(),
            serde_json::json!([
                {
                    "time": "1970-01-01T00:00:00Z",
                    "component": "accelerator-nvidia-error-xid",
                    "name": "gpu 0000:3b:00.0",
                    "health": "Unhealthy",
                    "reason": "fell off the bus (Xid 79)",
                    "suggested_actions": {
                        "description": "fell off the bus (Xid 79)",
                        "repair_actions": ["REBOOT_SYSTEM"]
                    },
                    "extra_info": { "rule": "off-the-bus", "action": "reboot" }
                },
                {
                    "time": "1970-01-01T00:00:00Z",
                    "component": "disk",
                    "name": "component disk",
                    "health": "Healthy"
                }
            ])
        );
    }

    #[test]
    fn each_action_has_one_of_the_four_words() {
        let words: Vec<_> = HealthAction::ALL
            .iter()
            .filter_map(|action| suggested(&reason(*action, HealthState::Degraded)))
            .map(|suggested| suggested.repair_actions[0])
            .collect();
        assert_eq!(words.len(), HealthAction::ALL.len() - 1);
        let known = [
            "IGNORE_NO_ACTION_REQUIRED",
            "REBOOT_SYSTEM",
            "HARDWARE_INSPECTION",
            "CHECK_USER_APP_AND_GPU",
        ];
        assert!(words.iter().all(|word| known.contains(word)), "{words:?}");
    }
}
