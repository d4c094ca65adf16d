//! A port from one reading to the next.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use gtrace_event::{Kind, Occurrence, PortChange, Provenance, Severity, Timestamp, WitnessName};

use super::counters::{CounterClass, PORT_COUNTERS, PortCounter};
use super::port::{RdmaExpected, RdmaPort};
use crate::Observed;

/// So many ends of a link within [`FLAPPING_WITHIN`] are flapping.
const FLAPPING: usize = 3;
const FLAPPING_WITHIN: Duration = Duration::from_secs(600);
/// A port that goes on flapping is reported again after so long: health takes it for over after an hour without.
const FLAPPING_AGAIN: Duration = Duration::from_secs(1800);
/// Over what time counters are judged.
const HOUR: Duration = Duration::from_secs(3600);
/// Readings kept of a counter in that time, however often it is read.
const READINGS: u64 = 512;
const APART: Duration = Duration::from_millis(3_600_000 / READINGS);
/// Rates within a thousandth of each other are the same.
pub(super) const SAME_RATE: f64 = 0.999;

/// What a reading of a port is judged by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) expected: RdmaExpected,
    /// As many ports as the configuration expects are active at its rate.
    pub(super) enough: bool,
    /// Rate of the host's fastest active port. Without a configured rate, one that is slower may have been faster before
    /// it was first seen.
    pub(super) fastest: f64,
}

/// A port that is or was there.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) last: RdmaPort,
    /// It was active once.
    pub(super) expected: bool,
    /// Highest rate that it was active with.
    best_gbps: Option<f64>,
    /// It never had the configured rate, and there were as many ports as are expected without it.
    surplus: bool,
    pub(super) gone: bool,
    /// When its link ended, as far as that counts for flapping.
    ends: VecDeque<Timestamp>,
    /// When it was last reported to flap, while it does.
    pub(super) flapping_reported: Option<Timestamp>,
    /// The rate that was reported as too slow.
    pub(super) slow: Option<f64>,
    /// That it is as fast as it should be was given once.
    full_speed: bool,
    pub(super) errors: BTreeMap<&'static str, Window>,
}

/// A counter over the last hour.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Oldest first, each [`APART`] from the one before.
    readings: VecDeque<(Timestamp, u64)>,
    newest: Option<u64>,
    /// When it last rose and was above its limit.
    above: Option<Timestamp>,
    /// When that was last reported.
    reported: Option<Timestamp>,
}

impl Window {
    /// Takes a reading; what the counter was within the hour and by how much it rose since, if it rose now, that is above
    /// `limit`, and is to be reported: each time, or once an hour. Then counting starts anew.
    fn observe(
        &mut self,
        now: Timestamp,
        value: u64,
        limit: u64,
        each_time: bool,
    ) -> Option<(u64, u64)> {
        let newest = self.newest.replace(value);
        if newest.is_some_and(|newest| value < newest) {
            // Reset, by somebody or with the driver: all of it is new.
            self.readings.clear();
            self.readings.push_back((now, 0));
        }
        while self
            .readings
            .get(1)
            .is_some_and(|(time, _)| between(*time, now) >= HOUR)
        {
            self.readings.pop_front();
        }
        let oldest = self.readings.front().map_or(value, |(_, value)| *value);
        if self
            .readings
            .back()
            .is_none_or(|(time, _)| between(*time, now) >= APART)
        {
            self.readings.push_back((now, value));
        }
        let rose = value.saturating_sub(oldest);
        if rose <= limit || newest == Some(value) {
            return None;
        }
        self.above = Some(now);
        if !each_time
            && self
                .reported
                .is_some_and(|reported| between(reported, now) < HOUR)
        {
            return None;
        }
        self.reported = Some(now);
        self.readings.clear();
        self.readings.push_back((now, value));
        Some((oldest, rose))
    }

    pub(super) fn is_in_trouble(&self, now: Timestamp) -> bool {
        self.above.is_some_and(|above| between(above, now) < HOUR)
    }
}

fn between(before: Timestamp, now: Timestamp) -> Duration {
    now.duration_since(before).unsigned_abs()
}

