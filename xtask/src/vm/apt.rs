//! Debian's packages, without installing them: from the system's own apt, or through one that
//! lives in a directory of ours and changes nothing of the system.
//!
//! Either way the checksums and signatures are apt's business.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};

use super::qemu;
use crate::packages;
use crate::shell::{self, step};

/// Names the mirror.
const MIRROR_VARIABLE: &str = "GTRACE_DEBIAN_MIRROR";

/// The mirror without it.
const MIRROR: &str = "http://deb.debian.org/debian";

/// What the private apt trusts; of the package `debian-archive-keyring`.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// After so long the private apt's lists are fetched again.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

/// For lists, where a mirror that does not answer must not keep anybody for long: old lists or none serve.
const UPDATE: [&str; 2] = ["Acquire::Retries=1", "Acquire::http::Timeout=10"];

/// For packages, which are large and wanted.
const DOWNLOAD: [&str; 2] = ["Acquire::Retries=2", "Acquire::http::Timeout=20"];

/// The private apt of a directory, set up when it is first asked for, once in a process: a mirror
/// that did not answer is not asked again for the next kernel.
#[derive(Debug)]
pub(crate) struct Private {
    root: PathBuf,
    apt: OnceLock<Result<Apt, String>>,
}

impl Private {
    /// One that lives in `root`.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self {
            root,
            apt: OnceLock::new(),
        }
    }

    /// It, or why there is none.
    pub(crate) fn get(&self) -> Result<Apt> {
        let setup = || Apt::private(&self.root).map_err(|error| format!("{error:#}"));
        self.apt
            .get_or_init(setup)
            .clone()
            .map_err(anyhow::Error::msg)
    }
}

/// An apt with its sources.
#[derive(Clone, Debug)]
pub(crate) struct Apt {
    /// The private one's directory.
    root: Option<PathBuf>,
}

/// A package that can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// The version that apt would choose.
    pub(crate) version: String,
}

impl Apt {
    /// The one that this system has, with its sources; none where there is no apt.
    pub(super) fn system() -> Option<Self> {
        shell::in_path("apt-cache").then_some(Self { root: None })
    }

    /// One of our own in `root`, with Debian 12's packages, security updates and backports.
    /// Lists that are older than a day are fetched again; that this fails is said, and what is
    /// there serves.
    fn private(root: &Path) -> Result<Self> {
        if !shell::in_path("apt-get") {
            bail!("apt-get is missing, which fetches Debian's kernels and checks their signatures");
        }
        packages::ensure(
            &["debian-archive-keyring"],
            "its keys say whether a kernel is Debian's",
        )?;
        let apt = Self {
            root: Some(root.to_owned()),
        };
        for dir in ["lists/partial", "cache/archives/partial"] {
            let dir = root.join(dir);
            fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
        }
        let mirror = mirror();
        let sources = sources(&mirror);
        let list = root.join("sources.list");
        let changed = fs::read_to_string(&list).is_ok_and(|old| old != sources);
        fs::write(&list, sources).with_context(|| format!("cannot write {}", list.display()))?;
        // An empty list of what is installed: what this host has is of no concern here.
        fs::write(root.join("status"), "").context("cannot write the private apt's status")?;
        let stamp = root.join("updated");
        if changed || age(&stamp).is_none_or(|age| age > FRESH) {
            apt.update(&stamp, &mirror)?;
        }
        Ok(apt)
    }

    fn update(&self, stamp: &Path, mirror: &str) -> Result<()> {
        step(format!(
            "asking {mirror} which kernels there are ({MIRROR_VARIABLE} names another mirror)"
        ));
        // apt-get ends well where it could fetch nothing but has old lists, unless an option forbids that.
        let updated = shell::read(
            self.command("apt-get")
                .args(UPDATE.iter().flat_map(|option| ["-o", option]))
                .args(["-o", "APT::Update::Error-Mode=any"])
                .args(["update", "--quiet"]),
        );
        match updated {
            Ok(_) => fs::write(stamp, "").context("cannot write the private apt's time stamp")?,
            Err(error) if stamp.exists() => {
                step(format!("going on with what is known: {error:#}"));
            }
            Err(error) => return Err(error.context("the mirror gives no lists")),
        }
        Ok(())
    }

    /// Names of the packages that `pattern`, a regular expression, matches.
    pub(super) fn search(&self, pattern: &str) -> Result<Vec<String>> {
        let found =
            shell::read(
                self.command("apt-cache")
                    .args(["search", "--names-only", pattern]),
            )?;
        let name = |line: &str| line.split(' ').next().map(str::to_owned);
        Ok(found.lines().filter_map(name).collect())
    }

