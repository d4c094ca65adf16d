//! Debian's kernels: chosen, fetched once, unpacked into the cache, never installed.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::Lack;
use super::apt::{Apt, Package, Private};
use crate::folders;
use crate::shell::step;

/// The lines that are tested where none is named: Debian 12's own kernel and its backport.
pub(super) const DEFAULT_LINES: [&str; 2] = ["6.1", "6.12"];

/// The name of a kernel's package begins and ends like this. `-unsigned` has the same content as
/// the signed one, which depends on a bootloader.
const IMAGE: (&str, &str) = ("linux-image-", "-amd64-unsigned");

/// What no test machine has a device for. Left packed: it is most of a kernel package. Of graphics the core is taken,
/// which NVIDIA's driver depends on.
const UNWANTED: [&str; 6] = [
    "drivers/gpu/drm/*/*",
    "drivers/media",
    "drivers/iio",
    "drivers/net/wireless",
    "drivers/staging",
    "sound",
];

/// The file of an unpacked tree that says what was left out.
const LEFT_OUT: &str = "left-out";

/// A kernel, unpacked with its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// `6.12`.
    pub(crate) line: String,
    /// Version of kernel and package, `6.1.0-48_6.1.172-1`: the directory's name.
    pub(crate) key: String,
    /// Where its packages are unpacked.
    pub(crate) tree: PathBuf,
}

impl Kernel {
    /// The file to boot.
    pub(crate) fn image(&self) -> Result<PathBuf> {
        only(&self.tree.join("boot"), "vmlinuz-")
    }

    /// `lib/modules/RELEASE`.
    pub(crate) fn modules(&self) -> Result<PathBuf> {
        let merged = self.tree.join("usr/lib/modules");
        let plain = self.tree.join("lib/modules");
        only(if merged.is_dir() { &merged } else { &plain }, "")
    }
}

/// The one entry of `dir` whose name begins with `prefix`.
pub(super) fn only(dir: &Path, prefix: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut found = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path());
    found
        .next()
        .with_context(|| format!("{} has no {prefix}*", dir.display()))
}

/// The newest kernel of `line` that can be had, fetched if it is not in `cache`; without a
/// network, the newest one that is there.
pub(super) fn ensure(cache: &Path, private: &Private, line: &str) -> Result<Kernel> {
    let kernels = cache.join("kernels");
    fs::create_dir_all(&kernels).with_context(|| format!("cannot create {}", kernels.display()))?;
    let mut causes = Vec::new();
    let private = || private.get().map(Some);
    let sources: [&dyn Fn() -> Result<Option<Apt>>; 2] = [&|| Ok(Apt::system()), &private];
    for source in sources {
        match source().and_then(|apt| apt.map_or(Ok(None), |apt| from(&apt, &kernels, line))) {
            Ok(Some(kernel)) => return Ok(kernel),
            Ok(None) => {}
            Err(error) => causes.push(format!("{error:#}")),
        }
    }
    let mut causes = causes.join("; ");
    if let Some(kernel) = newest_cached(&kernels, line)? {
        step(format!(
            "kernel {line}: {} is in the cache and is used; whether there is a newer one is \
             unknown: {causes}",
            kernel.key
        ));
        return Ok(kernel);
    }
    if causes.is_empty() {
        causes.push_str(
            "neither this system's package sources nor Debian 12 and its backports have one",
        );
    }
    let kernels = kernels.display();
    Err(Lack(format!(
        "no kernel {line} is in {kernels}, and none can be fetched: {causes}"
    ))
    .into())
}

/// Refuses what is no line of kernels.
pub(super) fn check_line(line: &str) -> Result<()> {
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    if line.split('.').count() == 2 && line.split('.').all(number) {
        return Ok(());
    }
    bail!("{line:?} is no line of kernels: say `--kernel 6.12`")
}

