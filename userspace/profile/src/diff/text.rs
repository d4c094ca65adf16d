//! A comparison in plain words.

use crate::text::clean;

use super::{Comparison, Direction, Part, Report, Test, Verdict};

/// Each subject on a line, and what to know of it below. At most `limit` subjects without a real shift;
/// 0 for all.
pub fn text(report: &Report, limit: usize) -> String {
    let labels: Vec<String> = report.comparisons.iter().map(label).collect();
    let wide = labels.iter().map(|label| label.chars().count()).max();
    let wide = wide.unwrap_or(0);
    let mut out = String::new();
    let mut quiet = 0;
    for (comparison, label) in report.comparisons.iter().zip(&labels) {
        let real = matches!(comparison.verdict, Verdict::Slower | Verdict::Faster);
        if !real {
            quiet += 1;
            if limit > 0 && quiet > limit {
                continue;
            }
        }
        let layer = comparison.subject.layer.name();
        let says = says(comparison, report);
        out.push_str(&format!("{layer:<7} {label:<wide$}  {says}\n"));
    }
    if limit > 0 && quiet > limit {
        out.push_str(&format!(
            "{} more without a real shift: --limit 0 shows all\n",
            quiet - limit
        ));
    }
    out.push_str(&summary(report));
    for note in &report.notes {
        out.push_str(&format!("note: {note}\n"));
    }
    out
}

fn label(comparison: &Comparison) -> String {
    let subject = &comparison.subject;
    let mut label = clean(&subject.function);
    if subject.part != Part::Whole {
        label.push_str(&format!(" ({})", subject.part.name()));
    }
    if let Some(gpu) = &subject.gpu {
        label.push_str(&format!(" {}", clean(gpu)));
    }
    label
}

fn says(comparison: &Comparison, report: &Report) -> String {
    let [first, second] = comparison.calls;
    match comparison.verdict {
        Verdict::Slower | Verdict::Faster => {
            let confidence = report.options.confidence;
            let shifts: Vec<String> = comparison.real().map(|t| shift(t, confidence)).collect();
            format!("{}, real", shifts.join("; "))
        }
        Verdict::NoShift { .. } => {
            let ratios = comparison.tests.iter().filter(|test| test.is_ratio());
            let hidden: Vec<String> = ratios.map(hidden).collect();
            format!(
                "no real shift; what could hide: {}{}",
                hidden.join(", "),
                small(comparison, report)
            )
        }
        Verdict::TooFew => format!("too few calls ({first} and {second})"),
        Verdict::OnlyFirst => format!("only in the first ({first} calls)"),
        Verdict::OnlySecond => format!("only in the second ({second} calls)"),
    }
}

/// By how much a quantile may have changed all the same.
fn hidden(test: &Test) -> String {
    let bounds = test.interval.iter().map(|bound| bound.ln().abs());
    let most = bounds.fold(0.0, f64::max).exp();
    match most {
        ..2.0 => format!("{:.0} % at {}", ((most - 1.0) * 100.0).ceil(), test.of),
        _ => format!("{most:.1}x at {}", test.of),
    }
}

/// Shifts that are certain and below the least effect.
fn small(comparison: &Comparison, report: &Report) -> String {
    let certain = |test: &&Test| test.p_corrected < 1.0 - report.options.confidence;
    let small: Vec<String> = comparison
        .tests
        .iter()
        .filter(certain)
        .map(|test| shift(test, report.options.confidence))
        .collect();
    match small.is_empty() {
        true => String::new(),
        false => format!(" ({}: too small to count)", small.join("; ")),
    }
}

fn shift(test: &Test, confidence: f64) -> String {
    let percent = confidence * 100.0;
    let direction = match test.direction() {
        Some(Direction::Slower) => "slower",
        Some(Direction::Faster) => "faster",
        None => "the same",
    };
    let [low, high] = test.interval;
    if test.is_ratio() {
        // Faster by 2x is easier to read than slower by 0.5x.
        let (ratio, low, high) = match test.estimate < 1.0 {
            true => (1.0 / test.estimate, 1.0 / high, 1.0 / low),
            false => (test.estimate, low, high),
        };
        return format!(
            "{direction} by {ratio:.2}x at {} ({percent} % {low:.2}..{high:.2})",
            test.of
        );
    }
    let (estimate, low, high) = match test.estimate < 0.0 {
        true => (-test.estimate, -high, -low),
        false => (test.estimate, low, high),
    };
    format!(
        "{direction} in {:+.0} % of pairs of calls ({percent} % {:.0}..{:.0})",
        estimate * 100.0,
        low * 100.0,
        high * 100.0
    )
}

fn summary(report: &Report) -> String {
    let count = |wanted: fn(&Verdict) -> bool| {
        let verdicts = report.comparisons.iter().map(|c| &c.verdict);
        verdicts.filter(|verdict| wanted(verdict)).count()
    };
    format!(
        "{} slower, {} faster, {} without a real shift, {} with too few calls; {} tests together at {} % \
         confidence, shifts below {} % do not count\n",
        count(|v| matches!(v, Verdict::Slower)),
        count(|v| matches!(v, Verdict::Faster)),
        count(|v| matches!(v, Verdict::NoShift { .. })),
        count(|v| matches!(v, Verdict::TooFew)),
        report.tests,
        report.options.confidence * 100.0,
        report.options.least_effect * 100.0,
    )
}
