//! The check of GPU-over-IP on a machine with a GPU: the same programs directly on the driver and through
//! `gtrace serve` and `gtrace exec`, NVML compared value by value, times, and clients and servers that are killed.
//!
//! Every step has a limit of time, and one that fails does not stop the others.

pub mod machine;
pub mod pack;
pub mod place;
pub mod portable;
pub mod report;
mod steps;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use self::machine::Machine;
use self::place::{Libraries, Parts, Place};
use self::report::{Outcome, Report, Step};
use self::steps::steps;
use crate::process;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The parts of the archive.
    pub parts: Parts,
    /// The driver; found by itself if not given.
    pub libcuda: Option<PathBuf>,
    /// The driver's NVML; found by itself if not given.
    pub libnvml: Option<PathBuf>,
    /// The interpreter that has PyTorch; `python3` if not given.
    pub python: Option<PathBuf>,
    /// Rehearse with the CPU emulator.
    pub softgpu: bool,
    /// Measure and work at random for a shorter time.
    pub short: bool,
    /// Only steps whose names contain one of these, unless there is none.
    pub only: Vec<String>,
}

/// Does all steps and says what came of each.
///
/// # Errors
///
/// There is no driver here, or a part of the archive is missing; then no step was done.
pub fn run(options: &Options) -> Result<Report> {
    options.parts.check()?;
    let libraries = match options.softgpu {
        true => {
            let library = Some(options.parts.softgpu.clone());
            Libraries::find(library.clone(), library)?
        }
        false => Libraries::find(options.libcuda.clone(), options.libnvml.clone())?,
    };
    let mut place = Place::new(options.parts.clone(), libraries, !options.softgpu)?;
    place.python.clone_from(&options.python);
    let place = Arc::new(place);
    let machine = Machine::find(&place);
    for (name, value) in machine.rows() {
        println!("{name}: {value}");
    }
    let mut report = Report {
        machine,
        ..Report::default()
    };
    for step in steps(options.short) {
        let mut only = options.only.iter();
        if !options.only.is_empty() && !only.any(|part| step.name.contains(part.as_str())) {
            continue;
        }
        let start = Instant::now();
        let (its, run) = (Arc::clone(&place), step.run);
        let done = within(step.limit, move || run(&its));
        end_what_is_left();
        let took = start.elapsed();
        let outcome = done.map_or_else(Outcome::Failed, |done| {
            report.measured.extend(done.measured);
            report.changing.extend(done.changing);
            done.outcome
        });
        print_step(&step.name, &outcome, took);
        report.steps.push(Step {
            name: step.name,
            outcome,
            took,
        });
    }
    report.changing.sort_unstable();
    report.changing.dedup();
    Ok(report)
}

/// Runs `step` on a thread of its own; one that takes longer is left to itself.
fn within<T: Send + 'static>(
    limit: Duration,
    step: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T, String> {
    let (send, receive) = mpsc::channel();
    let thread = thread::Builder::new()
        .spawn(move || {
            // Nobody listens any more if the time was up.
            let _ = send.send(step());
        })
        .map_err(|error| format!("no thread for the step: {error}"))?;
    match receive.recv_timeout(limit) {
        Ok(result) => {
            // It holds the place, whose folders go with the last that does.
            let _ = thread.join();
            result.map_err(|error| format!("{error:#}"))
        }
        Err(RecvTimeoutError::Timeout) => Err(format!("it did not end within {limit:?}")),
        Err(RecvTimeoutError::Disconnected) => Err("it panicked".to_owned()),
    }
}

/// Whatever a step has started and not ended, so that the next finds the device as it should be.
fn end_what_is_left() {
    for child in process::children(std::process::id()) {
        process::kill(child);
    }
}

fn print_step(name: &str, outcome: &Outcome, took: Duration) {
    let (word, text) = match outcome {
        Outcome::Passed(text) => ("passed ", text),
        Outcome::Failed(text) => ("FAILED ", text),
        Outcome::Skipped(text) => ("skipped", text),
    };
    println!("{word} {:6.1} s  {name}: {text}", took.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_its_time_and_its_error() {
        let second = Duration::from_secs(1);
        assert_eq!(within(10 * second, || Ok(7)), Ok(7));
        let failed = within(10 * second, || -> Result<()> { anyhow::bail!("it broke") });
        assert_eq!(failed, Err("it broke".to_owned()));
        let late = within(Duration::from_millis(10), move || {
            thread::sleep(second);
            Ok(())
        });
        assert!(late.is_err_and(|error| error.contains("did not end")));
        let panicked = within(second, || -> Result<()> { panic!("a test") });
        assert_eq!(panicked, Err("it panicked".to_owned()));
    }
}
