//! `cargo xtask dist`: what hosts install from: an archive, a package for Debian and Ubuntu, and one for RPM systems.

pub(crate) mod check;
mod image;
mod licences;
mod old_libc;
mod reproducible;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use self::licences::Licences;
use self::old_libc::OldLibc;
use crate::context::{Context, Profile};
use crate::dashboards;
use crate::ebpf;
use crate::folders;
use crate::report::Report;
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

/// Files with licences of others, in the folder of documents.
const NOTICES: [&str; 2] = ["THIRD-PARTY.txt", "rust-standard-library.html"];

/// Where things go in a package: from the repository, to a folder of the system, or to a file `.conf` there.
const PLACES: [(&str, &str); 29] = [
    ("packaging/gtrace.service", "usr/lib/systemd/system"),
    ("packaging/gtrace-serve.service", "usr/lib/systemd/system"),
    ("packaging/gtrace-head.service", "usr/lib/systemd/system"),
    (
        "packaging/gtrace-head.sysusers",
        "usr/lib/sysusers.d/gtrace-head.conf",
    ),
    (
        "packaging/gtrace-head.tmpfiles",
        "usr/lib/tmpfiles.d/gtrace-head.conf",
    ),
    ("packaging/head.env", "etc/gtrace"),
    ("packaging/gtrace.socket", "usr/lib/systemd/system"),
    ("packaging/gtrace-https.socket", "usr/lib/systemd/system"),
    ("packaging/gtrace.toml", "etc/gtrace"),
    ("packaging/apparmor/gtrace-daemon", "etc/apparmor.d"),
    ("packaging/site-policy.example.toml", EXAMPLES),
    ("packaging/health-rules.example.toml", EXAMPLES),
    ("packaging/triggers.example.toml", EXAMPLES),
    ("packaging/remediation.example.toml", EXAMPLES),
    ("packaging/slurm/gtrace-prolog.sh", SLURM),
    ("packaging/slurm/gtrace-epilog.sh", SLURM),
    ("packaging/slurm/gtrace-healthcheck.sh", SLURM),
    ("packaging/slurm/README.md", SLURM),
    ("packaging/plugins/imex.sh", "usr/share/gtrace/plugins"),
    ("packaging/kubernetes", EXAMPLES),
    ("packaging/fleet", EXAMPLES),
    ("packaging/prometheus", EXAMPLES),
    ("packaging/alertmanager.yml", EXAMPLES),
    ("packaging/README.md", EXAMPLES),
    ("packaging/deb/copyright", DOC),
    ("README.md", DOC),
    ("LICENSE-MIT", DOC),
    ("LICENSE-APACHE", DOC),
    ("docs", DOC),
];
const DOC: &str = "usr/share/doc/gtrace";
const SLURM: &str = "usr/share/gtrace/slurm";
const EXAMPLES: &str = "usr/share/doc/gtrace/examples";
/// Dashboards, which are generated.
const GRAFANA: &str = "usr/share/doc/gtrace/examples/grafana";

/// Files with completions, by shell.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/gtrace"),
    ("zsh", "usr/share/zsh/vendor-completions/_gtrace"),
    ("fish", "usr/share/fish/vendor_completions.d/gtrace.fish"),
];

/// What is asked of `cargo xtask dist`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    /// Pack this program, which was built before
    #[arg(long, value_name = "FILE", conflicts_with = "dev")]
    pub(crate) binary: Option<PathBuf>,
    /// Check the packages: lintian, rpmlint, and life with systemd in virtual machines with Debian 12 and 13
    #[arg(long)]
    pub(crate) check: bool,
    /// Of the machines of --check, boot only those whose names contain this, and leave out what needs none
    #[arg(long, value_name = "TEXT", requires = "check")]
    pub(crate) only: Option<String>,
    /// Make container images too: the daemon, the server of GPUs, and a layer for clients
    #[arg(long)]
    pub(crate) images: bool,
    /// Build a second time, from nothing and in a clone with another path, and compare all packages byte by byte
    #[arg(long, conflicts_with_all = ["dev", "binary", "only", "images"])]
    pub(crate) rebuild: bool,
    /// Sign the checksums with this private key of OpenSSH
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
}

/// What was packed.
#[derive(Debug, Default)]
pub(crate) struct Packed {
    /// For Debian and Ubuntu.
    pub(crate) deb: Option<PathBuf>,
    /// The same under the next version number, to try upgrades.
    pub(crate) next: Option<PathBuf>,
    /// For systems with rpm.
    pub(crate) rpm: Option<PathBuf>,
    /// Container images.
    pub(crate) images: Vec<PathBuf>,
    /// The program in all of them.
    pub(crate) program: PathBuf,
    /// The version of the C library that it needs.
    pub(crate) glibc: (u32, u32),
}

