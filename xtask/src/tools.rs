//! Cargo subcommands that the repository uses: found, or installed into the target directory.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::context::Context;
use crate::shell::{self, step};

/// A cargo subcommand.
pub(crate) struct Tool {
    /// Program and package, `cargo-deny`.
    pub(crate) name: &'static str,
    /// The subcommand, `deny`.
    pub(crate) subcommand: &'static str,
    /// The version that is installed; another one with the same major and minor number, found
    /// in `PATH`, will do.
    pub(crate) version: &'static str,
    /// What it is for.
    pub(crate) why: &'static str,
}

/// Licences, bans, sources, advisories.
pub(crate) const DENY: Tool = Tool {
    name: "cargo-deny",
    subcommand: "deny",
    version: "0.20.2",
    why: "it checks licences, sources and advisories of the dependencies",
};

/// Fuzzing.
pub(crate) const FUZZ: Tool = Tool {
    name: "cargo-fuzz",
    subcommand: "fuzz",
    version: "0.13.2",
    why: "it builds and runs the fuzz targets",
};

impl Tool {
    /// The program, installed if need be.
    pub(crate) fn ensure(&self, context: &Context) -> Result<PathBuf> {
        if self.fits(Command::new(self.name)) {
            return Ok(self.name.into());
        }
        let root = context.tools();
        let program = root.join("bin").join(self.name);
        if self.fits(Command::new(&program)) {
            return Ok(program);
        }
        step(format!(
            "installing {} {} into {}: {}",
            self.name,
            self.version,
            context.short(&root),
            self.why
        ));
        let build_dir = root.join(format!("build-{}", self.name));
        // Unoptimised: it compiles in a third of the time and runs for seconds.
        let result = shell::run(
            (context.cargo_install())
                .args([self.name, "--version", self.version])
                .args(["--debug", "--root"])
                .arg(&root)
                .arg("--target-dir")
                .arg(&build_dir)
                .env("CARGO_PROFILE_DEV_DEBUG", "0"),
        );
        let _ = fs::remove_dir_all(&build_dir);
        result.with_context(|| format!("{} could not be installed", self.name))?;
        Ok(program)
    }

    fn fits(&self, mut command: Command) -> bool {
        shell::read(command.args([self.subcommand, "--version"]))
            .is_ok_and(|printed| same_minor(&printed, self.version))
    }
}

/// Whether `printed` ends in a version with the major and minor number of `wanted`.
fn same_minor(printed: &str, wanted: &str) -> bool {
    let minor = |version: &str| {
        let mut parts = version.split('.').map(str::to_owned);
        Some((parts.next()?, parts.next()?))
    };
    let printed = printed
        .split_whitespace()
        .find(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()));
    printed.is_some_and(|version| minor(version) == minor(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_release_will_do_and_another_minor_will_not() {
        assert!(same_minor("cargo-deny 0.20.5", "0.20.2"));
        assert!(!same_minor("cargo-deny 0.18.3", "0.20.2"));
        assert!(!same_minor("cargo-deny", "0.20.2"));
    }
}
