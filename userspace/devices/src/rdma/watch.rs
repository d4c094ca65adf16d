//! What happens to ports, from one reading to the next.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{Kind, Occurrence, PortChange, Provenance, Severity, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::known::{Known, SAME_RATE, occurrence, seen};
use super::metrics;
use super::port::{RdmaPort, rdma_ports};
use crate::{Metric, Observed, SysRoot};

/// Readings in a row that must find too few ports: at the start of a host links need a moment.
const TOO_FEW: u32 = 2;

/// What the configuration expects of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RdmaExpected {
    /// Ports that are to be active, others are surplus; `None`: those that were found active.
    pub ports: Option<u32>,
    /// Their least rate, 10^9 bits a second, a surplus port's is its own; `None`: the highest that each was found with.
    pub rate_gbps: Option<f64>,
}

/// How the ports of the host stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RdmaState {
    /// There is no RDMA device, none is expected and none was there.
    #[default]
    Absent,
    /// All that are expected are active at their rate.
    Healthy,
    /// They are active, and slow, flapping or counting errors.
    Degraded,
    /// One that is expected is not active.
    Unhealthy,
}

/// The health of the host's RDMA ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RdmaHealth {
    /// All together.
    pub state: RdmaState,
    /// Why it is not healthy, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reasons: Vec<String>,
    /// Ports that are expected to be active.
    pub expected_ports: u32,
    /// Of all ports, those that are active.
    pub active_ports: u32,
    /// Every port that is there.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ports: Vec<RdmaPort>,
}

/// What a look found.
#[derive(Clone, Debug, Default)]
pub struct RdmaReport {
    /// What happened since the look before.
    pub events: Vec<Observed>,
    /// How it stands.
    pub health: RdmaHealth,
}

type Place = (String, u32);

/// Watches the ports. The first look learns which are active and how fast, and tells nothing but what contradicts the
/// configuration.
#[derive(Debug)]
pub struct RdmaWatch {
    root: SysRoot,
    expected: RdmaExpected,
    ports: BTreeMap<Place, Known>,
    /// Looks in a row that found too few ports; told at [`TOO_FEW`].
    too_few: u32,
}

impl RdmaWatch {
    /// Of the sysfs at `root`.
    pub fn new(root: SysRoot, expected: RdmaExpected) -> Self {
        Self {
            root,
            expected,
            ports: BTreeMap::new(),
            too_few: 0,
        }
    }

    /// Reads all ports and compares them with the look before; `now` is not before that.
    pub fn look(&mut self, now: Timestamp) -> RdmaReport {
        let ports = rdma_ports(&self.root);
        let mut events = Vec::new();
        self.judge_lost(&ports, &mut events);
        let expected = (self.expected, self.enough(&ports));
        for port in &ports {
            let place = (port.device.clone(), port.port);
            let known = self.ports.entry(place).or_insert_with(|| Known::new(port));
            known.observe(port, now, expected, &mut events);
        }
        self.judge_number(&ports, &mut events);
        RdmaReport {
            events,
            health: self.health(ports, now),
        }
    }

    /// Every port that is there now, as metrics, and whether all is well.
    pub fn metrics(health: &RdmaHealth) -> Vec<Metric> {
        if health.state == RdmaState::Absent {
            return Vec::new();
        }
        let mut metrics = metrics::metrics(&health.ports);
        metrics.push(Metric {
            name: "gtrace_rdma_healthy",
            help: "Whether all RDMA ports that are expected are active, at their rate and without errors",
            unit: "",
            kind: crate::MetricKind::Gauge,
            labels: Vec::new(),
            value: f64::from(u8::from(health.state == RdmaState::Healthy)),
        });
        metrics
    }

    /// One event a device, whatever ports it had.
    fn judge_lost(&mut self, now: &[RdmaPort], events: &mut Vec<Observed>) {
        let here: BTreeSet<&str> = now.iter().map(|port| port.device.as_str()).collect();
        let mut told: BTreeSet<String> = BTreeSet::new();
        for ((device, _), known) in &mut self.ports {
            let port_is_here = now
                .iter()
                .any(|p| p.device == *device && p.port == known.last.port);
            if known.gone || port_is_here {
                continue;
            }
            known.gone = true;
            if here.contains(device.as_str()) || !told.insert(device.clone()) {
                continue;
            }
            let text = format!("the RDMA device {device} is gone");
            let severity = match known.expected {
                true => Severity::Critical,
                false => Severity::Warning,
            };
            let mut event = occurrence(Kind::RdmaLost, severity, text, &known.last);
            event.detail.rdma.rdma_port = None;
            events.push(seen(event, 1));
        }
    }