/// `cargo xtask dist`.
pub(crate) fn command(context: &Context, profile: Profile, options: &Options) -> Result<ExitCode> {
    let packed = pack(context, profile, options)?;
    if let Some(key) = &options.sign {
        sign(&context.target.join("dist"), key)?;
    }
    if !options.check && !options.rebuild {
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report::default();
    if profile == Profile::Release {
        report.check("the program's size", check_size(&packed.program));
    }
    if let Some(only) = &options.only {
        check::machines(context, &packed, only, &mut report);
        return Ok(report.finish());
    }
    report.begin("bytes");
    let folder = context.target.join("dist");
    report.check(
        "the same bytes the second time",
        reproducible::sums(&folder).and_then(|first| {
            let second = if options.rebuild {
                reproducible::rebuild(context)?
            } else {
                pack(context, profile, options)?;
                folder
            };
            reproducible::same(&first, &reproducible::sums(&second)?)
        }),
    );
    if options.check {
        check::add(context, &packed, &mut report);
    }
    Ok(report.finish())
}

/// Builds the binary and packs it with what installing it takes.
pub(crate) fn pack(context: &Context, profile: Profile, options: &Options) -> Result<Packed> {
    let folder = context.target.join("dist");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let built = match &options.binary {
        Some(binary) => binary.clone(),
        None => build(context, profile)?,
    };
    let dist = Dist {
        context,
        binary: stripped(&built, &folder)?,
        time: shell::read(
            Command::new("git")
                .args(["log", "-1", "--format=%ct"])
                .current_dir(&context.root),
        )
        .map_or_else(|_| "0".to_owned(), |time| time.trim().to_owned()),
        licences: Licences::gather(context)?,
        folder,
    };
    let content = dist.content()?;
    let mut made = vec![dist.archive(&content)?, dist.bill()?];
    let mut packed = Packed {
        program: dist.binary.clone(),
        glibc: glibc(&dist.binary)?,
        ..Packed::default()
    };
    if has("dpkg-deb", "dpkg") {
        let deb = dist.deb(&content, VERSION, &dist.folder)?;
        packed.deb = Some(dist.folder.join(&deb));
        made.push(deb);
        let other = dist.empty("next")?;
        let next = dist.deb(&content, &format!("{VERSION}+next"), &other)?;
        packed.next = Some(other.join(next));
    }
    if has("rpmbuild", "rpm") {
        let rpm = dist.rpm(&content)?;
        packed.rpm = Some(dist.folder.join(&rpm));
        made.push(rpm);
    }
    if options.images {
        let images = dist.images()?;
        packed.images = images.iter().map(|it| dist.folder.join(it)).collect();
        made.extend(images);
    }
    dist.sums(made)?;
    Ok(packed)
}

/// The program. Of a release it needs no newer C library than [`old_libc::GLIBC`].
fn build(context: &Context, profile: Profile) -> Result<PathBuf> {
    if profile == Profile::Dev {
        setup::build(context, profile, &["gtrace"])?;
        return Ok(context.binary(profile, "gtrace"));
    }
    setup::host_packages(context)?;
    ebpf::build(context)?;
    let old = OldLibc::ensure(context)?;
    let target = context.target.join("dist-build");
    step("building gtrace for hosts with an old C library");
    let mut cargo = context.cargo_in(profile, "build");
    cargo
        .args(["--locked", "--package=gtrace", "--target-dir"])
        .arg(&target)
        .env("GTRACE_BPF_DIR", &context.bpf)
        // The same function for the same type is compiled in each crate that needs it; as a whole the program has it once. This
        // takes minutes, which only a release is worth.
        .env("CARGO_PROFILE_RELEASE_LTO", "fat");
    // Paths of this checkout and of this user would be in the program.
    let home = std::env::var("CARGO_HOME")
        .or_else(|_| std::env::var("HOME").map(|home| format!("{home}/.cargo")))
        .unwrap_or_default();
    let flags = format!(
        "--remap-path-prefix={}=gtrace --remap-path-prefix={home}=cargo",
        context.root.display()
    );
    cargo.env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS", flags);
    old.apply(&mut cargo);
    shell::run(&mut cargo).context("user space does not build")?;
    let binary = target.join("release/gtrace");
    let needed = glibc(&binary)?;
    ensure!(
        needed <= old_libc::GLIBC,
        "the program needs version {}.{} of the C library, and a release may need {}.{} at most: see `objdump -T`",
        needed.0,
        needed.1,
        old_libc::GLIBC.0,
        old_libc::GLIBC.1
    );
    Ok(binary)
}

/// Most bytes that the packages' program may have: `size -A` and packaging/README.md say what of it is what.
const SIZE_MAX: u64 = 44 << 20;

/// A copy of the program without its table of symbols, and that beside it, for backtraces.
fn stripped(built: &Path, folder: &Path) -> Result<PathBuf> {
    let (binary, symbols) = (folder.join("gtrace"), folder.join("gtrace.debug"));
    let objcopy = |args: &[&str], from: &Path, to: &Path| {
        let mut objcopy = Command::new("objcopy");
        shell::run(objcopy.args(args).arg(from).arg(to))
    };
    objcopy(&["--only-keep-debug"], built, &symbols)?;
    let link = format!("--add-gnu-debuglink={}", symbols.display());
    objcopy(&["--strip-all", &link], built, &binary)?;
    Ok(binary)
}

/// Whether a release is as small as it is said to be.
fn check_size(binary: &Path) -> Result<()> {
    let size = fs::metadata(binary)?.len();
    ensure!(
        size <= SIZE_MAX,
        "the program has {size} bytes, and may have {SIZE_MAX}: see what grew by `size -A target/dist/gtrace`"
    );
    Ok(())
}

/// Signs the list of checksums.
fn sign(folder: &Path, key: &Path) -> Result<()> {
    let sums = folder.join(SUMS);
    let _ = fs::remove_file(folder.join(format!("{SUMS}.sig")));
    shell::run(
        Command::new("ssh-keygen")
            .args(["-Y", "sign", "-n", NAMESPACE, "-f"])
            .arg(key)
            .arg(sums),
    )
    .with_context(|| format!("{} cannot sign", key.display()))
}

/// The list of checksums.
const SUMS: &str = "SHA256SUMS";
/// What signatures are for, so that one for something else is none.
const NAMESPACE: &str = "gtrace-release";

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
    licences: Licences,
}

