//! What `gtrace serve` of this host does, as `gtrace_remote_*`.

use std::fmt;

use gtrace_server::stats::{COARSE_BOUNDS_NS, Times};
use gtrace_server::{Counters, ServerStatus};
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

use super::{Family, Labels, encode};

/// Writes the families of a server.
pub(super) fn encode_server(
    status: &ServerStatus,
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    let totals = status.totals();
    let families = of_sessions(status)
        .into_iter()
        .chain(of_totals(&totals))
        .chain(of_operations(&totals));
    for family in families.filter(|family| !family.samples.is_empty()) {
        encode(&family, encoder)?;
    }
    histogram(
        encoder,
        "remote_queue",
        "Time between a frame's arrival and the start of its call",
        &totals.queue,
    )?;
    histogram(
        encoder,
        "remote_driver",
        "Time of remote calls in the driver",
        &totals.driver,
    )
}

fn of_sessions(status: &ServerStatus) -> [Family; 4] {
    let sessions = || status.sessions.iter().filter(|s| s.client.is_some());
    let labels = |session: &gtrace_server::SessionStatus| -> Labels {
        let client = session.client.clone().unwrap_or_default();
        vec![
            ("session", session.id.clone()),
            ("client", client.host),
            ("program", client.program),
            ("credential", client.credential.unwrap_or_default()),
        ]
    };
    families! {
        gauge "remote_sessions" [""] "Clients of gtrace serve" => value(sessions().count() as f64);
        gauge "remote_lanes" [""] "Their open lanes" =>
            values(sessions().map(|s| (labels(s), f64::from(s.stats.lanes))));
        gauge "remote_memory" ["bytes"] "Device memory that they allocated" =>
            values(sessions().map(|s| (labels(s), s.stats.memory as f64)));
        gauge "remote_calls_per_second" [""] "Their calls, over the last second" =>
            values(sessions().map(|s| (labels(s), s.calls_per_second)));
    }
}

fn of_totals(totals: &Counters) -> [Family; 16] {
    let refused = totals
        .refused
        .iter()
        .map(|(reason, count)| (vec![("reason", reason.clone())], *count as f64));
    families! {
        counter "remote_connections" [""] "Connections to gtrace serve" => value(totals.accepted as f64);
        counter "remote_refused" [""] "Those not let in, by reason" => values(refused);
        counter "remote_sessions_opened" [""] "Clients let in" => value(totals.sessions as f64);
        counter "remote_lanes_opened" [""] "Lanes let in" => value(totals.lanes as f64);
        counter "remote_credential_sessions" [""] "Clients let in, by the credential of which they are" =>
            values(totals.by_credential.iter().map(|(name, count)| (vec![("credential", name.clone())], *count as f64)));
        counter "remote_sessions_revoked" [""] "Clients ended because their credential was revoked or had expired" =>
            value(totals.sessions_revoked as f64);
        counter "remote_workers_failed" [""] "Workers that ended by a signal or an error" =>
            value(totals.workers_failed as f64);
        counter "remote_frames" [""] "Frames executed" => value(totals.frames as f64);
        counter "remote_received" ["bytes"] "Bytes of requests" => value(totals.bytes_in as f64);
        counter "remote_sent" ["bytes"] "Bytes of replies" => value(totals.bytes_out as f64);
        counter "remote_lanes_broken" [""] "Lanes closed because their client did not keep to the protocol" =>
            value(totals.lanes_broken as f64);
        counter "remote_rdma_refused" [""] "Times that RDMA was asked for and not agreed upon" =>
            value(totals.rdma_refused as f64);
        counter "remote_rdma_failovers" [""] "Times that a lane gave RDMA up for its connection" =>
            value(totals.failovers as f64);
        counter "remote_rdma_failbacks" [""] "Times that a lane took RDMA again" => value(totals.failbacks as f64);
        counter "remote_lanes_severed" [""] "Times that the connection of a lane broke" => value(totals.severed as f64);
        counter "remote_lanes_resumed" [""] "Times that another connection took its place" =>
            value(totals.resumed as f64);
    }
}

