//! What uprobes on the CUDA API add to a call, and how long they take to attach and to go.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::bail;
use gtrace_uprobes::functions::default_set;
use gtrace_uprobes::{Baseline, Floor, Library, Options, Tracer};

use super::Context;
use crate::api_load::{ApiLoad, FUNCTION};
use crate::bpftrace::Bpftrace;
use crate::ioctl_load::time_each;
use crate::process::Process;
use crate::report::{Figure, Report};
use crate::stats::{self, Samples};
use crate::sys;

const BUDGET_RATIO: f64 = 0.7;
const ATTACH_MS: f64 = 50.0;
const DETACH_MS: f64 = 200.0;
const EXIT_MS: f64 = 1000.0;
/// Parts of one measurement, short ones; the fastest counts, so that interruptions do not.
const PARTS: u32 = 100;
/// A command that has not answered by then will not.
const PATIENCE: Duration = Duration::from_secs(60);

/// Nanoseconds of a call, by who traces it.
#[derive(Debug, Default)]
struct Rounds {
    bare: Vec<f64>,
    gtrace: Vec<f64>,
    other: Vec<f64>,
    bpftrace: Vec<f64>,
    empty: Vec<f64>,
    clock: Vec<f64>,
    attach_ms: Vec<f64>,
    detach_ms: Vec<f64>,
    exit_ms: Vec<f64>,
}

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let rounds = context.pick(1, 7, 15);
    let calls = context.pick(200, 1000, 1000);
    let mut report = Report::new(
        "api-cost",
        format!(
            "nanoseconds a call of {FUNCTION} of the CPU emulator, which does nothing, {rounds} rounds of bare, \
             gtrace, another process traced, bpftrace, programs that count nothing in turn; a round is the \
             fastest of {PARTS} times {calls} calls, a figure the median of rounds"
        ),
    );
    let Some(load) = ApiLoad::new(context)? else {
        report.skip("libgtrace_softgpu.so is not beside gtrace: cargo xtask bench builds it");
        return Ok(report);
    };
    let mut result = Rounds::default();
    let mut probes = 0;
    let other = other_process(&load)?;
    let mut own = Tracer::load(Options::new(Some(std::process::id()), default_set()))?;
    let mut others = Tracer::load(Options::new(Some(other.pid()), default_set()))?;
    let floor = Floor::load();
    let measure = || fastest(&load, calls);
    for round in 1..=rounds {
        context.say(&format!("round {round} of {rounds}"));
        result.bare.push(measure()?);

        let library = Library::open(load.path())?;
        let start = Instant::now();
        own.attach(library)?;
        result.attach_ms.push(start.elapsed().as_secs_f64() * 1e3);
        probes = own.libraries().map(|library| library.sites.len()).sum();
        result.gtrace.push(measure()?);
        let start = Instant::now();
        own.detach_all();
        result.detach_ms.push(start.elapsed().as_secs_f64() * 1e3);

        others.attach(Library::open(load.path())?)?;
        result.other.push(measure()?);
        others.detach_all();

        if let Some(bpftrace) = Bpftrace::on_function(load.path(), FUNCTION)? {
            result.bpftrace.push(measure()?);
            drop(bpftrace);
        }
        if let Ok(floor) = &floor {
            for (bare, into) in [
                (Baseline::Empty, &mut result.empty),
                (Baseline::Clock, &mut result.clock),
            ] {
                let library = Library::open(load.path())?;
                let attached = floor.attach(bare, &library, FUNCTION, std::process::id())?;
                into.push(measure()?);
                drop(attached);
            }
        }
        result.exit_ms.push(exit_ms(context)?);
    }
    report.note(format!(
        "{probes} functions by {}; its calls are counted by process and function, with errors; a probe \
         costs {:.0} ns here by gtrace's own measurement, {:.0} ns where the probed instruction is \
         single-stepped",
        own.way().name(),
        own.trap().emulated_ns,
        own.trap().single_stepped_ns,
    ));
    match result.bpftrace.is_empty() {
        true => report.note("bpftrace is not installed, so there is no peer"),
        false => report.note(format!(
            "{} has a histogram of latencies by process on that function alone",
            Bpftrace::version().unwrap_or_default()
        )),
    }
    if let Err(error) = floor {
        report.note(format!(
            "programs that count nothing were not measured: {error}"
        ));
    }
    result.push_to(&mut report);
    Ok(report)
}

/// Nanoseconds of a call.
fn fastest(load: &ApiLoad, calls: u32) -> anyhow::Result<f64> {
    let mut call = load.call()?;
    time_each(calls / 10, &mut call);
    Ok((0..PARTS)
        .map(|_| time_each(calls, &mut call))
        .fold(f64::INFINITY, f64::min))
}

