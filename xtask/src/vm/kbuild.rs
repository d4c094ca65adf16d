//! Kernel modules that are built for each kernel: by a script, again only if something it depends on has changed.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Lack;
use super::kernel::Kernel;
use crate::context::Context;
use crate::folders;
use crate::packages;
use crate::shell::{self, step};
use crate::stamp::Hash;

/// What the scripts have in common.
const HEADERS: &str = "vm-tests/headers.sh";

/// Modules that a script `build.sh KERNEL_TREE OUT_DIR MORE...` makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modules {
    /// What they are, for messages.
    pub(super) name: &'static str,
    /// The folder of the script and of what it compiles, in the repository.
    pub(super) sources: &'static str,
    /// The files that it makes, as they lie in its output.
    pub(super) files: &'static [&'static str],
}

impl Modules {
    /// Builds them for `kernel` into `out`, again if the sources, the compiler or `more` have changed: further
    /// arguments of the script, paths that name a version. That there is no compiler is a [`Lack`].
    pub(super) fn build(
        &self,
        context: &Context,
        kernel: &Kernel,
        out: &Path,
        more: &[&OsStr],
    ) -> Result<()> {
        let sources = context.root.join(self.sources);
        let compiler = compiler(kernel)?;
        let version = shell::read(Command::new(&compiler).arg("--version"))?;
        // Modules have BTF only where pahole makes it.
        let pahole = shell::in_path("pahole");
        let mut hash = Hash::new();
        for path in [&sources, &context.root.join(HEADERS)] {
            hash = hash
                .tree(&context.root, path)
                .with_context(|| format!("cannot read {}", path.display()))?;
        }
        for text in more {
            hash = hash.bytes(text.as_encoded_bytes());
        }
        let stamp = hash
            .text(&compiler)
            .text(&version)
            .text(if pahole { "pahole" } else { "no pahole" })
            .finish();
        let stamp_file = out.join("stamp");
        let whole = self.files.iter().all(|file| out.join(file).is_file());
        if whole && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
            return Ok(());
        }
        step(format!("building {} for {}", self.name, kernel.key));
        folders::empty(out)?;
        let mut command = Command::new("sh");
        command
            .arg(sources.join("build.sh"))
            .args([kernel.tree.as_path(), out])
            .args(more)
            .env("MODULE_CC", &compiler);
        let output = shell::output(&mut command)?;
        if !output.status.success() {
            bail!(
                "{} does not build for {}: {}{}",
                self.name,
                kernel.key,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        // Warnings of the compiler.
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        fs::write(&stamp_file, stamp)
            .with_context(|| format!("cannot write {}", stamp_file.display()))
    }
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
            "kernel {} was built with it, and so are modules for it",
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
    Err(Lack(format!(
        "modules cannot be built for {}: neither {wanted} nor gcc is there: install gcc",
        kernel.key
    ))
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
