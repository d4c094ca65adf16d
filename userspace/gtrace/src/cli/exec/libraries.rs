//! The client's library, unpacked from this binary to where the dynamic loader finds it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink,
};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cli::shared::cache_folder;

/// A library that this binary carries, of the same sources.
pub(in crate::cli) struct Library {
    /// Its content, as zstd packs it.
    packed: &'static [u8],
    /// Of its content.
    sum: Sum,
    /// What its content is reported by, worked out when this binary was built.
    digest: &'static str,
    /// The file's name.
    file: &'static str,
    /// Names by which programs look for it. Links to one file, so that the dynamic loader takes them for
    /// one library.
    names: &'static [&'static str],
    /// What the folder's name begins with.
    folder: &'static str,
}

/// Tells a whole file from one of which a full disk or a crash has left less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    /// Bytes.
    len: usize,
    crc32c: u32,
}

impl Sum {
    fn of(bytes: &[u8]) -> Self {
        Self {
            len: bytes.len(),
            crc32c: crc32c::crc32c(bytes),
        }
    }
}

const DRIVER_AND_NVML: &[&str] = &[
    "libcuda.so.1",
    "libcuda.so",
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
];

// Statics, not constants: each user of a constant would have megabytes of its own in this binary.

/// Driver and NVML of a client without a GPU.
pub(in crate::cli) static CLIENT: Library = Library {
    packed: include_bytes!(env!("GTRACE_SHIM")),
    sum: include!(env!("GTRACE_SHIM_SUM")),
    digest: env!("GTRACE_SHIM_DIGEST"),
    // Named as a driver's is, so that tracers find it: processes have it mapped by this name.
    file: "libcuda.so.gtrace",
    names: DRIVER_AND_NVML,
    folder: "remote",
};

/// CUPTI of a client without a GPU.
pub(in crate::cli) static CUPTI: Library = Library {
    packed: include_bytes!(env!("GTRACE_CUPTI")),
    sum: include!(env!("GTRACE_CUPTI_SUM")),
    digest: env!("GTRACE_CUPTI_DIGEST"),
    file: "libcupti.so.gtrace",
    names: &CUPTI_NAMES,
    folder: "cupti",
};

/// Names by which programs look for CUPTI: those of CUDA 13 and 12.
pub(in crate::cli) const CUPTI_NAMES: [&str; 2] = ["libcupti.so.13", "libcupti.so.12"];

/// The driver of a traced program.
pub(in crate::cli) static TRACE: Library = Library {
    packed: include_bytes!(env!("GTRACE_TRACE")),
    sum: include!(env!("GTRACE_TRACE_SUM")),
    digest: env!("GTRACE_TRACE_DIGEST"),
    file: "libgtrace_trace.so",
    names: &["libcuda.so.1", "libcuda.so"],
    folder: "trace",
};

/// The CPU emulator for a GPU.
pub(in crate::cli) static SOFTGPU: Library = Library {
    packed: include_bytes!(env!("GTRACE_SOFTGPU")),
    sum: include!(env!("GTRACE_SOFTGPU_SUM")),
    digest: env!("GTRACE_SOFTGPU_DIGEST"),
    file: "libcuda.so.gtrace-softgpu",
    names: DRIVER_AND_NVML,
    folder: "cpu-emulator",
};

impl Library {
    /// Its content.
    ///
    /// # Errors
    ///
    /// None but for lack of memory: this binary carries it whole.
    pub(in crate::cli) fn bytes(&self) -> io::Result<Vec<u8>> {
        zstd::bulk::decompress(self.packed, self.sum.len)
    }

    /// A folder with the library under all its names; named by its content, and made if it is not
    /// there.
    ///
    /// # Errors
    ///
    /// No folder that only this user can write to.
    pub(in crate::cli) fn unpack(&self) -> anyhow::Result<PathBuf> {
        let places = places();
        let mut reasons = Vec::new();
        for place in &places {
            match self.unpack_to(place) {
                Ok(folder) => return Ok(folder),
                Err(error) => reasons.push(format!("{error:#}")),
            }
        }
        bail!(
            "{} cannot be unpacked: {}; set XDG_CACHE_HOME to a folder of yours",
            self.file,
            reasons.join("; ")
        )
    }

    /// As [`Self::unpack`], below `place`, for users of containers, who may all read it.
    ///
    /// # Errors
    ///
    /// If `place` is no folder that only this user can write to.
    pub(in crate::cli) fn unpack_for_all(&self, place: &Path) -> anyhow::Result<PathBuf> {
        let folder = self.unpack_to(place)?;
        for path in [folder.join(self.file), folder.clone()] {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
                .with_context(|| format!("{}", path.display()))?;
        }
        Ok(folder)
    }

    fn unpack_to(&self, place: &Path) -> anyhow::Result<PathBuf> {
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
        let folder = place.join(format!("{}-{}", self.folder, self.digest));
        if self.is_whole(&folder) {
            return Ok(folder);
        }
        self.make(place, &folder)
            .with_context(|| format!("{}", folder.display()))?;
        Ok(folder)
    }

