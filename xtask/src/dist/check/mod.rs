//! `cargo xtask dist --check`: the packages, looked over by the distributions' own checkers, and installed, upgraded,
//! downgraded, removed and purged in root file systems of Debian, in machines whose PID 1 is systemd.

mod images;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::Packed;
use crate::context::Context;
use crate::folders;
use crate::os;
use crate::packages;
use crate::report::{Counts, Report};
use crate::shell::{self, step};
use crate::vm::distro;

/// A machine with a root file system of Debian.
#[derive(Clone, Copy, Debug)]
struct Machine {
    name: &'static str,
    release: &'static str,
    /// The line of its kernel.
    kernel: &'static str,
    /// Packages beside the essential ones: what the package depends on, and what is checked with it.
    packages: &'static str,
    /// What it does.
    script: &'static str,
}

const MACHINES: [Machine; 4] = [
    Machine {
        name: "packages on Debian 12",
        release: "bookworm",
        kernel: "6.1",
        // With AppArmor; the one with Slurm is without.
        packages: "systemd-sysv,libelf1,zlib1g,apparmor",
        script: include_str!("life.sh"),
    },
    Machine {
        name: "packages on Debian 13",
        release: "trixie",
        kernel: "6.12",
        packages: "systemd-sysv,libelf1t64,zlib1g,apparmor",
        script: include_str!("life.sh"),
    },
    Machine {
        name: "Slurm on Debian 12",
        release: "bookworm",
        kernel: "6.1",
        packages: "systemd-sysv,libelf1,zlib1g,dbus,iproute2,munge,slurmctld,slurmd,slurm-client",
        script: include_str!("slurm.sh"),
    },
    Machine {
        name: "fleet on Debian 12",
        release: "bookworm",
        kernel: "6.1",
        packages: "systemd-sysv,libelf1,zlib1g,iproute2,openssl,postgresql,nats-server",
        script: include_str!("fleet.sh"),
    },
];
/// Most for one release, from power on to power off.
const LIMIT: Duration = Duration::from_secs(1500);
/// Most for a checker of packages.
const LINT_LIMIT: &str = "300";
/// What the scripts of all machines begin with.
const BEGIN: &str = include_str!("begin.sh");
const UNIT: &str = "[Unit]\nDescription=Check of gtrace's packages\n\n[Service]\nType=simple\n\
                    ExecStart=/bin/sh /packages/guest.sh\n";
/// What the image leaves out of a root file system, for memory.
const LEFT_OUT: [&str; 5] = [
    "./usr/share/doc/*",
    "./usr/share/locale/*",
    "./usr/share/man/*",
    "./var/lib/apt/lists/*",
    "./var/cache/*",
];

/// Adds all checks of `packed` to `report`.
pub(crate) fn add(context: &Context, packed: &Packed, report: &mut Report) {
    report.begin("packages: lintian, rpmlint");
    match &packed.deb {
        Some(deb) => {
            let mut args = vec![
                "--fail-on",
                "error,warning",
                "--tag-display-limit",
                "0",
                "--allow-root",
            ];
            if !is_release(packed) {
                // userspace/gtrace/build.rs says why.
                args.extend(["--suppress-tags", "hardening-no-pie"]);
            }
            checker(report, "lintian", &args, deb);
        }
        None => report.skip("lintian", 1, "there is no deb"),
    }
    match &packed.rpm {
        Some(rpm) => match rpmlint_config(context, packed) {
            Ok(config) => {
                let config = config.to_string_lossy();
                checker(report, "rpmlint", &["--strict", "--config", &config], rpm);
            }
            Err(error) => report.check("rpmlint", Err(error)),
        },
        None => report.skip("rpmlint", 1, "there is no rpm"),
    }
    old_system(context, packed, report);
    images::add(context, packed, report);
    machines(context, packed, "", report);
}

/// Boots the machines whose names contain `only`, and adds what they said.
pub(crate) fn machines(context: &Context, packed: &Packed, only: &str, report: &mut Report) {
    for machine in MACHINES {
        if !machine.name.contains(only) {
            continue;
        }
        report.begin(machine.name);
        if let Some(why) = impossible(context, packed) {
            report.skip(machine.name, 1, why);
            continue;
        }
        match machine.run(context, packed) {
            Ok(printed) => judge(report, machine.name, &printed),
            Err(error) => report.check(machine.name, Err(error)),
        }
    }
}

