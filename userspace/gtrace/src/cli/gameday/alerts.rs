//! Which of the documented alerts would have fired, had a drill been a fault.

use std::collections::BTreeMap;

use gtrace_event::{FailureClass, Severity};

use super::drills::Drill;

/// The alerts of docs/api.md: name, and the series that its expression selects.
pub(super) const ALERTS: [(&str, &str); 3] = [
    (
        "GpuXid",
        r#"gtrace_xid_total{provenance="kernel",xid=~"48|62|64|74|79|95|119|120"}"#,
    ),
    (
        "GpuFaultOpen",
        r#"gtrace_open_events{provenance="kernel",severity=~"critical|fatal"}"#,
    ),
    (
        "GpuIncidentOpen",
        r#"gtrace_open_incidents{drill="false",state="open",severity=~"critical|fatal"}"#,
    ),
];

/// What each alert selects.
pub(super) type Selected = [f64; ALERTS.len()];

/// A series of `/metrics`.
#[derive(Debug, PartialEq)]
struct Series {
    name: String,
    labels: BTreeMap<String, String>,
}

impl Series {
    /// Reads `name{label="value",...}`; `=~` counts as `=`.
    fn parse(text: &str) -> Option<Self> {
        let (name, mut rest) = text.split_once('{')?;
        let mut labels = BTreeMap::new();
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once('"')?;
            let (value, after) = quoted(after)?;
            let label = label.trim_start_matches(',').trim_end_matches('~');
            labels.insert(label.trim_end_matches('=').to_owned(), value);
            rest = after;
        }
        Some(Self {
            name: name.to_owned(),
            labels,
        })
    }

    /// Whether this selects `series` where drills are in the place of faults.
    fn selects(&self, series: &Self) -> bool {
        self.name == series.name
            && self.labels.iter().all(|(label, wanted)| {
                let wanted = match (label.as_str(), wanted.as_str()) {
                    ("provenance", "kernel") => "injected",
                    ("drill", "false") => "true",
                    (_, wanted) => wanted,
                };
                let value = series.labels.get(label);
                value.is_some_and(|value| wanted.split('|').any(|one| one == value))
            })
    }
}

/// The text up to the next quote that is not escaped, and what follows that.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

/// Severity and class of what a drill has become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    pub(super) severity: Severity,
    pub(super) class: Option<FailureClass>,
}

impl Of {
    /// Whether `series` can count it.
    fn is_in(self, series: &Series) -> bool {
        let fits = |label: &str, own: Option<&str>| {
            let value = series.labels.get(label);
            value.is_none_or(|value| own == Some(value))
        };
        fits("severity", Some(self.severity.name()))
            && fits("class", self.class.map(FailureClass::name))
    }
}

/// How much each alert selects of `metrics`, the text of `/metrics`, in series that can count `of`.
pub(super) fn selected(metrics: &str, of: Of) -> Selected {
    let selectors = ALERTS.map(|(_, selector)| Series::parse(selector));
    let mut sums = Selected::default();
    for line in metrics.lines() {
        let Some((text, value)) = line.rsplit_once(' ') else {
            continue;
        };
        let (Some(series), Ok(value)) = (Series::parse(text), value.parse::<f64>()) else {
            continue;
        };
        for (sum, selector) in sums.iter_mut().zip(&selectors) {
            let selects = selector.as_ref().is_some_and(|s| s.selects(&series));
            if selects && of.is_in(&series) {
                *sum += value;
            }
        }
    }
    sums
}

/// The names of the alerts that fire: of a counter those that have risen, of a gauge those above 0.
pub(super) fn fired(before: &Selected, after: &Selected) -> Vec<&'static str> {
    let all = ALERTS.iter().zip(before.iter().zip(after));
    all.filter(
        |((_, selector), (before, after))| match selector.contains("_total{") {
            true => after > before,
            false => **after > 0.0,
        },
    )
    .map(|((name, _), _)| *name)
    .collect()
}

/// Those that `drill` has to fire.
pub(super) fn expected(drill: &Drill) -> Vec<&'static str> {
    let of = Of {
        severity: drill.severity,
        class: drill.class,
    };
    let severity = drill.severity;
    let mut metrics =
        format!("gtrace_open_events{{provenance=\"injected\",severity=\"{severity}\"}} 1\n");
    if let Some(xid) = drill.xid() {
        metrics += &format!("gtrace_xid_total{{provenance=\"injected\",xid=\"{xid}\"}} 1\n");
    }
    if let Some(class) = drill.class {
        metrics += &format!(
            "gtrace_open_incidents{{class=\"{class}\",drill=\"true\",state=\"open\",severity=\"{severity}\"}} 1\n"
        );
    }
    fired(&Selected::default(), &selected(&metrics, of))
}