impl Known {
    /// A port that was not seen before.
    pub(super) fn new(port: &RdmaPort) -> Self {
        Self {
            last: port.clone(),
            ..Self::default()
        }
    }

    /// Takes a reading. What is well and was not seen to become so goes to `standing`.
    pub(super) fn observe(
        &mut self,
        port: &RdmaPort,
        now: Timestamp,
        wanted: Wanted,
        events: &mut Vec<Observed>,
        standing: &mut Vec<Observed>,
    ) {
        let was_gone = std::mem::take(&mut self.gone);
        let was_active = self.last.active && !was_gone;
        let downed = self.downed(port);
        if was_gone {
            // What it counted is another device's.
            self.errors.clear();
            self.last.counters.clear();
            (self.slow, self.full_speed) = (None, false);
        }
        let name = port.name();
        if was_active && !port.active {
            let text = format!("{name} went down");
            events.push(change(Severity::Critical, PortChange::Down, text, port));
            self.ends.push_back(now);
        } else if !was_active && port.active && self.expected {
            let text = format!("{name} is active again");
            events.push(change(Severity::Info, PortChange::Up, text, port));
        } else if port.active && !self.expected {
            let text = format!("{name} is active again");
            standing.push(change(Severity::Info, PortChange::Up, text, port));
        } else if was_active && port.active && downed > 0 {
            let text = format!("{name} went down and came up again");
            let mut event = change(Severity::Warning, PortChange::Bounced, text, port);
            event.count = downed;
            event.occurrence.detail.rdma.port_counter = Some("link_downed".into());
            events.push(event);
            let times = usize::try_from(downed).unwrap_or(FLAPPING).min(FLAPPING);
            self.ends.extend(std::iter::repeat_n(now, times));
        }
        self.judge_flapping(port, now, events);
        if port.active {
            self.expected = true;
            self.judge_rate(port, wanted, events, standing);
        }
        for counter in &PORT_COUNTERS {
            self.judge_counter(port, counter, now, events);
        }
        self.last = port.clone();
    }