/// Whether the program was built for old systems, as those of a release are.
fn is_release(packed: &Packed) -> bool {
    packed.glibc <= super::old_libc::GLIBC
}

/// What rpmlint leaves out.
fn rpmlint_config(context: &Context, packed: &Packed) -> Result<PathBuf> {
    let config = context.root.join("packaging/rpm/rpmlint.toml");
    if is_release(packed) {
        return Ok(config);
    }
    let text = fs::read_to_string(&config).with_context(|| config.display().to_string())?;
    // userspace/gtrace/build.rs says why.
    let of_debug = "Filters = [\n    \"position-independent-executable-suggested\",";
    let to = context.target.join("dist/rpmlint.toml");
    fs::write(&to, text.replacen("Filters = [", of_debug, 1))
        .with_context(|| to.display().to_string())?;
    Ok(to)
}

/// Runs the program in a root file system with the oldest C library that is supported.
fn old_system(context: &Context, packed: &Packed, report: &mut Report) {
    let row = format!("the program runs on Debian {}", super::old_libc::RELEASE);
    report.begin(&row);
    if !is_release(packed) {
        let (major, minor) = packed.glibc;
        let why = format!("it is no release: it needs version {major}.{minor} of the C library");
        return report.skip(&row, 1, why);
    }
    if let Some(why) = no_roots() {
        return report.skip(&row, 1, why);
    }
    let root = context.target.join("dist/roots/old");
    let run = || -> Result<()> {
        fs::create_dir_all(root.parent().context("a folder")?)?;
        make_root(&root, super::old_libc::RELEASE, "libelf1,zlib1g")?;
        fs::copy(&packed.program, root.join("usr/bin/gtrace"))?;
        for args in [
            &["--version"][..],
            &["explain", "xid", "79"],
            &["demo", "--once", "--out", "/tmp"],
        ] {
            // The demonstration starts itself again by /proc.
            let mut chroot = Command::new("unshare");
            chroot
                .args(["--mount", "--pid", "--fork", "--root"])
                .arg(&root);
            shell::run(chroot.args(["--mount-proc", "/usr/bin/gtrace"]).args(args))?;
        }
        Ok(())
    };
    let result = run();
    let _ = fs::remove_dir_all(&root);
    report.check(&row, result);
}

/// Runs a checker of packages, which says what is wrong and ends with a status.
fn checker(report: &mut Report, program: &str, args: &[&str], file: &Path) {
    if let Err(error) = packages::ensure(&[program], "it checks the package") {
        return report.skip(program, 1, format!("{error:#}"));
    }
    // lintian unpacks below TMPDIR, and on a small /tmp waits for room for ever.
    let folder = file.with_extension("lint");
    let check = || -> Result<()> {
        fs::create_dir_all(&folder)?;
        shell::run(
            Command::new("timeout")
                .args(["--kill-after=5", LINT_LIMIT, program])
                .args(args)
                .arg(file)
                .env("TMPDIR", &folder),
        )
    };
    let result = check();
    let _ = fs::remove_dir_all(&folder);
    report.check(program, result);
}

fn impossible(context: &Context, packed: &Packed) -> Option<String> {
    if packed.deb.is_none() || packed.next.is_none() {
        return Some("there is no deb".to_owned());
    }
    no_roots().or_else(|| {
        distro::ready(context)
            .err()
            .map(|error| format!("{error:#}"))
    })
}

/// Why no root file system can be made here; installs what is missing.
fn no_roots() -> Option<String> {
    if !os::is_root() {
        return Some("making a root file system needs root".to_owned());
    }
    let needed = ["mmdebstrap", "cpio", "debian-archive-keyring"];
    let ensured = packages::ensure(&needed, "root file systems are made by them");
    ensured.err().map(|error| format!("{error:#}"))
}

impl Machine {
    /// Makes the root file system, boots it and answers with what the machine said.
    fn run(&self, context: &Context, packed: &Packed) -> Result<String> {
        let folder = context.target.join("dist/roots");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let name = self.name.to_lowercase().replace(' ', "-");
        let root = folder.join(&name);
        let image = folder.join(format!("{name}.cpio"));
        let made = make_root(&root, self.release, self.packages)
            .and_then(|()| furnish(&root, packed, self.script))
            .and_then(|()| pack(&root, &image));
        let removed = fs::remove_dir_all(&root);
        let booted = made.and_then(|()| {
            step(format!("booting {} on Linux {}", self.name, self.kernel));
            distro::boot(context, self.kernel, &image, &folder.join(&name), LIMIT)
        });
        let _ = fs::remove_file(&image);
        removed.with_context(|| format!("cannot remove {}", root.display()))?;
        booted
    }
}

