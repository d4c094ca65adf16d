//! Which libcuda.so.1 a program would load, and where traced programs find who collects.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The name by which programs load the driver.
pub const NAME: &str = "libcuda.so.1";
/// Where the loader looks last (ld.so(8)), and where distributions have it.
const FOLDERS: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];
/// Largest cache that is read.
const MAX_CACHE: u64 = 64 << 20;

/// There is no driver.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is no {NAME} in LD_LIBRARY_PATH, in /etc/ld.so.cache or in the usual folders: install the NVIDIA \
     driver, name its library by --libcuda PATH, or take the CPU emulator by --softgpu"
)]
pub struct NotFound;

/// The library that a program would load if `own` were not in its search path.
pub fn find(own: &Path) -> Result<PathBuf, NotFound> {
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let cache = fs::metadata("/etc/ld.so.cache")
        .ok()
        .filter(|meta| meta.len() <= MAX_CACHE)
        .and_then(|_| fs::read("/etc/ld.so.cache").ok())
        .unwrap_or_default();
    let listed = std::env::split_paths(&path)
        // An empty entry is the current folder, ld.so(8).
        .map(|folder| match folder.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => folder,
        })
        .map(|folder| folder.join(NAME));
    let usual = FOLDERS.iter().map(|folder| Path::new(folder).join(NAME));
    listed
        .chain(cached(&cache, NAME.as_bytes()))
        .chain(usual)
        .filter_map(|path| std::path::absolute(path).ok())
        .find(|path| path.is_file() && !is_own(path, own))
        .ok_or(NotFound)
}

/// Whether a library is one that gtrace puts before the driver to trace it, of this or another version.
fn is_own(path: &Path, own: &Path) -> bool {
    path.parent() == Some(own)
        || fs::canonicalize(path).is_ok_and(|real| real.ends_with("libgtrace_trace.so"))
}

/// Paths that the loader's cache has for `name`, for this architecture.
///
/// The format is glibc's (sysdeps/generic/dl-cache.h): a head of 48 bytes, `glibc-ld.so.cache1.1` and at 20 the
/// number of entries, then entries of 24 bytes: flags, and offsets of name and path from the file's beginning.
fn cached(cache: &[u8], name: &[u8]) -> Vec<PathBuf> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    /// `FLAG_ELF_LIBC6 | FLAG_X8664_LIB64`, `.. | FLAG_AARCH64_LIB64`
    const FLAGS: u32 = if cfg!(target_arch = "aarch64") {
        0x0a03
    } else {
        0x0303
    };
    // Old caches have another table in front.
    let Some(at) = cache.windows(MAGIC.len()).position(|at| at == MAGIC) else {
        return Vec::new();
    };
    let table = &cache[at..];
    let word = |at: usize| {
        let bytes = table.get(at..at.checked_add(4)?)?;
        bytes.try_into().ok().map(u32::from_ne_bytes)
    };
    let text = |at: u32| {
        let rest = table.get(at as usize..)?;
        rest.split(|byte| *byte == 0).next()
    };
    let count = word(20).unwrap_or(0) as usize;
    (0..count.min(table.len() / 24))
        .filter_map(|entry| {
            let at = 48 + entry * 24;
            let (flags, key, value) = (word(at)?, word(at + 4)?, word(at + 8)?);
            let same = flags == FLAGS && text(key)? == name;
            same.then(|| Some(PathBuf::from(std::ffi::OsStr::from_bytes(text(value)?))))?
        })
        .collect()
}

/// The socket that programs with the environment of `--print-env` report their calls.
///
/// # Errors
///
/// No folder that only this user can reach.
pub fn shared_socket() -> anyhow::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    let folder = std::env::var_os("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_dir())
        .map_or_else(
            || std::env::temp_dir().join(format!("gtrace-{user}")),
            |path| path.join("gtrace"),
        );
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .with_context(|| folder.display().to_string())?;
    let meta = fs::symlink_metadata(&folder)?;
    if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o077 != 0 {
        anyhow::bail!(
            "{} is not a folder that only this user can reach: set XDG_RUNTIME_DIR to one",
            folder.display()
        );
    }
    Ok(folder.join("trace.socket"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A cache with these entries.
    fn cache(entries: &[(u32, &str, &str)]) -> Vec<u8> {
        let mut cache = b"glibc-ld.so.cache1.1".to_vec();
        cache.extend((entries.len() as u32).to_ne_bytes());
        cache.resize(48, 0);
        let mut strings = Vec::new();
        for (flags, name, path) in entries {
            let at = 48 + entries.len() * 24 + strings.len();
            cache.extend(flags.to_ne_bytes());
            cache.extend((at as u32).to_ne_bytes());
            cache.extend(((at + name.len() + 1) as u32).to_ne_bytes());
            cache.extend([0; 12]);
            strings.extend(name.as_bytes());
            strings.push(0);
            strings.extend(path.as_bytes());
            strings.push(0);
        }
        cache.extend(strings);
        cache
    }

    #[test]
    fn each_folder_of_an_architecture_has_its_like_on_arm64() {
        let x86 = FOLDERS.iter().filter(|folder| folder.contains("x86_64"));
        for folder in x86 {
            let arm64 = folder.replace("x86_64", "aarch64");
            assert!(FOLDERS.contains(&arm64.as_str()), "{arm64}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_loaders_cache_is_read() {
        let cache = cache(&[
            (0x0303, "libc.so.6", "/lib/libc.so.6"),
            (0x0003, "libcuda.so.1", "/lib32/libcuda.so.1"),
            (0x0303, "libcuda.so.1", "/lib/libcuda.so.1"),
        ]);
        let found = cached(&cache, NAME.as_bytes());
        assert_eq!(found, [PathBuf::from("/lib/libcuda.so.1")]);
        for length in 0..cache.len() {
            let _ = cached(&cache[..length], NAME.as_bytes());
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_cache_of_this_machine_has_the_c_library() {
        if let Ok(cache) = fs::read("/etc/ld.so.cache") {
            assert!(
                cached(&cache, b"libc.so.6")
                    .iter()
                    .any(|path| path.is_file())
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_a_cache(rest: Vec<u8>) {
            let _ = cached(&[b"glibc-ld.so.cache1.1", rest.as_slice()].concat(), b"x");
        }
    }
}
