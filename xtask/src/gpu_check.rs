//! `cargo xtask gpu-check`: GPU-over-IP with a real GPU and NVIDIA's driver, here or, packed into an archive,
//! on another machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;
use gtrace_e2e::gpu_check::pack::{Built, By, assemble, newest_glibc};
use gtrace_e2e::gpu_check::place::Libraries;
use serde_json::Value;

use crate::context::{Context, Profile};
use crate::setup;
use crate::shell::{self, display, step};

/// The folder in the archive.
const NAME: &str = "gtrace-gpu-check";
/// An archive must be smaller than this, bytes.
const LIMIT: u64 = 60 << 20;
/// The newest glibc that the programs may want: Debian 12's. Ubuntu 22.04 has 2.35.
const GLIBC: (u32, u32) = (2, 36);
/// glibc's own libraries, which belong to the machine.
const OF_GLIBC: [&str; 8] = [
    "linux-vdso",
    "ld-linux",
    "libc.",
    "libm.",
    "libdl.",
    "libpthread.",
    "librt.",
    "libutil.",
];

/// What is asked for, other than an archive.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rehearse with the CPU emulator for a GPU; wants --out
    #[arg(long, requires = "out", conflicts_with_all = ["libcuda", "libnvml"])]
    pub(crate) softgpu: bool,
    /// Where the results go, instead of docs/gpu-results.md
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The driver's libcuda.so.1, if it is not where it is looked for
    #[arg(long, value_name = "PATH")]
    pub(crate) libcuda: Option<PathBuf>,
    /// Its libnvidia-ml.so.1, likewise
    #[arg(long, value_name = "PATH")]
    pub(crate) libnvml: Option<PathBuf>,
    /// The Python interpreter that has PyTorch; python3 if not given
    #[arg(long, value_name = "FILE")]
    pub(crate) python: Option<PathBuf>,
    /// Measure and work at random for a shorter time
    #[arg(long)]
    pub(crate) short: bool,
}

/// Writes the archive for another machine.
pub(crate) fn pack(context: &Context, archive: &Path) -> Result<()> {
    let archive = std::path::absolute(archive)?;
    let size = write(context, &archive)?;
    println!(
        "{}: {:.1} MiB; there: tar -xf it, cd {NAME}, ./gpu-check --out results, and bring results/gpu-results.md \
         back to docs/",
        archive.display(),
        mib(size)
    );
    Ok(())
}

