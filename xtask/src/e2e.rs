//! What the end-to-end tests of GPU-over-IP need beside cargo's own: an environment with public tools in
//! Python, in the target directory.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::context::Context;
use crate::packages;
use crate::shell::{self, step};

const REQUIREMENTS: &str = "transport/e2e/programs/python/requirements.txt";
/// In the target directory; the tests look there.
const ENVIRONMENT: &str = "e2e-python";
/// What was installed; beside it, so that an interrupted installation is repeated.
const STAMP: &str = "requirements.txt";

/// Makes the environment unless it is there as it should be. Without it tests leave themselves out and
/// say so: that PyPI or a Python is out of reach is no failure of gtrace's.
pub(crate) fn prepare(context: &Context) {
    if let Err(error) = environment(context) {
        step(format!(
            "tests with programs in Python will be skipped: {error:#}"
        ));
    }
}

fn environment(context: &Context) -> Result<()> {
    let wanted = fs::read_to_string(context.root.join(REQUIREMENTS)).context(REQUIREMENTS)?;
    let folder = context.target.join(ENVIRONMENT);
    if fs::read_to_string(folder.join(STAMP)).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    if !can_make_environments() {
        packages::ensure(
            &["python3", "python3-venv"],
            "public tools in Python run on the stand-in for a GPU",
        )?;
    }
    step(format!(
        "installing cuda-python, nvidia-ml-py, nvitop and gpustat from PyPI into {}",
        context.short(&folder)
    ));
    let made = install(context, &folder);
    if made.is_err() {
        let _ = fs::remove_dir_all(&folder);
    }
    made?;
    fs::write(folder.join(STAMP), wanted).context("the environment's stamp")
}

fn can_make_environments() -> bool {
    shell::succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"]))
}

fn install(context: &Context, folder: &Path) -> Result<()> {
    let mut venv = shell::clean("python3");
    venv.args(["-m", "venv", "--clear"]).arg(folder);
    shell::run(&mut venv).context("python3 -m venv")?;
    let mut pip = shell::clean(folder.join("bin/python3"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ])
    .args(["--timeout=20", "--retries=2", "--requirement"])
    .arg(context.root.join(REQUIREMENTS));
    shell::run(&mut pip).context("PyPI cannot be reached, or has not what is asked for")
}
