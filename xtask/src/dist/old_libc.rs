//! Building for hosts with an old C library: headers and libraries of an old Debian, of which no file is installed or run.
//! The compilers and the linker are this host's.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::folders;
use crate::packages;
use crate::shell::step;
use crate::vm::apt;

/// Debian 11, whose C library is 2.31.
pub(super) const RELEASE: &str = "bullseye";
/// What building takes of it.
const PACKAGES: &str = "libc6-dev,libelf-dev,zlib1g-dev,libibverbs-dev,librdmacm-dev";
/// The newest version of the C library that a release may need.
pub(super) const GLIBC: (u32, u32) = (2, 31);

/// What has programs built for the old C library.
pub(super) struct OldLibc {
    compiler: PathBuf,
}

impl OldLibc {
    /// Fetches what it takes, once.
    pub(super) fn ensure(context: &Context) -> Result<Self> {
        if std::env::consts::ARCH != "x86_64" {
            bail!("releases are built on x86-64 hosts; --dev packs what is built for this one");
        }
        let root = context.tools().join(format!("sysroot-{RELEASE}"));
        if !root.is_dir() {
            packages::ensure(
                &["mmdebstrap", "debian-archive-keyring"],
                "they fetch the C library of an older Debian, which releases are built for",
            )?;
            let part = root.with_extension("part");
            folders::remove(&part)?;
            step(format!(
                "fetching the C library of Debian {RELEASE}, to build for it"
            ));
            apt::extract(RELEASE, PACKAGES, &part)?;
            for folder in ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "lib64"] {
                keep_inside(&part, &part.join(folder), &root)?;
            }
            fs::rename(&part, &root)
                .with_context(|| format!("cannot create {}", root.display()))?;
        }
        let compiler = context.tools().join(format!("cc-{RELEASE}"));
        // The host's own folders come before those of a root file system that is named, unless the latter are named too. The
        // object that programs begin with has to be of the same C library, which else runs no constructors.
        let root = root.display();
        let script = format!(
            "#!/bin/sh\nexec cc --sysroot='{root}' -B'{root}/usr/lib/x86_64-linux-gnu' -L'{root}/usr/lib/x86_64-linux-gnu' \
             -L'{root}/lib/x86_64-linux-gnu' \"$@\"\n"
        );
        fs::write(&compiler, script)?;
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
        Ok(Self { compiler })
    }

    /// Has `cargo` build for it.
    pub(super) fn apply(&self, cargo: &mut Command) {
        cargo
            .env(
                "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
                &self.compiler,
            )
            .env("CC_x86_64_unknown_linux_gnu", &self.compiler)
            .env("CC", &self.compiler);
    }
}

/// Absolute links in `folder` of the file system `part`, which will lie at `root`, would point into the host's file system.
fn keep_inside(part: &Path, folder: &Path, root: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(to) = fs::read_link(&path) else {
            continue;
        };
        if let Ok(relative) = to.strip_prefix("/")
            && part.join(relative).exists()
        {
            fs::remove_file(&path)?;
            symlink(root.join(relative), &path)?;
        }
    }
    Ok(())
}
