//! `/metrics`: the daemon's counters and what the hub knows, as OpenMetrics 1.0.0 or as the
//! Prometheus text format 0.0.4.

/// An array of families, a line each: kind, name without prefix and unit, the unit or "", what it is, its value or its values by labels.
macro_rules! families {
    ($($kind:ident $name:literal [$unit:literal] $help:literal => $of:ident($values:expr);)*) => {
        [$(Family::$kind($name, $unit, $help).$of($values)),*]
    };
}

/// Registers counters, a line each: name without prefix, its unit if it has one, what it is, the counter.
macro_rules! register {
    ($registry:ident: $($name:literal $([$unit:ident])? $help:literal => $metric:expr;)*) => {
        $(register!(@ $registry, $name, $help, $metric.clone() $(, Unit::$unit)?);)*
    };
    (@ $registry:ident, $name:literal, $help:literal, $metric:expr) => {
        $registry.register($name, $help, $metric);
    };
    (@ $registry:ident, $name:literal, $help:literal, $metric:expr, $unit:expr) => {
        $registry.register_with_unit($name, $help, $unit, $metric);
    };
}

mod cuda;
pub(super) mod dcgm;
mod health;
mod remote;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use gtrace_api::{
    CallSeries, CallStats, ComponentStatus, HealthState, SourceState, Status, TaskStatus,
};
use gtrace_devices::MetricKind;
use gtrace_engine::component;
use gtrace_engine::hub::Hub;
use gtrace_event::{Incident, IncidentState, Provenance};
use gtrace_server::ServerStatus;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    OpenMetrics,
    Prometheus,
}

impl Format {
    /// The format that an Accept header asks for: Prometheus text only where plain text is
    /// wanted and OpenMetrics is not.
    pub(super) fn wanted_by(accept: &str) -> Self {
        if accept.contains("text/plain") && !accept.contains("application/openmetrics-text") {
            Self::Prometheus
        } else {
            Self::OpenMetrics
        }
    }

    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// What the hub does not know.
#[derive(Debug, Default)]
pub(super) struct Clients {
    /// Connected stream readers.
    pub(super) readers: usize,
    /// The status of a `gtrace serve` of this host.
    pub(super) remote: Option<ServerStatus>,
    /// How often it did not answer in time.
    pub(super) unanswered: u64,
    /// Whether the names of dcgm-exporter are wanted too.
    pub(super) dcgm: bool,
}

/// GPUs as dcgm-exporter shows them.
pub(super) fn of_dcgm(hub: &Hub, format: Format) -> String {
    let (gpus, host) = (hub.gpus(), hub.status().host);
    dcgm::text(&gpus, &host, |pci| hub.metrics.last_xid(pci), format)
}

/// Everything as text.
pub(super) fn text(hub: &Arc<Hub>, clients: Clients, format: Format) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("gtrace");
    let m = &hub.metrics;
    register! { registry:
        "events" "Occurrences by kind, severity, device and provenance" => m.events;
        "xid" "Xids by device, code and provenance" => m.xid;
        "sxid" "SXids by device, code and provenance" => m.sxid;
        "lost" "Records lost, by place and reason" => m.lost;
        "store_removed_records" "Records that left the store, by cause" => m.removed;
        "store_size" [Bytes] "What the store takes on disk" => m.store_size;
        "store_moved_aside" "Damaged stores that were moved aside" => m.store_moved_aside;
        "gpu_process_exits" "Ends of processes that had a GPU device open, by outcome" => m.process_exits;
        "http_refused" "Clients of the API that were refused or cut off, by listener and reason" => m.refused;
        "http_failed_logins" "Requests over https without a valid credential, by reason" => m.failed_logins;
        "listener_files_good" "Whether certificate and credentials of a listener could be read when they changed last" =>
            m.listener_files_good;
        "listener_certificate_expiry_timestamp_seconds" "End of the certificate of a listener" =>
            m.listener_certificate_expiry;
        "incidents_opened" "Incidents that were opened, by suspected class of failure" => m.incidents_opened;
        "incident_time_to_acknowledge" [Seconds] "From an incident's first event to its acknowledgement, without drills" =>
            m.time_to_acknowledge.0;
        "incident_time_to_resolve" [Seconds] "From an incident's first event to its resolution, without drills" =>
            m.time_to_resolve.0;
    }
    let dcgm = match clients.dcgm {
        true => of_dcgm(hub, format),
        false => String::new(),
    };
    registry.register_collector(Box::new(Snapshot {
        hub: Arc::clone(hub),
        clients,
    }));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    Ok(match format {
        Format::OpenMetrics => text.trim_end_matches(END).to_owned() + &dcgm + END,
        Format::Prometheus => to_prometheus(&text) + &dcgm,
    })
}

