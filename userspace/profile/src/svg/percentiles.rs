//! Latency by percentile.

use std::fmt::Write as _;

use crate::{Counts, Histogram, Key, Profile};

use super::{COLOURS, DASHES, LETTER, Picture, ROWS, Scale, shortened, title};

const WIDTH: f64 = 960.0;
/// Height of the plot itself.
const PLOT: f64 = 380.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 44.0;
/// Below the plot: ticks and the axis' name.
const BELOW: f64 = 52.0;
/// Of a row of the legend.
const LEGEND: f64 = 20.0;

/// The rows that took the most time, at most [`ROWS`], latency over percentile.
///
/// The percentile's axis is HdrHistogram's: 1 / (1 - p), logarithmic, so that 90 %, 99 % and 99.9 % are
/// equally far apart.
pub fn percentiles(profile: &Profile) -> String {
    let rows = largest(profile);
    let height = TOP + PLOT + BELOW + LEGEND * rows.len() as f64 + 12.0;
    let what = "Latency over percentile, a line for each function; both axes are logarithmic.";
    let mut picture = Picture::new(WIDTH, height, "Latency by percentile", what);
    let histograms = || rows.iter().map(|(_, counts)| &counts.histogram);
    let least = histograms().map(|h| h.quantile(0.0)).min().unwrap_or(1);
    let most = histograms().map(Histogram::max_ns).max().unwrap_or(1);
    let scale = Scale::around(least, most);
    let count = histograms().map(Histogram::count).max().unwrap_or(1);
    // Whole nines, as many as the calls can show.
    let nines = (count as f64).log10().ceil().clamp(1.0, 9.0);
    axes(&mut picture, scale, nines);
    for (at, (key, counts)) in rows.iter().enumerate() {
        curve(&mut picture, &counts.histogram, scale, nines, at);
        let y = TOP + PLOT + BELOW + LEGEND * (at as f64 + 0.5);
        legend(&mut picture, key, counts, y, at);
    }
    if rows.is_empty() {
        picture.label(LEFT + 12.0, TOP + 24.0, "start", "", "no timed calls");
    }
    picture.done()
}

/// The rows with the most time, the most first.
pub(super) fn largest(profile: &Profile) -> Vec<(&Key, &Counts)> {
    let mut rows: Vec<(&Key, &Counts)> = profile
        .rows
        .iter()
        .map(|(key, counts)| (key.as_ref(), counts))
        .filter(|(_, counts)| !counts.histogram.is_empty())
        .collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.histogram.sum_ns()));
    rows.truncate(ROWS);
    rows
}

fn x_of(p: f64, nines: f64) -> f64 {
    let nine = -(1.0 - p).max(1e-12).log10();
    LEFT + (WIDTH - LEFT - RIGHT) * (nine / nines).clamp(0.0, 1.0)
}

fn y_of(ns: f64, scale: Scale) -> f64 {
    TOP + PLOT * (1.0 - scale.at(ns))
}

fn axes(picture: &mut Picture, scale: Scale, nines: f64) {
    let right = WIDTH - RIGHT;
    for (at, name) in scale.ticks() {
        let y = TOP + PLOT * (1.0 - at);
        picture.line("grid", [LEFT, y], [right, y]);
        picture.label(LEFT - 8.0, y + 4.0, "end", "", &name);
    }
    let whole = (1..=nines as usize).map(|nine| {
        let digits = nine.saturating_sub(2);
        let percent = 100.0 - 100.0 * 0.1f64.powi(nine as i32);
        (
            1.0 - 0.1f64.powi(nine as i32),
            format!("{percent:.digits$} %"),
        )
    });
    for (p, name) in [(0.0, "0 %".to_owned()), (0.5, "50 %".to_owned())]
        .into_iter()
        .chain(whole)
    {
        let x = x_of(p, nines);
        picture.line("grid", [x, TOP], [x, TOP + PLOT]);
        picture.label(x, TOP + PLOT + 18.0, "middle", "", &name);
    }
    picture.line("axis", [LEFT, TOP], [LEFT, TOP + PLOT]);
    picture.line("axis", [LEFT, TOP + PLOT], [right, TOP + PLOT]);
    picture.upright(20.0, TOP + PLOT / 2.0, "latency");
    let middle = (LEFT + right) / 2.0;
    picture.label(
        middle,
        TOP + PLOT + 38.0,
        "middle",
        "",
        "percentile of calls",
    );
}

fn style(at: usize) -> String {
    let dash = match DASHES[at % DASHES.len()] {
        "" => String::new(),
        dash => format!(" stroke-dasharray=\"{dash}\""),
    };
    format!("stroke=\"{}\"{dash}", COLOURS[at % COLOURS.len()])
}

/// A point for each bucket: the share of calls up to it, and its middle.
fn curve(picture: &mut Picture, histogram: &Histogram, scale: Scale, nines: f64, at: usize) {
    let count = histogram.count() as f64;
    let least = histogram.quantile(0.0) as f64;
    let mut path = format!("M{:.1} {:.1}", x_of(0.0, nines), y_of(least, scale));
    let mut seen = 0u64;
    for (bucket, calls) in histogram.buckets() {
        seen = seen.saturating_add(calls);
        let p = seen as f64 / count;
        let ns = gtrace_abi::midpoint(bucket.into()).min(histogram.max_ns());
        // The last call is at 100 %, which is endlessly far: it ends where one call more would be.
        let p = p.min(1.0 - 0.5 / count);
        let _ = write!(path, "L{:.1} {:.1}", x_of(p, nines), y_of(ns as f64, scale));
    }
    let end = x_of(1.0 - 0.5 / count, nines);
    let _ = write!(
        path,
        "L{end:.1} {:.1}",
        y_of(histogram.max_ns() as f64, scale)
    );
    let style = style(at);
    let _ = writeln!(picture.text, "<path class=\"line\" {style} d=\"{path}\"/>");
}

fn legend(picture: &mut Picture, key: &Key, counts: &Counts, y: f64, at: usize) {
    let style = style(at);
    let _ = writeln!(
        picture.text,
        "<path class=\"line\" {style} d=\"M{LEFT:.1} {y:.1}h36\"/>"
    );
    let text = title(key, counts);
    let most = ((WIDTH - LEFT - 60.0) / (12.0 * LETTER)) as usize;
    let text = shortened(&text, most);
    picture.label(LEFT + 44.0, y + 4.0, "start", "", &text);
}
