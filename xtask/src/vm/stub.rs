//! The stub of the NVIDIA driver, built for each kernel, and the fake of NVML.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::kernel::Kernel;
use crate::context::Context;
use crate::packages;
use crate::shell::{self, step};
use crate::stamp::Hash;

/// The stub's sources in the repository.
const SOURCES: &str = "vm-tests/nvidia-stub";

/// The files that a build makes, as they lie in its directory and in the guest's `/stub`.
pub(super) const FILES: [&str; 4] = [
    "current/nvidia.ko",
    "current/nvidia-uvm.ko",
    "frontend/nvidia.ko",
    "frontend/nvidia-uvm.ko",
];

/// There is no compiler for kernel modules here.
#[derive(Debug)]
pub(crate) struct NoCompiler {
    kernel: String,
    wanted: String,
}

impl fmt::Display for NoCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, wanted } = self;
        write!(
            f,
            "the stub of the NVIDIA driver cannot be built for {kernel}: neither {wanted} nor gcc \
             is there: install gcc"
        )
    }
}

impl std::error::Error for NoCompiler {}

/// The directory that has [`FILES`] for `kernel`, built again if the sources or the compiler have
/// changed. That there is no compiler is a [`NoCompiler`].
pub(super) fn build(context: &Context, cache: &Path, kernel: &Kernel) -> Result<PathBuf> {
    let sources = context.root.join(SOURCES);
    let compiler = compiler(kernel)?;
    let version = shell::read(Command::new(&compiler).arg("--version"))?;
    // Modules have BTF only where pahole makes it.
    let pahole = shell::in_path("pahole");
    let stamp = Hash::new()
        .tree(&context.root, &sources)
        .with_context(|| format!("cannot read {}", sources.display()))?
        .text(&compiler)
        .text(&version)
        .text(if pahole { "pahole" } else { "no pahole" })
        .finish();
    let out = cache.join("stub").join(&kernel.key);
    let stamp_file = out.join("stamp");
    let whole = FILES.iter().all(|file| out.join(file).is_file());
    if whole && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        return Ok(out);
    }
    step(format!(
        "building the stub of the NVIDIA driver for {}",
        kernel.key
    ));
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("cannot clear {}", out.display()))?;
    }
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut command = Command::new("sh");
    command
        .arg(sources.join("build.sh"))
        .arg(&kernel.tree)
        .env("NVIDIA_STUB_CC", &compiler);
    let output = shell::output(command.arg(&out))?;
    if !output.status.success() {
        bail!(
            "the stub of the NVIDIA driver does not build for {}: {}{}",
            kernel.key,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    // Warnings of the compiler.
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    fs::write(&stamp_file, stamp)
        .with_context(|| format!("cannot write {}", stamp_file.display()))?;
    Ok(out)
}

/// The compiler for modules of `kernel`: the gcc that built it, installed where a package has it,
/// else any other gcc, which Debian's headers let pass.
fn compiler(kernel: &Kernel) -> Result<String> {
    let wanted = wanted(&kernel.tree)?;
    if shell::in_path(&wanted) {
        return Ok(wanted);
    }
    if packages::can_install() && packages::candidate(&wanted).is_some() {
        let why = format!(
            "kernel {} was built with it, and so is the stub",
            kernel.key
        );
        match packages::ensure(&[&wanted], &why) {
            Ok(()) if shell::in_path(&wanted) => return Ok(wanted),
            Ok(()) => step(format!("the package {wanted} has no program of that name")),
            Err(error) => step(format!("going on without {wanted}: {error:#}")),
        }
    }
    if shell::in_path("gcc") {
        return Ok("gcc".to_owned());
    }
    Err(NoCompiler {
        kernel: kernel.key.clone(),
        wanted,
    }
    .into())
}

/// `gcc-12`, as the headers below `tree` name it; `gcc` if they name none.
fn wanted(tree: &Path) -> Result<String> {
    let sources = tree.join("usr/src");
    let entries =
        fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))?;
    let named = entries
        .filter_map(Result::ok)
        .filter_map(|entry| fs::read_to_string(entry.path().join(".kernelvariables")).ok())
        .find_map(|text| named(&text));
    Ok(named.unwrap_or_else(|| "gcc".to_owned()))
}

/// The compiler's name out of Debian's `.kernelvariables`:
/// `CC = $(if $(DEBIAN_KERNEL_USE_CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-12`.
fn named(variables: &str) -> Option<String> {
    let value = variables.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim_end_matches([' ', ':']);
        (name.split(' ').next_back() == Some("CC")).then_some(value)
    })?;
    let name = &value[value.rfind("gcc")?..];
    let whole = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    name.chars().all(whole).then(|| name.to_owned())
}

/// Compiles the fake of NVML, the same that the tests of gtrace-devices use.
pub(super) fn fake_nvml(context: &Context, cache: &Path) -> Result<PathBuf> {
    let library = cache.join("libnvidia-ml.so.1");
    let source = context
        .root
        .join("userspace/devices/tests/fake-nvml/fake_nvml.c");
    shell::read(
        Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source]),
    )
    .context("the fake of NVML does not build")?;
    Ok(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_read_out_of_debians_headers() {
        let bookworm = "override ARCH = x86\nCCACHE = ccache\nCC = $(if \
                        $(DEBIAN_KERNEL_USE_CCACHE),$(CCACHE)) $(CROSS_COMPILE)gcc-12\n";
        assert_eq!(named(bookworm).unwrap(), "gcc-12");
        assert_eq!(
            named("override CC := x86_64-linux-gnu-gcc-14\n").unwrap(),
            "gcc-14"
        );
        assert_eq!(named("CC := gcc\n").unwrap(), "gcc");
        assert_eq!(named("CC = clang\n"), None);
        assert_eq!(named("HOSTCC = gcc-12\n"), None);
    }

    #[test]
    fn headers_that_name_no_compiler_take_any_gcc() {
        let tree = tempfile::tempdir().unwrap();
        let headers = tree.path().join("usr/src/linux-headers-6.12-amd64");
        fs::create_dir_all(&headers).unwrap();
        assert_eq!(wanted(tree.path()).unwrap(), "gcc");
        fs::write(headers.join(".kernelvariables"), "CC = gcc-13\n").unwrap();
        assert_eq!(wanted(tree.path()).unwrap(), "gcc-13");
    }
}
