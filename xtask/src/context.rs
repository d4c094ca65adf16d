//! Where the repository is, where its outputs go, and which cargo builds it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::shell;

/// The checkout that this command works on.
pub(crate) struct Context {
    /// The repository's root.
    pub(crate) root: PathBuf,
    /// Cargo's target directory, `CARGO_TARGET_DIR` honoured.
    pub(crate) target: PathBuf,
    /// Where the BPF objects go: `bpf` in the target directory, unless `--out-dir` says else.
    pub(crate) bpf: PathBuf,
    /// The cargo that runs this command.
    pub(crate) cargo: PathBuf,
    /// The clippy that compiles in place of rustc, where what is built is checked too.
    pub(crate) clippy: Option<PathBuf>,
}

impl Context {
    /// Finds the checkout and asks cargo for the target directory.
    pub(crate) fn find() -> Result<Self> {
        let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest_dir
            .parent()
            .context("the xtask crate has no parent directory: run `cargo xtask` in a checkout")?
            .to_path_buf();
        let cargo = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
        let metadata = shell::read(
            Command::new(&cargo)
                .args(["metadata", "--no-deps", "--format-version=1"])
                .current_dir(&root),
        )?;
        let metadata: Value =
            serde_json::from_str(&metadata).context("cargo metadata printed no JSON")?;
        let Some(target) = metadata["target_directory"].as_str() else {
            bail!("cargo metadata names no target directory: this cargo is too old");
        };
        let target = PathBuf::from(target);
        Ok(Self {
            root,
            bpf: target.join("bpf"),
            target,
            cargo,
            clippy: None,
        })
    }

    /// Whether this run has built the workspace whole before anything asks for a part of it: only runs that clippy
    /// compiles do.
    pub(crate) fn has_built_all(&self) -> bool {
        self.clippy.is_some()
    }

    /// Has clippy compile in place of rustc. Cargo keeps what it builds so apart from the rest.
    pub(crate) fn with_clippy(self) -> Result<Self> {
        let driver = self.cargo.with_file_name("clippy-driver");
        ensure!(
            driver.is_file(),
            "there is no clippy-driver beside {}: rustup component add clippy",
            self.cargo.display()
        );
        Ok(Self {
            clippy: Some(driver),
            ..self
        })
    }

    /// `cargo install` of a program, by this very toolchain: rustup's proxy for rustc would do what the rust-toolchain.toml of a package
    /// asks for while that is compiled, which can change the toolchain, from several processes at a time.
    pub(crate) fn cargo_install(&self) -> Command {
        let mut command = shell::clean(&self.cargo);
        let rustc = self.cargo.with_file_name("rustc");
        match rustc.is_file() {
            true => command.env("RUSTC", rustc),
            false => command.env_remove("RUSTC"),
        };
        command
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("CARGO_TARGET_DIR")
            .args(["install", "--locked", "--quiet", "--force"]);
        command
    }

    /// A cargo command in the repository's root. gtrace's build script finds the BPF objects in
    /// the target directory by itself; a variable that a plain `cargo build` does not set would
    /// have it compiled again at each change between the two.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        command
            .current_dir(&self.root)
            .env_remove("CARGO_MANIFEST_DIR");
        if let Some(clippy) = &self.clippy {
            command.env("RUSTC_WORKSPACE_WRAPPER", clippy);
            // Built before gtrace, which would build them for itself.
            command.env("GTRACE_SHIM_DIR", self.target.join(Profile::Dev.dir()));
        }
        command
    }

    /// Cargo's `command` in a profile. A release is what rustc makes of it, with its own libraries.
    pub(crate) fn cargo_in(&self, profile: Profile, command: &str) -> Command {
        let mut cargo = self.cargo();
        if profile == Profile::Release {
            cargo.env_remove("RUSTC_WORKSPACE_WRAPPER");
            cargo.env_remove("GTRACE_SHIM_DIR");
        }
        cargo.args([command, profile.argument()]);
        cargo
    }

    /// Where the production BPF object goes.
    pub(crate) fn object(&self) -> PathBuf {
        self.bpf.join("gtrace-probes.o")
    }

    /// Where the BPF object with logging goes.
    pub(crate) fn object_log(&self) -> PathBuf {
        self.bpf.join("gtrace-probes-log.o")
    }

    /// Where the BPF object of the programs in C goes.
    pub(crate) fn object_core(&self) -> PathBuf {
        self.bpf.join("gtrace-core.o")
    }

    /// Where the BPF object of the probes on the CUDA API goes.
    pub(crate) fn object_cuda_api(&self) -> PathBuf {
        self.bpf.join("gtrace-cuda-api.o")
    }

    /// Where tools that the repository needs are installed.
    pub(crate) fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// A program that `cargo build` put into the target directory.
    pub(crate) fn binary(&self, profile: Profile, name: &str) -> PathBuf {
        self.target.join(profile.dir()).join(name)
    }

    /// The CPU emulator as the `gtrace` of this profile carries it; its build has made it.
    pub(crate) fn emulator(&self, profile: Profile) -> PathBuf {
        let folder = match profile {
            Profile::Dev if self.has_built_all() => self.target.clone(),
            _ => self.target.join("embedded"),
        };
        folder.join(profile.dir()).join("libgtrace_softgpu.so")
    }

    /// `path` as a person in the repository's root would write it.
    pub(crate) fn short<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}

/// A cargo profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Quick to compile.
    Dev,
    /// As it is shipped.
    Release,
}

impl Profile {
    fn dir(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }

    /// The argument that chooses it.
    fn argument(self) -> &'static str {
        match self {
            Self::Dev => "--profile=dev",
            Self::Release => "--release",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn programs_are_installed_by_the_compiler_beside_cargo() {
        let dir = tempfile::tempdir().unwrap();
        let context = Context {
            root: PathBuf::new(),
            target: PathBuf::new(),
            bpf: PathBuf::new(),
            cargo: dir.path().join("cargo"),
            clippy: None,
        };
        let compiler = || {
            let command = context.cargo_install();
            let set = command.get_envs().find(|(name, _)| *name == "RUSTC");
            set.and_then(|(_, value)| value).map(PathBuf::from)
        };
        assert_eq!(compiler(), None);
        let rustc = dir.path().join("rustc");
        fs::write(&rustc, "").unwrap();
        assert_eq!(compiler(), Some(rustc));
    }
}
