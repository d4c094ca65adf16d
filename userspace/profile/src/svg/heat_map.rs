//! Latency over time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gtrace_abi::bucket_range;

use crate::{Counts, Key, Profile, Span};

use super::percentiles::largest;
use super::{LETTER, Picture, Scale, shortened, title};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 110.0;
const TOP: f64 = 44.0;
/// Of one row's map, of its head, and of what is below the last.
const MAP: f64 = 150.0;
const HEAD: f64 = 26.0;
const BELOW: f64 = 52.0;
/// Most rows that are shown.
const MAPS: usize = 6;
/// Most columns: intervals are joined where there are more.
const COLUMNS: usize = 240;
/// Cells of a decade of latency.
const CELLS: f64 = 8.0;
/// Steps of the colour.
const STEPS: usize = 6;

/// How many calls took how long, over time; the rows that took the most time, at most 6. `None` where
/// the profile has no intervals.
pub fn heat_map(profile: &Profile) -> Option<String> {
    let whole = whole(profile)?;
    let mut rows = largest(profile);
    rows.retain(|(key, _)| {
        profile
            .intervals
            .values()
            .any(|rows| rows.contains_key(*key))
    });
    rows.truncate(MAPS);
    let maps = rows.len().max(1) as f64;
    let height = TOP + maps * (MAP + HEAD) + BELOW;
    let what =
        "How many calls took how long, over time: a map for each function, darker for more calls.";
    let mut picture = Picture::new(WIDTH, height, "Latency over time", what);
    for (at, (key, counts)) in rows.iter().enumerate() {
        let top = TOP + at as f64 * (MAP + HEAD) + HEAD;
        map(&mut picture, profile, whole, (key, counts), top);
    }
    let bottom = TOP + maps * (MAP + HEAD);
    times(&mut picture, whole, bottom);
    Some(picture.done())
}

/// The time that the intervals cover.
fn whole(profile: &Profile) -> Option<Span> {
    let start = profile.intervals.keys().map(|span| span.start).min()?;
    let end = profile.intervals.keys().map(|span| span.end).max()?;
    Some(Span { start, end })
}

fn plot() -> f64 {
    WIDTH - LEFT - RIGHT
}

/// Calls by column and cell.
fn cells(profile: &Profile, whole: Span, key: &Key, scale: Scale) -> BTreeMap<(usize, usize), u64> {
    let columns = profile.intervals.len().min(COLUMNS);
    let length = (whole.nanos() as f64).max(1.0);
    let rows = (CELLS * (scale.high - scale.low)) as usize;
    let mut cells = BTreeMap::new();
    for (span, histograms) in &profile.intervals {
        let Some(histogram) = histograms.get(key) else {
            continue;
        };
        let before = Span {
            start: whole.start,
            end: span.start,
        };
        let middle = before.nanos() as f64 + span.nanos() as f64 / 2.0;
        let column = ((middle / length * columns as f64) as usize).min(columns - 1);
        for (bucket, count) in histogram.buckets() {
            let (low, end) = bucket_range(bucket.into());
            let middle = ((low + (end - low) / 2).min(histogram.max_ns())) as f64;
            let row = ((scale.at(middle) * rows as f64) as usize).min(rows - 1);
            let cell: &mut u64 = cells.entry((column, row)).or_default();
            *cell = cell.saturating_add(count);
        }
    }
    cells
}

/// The step of a count, from 1 to [`STEPS`]: logarithmic, as tails are rare.
fn step(count: u64, most: u64) -> usize {
    let share = (count as f64).ln_1p() / (most as f64).ln_1p();
    ((share * STEPS as f64).ceil() as usize).clamp(1, STEPS)
}

fn opacity(step: usize) -> f64 {
    step as f64 / STEPS as f64
}

fn map(picture: &mut Picture, profile: &Profile, whole: Span, row: (&Key, &Counts), top: f64) {
    let (key, counts) = row;
    let histogram = &counts.histogram;
    let scale = Scale::around(histogram.quantile(0.0), histogram.max_ns());
    let right = LEFT + plot();
    for (at, name) in scale.ticks() {
        let y = top + MAP * (1.0 - at);
        picture.line("grid", [LEFT, y], [right, y]);
        picture.label(LEFT - 8.0, y + 4.0, "end", "", &name);
    }
    let cells = cells(profile, whole, key, scale);
    let most = cells.values().copied().max().unwrap_or(1);
    let columns = profile.intervals.len().clamp(1, COLUMNS) as f64;
    let rows = CELLS * (scale.high - scale.low);
    let (width, height) = (plot() / columns, MAP / rows);
    for ((column, row), count) in &cells {
        // Writing to a String cannot fail.
        let _ = writeln!(
            picture.text,
            "<rect class=\"heat\" x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" \
             fill-opacity=\"{:.2}\"/>",
            LEFT + width * *column as f64,
            top + MAP - height * (*row as f64 + 1.0),
            width,
            height,
            opacity(step(*count, most)),
        );
    }
    picture.line("axis", [LEFT, top], [LEFT, top + MAP]);
    picture.line("axis", [LEFT, top + MAP], [right, top + MAP]);
    let text = title(key, counts);
    let text = shortened(&text, (plot() / (12.0 * LETTER)) as usize);
    picture.label(LEFT, top - 8.0, "start", "", &text);
    picture.upright(20.0, top + MAP / 2.0, "latency");
    key_of_colours(picture, most, right + 16.0, top);
}

fn key_of_colours(picture: &mut Picture, most: u64, x: f64, top: f64) {
    picture.label(x, top + 10.0, "start", "", "calls in a cell");
    for at in (1..=STEPS).rev() {
        let y = top + 18.0 + (STEPS - at) as f64 * 17.0;
        let up_to = (most as f64).ln_1p() * at as f64 / STEPS as f64;
        let _ = writeln!(
            picture.text,
            "<rect class=\"heat\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\" \
             fill-opacity=\"{:.2}\"/>",
            opacity(at)
        );
        let up_to = up_to.exp_m1().round().max(1.0);
        picture.label(x + 20.0, y + 11.0, "start", "", &format!("to {up_to}"));
    }
}

fn times(picture: &mut Picture, whole: Span, y: f64) {
    let seconds = whole.nanos() as f64 / 1e9;
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let x = LEFT + plot() * share;
        picture.label(
            x,
            y + 18.0,
            "middle",
            "",
            &format!("{:.3} s", seconds * share),
        );
    }
    let start = whole.start.strftime("%Y-%m-%d %H:%M:%S UTC");
    let text = format!("time since {start}");
    picture.label(LEFT + plot() / 2.0, y + 38.0, "middle", "", &text);
}
