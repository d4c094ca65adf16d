//! Charts of samples, with the time of the fault marked.

use maud::{Markup, html};

use crate::material::{Material, Series, Window};
use crate::{missing, words};

/// Charts, at most: those whose value moved most.
const CHARTS_MAX: usize = 18;
/// Pairs of points of a line, at most.
const COLUMNS: usize = 240;

pub(super) fn section(material: &Material) -> Markup {
    let series: Vec<&Series> = material
        .samples
        .iter()
        .filter(|s| s.points.iter().any(|(_, v)| v.is_finite()))
        .collect();
    if series.is_empty() {
        return super::section("charts", &super::not_recorded(material, missing::SAMPLES));
    }
    let total = series.len();
    let span = material.span();
    let mut ranked: Vec<(f64, &Series)> = series.into_iter().map(|s| (moved(s, span), s)).collect();
    // What gtrace itself takes says little of the fault.
    ranked.sort_by(|a, b| is_own(a.1).cmp(&is_own(b.1)).then(b.0.total_cmp(&a.0)));
    ranked.truncate(CHARTS_MAX);
    let content = html! {
        p {
            "Those that changed most come first. The dashed lines are the first and the last event."
            @if total > CHARTS_MAX {
                " Shown: " (CHARTS_MAX) " of " (words::count(total as u64, "chart")) "; all samples are in samples.csv."
            }
        }
        div.charts { @for (_, series) in ranked { (chart(material, series)) } }
    };
    super::section("charts", &content)
}

/// Whether it is of gtrace itself.
fn is_own(series: &Series) -> bool {
    ["gtrace_history_", "gtrace_recorder_"]
        .iter()
        .any(|own| series.metric.starts_with(own))
}

/// How far the mean since the first event is from the mean before, as a share of the range.
fn moved(series: &Series, span: Option<Window>) -> f64 {
    let Some(span) = span else { return 0.0 };
    let mean = |after: bool| {
        let values = series
            .points
            .iter()
            .filter(|(time, v)| v.is_finite() && (*time >= span.from) == after);
        let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), (_, v)| (sum + v, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    let (low, high) = range(series);
    match (mean(false), mean(true)) {
        (Some(before), Some(after)) if high > low => (after - before).abs() / (high - low),
        _ => 0.0,
    }
}

fn range(series: &Series) -> (f64, f64) {
    let values = series
        .points
        .iter()
        .map(|(_, value)| *value)
        .filter(|value| value.is_finite());
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}

fn chart(material: &Material, series: &Series) -> Markup {
    let (low, high) = range(series);
    let labels: Vec<String> = series
        .labels
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    let span = material.span();
    let first = series
        .points
        .iter()
        .map(|(_, v)| *v)
        .find(|v| v.is_finite())
        .unwrap_or(0.0);
    let last = series
        .points
        .iter()
        .rev()
        .map(|(_, v)| *v)
        .find(|v| v.is_finite())
        .unwrap_or(0.0);
    let spoken = format!(
        "{} from {} to {}, lowest {}, highest {}",
        series.metric,
        number(first),
        number(last),
        number(low),
        number(high)
    );
    html! {
        figure {
            figcaption {
                b { (series.metric) } @if !series.unit.is_empty() { ", " (series.unit) }
                @if !labels.is_empty() { br; span.muted.small { (labels.join(", ")) } }
            }
            svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label=(spoken) {
                @if let Some(span) = span {
                    @for time in [span.from, span.to] {
                        @let x = format!("{:.1}", material.window.share(time) * 1000.0);
                        line.fault x1=(x) x2=(x) y1="0" y2="100" {}
                    }
                }
                @for line in lines(series, material.window, (low, high)) { polyline.line points=(line) {} }
            }
            div.ends {
                span { (words::seconds(material.window.from)) }
                span { "low " (number(low)) " · high " (number(high)) " · last " (number(last)) }
                span { (words::seconds(material.window.to)) }
            }
        }
    }
}

/// A value in few digits.
fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        1e9.. => format!("{value:.3e}"),
        100.0.. => format!("{value:.0}"),
        _ if size == 0.0 || value.fract() == 0.0 => format!("{value:.0}"),
        1.0.. => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// The line, lowest and highest of each column, so that no peak is lost. It breaks where a reading is no number.
fn lines(series: &Series, window: Window, (low, high): (f64, f64)) -> Vec<String> {
    // A change of less than a tenth must not fill the height: it would look like more than it is.
    let (middle, least) = ((low + high) / 2.0, 0.1 * low.abs().max(high.abs()));
    let span = (high - low).max(least);
    let height = |value: f64| match span > 0.0 {
        true => 50.0 - 92.0 * (value - middle) / span,
        false => 50.0,
    };
    let mut lines = vec![Vec::new()];
    let mut column: Option<(usize, f64, f64, f64)> = None;
    let flush = |column: &mut Option<(usize, f64, f64, f64)>, line: &mut Vec<String>| {
        if let Some((_, x, least, most)) = column.take() {
            line.push(format!("{x:.1},{:.1}", height(least)));
            if least < most {
                line.push(format!("{x:.1},{:.1}", height(most)));
            }
        }
    };
    for (time, value) in &series.points {
        let Some(line) = lines.last_mut() else { break };
        if !value.is_finite() {
            flush(&mut column, line);
            lines.push(Vec::new());
            continue;
        }
        let share = window.share(*time);
        let at = (share * COLUMNS as f64) as usize;
        match &mut column {
            Some((of, _, least, most)) if *of == at => {
                *least = least.min(*value);
                *most = most.max(*value);
            }
            _ => {
                flush(&mut column, line);
                column = Some((at, share * 1000.0, *value, *value));
            }
        }
    }
    if let Some(line) = lines.last_mut() {
        flush(&mut column, line);
    }
    lines
        .into_iter()
        .filter(|line| !line.is_empty())
        .map(|line| line.join(" "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_peaks_and_breaks_where_there_is_no_number() {
        let at = |ms| jiff::Timestamp::from_millisecond(ms).unwrap();
        let mut points: Vec<_> = (0..10_000).map(|n| (at(n), 1.0)).collect();
        points[5_000].1 = 100.0;
        points[7_000].1 = f64::NAN;
        let series = Series {
            metric: "m".into(),
            unit: String::new(),
            labels: std::collections::BTreeMap::new(),
            points,
        };
        let window = Window {
            from: at(0),
            to: at(10_000),
        };
        let lines = lines(&series, window, range(&series));
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains(",4.0"), "the peak is at the top");
        assert!(lines.iter().all(|line| line.len() < 10_000));
    }
}
