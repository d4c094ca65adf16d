//! `gpu-check`: whether GPU-over-IP works with this machine's GPU and driver. Part of the archive that
//! `cargo xtask gpu-check --pack` writes; needs nothing but glibc.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use gtrace_e2e::gpu_check::place::Parts;
use gtrace_e2e::gpu_check::{self, Options};

const USAGE: &str = "usage: gpu-check [--libcuda PATH] [--libnvml PATH] [--out DIR] [--short] [--parts DIR] [--only TEXT]
                 [--softgpu]

  --libcuda PATH  the driver's libcuda.so.1, if it is not where it is looked for
  --libnvml PATH  its libnvidia-ml.so.1, likewise
  --out DIR       where gpu-results.md and gpu-results.json go [default: the current folder]
  --short         measure and work at random for a shorter time
  --parts DIR     the folder of the unpacked archive, if it is not that of gpu-check
  --only TEXT     only the steps whose names contain this; may be repeated
  --python FILE   the interpreter that has PyTorch, if it is not python3
  --softgpu       rehearse with the CPU emulator for a GPU

Exits with 0 if all is well, 1 if a step failed, 2 for wrong usage, 3 if there is no driver.";

struct Arguments {
    options: Options,
    out: PathBuf,
}

fn parse(mut words: impl Iterator<Item = String>, folder: &Path) -> Result<Arguments> {
    let mut arguments = Arguments {
        options: Options {
            parts: Parts::of(folder),
            libcuda: None,
            libnvml: None,
            python: None,
            softgpu: false,
            short: false,
            only: Vec::new(),
        },
        out: PathBuf::from("."),
    };
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} wants a value"))
        };
        let options = &mut arguments.options;
        match word.as_str() {
            "--libcuda" => options.libcuda = Some(value()?.into()),
            "--libnvml" => options.libnvml = Some(value()?.into()),
            "--python" => options.python = Some(value()?.into()),
            "--out" => arguments.out = value()?.into(),
            "--parts" => options.parts = Parts::of(Path::new(&value()?)),
            "--only" => options.only.push(value()?),
            "--softgpu" => options.softgpu = true,
            "--short" => options.short = true,
            _ => bail!("{word} is unknown"),
        }
    }
    if arguments.options.softgpu && arguments.options.libcuda.is_some() {
        bail!("--softgpu is instead of a driver: leave --libcuda out");
    }
    Ok(arguments)
}

fn main() -> Result<ExitCode> {
    let exe = std::env::current_exe()?;
    let folder = exe.parent().context("an executable without a folder")?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{USAGE}");
        return Ok(ExitCode::SUCCESS);
    }
    let arguments = match parse(words.into_iter(), folder) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("gpu-check: {error:#}\n{USAGE}");
            return Ok(ExitCode::from(2));
        }
    };
    let report = match gpu_check::run(&arguments.options) {
        Ok(report) => report,
        Err(error) => {
            eprintln!("gpu-check: {error:#}");
            return Ok(ExitCode::from(3));
        }
    };
    report.write(&arguments.out)?;
    println!(
        "results are in {}",
        arguments.out.join("gpu-results.md").display()
    );
    Ok(match report.is_good() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
