//! How long programs take that end after their first kernels, over a server that has not seen them and one that has,
//! beside the same programs on the CPU emulator itself; and what they send.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, process, programs};
use serde_json::Value;

use super::{Context, Length, pytorch};
use crate::report::{Figure, Report};
use crate::stats::{Samples, number};

const LIMIT: Duration = Duration::from_secs(300);

/// A program, with what it is called by.
struct Program {
    name: &'static str,
    /// It and its arguments.
    command: Vec<PathBuf>,
    /// What the CPU emulator does with launches: machine code is not executed.
    launch: &'static str,
}

/// Times in milliseconds, and bytes to the server.
#[derive(Default)]
struct Measured {
    direct: Vec<f64>,
    cold: Vec<f64>,
    warm: Vec<f64>,
    cold_bytes: f64,
    warm_bytes: f64,
}

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let rounds = context.pick(1, 5, 15);
    let mut report = Report::new(
        "startup",
        format!(
            "programs from their start to their end, which comes after their first kernels: `gtrace exec` over TCP to a \
             server on this host with the CPU emulator, that has not seen the program's images (cold) or has (warm); \
             launches of PyTorch are taken and not executed; {rounds} rounds"
        ),
    );
    let library = context.gtrace.with_file_name("libgtrace_softgpu.so");
    ensure!(library.is_file(), "{} was not built", library.display());
    let direct = context.gtrace.with_file_name("e2e").join("softgpu");
    artefacts::under_the_names_of_the_driver(&library, &direct)?;
    let folder = tempfile::tempdir_in(&context.scratch)?;
    for program in programs_of(context, folder.path(), &mut report)? {
        context.say(program.name);
        let mut measured = Measured::default();
        for _ in 0..rounds {
            let mut command = program.start(&program.command[0]);
            command
                .env("LD_LIBRARY_PATH", &direct)
                .env("GTRACE_SOFTGPU_LAUNCH", program.launch);
            measured.direct.push(took_ms(&mut command)?);
            let launch = ("GTRACE_SOFTGPU_LAUNCH", program.launch);
            let server = Server::start(&context.gtrace, &[launch], &[])?;
            let (took, bytes) = remotely(&server, &program)?;
            measured.cold.push(took);
            measured.cold_bytes = bytes;
            let (took, bytes) = remotely(&server, &program)?;
            measured.warm.push(took);
            measured.warm_bytes = bytes;
        }
        measured.report(&program, &mut report);
    }
    Ok(report)
}

impl Measured {
    fn report(self, program: &Program, report: &mut Report) {
        let direct = Samples::new(self.direct).median();
        let peer = "the same program on the CPU emulator itself";
        for (how, samples) in [("cold", self.cold), ("warm", self.warm)] {
            report.push(
                Figure::median(
                    format!("{}, {how}", program.name),
                    &Samples::new(samples),
                    "ms",
                )
                .beside(peer, direct),
            );
        }
        report.note(format!(
            "{}: {} KiB to the server cold, {} KiB warm; {} ms on the CPU emulator itself",
            program.name,
            number(self.cold_bytes / 1024.0),
            number(self.warm_bytes / 1024.0),
            number(direct)
        ));
    }
}

impl Program {
    fn start(&self, by: &Path) -> Command {
        let mut command = Command::new(by);
        command
            .args(self.command.iter().skip(1))
            .env("GTRACE_KERNELS", artefacts::kernels());
        command
    }
}

/// What there is to start; what is not there is noted.
fn programs_of(
    context: &Context,
    folder: &Path,
    report: &mut Report,
) -> anyhow::Result<Vec<Program>> {
    let mut all = vec![Program {
        name: "a vector addition with the driver's API",
        command: vec![programs::c_program_in(folder, "vector_add")?],
        launch: "run",
    }];
    let target = context.gtrace.parent().and_then(Path::parent);
    let runtimes = target.unwrap_or(Path::new("")).join("e2e-runtimes");
    match runtime(&runtimes) {
        Some(library) => all.push(Program {
            name: "kernels of NVIDIA's runtime",
            command: vec![programs::c_program_in(folder, "runtime_kernels")?, library],
            launch: "run",
        }),
        None => report.note(format!(
            "no runtime at {}: `cargo xtask test` fetches them",
            runtimes.display()
        )),
    }
    let python = pytorch::python(context);
    if context.length == Length::Short {
        report.note(
            "PyTorch is left out of a short run: it starts for half a minute in a debug build",
        );
    } else if python.is_file() {
        all.push(Program {
            name: "PyTorch, a training step",
            command: vec![python, pytorch::script(), "training".into(), "1".into()],
            launch: "skip",
        });
    } else {
        report.note(format!(
            "no PyTorch at {}: `cargo xtask test --frameworks` fetches it",
            python.display()
        ));
    }
    Ok(all)
}

/// The newest runtime's library that was fetched.
fn runtime(folder: &Path) -> Option<PathBuf> {
    let mut versions: Vec<_> = fs::read_dir(folder).ok()?.flatten().collect();
    versions.sort_by_key(fs::DirEntry::path);
    library_in(&versions.last()?.path())
}

fn library_in(folder: &Path) -> Option<PathBuf> {
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return library_in(&path);
        }
        let name = entry.file_name();
        name.to_string_lossy()
            .starts_with("libcudart.so.")
            .then_some(path)
    })
}

/// Milliseconds from the start of a program to its end.
fn took_ms(command: &mut Command) -> anyhow::Result<f64> {
    let outcome = process::run(command, LIMIT)?;
    ensure!(
        outcome.status.success(),
        "{command:?}: {}\n{}{}",
        outcome.status,
        outcome.stdout,
        outcome.stderr
    );
    Ok(outcome.took.as_secs_f64() * 1e3)
}

/// As [`took_ms`] through a server, and the bytes that it was sent.
fn remotely(server: &Server, program: &Program) -> anyhow::Result<(f64, f64)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("stats.json");
    let mut command = server.exec(Via::Tcp);
    command
        .arg("--stats-file")
        .arg(&file)
        .arg("--")
        .args(&program.command)
        .env("GTRACE_KERNELS", artefacts::kernels());
    let took = took_ms(&mut command)?;
    let statistics: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let bytes = statistics["totals"]["bytes_out"].as_f64();
    let bytes = bytes.context("the client's statistics have no count of bytes")?;
    Ok((took, bytes))
}