/// A root file system of `release` with what is essential and `include`.
fn make_root(root: &Path, release: &str, include: &str) -> Result<()> {
    folders::remove(root)?;
    step(format!("making a root file system of {release}"));
    let mirror = crate::vm::apt::mirror();
    shell::run(
        Command::new("mmdebstrap")
            .args(["--quiet", "--mode=root", "--variant=minbase"])
            .arg(format!("--include={include}"))
            .args([
                "--aptopt=Acquire::Languages \"none\"",
                "--aptopt=Acquire::Retries \"2\"",
            ])
            .arg(release)
            .arg(root)
            .arg(mirror),
    )
    .context("mmdebstrap")
}

/// Puts packages and the check in.
fn furnish(root: &Path, packed: &Packed, script: &str) -> Result<()> {
    let to = root.join("packages");
    for (name, deb) in [("old", &packed.deb), ("new", &packed.next)] {
        let deb = deb.as_deref().context("there is no deb")?;
        let folder = to.join(name);
        fs::create_dir_all(&folder)?;
        fs::copy(deb, folder.join(deb.file_name().context("a file")?))
            .with_context(|| format!("cannot copy {}", deb.display()))?;
    }
    fs::write(to.join("guest.sh"), format!("{BEGIN}{script}"))?;
    let units = root.join("etc/systemd/system");
    fs::write(units.join("gtrace-check.service"), UNIT)?;
    let wants = units.join("multi-user.target.wants");
    fs::create_dir_all(&wants)?;
    symlink(
        "../gtrace-check.service",
        wants.join("gtrace-check.service"),
    )?;
    for idle in [
        "apt-daily.timer",
        "apt-daily-upgrade.timer",
        "dpkg-db-backup.timer",
    ] {
        let link = units.join(idle);
        if !link.exists() {
            symlink("/dev/null", link)?;
        }
    }
    Ok(())
}

/// Packs a root file system as an initramfs.
fn pack(root: &Path, image: &Path) -> Result<()> {
    let skipped = LEFT_OUT.map(|path| format!("! -path '{path}'")).join(" ");
    let line =
        format!("find . {skipped} -print0 | cpio --quiet --null --create --format=newc >\"$0\"");
    shell::run(
        Command::new("sh")
            .args(["-c", &line])
            .arg(image)
            .current_dir(root),
    )
}

/// Adds what the machine said line by line.
fn judge(report: &mut Report, row: &str, printed: &str) {
    let mut counts = Counts::default();
    for line in printed.lines() {
        if line.starts_with("ok ") {
            counts.passed += 1;
        } else if let Some(failed) = line.strip_prefix("FAILED ") {
            counts.failed += 1;
            let (name, why) = failed.split_once(": ").unwrap_or((failed, ""));
            report.failure(&format!("{row}: {name}"), &why.replace('|', "\n"));
        } else if line != "end" {
            report.remark(format!("{row}: {line}"));
        }
    }
    let whole = printed.lines().last() == Some("end");
    if !whole {
        counts.failed += 1;
    }
    let note = match whole {
        true => "",
        false => "the machine ended before the check did",
    };
    report.suite(row, counts, note);
}

/// The suite of `cargo xtask test --all`.
pub(crate) fn suite(context: &Context, report: &mut Report) {
    let packed = super::pack(
        context,
        crate::context::Profile::Dev,
        &super::Options::default(),
    );
    match packed {
        Ok(packed) => add(context, &packed, report),
        Err(error) => report.check("packages", Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_does_not_come_to_its_end_has_failed() {
        let mut report = Report::default();
        judge(&mut report, "row", "system x\nok one\nok two\nend\n");
        assert_eq!((report.total().passed, report.total().failed), (2, 0));
        judge(&mut report, "row", "ok one\nFAILED two: a|b\n");
        assert_eq!((report.total().passed, report.total().failed), (3, 2));
    }
}