impl Dist<'_> {
    /// An empty folder.
    fn empty(&self, name: &str) -> Result<PathBuf> {
        let path = self.folder.join(name);
        folders::empty(&path)?;
        Ok(path)
    }

    fn archive(&self, package: &Path) -> Result<String> {
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
                .args(
                    NOTICES
                        .map(|file| package.join(DOC).join(file))
                        .iter()
                        .filter(|it| it.exists()),
                )
                .arg(&content),
        )?;
        for (folder, from) in [
            ("man", "usr/share/man/man1"),
            ("completions", "usr/share/bash-completion/completions"),
            ("packaging/grafana", GRAFANA),
        ] {
            let mut copy = Command::new("cp");
            shell::run(
                copy.arg("-r")
                    .arg(package.join(from))
                    .arg(content.join(folder)),
            )?;
        }
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
            install.args(["-D", "-m", mode]);
            shell::run(match to.extension().is_some_and(|end| end == "conf") {
                true => install.arg(from).arg(to),
                false => install.arg("-t").arg(to).arg(from),
            })
        };
        install("0755", &self.binary, root.join("usr/bin"))?;
        for (from, to) in PLACES {
            let from = self.context.root.join(from);
            match from.is_dir() {
                true => shell::run(Command::new("cp").arg("-r").arg(&from).arg(root.join(to)))?,
                false => {
                    let is_script = from.extension().is_some_and(|end| end == "sh");
                    let mode = if is_script { "0755" } else { "0644" };
                    install(mode, &from, root.join(to))?;
                }
            }
        }
        dashboards::write(&root.join(GRAFANA))?;
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
        write(&format!("{DOC}/CHANGELOG.md"), &fs::read(log)?)?;
        write(
            &format!("{DOC}/{}", NOTICES[0]),
            self.licences.text().as_bytes(),
        )?;
        if let Some(notices) = &self.licences.standard_library {
            write(&format!("{DOC}/{}", NOTICES[1]), &fs::read(notices)?)?;
        }
        let mut gzip = Command::new("gzip");
        gzip.args(["-9", "--no-name", "--recursive"]).arg(&pages);
        shell::run(&mut gzip)?;
        shell::run(Command::new("chmod").args(["-R", "go-w,a+rX"]).arg(&root))?;
        // It is there for a password.
        let options = root.join("etc/gtrace/head.env");
        shell::run(Command::new("chmod").arg("0600").arg(options))?;
        Ok(root)
    }

    /// The time of the newest commit, RFC 3339.
    fn created(&self) -> Result<String> {
        let seconds = format!("@{}", self.time);
        let mut date = Command::new("date");
        date.args(["--utc", "--date", &seconds, "+%Y-%m-%dT%H:%M:%SZ"]);
        Ok(shell::read(&mut date)?.trim().to_owned())
    }

    /// The bill of materials, beside the packages.
    fn bill(&self) -> Result<String> {
        let name = format!("gtrace-{VERSION}-{}.spdx.json", std::env::consts::ARCH);
        let created = self.created()?;
        let bill = self
            .licences
            .spdx(&created, &licences::sha256(&self.binary)?)?;
        let file = self.folder.join(&name);
        fs::write(&file, bill).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(name)
    }

    fn deb(&self, content: &Path, version: &str, to: &Path) -> Result<String> {
        let architecture = shell::read(Command::new("dpkg").arg("--print-architecture"))?;
        let architecture = architecture.trim();
        let name = format!("gtrace_{version}_{architecture}.deb");
        step(format!("packing {}", self.context.short(&to.join(&name))));
        let root = self.empty("deb")?;
        shell::run(
            Command::new("cp")
                .arg("-a")
                .arg(content.join("."))
                .arg(&root),
        )?;
        // copyright has or names their texts.
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            fs::remove_file(root.join(DOC).join(licence))?;
        }
        let mut overrides = Command::new("install");
        overrides.args(["-D", "-m", "0644"]);
        overrides.arg(self.context.root.join("packaging/deb/lintian-overrides"));
        shell::run(overrides.arg(root.join("usr/share/lintian/overrides/gtrace")))?;
        let control = root.join("DEBIAN");
        fs::create_dir_all(&control)?;
        let from = self.context.root.join("packaging/deb");
        let size = shell::read(
            Command::new("du")
                .args(["-sk", "--apparent-size"])
                .arg(content),
        )?;
        let text = fs::read_to_string(from.join("control"))?
            .replace("@VERSION@", version)
            .replace("@ARCHITECTURE@", architecture)
            .replace("@GLIBC@", &{
                let (major, minor) = glibc(&self.binary)?;
                format!("{major}.{minor}")
            })
            .replace("@KIB@", size.split_whitespace().next().unwrap_or("0"));
        fs::write(control.join("control"), text)?;
        fs::write(
            control.join("conffiles"),
            "/etc/apparmor.d/gtrace-daemon\n/etc/gtrace/gtrace.toml\n/etc/gtrace/head.env\n",
        )?;
        for script in ["postinst", "prerm", "postrm"] {
            let mut install = Command::new("install");
            install.args(["-m", "0755", "-t"]).arg(&control);
            shell::run(install.arg(from.join(script)))?;
        }
        shell::run(
            Command::new("dpkg-deb")
                .args(["--root-owner-group", "-Zxz", "--build"])
                .arg(&root)
                .arg(to.join(&name))
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

    /// Writes a file with the checksum of each of `files`, and one with all.
    fn sums(&self, mut files: Vec<String>) -> Result<()> {
        files.sort();
        let mut all = String::new();
        for file in files {
            let sum = shell::read(
                Command::new("sha256sum")
                    .arg(&file)
                    .current_dir(&self.folder),
            )?;
            let sum_file = self.folder.join(format!("{file}.sha256"));
            fs::write(&sum_file, &sum)
                .with_context(|| format!("cannot write {}", sum_file.display()))?;
            all.push_str(&sum);
        }
        // It is of the list before.
        let _ = fs::remove_file(self.folder.join(format!("{SUMS}.sig")));
        fs::write(self.folder.join(SUMS), &all).context(SUMS)?;
        print!("{all}");
        Ok(())
    }
}

/// The version of the C library that a program needs.
fn glibc(binary: &Path) -> Result<(u32, u32)> {
    let symbols = shell::read(Command::new("objdump").arg("-T").arg(binary))?;
    match newest_glibc(&symbols) {
        Some(version) => Ok(version),
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
    use std::fs;
    use std::path::Path;

    use super::{PLACES, newest_glibc};

    #[test]
    fn packages_have_everything_of_packaging_but_what_makes_them() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging");
        for entry in fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name();
            let path = Path::new("packaging").join(&name);
            let is_packed = PLACES
                .iter()
                .any(|(from, _)| Path::new(from).starts_with(&path));
            assert!(is_packed || name == "rpm" || name == "licences", "{name:?}");
        }
    }

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