    fn judge_number(&mut self, ports: &[RdmaPort], events: &mut Vec<Observed>) {
        let Some(expected) = self.expected.ports else {
            return;
        };
        let active = self.active(ports);
        let mut tell = |severity, change, text: String| {
            let mut event = Occurrence::new(Kind::RdmaPort, severity, text);
            event.provenance = Provenance::Kernel;
            event.detail.rdma.port_change = Some(change);
            event.detail.rdma.active_ports = Some(active);
            event.detail.rdma.expected_ports = Some(expected);
            event.detail.rdma.expected_rate_gbps = self.expected.rate_gbps;
            events.push(seen(event, 1));
        };
        if active >= expected {
            if self.too_few >= TOO_FEW {
                let text = "as many RDMA ports are active again as the configuration expects";
                tell(Severity::Info, PortChange::Enough, text.into());
            }
            self.too_few = 0;
            return;
        }
        self.too_few = self.too_few.saturating_add(1);
        if self.too_few == TOO_FEW {
            let text = "fewer RDMA ports are active than the configuration expects";
            tell(Severity::Critical, PortChange::TooFew, text.into());
        }
    }

    /// Ports that are active, at the configured rate if there is one.
    fn active(&self, ports: &[RdmaPort]) -> u32 {
        let fast = |port: &&RdmaPort| match (self.expected.rate_gbps, port.rate_gbps) {
            (Some(least), Some(rate)) => rate >= least * SAME_RATE,
            (Some(_), None) => false,
            (None, _) => true,
        };
        let active = ports.iter().filter(|port| port.active).filter(fast).count();
        u32::try_from(active).unwrap_or(u32::MAX)
    }

    /// Whether as many ports as the configuration expects are active: which of the others should be, nobody says.
    fn enough(&self, ports: &[RdmaPort]) -> bool {
        let expected = self.expected.ports;
        expected.is_some_and(|expected| self.active(ports) >= expected)
    }

    fn health(&self, ports: Vec<RdmaPort>, now: Timestamp) -> RdmaHealth {
        let (mut down, mut ill) = (Vec::new(), Vec::new());
        let enough = self.enough(&ports);
        for known in self.ports.values() {
            if enough && (known.gone || !known.last.active) {
                continue;
            }
            let name = known.last.name();
            if known.gone {
                if known.expected {
                    down.push(format!("{name} is gone"));
                }
                continue;
            }
            if known.expected && !known.last.active {
                let physical = known.last.physical_state.as_deref().unwrap_or("unknown");
                down.push(format!("{name} is {} ({physical})", known.last.state));
            }
            if let Some(rate) = known.slow {
                ill.push(format!("{name} runs at {rate} Gb/s"));
            }
            if known.flapping {
                ill.push(format!("{name} is flapping"));
            }
            for (counter, window) in &known.errors {
                if window.is_in_trouble(now) {
                    ill.push(format!("{name} has counted {counter} within the last hour"));
                }
            }
            ill.extend(known.blind());
        }
        let active_ports = self.active(&ports);
        let learnt = self.ports.values().filter(|known| known.expected).count();
        let expected_ports = self
            .expected
            .ports
            .unwrap_or_else(|| u32::try_from(learnt).unwrap_or(u32::MAX));
        if self
            .expected
            .ports
            .is_some_and(|expected| active_ports < expected)
        {
            down.push(format!(
                "{active_ports} of {expected_ports} expected ports are active"
            ));
        }
        let state = match (down.is_empty(), ill.is_empty()) {
            (false, _) => RdmaState::Unhealthy,
            (true, false) => RdmaState::Degraded,
            (true, true) if ports.is_empty() => RdmaState::Absent,
            (true, true) => RdmaState::Healthy,
        };
        down.extend(ill);
        RdmaHealth {
            state,
            reasons: down,
            expected_ports,
            active_ports,
            ports,
        }
    }
}
