//! `/metrics`: the daemon's counters and what the hub knows, as OpenMetrics 1.0.0 or as the
//! Prometheus text format 0.0.4.

mod cuda;
mod remote;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use gtrace_devices::MetricKind;
use gtrace_event::PciAddress;
use gtrace_server::ServerStatus;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::hub::{CallStats, Hub, SourceState, Status};

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

/// Everything as text. `readers` is the number of connected stream readers, `remote` what a server
/// on this host says.
pub(super) fn text(
    hub: &Arc<Hub>,
    readers: usize,
    remote: Option<ServerStatus>,
    format: Format,
) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("gtrace");
    let m = &hub.metrics;
    registry.register(
        "events",
        "Occurrences by kind, severity and device",
        m.events.clone(),
    );
    registry.register("xid", "Xids by device and code", m.xid.clone());
    registry.register("sxid", "SXids by device and code", m.sxid.clone());
    registry.register(
        "records",
        "Records read by source, events or not",
        m.records.clone(),
    );
    registry.register("lost", "Records lost, by place and reason", m.lost.clone());
    registry.register_collector(Box::new(Snapshot {
        hub: Arc::clone(hub),
        readers,
        remote,
    }));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    Ok(match format {
        Format::OpenMetrics => text,
        Format::Prometheus => to_prometheus(&text),
    })
}

#[derive(Debug)]
struct Snapshot {
    hub: Arc<Hub>,
    readers: usize,
    remote: Option<ServerStatus>,
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
        let status = self.hub.status();
        let version = [("version", status.version.as_str())];
        encoder
            .encode_descriptor("build", "Version of gtrace", None, MetricType::Info)?
            .encode_info(&version)?;
        let readers = Family::gauge(
            "stream_readers",
            "",
            "Connected readers of the event stream",
        );
        let mut families = vec![readers.value(self.readers as f64)];
        families.extend(of_status(&status));
        families.extend(of_sources(&status));
        families.extend(of_costs(&status));
        families.extend(of_calls(&self.hub.calls()));
        families.extend(of_gpus(&self.hub));
        let cuda = self.hub.cuda();
        families.extend(cuda::families(&cuda.0, &cuda.1));
        for family in families.iter().filter(|f| !f.samples.is_empty()) {
            encode(family, &mut encoder)?;
        }
        cuda::histograms(&cuda.1, &mut encoder)?;
        match &self.remote {
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
    let open = status
        .events
        .iter()
        .map(|(s, n)| (vec![("severity", s.clone())], *n as f64));
    let problem = f64::from(status.store_problem.is_some());
    [
        Family::gauge(
            "start_time",
            "seconds",
            "When the daemon started, Unix time",
        )
        .value(status.started.as_second() as f64),
        Family::gauge("paused", "", "1 while the probes are detached on request")
            .value(f64::from(status.paused)),
        Family::gauge(
            "open_events",
            "",
            "Events since start that nobody acknowledged",
        )
        .values(open),
        Family::counter(
            "store_records",
            "",
            "Records in the store, pruned ones included",
        )
        .value(status.last_seq as f64),
        Family::gauge(
            "gpu_processes",
            "",
            "Processes that have the driver's devices open",
        )
        .value(status.gpu_processes.len() as f64),
        Family::gauge("store_problem", "", "1 while the store cannot be written").value(problem),
    ]
}

fn of_sources(status: &Status) -> [Family; 3] {
    let states = [
        (SourceState::Active, "active"),
        (SourceState::Degraded, "degraded"),
        (SourceState::Absent, "absent"),
        (SourceState::Failed, "failed"),
        (SourceState::Off, "off"),
    ];
    let sources = &status.sources;
    let state = sources.iter().flat_map(|source| {
        states.map(|(state, name)| {
            let labels = vec![("source", source.name.clone()), ("state", name.to_owned())];
            (labels, f64::from(state == source.state))
        })
    });
    let named = |value: fn(&crate::hub::SourceStatus) -> u64| {
        sources
            .iter()
            .map(move |s| (vec![("source", s.name.clone())], value(s) as f64))
    };
    [
        Family::gauge("source_state", "", "1 for the state that a source is in").values(state),
        Family::counter("source_records", "", "Records taken by source")
            .values(named(|s| s.records)),
        Family::counter("source_lost", "", "Records known to be lost, by source")
            .values(named(|s| s.lost)),
    ]
}

fn of_costs(status: &Status) -> [Family; 7] {
    let probes = &status.probes;
    let named = |value: fn(&crate::hub::ProbeCost) -> f64| {
        probes
            .iter()
            .map(move |p| (vec![("probe", p.probe.clone())], value(p)))
    };
    let own = &status.footprint;
    [
        Family::gauge(
            "probe_run_mean",
            "seconds",
            "Mean time of one run of a BPF program",
        )
        .values(named(|p| p.mean_ns / 1e9)),
        Family::gauge(
            "probe_runs_per_second",
            "",
            "Runs of a BPF program in the newest window",
        )
        .values(named(|p| p.runs_per_second)),
        Family::gauge(
            "probe_core",
            "ratio",
            "Share of one core that a BPF program took",
        )
        .values(named(|p| p.core_share)),
        Family::counter(
            "probe_missed",
            "",
            "Runs of a BPF program that the kernel skipped",
        )
        .values(named(|p| p.missed as f64)),
        Family::gauge("self_rss_anon", "bytes", "Own resident anonymous memory")
            .value(own.rss_anon_bytes as f64),
        Family::counter("self_cpu", "seconds", "Own CPU time").value(own.cpu_seconds),
        Family::gauge("self_bpf_maps", "bytes", "Kernel memory of the BPF maps")
            .value(own.map_bytes as f64),
    ]
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

/// What driver calls are counted by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Operation<'a> {
    /// The ioctl.
    op: &'a str,
    /// The control command or class that it is about.
    about: Option<&'a str>,
    device: &'a str,
    /// The GPU whose own device file it is.
    gpu: Option<PciAddress>,
}

impl<'a> Operation<'a> {
    /// A program can call any number, so only public names become label values.
    fn of(call: &'a CallStats) -> Self {
        let unnamed = call.code.as_ref().map(|_| "other");
        Self {
            op: call.op.as_deref().unwrap_or("other"),
            about: call.code_name.as_deref().or(unnamed),
            device: device_label(&call.device),
            gpu: call.gpu,
        }
    }

