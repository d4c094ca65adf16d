//! `cargo xtask dist`: what hosts install from: an archive, a package for Debian and Ubuntu, and one for RPM systems.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::context::{Context, Profile};
use crate::setup;
use crate::shell::{self, step};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the archive has beside the program, as far as it exists.
const FILES: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "packaging",
    "docs",
];

/// Where things go in a package: from the repository, to the system.
const PLACES: [(&str, &str); 12] = [
    ("packaging/gtrace.service", "usr/lib/systemd/system"),
    ("packaging/gtrace-serve.service", "usr/lib/systemd/system"),
    ("packaging/gtrace.socket", "usr/lib/systemd/system"),
    ("packaging/gtrace-https.socket", "usr/lib/systemd/system"),
    ("packaging/gtrace.toml", "etc/gtrace"),
    ("packaging/site-policy.example.toml", EXAMPLES),
    ("packaging/triggers.example.toml", EXAMPLES),
    ("packaging/deb/copyright", DOC),
    ("README.md", DOC),
    ("LICENSE-MIT", DOC),
    ("LICENSE-APACHE", DOC),
    ("docs", DOC),
];
const DOC: &str = "usr/share/doc/gtrace";
const EXAMPLES: &str = "usr/share/doc/gtrace/examples";

/// Files with completions, by shell.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/gtrace"),
    ("zsh", "usr/share/zsh/vendor-completions/_gtrace"),
    ("fish", "usr/share/fish/vendor_completions.d/gtrace.fish"),
];

/// Builds the binary and packs it with what installing it takes.
pub(crate) fn build(context: &Context, profile: Profile) -> Result<()> {
    setup::build(context, profile, &["gtrace"])?;
    let dist = Dist {
        context,
        binary: context.binary(profile, "gtrace"),
        folder: context.target.join("dist"),
        time: shell::read(
            Command::new("git")
                .args(["log", "-1", "--format=%ct"])
                .current_dir(&context.root),
        )
        .map_or_else(|_| "0".to_owned(), |time| time.trim().to_owned()),
    };
    fs::create_dir_all(&dist.folder)
        .with_context(|| format!("cannot create {}", dist.folder.display()))?;
    let mut made = vec![dist.archive()?];
    let content = dist.content()?;
    if has("dpkg-deb", "dpkg") {
        made.push(dist.deb(&content)?);
    }
    if has("rpmbuild", "rpm") {
        made.push(dist.rpm(&content)?);
    }
    for file in made {
        dist.sum(&file)?;
    }
    Ok(())
}

/// Whether `tool` is there; if not, what would bring it is said.
fn has(tool: &str, package: &str) -> bool {
    let there = shell::succeeds(Command::new(tool).arg("--version"));
    if !there {
        step(format!(
            "no {tool}, so no package of its kind: install {package}"
        ));
    }
    there
}

struct Dist<'a> {
    context: &'a Context,
    binary: PathBuf,
    /// Where everything goes.
    folder: PathBuf,
    /// Of the newest commit: files have this time, so that the same sources give the same bytes.
    time: String,
}

