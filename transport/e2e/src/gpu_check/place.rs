//! Where things are: the parts of the unpacked archive, and the driver of this machine.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tempfile::TempDir;

use crate::artefacts::under_the_names_of_the_driver;
use crate::case::Ground;
use crate::server::Gpu;

/// How long one program may take.
const LIMIT: Duration = Duration::from_secs(60);
/// On the CPU emulator, which may be unoptimised on a busy host.
const LIMIT_CPU_EMULATOR: Duration = Duration::from_secs(120);

/// The parts of the archive.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The binary.
    pub gtrace: PathBuf,
    /// `gtrace-e2e-client`.
    pub client: PathBuf,
    /// The folder of the programs of [`super::portable::PROGRAMS`].
    pub programs: PathBuf,
    /// The folder of the kernels' PTX.
    pub kernels: PathBuf,
    /// The folder of the scripts in Python.
    pub python: PathBuf,
    /// The folder of libraries that gtrace wants and a bare machine may not have.
    pub libraries: PathBuf,
    /// The CPU emulator's library.
    pub softgpu: PathBuf,
}

impl Parts {
    /// Those of an archive that was unpacked to `folder`.
    pub fn of(folder: &Path) -> Self {
        Self {
            gtrace: folder.join("gtrace"),
            client: folder.join("gtrace-e2e-client"),
            programs: folder.join("programs"),
            kernels: folder.join("kernels"),
            python: folder.join("python"),
            libraries: folder.join("lib"),
            softgpu: folder.join("cpu-emulator/libgtrace_softgpu.so"),
        }
    }

    /// Fails if a part is not there.
    pub fn check(&self) -> Result<()> {
        for part in [&self.gtrace, &self.client, &self.programs, &self.kernels] {
            ensure!(
                part.exists(),
                "{} is missing: run gpu-check in the folder that the archive was unpacked to",
                part.display()
            );
        }
        Ok(())
    }
}

/// The driver's libraries.
#[derive(Clone, Debug)]
pub struct Libraries {
    /// libcuda.so.1
    pub libcuda: PathBuf,
    /// libnvidia-ml.so.1
    pub libnvml: PathBuf,
}

impl Libraries {
    /// Finds them, unless they are given.
    ///
    /// # Errors
    ///
    /// Which was not found, and where they were searched.
    pub fn find(libcuda: Option<PathBuf>, libnvml: Option<PathBuf>) -> Result<Self> {
        let libcuda = match libcuda {
            Some(path) => existing(path)?,
            None => search("libcuda.so.1", &[])?,
        };
        let libnvml = match libnvml {
            Some(path) => existing(path)?,
            // A machine may have several drivers; the two libraries are of one.
            None => search("libnvidia-ml.so.1", &folders_of(&libcuda))?,
        };
        Ok(Self { libcuda, libnvml })
    }
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    fs::canonicalize(&path).with_context(|| format!("there is no {}", path.display()))
}

/// The folder of a path, and that of the file that it leads to.
fn folders_of(path: &Path) -> Vec<PathBuf> {
    let real = fs::canonicalize(path).ok();
    let paths = [Some(path.to_owned()), real];
    let folders = paths.into_iter().flatten();
    folders
        .filter_map(|path| Some(path.parent()?.to_owned()))
        .collect()
}

fn search(name: &str, first: &[PathBuf]) -> Result<PathBuf> {
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/nvidia/lib64",
        "/usr/local/nvidia/lib",
        "/run/opengl-driver/lib",
        "/usr/lib/wsl/lib",
    ];
    let folders: Vec<PathBuf> = first
        .iter()
        .cloned()
        .chain(env::split_paths(&named))
        .filter(|folder| !folder.as_os_str().is_empty())
        .chain(usual.map(PathBuf::from))
        .collect();
    let mut files: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
    files.extend(cached(name));
    // An empty file is what some container tools leave behind.
    let there = files
        .into_iter()
        .find(|file| fs::metadata(file).is_ok_and(|data| data.is_file() && data.len() > 0));
    let Some(file) = there else {
        let folders: Vec<_> = folders.iter().map(|f| f.display().to_string()).collect();
        bail!(
            "no {name} here: not in {}, nor in the dynamic loader's cache. Install NVIDIA's driver, or name the \
             library with --libcuda and --libnvml; in a container, start it with the GPU (--gpus all)",
            folders.join(", ")
        );
    };
    existing(file)
}

/// What the dynamic loader's cache has under this name.
fn cached(name: &str) -> Vec<PathBuf> {
    let programs = ["ldconfig", "/sbin/ldconfig"];
    let output = programs
        .iter()
        .find_map(|program| Command::new(program).arg("-p").output().ok());
    let text = output.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    text.lines()
        .filter(|line| line.trim_start().starts_with(name))
        .filter_map(|line| Some(PathBuf::from(line.split_once(" => ")?.1.trim())))
        .collect()
}

/// All that the steps need.
#[derive(Debug)]
pub struct Place {
    /// The parts of the archive.
    pub parts: Parts,
    /// Where programs run.
    pub ground: Ground,
    /// The driver's libraries.
    pub libraries: Libraries,
    /// The interpreter that has PyTorch; `python3` if not given.
    pub python: Option<PathBuf>,
    /// Has the driver under its names, whatever the files are called.
    _names: TempDir,
}

impl Place {
    /// Programs on `libraries`, which are a real driver's or the CPU emulator's.
    pub fn new(parts: Parts, libraries: Libraries, real: bool) -> Result<Self> {
        let names = tempfile::Builder::new()
            .prefix("gtrace-gpu-check")
            .tempdir()?;
        under_the_names_of_the_driver(&libraries.libcuda, names.path())?;
        for name in ["libnvidia-ml.so.1", "libnvidia-ml.so"] {
            let link = names.path().join(name);
            fs::remove_file(&link)?;
            std::os::unix::fs::symlink(&libraries.libnvml, &link)?;
        }
        // The driver opens further libraries of its own by name, such as its compiler of PTX.
        let mut direct = vec![names.path().to_owned()];
        direct.extend(folders_of(&libraries.libcuda));
        direct.extend(folders_of(&libraries.libnvml));
        let mut served = vec![parts.libraries.clone()];
        served.extend(direct.iter().skip(1).cloned());
        let ground = Ground {
            gtrace: parts.gtrace.clone(),
            gpu: Gpu {
                libraries: Some((libraries.libcuda.clone(), libraries.libnvml.clone())),
                search: Some(joined(served)?),
            },
            direct: joined(direct)?,
            kernels: parts.kernels.clone(),
            real,
            limit: if real { LIMIT } else { LIMIT_CPU_EMULATOR },
        };
        Ok(Self {
            parts,
            ground,
            libraries,
            python: None,
            _names: names,
        })
    }

    /// `program` with the driver itself.
    pub fn direct(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", &self.ground.direct);
        self.ground.clean(&mut command);
        command
    }
}

fn joined(mut folders: Vec<PathBuf>) -> Result<OsString> {
    folders.dedup();
    env::join_paths(folders).context("a folder with a colon in its name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_is_not_there_is_reported_with_the_remedy() {
        let error = search("libcuda-that-nobody-has.so.1", &[]).expect_err("it is nowhere");
        assert!(error.to_string().contains("--libcuda"), "{error}");
        let missing = Libraries::find(Some("/nonexistent/libcuda.so.1".into()), None);
        let error = missing.expect_err("it is not there").to_string();
        assert!(error.contains("/nonexistent/libcuda.so.1"), "{error}");
    }
}
