//! Finds a compiler that can build `core` for BPF, or has it built.
//!
//! Three are known: a distribution's rustc with `core` precompiled for the target (Debian's
//! rustc-web with libstd-rust-web-dev-bpf), and a rustup toolchain, nightly or the active one,
//! with the component rust-src, for which cargo builds `core`. None but nightly accepts what the
//! BPF target needs, hence `RUSTC_BOOTSTRAP=1`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::packages;
use crate::shell::{self, clean, step};

/// The target the probes are compiled for.
pub(crate) const TARGET: &str = "bpfel-unknown-none";

const DEBIAN_PACKAGES: [&str; 2] = ["rustc-web", "libstd-rust-web-dev-bpf"];

/// Where `core` comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    /// It is in the compiler's sysroot.
    Precompiled,
    /// Cargo builds it from the component rust-src.
    BuildStd,
}

/// What `rustc -vV` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    /// Major and minor.
    pub(crate) release: (u32, u32),
    /// Major version of the LLVM it generates code with.
    pub(crate) llvm: u32,
    /// The host's triple.
    pub(crate) host: String,
    /// All of it.
    pub(crate) text: String,
}

impl Version {
    /// Reads the output of `rustc -vV`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        Some(Self {
            release: major_minor(field("release: ")?)?,
            llvm: field("LLVM version: ")?.split('.').next()?.parse().ok()?,
            host: field("host: ")?.to_owned(),
            text: text.trim().to_owned(),
        })
    }

    /// The first line, as `rustc --version` prints it.
    pub(crate) fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// `1.96.0+dfsg1` is (1, 96).
fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(str::parse::<u32>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// A compiler that builds the probes.
#[derive(Clone, Debug)]
pub(crate) struct Toolchain {
    /// The compiler itself, never rustup's proxy.
    pub(crate) rustc: PathBuf,
    /// The cargo that goes with it.
    pub(crate) cargo: PathBuf,
    /// Where `core` comes from.
    pub(crate) core: Core,
    /// Its version.
    pub(crate) version: Version,
}

impl Toolchain {
    /// Finds one; installs what is missing where it can.
    pub(crate) fn ensure(context: &Context) -> Result<Self> {
        if let Some(found) = Self::find(context)? {
            return Ok(found);
        }
        install()?;
        Self::find(context)?.with_context(|| {
            format!(
                "the packages are installed, and still no compiler here builds for {TARGET}: \
                 {REMEDY}"
            )
        })
    }

    /// Finds one among those that are here; `core` precompiled is preferred, as it is quicker.
    pub(crate) fn find(context: &Context) -> Result<Option<Self>> {
        if let Some(rustc) = std::env::var_os("GTRACE_BPF_RUSTC") {
            let rustc = PathBuf::from(rustc);
            let found = Self::probe(&rustc, &context.cargo);
            return found.map(Some).with_context(|| {
                format!(
                    "GTRACE_BPF_RUSTC names {}, which cannot build for {TARGET}: {REMEDY}",
                    rustc.display()
                )
            });
        }
        let mut from_source = None;
        for (rustc, cargo) in candidates(context) {
            match Self::probe(&rustc, &cargo) {
                Some(found) if found.core == Core::Precompiled => return Ok(Some(found)),
                found => from_source = from_source.or(found),
            }
        }
        Ok(from_source)
    }

    fn probe(rustc: &Path, cargo: &Path) -> Option<Self> {
        if !shell::is_executable(rustc) {
            return None;
        }
        let version = Version::parse(&shell::read(clean(rustc).arg("-vV")).ok()?)?;
        if version.release < oldest() {
            return None;
        }
        let printed = shell::read(
            clean(rustc)
                .args([
                    "--print=target-libdir",
                    "--print=sysroot",
                    "--target",
                    TARGET,
                ])
                .env("RUSTC_BOOTSTRAP", "1"),
        )
        .ok()?;
        let mut lines = printed.lines().map(Path::new);
        let (libdir, sysroot) = (lines.next()?, lines.next()?);
        let core = if has_core(libdir) {
            Core::Precompiled
        } else if sysroot.join("lib/rustlib/src/rust/library/core").is_dir() {
            Core::BuildStd
        } else {
            return None;
        };
        Some(Self {
            rustc: rustc.to_path_buf(),
            cargo: cargo.to_path_buf(),
            core,
            version,
        })
    }

    /// For people: which compiler this is.
    pub(crate) fn describe(&self) -> String {
        let core = match self.core {
            Core::Precompiled => "core precompiled",
            Core::BuildStd => "core from rust-src",
        };
        format!("{}, {core}", self.version.first_line())
    }
}

const REMEDY: &str = "on Debian 12 `apt-get install rustc-web libstd-rust-web-dev-bpf`, elsewhere \
                      `rustup component add rust-src` (docs/building.md)";

/// The oldest compiler that the workspace, and so gtrace-abi, accepts.
fn oldest() -> (u32, u32) {
    major_minor(env!("CARGO_PKG_RUST_VERSION")).unwrap_or((1, 95))
}

fn has_core(libdir: &Path) -> bool {
    libdir.read_dir().is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libcore-") && name.ends_with(".rlib")
        })
    })
}