/// The last line of OpenMetrics.
const END: &str = "# EOF\n";

#[derive(Debug)]
struct Snapshot {
    hub: Arc<Hub>,
    clients: Clients,
}

type Labels = Vec<(&'static str, String)>;

struct Family {
    /// Without prefix and unit.
    name: Cow<'static, str>,
    help: &'static str,
    unit: &'static str,
    kind: MetricType,
    samples: Vec<(Labels, f64)>,
}

impl Family {
    fn gauge(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self {
            name: name.into(),
            help,
            unit,
            kind: MetricType::Gauge,
            samples: Vec::new(),
        }
    }

    fn counter(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self {
            kind: MetricType::Counter,
            ..Self::gauge(name, unit, help)
        }
    }

    fn value(mut self, value: f64) -> Self {
        self.samples.push((Vec::new(), value));
        self
    }

    fn values(mut self, samples: impl IntoIterator<Item = (Labels, f64)>) -> Self {
        self.samples.extend(samples);
        self
    }
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let status = component::status(&self.hub);
        let version = [("version", status.version.as_str())];
        encoder
            .encode_descriptor("build", "Version of gtrace", None, MetricType::Info)?
            .encode_info(&version)?;
        let mut families = Vec::from(families! {
            gauge "stream_readers" [""] "Connected readers of the event stream" => value(self.clients.readers as f64);
            counter "remote_status_unanswered" [""] "Scrapes for which gtrace serve of this host did not answer within 0.5 s" =>
                value(self.clients.unanswered as f64);
        });
        families.extend(of_status(&status));
        families.push(open_incidents(&self.hub.incidents()));
        families.extend(of_sources(&status));
        families.extend(of_tasks(&status));
        families.extend(of_components(&status));
        families.extend(health::families(&self.hub));
        families.extend(of_costs(&status));
        families.extend(of_calls(&self.hub.calls()));
        families.extend(of_samples(&self.hub));
        let cuda = self.hub.cuda();
        families.extend(cuda::families(&cuda.0, &cuda.1));
        for family in families.iter().filter(|f| !f.samples.is_empty()) {
            encode(family, &mut encoder)?;
        }
        cuda::histograms(&cuda.1, &mut encoder)?;
        match &self.clients.remote {
            Some(status) => remote::encode_server(status, &mut encoder),
            None => Ok(()),
        }
    }
}

fn encode(family: &Family, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let unit = (!family.unit.is_empty()).then(|| Unit::Other(family.unit.to_owned()));
    let mut metric =
        encoder.encode_descriptor(&family.name, family.help, unit.as_ref(), family.kind)?;
    for (labels, value) in &family.samples {
        if labels.is_empty() {
            encode_value(&mut metric, family.kind, *value)?;
        } else {
            encode_value(&mut metric.encode_family(labels)?, family.kind, *value)?;
        }
    }
    Ok(())
}

fn encode_value(metric: &mut MetricEncoder<'_>, kind: MetricType, value: f64) -> fmt::Result {
    match kind {
        MetricType::Counter => metric.encode_counter::<NoLabelSet, _, f64>(&value, None),
        _ => metric.encode_gauge(&value),
    }
}

