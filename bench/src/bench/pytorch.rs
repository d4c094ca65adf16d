//! Steps of PyTorch over an emulated slow network, beside the least that they can take: their round trips, and the
//! time without a network.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, process, programs};

use super::Context;
use crate::report::{Figure, Report};
use crate::stats::{Samples, number};

/// Of `torch_steps.py`, and how often a step of each waits, as docs/round-trips.md has it, which a test counts.
const WORKLOADS: [(&str, f64); 4] = [
    ("training", 1.0),
    ("item", 1.0),
    ("matmul", 0.0),
    ("transformer", 0.0),
];
/// The network's round trip, milliseconds.
const RTT_MS: f64 = 30.0;
/// What a step may take, as a multiple of its round trips and its time without a network.
const BUDGET: f64 = 1.15;
/// PyTorch starts in seconds, and over such a network in tens of them.
const LIMIT: Duration = Duration::from_secs(300);

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let steps = context.pick(5, 50, 200);
    let rounds = context.pick(1, 3, 5);
    let mut report = Report::new(
        "pytorch",
        format!(
            "steps of PyTorch with launches that the CPU emulator takes and does not execute, over TCP with an emulated \
             round trip of {RTT_MS} ms, {steps} steps a run, {rounds} runs; beside them {RTT_MS} ms for each time that \
             a step waits, the step's share of the wait at the end of its run, and the step on the CPU emulator \
             without a network"
        ),
    );
    let python = python(context);
    if !python.is_file() {
        report.skip(format!(
            "no PyTorch at {}: `cargo xtask test --frameworks` fetches it",
            python.display()
        ));
        return Ok(report);
    }
    let library = context.gtrace.with_file_name("libgtrace_softgpu.so");
    ensure!(library.is_file(), "{} was not built", library.display());
    let direct = context.gtrace.with_file_name("e2e").join("softgpu");
    artefacts::under_the_names_of_the_driver(&library, &direct)?;
    let server = Server::start(&context.gtrace, &[], &["--launch=skip"])?;
    let emulated = format!("--emulate=rtt={RTT_MS}ms");
    for (name, waits) in WORKLOADS {
        context.say(name);
        let mut local = Vec::new();
        let mut slow = Vec::new();
        for _ in 0..rounds {
            let mut command = Command::new(&python);
            command
                .env("LD_LIBRARY_PATH", &direct)
                .env("GTRACE_SOFTGPU_LAUNCH", "skip");
            local.push(step_ms(&mut command, name, steps)?);
            let mut command = server.exec(Via::Tcp);
            command.arg(&emulated).arg("--").arg(&python);
            slow.push(step_ms(&mut command, name, steps)?);
        }
        let local = Samples::new(local).median();
        // A run ends with a wait for the device.
        let least = (waits + 1.0 / f64::from(steps)) * RTT_MS + local;
        report.push(
            Figure::median(
                format!("step of {name}"),
                &slow.into_iter().collect::<Samples>(),
                "ms",
            )
            .with("waits", waits)
            .beside("its round trips and the step without a network", least)
            .budget(BUDGET * least),
        );
        report.note(format!(
            "{name}: {} waits a step, {} ms without a network",
            number(waits),
            number(local)
        ));
    }
    Ok(report)
}

/// The Python that has PyTorch, if it was fetched.
pub(super) fn python(context: &Context) -> PathBuf {
    let folder = std::env::var_os("GTRACE_E2E_FRAMEWORKS").map(PathBuf::from);
    let target = context.gtrace.parent().and_then(Path::parent);
    let folder = folder.or_else(|| Some(target?.join("e2e-frameworks")));
    folder.unwrap_or_default().join("bin/python3")
}

/// Its steps.
pub(super) fn script() -> PathBuf {
    programs::python_sources().join("torch_steps.py")
}

/// Milliseconds of a step.
fn step_ms(command: &mut Command, name: &str, steps: u32) -> anyhow::Result<f64> {
    command.arg(script()).args([name, &steps.to_string()]);
    let outcome = process::run(command, LIMIT)?;
    ensure!(
        outcome.status.success(),
        "{name}: {}\n{}",
        outcome.status,
        outcome.stderr
    );
    let mut lines = outcome.stderr.lines();
    let seconds = lines.find_map(|line| line.strip_prefix("step "));
    let seconds: f64 = seconds.context("the script printed no time")?.parse()?;
    Ok(seconds * 1e3)
}