impl Dist<'_> {
    /// An empty folder.
    fn empty(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)
                .with_context(|| format!("cannot clear {}", path.display()))?;
        }
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(path)
    }

    fn archive(&self) -> Result<String> {
        let name = format!("gtrace-{VERSION}-{}", std::env::consts::ARCH);
        let archive = format!("{name}.tar.gz");
        step(format!(
            "packing {}",
            self.context.short(&self.folder.join(&archive))
        ));
        let content = self.empty(&name)?;
        let files = FILES.iter().map(|file| self.context.root.join(file));
        shell::run(
            Command::new("cp")
                .arg("-r")
                .arg(&self.binary)
                .args(files.filter(|file| file.exists()))
                .arg(&content),
        )?;
        shell::run(
            Command::new("tar")
                .args([
                    "--create",
                    "--sort=name",
                    "--owner=0",
                    "--group=0",
                    "--numeric-owner",
                    "--mode=go-w",
                ])
                .arg(format!("--mtime=@{}", self.time))
                .args([
                    "--use-compress-program=gzip --no-name",
                    "--file",
                    &archive,
                    &name,
                ])
                .current_dir(&self.folder),
        )?;
        Ok(archive)
    }

    /// The files of a package, as they lie on a host.
    fn content(&self) -> Result<PathBuf> {
        let root = self.empty("content")?;
        let install = |mode: &str, from: &Path, to: PathBuf| {
            let mut install = Command::new("install");
            shell::run(install.args(["-D", "-m", mode, "-t"]).arg(to).arg(from))
        };
        install("0755", &self.binary, root.join("usr/bin"))?;
        for (from, to) in PLACES {
            let from = self.context.root.join(from);
            match from.is_dir() {
                true => shell::run(Command::new("cp").arg("-r").arg(&from).arg(root.join(to)))?,
                false => install("0644", &from, root.join(to))?,
            }
        }
        let write = |path: &str, bytes: &[u8]| {
            let path = root.join(path);
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(&path, bytes))
                .with_context(|| format!("cannot write {}", path.display()))
        };
        for (shell_name, path) in COMPLETIONS {
            let script = shell::read(Command::new(&self.binary).args(["completions", shell_name]))?;
            write(path, script.as_bytes())?;
        }
        let pages = root.join("usr/share/man/man1");
        shell::run(Command::new(&self.binary).args(["man", "--to"]).arg(&pages))?;
        let log = self.context.root.join("CHANGELOG.md");
        write(&format!("{DOC}/changelog"), &fs::read(log)?)?;
        let mut gzip = Command::new("gzip");
        gzip.args(["-9", "--no-name", "--recursive"])
            .arg(&pages)
            .arg(root.join(DOC).join("changelog"));
        shell::run(&mut gzip)?;
        shell::run(Command::new("chmod").args(["-R", "go-w,a+rX"]).arg(&root))?;
        Ok(root)
    }

    fn deb(&self, content: &Path) -> Result<String> {
        let architecture = shell::read(Command::new("dpkg").arg("--print-architecture"))?;
        let architecture = architecture.trim();
        let name = format!("gtrace_{VERSION}_{architecture}.deb");
        step(format!(
            "packing {}",
            self.context.short(&self.folder.join(&name))
        ));
        let root = self.empty("deb")?;
        shell::run(
            Command::new("cp")
                .arg("-a")
                .arg(content.join("."))
                .arg(&root),
        )?;
        let control = root.join("DEBIAN");
        fs::create_dir_all(&control)?;
        let from = self.context.root.join("packaging/deb");
        let size = shell::read(
            Command::new("du")
                .args(["-sk", "--apparent-size"])
                .arg(content),
        )?;
        let text = fs::read_to_string(from.join("control"))?
            .replace("@VERSION@", VERSION)
            .replace("@ARCHITECTURE@", architecture)
            .replace("@GLIBC@", &glibc(&self.binary)?)
            .replace("@KIB@", size.split_whitespace().next().unwrap_or("0"));
        fs::write(control.join("control"), text)?;
        fs::write(control.join("conffiles"), "/etc/gtrace/gtrace.toml\n")?;
        for script in ["postinst", "prerm", "postrm"] {
            let mut install = Command::new("install");
            install.args(["-m", "0755", "-t"]).arg(&control);
            shell::run(install.arg(from.join(script)))?;
        }
        shell::run(
            Command::new("dpkg-deb")
                .args(["--root-owner-group", "-Zxz", "--build"])
                .arg(&root)
                .arg(self.folder.join(&name))
                .env("SOURCE_DATE_EPOCH", &self.time)
                .stdout(std::process::Stdio::null()),
        )?;
        Ok(name)
    }

    fn rpm(&self, content: &Path) -> Result<String> {
        let architecture = std::env::consts::ARCH;
        let name = format!("gtrace-{VERSION}-1.{architecture}.rpm");
        step(format!(
            "packing {}",
            self.context.short(&self.folder.join(&name))
        ));
        let top = self.empty("rpm")?;
        let files = shell::read(
            Command::new("find")
                .args([
                    ".", "(", "-type", "f", "-o", "-type", "l", ")", "-printf", "/%P\\n",
                ])
                .current_dir(content),
        )?;
        let mut files: Vec<String> = files
            .lines()
            .map(|file| match file {
                file if file.starts_with("/etc/") => format!("%config(noreplace) {file}"),
                file if file.starts_with("/usr/share/doc/") => format!("%doc {file}"),
                file => file.to_owned(),
            })
            .collect();
        files.sort();
        let spec = fs::read_to_string(self.context.root.join("packaging/rpm/gtrace.spec"))?
            .replace("@VERSION@", VERSION)
            .replace("@ARCHITECTURE@", architecture)
            .replace("@CONTENT@", &content.to_string_lossy())
            .replace("@FILES@", &files.join("\n"));
        let spec_file = top.join("gtrace.spec");
        fs::write(&spec_file, spec)?;
        let define = |key: &str, value: &str| format!("{key} {value}");
        shell::run(
            Command::new("rpmbuild")
                .args(["-bb", "--quiet", "--define"])
                .arg(define("_topdir", &top.to_string_lossy()))
                .args([
                    "--define",
                    &define("_rpmdir", &self.folder.to_string_lossy()),
                ])
                .args([
                    "--define",
                    "_rpmfilename %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm",
                ])
                .args(["--define", "_buildhost localhost"])
                .args(["--define", "use_source_date_epoch_as_buildtime 1"])
                .args(["--define", "clamp_mtime_to_source_date_epoch 1"])
                .arg(&spec_file)
                .env("SOURCE_DATE_EPOCH", &self.time),
        )?;
        Ok(name)
    }

    fn sum(&self, file: &str) -> Result<()> {
        let sum = shell::read(
            Command::new("sha256sum")
                .arg(file)
                .current_dir(&self.folder),
        )?;
        let sum_file = self.folder.join(format!("{file}.sha256"));
        fs::write(&sum_file, &sum)
            .with_context(|| format!("cannot write {}", sum_file.display()))?;
        print!("{sum}");
        Ok(())
    }
}

/// The version of the C library that a program needs.
fn glibc(binary: &Path) -> Result<String> {
    let symbols = shell::read(Command::new("objdump").arg("-T").arg(binary))?;
    match newest_glibc(&symbols) {
        Some((major, minor)) => Ok(format!("{major}.{minor}")),
        None => bail!("{} needs no C library that objdump shows", binary.display()),
    }
}

/// The newest version that a table of dynamic symbols names.
fn newest_glibc(symbols: &str) -> Option<(u32, u32)> {
    symbols
        .split("GLIBC_")
        .skip(1)
        .filter_map(|rest| {
            let version = rest
                .split(|c: char| !(c.is_ascii_digit() || c == '.'))
                .next()?;
            let mut numbers = version.split('.');
            Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::newest_glibc;

    #[test]
    fn the_newest_version_counts_by_number() {
        let symbols = "\
            0000 DF *UND* 0000 (GLIBC_2.2.5) read\n\
            0000 DF *UND* 0000 (GLIBC_2.34)  __libc_start_main\n\
            0000 DF *UND* 0000 (GLIBC_2.9) pipe2\n\
            0000 DF *UND* 0000 (GLIBC_PRIVATE) x\n";
        assert_eq!(newest_glibc(symbols), Some((2, 34)));
        assert_eq!(newest_glibc("nothing"), None);
    }
}
