//! What cargo builds and the tests run: the `gtrace` binary and the CPU emulator's library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, bail, ensure};

/// Set by `cargo xtask test`, which has built everything: the tests then build nothing.
pub const BUILT: &str = "GTRACE_E2E_BUILT";

/// Paths of what was built, all in one profile of one target directory.
#[derive(Clone, Debug)]
pub struct Artefacts {
    /// `libgtrace_softgpu.so`.
    pub softgpu: PathBuf,
    /// The `gtrace` binary, which carries shim and CPU emulator.
    pub gtrace: PathBuf,
    /// A folder where the CPU emulator lies under the driver's names.
    pub softgpu_folder: PathBuf,
    /// The profile's directory, such as `target/debug`.
    pub profile: PathBuf,
}

impl Artefacts {
    /// Builds what is not up to date, once in a process.
    pub fn get() -> Result<&'static Self> {
        static FOUND: OnceLock<Result<Artefacts, String>> = OnceLock::new();
        match FOUND.get_or_init(|| Self::build().map_err(|error| format!("{error:#}"))) {
            Ok(artefacts) => Ok(artefacts),
            Err(error) => bail!("{error}"),
        }
    }

    fn build() -> Result<Self> {
        let profile = profile_directory()?;
        if std::env::var_os(BUILT).is_none() {
            cargo_build(&profile)?;
        }
        let softgpu = profile.join("libgtrace_softgpu.so");
        let gtrace = profile.join("gtrace");
        for file in [&softgpu, &gtrace] {
            ensure!(
                file.is_file(),
                "{} is missing: cargo build -p gtrace-softgpu -p gtrace",
                file.display()
            );
        }
        let softgpu_folder = profile.join("e2e").join("softgpu");
        under_the_names_of_the_driver(&softgpu, &softgpu_folder)?;
        Ok(Self {
            softgpu,
            gtrace,
            softgpu_folder,
            profile,
        })
    }

    /// A folder for what the tests build themselves.
    pub fn scratch(&self) -> PathBuf {
        self.profile.join("e2e")
    }
}

/// The CPU emulator's library, for tests that need nothing else: what cargo built last of it, for itself, for gtrace or for a
/// test that depends on gtrace-softgpu.
pub fn cpu_emulator() -> Result<PathBuf> {
    let profile = profile_directory()?;
    let of_gtrace = Path::new("../embedded").join(profile.file_name().unwrap_or_default());
    let folders = [profile.join("deps"), profile.join(of_gtrace), profile];
    // Under its own name, or with a hash where cargo has built it as a dependency only.
    let mut found = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("libgtrace_softgpu") && name.ends_with(".so") {
                found.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
    }
    let newest = found.into_iter().max();
    let (_, path) =
        newest.context("libgtrace_softgpu.so is missing: cargo build -p gtrace-softgpu")?;
    Ok(path)
}

/// `target/debug` for a test in `target/debug/deps` or a binary in `target/debug`.
fn profile_directory() -> Result<PathBuf> {
    let exe = std::env::current_exe()?;
    let folder = exe.parent().context("an executable without a folder")?;
    let inner = ["deps", "examples"]
        .iter()
        .any(|name| folder.ends_with(name));
    let profile = if inner { folder.parent() } else { Some(folder) };
    Ok(profile.context("no profile directory")?.to_owned())
}

fn cargo_build(profile: &Path) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root())
        .args(["build", "--quiet", "-p", "gtrace-softgpu", "-p", "gtrace"])
        .env("CARGO_TARGET_DIR", profile.parent().unwrap_or(profile));
    match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => {}
        Some("release") => drop(command.arg("--release")),
        Some(other) => drop(command.args(["--profile", other])),
    }
    let status = command.status().context("cargo could not be started")?;
    ensure!(
        status.success(),
        "cargo build of gtrace-softgpu and gtrace failed"
    );
    Ok(())
}

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// The folder of the kernels' PTX.
pub fn kernels() -> PathBuf {
    root().join("transport/softgpu/kernels")
}

/// Links in `folder` with which the dynamic loader finds `library` as the driver and as NVML.
pub fn under_the_names_of_the_driver(library: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for name in [
        "libcuda.so.1",
        "libcuda.so",
        "libnvidia-ml.so.1",
        "libnvidia-ml.so",
    ] {
        let link = folder.join(name);
        if fs::read_link(&link).is_ok_and(|to| to == library) {
            continue;
        }
        // Made aside and renamed, as other tests may be reading.
        let aside = folder.join(format!(".{name}.{}", std::process::id()));
        let _ = fs::remove_file(&aside);
        std::os::unix::fs::symlink(library, &aside).with_context(|| aside.display().to_string())?;
        fs::rename(&aside, &link).with_context(|| link.display().to_string())?;
    }
    Ok(())
}
