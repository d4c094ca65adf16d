//! NVIDIA's own driver: its kernel modules, open or proprietary, built for each kernel, its firmware and libraries, and a PCI function
//! made of memory for it. All of NVIDIA's is fetched from Debian into the cache; none of it is part of gtrace.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{
    REAL_LAYOUT, REAL_LIBRARIES, REAL_MODULES, REAL_OTHER, REAL_OTHER_VERSION, REAL_SMI,
    REAL_VERSION,
};

use super::apt::{self, Package};
use super::cpio::Archive;
use super::image::{copy, program};
use super::kbuild::Modules;
use super::kernel::{self, Kernel};
use super::{Cache, DRIVERS, Lack, judge};
use crate::context::Context;
use crate::folders;
use crate::shell::step;

/// The package whose newest version decides, and whose sources say how the driver lays out what it shares with a GPU.
const SOURCE: &str = "nvidia-open-kernel-source";

/// The one of the proprietary flavour, and what follows the series where that is meant: `535:proprietary`.
const PROPRIETARY_SOURCE: &str = "nvidia-kernel-source";
const PROPRIETARY: &str = "proprietary";

/// What has to be of the same release.
const BESIDE: [&str; 4] = [
    "firmware-nvidia-gsp",
    "nvidia-smi",
    "libnvidia-ml1",
    "libcuda1",
];

/// The firmware of the GPU that the cases play, which the driver reads before it finds that there is none.
const FIRMWARE: &str = "gsp_ga10x.bin";

const DRIVER: Modules = Modules {
    name: "NVIDIA's driver, which takes some minutes,",
    sources: "vm-tests/nvidia-open",
    files: &["nvidia.ko", "nvidia-modeset.ko", "nvidia-uvm.ko"],
};

const FAKEGPU: Modules = Modules {
    name: "a GPU made of memory",
    sources: "vm-tests/fakegpu",
    files: &["fakegpu.ko"],
};

/// The driver can neither be fetched nor is it in the cache.
fn no_driver(error: anyhow::Error) -> Lack {
    Lack(format!(
        "NVIDIA's driver is not in the cache, and cannot be fetched from Debian: {error:#}"
    ))
}

/// A series of the driver, as `--driver` names it: `550`, `535:proprietary`.
#[derive(Clone, Copy)]
struct Series<'a> {
    number: &'a str,
    proprietary: bool,
}

impl<'a> Series<'a> {
    fn new(text: &'a str) -> Result<Self> {
        let (number, flavour) = text.split_once(':').unwrap_or((text, ""));
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        ensure!(
            digits && number.len() == 3 && ["", PROPRIETARY].contains(&flavour),
            "{text:?} is no series of NVIDIA's driver: give the number that its version begins with, such as 535, and \
             :{PROPRIETARY} after it for the flavour whose sources are not open"
        );
        Ok(Self {
            number,
            proprietary: !flavour.is_empty(),
        })
    }

    fn package(self) -> &'static str {
        match self.proprietary {
            true => PROPRIETARY_SOURCE,
            false => SOURCE,
        }
    }

    /// The folder of a version in the cache.
    fn folder(self, version: &str) -> String {
        match self.proprietary {
            true => format!("{version}-{PROPRIETARY}"),
            false => version.to_owned(),
        }
    }

    fn is_of(self, folder: &str) -> bool {
        folder.split('.').next() == Some(self.number)
            && folder.ends_with(PROPRIETARY) == self.proprietary
    }
}

/// Whether `series` can be one.
pub(super) fn check_series(series: &str) -> Result<()> {
    Series::new(series).map(|_| ())
}

/// The driver for one kernel.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    /// Where its packages are unpacked.
    packages: PathBuf,
    /// Its modules for this kernel.
    modules: PathBuf,
    /// The module of the GPU that is none.
    fakegpu: PathBuf,
    /// The version of the package whose sources say how that one answers.
    layout: String,
}

