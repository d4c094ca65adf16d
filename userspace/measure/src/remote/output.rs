//! What was measured as profiles: a log of HdrHistogram, a picture, and the parts of calls.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::{Case, Distribution, Paced};
use anyhow::Context as _;
use gtrace_profile::{Counts, Key, Layer, Part, Process, Profile, Row, Span, hlog, svg};
use jiff::Timestamp;

use super::report::Operation;

/// All histograms, and those that are drawn.
#[derive(Default)]
pub struct Profiles {
    all: Vec<Row>,
    drawn: Vec<Row>,
}

impl Profiles {
    /// Adds a case over a link: from due to done as the whole, and the parts of its functions.
    pub fn add(&mut self, link: &str, case: Case, measured: &Paced, rows: &[Row]) {
        let process = Process {
            pid: std::process::id(),
            comm: "gtrace bench".into(),
            ..Process::default()
        };
        let whole = Row {
            key: Key {
                process: process.clone(),
                layer: Layer::Remote,
                function: format!("{link}: {case}"),
                part: Part::Whole,
                gpu: None,
            },
            counts: Counts::timed(measured.response.clone()),
        };
        if matches!(case, Case::Query | Case::LaunchSync) {
            self.drawn.push(whole.clone());
        }
        self.all.push(whole);
        let least = measured.service.count();
        for row in rows
            .iter()
            .filter(|row| row.counts.histogram.count() >= least)
        {
            let mut row = row.clone();
            row.key.process = process.clone();
            row.key.function = format!("{link}: {case}: {}", row.key.function);
            self.all.push(row);
        }
    }
}

/// Functions that were called at least once a measured call, the longest first.
pub fn operations(rows: Vec<Row>, calls: u64) -> Vec<Operation> {
    let mut by_name: BTreeMap<String, (u64, BTreeMap<String, Distribution>)> = BTreeMap::new();
    for row in rows {
        let histogram = &row.counts.histogram;
        if histogram.count() < calls {
            continue;
        }
        let (sum, parts) = by_name.entry(row.key.function).or_default();
        *sum = sum.saturating_add(histogram.sum_ns());
        parts.insert(row.key.part.name().to_owned(), Distribution::of(histogram));
    }
    let mut all: Vec<_> = by_name.into_iter().collect();
    all.sort_by_key(|(_, (sum, _))| std::cmp::Reverse(*sum));
    all.into_iter()
        .map(|(name, (_, parts))| Operation { name, parts })
        .collect()
}

/// Writes the files that were asked for.
///
/// # Errors
///
/// A file that cannot be written.
pub fn write(
    profiles: &Profiles,
    since: Timestamp,
    log: Option<&Path>,
    picture: Option<&Path>,
) -> anyhow::Result<()> {
    let span = Span {
        start: since,
        end: Timestamp::now(),
    };
    let profile = |rows: &[Row]| {
        let mut profile = Profile::default();
        profile.cover(span);
        rows.iter().for_each(|row| profile.add(row));
        profile
    };
    if let Some(path) = log {
        let failed = || format!("{} cannot be written", path.display());
        let mut file = BufWriter::new(File::create(path).with_context(failed)?);
        hlog::write(&profile(&profiles.all), &mut file).with_context(failed)?;
        std::io::Write::flush(&mut file).with_context(failed)?;
    }
    if let Some(path) = picture {
        let drawn = svg::percentiles(&profile(&profiles.drawn));
        std::fs::write(path, drawn)
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_profile::Histogram;

    fn row(function: &str, part: Part, count: u64, ns: u64) -> Row {
        let mut histogram = Histogram::default();
        histogram.record_n(ns, count);
        Row {
            key: Key {
                process: Process::default(),
                layer: Layer::Remote,
                function: function.into(),
                part,
                gpu: None,
            },
            counts: Counts::timed(histogram),
        }
    }

    #[test]
    fn what_was_called_once_to_set_up_is_no_part_of_the_call() {
        let rows = vec![
            row("cuCtxCreate_v2", Part::Wire, 1, 9_000_000),
            row("cuLaunchKernel", Part::Client, 110, 300),
            row("cuCtxSynchronize", Part::Wire, 110, 5_000),
            row("cuCtxSynchronize", Part::Driver, 110, 1_000),
        ];
        let found = operations(rows, 100);
        let names: Vec<_> = found.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["cuCtxSynchronize", "cuLaunchKernel"]);
        assert_eq!(found[0].parts.len(), 2);
        assert!(found[0].parts["wire"].p50_ns.unwrap().abs_diff(5_000) < 100);
    }
}
