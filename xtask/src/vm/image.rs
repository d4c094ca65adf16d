//! The guest's first and only file system: PID 1, gtrace, the libraries of both, busybox, kernel modules, the stub.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::layout::{BUSYBOX, FAKE_NVML, GTRACE};

use super::cpio::Archive;
use super::kernel::Kernel;
use super::{modules, rdma, real, stub, uprobes};
use crate::context::{Context, Profile};
use crate::shell;

/// Mount points, and empty directories that programs may search.
const DIRS: [&str; 9] = [
    "/dev", "/etc", "/host", "/proc", "/root", "/run", "/sys", "/tmp", "/var",
];

/// Writes the image for `kernel` into `cache` and returns its path; `stub_dir` has the modules of the stub. Of NVIDIA's
/// `drivers` the first is the one that is tested, the second one has its modules beside it. They are as large as all
/// else, so there is an image of its own with them.
pub(super) fn build(
    context: &Context,
    profile: Profile,
    cache: &Path,
    kernel: &Kernel,
    stub_dir: &Path,
    drivers: &[real::Driver],
) -> Result<PathBuf> {
    let mut archive = Archive::default();
    for dir in DIRS {
        archive.dir(dir);
    }
    let users = "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/tmp:/bin/sh\n";
    archive.file("/etc/passwd", users, 0o644);
    archive.file("/etc/group", "root:x:0:\nuser:x:1000:\n", 0o644);
    for (path, name) in [("/init", "gtrace-vm-init"), (GTRACE, "gtrace")] {
        let built = stripped(&context.binary(profile, name), cache)?;
        program(&mut archive, path, &built)?;
    }
    busybox(&mut archive)?;
    modules::add(&mut archive, kernel)
        .with_context(|| format!("the modules of {} cannot be had", kernel.key))?;
    for file in stub::STUB.files {
        copy(&mut archive, &format!("/stub/{file}"), &stub_dir.join(file))?;
    }
    program(&mut archive, FAKE_NVML, &stub::fake_nvml(context, cache)?)?;
    rdma::add(&mut archive, context, profile, cache).context("what the cases about RDMA run")?;
    uprobes::add(&mut archive, context, profile, cache)
        .context("what the cases about CUDA calls run")?;
    let name = match drivers {
        [] => format!("{}.cpio", kernel.line),
        [driver, others @ ..] => {
            real::add(&mut archive, context, cache, driver).context("NVIDIA's driver")?;
            if let Some(other) = others.first() {
                real::add_other(&mut archive, other).context("another driver of NVIDIA's")?;
            }
            format!("{}-{}.cpio", kernel.line, driver.version())
        }
    };
    let dir = cache.join("images");
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let path = dir.join(name);
    write(&archive, &path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn write(archive: &Archive, path: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    archive.write(&mut out)?;
    out.flush()
}

pub(super) fn copy(archive: &mut Archive, path: &str, source: &Path) -> Result<()> {
    archive
        .copy(path, source)
        .with_context(|| format!("cannot read {}", source.display()))
}

/// A program or library with the libraries that it loads, each at its own path.
pub(super) fn program(archive: &mut Archive, path: &str, source: &Path) -> Result<()> {
    copy(archive, path, source)?;
    let listing = shell::output(Command::new("ldd").arg(source).env("LC_ALL", "C"))?;
    let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
    for library in libraries(&listing)? {
        if !archive.has(&library) {
            copy(archive, &library, Path::new(&library))?;
        }
    }
    Ok(())
}

/// A copy of one of our programs without what debuggers want, which is most of it in the dev profile.
pub(super) fn stripped(built: &Path, cache: &Path) -> Result<PathBuf> {
    let dir = cache.join("programs");
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let copy = dir.join(built.file_name().unwrap_or_default());
    let mut strip = Command::new("strip");
    shell::run(strip.arg("-o").arg(&copy).arg(built))?;
    Ok(copy)
}

/// busybox and a link for each thing it can do.
fn busybox(archive: &mut Archive) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|dir| dir.join("busybox"))
        .find(|file| shell::is_executable(file))
        .context("busybox is missing: install busybox-static")?;
    program(archive, BUSYBOX, &found)?;
    let applets = shell::read(Command::new(&found).arg("--list"))?;
    for applet in applets.lines().filter(|applet| *applet != "busybox") {
        archive.link(&format!("/bin/{applet}"), "busybox");
    }
    Ok(())
}

/// The paths in what `ldd` prints; none of a static program.
fn libraries(listing: &str) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for line in listing.lines() {
        let line = line.trim();
        if line.ends_with("not found") {
            bail!("a library is missing on this host: {line}");
        }
        let place = line.split_once(" => ").map_or(line, |(_, place)| place);
        if let Some((path, _)) = place.split_once(" (0x")
            && path.starts_with('/')
        {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_with_the_loader_and_without_the_vdso() {
        let listing = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                       \tlibgcc_s.so.1 => /lib/x86_64-linux-gnu/libgcc_s.so.1 (0x00007f)\n\
                       \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        assert_eq!(
            libraries(listing).unwrap(),
            [
                "/lib/x86_64-linux-gnu/libgcc_s.so.1",
                "/lib64/ld-linux-x86-64.so.2"
            ]
        );
        assert!(libraries("\tstatically linked\n").unwrap().is_empty());
        libraries("\tlibx.so => not found\n").unwrap_err();
    }
}
