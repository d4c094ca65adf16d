//! Profiles as files.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use gtrace_profile::{Profile, hlog, json, openmetrics, svg, table};

use crate::stats_file;

/// How a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
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
pub struct View {
    /// What rows are sorted by.
    pub order: table::Order,
    /// How many of them, of each layer of a process; 0 for all.
    pub limit: usize,
}

/// Writes a profile to the file `path`, as its name says without a `format`.
///
/// # Errors
///
/// If its name does not say how, the profile cannot be written so, or the file cannot be written.
pub fn save(
    profile: &Profile,
    path: &Path,
    format: Option<Format>,
    view: View,
) -> anyhow::Result<()> {
    let format = format_of(path, format)?;
    let mut text = Vec::new();
    write(profile, format, view, &mut text)?;
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// The format that was asked for, or that of the file's name.
///
/// # Errors
///
/// That the name is of none.
pub fn format_of(path: &Path, format: Option<Format>) -> anyhow::Result<Format> {
    format.map_or_else(|| Format::of(path), Ok)
}

/// Writes a profile.
///
/// # Errors
///
/// If it has nothing to draw, or what `out` says.
pub fn write(
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
            out.write_all(table::text(profile, view.order, view.limit).as_bytes())?;
        }
    }
    Ok(())
}

/// Reads a profile: JSON, an HdrHistogram log, or statistics of `gtrace exec`.
///
/// # Errors
///
/// What is wrong with the file.
pub fn read(path: &Path) -> anyhow::Result<Profile> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_how_a_profile_is_written_and_what_is_written_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let view = View {
            order: table::Order::Time,
            limit: 0,
        };
        let profile = Profile::default();
        let at = |name: &str| dir.path().join(name);
        save(&profile, &at("a.json"), None, view).unwrap();
        assert!(read(&at("a.json")).unwrap().rows.is_empty());
        let unnamed = format_of(&at("a.bin"), None).unwrap_err();
        assert!(unnamed.to_string().contains("give --format"), "{unnamed}");
        let named = format_of(&at("a.bin"), Some(Format::Json)).unwrap();
        assert!(matches!(named, Format::Json));
        let nothing = save(&profile, &at("a.svg"), Some(Format::Heatmap), view);
        assert!(nothing.unwrap_err().to_string().contains("no intervals"));
        assert!(!at("a.svg").exists());
    }
}
