use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which port of which RDMA device (InfiniBand, RoCE), and how it stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RdmaDetail {
    /// Its name in /sys/class/infiniband: `mlx5_0`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rdma_device: Option<String>,
    /// The port, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rdma_port: Option<u32>,
    /// What happened to the port.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port_change: Option<PortChange>,
    /// Logical state, in the kernel's words: `ACTIVE`, `INIT`, `DOWN`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port_state: Option<String>,
    /// Physical state, in the kernel's words: `LinkUp`, `Polling`, `Disabled`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub physical_state: Option<String>,
    /// `InfiniBand`, or `Ethernet` for RoCE.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub link_layer: Option<String>,
    /// Network interface of the port.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub network_interface: Option<String>,
    /// Speed of the link, 10^9 bits a second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_gbps: Option<f64>,
    /// What it is expected to be: as configured, else the highest that was seen; 10^9 bits a second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_rate_gbps: Option<f64>,
    /// Ports of the host that are active at the expected rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub active_ports: Option<u32>,
    /// Ports that are expected to be.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_ports: Option<u32>,
    /// Name of the counter's file in sysfs: `symbol_error`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port_counter: Option<String>,
}

fill_fields!(RdmaDetail {
    rdma_device,
    rdma_port,
    port_change,
    port_state,
    physical_state,
    link_layer,
    network_interface,
    rate_gbps,
    expected_rate_gbps,
    active_ports,
    expected_ports,
    port_counter
});

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