fn of_status(status: &Status) -> [Family; 6] {
    let faults = [(Provenance::Kernel.name(), &status.events)];
    let apart = status
        .events_apart
        .iter()
        .map(|(p, open)| (p.as_str(), open));
    let open = faults
        .into_iter()
        .chain(apart)
        .flat_map(|(provenance, open)| {
            open.iter().map(move |(severity, n)| {
                let labels = vec![
                    ("severity", severity.clone()),
                    ("provenance", provenance.to_owned()),
                ];
                (labels, *n as f64)
            })
        });
    let problem = f64::from(status.store_problem.is_some());
    families! {
        gauge "start_time" ["seconds"] "When the daemon started, Unix time" => value(status.started.as_second() as f64);
        gauge "paused" [""] "1 while the probes are detached on request" => value(f64::from(status.paused));
        gauge "open_events" [""] "Events since start that nobody acknowledged" => values(open);
        counter "store_records" [""] "Records in the store, pruned ones included" => value(status.last_seq as f64);
        gauge "device_users" [""] "Processes that have the driver's devices open" =>
            value(status.gpu_processes.len() as f64);
        gauge "store_problem" [""] "1 while the store cannot be written" => value(problem);
    }
}

fn open_incidents(incidents: &[Incident]) -> Family {
    let mut open: BTreeMap<_, u32> = BTreeMap::new();
    let unresolved = incidents
        .iter()
        .filter(|incident| incident.state != IncidentState::Resolved);
    for incident in unresolved {
        let key = (
            incident.class,
            incident.severity,
            incident.state,
            incident.drill,
        );
        *open.entry(key).or_default() += 1;
    }
    let samples = open
        .into_iter()
        .map(|((class, severity, state, drill), n)| {
            let labels = vec![
                ("class", class.to_string()),
                ("severity", severity.to_string()),
                ("state", state.to_string()),
                ("drill", drill.to_string()),
            ];
            (labels, f64::from(n))
        });
    Family::gauge(
        "open_incidents",
        "",
        "Incidents that nobody has resolved, by class, severity and state",
    )
    .values(samples)
}

fn of_sources(status: &Status) -> [Family; 3] {
    let sources = &status.sources;
    let state = sources.iter().flat_map(|source| {
        SourceState::ALL.map(|state| {
            let labels = vec![
                ("source", source.name.clone()),
                ("state", state.name().to_owned()),
            ];
            (labels, f64::from(state == source.state))
        })
    });
    let named = |value: fn(&gtrace_api::SourceStatus) -> u64| {
        sources
            .iter()
            .map(move |s| (vec![("source", s.name.clone())], value(s) as f64))
    };
    families! {
        gauge "source_state" [""] "1 for the state that a source is in" => values(state);
        counter "source_records" [""] "Records read by source, events or not" => values(named(|s| s.records));
        counter "source_lost" [""] "Records known to be lost, by source" => values(named(|s| s.lost));
    }
}

fn of_components(status: &Status) -> [Family; 5] {
    let judged = status.components.iter().filter_map(|component| {
        let state = component.health.as_ref()?.state;
        Some((component.name.clone(), state))
    });
    let samples = judged.flat_map(|(name, state)| {
        HealthState::ALL.map(|each| {
            let labels = vec![
                ("component", name.clone()),
                ("state", each.name().to_owned()),
            ];
            (labels, f64::from(each == state))
        })
    });
    let host = HealthState::ALL.map(|each| {
        let labels = vec![("state", each.name().to_owned())];
        (labels, f64::from(each == status.host_health.state))
    });
    let named = |value: fn(&ComponentStatus) -> Option<f64>| {
        let components = status.components.iter();
        components.filter_map(move |c| Some((vec![("component", c.name.clone())], value(c)?)))
    };
    families! {
        gauge "component_health" [""] "1 for the health that a component sees of what it watches" => values(samples);
        gauge "host_health" [""] "1 for the worst health that a component sees" => values(host);
        gauge "component_last_seen" ["seconds"] "When a component last delivered an observation or a sample, Unix time" =>
            values(named(|c| Some(c.last_seen?.as_millisecond() as f64 / 1e3)));
        gauge "component_core" ["ratio"] "Share of one core that the BPF programs of a component took in the newest window" =>
            values(named(|c| c.cost?.core_share));
        counter "component_cpu" ["seconds"] "CPU time of the thread of a component that shares it with no other" =>
            values(named(|c| c.cost?.cpu_seconds));
    }
}

