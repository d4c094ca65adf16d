//! `cargo xtask dist`: the archive that a host installs from.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::context::{Context, Profile};
use crate::setup;
use crate::shell::{self, step};

/// What goes in beside the program, as far as it exists.
const FILES: [&str; 5] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "packaging",
];

/// Builds the release binary and packs it with what installing it takes.
pub(crate) fn build(context: &Context) -> Result<()> {
    setup::build(context, Profile::Release, &["gtrace"])?;
    let name = format!(
        "gtrace-{}-{}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    );
    let dist = context.target.join("dist");
    let content = dist.join(&name);
    let archive = format!("{name}.tar.gz");
    step(format!("packing {}", context.short(&dist.join(&archive))));
    if content.exists() {
        fs::remove_dir_all(&content)
            .with_context(|| format!("cannot clear {}", content.display()))?;
    }
    fs::create_dir_all(&content).with_context(|| format!("cannot create {}", content.display()))?;
    let files = FILES.iter().map(|file| context.root.join(file));
    shell::run(
        Command::new("cp")
            .arg("-r")
            .arg(context.binary(Profile::Release, "gtrace"))
            .args(files.filter(|file| file.exists()))
            .arg(&content),
    )?;
    // The same sources give the same archive: order, owner and time do not depend on this host.
    let time = shell::read(
        Command::new("git")
            .args(["log", "-1", "--format=%ct"])
            .current_dir(&context.root),
    )
    .unwrap_or_else(|_| "0".into());
    shell::run(
        Command::new("tar")
            .args([
                "--create",
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
            ])
            .arg(format!("--mtime=@{}", time.trim()))
            .args([
                "--use-compress-program=gzip --no-name",
                "--file",
                &archive,
                &name,
            ])
            .current_dir(&dist),
    )?;
    let sum = shell::read(Command::new("sha256sum").arg(&archive).current_dir(&dist))?;
    let sum_file = dist.join(format!("{archive}.sha256"));
    fs::write(&sum_file, &sum).with_context(|| format!("cannot write {}", sum_file.display()))?;
    print!("{sum}");
    Ok(())
}
