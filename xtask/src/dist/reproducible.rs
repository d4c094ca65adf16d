//! Whether the same sources give the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{SUMS, VERSION};
use crate::context::Context;
use crate::folders;
use crate::shell::{self, step};

/// The packages of `folder` by name, each with its checksum.
pub(super) fn sums(folder: &Path) -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder.join(SUMS)).context(SUMS)?;
    let pair = |line: &str| {
        let (sum, file) = line.split_once("  ")?;
        Some((file.to_owned(), sum.to_owned()))
    };
    let sums: BTreeMap<_, _> = text.lines().filter_map(pair).collect();
    ensure!(!sums.is_empty(), "{} is empty", folder.join(SUMS).display());
    Ok(sums)
}

/// Compares packages by their checksums. Each of either has to be among both.
pub(super) fn same(
    first: &BTreeMap<String, String>,
    second: &BTreeMap<String, String>,
) -> Result<()> {
    let differ: Vec<_> = first
        .keys()
        .chain(second.keys().filter(|file| !first.contains_key(*file)))
        .filter(|file| first.get(*file) != second.get(*file))
        .map(String::as_str)
        .collect();
    ensure!(
        differ.is_empty(),
        "gtrace {VERSION}: other bytes the second time: {}; diffoscope shows where",
        differ.join(", ")
    );
    Ok(())
}

/// Builds and packs the newest commit in a clone with another path, from nothing but tools and the sources of other
/// packages; returns where the packages are.
pub(super) fn rebuild(context: &Context) -> Result<PathBuf> {
    let changed = shell::read(
        Command::new("git")
            .args(["status", "--porcelain", "--untracked-files=no"])
            .current_dir(&context.root),
    )?;
    ensure!(
        changed.is_empty(),
        "the second build is of the newest commit, and these files differ from it: commit them first\n{changed}"
    );
    let clone = context.target.join("rebuilt");
    folders::remove(&clone)?;
    step(format!(
        "building once more from nothing, in {}",
        context.short(&clone)
    ));
    shell::run(
        Command::new("git")
            .args(["clone", "--quiet", "--shared"])
            .args([&context.root, &clone]),
    )?;
    let target = clone.join("target");
    fs::create_dir(&target)?;
    std::os::unix::fs::symlink(context.tools(), target.join("tools"))?;
    shell::run(
        Command::new(&context.cargo)
            .args(["xtask", "dist"])
            .current_dir(&clone)
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_MANIFEST_DIR"),
    )
    .context("the second build")?;
    Ok(target.join("dist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_differs_or_is_missing_is_named() {
        let list = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(file, sum)| ((*file).to_owned(), (*sum).to_owned()));
            pairs.collect::<BTreeMap<_, _>>()
        };
        let first = list(&[("a.deb", "1"), ("a.rpm", "2"), ("a.tar.gz", "3")]);
        let second = list(&[("a.deb", "1"), ("a.tar.gz", "4"), ("b.deb", "5")]);
        assert!(same(&first, &first).is_ok());
        let error = same(&first, &second).unwrap_err().to_string();
        assert!(error.contains("time: a.rpm, a.tar.gz, b.deb;"), "{error}");
    }
}
