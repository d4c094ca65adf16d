//! What happens to ports, from one reading to the next.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{Kind, Occurrence, PortChange, Provenance, Severity, Timestamp};

use super::known::{Known, SAME_RATE, Wanted, occurrence, seen};
use super::metrics;
use super::port::{self, PortReading, RdmaExpected, RdmaPort};
use crate::reads::{DEADLINE, Reading, Reads};
use crate::{Metric, Observed, SysRoot};

/// Readings in a row that must find too few ports: at the start of a host links need a moment.
const TOO_FEW: u32 = 2;

/// How the ports of the host stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RdmaHealth {
    /// All together.
    pub state: RdmaState,
    /// Why it is not healthy, a line each.
    pub reasons: Vec<String>,
    /// Ports that are expected to be active.
    pub expected_ports: u32,
    /// Of all ports, those that are active.
    pub active_ports: u32,
    /// Every port that was read.
    pub ports: Vec<RdmaPort>,
    /// Devices whose reading did not end within its deadline, and ports that could not be read. Of these nothing is known now.
    pub unanswered: Vec<String>,
}

/// What a poll found.
#[derive(Clone, Debug, Default)]
pub struct RdmaReport {
    /// What happened since the previous poll.
    pub events: Vec<Observed>,
    /// What is well, where it was not seen to become so: once each, as after a start. It is news only for who knows
    /// otherwise, as a daemon that was restarted may.
    pub standing: Vec<Observed>,
    /// How it stands.
    pub health: RdmaHealth,
}

type Place = (String, u32);

/// Watches the ports. The first poll learns which are active and how fast, and reports only what contradicts the
/// configuration.
#[derive(Debug)]
pub struct RdmaWatch {
    root: SysRoot,
    expected: RdmaExpected,
    ports: BTreeMap<Place, Known>,
    /// Polls in a row that found too few ports; reported at [`TOO_FEW`].
    too_few: u32,
    /// There were enough once.
    were_enough: bool,
    reads: Reads<String, Vec<PortReading>>,
    /// Devices that did not answer the newest poll.
    unanswered: Vec<String>,
    /// Ports of others that it could not read, and why.
    unread: BTreeMap<Place, String>,
}

impl RdmaWatch {
    /// Of the sysfs at `root`.
    pub fn new(root: SysRoot, expected: RdmaExpected) -> Self {
        Self {
            root,
            expected,
            ports: BTreeMap::new(),
            too_few: 0,
            were_enough: false,
            reads: Reads::new(DEADLINE),
            unanswered: Vec::new(),
            unread: BTreeMap::new(),
        }
    }

    /// Reads all ports and compares them with the previous poll; `now` is not before that.
    pub fn poll_now(&mut self, now: Timestamp) -> RdmaReport {
        let ports = self.read();
        let (mut events, mut standing) = (Vec::new(), Vec::new());
        self.judge_lost(&ports, &mut events);
        let active = ports.iter().filter(|port| port.active);
        let rates = active.filter_map(|port| port.rate_gbps);
        let wanted = Wanted {
            expected: self.expected,
            enough: self.enough(&ports),
            fastest: rates.fold(0.0, f64::max),
        };
        for port in &ports {
            let place = (port.device.clone(), port.port);
            let known = self.ports.entry(place).or_insert_with(|| Known::new(port));
            known.observe(port, now, wanted, &mut events, &mut standing);
        }
        self.judge_number(&ports, &mut events, &mut standing);
        RdmaReport {
            events,
            standing,
            health: self.health(ports, now),
        }
    }

    /// Every port that can be read.
    fn read(&mut self) -> Vec<RdmaPort> {
        let root = &self.root;
        let readings = self.reads.all(port::devices(root), |device| {
            let (root, device) = (root.clone(), device.clone());
            move || port::ports(&root, &device)
        });
        self.unanswered.clear();
        self.unread.clear();
        let mut ports = Vec::new();
        for (device, reading) in readings {
            let Reading::Done(of_device) = reading else {
                self.unanswered.push(device);
                continue;
            };
            for port in of_device {
                match port {
                    Ok(port) => ports.push(port),
                    Err((port, error)) => {
                        let place = (device.clone(), port);
                        self.unread.insert(place, error.to_string());
                    }
                }
            }
        }
        ports
    }

    /// Whether the newest poll says nothing of a port.
    fn is_unknown(&self, place: &Place) -> bool {
        self.unanswered.contains(&place.0) || self.unread.contains_key(place)
    }

    /// Every port that is there now, as metrics, and whether all is well.
    pub fn metrics(health: &RdmaHealth) -> Vec<Metric> {
        if health.state == RdmaState::Absent {
            return Vec::new();
        }
        let healthy = u32::from(health.state == RdmaState::Healthy);
        let of_host = [
            (
                "gtrace_rdma_healthy",
                "Whether all RDMA ports that are expected are active, at their rate and without errors",
                healthy,
            ),
            (
                "gtrace_rdma_active_ports",
                "RDMA ports that are active, at the configured rate if there is one",
                health.active_ports,
            ),
            (
                "gtrace_rdma_expected_ports",
                "RDMA ports that are expected to be active",
                health.expected_ports,
            ),
        ];
        let of_host = of_host
            .into_iter()
            .map(|(name, help, value)| Metric::gauge((name, ""), help, f64::from(value)));
        let mut metrics = metrics::metrics(&health.ports);
        metrics.extend(of_host);
        metrics
    }

