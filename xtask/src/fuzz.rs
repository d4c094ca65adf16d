//! `cargo xtask fuzz`: runs the fuzz targets of the kernel-log decoder, of the flight recorder, reports, profiles, of credentials and of GPU-over-IP.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::setup;
use crate::shell::{self, clean, step};
use crate::tools;

/// Fuzzes `target`, or each target in turn, for `seconds`.
pub(crate) fn run(context: &Context, target: Option<String>, seconds: u32) -> Result<()> {
    let root = context.root.join("fuzz");
    let known = targets(&root)?;
    let mut chosen = known.clone();
    if let Some(target) = target {
        chosen.retain(|(_, name)| *name == target);
        if chosen.is_empty() {
            let known: Vec<_> = known.into_iter().map(|(_, name)| name).collect();
            bail!("`{target}` is no fuzz target; known: {}", known.join(", "));
        }
    }
    if !shell::succeeds(clean("rustc").args(["+nightly", "--version"])) {
        bail!("fuzzing needs a nightly compiler: run `rustup toolchain install nightly`");
    }
    setup::host_packages(context)?;
    let program = tools::FUZZ.ensure(context)?;
    for (dir, name) in chosen {
        step(format!("fuzzing {name} for {seconds} s"));
        // What is found goes to the first directory; the seeds in the repository stay as they are.
        let corpus = context.target.join("fuzz/corpus").join(&name);
        fs::create_dir_all(&corpus)
            .with_context(|| format!("cannot create {}", corpus.display()))?;
        let seeds = dir.join("seeds");
        let dictionary = dir.join("decoder.dict");
        let dictionary = dictionary
            .is_file()
            .then(|| format!("-dict={}", dictionary.display()));
        shell::run(
            clean(&program)
                .args(["fuzz", "run", "--features=fuzzing", "--fuzz-dir"])
                .arg(&root)
                .arg(&name)
                .arg(&corpus)
                .args(seeds.is_dir().then_some(seeds))
                .arg("--")
                .arg(format!("-max_total_time={seconds}"))
                .args(dictionary)
                .current_dir(&context.root)
                .env("RUSTUP_TOOLCHAIN", "nightly")
                // The path of stable's cargo, which `cargo fuzz` would call.
                .env_remove("CARGO")
                .env("CARGO_TARGET_DIR", context.target.join("fuzz"))
                // The profile is that of released programs: slow to link, and their stack traces name no lines.
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_PROFILE_RELEASE_STRIP", "none"),
        )
        .with_context(|| {
            format!("{name} found something, whose input is named above, or was not built")
        })?;
    }
    Ok(())
}

/// The targets, each with its folder: the `.rs` files in the folders of `root`.
fn targets(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for folder in entries(root)? {
        if !folder.is_dir() {
            continue;
        }
        for file in entries(&folder)? {
            if file.extension().is_some_and(|e| e == "rs")
                && let Some(name) = file.file_stem().and_then(OsStr::to_str)
            {
                found.push((folder.clone(), name.to_owned()));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(dir).with_context(|| format!("no fuzz targets in {}", dir.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}
