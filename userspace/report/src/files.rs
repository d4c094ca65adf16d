//! The parts that are lines of text: events, kernel log, samples, histograms.

use std::fmt::Write as _;

use gtrace_profile::{Profile, Row, Span, hlog};

use crate::material::{LatencyRow, Material, Window};
use crate::words;

/// Events, one as JSON a line.
pub(crate) fn events(material: &Material) -> Vec<u8> {
    let mut out = Vec::new();
    for event in &material.events {
        // A struct of texts and numbers has a form in JSON, and a Vec takes all bytes.
        let _ = serde_json::to_writer(&mut out, event);
        out.push(b'\n');
    }
    out
}

/// The kernel log: time in UTC, level, text; control characters as the kernel writes them (`\x0a`).
pub(crate) fn kernel_log(material: &Material) -> Vec<u8> {
    let mut out = String::new();
    for record in &material.kernel_log {
        let level = record
            .priority
            .map_or("-".to_owned(), |level| format!("<{level}>"));
        let text = words::printable(&record.text, &[]);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} {level} {text}", record.time);
    }
    out.into_bytes()
}

/// Samples as CSV (RFC 4180): `time,metric,labels,unit,value`.
pub(crate) fn samples(material: &Material) -> Vec<u8> {
    if material.samples.is_empty() {
        return Vec::new();
    }
    let mut out = "time,metric,labels,unit,value\r\n".to_owned();
    for series in &material.samples {
        let labels: Vec<String> = series
            .labels
            .iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        let (metric, unit) = (quoted(&series.metric), quoted(&series.unit));
        let labels = quoted(&labels.join(";"));
        for (time, value) in &series.points {
            // Writing to a String cannot fail.
            let _ = write!(out, "{time},{metric},{labels},{unit},{value}\r\n");
        }
    }
    out.into_bytes()
}

/// A field of CSV. One that a spreadsheet would take for a formula gets an apostrophe (OWASP, CSV injection).
fn quoted(field: &str) -> String {
    let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let field = match formula {
        true => format!("'{field}"),
        false => field.to_owned(),
    };
    match field.contains(['"', ',', '\n', '\r', ';', '=']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    }
}

/// Which of a row's three stretches of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Before,
    During,
    After,
}

impl Phase {
    pub(crate) const ALL: [Self; 3] = [Self::Before, Self::During, Self::After];

    /// Its stretch of the window, outside of which nothing was counted; `None` where it has none.
    fn span(self, window: Window, incident: Window) -> Option<Span> {
        let from = incident.from.max(window.from);
        let to = incident.to.min(window.to);
        let (start, end) = match self {
            Self::Before => (window.from, from),
            Self::During => (from, to),
            Self::After => (to, window.to),
        };
        (start <= end).then_some(Span { start, end })
    }

    pub(crate) fn counts(self, row: &LatencyRow) -> &gtrace_profile::Counts {
        match self {
            Self::Before => &row.before,
            Self::During => &row.during,
            Self::After => &row.after,
        }
    }
}

/// The calls of one stretch of time.
pub(crate) fn profile(rows: &[LatencyRow], phase: Phase) -> Profile {
    let mut profile = Profile::default();
    for row in rows {
        let counts = phase.counts(row);
        if counts.calls > 0 {
            profile.add(&Row {
                key: row.key.clone(),
                counts: counts.clone(),
            });
        }
    }
    profile
}

/// Histograms of the three stretches of time, as an HdrHistogram log.
pub(crate) fn histograms(material: &Material) -> Result<Vec<u8>, hlog::WriteError> {
    let mut whole = Profile::default();
    let incident = material.span().unwrap_or(material.window);
    for phase in Phase::ALL {
        let Some(span) = phase.span(material.window, incident) else {
            continue;
        };
        let rows: Vec<Row> = material
            .latency
            .iter()
            .map(|row| Row {
                key: row.key.clone(),
                counts: phase.counts(row).clone(),
            })
            .filter(|row| row.counts.calls > 0)
            .collect();
        if !rows.is_empty() {
            whole.add_interval(span, &rows);
        }
    }
    let mut out = Vec::new();
    if !whole.rows.is_empty() {
        hlog::write(&whole, &mut out)?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_csv_is_no_formula_and_breaks_no_line() {
        assert_eq!(quoted("=cmd|' /C calc'!A0"), "\"'=cmd|' /C calc'!A0\"");
        assert_eq!(quoted("a\"b,\n"), "\"a\"\"b,\n\"");
        assert_eq!(quoted("plain"), "plain");
    }

    #[test]
    fn calls_of_a_fault_that_began_before_the_window_are_of_the_window() {
        let at = |s: i64| gtrace_event::Timestamp::from_second(s).unwrap();
        let window = |from: i64, to: i64| Window {
            from: at(from),
            to: at(to),
        };
        let during = Phase::During.span(window(100, 200), window(10, 300));
        let (start, end) = (at(100), at(200));
        assert_eq!(during, Some(Span { start, end }));
    }
}