fn of_operations(totals: &Counters) -> [Family; 3] {
    let named = |value: fn(&gtrace_server::stats::OpStats) -> f64| -> Vec<(Labels, f64)> {
        totals
            .ops
            .values()
            .map(|op| (vec![("op", op.name.clone())], value(op)))
            .collect()
    };
    families! {
        counter "remote_calls" [""] "Remote calls by operation" => values(named(|op| op.driver.count as f64));
        counter "remote_call_errors" [""] "Remote calls that failed" => values(named(|op| op.errors as f64));
        counter "remote_call_time" ["seconds"] "Time of remote calls in the driver" =>
            values(named(|op| op.driver.sum_ns as f64 / 1e9));
    }
}

fn histogram(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    times: &Times,
) -> fmt::Result {
    let mut buckets: Vec<(f64, u64)> = COARSE_BOUNDS_NS
        .iter()
        .zip(times.coarse)
        .map(|(bound, count)| (*bound as f64 / 1e9, count))
        .collect();
    // Longer ones are in the last bucket.
    if let Some(last) = buckets.last_mut() {
        last.0 = f64::INFINITY;
    }
    let mut metric =
        encoder.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(times.sum_ns as f64 / 1e9, times.count, &buckets, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_server::stats::{OpStats, SessionStats};
    use gtrace_server::{Client, SessionStatus};
    use prometheus_client::collector::Collector;
    use prometheus_client::registry::Registry;

    #[derive(Debug)]
    struct Server(ServerStatus);

    impl Collector for Server {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
            encode_server(&self.0, &mut encoder)
        }
    }

    fn times() -> Times {
        let mut times = Times {
            count: 3,
            sum_ns: 5_000_000_000,
            ..Times::default()
        };
        times.coarse[0] = 2;
        times.coarse[12] = 1;
        times
    }

    #[test]
    fn a_server_is_counters_gauges_and_two_histograms() {
        let mut status = ServerStatus {
            sessions: vec![SessionStatus {
                id: "01020304".into(),
                client: Some(Client {
                    host: "laptop".into(),
                    program: "python3".into(),
                    credential: Some("token alice".into()),
                    ..Client::default()
                }),
                stats: SessionStats {
                    frames: 3,
                    lanes_broken: 5,
                    memory: 4096,
                    driver: times(),
                    ops: vec![OpStats {
                        name: "cuMemAlloc_v2".into(),
                        driver: times(),
                        ..OpStats::default()
                    }],
                    ..SessionStats::default()
                },
                ..SessionStatus::default()
            }],
            ..ServerStatus::default()
        };
        status.counters.frames = 4;
        status.counters.failovers = 2;
        status.counters.severed = 4;
        status.counters.resumed = 3;
        status.counters.rdma_refused = 3;
        status.counters.refused.insert("token".into(), 2);
        status.counters.sessions_revoked = 6;
        let by = &mut status.counters.by_credential;
        by.insert("token alice".into(), 7);
        let mut registry = Registry::with_prefix("gtrace");
        registry.register_collector(Box::new(Server(status)));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        for line in [
            "gtrace_remote_sessions 1.0",
            "gtrace_remote_frames_total 7.0",
            "gtrace_remote_rdma_failovers_total 2.0",
            "gtrace_remote_lanes_severed_total 4.0",
            "gtrace_remote_lanes_resumed_total 3.0",
            "gtrace_remote_rdma_refused_total 3.0",
            "gtrace_remote_lanes_broken_total 5.0",
            "gtrace_remote_refused_total{reason=\"token\"} 2.0",
            "gtrace_remote_sessions_revoked_total 6.0",
            "gtrace_remote_credential_sessions_total{credential=\"token alice\"} 7.0",
            "gtrace_remote_calls_total{op=\"cuMemAlloc_v2\"} 3.0",
            "gtrace_remote_call_time_seconds_total{op=\"cuMemAlloc_v2\"} 5.0",
            "gtrace_remote_driver_seconds_sum 5.0",
            "gtrace_remote_driver_seconds_count 3",
            "gtrace_remote_driver_seconds_bucket{le=\"+Inf\"} 3",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
        let memory = "gtrace_remote_memory_bytes{session=\"01020304\",client=\"laptop\"";
        assert!(text.contains(memory), "{text}");
        assert!(
            text.contains("program=\"python3\",credential=\"token alice\"}"),
            "{text}"
        );
    }
}
