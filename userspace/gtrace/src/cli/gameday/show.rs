//! The report for people.

use super::drills::{DRILLS, Drill};
use super::verdict::{Outcome, Summary};

/// The drills with what each has to come to.
pub(super) fn list(drills: &[&Drill]) -> String {
    let mut text = format!(
        "{:16} {:9} {:17} {}\n",
        "DRILL", "SEVERITY", "CLASS", "FAULT"
    );
    for drill in drills {
        let class = drill.class.map_or("-", |class| class.name());
        text += &format!(
            "{:16} {:9} {class:17} {}\n",
            drill.name, drill.severity, drill.about
        );
    }
    text
}

/// What is going to happen.
pub(super) fn announcement(host: &str, drills: &[&Drill]) -> String {
    let mut text = format!(
        "Game day on {host}: {} of {} drills.\nEach writes one line that is marked as injected into the kernel log. It pages nobody and \
         touches no device. Other monitors\nthat search the kernel log find these lines too: warn their owners first.\n\n",
        drills.len(),
        DRILLS.len()
    );
    for drill in drills {
        text += &format!("  {:16} {}\n", drill.name, drill.about);
    }
    text.push('\n');
    text
}

/// The head of the table.
pub(super) fn head() -> String {
    row_of([
        "DRILL",
        "DETECTED",
        "WITNESSES",
        "SEVERITY",
        "CLASS",
        "ALERT",
        "RESULT",
    ])
}

/// The line of one drill.
pub(super) fn row(outcome: &Outcome) -> String {
    let detected = outcome
        .detected_ms
        .map_or_else(|| "no".to_owned(), |ms| format!("{ms:.1} ms"));
    let witnesses: Vec<_> = outcome.witnesses.iter().map(|w| w.name()).collect();
    row_of([
        outcome.name,
        &detected,
        &witnesses.join(","),
        outcome.severity.map_or("-", |severity| severity.name()),
        outcome.class.map_or("-", |class| class.name()),
        if outcome.alerts.is_empty() {
            "no"
        } else {
            "yes"
        },
        if outcome.problems.is_empty() {
            "ok"
        } else {
            "MISSED"
        },
    ])
}

fn row_of([name, detected, witnesses, severity, class, alert, result]: [&str; 7]) -> String {
    format!("{name:16} {detected:>10}  {witnesses:25} {severity:9} {class:17} {alert:6} {result}\n")
}

/// What was missed, and how it ended.
pub(super) fn end(summary: &Summary) -> String {
    let mut text = String::new();
    let missed = summary.drills.iter().filter(|d| !d.problems.is_empty());
    for outcome in missed.clone() {
        text += &format!(
            "\n{}: {}\n  {}\n",
            outcome.name,
            outcome.problems.join("; "),
            outcome.injected
        );
    }
    let (ran, missed) = (summary.drills.len(), missed.count());
    text += &match (summary.aborted, missed) {
        (true, _) => {
            format!("\naborted after {ran} drills, {missed} of which did not come through\n")
        }
        (false, 0) => format!("\nall {ran} drills came through\n"),
        (false, _) => format!("\n{missed} of {ran} drills did not come through as they should\n"),
    };
    text
}