fn of_tasks(status: &Status) -> [Family; 3] {
    let named = |value: fn(&TaskStatus) -> f64| {
        status
            .tasks
            .iter()
            .map(move |task| (vec![("task", task.name.clone())], value(task)))
    };
    families! {
        gauge "task_up" [""] "1 while a thread of the daemon runs" => values(named(|task| f64::from(task.is_up())));
        counter "task_restarts" [""] "How often a thread of the daemon was started again after it had failed" =>
            values(named(|task| task.restarts as f64));
        gauge "task_heartbeat_age" ["seconds"] "Time since a thread of the daemon gave a heartbeat" =>
            values(named(|task| task.last_seen_ms as f64 / 1e3));
    }
}

fn of_costs(status: &Status) -> [Family; 7] {
    let probes = &status.probes;
    let named = |value: fn(&gtrace_api::ProbeCost) -> Option<f64>| {
        probes
            .iter()
            .filter_map(move |p| Some((vec![("probe", p.probe.clone())], value(p)?)))
    };
    let own = &status.footprint;
    families! {
        gauge "probe_run_mean" ["seconds"] "Mean time of one run of a BPF program" =>
            values(named(|p| p.mean_ns.map(|ns| ns / 1e9)));
        gauge "probe_runs_per_second" [""] "Runs of a BPF program in the newest window" =>
            values(named(|p| p.runs_per_second));
        gauge "probe_core" ["ratio"] "Share of one core that a BPF program took" => values(named(|p| p.core_share));
        counter "probe_missed" [""] "Runs of a BPF program that the kernel skipped" =>
            values(named(|p| Some(p.missed as f64)));
        gauge "self_rss_anon" ["bytes"] "Own resident anonymous memory" => value(own.rss_anon_bytes as f64);
        counter "self_cpu" ["seconds"] "Own CPU time" => value(own.cpu_seconds);
        gauge "self_bpf_maps" ["bytes"] "Kernel memory of the BPF maps" => value(own.map_bytes as f64);
    }
}

#[derive(Default)]
struct OpCalls {
    count: u64,
    errors: u64,
    failures: BTreeMap<String, u64>,
    total_ns: u64,
    /// 0.5, 0.9, 0.99, 0.999 and 1; of the slowest process, as quantiles cannot be added.
    quantiles_ns: [u64; 5],
}

fn call_labels(series: &CallSeries) -> Labels {
    let mut labels = vec![("op", series.op.clone())];
    labels.extend(series.code.clone().map(|code| ("code", code)));
    labels.push(("device", series.device.clone()));
    labels.extend(series.gpu.map(|gpu| ("gpu", gpu.to_string())));
    labels
}

fn of_calls(calls: &[CallStats]) -> [Family; 5] {
    let mut ops: BTreeMap<CallSeries, OpCalls> = BTreeMap::new();
    for call in calls {
        let op = ops.entry(call.series()).or_default();
        for failure in &call.statuses {
            let status = failure.name.clone().unwrap_or_else(|| "other".to_owned());
            *op.failures.entry(status).or_default() += failure.count;
        }
        op.count += call.count;
        op.errors += call.errors;
        op.total_ns += call.total_ns;
        let quantiles = [
            call.p50_ns,
            call.p90_ns,
            call.p99_ns,
            call.p999_ns,
            call.max_ns,
        ];
        for (slowest, ns) in op.quantiles_ns.iter_mut().zip(quantiles) {
            *slowest = ns.max(*slowest);
        }
    }
    let named = |value: fn(&OpCalls) -> f64| -> Vec<(Labels, f64)> {
        ops.iter()
            .map(|(op, calls)| (call_labels(op), value(calls)))
            .collect()
    };
    // A label named quantile is for summaries alone.
    let percentiles = ops.iter().flat_map(|(op, calls)| {
        ["50", "90", "99", "99.9", "100"]
            .into_iter()
            .zip(calls.quantiles_ns)
            .map(|(percentile, ns)| {
                let mut labels = call_labels(op);
                labels.push(("percentile", percentile.to_owned()));
                (labels, ns as f64 / 1e9)
            })
    });
    let failures = ops.iter().flat_map(|(op, calls)| {
        calls.failures.iter().map(|(status, count)| {
            let mut labels = call_labels(op);
            labels.push(("status", status.clone()));
            (labels, *count as f64)
        })
    });
    families! {
        counter "driver_calls" [""] "Driver calls by operation and device" => values(named(|c| c.count as f64));
        counter "driver_call_errors" [""] "Driver calls whose ioctl(2) returned an error" =>
            values(named(|c| c.errors as f64));
        counter "driver_call_failures" [""] "Driver calls that the driver failed, by NV_STATUS; ioctl(2) returned 0" =>
            values(failures);
        counter "driver_call_time" ["seconds"] "Time spent in driver calls" =>
            values(named(|c| c.total_ns as f64 / 1e9));
        gauge "driver_call_latency" ["seconds"] "Percentiles of a driver call's time in the process where it is slowest" =>
            values(percentiles);
    }
}

