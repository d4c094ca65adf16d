//! `cargo xtask codegen`: writes the types and signatures of the CUDA driver API and NVML (transport/cuda) from the
//! bindings, and docs/cuda-coverage.md from the description; with `--check` compares them with what it would write.

mod bindings;
mod coverage;
mod signatures;
mod types;

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::calls;
use crate::context::Context;

/// A file that is generated.
struct Generated {
    /// Its path below the repository's root.
    path: String,
    /// What is to be in it, formatted.
    text: String,
}

/// Writes the generated files, or with `check` says whether they are up to date. `calls`: with what the tests
/// called when they ran last.
pub(crate) fn command(context: &Context, check: bool, calls: bool) -> Result<()> {
    if calls {
        calls::write(context)?;
    }
    let mut stale = Vec::new();
    for file in everything(context)? {
        let path = context.root.join(&file.path);
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        if there == file.text {
            continue;
        }
        if check {
            stale.push(file.path);
            continue;
        }
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        std::fs::write(&path, file.text).with_context(|| path.display().to_string())?;
        println!("wrote {}", file.path);
    }
    if !stale.is_empty() {
        bail!(
            "not as `cargo xtask codegen` writes them: {}",
            stale.join(", ")
        );
    }
    Ok(())
}

fn everything(context: &Context) -> Result<Vec<Generated>> {
    let driver = bindings::driver(context)?;
    let nvml = bindings::nvml(context)?;
    let (cuda, management) = ("the CUDA driver API", "NVML");
    let cuda_file = |file: &str| format!("transport/cuda/src/{file}");
    let text = [
        (cuda_file("types/driver.rs"), types::file(&driver, cuda)?),
        (cuda_file("types/nvml.rs"), types::file(&nvml, management)?),
        (
            cuda_file("signatures/driver.rs"),
            signatures::file(&driver, cuda)?,
        ),
        (
            cuda_file("signatures/nvml.rs"),
            signatures::file(&nvml, management)?,
        ),
    ];
    let mut files = Vec::new();
    for (path, text) in text {
        files.push(rust(context, path, text)?);
    }
    files.push(Generated {
        path: "docs/cuda-coverage.md".to_owned(),
        text: coverage::page(&calls::written(context)?)?,
    });
    Ok(files)
}

/// The head of a generated file.
fn head(what: &str) -> String {
    format!("//! {what}\n//!\n//! Written by `cargo xtask codegen`; changes by hand are lost.\n")
}

/// A file of Rust, formatted as the rest of the repository is.
fn rust(context: &Context, path: String, text: String) -> Result<Generated> {
    let mut child = Command::new("rustfmt")
        .args(["--edition=2024", "--emit=stdout", "--config-path"])
        .arg(context.root.join("rustfmt.toml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("rustfmt does not start: `rustup component add rustfmt`")?;
    let Some(mut stdin) = child.stdin.take() else {
        bail!("rustfmt has no standard input");
    };
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().context("rustfmt")?;
    if !output.status.success() || writer.join().is_err() {
        bail!("rustfmt does not take what is generated for {path}");
    }
    let text = String::from_utf8(output.stdout).context("rustfmt printed no text")?;
    Ok(Generated { path, text })
}
