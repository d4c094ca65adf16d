//! Steps of PyTorch over an emulated slow network, beside the least that they can take: their round trips, and the
//! time without a network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, process, programs};
use serde_json::Value;

use super::Context;
use crate::report::{Figure, Report};
use crate::stats::{Samples, number};

/// Of `torch_steps.py`.
const WORKLOADS: [&str; 4] = ["training", "item", "matmul", "transformer"];
/// The network's round trip, milliseconds.
const RTT_MS: f64 = 30.0;
/// What a step may take, as a multiple of its round trips and its time without a network.
const BUDGET: f64 = 1.15;
/// PyTorch starts in seconds, and over such a network in tens of them.
const LIMIT: Duration = Duration::from_secs(300);
/// Steps of the two runs that tell how often one waits.
const FEW: u32 = 5;
const MANY: u32 = 25;

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let steps = context.pick(5, 50, 200);
    let rounds = context.pick(1, 3, 5);
    let mut report = Report::new(
        "pytorch",
        format!(
            "steps of PyTorch with launches that the stand-in takes and does not execute, over TCP with an emulated \
             round trip of {RTT_MS} ms, {steps} steps a run, {rounds} runs; beside them {RTT_MS} ms for each time that \
             a step waits, and the step on the stand-in without a network"
        ),
    );
    let folder = std::env::var_os("GTRACE_E2E_FRAMEWORKS").map(PathBuf::from);
    let target = context.gtrace.parent().and_then(Path::parent);
    let folder = folder.or_else(|| Some(target?.join("e2e-frameworks")));
    let python = folder.unwrap_or_default().join("bin/python3");
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
    for name in WORKLOADS {
        context.say(name);
        let waits = (waited(&server, &python, name, MANY)? - waited(&server, &python, name, FEW)?)
            / f64::from(MANY - FEW);
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
        let least = waits * RTT_MS + Samples::new(local).median();
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
            number(least - waits * RTT_MS)
        ));
    }
    Ok(report)
}

fn script() -> PathBuf {
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
    let seconds: f64 = seconds.context("the script told no time")?.parse()?;
    Ok(seconds * 1e3)
}

/// Calls of a whole run that waited for the server.
fn waited(server: &Server, python: &Path, name: &str, steps: u32) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("stats.json");
    let mut command = server.exec(Via::Unix);
    command.arg("--stats-file").arg(&file).arg("--").arg(python);
    step_ms(&mut command, name, steps)?;
    let statistics: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let waiting = statistics["totals"]["waiting"].as_f64();
    waiting.context("the client's statistics have no count of calls that waited")
}
