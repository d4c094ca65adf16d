//! The client's library, unpacked from this binary to where the dynamic loader finds it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

/// Of the same sources as this binary.
const LIBRARY: &[u8] = include_bytes!(env!("GTRACE_SHIM"));
const FILE: &str = "libgtrace_shim.so";
/// Names by which programs look for driver and NVML. Links to one file, so that the dynamic loader
/// takes them for one library.
const NAMES: [&str; 4] = [
    "libcuda.so.1",
    "libcuda.so",
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
];

/// A folder with the library under all its names; named by its content, and made if it is not
/// there.
///
/// # Errors
///
/// No folder that only this user can write to.
pub(super) fn unpack() -> anyhow::Result<PathBuf> {
    let places = places();
    let mut reasons = Vec::new();
    for place in &places {
        match unpack_to(place, LIBRARY) {
            Ok(folder) => return Ok(folder),
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!(
        "the client's library cannot be unpacked: {}; set XDG_CACHE_HOME to a folder of yours",
        reasons.join("; ")
    )
}

/// Folders to try.
fn places() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let cache = variable("XDG_CACHE_HOME").filter(absolute);
    let home = || Some(variable("HOME").filter(absolute)?.join(".cache"));
    let user = rustix::process::geteuid().as_raw();
    cache
        .or_else(home)
        .map(|dir| dir.join("gtrace"))
        .into_iter()
        .chain([PathBuf::from(format!("/var/tmp/gtrace-{user}"))])
        .collect()
}

fn unpack_to(place: &Path, library: &[u8]) -> anyhow::Result<PathBuf> {
    let shown = place.display();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(place)
        .with_context(|| format!("{shown}"))?;
    // /var/tmp is everybody's: what another user has made there is not to be loaded.
    let owned = fs::symlink_metadata(place).with_context(|| format!("{shown}"))?;
    let others = owned.mode() & 0o022 != 0;
    if !owned.is_dir() || owned.uid() != rustix::process::geteuid().as_raw() || others {
        bail!("{shown} is not a folder that only this user can write to");
    }
    let digest = Sha256::digest(library);
    let name: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let folder = place.join(format!("client-{name}"));
    if is_whole(&folder, library) {
        return Ok(folder);
    }
    make(place, &folder, library).with_context(|| format!("{}", folder.display()))?;
    Ok(folder)
}

/// Whether a folder has the library under all its names. Its content is compared, as a full disk or
/// a crash may have left less.
fn is_whole(folder: &Path, library: &[u8]) -> bool {
    let linked =
        |name: &&str| fs::read_link(folder.join(name)).is_ok_and(|to| to == Path::new(FILE));
    NAMES.iter().all(linked) && fs::read(folder.join(FILE)).is_ok_and(|is| is == library)
}

/// Makes the folder aside and moves it to its place at once, so that no other process ever sees a
/// part of it.
fn make(place: &Path, folder: &Path, library: &[u8]) -> io::Result<()> {
    let aside = place.join(format!(".unpacking-{}", std::process::id()));
    let _ = fs::remove_dir_all(&aside);
    DirBuilder::new().mode(0o700).create(&aside)?;
    let made = fill(&aside, library).and_then(|()| match fs::rename(&aside, folder) {
        Ok(()) => Ok(()),
        // Another process was quicker, or what lies there is broken.
        Err(_) if is_whole(folder, library) => fs::remove_dir_all(&aside),
        Err(_) => {
            let broken = place.join(format!(".broken-{}", std::process::id()));
            fs::rename(folder, &broken)?;
            fs::rename(&aside, folder)?;
            fs::remove_dir_all(&broken)
        }
    });
    if made.is_err() {
        let _ = fs::remove_dir_all(&aside);
    }
    made
}

fn fill(folder: &Path, library: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o755)
        .open(folder.join(FILE))?;
    file.write_all(library)?;
    file.sync_all()?;
    NAMES
        .iter()
        .try_for_each(|name| symlink(FILE, folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_unpacked_once_and_mended_if_broken() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("gtrace");
        let folder = unpack_to(&place, b"library").unwrap();
        for name in NAMES {
            assert_eq!(fs::read(folder.join(name)).unwrap(), b"library");
        }
        let inode = fs::metadata(folder.join(FILE)).unwrap().ino();
        assert_eq!(unpack_to(&place, b"library").unwrap(), folder);
        assert_eq!(fs::metadata(folder.join(FILE)).unwrap().ino(), inode);
        fs::write(folder.join(FILE), b"libr").unwrap();
        assert_eq!(unpack_to(&place, b"library").unwrap(), folder);
        assert_eq!(fs::read(folder.join("libcuda.so")).unwrap(), b"library");
        let other = unpack_to(&place, b"another library").unwrap();
        assert_ne!(other, folder);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = unpack_to(dir.path(), b"library").unwrap_err().to_string();
        assert!(error.contains("only this user"), "{error}");
    }

    #[test]
    fn what_is_embedded_is_the_clients_library() {
        let has = |name: &[u8]| LIBRARY.windows(name.len()).any(|at| at == name);
        assert!(LIBRARY.starts_with(b"\x7fELF"));
        assert!(has(b"cuLaunchKernel") && has(b"nvmlInit_v2") && has(b"gtrace_shim_version"));
    }
}