/// Compilers that may be here, each with its cargo.
fn candidates(context: &Context) -> impl Iterator<Item = (PathBuf, PathBuf)> {
    let own = context.cargo.clone();
    // /usr/bin/rustc comes without a cargo of its own where rustc-web is all there is.
    let system = std::iter::once((PathBuf::from("/usr/bin/rustc"), own.clone()));
    let nightly = std::iter::once_with(|| {
        let rustc = rustup_which("nightly", "rustc")?;
        Some((rustc, rustup_which("nightly", "cargo")?))
    });
    let active = std::iter::once_with(move || {
        let sysroot = shell::read(Command::new("rustc").arg("--print=sysroot")).ok()?;
        Some((Path::new(sysroot.trim()).join("bin/rustc"), own))
    });
    system.chain(nightly.flatten()).chain(active.flatten())
}

fn rustup_which(toolchain: &str, program: &str) -> Option<PathBuf> {
    let path = shell::read(clean("rustup").args(["which", "--toolchain", toolchain, program]));
    Some(PathBuf::from(path.ok()?.trim()))
}

/// Installs a compiler or what the present one lacks.
fn install() -> Result<()> {
    let why = "the eBPF probes are compiled for the BPF target";
    let recent = |version: String| major_minor(&version).is_some_and(|v| v >= oldest());
    if packages::can_install() && packages::candidate("rustc-web").is_some_and(recent) {
        return packages::ensure(&DEBIAN_PACKAGES, why);
    }
    if shell::in_path("rustup") {
        let toolchain = if rustup_which("nightly", "rustc").is_some() {
            "nightly".to_owned()
        } else {
            active_toolchain()?
        };
        step(format!(
            "rustup component add rust-src to {toolchain}: {why}"
        ));
        return shell::run(clean("rustup").args([
            "component",
            "add",
            "rust-src",
            "--toolchain",
            &toolchain,
        ]))
        .with_context(|| format!("no compiler here builds for {TARGET}: {REMEDY}"));
    }
    bail!("no compiler here builds for {TARGET}: {REMEDY}")
}

fn active_toolchain() -> Result<String> {
    let text = shell::read(Command::new("rustup").args(["show", "active-toolchain"]))?;
    let name = text.split_whitespace().next();
    Ok(name
        .context("rustup names no active toolchain: run `rustup default stable`")?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBIAN: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\n\
                          binary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.96.0\n\
                          LLVM version: 22.1.8\n";

    #[test]
    fn the_compilers_version_names_its_llvm() {
        let version = Version::parse(DEBIAN).unwrap();
        assert_eq!(version.release, (1, 96));
        assert_eq!(version.llvm, 22);
        assert_eq!(version.host, "x86_64-unknown-linux-gnu");
        assert!(version.first_line().starts_with("rustc 1.96.0"));
    }

    #[test]
    fn a_compiler_without_llvm_is_none_of_ours() {
        assert_eq!(Version::parse("rustc 1.96.0\nrelease: 1.96.0\n"), None);
    }

    #[test]
    fn package_and_compiler_versions_compare_by_number() {
        assert_eq!(major_minor("1.96.0+dfsg1-1~deb12u2"), Some((1, 96)));
        assert_eq!(major_minor("1.97.0-nightly"), Some((1, 97)));
        assert_eq!(major_minor("1.95"), Some((1, 95)));
        assert_eq!(major_minor("nightly"), None);
        assert!(oldest() >= (1, 95));
    }

    #[test]
    fn core_is_found_by_its_library() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!has_core(dir.path()));
        std::fs::write(dir.path().join("libcore-8056e5e5b270ef4d.rlib"), "").unwrap();
        assert!(has_core(dir.path()));
    }
}
