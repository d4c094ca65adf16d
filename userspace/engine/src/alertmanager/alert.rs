//! An incident as an alert.

use std::collections::BTreeMap;

use gtrace_event::{Action, Incident, IncidentState, Timestamp};
use serde::Serialize;

use super::Options;

/// Longest annotation, in characters.
const TEXT_MAX: usize = 2048;
/// GPUs that an alert names.
const GPUS_MAX: usize = 8;
/// The name of each alert.
const NAME: &str = "GtraceIncident";

/// An alert as Alertmanager's API takes it (`postableAlert` in its api/v2/openapi.yaml). Its labels are its identity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Alert {
    pub(super) labels: BTreeMap<&'static str, String>,
    annotations: BTreeMap<&'static str, String>,
    #[serde(rename = "startsAt")]
    starts: Timestamp,
    /// Alertmanager itself ends what has none and is not repeated (its `resolve_timeout`).
    #[serde(rename = "endsAt", skip_serializing_if = "Option::is_none")]
    ends: Option<Timestamp>,
}

impl Alert {
    /// `maintenance`: people work on the host.
    pub(super) fn new(incident: &Incident, options: &Options, maintenance: bool) -> Self {
        let action = incident.advice.as_ref().and_then(|advice| advice.action);
        let pages = !incident.drill && action == Some(Action::Page);
        let mut labels = BTreeMap::from([
            ("alertname", NAME.to_owned()),
            ("class", incident.class.name().to_owned()),
            ("incident", incident.id.to_string()),
            ("page", pages.to_string()),
            ("severity", incident.severity.name().to_owned()),
        ]);
        labels.extend(incident.host.clone().map(|host| ("instance", host)));
        let gpus = gpus(incident);
        labels.extend(gpus.first().cloned().map(|gpu| ("gpu", gpu)));
        if incident.drill {
            labels.insert("drill", "true".to_owned());
        }
        if maintenance {
            labels.insert("maintenance", "true".to_owned());
        }
        let mut annotations = BTreeMap::from([
            ("description", description(incident)),
            ("state", incident.state.name().to_owned()),
            ("summary", bounded(incident.title.clone())),
        ]);
        if gpus.len() > 1 {
            annotations.insert("gpus", list(&gpus));
        }
        let runbook = options.runbooks.as_ref();
        annotations.extend(runbook.map(|runbooks| ("runbook_url", runbooks.of(incident.class))));
        let resolved = incident.state == IncidentState::Resolved;
        Self {
            labels,
            annotations,
            starts: incident.opened,
            // Alertmanager refuses an end before the start.
            ends: resolved.then(|| {
                incident
                    .closed
                    .unwrap_or(incident.time)
                    .max(incident.opened)
            }),
        }
    }

    pub(super) fn is_resolved(&self) -> bool {
        self.ends.is_some()
    }

    /// The same alert, ended `now`.
    pub(super) fn ended(&self, now: Timestamp) -> Self {
        Self {
            ends: Some(now),
            ..self.not_after(now)
        }
    }

    /// The same alert with no time after `now`, as the clock may have been set back: Alertmanager refuses a start that is
    /// far ahead, and lets fire what ends later.
    pub(super) fn not_after(&self, now: Timestamp) -> Self {
        Self {
            starts: self.starts.min(now),
            ends: self.ends.map(|ends| ends.min(now)),
            ..self.clone()
        }
    }
}

/// Addresses of the GPUs; the first that was affected stays the first.
fn gpus(incident: &Incident) -> Vec<String> {
    let gpus = incident.affected.gpus.iter();
    gpus.filter_map(|gpu| gpu.pci.map(|pci| pci.to_string()).or(gpu.uuid.clone()))
        .collect()
}

fn list(gpus: &[String]) -> String {
    let mut text = gpus[..gpus.len().min(GPUS_MAX)].join(", ");
    if gpus.len() > GPUS_MAX {
        text += &format!(" and {} more", gpus.len() - GPUS_MAX);
    }
    text
}

/// What it means and what to do, the site's steps first.
fn description(incident: &Incident) -> String {
    let mut lines = Vec::new();
    if let Some(advice) = &incident.advice {
        lines.extend(advice.meaning.clone());
        lines.extend(advice.site.iter().map(|step| format!("Site: {step}")));
        lines.extend(advice.vendor.iter().map(|step| format!("Vendor: {step}")));
    }
    lines.push(format!("gtrace incidents show {}", incident.id));
    bounded(lines.join("\n"))
}

fn bounded(text: String) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
