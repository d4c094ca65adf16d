//! The folder that becomes the archive: all that a machine needs that has a GPU, and perhaps no compiler and no
//! network.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use super::place::Parts;
use super::portable::{Kind, PROGRAMS, Portable};
use crate::artefacts;
use crate::programs::{c_program_in, python_sources};

/// What a person finds in the archive.
const README: &str = "\
gpu-check: whether GPU-over-IP works with this machine's GPU and driver.

    ./gpu-check --out results

It needs NVIDIA's driver and glibc 2.36, and nothing else: no compiler, no CUDA toolkit, no network, no root. Where
python3 has PyTorch, or the interpreter that --python names, that is checked too. It takes some minutes, writes results/gpu-results.md and results/gpu-results.json, and exits with 0 if all is well, 1 if a step
failed, 3 if there is no driver. ./gpu-check --help names the options.

What it does to the machine: it takes all of the first GPU's memory for a moment, so nothing else should be at work on
it; two programs write where they must not, which the driver reports in the kernel log as Xid 31; one kernel never ends
and is killed. Servers listen on 127.0.0.1 and on sockets in the temporary folder, and are gone at the end.
";

/// What cargo built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The profile's directory, such as `target/release`.
    pub profile: PathBuf,
    /// The gtrace binary.
    pub gtrace: PathBuf,
    /// The CPU emulator's library.
    pub softgpu: PathBuf,
    /// Shared libraries of this machine that gtrace wants and a bare one may not have.
    pub libraries: Vec<PathBuf>,
}

/// Whether files are copied, or linked for use on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// They are copied.
    Copy,
    /// Links lead to them.
    Link,
}

/// Makes `folder` what the archive is unpacked to; programs in C are compiled for it.
pub fn assemble(built: &Built, folder: &Path, by: By) -> Result<()> {
    let parts = Parts::of(folder);
    let place = |from: &Path, to: &Path| -> Result<()> {
        ensure!(from.is_file(), "{} was not built", from.display());
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        match by {
            By::Copy => fs::copy(from, to).map(drop),
            By::Link => symlink(from, to),
        }
        .with_context(|| format!("{} to {}", from.display(), to.display()))
    };
    place(&built.gtrace, &parts.gtrace)?;
    place(&built.softgpu, &parts.softgpu)?;
    place(&built.profile.join("gtrace-e2e-client"), &parts.client)?;
    place(&built.profile.join("gpu-check"), &folder.join("gpu-check"))?;
    fs::create_dir_all(&parts.libraries)?;
    for library in &built.libraries {
        place(
            library,
            &parts
                .libraries
                .join(library.file_name().unwrap_or_default()),
        )?;
    }
    let compiled = built.profile.join("e2e/programs");
    for program in PROGRAMS {
        let to = parts.programs.join(program.name);
        if matches!(program.portable, Portable::No(_)) || fs::symlink_metadata(&to).is_ok() {
            continue;
        }
        match program.kind {
            Kind::C => place(&c_program_in(&compiled, program.name)?, &to)?,
            Kind::Example => place(&built.profile.join("examples").join(program.name), &to)?,
            Kind::Test => {}
        }
    }
    let script = "torch_workloads.py";
    place(&python_sources().join(script), &parts.python.join(script))?;
    for entry in fs::read_dir(artefacts::kernels())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            place(
                &path,
                &parts.kernels.join(path.file_name().unwrap_or_default()),
            )?;
        }
    }
    fs::write(folder.join("README.txt"), README).context("README.txt")
}

/// The newest version of glibc's symbols that a program or library asks for, by its table of names: (2, 36).
pub fn newest_glibc(file: &Path) -> Result<Option<(u32, u32)>> {
    let bytes = fs::read(file).with_context(|| file.display().to_string())?;
    let mark = b"GLIBC_2.";
    let found = bytes
        .windows(mark.len())
        .enumerate()
        .filter(|(_, window)| *window == mark);
    let minors = found.filter_map(|(at, _)| {
        let rest = bytes.get(at + mark.len()..)?;
        let digits: Vec<u8> = rest
            .iter()
            .copied()
            .take_while(u8::is_ascii_digit)
            .collect();
        // A name in the table ends with a NUL, behind a second part perhaps: GLIBC_2.2.5.
        let ended = matches!(rest.get(digits.len()), Some(0 | b'.'));
        ended.then(|| String::from_utf8(digits).ok()?.parse().ok())?
    });
    Ok(minors.max().map(|minor: u32| (2, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_found_in_a_table_of_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program");
        fs::write(
            &file,
            b"x\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.17\0no GLIBC_2.99 name",
        )
        .expect("a file");
        assert_eq!(newest_glibc(&file).expect("it can be read"), Some((2, 34)));
        fs::write(&file, b"static").expect("a file");
        assert_eq!(newest_glibc(&file).expect("it can be read"), None);
    }
}
