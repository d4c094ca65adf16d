//! Ports as metrics.

use super::counters::{CounterClass, PORT_COUNTERS};
use super::port::RdmaPort;
use crate::Metric;

/// `port_xmit_data` and `port_rcv_data` count words of four bytes.
const WORD: f64 = 4.0;

struct Family {
    name: &'static str,
    help: &'static str,
    unit: &'static str,
    read: fn(&RdmaPort) -> Option<f64>,
}

const GAUGES: [Family; 4] = [
    Family {
        name: "gtrace_rdma_port_active",
        help: "Whether traffic can flow through the port of an RDMA device",
        unit: "",
        read: |port| Some(f64::from(u8::from(port.active))),
    },
    Family {
        name: "gtrace_rdma_port_link_up",
        help: "Whether the physical link of the port is up",
        unit: "",
        read: |port| {
            let up = port.physical_state.as_deref()? == "LinkUp";
            Some(f64::from(u8::from(up)))
        },
    },
    Family {
        name: "gtrace_rdma_port_rate_bits_per_second",
        help: "Speed of the port's link",
        unit: "bits_per_second",
        read: |port| Some(port.rate_gbps? * 1e9),
    },
    Family {
        name: "gtrace_rdma_port_lanes",
        help: "Lanes of the port's link",
        unit: "",
        read: |port| port.lanes.map(f64::from),
    },
];

fn labels(port: &RdmaPort) -> Vec<(&'static str, String)> {
    let mut labels = vec![
        ("device", port.device.clone()),
        ("port", port.port.to_string()),
    ];
    labels.extend(port.link_layer.clone().map(|layer| ("link_layer", layer)));
    labels
}

/// Families one after the other.
pub(super) fn metrics(ports: &[RdmaPort]) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for family in GAUGES {
        metrics.extend(ports.iter().filter_map(|port| {
            let named = (family.name, family.unit);
            let metric = Metric::gauge(named, family.help, (family.read)(port)?);
            Some(metric.with(labels(port)))
        }));
    }
    let of = |name, help, unit, label: Option<&'static str>, classes: &[CounterClass], factor| {
        let mut metrics = Vec::new();
        for port in ports {
            let wanted = PORT_COUNTERS.iter().filter(|c| classes.contains(&c.class));
            for counter in wanted {
                let Some(value) = port.counters.get(counter.file) else {
                    continue;
                };
                let mut labels = labels(port);
                labels.extend(label.map(|label| (label, counter.file.to_owned())));
                let value = *value as f64 * factor;
                metrics.push(Metric::counter((name, unit), help, value).with(labels));
            }
        }
        metrics
    };
    let data = |file: &'static str| -> Vec<(&RdmaPort, u64)> {
        let value = |port: &RdmaPort| port.counters.get(file).copied();
        ports.iter().filter_map(|p| Some((p, value(p)?))).collect()
    };
    for (name, help, file) in [
        (
            "gtrace_rdma_port_transmitted_bytes",
            "Bytes that the port has sent",
            "port_xmit_data",
        ),
        (
            "gtrace_rdma_port_received_bytes",
            "Bytes that the port has received",
            "port_rcv_data",
        ),
    ] {
        metrics.extend(data(file).into_iter().map(|(port, words)| {
            Metric::counter((name, "bytes"), help, words as f64 * WORD).with(labels(port))
        }));
    }
    metrics.extend(of(
        "gtrace_rdma_port_link_downed",
        "How often the port's link went down",
        "",
        None,
        &[CounterClass::LinkDowned],
        1.0,
    ));
    metrics.extend(of(
        "gtrace_rdma_port_errors",
        "Errors of the port's link, and packets thrown away, by the kernel's name of the counter",
        "",
        Some("counter"),
        &[CounterClass::Link, CounterClass::Discards],
        1.0,
    ));
    metrics.extend(of(
        "gtrace_rdma_port_retransmissions",
        "Packets that had to be sent again, and connections that broke of it, by the kernel's name of the counter",
        "",
        Some("counter"),
        &[CounterClass::Retransmissions, CounterClass::GaveUp],
        1.0,
    ));
    metrics
}