    /// Whether a folder has the library under all its names, whole.
    fn is_whole(&self, folder: &Path) -> bool {
        let linked = |name: &&str| {
            fs::read_link(folder.join(name)).is_ok_and(|to| to == Path::new(self.file))
        };
        self.names.iter().all(linked)
            && fs::read(folder.join(self.file)).is_ok_and(|is| Sum::of(&is) == self.sum)
    }

    /// Makes the folder aside and moves it to its place at once, so that no other process ever sees a
    /// part of it.
    fn make(&self, place: &Path, folder: &Path) -> io::Result<()> {
        let aside = place.join(format!(".unpacking-{}", std::process::id()));
        let _ = fs::remove_dir_all(&aside);
        DirBuilder::new().mode(0o700).create(&aside)?;
        let made = self
            .fill(&aside)
            .and_then(|()| match fs::rename(&aside, folder) {
                Ok(()) => Ok(()),
                // Another process was quicker, or what lies there is broken.
                Err(_) if self.is_whole(folder) => fs::remove_dir_all(&aside),
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

    fn fill(&self, folder: &Path) -> io::Result<()> {
        let mut file: File = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o755)
            .open(folder.join(self.file))?;
        file.write_all(&self.bytes()?)?;
        file.sync_all()?;
        self.names
            .iter()
            .try_for_each(|name| symlink(self.file, folder.join(name)))
    }
}

/// Folders to try.
fn places() -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    cache_folder()
        .map(|dir| dir.join("gtrace"))
        .into_iter()
        .chain([PathBuf::from(format!("/var/tmp/gtrace-{user}"))])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Libraries that the dynamic loader wants before an object runs.
    fn needed(bytes: &[u8]) -> Vec<String> {
        use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _};
        let file = ElfFile64::<object::Endianness>::parse(bytes).unwrap();
        let endian = file.endian();
        let header = file.elf_header();
        let sections = header.sections(endian, bytes).unwrap();
        let (dynamic, strings) = sections.dynamic(endian, bytes).unwrap().unwrap();
        let strings = sections.strings(endian, bytes, strings).unwrap();
        dynamic
            .iter()
            .filter(|entry| entry.tag(endian) == object::elf::DT_NEEDED)
            .map(|entry| String::from_utf8(entry.string(endian, strings).unwrap().into()).unwrap())
            .collect()
    }

    #[test]
    fn they_and_gtrace_start_without_rdma_core() {
        let gtrace = fs::read(std::env::current_exe().unwrap()).unwrap();
        let embedded = [&CLIENT, &CUPTI, &TRACE, &SOFTGPU].map(|library| library.bytes().unwrap());
        for bytes in [gtrace].into_iter().chain(embedded) {
            let needed = needed(&bytes);
            assert!(needed.iter().any(|name| name.starts_with("libc.so")));
            let rdma = |name: &String| name.contains("ibverbs") || name.contains("rdmacm");
            assert!(!needed.iter().any(rdma), "{needed:?}");
        }
    }

    fn of(bytes: &[u8], digest: &'static str) -> Library {
        Library {
            packed: zstd::bulk::compress(bytes, 1).unwrap().leak(),
            sum: Sum::of(bytes),
            digest,
            ..CLIENT
        }
    }

    #[test]
    fn the_library_is_unpacked_once_and_mended_if_broken() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("gtrace");
        let library = of(b"library", "1");
        let folder = library.unpack_to(&place).unwrap();
        for name in CLIENT.names {
            assert_eq!(fs::read(folder.join(name)).unwrap(), b"library");
        }
        let file = folder.join(CLIENT.file);
        let inode = fs::metadata(&file).unwrap().ino();
        assert_eq!(library.unpack_to(&place).unwrap(), folder);
        assert_eq!(fs::metadata(&file).unwrap().ino(), inode);
        fs::write(&file, b"libr").unwrap();
        assert_eq!(library.unpack_to(&place).unwrap(), folder);
        assert_eq!(fs::read(folder.join("libcuda.so")).unwrap(), b"library");
        let other = of(b"another library", "2").unpack_to(&place).unwrap();
        assert_ne!(other, folder);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = of(b"library", "1")
            .unpack_to(dir.path())
            .unwrap_err()
            .to_string();
        assert!(error.contains("only this user"), "{error}");
    }

    #[test]
    fn what_is_embedded_is_what_its_name_says() {
        let has = |library: &Library, name: &[u8]| {
            let bytes = library.bytes().unwrap();
            assert_eq!(Sum::of(&bytes), library.sum);
            bytes.starts_with(b"\x7fELF") && bytes.windows(name.len()).any(|at| at == name)
        };
        for name in [
            &b"cuLaunchKernel"[..],
            b"nvmlInit_v2",
            b"gtrace_shim_version",
        ] {
            assert!(has(&CLIENT, name));
        }
        assert!(has(&CUPTI, b"cuptiActivityEnable"));
        assert!(has(&TRACE, b"cuLaunchKernel") && has(&TRACE, b"gtrace_trace_version"));
        assert!(has(&SOFTGPU, b"nvmlInit_v2") && !has(&SOFTGPU, b"gtrace_trace_version"));
    }
}