    /// One event a device, whatever ports it had.
    fn judge_lost(&mut self, now: &[RdmaPort], events: &mut Vec<Observed>) {
        let mut here: BTreeSet<&str> = now.iter().map(|port| port.device.as_str()).collect();
        here.extend(self.unread.keys().map(|(device, _)| device.as_str()));
        let mut reported: BTreeSet<String> = BTreeSet::new();
        for (place, known) in &mut self.ports {
            let device = &place.0;
            let port_is_here = now
                .iter()
                .any(|p| p.device == *device && p.port == known.last.port);
            let is_unknown = self.unanswered.contains(device) || self.unread.contains_key(place);
            if known.gone || port_is_here || is_unknown {
                continue;
            }
            known.gone = true;
            if here.contains(device.as_str()) || !reported.insert(device.clone()) {
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

    fn judge_number(
        &mut self,
        ports: &[RdmaPort],
        events: &mut Vec<Observed>,
        standing: &mut Vec<Observed>,
    ) {
        let Some(expected) = self.expected.ports else {
            return;
        };
        let active = self.active(ports);
        let enough = self.enough(ports);
        if !(enough || self.unanswered.is_empty() && self.unread.is_empty()) {
            return;
        }
        let event = |severity, change, text: &str| {
            let mut event = Occurrence::new(Kind::RdmaPort, severity, text);
            event.provenance = Provenance::Kernel;
            event.detail.rdma.port_change = Some(change);
            event.detail.rdma.active_ports = Some(active);
            event.detail.rdma.expected_ports = Some(expected);
            event.detail.rdma.expected_rate_gbps = self.expected.rate_gbps;
            seen(event, 1)
        };
        if enough {
            let text = "as many RDMA ports are active again as the configuration expects";
            let event = event(Severity::Info, PortChange::Enough, text);
            if self.too_few >= TOO_FEW {
                events.push(event);
            } else if !self.were_enough {
                standing.push(event);
            }
            (self.too_few, self.were_enough) = (0, true);
            return;
        }
        self.too_few = self.too_few.saturating_add(1);
        if self.too_few == TOO_FEW {
            let text = "fewer RDMA ports are active than the configuration expects";
            events.push(event(Severity::Critical, PortChange::TooFew, text));
        }
    }

    /// Ports that are active, at the configured rate if there is one.
    fn active<'a>(&self, ports: impl IntoIterator<Item = &'a RdmaPort>) -> u32 {
        let fast = |port: &&RdmaPort| match (self.expected.rate_gbps, port.rate_gbps) {
            (Some(least), Some(rate)) => rate >= least * SAME_RATE,
            (Some(_), None) => false,
            (None, _) => true,
        };
        let active = ports.into_iter().filter(|port| port.active).filter(fast);
        let active = active.count();
        u32::try_from(active).unwrap_or(u32::MAX)
    }

    /// Whether as many ports as the configuration expects are active: nothing defines which of the others should be.
    /// Those of which nothing is known now count as they were.
    fn enough(&self, ports: &[RdmaPort]) -> bool {
        let unknown = self
            .ports
            .iter()
            .filter(|(place, known)| self.is_unknown(place) && !known.gone);
        let active = self.active(ports.iter().chain(unknown.map(|(_, known)| &known.last)));
        self.expected
            .ports
            .is_some_and(|expected| active >= expected)
    }

    fn health(&self, ports: Vec<RdmaPort>, now: Timestamp) -> RdmaHealth {
        let (mut down, mut ill) = (Vec::new(), Vec::new());
        let enough = self.enough(&ports);
        for (place, known) in &self.ports {
            if self.is_unknown(place) {
                continue;
            }
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
            if known.flapping_reported.is_some() {
                ill.push(format!("{name} is flapping"));
            }
            for (counter, window) in &known.errors {
                if window.is_in_trouble(now) {
                    ill.push(format!("{name} has counted {counter} within the last hour"));
                }
            }
            ill.extend(known.saturated());
        }
        let text = "does not answer a reading of its ports and is left alone, with back-off";
        let mut unanswered = self.unanswered.clone();
        ill.extend(unanswered.iter().map(|device| format!("{device} {text}")));
        for ((device, port), why) in &self.unread {
            let name = format!("{device} port {port}");
            ill.push(format!("{name} cannot be read: {why}"));
            unanswered.push(name);
        }
        let active_ports = self.active(&ports);
        let learnt = self.ports.values().filter(|known| known.expected).count();
        let expected_ports = self
            .expected
            .ports
            .unwrap_or_else(|| u32::try_from(learnt).unwrap_or(u32::MAX));
        if self.expected.ports.is_some() && !enough && unanswered.is_empty() {
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
            unanswered,
        }
    }
}
