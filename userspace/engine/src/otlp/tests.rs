//! What a collector gets, decoded.

use gtrace_api::CallStats;
use gtrace_devices::MetricKind;
use gtrace_event::{Event, Gpu, Kind, Occurrence, RecordId, Severity, WitnessName};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest,
};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, metric::Data};
use prost::Message as _;

use super::*;
use crate::fake_server::{Answer, Request, Server};

struct World {
    hub: Arc<Hub>,
    sender: Sender,
    live: Receiver<News>,
    now: Instant,
    seq: u64,
}

impl World {
    fn new(url: &str, token_file: Option<PathBuf>) -> Self {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let options = Options {
            url: url.parse().unwrap(),
            token_file,
            ca_file: None,
            interval: Duration::from_secs(60),
        };
        let live = hub.subscribe().live;
        Self {
            sender: Sender::new(options, Arc::default()),
            hub,
            live,
            now: Instant::now(),
            seq: 0,
        }
    }

    fn publish(&mut self, message: &str) {
        self.seq += 1;
        let time = Timestamp::from_second(1_772_500_000).unwrap();
        let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, message);
        occurrence.detail.xid.xid = Some(79);
        occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
        let event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
        let id = RecordId {
            epoch: gtrace_event::Epoch::generate(),
            seq: self.seq,
        };
        self.hub.publish(id, None, event);
    }

    fn round_after(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.sender.take(&self.hub, &mut self.live);
        self.sender.round(&self.hub, self.now);
    }

    fn value(&self, name: &str, signal: &str) -> f64 {
        self.sender.publish(&self.hub);
        let metrics = self.hub.samples.newest();
        let has = |m: &&Metric| m.name == name && m.labels.iter().all(|(_, v)| v == signal);
        metrics.iter().find(has).unwrap().value
    }
}

fn attribute<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    found.value.as_ref()?.value.as_ref()
}

fn string(text: &str) -> Value {
    Value::StringValue(text.to_owned())
}

fn bodies(request: &Request) -> Vec<String> {
    let logs = ExportLogsServiceRequest::decode(request.body.as_slice()).unwrap();
    let records = logs
        .resource_logs
        .into_iter()
        .flat_map(|r| r.scope_logs)
        .flat_map(|s| s.log_records);
    let bodies = records.map(|record| match record.body.unwrap().value.unwrap() {
        Value::StringValue(text) => text,
        other => panic!("{other:?}"),
    });
    bodies.collect()
}

#[test]
fn metrics_and_events_are_what_the_published_protocol_says() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    std::fs::write(&token, "secret\n").unwrap();
    let collector = Server::start();
    let mut world = World::new(&collector.url, Some(token));
    let metric = |name, kind, unit, value| Metric {
        name,
        help: "help",
        unit,
        kind,
        labels: vec![("gpu", "0000:3b:00.0".to_owned())],
        value,
    };
    world.hub.samples.publish_now(
        "nvml",
        Duration::from_secs(60),
        vec![
            metric(
                "gtrace_gpu_temperature_celsius",
                MetricKind::Gauge,
                "celsius",
                64.0,
            ),
            metric(
                "gtrace_gpu_energy_joules",
                MetricKind::Counter,
                "joules",
                5.5,
            ),
            metric(
                "gtrace_gpu_temperature_celsius",
                MetricKind::Gauge,
                "celsius",
                f64::NAN,
            ),
        ],
    );
    // Two calls of 1 us and one of a second, by two processes.
    let call = |pid, buckets, total_ns| CallStats {
        pid,
        comm: "python3".to_owned(),
        device: "nvidiactl".to_owned(),
        op: Some("NV_ESC_RM_CONTROL".to_owned()),
        count: 2,
        buckets,
        total_ns,
        ..CallStats::default()
    };
    let bucket = |ns| u16::try_from(gtrace_abi::bucket_of(ns)).unwrap();
    world.hub.set_calls(vec![
        call(7, vec![(bucket(1000), 2)], 2000),
        call(8, vec![(bucket(1_000_000_000), 1)], 1_000_000_000),
    ]);
    world.publish("NVRM: Xid 79");
    world.round_after(0);
    let first = collector.requests.recv().unwrap();
    assert!(
        first.head.starts_with("post /v1/metrics "),
        "{}",
        first.head
    );
    assert!(first.head.contains("authorization: bearer secret"));
    assert!(first.head.contains("content-type: application/x-protobuf"));
    let request = ExportMetricsServiceRequest::decode(first.body.as_slice()).unwrap();
    let of_host = &request.resource_metrics[0];
    let resource = of_host.resource.as_ref().unwrap();
    assert_eq!(
        attribute(&resource.attributes, "service.name"),
        Some(&string("gtrace"))
    );
    assert!(attribute(&resource.attributes, "host.name").is_some());
    let metrics = &of_host.scope_metrics[0].metrics;
    let find = |name: &str| metrics.iter().find(|metric| metric.name == name).unwrap();
    let temperature = find("gtrace_gpu_temperature_celsius");
    assert_eq!(temperature.unit, "Cel");
    let Some(Data::Gauge(gauge)) = &temperature.data else {
        panic!("{temperature:?}");
    };
    assert_eq!(gauge.data_points.len(), 1);
    let point = &gauge.data_points[0];
    assert_eq!(point.value, Some(number_data_point::Value::AsDouble(64.0)));
    assert_eq!(
        attribute(&point.attributes, "gpu"),
        Some(&string("0000:3b:00.0"))
    );
    assert!(point.time_unix_nano > 1_700_000_000_000_000_000);
    let Some(Data::Sum(sum)) = &find("gtrace_gpu_energy_joules").data else {
        panic!("a counter is a sum");
    };
    assert!(sum.is_monotonic);
    assert_eq!(
        sum.aggregation_temporality(),
        AggregationTemporality::Cumulative
    );

    let calls = find("gtrace_driver_call_seconds");
    assert_eq!(calls.unit, "s");
    let Some(Data::Histogram(histogram)) = &calls.data else {
        panic!("{calls:?}");
    };
    assert_eq!(
        histogram.aggregation_temporality(),
        AggregationTemporality::Cumulative
    );
    let [point] = &histogram.data_points[..] else {
        panic!("{histogram:?}");
    };
    assert_eq!((point.count, point.sum), (3, Some(1.000002)));
    assert!(point.start_time_unix_nano <= point.time_unix_nano);
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
    // Each duration is in the bucket whose bounds it lies between.
    for (seconds, count) in [(1e-6, 2), (1.0, 1)] {
        let at = point
            .explicit_bounds
            .partition_point(|bound| *bound < seconds);
        assert_eq!(point.bucket_counts[at], count, "{point:?}");
    }
    assert_eq!(
        attribute(&point.attributes, "op"),
        Some(&string("NV_ESC_RM_CONTROL"))
    );

    let second = collector.requests.recv().unwrap();
    assert!(second.head.starts_with("post /v1/logs "), "{}", second.head);
    let request = ExportLogsServiceRequest::decode(second.body.as_slice()).unwrap();
    let record = &request.resource_logs[0].scope_logs[0].log_records[0];
    assert_eq!(
        (record.severity_number, record.severity_text.as_str()),
        (21, "fatal")
    );
    assert_eq!(record.time_unix_nano, 1_772_500_000_000_000_000);
    assert_eq!(record.event_name, "gtrace.xid");
    assert_eq!(
        record.body.as_ref().unwrap().value,
        Some(string("NVRM: Xid 79"))
    );
    assert_eq!(
        attribute(&record.attributes, "gtrace.xid"),
        Some(&Value::IntValue(79))
    );
    assert_eq!(
        attribute(&record.attributes, "gtrace.gpu"),
        Some(&string("0000:3b:00.0"))
    );
    assert_eq!(world.value("gtrace_otlp_sent", "logs"), 1.0);
    // Nothing is due before the interval is over.
    world.round_after(30);
    assert!(collector.requests.try_recv().is_err());
}