    /// By how much the count of the link's ends rose.
    fn downed(&self, port: &RdmaPort) -> u64 {
        let count = |port: &RdmaPort| port.counters.get("link_downed").copied();
        match (count(&self.last), count(port)) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => 0,
        }
    }

    fn judge_flapping(&mut self, port: &RdmaPort, now: Timestamp, events: &mut Vec<Observed>) {
        while self
            .ends
            .front()
            .is_some_and(|end| between(*end, now) > FLAPPING_WITHIN)
        {
            self.ends.pop_front();
        }
        let is_due = |reported| between(reported, now) >= FLAPPING_AGAIN;
        if self.ends.len() >= FLAPPING && self.flapping_reported.is_none_or(is_due) {
            self.flapping_reported = Some(now);
            let text = format!("{} is flapping", port.name());
            let mut event = change(Severity::Critical, PortChange::Flapping, text, port);
            event.occurrence.detail.sample.value = Some(self.ends.len() as f64);
            event.occurrence.detail.sample.limit = Some(FLAPPING as f64 - 1.0);
            events.push(event);
        } else if self.ends.is_empty() {
            self.flapping_reported = None;
        }
    }

    fn judge_rate(
        &mut self,
        port: &RdmaPort,
        wanted: Wanted,
        events: &mut Vec<Observed>,
        standing: &mut Vec<Observed>,
    ) {
        let Wanted {
            expected,
            enough,
            fastest,
        } = wanted;
        let Some(rate) = port.rate_gbps else { return };
        let best = self.best_gbps.map_or(rate, |best| best.max(rate));
        self.best_gbps = Some(best);
        let slower = |wanted: &f64| best < wanted * SAME_RATE;
        self.surplus = (enough || self.surplus) && expected.rate_gbps.as_ref().is_some_and(slower);
        let wanted = expected.rate_gbps.filter(|_| !self.surplus).unwrap_or(best);
        let name = port.name();
        let event = |severity, what, text| {
            let mut event = change(severity, what, text, port);
            event.occurrence.detail.rdma.expected_rate_gbps = Some(wanted);
            event
        };
        if rate >= wanted * SAME_RATE {
            let text = format!("{name} is as fast again as it should be");
            let event = event(Severity::Info, PortChange::FullSpeed, text);
            let is_sure = expected.rate_gbps.is_some() || rate >= fastest * SAME_RATE;
            if self.slow.take().is_some() {
                self.full_speed = true;
                events.push(event);
            } else if is_sure && !self.full_speed {
                self.full_speed = true;
                standing.push(event);
            }
        } else if self.slow.replace(rate) != Some(rate) {
            let text = format!("{name} is slower than it should be");
            events.push(event(Severity::Warning, PortChange::Slow, text));
        }
    }

    fn judge_counter(
        &mut self,
        port: &RdmaPort,
        counter: &PortCounter,
        now: Timestamp,
        events: &mut Vec<Observed>,
    ) {
        let Some(value) = port.counters.get(counter.file).copied() else {
            return;
        };
        let last = self.last.counters.get(counter.file).copied();
        let each_time = counter.class == CounterClass::GaveUp;
        let rose = counter.an_hour.and_then(|limit| {
            let window = self.errors.entry(counter.file).or_default();
            window.observe(now, value, limit, each_time)
        });
        let name = port.name();
        let (text, before, limit, count) = match (last, rose) {
            (Some(last), _) if last < value && counter.is_saturated(value) => {
                (at_its_end(port, counter), last, None, 1)
            }
            (_, Some((before, rose))) => {
                let count = if each_time { rose } else { 1 };
                let text = format!("{name} counted {}", counter.file);
                (text, before, counter.an_hour, count)
            }
            _ => return,
        };
        let severity = match counter.class {
            CounterClass::Discards => Severity::Info,
            _ => Severity::Warning,
        };
        let mut event = occurrence(Kind::RdmaErrors, severity, text, port);
        event.detail.rdma.port_counter = Some(counter.file.to_owned());
        let metric = match counter.class {
            CounterClass::Retransmissions | CounterClass::GaveUp => {
                "gtrace_rdma_port_retransmissions"
            }
            CounterClass::LinkDowned => "gtrace_rdma_port_link_downed",
            _ => "gtrace_rdma_port_errors",
        };
        event.detail.sample.metric = Some(metric.to_owned());
        event.detail.sample.previous = Some(before as f64);
        event.detail.sample.value = Some(value as f64);
        event.detail.sample.limit = limit.map(|limit| limit as f64);
        events.push(seen(event, count));
    }

    /// Counters that no longer show whether the link makes errors, a line each.
    pub(super) fn saturated(&self) -> impl Iterator<Item = String> {
        let saturated = PORT_COUNTERS.iter().filter(|counter| {
            let value = self.last.counters.get(counter.file);
            value.is_some_and(|value| counter.is_saturated(*value))
        });
        saturated.map(|counter| at_its_end(&self.last, counter))
    }
}

fn at_its_end(port: &RdmaPort, counter: &PortCounter) -> String {
    format!(
        "{} counts no more {}, which is at its end, {}; perfquery -R -C {} -P {} resets it",
        port.name(),
        counter.file,
        counter.end,
        port.device,
        port.port
    )
}

pub(super) fn occurrence(
    kind: Kind,
    severity: Severity,
    text: String,
    port: &RdmaPort,
) -> Occurrence {
    let mut event = Occurrence::new(kind, severity, text);
    event.provenance = Provenance::Kernel;
    event.detail.pcie.pci_device = port.pci;
    let rdma = &mut event.detail.rdma;
    rdma.rdma_device = Some(port.device.clone());
    rdma.rdma_port = Some(port.port);
    rdma.port_state = Some(port.state.clone());
    rdma.physical_state.clone_from(&port.physical_state);
    rdma.link_layer.clone_from(&port.link_layer);
    rdma.network_interface.clone_from(&port.network_interface);
    rdma.rate_gbps = port.rate_gbps;
    event
}

fn change(severity: Severity, what: PortChange, text: String, port: &RdmaPort) -> Observed {
    let mut event = occurrence(Kind::RdmaPort, severity, text, port);
    event.detail.rdma.port_change = Some(what);
    seen(event, 1)
}

pub(super) fn seen(occurrence: Occurrence, count: u64) -> Observed {
    Observed::new(WitnessName::SysfsRdma, occurrence, count)
}
