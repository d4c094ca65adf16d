//! Finding and opening the real driver.

use std::path::{Path, PathBuf};

use crate::exec::Libraries;
use crate::generated::driver::Driver;
use crate::generated::nvml::Nvml;

/// Folders where the driver's installers put its libraries: Debian and Ubuntu, Red Hat and SUSE,
/// WSL 2, NVIDIA's container toolkit and its Kubernetes operator, NixOS, Arch.
const FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
    "/run/opengl-driver/lib",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu/nvidia/current",
    "/usr/lib",
];

/// Symbol that the client's library has and the driver has not.
const SHIM_MARK: &[u8] = b"gtrace_shim_version\0";

/// Why there is no driver.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LibraryError {
    /// It is nowhere.
    #[error(
        "no libcuda.so.1 in {0}: install NVIDIA's driver, name the library with --libcuda, or serve \
         the CPU emulator of a GPU with --softgpu"
    )]
    NotFound(String),
    /// It cannot be opened.
    #[error("{path} cannot be opened: {cause}; name the driver's library with --libcuda")]
    Open {
        /// The file.
        path: PathBuf,
        /// What the dynamic linker says.
        cause: String,
    },
    /// It is the client's own library.
    #[error(
        "{0} is gtrace's own library for clients, not NVIDIA's driver: it would ask this server \
         again; name the driver's library with --libcuda"
    )]
    OwnShim(PathBuf),
    /// It is something else.
    #[error(
        "{0} has no cuInit: it is not the CUDA driver; name the driver's library with --libcuda"
    )]
    NoDriver(PathBuf),
}

/// Where the driver's library is.
///
/// # Errors
///
/// [`LibraryError::NotFound`].
pub(crate) fn find(name: &str) -> Result<PathBuf, LibraryError> {
    FOLDERS
        .iter()
        .map(|folder| Path::new(folder).join(name))
        .find(|path| path.exists())
        .ok_or_else(|| LibraryError::NotFound(FOLDERS.join(", ")))
}

/// Opens driver and NVML for the rest of the process.
///
/// # Errors
///
/// [`LibraryError`]. A missing NVML is none: its functions are absent then.
pub(crate) fn open(libcuda: &Path, libnvml: Option<&Path>) -> Result<Libraries, LibraryError> {
    let failed = |cause: libloading::Error| LibraryError::Open {
        path: libcuda.into(),
        cause: cause.to_string(),
    };
    let driver = Driver::load(libcuda).map_err(failed)?;
    if driver.cuInit.is_none() {
        return Err(LibraryError::NoDriver(libcuda.into()));
    }
    let nvml = match libnvml {
        Some(path) => {
            if path != libcuda {
                refuse_shim(path)?;
            }
            Nvml::load(path).map_err(|cause| LibraryError::Open {
                path: path.into(),
                cause: cause.to_string(),
            })?
        }
        // The driver's library has none of NVML's symbols, so each of them is absent.
        None => Nvml::load(libcuda).map_err(failed)?,
    };
    Ok(Libraries {
        driver: Box::leak(Box::new(driver)),
        nvml: Box::leak(Box::new(nvml)),
    })
}

/// Refuses a file that has the mark of the client's library, before it is opened: its constructors
/// would run. Reads the whole file, so this is for the server's start, not for each client's.
///
/// # Errors
///
/// [`LibraryError::OwnShim`], and [`LibraryError::Open`] for a file that cannot be read.
pub(crate) fn refuse_shim(path: &Path) -> Result<(), LibraryError> {
    let bytes = std::fs::read(path).map_err(|cause| LibraryError::Open {
        path: path.into(),
        cause: cause.to_string(),
    })?;
    match memchr::memmem::find(&bytes, SHIM_MARK) {
        Some(_) => Err(LibraryError::OwnShim(path.into())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_of_an_architecture_has_its_like_on_arm64() {
        let x86 = FOLDERS.iter().filter(|folder| folder.contains("x86_64"));
        for folder in x86 {
            let arm64 = folder.replace("x86_64", "aarch64");
            assert!(FOLDERS.contains(&arm64.as_str()), "{arm64}");
        }
    }

    #[test]
    fn the_clients_library_and_others_are_refused_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let shim = dir.path().join("libcuda.so.1");
        std::fs::write(&shim, b"\x7fELF ... gtrace_shim_version\0 ...").unwrap();
        let error = refuse_shim(&shim).unwrap_err().to_string();
        assert!(error.contains("own library") && error.contains("--libcuda"));
        std::fs::write(&shim, b"text").unwrap();
        assert!(refuse_shim(&shim).is_ok());
        let error = open(&shim, None).unwrap_err().to_string();
        assert!(error.contains("cannot be opened"), "{error}");
        let error = open(Path::new("/no/such/file"), None).unwrap_err();
        assert!(error.to_string().contains("--libcuda"), "{error}");
        assert!(find("libno-such-thing.so.1").is_err());
    }
}