impl Driver {
    /// As the packages have it, with its flavour: `535.261.03-1`, `535.261.03-1-proprietary`.
    pub(super) fn version(&self) -> String {
        let name = self.packages.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// The newest driver of `series` that can be had, built for `kernel`; without a network, the newest that is in the cache.
pub(super) fn ensure(
    context: &Context,
    cache: &Cache,
    kernel: &Kernel,
    series: &str,
) -> Result<Driver> {
    let all = cache.dir.join("nvidia");
    fs::create_dir_all(&all).with_context(|| format!("cannot create {}", all.display()))?;
    let series = Series::new(series)?;
    let packages = match fetch(cache, &all, series) {
        Ok(packages) => packages,
        Err(error) => {
            let cached = kernel::newest_in(&all, |name| series.is_of(name))?;
            let Some(cached) = cached else {
                return Err(no_driver(error).into());
            };
            step(format!(
                "NVIDIA's driver {cached} is in the cache and is used: {error:#}"
            ));
            all.join(cached)
        }
    };
    let folder = packages.file_name().context("a package has a version")?;
    let modules = all.join("modules").join(folder).join(&kernel.key);
    let archive = archive(&packages)?;
    DRIVER.build(context, kernel, &modules, &[archive.as_os_str()])?;
    let folder = folder.to_string_lossy();
    let suffix = series.folder("");
    let version = folder.strip_suffix(&suffix).unwrap_or(&folder);
    let (layout, sources) = layout(cache, &all, version).map_err(no_driver)?;
    let fakegpu = cache.dir.join("fakegpu").join(&layout).join(&kernel.key);
    FAKEGPU.build(context, kernel, &fakegpu, &[sources.as_os_str()])?;
    Ok(Driver {
        packages,
        modules,
        fakegpu,
        layout,
    })
}

/// What the driver is compiled of, in its package, which is unpacked in `packages`.
fn archive(packages: &Path) -> Result<PathBuf> {
    let folder = packages.join("usr/src");
    let names = kernel::newest_in(&folder, |name| name.ends_with("-kernel.tar.xz"))?;
    let name = names.with_context(|| format!("{} has no archive", folder.display()))?;
    Ok(folder.join(name))
}

/// Fetches and unpacks the packages unless they are there; their folder.
fn fetch(cache: &Cache, all: &Path, series: Series<'_>) -> Result<PathBuf> {
    let apt = cache.apt.get()?;
    let source = apt.package_of(series.package(), series.number)?;
    let folder = series.folder(&source.version);
    let whole = all.join(&folder);
    if whole.is_dir() {
        return Ok(whole);
    }
    step(format!(
        "fetching NVIDIA's driver {folder} from {}: it is built for the virtual machines, nothing is installed",
        apt.describe()
    ));
    let release = apt::release(&source.version);
    let beside = BESIDE.map(|name| apt.package_with(name, release));
    let mut packages = beside.into_iter().collect::<Result<Vec<_>>>()?;
    packages.push(source);
    kernel::fetch_into(&apt, &packages, &whole)?;
    Ok(whole)
}

/// The version that the GPU made of memory answers, and the sources that say how: those of `version`, or of the series that
/// is tested most where a mirror has not these. That one answers no other driver, and is else the same for all.
fn layout(cache: &Cache, all: &Path, version: &str) -> Result<(String, PathBuf)> {
    let why = match sources(cache, all, version) {
        Ok(sources) => return Ok((version.to_owned(), sources)),
        Err(error) => error,
    };
    let usual = cache.apt.get()?.package_of(SOURCE, DRIVERS[0])?.version;
    if usual == version {
        return Err(why);
    }
    step(format!(
        "cases with a GPU that answers will be skipped with NVIDIA's driver {version}: {why:#}"
    ));
    let sources = sources(cache, all, &usual)?;
    Ok((usual, sources))
}

/// The tar file of the driver's sources, fetched unless it is there: what answers the driver is laid out as these say.
fn sources(cache: &Cache, all: &Path, version: &str) -> Result<PathBuf> {
    let folder = all.join("sources");
    let whole = folder.join(version);
    if !whole.is_dir() {
        let package = Package {
            name: SOURCE.to_owned(),
            version: version.to_owned(),
        };
        step(format!("fetching the sources of NVIDIA's driver {version}"));
        let half = folder.join(format!(".{version}.half"));
        folders::empty(&half)?;
        cache.apt.get()?.download_source(&package, &half)?;
        fs::rename(&half, &whole).with_context(|| format!("cannot create {}", whole.display()))?;
    }
    let entries =
        fs::read_dir(&whole).with_context(|| format!("cannot read {}", whole.display()))?;
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().contains(".orig.tar."))
        .with_context(|| format!("{} has no .orig.tar file", whole.display()))
}

/// Adds it to the image, with what judges gtrace by.
pub(super) fn add(
    archive: &mut Archive,
    context: &Context,
    cache: &Path,
    driver: &Driver,
) -> Result<()> {
    let version = add_modules(archive, driver, REAL_MODULES, REAL_VERSION)?;
    for file in FAKEGPU.files {
        let path = format!("{REAL_MODULES}/{file}");
        copy(archive, &path, &driver.fakegpu.join(file))?;
    }
    archive.file(REAL_LAYOUT, apt::release(&driver.layout).as_bytes(), 0o644);
    let libraries = driver
        .packages
        .join("usr/lib/x86_64-linux-gnu/nvidia/current");
    for name in ["libcuda.so", "libnvidia-ml.so"] {
        let file = libraries.join(format!("{name}.{version}"));
        program(archive, &format!("{REAL_LIBRARIES}/{name}.1"), &file)?;
    }
    let smi = driver.packages.join("usr/lib/nvidia/current/nvidia-smi");
    program(archive, REAL_SMI, &smi)?;
    let sources = self::archive(&driver.packages)?;
    judge::add(archive, context, cache, &driver.packages, &sources)
}

/// Adds the modules of a second series, which a case changes to while gtrace runs, without programs and libraries.
pub(super) fn add_other(archive: &mut Archive, driver: &Driver) -> Result<()> {
    add_modules(archive, driver, REAL_OTHER, REAL_OTHER_VERSION)?;
    Ok(())
}

/// Adds the modules to `folder`, and the firmware where the driver reads it; returns the version, which lies in the file
/// `version_file`.
fn add_modules(
    archive: &mut Archive,
    driver: &Driver,
    folder: &str,
    version_file: &str,
) -> Result<String> {
    for file in DRIVER.files {
        let path = format!("{folder}/{file}");
        copy(archive, &path, &driver.modules.join(file))?;
    }
    // Debian 13 has it below /usr.
    let firmware = ["lib/firmware/nvidia", "usr/lib/firmware/nvidia"]
        .map(|path| driver.packages.join(path))
        .into_iter()
        .find(|path| path.is_dir())
        .context("the package firmware-nvidia-gsp has no firmware/nvidia")?;
    let folder = kernel::only(&firmware, "")?;
    let version = folder.file_name().unwrap_or_default().to_string_lossy();
    let version = version.into_owned();
    archive.file(version_file, version.as_bytes(), 0o644);
    let path = format!("/lib/firmware/nvidia/{version}/{FIRMWARE}");
    copy(archive, &path, &firmware.join(&version).join(FIRMWARE))?;
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_a_number_and_perhaps_a_flavour() {
        let series = Series::new("535:proprietary").unwrap();
        assert_eq!(series.folder("535.261.03-1"), "535.261.03-1-proprietary");
        assert!(series.is_of("535.261.03-1-proprietary") && !series.is_of("535.261.03-1"));
        let open = Series::new("535").unwrap();
        assert!(open.is_of("535.261.03-1") && !open.is_of("535.261.03-1-proprietary"));
        assert!(!open.is_of("550.163.01-2"));
        for wrong in ["5350", "x35", "535:open", "535:proprietary:1", ""] {
            assert!(Series::new(wrong).is_err(), "{wrong}");
        }
    }
}
