//! What `gtrace trace -- PROGRAM` adds to a call of the CUDA driver.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use gtrace_e2e::passing::Passing;
use gtrace_e2e::process;

use super::{Context, api_cost};
use crate::report::{Figure, Report};
use crate::stats::Samples;
use crate::sys;

/// The argument that makes this program the one that is traced.
pub(crate) const ARGUMENT: &str = "pass-through-client";
/// Added to a call, nanoseconds.
const BUDGET_NS: f64 = 60.0;
/// The same beside what an uprobe adds.
const BUDGET_RATIO: f64 = 0.1;
const LIMIT: Duration = Duration::from_secs(120);

/// The traced program: prints a line.
pub(crate) fn main(batches: &str) -> anyhow::Result<()> {
    println!("{}", Passing::measure(batches.parse()?)?.json());
    Ok(())
}

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let batches = context.pick(100, 2_000, 20_000);
    let rounds = context.pick(1, 5, 11);
    let mut report = Report::new(
        "pass-through",
        format!(
            "cuDriverGetVersion of the CPU emulator, called directly and through the library of `gtrace trace` in \
             one process, in turns of 1000 calls; medians of {batches} turns, {rounds} processes each"
        ),
    );
    let folder = tempfile::tempdir_in(&context.scratch)?;
    let out = folder.path().join("x.pftrace");
    let mut direct = Vec::new();
    let uprobe = uprobe(context, rounds, &mut report)?;
    for (name, output) in [
        ("added to a call, histograms only", None),
        (
            "added to a call, histograms and an event each",
            Some(out.as_path()),
        ),
    ] {
        let (mut added, mut lost) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let (found, share) = traced(context, batches, output)?;
            direct.push(found.direct_ns);
            added.push(found.through_ns - found.direct_ns);
            lost.push(share);
        }
        let added = Samples::new(added);
        let mut figure = Figure::median(name, &added, "ns").budget(BUDGET_NS);
        if output.is_some() {
            figure = figure.with("lost", Samples::new(lost).median());
        }
        let value = figure.value();
        report.push(figure);
        if let Some(uprobe) = &uprobe {
            let ratio = Figure::new(format!("{name}, to an uprobe"), value / uprobe.median(), "");
            report.push(ratio.budget(BUDGET_RATIO));
        }
    }
    if let Some(uprobe) = &uprobe {
        report.push(Figure::median("added by an uprobe", uprobe, "ns"));
    }
    report.push(Figure::median(
        "the call itself",
        &Samples::new(direct),
        "ns",
    ));
    report.note("lost: the share of calls whose event found the ring full, which costs less than writing it");
    Ok(report)
}

/// Nanoseconds that the probes of `gtrace profile` add to a call, measured in between.
fn uprobe(context: &Context, rounds: u32, report: &mut Report) -> anyhow::Result<Option<Samples>> {
    if !sys::is_root() {
        report.note("without root there is no uprobe to compare with");
        return Ok(None);
    }
    let added = api_cost::added(context, rounds)?;
    if added.is_none() {
        report.note(
            "libgtrace_softgpu.so is not beside gtrace, so there is no uprobe to compare with",
        );
    }
    Ok(added)
}

/// What the program measured, and the share of its calls whose events were lost.
fn traced(
    context: &Context,
    batches: usize,
    output: Option<&Path>,
) -> anyhow::Result<(Passing, f64)> {
    let counts = tempfile::NamedTempFile::new_in(&context.scratch)?;
    let mut command = Command::new(&context.gtrace);
    command
        .args(["trace", "--softgpu", "--json"])
        .arg(counts.path());
    if let Some(output) = output {
        command.args(["--max-events", "1000", "-o"]).arg(output);
    }
    command
        .arg("--")
        .arg(std::env::current_exe()?)
        .args([ARGUMENT, &batches.to_string()]);
    let outcome = process::run(&mut command, LIMIT)?;
    ensure!(
        outcome.status.success(),
        "the program ended with {}: {}",
        outcome.status,
        outcome.stderr
    );
    let found = Passing::parse(&outcome.stdout).context("what the program printed")?;
    let counts: serde_json::Value = serde_json::from_slice(&std::fs::read(counts.path())?)?;
    let process = &counts["processes"][0];
    let number = |name: &str| process[name].as_f64().context("the program was not seen");
    Ok((found, number("lost_events")? / number("calls")?))
}
