//! What a benchmark found.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::stats::{Samples, number};

/// The result of one benchmark.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    name: String,
    /// What was measured, in a line.
    what: String,
    figures: Vec<Figure>,
    notes: Vec<String>,
    skipped: Option<String>,
    failure: Option<String>,
}

/// One figure with what it is compared to.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    detail: Vec<(&'static str, f64)>,
    ratios: Vec<(String, f64)>,
    budget: Option<f64>,
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            detail: Vec::new(),
            ratios: Vec::new(),
            budget: None,
        }
    }

    /// The 99th percentile, with the median and the maximum.
    pub(crate) fn p99(name: impl Into<String>, samples: &Samples, unit: &'static str) -> Self {
        Self::new(name, samples.quantile(0.99), unit)
            .with("p50", samples.quantile(0.5))
            .with("p99", samples.quantile(0.99))
            .with("max", samples.max())
            .with("n", samples.len() as f64)
    }

    /// The median of runs, with the smallest and the largest.
    pub(crate) fn median(name: impl Into<String>, samples: &Samples, unit: &'static str) -> Self {
        Self::new(name, samples.median(), unit)
            .with("min", samples.min())
            .with("max", samples.max())
            .with("runs", samples.len() as f64)
    }

    /// A number more, in the same unit or a count.
    pub(crate) fn with(mut self, name: &'static str, value: f64) -> Self {
        self.detail.push((name, value));
        self
    }

    /// The ratio to `peer`, whose value is in the same unit.
    pub(crate) fn beside(self, peer: &str, value: f64) -> Self {
        let ratio = self.value / value;
        self.ratio(peer, ratio)
    }

    pub(crate) fn ratio(mut self, peer: &str, ratio: f64) -> Self {
        self.ratios.push((peer.to_owned(), ratio));
        self
    }

    /// The value should be at most this, in the same unit.
    pub(crate) fn budget(mut self, limit: f64) -> Self {
        self.budget = Some(limit);
        self
    }

    pub(crate) fn value(&self) -> f64 {
        self.value
    }

    fn text(&self) -> String {
        let unit = |value: f64| match self.unit {
            "" => number(value),
            unit => format!("{} {unit}", number(value)),
        };
        let mut text = format!("  {}: {}", self.name, unit(self.value));
        if !self.detail.is_empty() {
            let parts: Vec<_> = self
                .detail
                .iter()
                .map(|(k, v)| format!("{k} {}", plain(k, *v)))
                .collect();
            let _ = write!(text, "  ({})", parts.join(", "));
        }
        text.push('\n');
        if let Some(limit) = self.budget {
            let ratio = self.value / limit;
            let verdict = if ratio <= 1.0 {
                "within budget"
            } else {
                "OVER BUDGET"
            };
            let of = unit(limit);
            let _ = writeln!(
                text,
                "      {} x the budget of {of}: {verdict}",
                number(ratio)
            );
        }
        for (peer, ratio) in &self.ratios {
            let _ = writeln!(text, "      {} x {peer}", number(*ratio));
        }
        text
    }

    fn json(&self) -> Value {
        let finite = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
        let map = |pairs: Vec<(String, f64)>| -> serde_json::Map<String, Value> {
            pairs.into_iter().map(|(k, v)| (k, finite(v))).collect()
        };
        json!({
            "name": self.name,
            "value": finite(self.value),
            "unit": self.unit,
            "detail": map(self.detail.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect()),
            "ratios": map(self.ratios.clone()),
            "budget": self.budget,
            "over_budget": self.budget.map(|limit| self.value.is_nan() || self.value > limit),
        })
    }
}

/// Counts are whole.
fn plain(name: &str, value: f64) -> String {
    match name {
        "n" | "runs" | "lost" => format!("{value:.0}"),
        _ => number(value),
    }
}

impl Report {
    pub(crate) fn new(name: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            what: what.into(),
            figures: Vec::new(),
            notes: Vec::new(),
            skipped: None,
            failure: None,
        }
    }

    pub(crate) fn push(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn skip(&mut self, reason: impl Into<String>) {
        self.skipped = Some(reason.into());
    }

    pub(crate) fn fail(&mut self, reason: impl Into<String>) {
        self.failure = Some(reason.into());
    }

    /// Has a benchmark that gives no figure, and does not say that it was skipped, count as failed.
    pub(crate) fn judge(&mut self) {
        let missing = self.figures.iter().find(|figure| !figure.value.is_finite());
        if self.failure.is_some() || self.skipped.is_some() {
            return;
        }
        if let Some(figure) = missing {
            self.fail(format!("it gives no figure for \"{}\"", figure.name));
        } else if self.figures.is_empty() {
            self.fail("it gives no figure");
        }
    }

    /// Whether it could not be run although it should, or gave no figure.
    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!("\n{}", self.name);
        if !self.what.is_empty() {
            let _ = write!(text, ": {}", self.what);
        }
        text.push('\n');
        for figure in &self.figures {
            text += &figure.text();
        }
        if let Some(reason) = &self.skipped {
            let _ = writeln!(text, "  SKIPPED: {reason}");
        }
        if let Some(reason) = &self.failure {
            let _ = writeln!(text, "  FAILED: {reason}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "what": self.what,
            "figures": self.figures.iter().map(Figure::json).collect::<Vec<_>>(),
            "notes": self.notes,
            "skipped": self.skipped,
            "failure": self.failure,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_budget_cannot_be_overlooked() {
        let over = Figure::new("idle", 0.3, "%")
            .budget(0.2)
            .beside("bpftrace", 0.6);
        let text = over.text();
        assert!(
            text.contains("1.50 x the budget of 0.200 %: OVER BUDGET"),
            "{text}"
        );
        assert!(text.contains("0.500 x bpftrace"), "{text}");
        assert_eq!(over.json()["over_budget"], true);
        assert_eq!(
            Figure::new("idle", 0.1, "%").budget(0.2).json()["over_budget"],
            false
        );
    }

    #[test]
    fn a_figure_that_could_not_be_measured_is_not_within_its_budget() {
        let none = Figure::p99("lone", &Samples::default(), "ms").budget(2.0);
        assert!(none.text().contains("OVER BUDGET"), "{}", none.text());
        assert_eq!(none.json()["over_budget"], true);
        assert_eq!(none.json()["value"], Value::Null);
    }

    #[test]
    fn a_benchmark_without_a_figure_has_failed() {
        let judged = |mut report: Report| {
            report.judge();
            report.failed()
        };
        let with = |value: f64| {
            let mut report = Report::new("store", "");
            report.push(Figure::new("rate", value, ""));
            report
        };
        assert!(judged(Report::new("store", "")));
        assert!(judged(with(f64::NAN)));
        assert!(!judged(with(1.0)));
        let mut skipped = Report::new("store", "");
        skipped.skip("it needs root");
        assert!(!judged(skipped));
    }

    #[test]
    fn a_skip_says_why() {
        let mut report = Report::new("burst", "");
        report.skip("it needs root");
        assert!(report.text().contains("SKIPPED: it needs root"));
        assert!(!report.failed());
    }
}
