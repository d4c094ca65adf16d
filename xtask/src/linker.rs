//! bpf-linker: found, or built against the very LLVM that the chosen compiler uses.
//!
//! bpf-linker reads LLVM bitcode, so its LLVM must not be older than rustc's. The surest way is
//! rustc's own libLLVM, which rustup's toolchains and Debian's packages both carry as a shared
//! library: no LLVM development package is needed, and the versions cannot part.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::packages;
use crate::shell::{self, clean, step};
use crate::stamp::Hash;
use crate::toolchain::Toolchain;

/// The version that is built.
const VERSION: &str = "0.13.0";
/// The LLVM versions that it can be built for (its Cargo features).
const SUPPORTED: [u32; 3] = [21, 22, 23];

/// Which LLVM to link it with.
#[derive(Debug, PartialEq, Eq)]
enum Llvm {
    /// The compiler's own library.
    Shared {
        /// Its major version.
        major: u32,
        /// The file.
        file: PathBuf,
        /// The name it is loaded by.
        soname: String,
    },
    /// A directory with `lib/libLLVM.so`.
    Prefix {
        /// Its major version.
        major: u32,
        /// The directory.
        dir: PathBuf,
    },
}

impl Llvm {
    fn major(&self) -> u32 {
        match self {
            Self::Shared { major, .. } | Self::Prefix { major, .. } => *major,
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Shared { file, .. } => file,
            Self::Prefix { dir, .. } => dir,
        }
    }
}

/// bpf-linker for the code that `toolchain` generates; `BPF_LINKER` names another one.
pub(crate) fn ensure(context: &Context, toolchain: &Toolchain) -> Result<PathBuf> {
    if let Some(linker) = std::env::var_os("BPF_LINKER") {
        let linker = PathBuf::from(linker);
        if !shell::succeeds(clean(&linker).arg("--version")) {
            bail!(
                "BPF_LINKER names {}, which does not run: unset it and one is built",
                linker.display()
            );
        }
        return Ok(linker);
    }
    let llvm = choose_llvm(toolchain)?;
    let key = Hash::new()
        .text(&toolchain.version.text)
        .text(&llvm.path().to_string_lossy())
        .finish();
    let root = context
        .tools()
        .join(format!("bpf-linker-{VERSION}-llvm{}-{key}", llvm.major()));
    let linker = root.join("bin/bpf-linker");
    // It is started, not only found: an LLVM that was upgraded away is noticed here.
    if !shell::succeeds(clean(&linker).arg("--version")) {
        build(context, &llvm, &root)?;
    }
    Ok(linker)
}

fn build(context: &Context, llvm: &Llvm, root: &Path) -> Result<()> {
    step(format!(
        "building bpf-linker {VERSION} with LLVM {} ({}): it links the eBPF probes",
        llvm.major(),
        llvm.path().display()
    ));
    let prefix = match llvm {
        Llvm::Prefix { dir, .. } => dir.clone(),
        Llvm::Shared { file, soname, .. } => {
            let prefix = root.join("llvm");
            link_libraries(&prefix.join("lib"), file, soname).with_context(|| {
                format!("cannot link {} into {}", file.display(), prefix.display())
            })?;
            prefix
        }
    };
    let build_dir = root.join("build");
    let result = shell::run(
        // One that does not run may be there: its LLVM is found by a path that a moved checkout no longer has.
        (context.cargo_install())
            .args(["bpf-linker", "--version", VERSION])
            .args(["--no-default-features", "--features"])
            .arg(format!("llvm-{}", llvm.major()))
            .arg("--root")
            .arg(root)
            .arg("--target-dir")
            .arg(&build_dir)
            .env("LLVM_PREFIX", &prefix)
            // Its backtraces help nobody here, and without them it compiles in half the space.
            .env("CARGO_PROFILE_RELEASE_DEBUG", "0"),
    );
    // Only the program is wanted; what it was compiled from is 200 MB.
    let _ = fs::remove_dir_all(&build_dir);
    result.context(
        "bpf-linker could not be built: see above, or set BPF_LINKER to one that has an LLVM at \
         least as new as rustc's",
    )
}

