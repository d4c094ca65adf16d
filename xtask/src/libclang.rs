//! The library by which rdma-sys reads the header of libibverbs.
//!
//! Its bindgen (0.59) panics at what libclang 16 and later say. Debian 12, Ubuntu 22.04 and 24.04 have
//! libclang 14; where there is none so old, that of the package on PyPI is taken. `.cargo/config.toml`
//! sets the path where cargo finds it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::context::Context;
use crate::shell::step;
use crate::{packages, pypi};

/// Below the repository's root whatever the target directory is, as cargo's configuration names it.
const PLACE: &str = "target/tools/libclang";

/// Where distributions put each release of LLVM.
const INSTALLED: &str = "/usr/lib";
/// The releases that bindgen goes with, the best first.
const RELEASES: [u32; 6] = [14, 15, 13, 12, 11, 10];

const DEBIAN: [&str; 2] = ["libclang1-14", "libclang-common-14-dev"];
const PYPI: &str = "libclang==14.0.6";
/// Where its file is in that package.
const IN_PACKAGE: &str = "libclang-14.0.6.data/platlib/clang/native";

/// Sees to it that cargo finds one.
pub(crate) fn ensure(context: &Context) -> Result<()> {
    let place = context.root.join(PLACE);
    // By cargo's configuration it is set in any case.
    let named = std::env::var_os("LIBCLANG_PATH").map(PathBuf::from);
    if named.is_some_and(|folder| has_library(&folder)) || has_library(&place) {
        return Ok(());
    }
    let folder = match installed(Path::new(INSTALLED)) {
        Some(folder) => folder,
        None => fetched(context)?,
    };
    let parent = place.parent().context("a place below the root")?;
    fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    match fs::remove_file(&place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| place.display().to_string());
        }
        _ => {}
    }
    step(format!("libclang for rdma-sys: {}", folder.display()));
    symlink(&folder, &place).with_context(|| place.display().to_string())
}

/// From the distribution, or else from PyPI.
fn fetched(context: &Context) -> Result<PathBuf> {
    let why = "a libclang before 16 is needed to build rdma-sys";
    if packages::can_install() && packages::candidate(DEBIAN[0]).is_some() {
        packages::ensure(&DEBIAN, why)?;
        if let Some(folder) = installed(Path::new(INSTALLED)) {
            return Ok(folder);
        }
    }
    pypi::can_make_environments(why)?;
    let tools = context.root.join("target/tools");
    fs::create_dir_all(&tools).with_context(|| tools.display().to_string())?;
    let environment = tools.join("python");
    pypi::make_environment(&environment)?;
    let folder = tools.join("libclang-pypi");
    pypi::unpack(&environment.join("bin/python3"), &[PYPI], &folder)
        .with_context(|| format!("{why}: install one and name its folder in LIBCLANG_PATH"))?;
    let found = folder.join(IN_PACKAGE);
    ensure!(
        has_library(&found),
        "{why}, and {PYPI} of PyPI has none at {}",
        found.display()
    );
    Ok(found)
}

/// The folder of an installed one.
fn installed(below: &Path) -> Option<PathBuf> {
    RELEASES
        .iter()
        .map(|release| below.join(format!("llvm-{release}/lib")))
        .find(|folder| has_library(folder))
}

fn has_library(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libclang.so") || name.starts_with("libclang-1") && name.contains(".so")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_bindgen_goes_with_is_chosen() {
        let dir = tempfile::tempdir().unwrap();
        for (release, file) in [
            (13, "libclang-13.so.13"),
            (14, "libclang-cpp.so.14"),
            (15, "libclang.so.1"),
            (19, "libclang-19.so.19"),
        ] {
            let lib = dir.path().join(format!("llvm-{release}/lib"));
            fs::create_dir_all(&lib).unwrap();
            fs::write(lib.join(file), "").unwrap();
        }
        // 14 has the library of C++ alone, 19 is too new.
        assert_eq!(installed(dir.path()), Some(dir.path().join("llvm-15/lib")));
        fs::remove_dir_all(dir.path().join("llvm-15")).unwrap();
        assert_eq!(installed(dir.path()), Some(dir.path().join("llvm-13/lib")));
        fs::remove_dir_all(dir.path().join("llvm-13")).unwrap();
        assert_eq!(installed(dir.path()), None);
    }
}