fn of_samples(hub: &Hub) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for metric in hub.samples.newest() {
        let name = metric.name.strip_prefix("gtrace_").unwrap_or(metric.name);
        let name = match metric.unit {
            "" => name,
            unit => name
                .strip_suffix(unit)
                .and_then(|n| n.strip_suffix('_'))
                .unwrap_or(name),
        };
        let sample = (metric.labels, metric.value);
        if let Some(family) = families.iter_mut().find(|f| f.name == name) {
            family.samples.push(sample);
            continue;
        }
        let kind = match metric.kind {
            MetricKind::Counter => MetricType::Counter,
            MetricKind::Gauge => MetricType::Gauge,
        };
        families.push(Family {
            name: name.to_owned().into(),
            help: metric.help,
            unit: metric.unit,
            kind,
            samples: vec![sample],
        });
    }
    families
}

/// The Prometheus text format differs in its comment lines: a counter's name there carries
/// `_total`, `info` is no type, and there are neither units nor an end mark.
fn to_prometheus(open_metrics: &str) -> String {
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    for line in open_metrics.lines() {
        if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|l| l.split_once(' ')) {
            types.insert(name, kind);
        }
    }
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        let comment = line.strip_prefix("# ").and_then(|l| l.split_once(' '));
        match comment {
            Some(("UNIT", _)) => {}
            Some((word @ ("HELP" | "TYPE"), rest)) => {
                let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let (suffix, kind) = match types.get(name).copied() {
                    Some("counter") => ("_total", "counter"),
                    Some("info") => ("_info", "gauge"),
                    Some("unknown") | None => ("", "untyped"),
                    Some(kind) => ("", kind),
                };
                let rest = if word == "TYPE" { kind } else { rest };
                text.push_str(&format!("# {word} {name}{suffix} {rest}\n"));
            }
            _ if line == "# EOF" => {}
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

#[cfg(test)]
#[path = "exposition/tests.rs"]
mod whole;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_text_names_counters_as_their_samples_and_has_no_end_mark() {
        let text = "# HELP a_x Help.\n# TYPE a_x counter\na_x_total{k=\"v\"} 1\n\
            # HELP a_b Help.\n# TYPE a_b info\na_b_info{v=\"1\"} 1\n\
            # HELP a_s_seconds S.\n# TYPE a_s_seconds gauge\n# UNIT a_s_seconds seconds\na_s_seconds 2\n# EOF\n";
        assert_eq!(
            to_prometheus(text),
            "# HELP a_x_total Help.\n# TYPE a_x_total counter\na_x_total{k=\"v\"} 1\n\
             # HELP a_b_info Help.\n# TYPE a_b_info gauge\na_b_info{v=\"1\"} 1\n\
             # HELP a_s_seconds S.\n# TYPE a_s_seconds gauge\na_s_seconds 2\n"
        );
    }

    #[test]
    fn plain_text_is_given_only_where_open_metrics_is_not_wanted() {
        assert_eq!(Format::wanted_by("*/*"), Format::OpenMetrics);
        assert_eq!(
            Format::wanted_by("text/plain;version=0.0.4"),
            Format::Prometheus
        );
        let both = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
        assert_eq!(Format::wanted_by(both), Format::OpenMetrics);
    }
}