/// Makes `dir` look like the library directory of an LLVM installation.
fn link_libraries(dir: &Path, file: &Path, soname: &str) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    // The linker searches the first name, the dynamic loader for the second.
    for name in ["libLLVM.so", soname] {
        let link = dir.join(name);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link)?;
        }
        symlink(file, &link)?;
    }
    Ok(())
}

fn choose_llvm(toolchain: &Toolchain) -> Result<Llvm> {
    let wanted = toolchain.version.llvm;
    if SUPPORTED.contains(&wanted) {
        let libraries = shell::read(clean("ldd").arg(&toolchain.rustc)).unwrap_or_default();
        if let Some((soname, file)) = find_llvm(&libraries) {
            return Ok(Llvm::Shared {
                major: wanted,
                file: fs::canonicalize(&file)
                    .with_context(|| format!("cannot find {}", file.display()))?,
                soname,
            });
        }
    }
    let usable = || SUPPORTED.into_iter().filter(|major| *major >= wanted);
    if let Some(found) = usable().find_map(system_llvm) {
        return Ok(found);
    }
    let Some(major) = usable().next() else {
        bail!(
            "bpf-linker {VERSION} knows LLVM {} to {}, and {} generates code with LLVM {wanted}: \
             use an older compiler (GTRACE_BPF_RUSTC), or set BPF_LINKER to a newer bpf-linker",
            SUPPORTED[0],
            SUPPORTED[SUPPORTED.len() - 1],
            toolchain.version.first_line()
        );
    };
    let package = format!("llvm-{major}-dev");
    packages::ensure(
        &[&package],
        "bpf-linker, which links the eBPF probes, needs an LLVM no older than rustc's",
    )?;
    system_llvm(major).with_context(|| {
        format!("{package} is installed, and /usr/lib/llvm-{major}/lib/libLLVM.so is not there")
    })
}

/// Where Debian, Ubuntu and apt.llvm.org put an LLVM.
fn system_llvm(major: u32) -> Option<Llvm> {
    let dir = PathBuf::from(format!("/usr/lib/llvm-{major}"));
    let library = dir.join("lib/libLLVM.so");
    library.exists().then_some(Llvm::Prefix { major, dir })
}

/// Name and file of libLLVM out of what `ldd` prints of a compiler.
fn find_llvm(libraries: &str) -> Option<(String, PathBuf)> {
    libraries.lines().find_map(|line| {
        let (name, rest) = line.trim().split_once(" => ")?;
        let file = rest.rsplit_once(" (").map_or(rest, |(file, _)| file);
        (name.starts_with("libLLVM") && file.starts_with('/'))
            .then(|| (name.to_owned(), PathBuf::from(file)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_llvm_of_a_rustup_toolchain_and_of_debian() {
        let rustup = "\tlinux-vdso.so.1 (0x00007f3d)\n\tlibLLVM.so.22.1-rust-1.97.0-nightly => \
                      /t/bin/../lib/libLLVM.so.22.1-rust-1.97.0-nightly (0x00007f3d32400000)\n";
        let (name, file) = find_llvm(rustup).unwrap();
        assert_eq!(name, "libLLVM.so.22.1-rust-1.97.0-nightly");
        assert_eq!(
            file,
            Path::new("/t/bin/../lib/libLLVM.so.22.1-rust-1.97.0-nightly")
        );
        let debian = "\tlibLLVM.so.22.1 => /lib/x86_64-linux-gnu/libLLVM.so.22.1 (0x00007f)\n";
        assert_eq!(find_llvm(debian).unwrap().0, "libLLVM.so.22.1");
    }

    #[test]
    fn a_missing_library_is_no_library() {
        assert_eq!(find_llvm("\tlibLLVM.so.22.1 => not found\n"), None);
        assert_eq!(find_llvm("\tnot a dynamic executable\n"), None);
    }

    #[test]
    fn linked_libraries_replace_stale_ones() {
        let dir = tempfile::tempdir().unwrap();
        let lib = dir.path().join("lib");
        let old = dir.path().join("old");
        let new = dir.path().join("new");
        link_libraries(&lib, &old, "libLLVM.so.22.1").unwrap();
        link_libraries(&lib, &new, "libLLVM.so.22.1").unwrap();
        assert_eq!(fs::read_link(lib.join("libLLVM.so")).unwrap(), new);
        assert_eq!(fs::read_link(lib.join("libLLVM.so.22.1")).unwrap(), new);
    }
}