/// Packs, unpacks into an empty folder, and checks there, as another machine would.
pub(crate) fn run(context: &Context, options: &Options) -> Result<ExitCode> {
    if !options.softgpu {
        Libraries::find(options.libcuda.clone(), options.libnvml.clone()).context(
            "this machine cannot be checked; write an archive for one that has a GPU with \
             `cargo xtask gpu-check --pack FILE.tar.gz`, or rehearse with `--softgpu --out DIR`",
        )?;
    }
    let folder = tempfile::Builder::new()
        .prefix("gtrace-gpu-check")
        .tempdir()?;
    let archive = folder.path().join("archive.tar.gz");
    write(context, &archive)?;
    let mut tar = Command::new("tar");
    shell::run(tar.arg("-xf").arg(&archive).arg("-C").arg(folder.path()))?;
    let results = folder.path().join("results");
    let mut check = shell::clean(folder.path().join(NAME).join("gpu-check"));
    check.arg("--out").arg(&results);
    for (name, value) in [
        ("--libcuda", &options.libcuda),
        ("--libnvml", &options.libnvml),
        ("--python", &options.python),
    ] {
        if let Some(path) = value {
            check.arg(name).arg(std::path::absolute(path)?);
        }
    }
    for (name, wanted) in [("--softgpu", options.softgpu), ("--short", options.short)] {
        if wanted {
            check.arg(name);
        }
    }
    step(format!("running {}", display(&check)));
    let status = check.status().context("gpu-check could not be started")?;
    ensure!(
        results.is_dir(),
        "gpu-check ended with {status} and left no results"
    );
    keep(context, &results, options)?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Puts the results where they belong: those of a real GPU into the documentation.
fn keep(context: &Context, results: &Path, options: &Options) -> Result<()> {
    let Some(out) = &options.out else {
        let json = fs::read_to_string(results.join("gpu-results.json"))?;
        let json: Value = serde_json::from_str(&json).context("gpu-results.json")?;
        if json["cpu_emulator"] != false {
            bail!("these are results of the CPU emulator: they go nowhere but to --out DIR");
        }
        let to = context.root.join("docs/gpu-results.md");
        fs::copy(results.join("gpu-results.md"), &to).context("docs/gpu-results.md")?;
        step(format!("wrote {}", context.short(&to)));
        return Ok(());
    };
    fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    for name in ["gpu-results.md", "gpu-results.json"] {
        let to = out.join(name);
        fs::copy(results.join(name), &to).with_context(|| to.display().to_string())?;
    }
    step(format!("wrote {}", out.join("gpu-results.md").display()));
    Ok(())
}

/// Builds, assembles and packs; bytes of the archive.
fn write(context: &Context, archive: &Path) -> Result<u64> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let compress = if name.ends_with(".tar.gz") {
        "gzip --no-name --best"
    } else if name.ends_with(".tar.zst") {
        ensure!(
            shell::in_path("zstd"),
            "there is no zstd here: install it, or name the archive .tar.gz"
        );
        "zstd -19 --threads=0 --quiet"
    } else {
        bail!("{name}: an archive's name ends with .tar.gz or .tar.zst");
    };
    setup::build(context, Profile::Release, &["gtrace", "gtrace-softgpu"])?;
    step("building gpu-check and its programs");
    shell::run(context.cargo().args([
        "build",
        "--release",
        "--package=gtrace-e2e",
        "--bins",
        "--examples",
    ]))?;
    let folder = tempfile::Builder::new()
        .prefix("gtrace-gpu-check")
        .tempdir()?;
    let content = folder.path().join(NAME);
    let profile = context.target.join("release");
    let gtrace = profile.join("gtrace");
    let mut built = Built {
        libraries: libraries(&gtrace)?,
        softgpu: profile.join("libgtrace_softgpu.so"),
        gtrace,
        profile,
    };
    fs::create_dir(&content)?;
    // Symbols are not needed there.
    let stripped = folder.path().join("stripped");
    if shell::in_path("strip") {
        let mut strip = Command::new("strip");
        shell::run(strip.arg("-o").arg(&stripped).arg(&built.gtrace))?;
        built.gtrace = stripped;
    }
    assemble(&built, &content, By::Copy)?;
    check_glibc(&content)?;
    if let Some(parent) = archive.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0"])
        .args(["--numeric-owner", "--use-compress-program", compress])
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(folder.path())
        .arg(NAME);
    shell::run(&mut tar)?;
    let size = fs::metadata(archive)?.len();
    ensure!(
        size < LIMIT,
        "{} has {:.1} MiB, and at most {:.0} MiB were wanted",
        archive.display(),
        mib(size),
        mib(LIMIT)
    );
    let gtrace = fs::metadata(content.join("gtrace"))?.len();
    step(format!(
        "packed {:.1} MiB, gtrace in it {:.1} MiB before compression",
        mib(size),
        mib(gtrace)
    ));
    Ok(size)
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Shared libraries of `program` beyond glibc's, as this machine has them.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let text = shell::read(Command::new("ldd").arg(program))?;
    Ok(beyond_glibc(&text))
}

/// From what ldd prints.
fn beyond_glibc(text: &str) -> Vec<PathBuf> {
    let lines = text
        .lines()
        .filter_map(|line| line.trim().split_once(" => "));
    lines
        .filter(|(name, _)| !OF_GLIBC.iter().any(|own| name.starts_with(own)))
        .filter_map(|(_, path)| Some(PathBuf::from(path.split(" (").next()?)))
        .collect()
}

/// Fails if something wants a newer glibc than it may.
fn check_glibc(content: &Path) -> Result<()> {
    let mut newest = (0, 0);
    let mut folders = vec![content.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Some(wanted) = newest_glibc(&path)? else {
                continue;
            };
            ensure!(
                wanted <= GLIBC,
                "{} wants glibc {}.{}, newer than {}.{}: build on an older system, such as Debian 12",
                path.display(),
                wanted.0,
                wanted.1,
                GLIBC.0,
                GLIBC.1
            );
            newest = newest.max(wanted);
        }
    }
    step(format!(
        "the newest glibc that anything in it wants is {}.{}",
        newest.0, newest.1
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_glibc_stay_where_they_are() {
        let text = "\tlinux-vdso.so.1 (0x1)\n\tlibelf.so.1 => /lib/libelf.so.1 (0x2)\n\
                    \tlibc.so.6 => /lib/libc.so.6 (0x3)\n\tlibgcc_s.so.1 => /lib/libgcc_s.so.1 (0x4)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x5)\n";
        let expected: Vec<PathBuf> = vec!["/lib/libelf.so.1".into(), "/lib/libgcc_s.so.1".into()];
        assert_eq!(beyond_glibc(text), expected);
    }
}
