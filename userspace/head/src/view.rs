//! What the head answers to people.

use std::collections::BTreeMap;

use gtrace_event::{HealthState, Timestamp};
use gtrace_fleet::outbreak::{self, Outbreak};
use gtrace_fleet::{Offset, fits_host};
use serde::{Deserialize, Serialize};

use crate::db::{AHEAD_NS, HostRow, MARKS_OF_HOST, Mark};

/// A host that has reported nothing for so long is silent, in seconds. Agents report every 10 s.
const SILENT_S: i64 = 35;

/// A host of the fleet.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostView {
    /// Its name.
    pub host: String,
    /// How it is: as it says itself; `unknown` while it is silent.
    pub state: HealthState,
    /// Why it is not healthy, or why nobody knows.
    pub reasons: Vec<String>,
    /// Whether it is generated: part of a demonstration or a test.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub simulated: bool,
    /// Whether its credential was revoked: it is out of the fleet, and kept with its records.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub revoked: bool,
    /// Where it stands.
    pub labels: BTreeMap<String, String>,
    /// When it reported last.
    pub seen: Option<Timestamp>,
    /// Version of its agent.
    pub version: Option<String>,
    /// Version of its GPU driver.
    pub driver: Option<String>,
    /// Release of its kernel.
    pub kernel: Option<String>,
    /// How many GPUs it has.
    pub gpus: usize,
    /// Incidents that nobody has resolved, exercises aside.
    pub open_incidents: usize,
    /// Records of it that the head has.
    pub records: u64,
    /// Records that its store has and the head has not.
    pub behind: u64,
    /// Ranges of numbers that its store no longer has and no record explains.
    pub unexplained_gaps: u64,
    /// How often its store lost records or was replaced.
    pub forks: u64,
    /// Where its chain does not hold.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub chain_faults: Vec<String>,
    /// The head's clock less that of the host.
    pub clock: Option<Offset>,
}

impl HostView {
    pub(crate) fn new(row: &HostRow, now: Timestamp) -> Self {
        let state = row.state.as_ref();
        let silent = is_silent(row, now);
        let mut reasons = Vec::new();
        let mut health = match state.and_then(|state| state.health.as_ref()) {
            Some(report) => {
                for subject in &report.subjects {
                    let bad = subject
                        .reasons
                        .iter()
                        .filter(|reason| reason.state.is_bad());
                    reasons
                        .extend(bad.map(|reason| format!("{}: {}", subject.subject, reason.text)));
                }
                report.state
            }
            None => HealthState::Unknown,
        };
        if row.revoked.is_some() {
            reasons.insert(0, "its credential was revoked".to_owned());
            health = HealthState::Unknown;
        } else if silent {
            let since = match row.seen {
                Some(seen) if is_ahead(seen, now) => {
                    "it has reported nothing since the head's clock was set back".to_owned()
                }
                Some(seen) => format!("silent since {seen:.0}"),
                None => "it has reported nothing yet".to_owned(),
            };
            reasons.insert(0, since);
            health = HealthState::Unknown;
        } else if health == HealthState::Unknown && reasons.is_empty() {
            reasons.push("nothing is known of the health of its parts yet".to_owned());
        }
        let incidents = state.map_or(&[][..], |state| &state.incidents);
        Self {
            host: row.name.clone(),
            state: health,
            reasons,
            simulated: row.simulated,
            revoked: row.revoked.is_some(),
            labels: labels(row).clone(),
            seen: row.seen,
            version: state.map(|s| s.version.clone()),
            driver: state.and_then(|s| s.driver.clone()),
            kernel: state.and_then(|s| s.kernel.clone()),
            gpus: state.map_or(0, |s| s.gpus.len()),
            open_incidents: incidents.iter().filter(|i| !i.drill).count(),
            records: row.taken,
            behind: row
                .tip
                .saturating_sub(row.cursor.map_or(0, |cursor| cursor.id.seq)),
            unexplained_gaps: row.open_gaps,
            forks: row.forks,
            chain_faults: row.faults.clone(),
            clock: state.and_then(|s| s.clock),
        }
    }

    /// Whether somebody should look at it.
    pub fn needs_attention(&self) -> bool {
        let is_well = self.state == HealthState::Healthy
            && self.chain_faults.is_empty()
            && self.unexplained_gaps == 0;
        !self.revoked && !is_well
    }
}

