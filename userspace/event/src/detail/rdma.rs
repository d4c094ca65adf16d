use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
    /// Which port of which RDMA device (InfiniBand, RoCE), and how it stands.
    RdmaDetail {
        /// Its name in /sys/class/infiniband: `mlx5_0`.
        rdma_device: Option<String>,
        /// The port, from 1.
        rdma_port: Option<u32>,
        /// What happened to the port.
        port_change: Option<PortChange>,
        /// Logical state, in the kernel's words: `ACTIVE`, `INIT`, `DOWN`.
        port_state: Option<String>,
        /// Physical state, in the kernel's words: `LinkUp`, `Polling`, `Disabled`.
        physical_state: Option<String>,
        /// `InfiniBand`, or `Ethernet` for RoCE.
        link_layer: Option<String>,
        /// Network interface of the port.
        network_interface: Option<String>,
        /// Speed of the link, 10^9 bits a second.
        rate_gbps: Option<f64>,
        /// What it is expected to be: as configured, else the highest that was seen; 10^9 bits a second.
        expected_rate_gbps: Option<f64>,
        /// Ports of the host that are active at the expected rate.
        active_ports: Option<u32>,
        /// Ports that are expected to be.
        expected_ports: Option<u32>,
        /// Name of the counter's file in sysfs: `symbol_error`.
        port_counter: Option<String>,
    }
}

/// What happened to a port, or to the ports of the host together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PortChange {
    /// It was active and is not any more.
    Down,
    /// It is active again.
    Up,
    /// It was down and up again between two readings: its counter of such ends rose.
    Bounced,
    /// It went down several times within minutes.
    Flapping,
    /// It is active, and slower than expected.
    Slow,
    /// It is as fast as expected again.
    FullSpeed,
    /// Fewer ports are active than the configuration expects.
    TooFew,
    /// As many as expected are active again.
    Enough,
}
