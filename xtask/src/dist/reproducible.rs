//! Whether the same sources give the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::{SUMS, VERSION};
use crate::context::Context;

/// Packs once more by `again` and compares every package byte by byte, by the checksums.
pub(super) fn check(context: &Context, again: impl FnOnce() -> Result<()>) -> Result<()> {
    let folder = context.target.join("dist");
    let first = sums(&folder)?;
    ensure!(!first.is_empty(), "nothing was packed");
    again()?;
    let second = sums(&folder)?;
    let differ: Vec<_> = first
        .iter()
        .filter(|(file, sum)| second.get(*file) != Some(*sum))
        .map(|(file, _)| file.as_str())
        .collect();
    ensure!(
        differ.is_empty(),
        "gtrace {VERSION}: other bytes the second time: {}; diffoscope shows where",
        differ.join(", ")
    );
    Ok(())
}

fn sums(folder: &Path) -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join(SUMS)).context(SUMS)?;
    let pair = |line: &str| {
        let (sum, file) = line.split_once("  ")?;
        Some((file.to_owned(), sum.to_owned()))
    };
    Ok(text.lines().filter_map(pair).collect())
}
