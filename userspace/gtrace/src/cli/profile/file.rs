//! Profiles as files.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use gtrace_profile::{Profile, hlog, json, openmetrics, svg, table};

use super::{Output, Sort, stats_file};

/// How a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// The profile itself; nothing is lost.
    Json,
    /// HdrHistogram log, version 2.
    Hlog,
    /// OpenMetrics text.
    Prom,
    /// Latency by percentile, as SVG.
    Svg,
    /// Latency over time, as SVG; of profiles with intervals.
    Heatmap,
    /// A table.
    Table,
}

impl Format {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or("");
        Ok(match end {
            "json" => Self::Json,
            "hlog" => Self::Hlog,
            "prom" | "om" => Self::Prom,
            "svg" => Self::Svg,
            "txt" => Self::Table,
            _ => bail!(
                "{}: its name does not say how to write it; give --format, or a name that ends with .json, \
                 .hlog, .prom, .svg or .txt",
                path.display()
            ),
        })
    }
}

/// The table's order and length.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) sort: Sort,
    pub(super) limit: usize,
}

/// Writes a profile to where the command line says; to standard output, as a table, if nowhere.
pub(super) fn put(profile: &Profile, output: &Output, view: View) -> anyhow::Result<()> {
    let Some(path) = &output.out else {
        let mut text = Vec::new();
        write(
            profile,
            output.format.unwrap_or(Format::Table),
            view,
            &mut text,
        )?;
        return match io::stdout().lock().write_all(&text) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        };
    };
    let format = match output.format {
        Some(format) => format,
        None => Format::of(path)?,
    };
    let mut text = Vec::new();
    write(profile, format, view, &mut text)?;
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        out.write_all(&text)?;
        out.flush()
    });
    written.with_context(|| format!("{} cannot be written", path.display()))
}

/// Whether a profile could be put there, before one is taken.
pub(super) fn check(output: &Output) -> anyhow::Result<()> {
    let Some(path) = &output.out else {
        return Ok(());
    };
    if output.format.is_none() {
        Format::of(path)?;
    }
    match path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        Some(parent) if !parent.is_dir() => bail!("{}: there is no such folder", parent.display()),
        _ => Ok(()),
    }
}

fn write(
    profile: &Profile,
    format: Format,
    view: View,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    match format {
        Format::Json => json::write(profile, out)?,
        Format::Hlog => hlog::write(profile, out)?,
        Format::Prom => openmetrics::write(profile, out)?,
        Format::Svg => out.write_all(svg::percentiles(profile).as_bytes())?,
        Format::Heatmap => {
            let picture = svg::heat_map(profile);
            let picture = picture.context(
                "the profile has no intervals to draw over time: take it with `gtrace profile --duration`",
            )?;
            out.write_all(picture.as_bytes())?;
        }
        Format::Table => {
            out.write_all(table::text(profile, view.sort.into(), view.limit).as_bytes())?;
        }
    }
    Ok(())
}

/// Reads a profile: JSON, an HdrHistogram log, or statistics of `gtrace exec`.
pub(super) fn get(path: &Path) -> anyhow::Result<Profile> {
    let named = || path.display().to_string();
    let mut input = BufReader::new(File::open(path).with_context(named)?);
    let start = input.fill_buf().with_context(named)?;
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return hlog::read(input).with_context(named);
    }
    if stats_file::is(path) {
        let mut profile = Profile::default();
        for row in stats_file::read(input.into_inner()).with_context(named)? {
            profile.add(&row);
        }
        return Ok(profile);
    }
    json::read(input).with_context(named)
}
