//! RDMA ports: what the configuration expects of them, and their health for people.

use gtrace_devices::{RdmaExpected, RdmaHealth, RdmaState};

use crate::config::Config;
use crate::hub::SourceState;

/// What the configuration expects of RDMA ports.
pub(crate) fn rdma_expected(config: &Config) -> RdmaExpected {
    RdmaExpected {
        ports: config.rdma.0,
        rate_gbps: config.rdma.1.map(f64::from),
    }
}

/// How the source stands: that it sees ports, whatever it sees of them.
pub(crate) fn rdma_source(health: &RdmaHealth) -> (SourceState, Option<String>) {
    match health.state {
        RdmaState::Absent => (
            SourceState::Absent,
            Some("this host has no RDMA device".to_owned()),
        ),
        _ => (SourceState::Active, Some(rdma_summary(health))),
    }
}

/// The health of the ports in a line: `unhealthy, 1 of 2 ports active: mlx5_1 port 1 is DOWN (Polling)`.
pub(crate) fn rdma_summary(health: &RdmaHealth) -> String {
    let state = match health.state {
        RdmaState::Absent => return "no RDMA device".to_owned(),
        RdmaState::Healthy => "healthy",
        RdmaState::Degraded => "DEGRADED",
        RdmaState::Unhealthy => "UNHEALTHY",
    };
    let (active, expected) = (health.active_ports, health.expected_ports);
    let mut line = format!("{state}, {active} ports active of {expected} expected");
    if !health.reasons.is_empty() {
        line.push_str(": ");
        line.push_str(&health.reasons.join("; "));
    }
    line
}
