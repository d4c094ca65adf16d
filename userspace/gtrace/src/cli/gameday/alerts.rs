//! Which of the documented alerts would have fired, had a drill been a fault.

use gtrace_event::{FailureClass, Severity};
use gtrace_top::Sample;

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

/// Whether `selector` selects `series` where drills are in the place of faults.
fn selects(selector: &Sample, series: &Sample) -> bool {
    selector.name == series.name
        && selector.labels.iter().all(|(label, wanted)| {
            let wanted = match (label.as_str(), wanted.as_str()) {
                ("provenance", "kernel") => "injected",
                ("drill", "false") => "true",
                (_, wanted) => wanted,
            };
            wanted.split('|').any(|one| one == series.label(label))
        })
}

/// Severity and class of what a drill has become.
#[derive(Clone, Copy, Debug)]
pub(super) struct Of {
    pub(super) severity: Severity,
    pub(super) class: Option<FailureClass>,
}

impl Of {
    /// Whether `series` can count it.
    fn is_in(self, series: &Sample) -> bool {
        let fits = |label: &str, own: Option<&str>| {
            let value = series.label(label);
            value.is_empty() || own == Some(value)
        };
        fits("severity", Some(self.severity.name()))
            && fits("class", self.class.map(FailureClass::name))
    }
}

/// How much each alert selects of `metrics`, the text of `/metrics`, in series that can count `of`.
pub(super) fn selected(metrics: &str, of: Of) -> Selected {
    // A selector is a series to which a value is added; `=~` counts as `=`.
    let selectors =
        ALERTS.map(|(_, selector)| Sample::parse(&(selector.replace("=~", "=") + " 0")));
    let mut sums = Selected::default();
    for series in metrics.lines().filter_map(Sample::parse) {
        for (sum, selector) in sums.iter_mut().zip(&selectors) {
            let selected = selector.as_ref().is_some_and(|s| selects(s, &series));
            if selected && of.is_in(&series) {
                *sum += series.value;
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
