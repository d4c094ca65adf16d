//! `cargo xtask fuzz`: runs the fuzz targets of the kernel-log decoder, of profiles and of GPU-over-IP.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::shell::{self, clean, step};
use crate::tools;

/// Folders of fuzz targets.
const ROOMS: [&str; 6] = [
    "userspace/decoder/fuzz",
    "userspace/profile/fuzz",
    "transport/cuda/fuzz",
    "transport/image/fuzz",
    "transport/link/fuzz",
    "transport/softgpu/fuzz",
];

/// Fuzzes `target`, or each target in turn, for `seconds`.
pub(crate) fn run(context: &Context, target: Option<String>, seconds: u32) -> Result<()> {
    let mut known: Vec<(PathBuf, String)> = Vec::new();
    for room in ROOMS {
        let dir = context.root.join(room);
        let names = targets(&dir.join("fuzz_targets"))?;
        known.extend(names.into_iter().map(|name| (dir.clone(), name)));
    }
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
                .args(["fuzz", "run", "--fuzz-dir"])
                .arg(&dir)
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
                .env("CARGO_TARGET_DIR", context.target.join("fuzz")),
        )
        .with_context(|| format!("{name} found something: the input is named above"))?;
    }
    Ok(())
}

fn targets(dir: &Path) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(dir).with_context(|| format!("no fuzz targets in {}", dir.display()))?;
    let mut names: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}