    fn labels(&self) -> Labels {
        let mut labels = vec![("op", self.op.to_owned())];
        labels.extend(self.about.map(|about| ("code", about.to_owned())));
        labels.push(("device", self.device.to_owned()));
        labels.extend(self.gpu.map(|gpu| ("gpu", gpu.to_string())));
        labels
    }
}

/// The device file's name, where it is one of the driver's: of those there are as many as GPUs and a
/// few more. The files for MIG (`nvidia-caps:7`) are one.
fn device_label(device: &str) -> &str {
    let name = device.split(':').next().unwrap_or(device);
    if name.starts_with("nvidia") {
        name
    } else {
        "other"
    }
}

fn of_calls(calls: &[CallStats]) -> [Family; 5] {
    let mut ops: BTreeMap<Operation<'_>, OpCalls> = BTreeMap::new();
    for call in calls {
        let op = ops.entry(Operation::of(call)).or_default();
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
            .map(|(op, calls)| (op.labels(), value(calls)))
            .collect()
    };
    let quantiles = ops.iter().flat_map(|(op, calls)| {
        ["0.5", "0.9", "0.99", "0.999", "1"]
            .into_iter()
            .zip(calls.quantiles_ns)
            .map(|(q, ns)| {
                let mut labels = op.labels();
                labels.push(("quantile", q.to_owned()));
                (labels, ns as f64 / 1e9)
            })
    });
    let failures = ops.iter().flat_map(|(op, calls)| {
        calls.failures.iter().map(|(status, count)| {
            let mut labels = op.labels();
            labels.push(("status", status.clone()));
            (labels, *count as f64)
        })
    });
    [
        Family::counter("driver_calls", "", "Driver calls by operation and device")
            .values(named(|c| c.count as f64)),
        Family::counter(
            "driver_call_errors",
            "",
            "Driver calls whose ioctl(2) returned an error",
        )
        .values(named(|c| c.errors as f64)),
        Family::counter(
            "driver_call_failures",
            "",
            "Driver calls that the driver failed, by NV_STATUS; ioctl(2) returned 0",
        )
        .values(failures),
        Family::counter("driver_call_time", "seconds", "Time spent in driver calls")
            .values(named(|c| c.total_ns as f64 / 1e9)),
        Family::gauge(
            "driver_call_latency",
            "seconds",
            "Quantiles of a driver call's time in the process where it is slowest",
        )
        .values(quantiles),
    ]
}

fn of_gpus(hub: &Hub) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    let metrics = gtrace_devices::metrics(&hub.gpus());
    for metric in metrics.into_iter().chain(hub.pci_metrics()) {
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