/// Nanoseconds that the probes of `gtrace profile` add to a call of [`FUNCTION`], the fastest in each of
/// `rounds`. `None` where the CPU emulator was not built beside gtrace.
pub(super) fn added(context: &Context, rounds: u32) -> anyhow::Result<Option<Samples>> {
    let Some(load) = ApiLoad::new(context)? else {
        return Ok(None);
    };
    let mut tracer = Tracer::load(Options::new(Some(std::process::id()), default_set()))?;
    let mut one = || -> anyhow::Result<f64> {
        let bare = fastest(&load, 1000)?;
        tracer.attach(Library::open(load.path())?)?;
        let traced = fastest(&load, 1000)?;
        tracer.detach_all();
        Ok(traced - bare)
    };
    let added: anyhow::Result<Vec<f64>> = (0..rounds).map(|_| one()).collect();
    Ok(Some(Samples::new(added?)))
}

/// A process with the same library, which does nothing.
fn other_process(load: &ApiLoad) -> anyhow::Result<Process> {
    let mut command = Command::new("sleep");
    command.arg("3600").env("LD_PRELOAD", load.path());
    Process::start(&mut command)
}

/// Milliseconds from the signal that ends `gtrace profile` on this process until it is gone.
fn exit_ms(context: &Context) -> anyhow::Result<f64> {
    let mut command = Command::new(&context.gtrace);
    command
        .args(["profile", "--pid", &std::process::id().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let errors = child.stderr.take();
    let (sender, receiver) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let lines = errors.map(|pipe| BufReader::new(pipe).lines());
        for line in lines.into_iter().flatten().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let attached = loop {
        match receiver.recv_timeout(PATIENCE) {
            Ok(line) if line.contains("functions of") => break true,
            Ok(_) => {}
            Err(_) => break false,
        }
    };
    let start = Instant::now();
    sys::terminate(child.id());
    let status = child.wait()?;
    let took = start.elapsed();
    let _ = reader.join();
    if !attached || !status.success() {
        bail!("gtrace profile --pid did not trace this process ({status})");
    }
    Ok(took.as_secs_f64() * 1e3)
}

impl Rounds {
    fn push_to(&self, report: &mut Report) {
        let samples = |values: &[f64]| values.iter().copied().collect::<Samples>();
        let bare = samples(&self.bare);
        report.push(Figure::median("a call, bare", &bare, "ns"));
        for (who, values) in [
            ("gtrace", &self.gtrace),
            ("gtrace tracing another process", &self.other),
            ("bpftrace", &self.bpftrace),
            ("a program that does nothing", &self.empty),
            ("a program that looks at the clock twice", &self.clock),
        ] {
            if values.is_empty() {
                continue;
            }
            let figure = Figure::median(format!("a call, {who}"), &samples(values), "ns");
            let added = figure.value() - bare.median();
            report.push(figure.with("added", added).beside("bare", bare.median()));
        }
        if !self.bpftrace.is_empty() {
            let ratio = self.added(&self.gtrace) / self.added(&self.bpftrace);
            report.push(Figure::new("added, gtrace to bpftrace", ratio, "").budget(BUDGET_RATIO));
        }
        // The floor: what is left of a budget once the kernel's traps are paid for.
        for (what, values) in [
            ("does nothing", &self.empty),
            ("looks at the clock twice", &self.clock),
        ] {
            let added = self.added(values);
            let mut figure = Figure::new(format!("added, a program that {what}"), added, "ns");
            for (peer, of) in [("gtrace", &self.gtrace), ("bpftrace", &self.bpftrace)] {
                if !values.is_empty() && !of.is_empty() {
                    figure = figure.beside(peer, self.added(of));
                }
            }
            if !values.is_empty() {
                report.push(figure);
            }
        }
        for (what, values, budget) in [
            ("attach", &self.attach_ms, ATTACH_MS),
            ("detach", &self.detach_ms, DETACH_MS),
            ("end of gtrace profile", &self.exit_ms, EXIT_MS),
        ] {
            report.push(Figure::median(what, &samples(values), "ms").budget(budget));
        }
    }

    fn added(&self, with: &[f64]) -> f64 {
        stats::added(with, &self.bare)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_taken_round_by_round_and_held_against_the_budget() {
        let rounds = Rounds {
            bare: vec![100.0, 200.0, 300.0],
            gtrace: vec![150.0, 260.0, 340.0],
            other: vec![100.0, 200.0, 300.0],
            bpftrace: vec![200.0, 300.0, 400.0],
            empty: vec![130.0, 230.0, 330.0],
            clock: vec![140.0, 240.0, 340.0],
            attach_ms: vec![10.0],
            detach_ms: vec![50.0],
            exit_ms: vec![2000.0],
        };
        assert_eq!(rounds.added(&rounds.gtrace), 50.0);
        let mut report = Report::new("api-cost", "");
        rounds.push_to(&mut report);
        let text = report.text();
        assert!(
            text.contains("0.714 x the budget of 0.700: within budget"),
            "{text}"
        );
        assert!(text.contains("OVER"), "{text}");
        assert!(text.contains("0.600 x gtrace"), "{text}");
        assert!(text.contains("0.300 x bpftrace"), "{text}");
    }
}
