//! Metrics and events as messages of OTLP.

use std::collections::BTreeMap;

use gtrace_api::{CallSeries, CallStats, Status};
use gtrace_devices::MetricKind;
use gtrace_event::{Event, Severity, Timestamp};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs, SeverityNumber};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use crate::tally::{BOUNDS_NS, Tally, place};

const CUMULATIVE: i32 = AggregationTemporality::Cumulative as i32;

fn any(value: Value) -> AnyValue {
    AnyValue { value: Some(value) }
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(any(value)),
        ..KeyValue::default()
    }
}

fn text(key: &str, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

fn number(key: &str, value: u32) -> KeyValue {
    attribute(key, Value::IntValue(i64::from(value)))
}

/// This host, in the names of the semantic conventions.
pub(super) fn resource(status: &Status) -> Resource {
    let mut attributes = vec![
        text("service.name", "gtrace"),
        text("service.version", status.version.as_str()),
        text("host.name", status.host.as_str()),
    ];
    attributes.extend(
        status
            .machine_id
            .as_ref()
            .map(|id| text("host.id", id.as_str())),
    );
    Resource {
        attributes,
        ..Resource::default()
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "gtrace".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}

fn nanos(time: Timestamp) -> u64 {
    u64::try_from(time.as_nanosecond()).unwrap_or(0)
}

/// Units of OpenMetrics as UCUM writes them.
fn unit(unit: &str) -> &str {
    match unit {
        "seconds" => "s",
        "bytes" => "By",
        "bytes_per_second" => "By/s",
        "celsius" => "Cel",
        "watts" => "W",
        "joules" => "J",
        "hertz" => "Hz",
        "ratio" | "" => "1",
        "bits_per_second" => "bit/s",
        "transfers_per_second" => "{transfer}/s",
        other => other,
    }
}

/// Durations of calls by the bounds of `/metrics`.
#[derive(Clone, Copy, Default)]
struct Durations {
    buckets: [u64; BOUNDS_NS.len() + 1],
    total_ns: u64,
}

impl Durations {
    fn point(
        &self,
        started: Timestamp,
        now: Timestamp,
        attributes: Vec<KeyValue>,
    ) -> HistogramDataPoint {
        HistogramDataPoint {
            start_time_unix_nano: nanos(started),
            time_unix_nano: nanos(now),
            count: self.buckets.iter().sum(),
            sum: Some(self.total_ns as f64 / 1e9),
            bucket_counts: self.buckets.to_vec(),
            explicit_bounds: BOUNDS_NS.iter().map(|ns| *ns as f64 / 1e9).collect(),
            attributes,
            ..HistogramDataPoint::default()
        }
    }
}

/// How long driver and CUDA calls took since `started`: driver calls by operation and device, CUDA calls by process name and function.
pub(super) fn latencies(
    calls: &[CallStats],
    cuda: &Tally,
    started: Timestamp,
    now: Timestamp,
) -> Vec<Metric> {
    let mut by_series: BTreeMap<CallSeries, Durations> = BTreeMap::new();
    for call in calls {
        let sum = by_series.entry(call.series()).or_default();
        sum.total_ns += call.total_ns;
        for (bucket, count) in &call.buckets {
            // `place` gives an index within the array.
            if let Some(of) = sum.buckets.get_mut(place(usize::from(*bucket))) {
                *of += count;
            }
        }
    }
    let driver = by_series.into_iter().map(|(series, durations)| {
        let mut attributes = vec![text("op", series.op), text("device", series.device)];
        attributes.extend(series.code.map(|code| text("code", code)));
        attributes.extend(series.gpu.map(|gpu| text("gpu", gpu.to_string())));
        durations.point(started, now, attributes)
    });
    let cuda = cuda.series().map(|(comm, function, series)| {
        let durations = Durations {
            buckets: series.buckets,
            total_ns: series.total_ns,
        };
        let attributes = vec![text("process", comm), text("function", function)];
        durations.point(started, now, attributes)
    });
    let families = [
        (
            "gtrace_driver_call_seconds",
            "How long driver calls took",
            driver.collect::<Vec<_>>(),
        ),
        (
            "gtrace_cuda_call_seconds",
            "How long CUDA calls took, of those timed",
            cuda.collect(),
        ),
    ];
    let families = families
        .into_iter()
        .filter(|(.., points)| !points.is_empty());
    families
        .map(|(name, description, data_points)| Metric {
            name: name.to_owned(),
            description: description.to_owned(),
            unit: unit("seconds").to_owned(),
            data: Some(Data::Histogram(Histogram {
                data_points,
                aggregation_temporality: CUMULATIVE,
            })),
            ..Metric::default()
        })
        .collect()
}

/// How many data points histograms have.
pub(super) fn points(latencies: &[Metric]) -> usize {
    let points = latencies.iter().map(|metric| match &metric.data {
        Some(Data::Histogram(histogram)) => histogram.data_points.len(),
        _ => 0,
    });
    points.sum()
}

/// The newest values, those of a family together, and `latencies`.
pub(super) fn metrics(
    resource: &Resource,
    newest: &[gtrace_devices::Metric],
    latencies: Vec<Metric>,
    now: Timestamp,
) -> ExportMetricsServiceRequest {
    let mut families: BTreeMap<&str, (&gtrace_devices::Metric, Vec<NumberDataPoint>)> =
        BTreeMap::new();
    for metric in newest.iter().filter(|metric| metric.value.is_finite()) {
        let labels = metric.labels.iter();
        let point = NumberDataPoint {
            time_unix_nano: nanos(now),
            value: Some(Number::AsDouble(metric.value)),
            attributes: labels
                .map(|(key, value)| text(key, value.as_str()))
                .collect(),
            ..NumberDataPoint::default()
        };
        let family = families.entry(metric.name);
        family.or_insert_with(|| (metric, Vec::new())).1.push(point);
    }
    let metrics = families.into_values().map(|(metric, data_points)| Metric {
        name: metric.name.to_owned(),
        description: metric.help.to_owned(),
        unit: unit(metric.unit).to_owned(),
        data: Some(match metric.kind {
            MetricKind::Gauge => Data::Gauge(Gauge { data_points }),
            MetricKind::Counter => Data::Sum(Sum {
                data_points,
                aggregation_temporality: CUMULATIVE,
                is_monotonic: true,
            }),
        }),
        ..Metric::default()
    });
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource.clone()),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(scope()),
                metrics: metrics.chain(latencies).collect(),
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

/// An event as a record of a log.
pub(super) fn record(event: &Event) -> LogRecord {
    let severity_number = match event.severity {
        Severity::Info => SeverityNumber::Info,
        Severity::Warning => SeverityNumber::Warn,
        Severity::Critical => SeverityNumber::Error,
        Severity::Fatal => SeverityNumber::Fatal,
    };
    let mut attributes = vec![
        text("gtrace.event", event.id.to_string()),
        text("gtrace.kind", event.kind.name()),
        text("gtrace.provenance", event.provenance.name()),
    ];
    let mut known = |key: &str, value: Option<String>| {
        attributes.extend(value.map(|value| text(key, value)));
    };
    let gpu = event.gpu.as_ref();
    known(
        "gtrace.gpu",
        gpu.and_then(|gpu| gpu.pci).map(|pci| pci.to_string()),
    );
    known("gtrace.gpu.uuid", gpu.and_then(|gpu| gpu.uuid.clone()));
    let advice = event.advice.as_ref();
    let action = advice.and_then(|advice| advice.action);
    known("gtrace.action", action.map(|action| action.to_string()));
    let process = event.process.as_ref();
    known(
        "process.command",
        process.and_then(|process| process.comm.clone()),
    );
    known(
        "container.id",
        process.and_then(|process| process.container.clone()),
    );
    let numbers = [
        ("gtrace.xid", event.detail.xid.xid),
        ("gtrace.sxid", event.detail.fabric.sxid),
        ("process.pid", process.and_then(|process| process.pid)),
    ];
    let numbers = numbers.into_iter();
    attributes.extend(numbers.filter_map(|(key, value)| Some(number(key, value?))));
    LogRecord {
        time_unix_nano: nanos(event.time),
        observed_time_unix_nano: nanos(event.time),
        severity_number: severity_number.into(),
        severity_text: event.severity.name().to_owned(),
        body: Some(any(Value::StringValue(event.message.clone()))),
        attributes,
        event_name: format!("gtrace.{}", event.kind),
        ..LogRecord::default()
    }
}

/// Records on their way.
pub(super) fn logs(resource: &Resource, log_records: Vec<LogRecord>) -> ExportLogsServiceRequest {
    ExportLogsServiceRequest {
        resource_logs: vec![ResourceLogs {
            resource: Some(resource.clone()),
            scope_logs: vec![ScopeLogs {
                scope: Some(scope()),
                log_records,
                ..ScopeLogs::default()
            }],
            ..ResourceLogs::default()
        }],
    }
}
