//! `cargo xtask fuzz`: runs the fuzz targets of the kernel-log decoder.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::shell::{self, clean, step};
use crate::tools;

/// Fuzzes `target`, or each target in turn, for `seconds`.
pub(crate) fn run(context: &Context, target: Option<String>, seconds: u32) -> Result<()> {
    let dir = context.root.join("userspace/decoder/fuzz");
    let known = targets(&dir.join("fuzz_targets"))?;
    let chosen = match target {
        None => known,
        Some(name) if known.contains(&name) => vec![name],
        Some(name) => bail!("`{name}` is no fuzz target; known: {}", known.join(", ")),
    };
    if !shell::succeeds(clean("rustc").args(["+nightly", "--version"])) {
        bail!("fuzzing needs a nightly compiler: run `rustup toolchain install nightly`");
    }
    let program = tools::FUZZ.ensure(context)?;
    for name in chosen {
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