/// The newest kernel that `apt` knows, from the cache or fetched.
fn from(apt: &Apt, kernels: &Path, line: &str) -> Result<Option<Kernel>> {
    let pattern = format!(
        "^{}{}\\.[0-9].*{}$",
        IMAGE.0,
        line.replace('.', "\\."),
        IMAGE.1
    );
    let names = apt.search(&pattern)?;
    let Some(version) = newest(&names, line) else {
        return Ok(None);
    };
    let image = apt.package(&format!("{}{version}{}", IMAGE.0, IMAGE.1))?;
    let key = format!("{version}_{}", image.version);
    let kernel = Kernel {
        line: line.to_owned(),
        tree: kernels.join(&key),
        key,
    };
    // One that an earlier version unpacked may lack modules that are wanted now.
    if fs::read_to_string(kernel.tree.join(LEFT_OUT)).is_ok_and(|left| left == UNWANTED.join("\n"))
    {
        return Ok(Some(kernel));
    }
    fetch(apt, &kernel, image, &version)?;
    Ok(Some(kernel))
}

fn fetch(apt: &Apt, kernel: &Kernel, image: Package, version: &str) -> Result<()> {
    step(format!(
        "fetching kernel {} from {}: the virtual machines boot it, nothing is installed",
        kernel.key,
        apt.describe()
    ));
    let headers = Package {
        name: format!("linux-headers-{version}-amd64"),
        version: image.version.clone(),
    };
    let mut packages = Vec::new();
    for name in apt.depends(&headers)? {
        if name.starts_with("linux-headers-") || name.starts_with("linux-kbuild-") {
            packages.push(apt.package(&name)?);
        }
    }
    packages.extend([image, headers]);
    fetch_into(apt, &packages, &kernel.tree)
}

/// Fetches `packages` and unpacks them into `tree`, without what is unwanted. A tree with its final name is whole.
pub(super) fn fetch_into(apt: &Apt, packages: &[Package], tree: &Path) -> Result<()> {
    let name = tree.file_name().unwrap_or_default().to_string_lossy();
    let debs = tree.with_file_name(format!(".{name}.debs"));
    let half = tree.with_file_name(format!(".{name}.half"));
    folders::empty(&debs)?;
    folders::empty(&half)?;
    apt.download(packages, &debs)?;
    for entry in fs::read_dir(&debs)? {
        unpack(&entry?.path(), &half)?;
    }
    folders::remove(&debs)?;
    fs::write(half.join(LEFT_OUT), UNWANTED.join("\n"))?;
    folders::remove(tree)?;
    fs::rename(&half, tree).with_context(|| format!("cannot create {}", tree.display()))
}

/// `dpkg-deb -x` without what is unwanted.
fn unpack(deb: &Path, dir: &Path) -> Result<()> {
    let mut archive = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(deb)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start dpkg-deb, which unpacks packages")?;
    let content = archive.stdout.take().context("a pipe was asked for")?;
    let excluded = UNWANTED.map(|part| format!("--exclude=*/lib/modules/*/kernel/{part}"));
    let status = Command::new("tar")
        .args(["--extract", "--no-same-owner", "--directory"])
        .arg(dir)
        .args(excluded)
        .stdin(content)
        .status()
        .context("cannot start tar, which unpacks packages")?;
    let archive = archive.wait().context("lost dpkg-deb")?;
    if !status.success() || !archive.success() {
        bail!(
            "{} cannot be unpacked (dpkg-deb: {archive}, tar: {status})",
            deb.display()
        );
    }
    Ok(())
}

fn newest_cached(kernels: &Path, line: &str) -> Result<Option<Kernel>> {
    let key = newest_in(kernels, |key| key.starts_with(&format!("{line}.")))?;
    Ok(key.map(|key| Kernel {
        line: line.to_owned(),
        tree: kernels.join(&key),
        key,
    }))
}

/// The newest version among the names in `dir` that are `wanted`.
pub(super) fn newest_in(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<Option<String>> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let names = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| wanted(name));
    Ok(names.max_by(|a, b| natural(a, b)))
}

/// The newest version of `line` among package names: `6.12.95+deb12`. Flavours (`-rt`, `-cloud`)
/// and debug symbols are passed over.
fn newest(names: &[String], line: &str) -> Option<String> {
    let version = |name: &String| -> Option<String> {
        let version = name.strip_prefix(IMAGE.0)?.strip_suffix(IMAGE.1)?;
        version.strip_prefix(line)?.strip_prefix('.')?;
        let mut parts = version.split('-').skip(1);
        let flavoured = parts.any(|part| !part.chars().all(|c| c.is_ascii_digit()));
        (!flavoured).then(|| version.to_owned())
    };
    names
        .iter()
        .filter_map(version)
        .max_by(|a, b| natural(a, b))
}

