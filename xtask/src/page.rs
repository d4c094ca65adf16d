//! `cargo xtask page`: builds the page of userspace/page into the folder that gtrace-http embeds, so that building gtrace
//! needs no Node.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::folders;
use crate::report::Report;
use crate::shell::{self, step};

const SOURCES: &str = "userspace/page";
const EMBEDDED: &str = "userspace/http/page";
/// What is copied to where npm works.
const FILES: [&str; 4] = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "build.mjs",
];

/// Builds, and with `check` compares instead of writing.
pub(crate) fn command(context: &Context, check: bool) -> Result<()> {
    if !is_possible() {
        bail!(
            "the page is built by Node.js and npm, which are missing here: install them (Debian: nodejs npm); building \
             gtrace needs neither, as {EMBEDDED} is part of the repository"
        );
    }
    let work = context.target.join("page");
    let sources = context.root.join(SOURCES);
    fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    for file in FILES {
        fs::copy(sources.join(file), work.join(file))
            .with_context(|| format!("{SOURCES}/{file}"))?;
    }
    let copy = work.join("src");
    folders::remove(&copy)?;
    shell::run(
        Command::new("cp")
            .arg("-r")
            .arg(sources.join("src"))
            .arg(&copy),
    )?;
    install(&work)?;
    step("checking the types of the page");
    shell::run(npx(&work).args(["tsc", "--noEmit"]))?;
    step("bundling the page");
    let out = work.join("out");
    let _ = fs::remove_dir_all(&out);
    shell::run(
        Command::new("node")
            .current_dir(&work)
            .args(["build.mjs", "out"]),
    )?;
    let (built, embedded) = (read(&out)?, context.root.join(EMBEDDED));
    if check {
        return compare(&built, &read(&embedded)?);
    }
    fs::create_dir_all(&embedded).with_context(|| EMBEDDED.to_owned())?;
    for (name, content) in &built {
        fs::write(embedded.join(name), content).with_context(|| format!("{EMBEDDED}/{name}"))?;
    }
    let size: usize = built.values().map(Vec::len).sum();
    step(format!("{EMBEDDED}: {} KiB", size.div_ceil(1024)));
    Ok(())
}

/// Adds the comparison to `report`; left out where Node or the registry cannot be had.
pub(crate) fn check(context: &Context, report: &mut Report) {
    const NAME: &str = "the page is as its sources build it";
    if !is_possible() {
        report.skip(NAME, 1, "Node.js and npm are not installed");
        return;
    }
    step("checking that the page is as its sources build it");
    report.check(NAME, command(context, true));
}

fn is_possible() -> bool {
    shell::in_path("node") && shell::in_path("npm")
}

/// Packages of the lock file, unless they are there. No script of a package runs.
fn install(work: &Path) -> Result<()> {
    let lock = fs::read_to_string(work.join("package-lock.json"))?;
    let stamp = work.join("installed.lock");
    if fs::read_to_string(&stamp).is_ok_and(|before| before == lock)
        && work.join("node_modules").is_dir()
    {
        return Ok(());
    }
    step("npm ci: packages that build the page");
    let mut npm = Command::new("npm");
    npm.current_dir(work)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    shell::run(&mut npm)?;
    fs::write(stamp, lock).context("the stamp of npm's packages")
}

fn npx(work: &Path) -> Command {
    let mut npx = Command::new("npx");
    npx.current_dir(work).arg("--no-install");
    npx
}

/// The files of a folder, by name.
fn read(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files = BTreeMap::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, fs::read(entry.path())?);
    }
    Ok(files)
}

fn compare(built: &BTreeMap<String, Vec<u8>>, embedded: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    let names = built.keys().chain(embedded.keys());
    let mut differ: Vec<&str> = names
        .filter(|name| built.get(*name) != embedded.get(*name))
        .map(String::as_str)
        .collect();
    differ.dedup();
    if differ.is_empty() {
        return Ok(());
    }
    bail!(
        "{EMBEDDED} is not as {SOURCES} builds it ({}): run `cargo xtask page` and commit the result",
        differ.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_differs_or_is_missing_on_either_side_is_named() {
        let folder = |files: &[(&str, &str)]| -> BTreeMap<String, Vec<u8>> {
            let files = files.iter();
            files
                .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
                .collect()
        };
        let built = folder(&[("app.js", "1"), ("index.html", "a")]);
        compare(&built, &built.clone()).unwrap();
        for other in [
            folder(&[("app.js", "2"), ("index.html", "a")]),
            folder(&[("index.html", "a")]),
            folder(&[("app.js", "1"), ("index.html", "a"), ("old.js", "")]),
        ] {
            let error = compare(&built, &other).unwrap_err().to_string();
            assert!(error.contains(".js"), "{error}");
            assert!(error.contains("cargo xtask page"), "{error}");
        }
    }
}
