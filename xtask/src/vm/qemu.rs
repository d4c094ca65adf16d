//! QEMU: the system's, or one that is unpacked into the target directory where the system's packages leave no room
//! for it, as another version of its tools is installed, or may not be installed by this user.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, Result};

use super::apt::{Apt, Package};
use crate::context::Context;
use crate::folders;
use crate::packages;
use crate::shell::{self, step};

const PROGRAM: &str = "qemu-system-x86_64";
const PACKAGE: &str = "qemu-system-x86";
/// First version whose machines can be on one network (`-netdev stream`).
const PAIRS: (u32, u32) = (7, 2);
/// In the target directory.
const FOLDER: &str = "tools/qemu";

/// The unpacked one, if it is used.
static UNPACKED: OnceLock<PathBuf> = OnceLock::new();

/// The program to start.
pub(super) fn program() -> &'static Path {
    UNPACKED.get().map_or(Path::new(PROGRAM), PathBuf::as_path)
}

/// Why two of its machines cannot be on one network here, if so: it has to know networks of streams.
pub(super) fn no_pairs() -> Option<String> {
    let printed = shell::read(Command::new(program()).arg("--version")).unwrap_or_default();
    let found = version(&printed).filter(|version| *version < PAIRS)?;
    let (found, needed) = (
        format!("{}.{}", found.0, found.1),
        format!("{}.{}", PAIRS.0, PAIRS.1),
    );
    Some(format!(
        "QEMU is {found}, and two machines on one network need {needed}"
    ))
}

/// Of "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)".
fn version(printed: &str) -> Option<(u32, u32)> {
    let mut words = printed
        .split_whitespace()
        .skip_while(|word| *word != "version");
    let mut parts = words.nth(1)?.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Sees to it that there is one; `why` completes the sentence that says what for.
pub(super) fn ensure(context: &Context, why: &str) -> Result<()> {
    if shell::in_path(PROGRAM) {
        return Ok(());
    }
    let folder = context.target.join(FOLDER);
    if !folder.is_dir() {
        let Err(error) = packages::ensure(&[PACKAGE], why) else {
            return Ok(());
        };
        let Some(apt) = Apt::system() else {
            return Err(error);
        };
        step(format!("{error:#}"));
        unpack(&apt, &folder)
            .with_context(|| format!("{error:#}; nor can {PACKAGE} be unpacked"))?;
    }
    let _ = UNPACKED.set(folder.join(PROGRAM));
    Ok(())
}

/// Unpacks what apt would install into a folder that has its name only once it is whole.
fn unpack(apt: &Apt, folder: &Path) -> Result<()> {
    let part = folder.with_extension("part");
    step(format!("unpacking {PACKAGE} into {}", folder.display()));
    folders::empty(&part)?;
    apt.unpack(&apt.would_install(PACKAGE)?, &part)?;
    let wrapper = part.join(PROGRAM);
    fs::write(&wrapper, script())?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    shell::read(Command::new(&wrapper).arg("--version"))
        .context("the unpacked program does not start")?;
    fs::rename(&part, folder)?;
    Ok(())
}

/// Starts the program with libraries, modules and firmware that lie beside it, which it finds by its own place.
fn script() -> String {
    format!(
        "#!/bin/sh\nhere=$(dirname \"$0\")\nlib=usr/lib/x86_64-linux-gnu\n\
         LD_LIBRARY_PATH=$here/$lib:$here/lib/x86_64-linux-gnu QEMU_MODULE_DIR=$here/$lib/qemu \\\n\
         exec \"$here/usr/bin/{PROGRAM}\" -L \"$here/usr/share/qemu\" -L \"$here/usr/share/seabios\" \\\n\
         -L \"$here/usr/lib/ipxe/qemu\" \"$@\"\n"
    )
}

/// What `apt-get install --simulate` would install.
pub(super) fn installed_by(simulation: &str) -> Vec<Package> {
    let lines = simulation.lines();
    let package = |line: &str| {
        let mut words = line.strip_prefix("Inst ")?.split_whitespace();
        let name = words.next()?.to_owned();
        // The installed version is in brackets.
        let version = words.find_map(|word| word.strip_prefix('('))?.to_owned();
        Some(Package { name, version })
    };
    lines.filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let of = |version_line: &str| version(version_line);
        assert_eq!(
            of("QEMU emulator version 7.2.22 (Debian 1:7.2)\nCopyright"),
            Some((7, 2))
        );
        assert!(of("QEMU emulator version 6.2.0 (Debian 1:6.2)").is_some_and(|it| it < PAIRS));
        assert!(of("QEMU emulator version 10.0.3").is_some_and(|it| it > PAIRS));
        assert_eq!(of("no such program"), None);
    }

    #[test]
    fn what_apt_would_install_is_read() {
        let text = "Reading package lists...\nRemv qemu-utils [1:10.0.2+ds-2]\n\
                    Inst libfdt1 (1.6.1-4+b1 Debian:12.9/stable [amd64])\n\
                    Inst libc6 [2.36-9] (2.36-9+deb12u1 Debian:12.9/stable [amd64])\n\
                    Conf libfdt1 (1.6.1-4+b1 Debian:12.9/stable [amd64])\n";
        let found = installed_by(text);
        let found: Vec<_> = found
            .iter()
            .map(|p| (p.name.as_str(), p.version.as_str()))
            .collect();
        assert_eq!(
            found,
            [("libfdt1", "1.6.1-4+b1"), ("libc6", "2.36-9+deb12u1")]
        );
    }
}