/// Orders texts as people do: runs of digits as numbers, all else as text. `~` comes before
/// everything, even the end, as in Debian's versions.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (digits_a, rest_a) = split(a, |c| c.is_ascii_digit());
        let (digits_b, rest_b) = split(b, |c| c.is_ascii_digit());
        let number = |digits: &str| digits.parse::<u64>().unwrap_or(0);
        let (text_a, next_a) = split(rest_a, |c| !c.is_ascii_digit());
        let (text_b, next_b) = split(rest_b, |c| !c.is_ascii_digit());
        let order = number(digits_a)
            .cmp(&number(digits_b))
            .then_with(|| ranks(text_a).cmp(&ranks(text_b)));
        if order != Ordering::Equal || (next_a.is_empty() && next_b.is_empty()) {
            return order;
        }
        (a, b) = (next_a, next_b);
    }
}

fn split(text: &str, take: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !take(c)).unwrap_or(text.len()))
}

/// Letters and signs as numbers to compare, closed by 1 so that `~`, which is 0, precedes an end.
fn ranks(text: &str) -> Vec<u32> {
    let rank = |c| if c == '~' { 0 } else { 2 + u32::from(c) };
    text.chars().map(rank).chain([1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(versions: &[&str]) -> Vec<String> {
        let name = |version: &&str| format!("linux-image-{version}-amd64-unsigned");
        versions.iter().map(name).collect()
    }

    #[test]
    fn the_newest_is_found_by_number_and_not_by_text() {
        let names = names(&["6.1.0-9", "6.1.0-48", "6.1.0-47", "6.12.95+deb12", "6.10.3"]);
        assert_eq!(newest(&names, "6.1").unwrap(), "6.1.0-48");
        assert_eq!(newest(&names, "6.12").unwrap(), "6.12.95+deb12");
        assert_eq!(newest(&names, "6.11"), None);
    }

    #[test]
    fn flavours_and_other_packages_are_no_kernels() {
        let mut names = names(&["6.1.0-48-rt", "6.1.0-48-cloud", "6.12.9+deb12-rt"]);
        names.push("linux-image-6.1.0-50-amd64-dbg".into());
        names.push("linux-image-6.1-amd64-unsigned".into());
        assert_eq!(newest(&names, "6.1"), None);
        assert_eq!(newest(&names, "6.12"), None);
    }

    #[test]
    fn versions_are_ordered_as_debian_orders_them() {
        for (less, more) in [
            ("6.12.9+deb12", "6.12.95+deb12"),
            ("6.12.95+deb12", "6.12.95+deb13"),
            ("6.1.0-9_6.1.9-1", "6.1.0-48_6.1.172-1"),
            ("6.1.0-48_6.1.172-1", "6.1.0-48_6.1.173-1"),
            ("6.12.95-1~bpo12+1", "6.12.95-1"),
            ("6.1", "6.1.1"),
        ] {
            assert_eq!(natural(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(natural(more, less), Ordering::Greater, "{more} {less}");
        }
        assert_eq!(natural("6.1.0-48", "6.1.0-48"), Ordering::Equal);
    }

    #[test]
    fn a_line_is_two_numbers() {
        check_line("6.12").unwrap();
        for wrong in ["6", "6.12.3", "6.x", "", "../6.1", "6."] {
            check_line(wrong).unwrap_err();
        }
    }

    #[test]
    fn without_network_the_newest_whole_tree_serves() {
        let dir = tempfile::tempdir().unwrap();
        for key in ["6.1.0-9_6.1.9-1", "6.1.0-48_6.1.172-1", ".6.1.0-50_x.half"] {
            fs::create_dir(dir.path().join(key)).unwrap();
        }
        let kernel = newest_cached(dir.path(), "6.1").unwrap().unwrap();
        assert_eq!(kernel.key, "6.1.0-48_6.1.172-1");
        assert_eq!(newest_cached(dir.path(), "6.12").unwrap(), None);
    }
}