#[test]
fn events_are_sent_again_until_they_are_taken_and_what_is_lost_is_counted() {
    let collector = Server::start();
    let mut world = World::new(&collector.url, None);
    collector.answer(Answer::Status(503, Vec::new()));
    world.publish("one");
    world.round_after(0);
    assert!(
        collector
            .requests
            .recv()
            .unwrap()
            .head
            .contains("/v1/metrics")
    );
    assert_eq!(
        world.value("gtrace_otlp_failed", "logs"),
        0.0,
        "logs wait behind a collector that is down"
    );
    world.publish("two");
    // Metrics are taken again after the back-off, and then the events, each once.
    world.round_after(120);
    let requests: Vec<Request> = collector.requests.try_iter().collect();
    let sent: Vec<String> = requests
        .iter()
        .filter(|r| r.head.contains("/v1/logs"))
        .flat_map(bodies)
        .collect();
    assert_eq!(sent, ["one", "two"]);
    assert_eq!(world.value("gtrace_otlp_sent", "logs"), 2.0);

    // What is refused for good keeps nothing behind it.
    collector.answer(Answer::Status(400, Vec::new()));
    world.publish("bad");
    world.round_after(1);
    world.publish("good");
    world.round_after(1);
    let requests: Vec<Request> = collector.requests.try_iter().collect();
    assert_eq!(
        requests.iter().flat_map(bodies).collect::<Vec<_>>(),
        ["bad", "good"]
    );
    assert_eq!(world.value("gtrace_otlp_dropped", "logs"), 1.0);
    // A collector that takes a part says how many it did not.
    let partial = ExportLogsServiceResponse {
        partial_success: Some(ExportLogsPartialSuccess {
            rejected_log_records: 1,
            error_message: "too old".to_owned(),
        }),
    };
    collector.answer(Answer::Status(200, partial.encode_to_vec()));
    world.publish("part");
    world.round_after(1);
    assert_eq!(world.value("gtrace_otlp_dropped", "logs"), 2.0);
    assert_eq!(collector.requests.try_iter().count(), 1);

    // Nobody is there: what finds no room in the queue is counted.
    world.sender.options.url = "http://127.0.0.1:1".parse().unwrap();
    world.sender.agent = None;
    for n in 0..QUEUE + 3 {
        world.publish(&n.to_string());
        if n % 100 == 0 {
            world.sender.take(&world.hub, &mut world.live);
        }
    }
    world.round_after(1);
    assert_eq!(
        world.value("gtrace_otlp_waiting_events", "logs"),
        QUEUE as f64
    );
    assert_eq!(world.value("gtrace_otlp_dropped", "logs"), 5.0);
    let token = Options {
        token_file: Some("/nonexistent/token".into()),
        ..world.sender.options.clone()
    };
    assert!(check(&token).unwrap_err().contains("otlp_token_file"));
}
