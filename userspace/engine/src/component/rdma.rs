//! RDMA ports: the thread `devices` reads them and keeps here what it found.

use std::sync::Mutex;

use gtrace_api::{ComponentHealth, HealthState, SourceState};
use gtrace_devices::{RdmaHealth, RdmaState};
use gtrace_event::WitnessName;

use super::{About, Component, Context, Snapshot};
use crate::lock::lock;
use crate::supervise::{self, names};

/// The ports as they were read last; `None` before.
#[derive(Debug, Default)]
pub struct Ports(Mutex<Option<RdmaHealth>>);

impl Ports {
    /// Keeps a reading, unless another thread has taken the place of the calling one.
    pub fn set(&self, health: RdmaHealth) {
        if !supervise::is_revoked() {
            *lock(&self.0) = Some(health);
        }
    }
}

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct Rdma;

impl Component for Rdma {
    fn about(&self) -> About {
        About {
            name: WitnessName::SysfsRdma.name(),
            gives: "InfiniBand and RoCE ports: state, rate, link errors, retransmissions, devices that vanish",
            needs: "RDMA devices in /sys/class/infiniband, and pci_interval_s above 0",
            remedy: "load the adapter's RDMA driver (mlx5_ib), or switch this source off",
            task: names::DEVICES,
        }
    }

    fn witness(&self) -> Option<WitnessName> {
        Some(WitnessName::SysfsRdma)
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        let ports = lock(&context.rdma.0);
        let state = match ports.as_ref().map(|ports| ports.state) {
            None | Some(RdmaState::Absent) => {
                let reason = "the ports were not read yet".to_owned();
                return ComponentHealth::now(HealthState::Unknown, [reason]);
            }
            Some(RdmaState::Healthy) => HealthState::Healthy,
            Some(RdmaState::Degraded) => HealthState::Degraded,
            Some(RdmaState::Unhealthy) => HealthState::Unhealthy,
        };
        let reasons = ports.iter().flat_map(|ports| ports.reasons.iter().cloned());
        ComponentHealth::now(state, reasons)
    }
}

/// How the source stands: that it sees ports, whatever it sees of them.
pub fn source(health: &RdmaHealth) -> (SourceState, Option<String>) {
    match health.state {
        RdmaState::Absent => (
            SourceState::Absent,
            Some("this host has no RDMA device".to_owned()),
        ),
        _ if !health.unanswered.is_empty() => (SourceState::Degraded, Some(summary(health))),
        _ => (SourceState::Active, Some(summary(health))),
    }
}

/// The health of the ports in a line: `unhealthy, 1 of 2 ports active: mlx5_1 port 1 is DOWN (Polling)`.
pub fn summary(health: &RdmaHealth) -> String {
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