/// Whether a host has reported nothing for so long that nobody knows how it is.
pub(crate) fn is_silent(row: &HostRow, now: Timestamp) -> bool {
    row.seen.is_none_or(|seen| {
        let age = now.duration_since(seen);
        age.as_secs() >= SILENT_S || is_ahead(seen, now)
    })
}

/// Whether a time was noted before the head's clock was set back: who was seen then has reported nothing since.
fn is_ahead(seen: Timestamp, now: Timestamp) -> bool {
    seen.duration_since(now).as_nanos() > i128::from(AHEAD_NS)
}

/// Incidents of several hosts that are one, and that chance does not explain. Incidents from `from` on are known.
pub(crate) fn outbreaks(
    rows: &[HostRow],
    marks: &[Mark],
    from: Timestamp,
    now: Timestamp,
) -> Vec<Outbreak> {
    let mut of_host: BTreeMap<&str, (usize, Timestamp)> = BTreeMap::new();
    for mark in marks {
        let known = of_host.entry(&mark.fleet_host);
        let (count, oldest) = known.or_insert((0, mark.last));
        (*count, *oldest) = (*count + 1, mark.last.min(*oldest));
    }
    let mut offsets = BTreeMap::new();
    let mut hosts = BTreeMap::new();
    for row in rows {
        let state = row.state.as_ref();
        let mut labels = labels(row).clone();
        let versions = [
            ("driver", state.and_then(|s| s.driver.clone())),
            ("kernel", state.and_then(|s| s.kernel.clone())),
        ];
        for (name, version) in versions {
            if let Some(version) = version {
                labels.entry(name.to_owned()).or_insert(version);
            }
        }
        if let Some(clock) = state.and_then(|s| s.clock) {
            offsets.insert(row.name.as_str(), clock.offset_ns);
        }
        let mut since = row.enrolled.max(from);
        // Of a host with more there are the newest alone.
        if let Some((count, oldest)) = of_host.get(row.name.as_str())
            && *count >= MARKS_OF_HOST
        {
            since = since.max(*oldest);
        }
        hosts.insert(row.name.clone(), outbreak::Host { labels, since });
    }
    let member = |mark: &Mark| {
        // By the clock of the head.
        let offset = offsets.get(mark.fleet_host.as_str()).copied();
        let offset = jiff::SignedDuration::from_nanos(offset.unwrap_or_default());
        outbreak::Member {
            host: mark.fleet_host.clone(),
            id: mark.id,
            class: mark.class,
            opened: mark.opened.saturating_add(offset).unwrap_or(mark.opened),
            drill: mark.drill,
        }
    };
    let members: Vec<_> = marks.iter().map(member).collect();
    outbreak::find(&members, &hosts, now, outbreak::EXPECTED_MAX)
}

/// Where a host says that it is.
pub(crate) fn labels(row: &HostRow) -> &BTreeMap<String, String> {
    const NONE: &BTreeMap<String, String> = &BTreeMap::new();
    row.state.as_ref().map_or(NONE, |state| &state.labels)
}

/// Whether a host is meant by a name, a pattern or a label.
pub(crate) fn is_meant(row: &HostRow, one: &str) -> bool {
    fits_host(one, &row.name, labels(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(now: Timestamp) -> HostRow {
        HostRow {
            name: "a".to_owned(),
            enrolled: now,
            ..HostRow::default()
        }
    }

    #[test]
    fn a_host_that_has_gone_is_silent_though_the_clock_of_the_head_was_set_back() {
        let now = Timestamp::now();
        let mut row = row(now);
        for (ahead_s, silent) in [
            (-36, true),
            (-34, false),
            (59, false),
            (61, true),
            (7200, true),
        ] {
            row.seen = Some(now + jiff::SignedDuration::from_secs(ahead_s));
            assert_eq!(is_silent(&row, now), silent, "{ahead_s}");
        }
        let view = HostView::new(&row, now);
        assert!(view.reasons[0].contains("clock"), "{:?}", view.reasons);
    }

    #[test]
    fn a_host_needs_attention_until_it_is_revoked() {
        let now = Timestamp::now();
        let mut row = row(now);
        assert!(HostView::new(&row, now).needs_attention());
        row.revoked = Some(now);
        assert!(!HostView::new(&row, now).needs_attention());
    }
}