    /// The package of this name in the version that apt would choose.
    pub(crate) fn package(&self, name: &str) -> Result<Package> {
        let policy = shell::read(
            self.command("apt-cache")
                .args(["policy", name])
                .env("LC_ALL", "C"),
        )?;
        let version = packages::parse_policy(&policy).remove(name);
        Ok(Package {
            name: name.to_owned(),
            version: version.with_context(|| format!("{} has no {name}", self.describe()))?,
        })
    }

    /// The newest of the package's versions that begin with the number `series`: several releases of Debian are among
    /// the sources.
    pub(crate) fn package_of(&self, name: &str, series: &str) -> Result<Package> {
        self.newest_where(name, &format!("series {series}"), |version| {
            version.split('.').next() == Some(series)
        })
    }

    /// The newest of the package's versions that has what its authors released as `release`: `535.261.03`.
    pub(super) fn package_with(&self, name: &str, release: &str) -> Result<Package> {
        self.newest_where(name, release, |version| self::release(version) == release)
    }

    fn newest_where(
        &self,
        name: &str,
        what: &str,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Package> {
        let table = shell::read(self.command("apt-cache").args(["madison", name]))?;
        let versions = versions(&table);
        let newest = versions.iter().find(|version| wanted(version));
        Ok(Package {
            name: name.to_owned(),
            version: newest
                .with_context(|| {
                    let (known, whose) = (versions.join(", "), self.describe());
                    format!("{whose} has no {name} of {what}; it has {known}")
                })?
                .clone(),
        })
    }

    /// Names of the packages that `package` depends on, alternatives included.
    pub(super) fn depends(&self, package: &Package) -> Result<Vec<String>> {
        let record = shell::read(self.command("apt-cache").args([
            "show",
            "--no-all-versions",
            &exact(package),
        ]))?;
        Ok(depends(&record))
    }

    /// What would be installed with `package`, whatever that would remove.
    pub(super) fn would_install(&self, package: &str) -> Result<Vec<Package>> {
        let simulated = shell::read(
            self.command("apt-get")
                .args(["install", "--simulate", "--no-install-recommends", package])
                .env("LC_ALL", "C"),
        )?;
        Ok(qemu::installed_by(&simulated))
    }

    /// Fetches packages and unpacks them into `dir`, which is empty; nothing is installed.
    pub(crate) fn unpack(&self, packages: &[Package], dir: &Path) -> Result<()> {
        self.download(packages, dir)?;
        let archives: Vec<_> = fs::read_dir(dir)?.flatten().map(|f| f.path()).collect();
        ensure!(
            archives.len() == packages.len(),
            "apt-get brought {} of {} packages",
            archives.len(),
            packages.len()
        );
        for archive in archives {
            shell::run(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(dir))?;
            fs::remove_file(archive)?;
        }
        Ok(())
    }

    /// Fetches packages into `dir`.
    pub(super) fn download(&self, packages: &[Package], dir: &Path) -> Result<()> {
        shell::read(
            self.command("apt-get")
                .args(DOWNLOAD.iter().flat_map(|option| ["-o", option]))
                .args(["download", "--quiet"])
                .args(packages.iter().map(exact))
                .current_dir(dir),
        )?;
        Ok(())
    }

    /// Fetches into `dir` what the authors of a package's sources released, the `.orig.tar` file.
    pub(super) fn download_source(&self, package: &Package, dir: &Path) -> Result<()> {
        shell::read(
            self.command("apt-get")
                .args(DOWNLOAD.iter().flat_map(|option| ["-o", option]))
                .args(["source", "--quiet", "--download-only", "--tar-only"])
                .arg(exact(package))
                .current_dir(dir),
        )?;
        Ok(())
    }

    /// For messages.
    pub(super) fn describe(&self) -> &'static str {
        match self.root {
            Some(_) => "Debian's mirror",
            None => "this system's package sources",
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // Whoever runs this may read what it downloads, and _apt may not write there.
        let mut options = vec!["APT::Sandbox::User=root".to_owned()];
        if let Some(root) = &self.root {
            for (key, file) in [
                ("Etc::SourceList", "sources.list"),
                ("State::Lists", "lists"),
                ("State::status", "status"),
                ("Cache", "cache"),
            ] {
                options.push(format!("Dir::{key}={}", root.join(file).display()));
            }
            for unwanted in ["SourceParts", "Preferences", "PreferencesParts"] {
                options.push(format!("Dir::Etc::{unwanted}=/dev/null"));
            }
            options.push("APT::Architecture=amd64".into());
            options.push("APT::Default-Release=".into());
            options.push("Acquire::Languages=none".into());
        }
        for option in options {
            command.args(["-o", &option]);
        }
        command
    }
}

/// Debian's mirror.
pub(crate) fn mirror() -> String {
    std::env::var(MIRROR_VARIABLE).unwrap_or_else(|_| MIRROR.to_owned())
}

/// Unpacks `packages`, separated by commas, and what they depend on into `root`; no script of theirs runs.
pub(crate) fn extract(release: &str, packages: &str, root: &Path) -> Result<()> {
    shell::run(
        Command::new("mmdebstrap")
            .args(["--quiet", "--variant=extract"])
            .arg(format!("--include={packages}"))
            .arg(release)
            .arg(root)
            .arg(mirror()),
    )
    .context("mmdebstrap")
}

/// A version of a package less Debian's revision.
pub(super) fn release(version: &str) -> &str {
    version
        .rsplit_once('-')
        .map_or(version, |(release, _)| release)
}

fn exact(package: &Package) -> String {
    format!("{}={}", package.name, package.version)
}

fn age(file: &Path) -> Option<Duration> {
    let written = file.metadata().ok()?.modified().ok()?;
    SystemTime::now().duration_since(written).ok()
}

/// Debian 12 has kernel 6.1, its backports newer ones. NVIDIA's driver and what belongs to it are of the components that
/// are not free or depend on what is not, its newer series in Debian 13, the newest in experimental, of which apt takes
/// nothing unasked; its sources are wanted too. The security archive lies beside the main one on every full mirror.
fn sources(mirror: &str) -> String {
    let mirror = mirror.trim_end_matches('/');
    let options = format!("[arch=amd64 signed-by={KEYRING}]");
    format!(
        "deb {options} {mirror} bookworm main contrib non-free non-free-firmware\n\
         deb-src {options} {mirror} bookworm contrib\n\
         deb {options} {mirror} trixie contrib non-free non-free-firmware\n\
         deb-src {options} {mirror} trixie contrib\n\
         deb {options} {mirror} experimental contrib non-free non-free-firmware\n\
         deb-src {options} {mirror} experimental contrib\n\
         deb {options} {mirror} bookworm-backports main\n\
         deb {options} {mirror}-security bookworm-security main\n"
    )
}

/// The versions in what `apt-cache madison` prints, as they come, each once.
fn versions(table: &str) -> Vec<String> {
    let mut versions: Vec<_> = table
        .lines()
        .filter(|line| line.ends_with("Packages"))
        .filter_map(|line| Some(line.split('|').nth(1)?.trim().to_owned()))
        .collect();
    versions.dedup();
    versions
}

/// The names in the `Depends:` field of what `apt-cache show` prints.
fn depends(record: &str) -> Vec<String> {
    record
        .lines()
        .find_map(|line| line.strip_prefix("Depends: "))
        .unwrap_or_default()
        .split([',', '|'])
        .filter_map(|part| part.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_names_without_versions() {
        let record = "Package: linux-headers-6.12.95+deb12-amd64\nPre-Depends: other\n\
                      Depends: linux-base (>= 4.12~), linux-image-a (= 1) | linux-image-b (= 1), \
                      linux-kbuild-6.12.95+deb12, gcc-12\nDescription: x\n";
        assert_eq!(
            depends(record),
            [
                "linux-base",
                "linux-image-a",
                "linux-image-b",
                "linux-kbuild-6.12.95+deb12",
                "gcc-12"
            ]
        );
        assert!(depends("Package: x\n").is_empty());
    }

    #[test]
    fn versions_are_those_of_packages_not_of_sources() {
        let table = " nvidia-open-kernel-source | 550.163.01-2 | http://deb.debian.org/debian trixie/contrib amd64 Packages\n \
                     nvidia-open-kernel-source | 535.261.03-1 | http://deb.debian.org/debian bookworm/contrib amd64 Packages\n\
                     nvidia-open-gpu-kernel-modules | 535.261.03-1 | http://deb.debian.org/debian bookworm/contrib Sources\n";
        assert_eq!(versions(table), ["550.163.01-2", "535.261.03-1"]);
        assert!(versions("").is_empty());
    }

    #[test]
    fn a_private_apt_that_cannot_be_had_is_not_tried_twice() {
        let dir = tempfile::tempdir().unwrap();
        let private = Private::new(dir.path().to_owned());
        private.apt.set(Err("no mirror".to_owned())).unwrap();
        assert_eq!(private.get().unwrap_err().to_string(), "no mirror");
        assert!(!dir.path().join("lists").exists());
    }

    #[test]
    fn every_source_is_checked_against_debians_keys() {
        let sources = sources("http://mirror.example/debian/");
        assert!(sources.lines().all(|line| line.contains("signed-by=")));
        assert!(sources.contains(" http://mirror.example/debian-security bookworm-security"));
        assert!(sources.contains(" http://mirror.example/debian bookworm-backports"));
    }
}
