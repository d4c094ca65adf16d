//! PyTorch: training, CUDA graphs, cuBLAS, cuDNN, Triton; remotely the same numbers, bit by bit, as directly.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::{Done, Planned};
use crate::gpu_check::place::Place;
use crate::process::{self, Outcome};
use crate::server::{Server, Via};

/// The script's workloads.
const WORKLOADS: [&str; 8] = [
    "copies",
    "cublas",
    "cudnn",
    "mlp",
    "transformer",
    "resnet",
    "graph",
    "triton",
];
/// How long one run may take: PyTorch starts in seconds, and Triton compiles.
const LIMIT: Duration = Duration::from_secs(300);
/// Prints whether PyTorch is there and built for CUDA.
const PROBE: &str = "import torch; print(torch.__version__, torch.version.cuda)";

/// A step for each workload.
pub(super) fn planned(short: bool) -> impl Iterator<Item = Planned> {
    WORKLOADS.into_iter().map(move |name| {
        let steps = if short { 2 } else { 20 };
        Planned::new(format!("PyTorch {name}"), 1500, move |place| {
            compared(place, name, steps)
        })
    })
}

/// What a run printed.
#[derive(Debug, Default, PartialEq)]
struct Printed {
    /// Numbers by their names, as the bytes of a double.
    values: BTreeMap<String, String>,
    /// Median seconds of a step.
    step: Option<f64>,
}

impl Printed {
    fn parse(text: &str) -> Self {
        let mut printed = Self::default();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("value ") {
                if let Some((name, bits)) = rest.rsplit_once(' ') {
                    printed.values.insert(name.to_owned(), bits.to_owned());
                }
            } else if let Some(seconds) = line.strip_prefix("step ") {
                printed.step = seconds.parse().ok();
            }
        }
        printed
    }
}

/// Numbers that two runs directly agree in, and how many there are in all.
fn steady(first: &Printed, second: &Printed) -> (BTreeMap<String, String>, usize) {
    let same = first
        .values
        .iter()
        .filter(|(name, bits)| second.values.get(*name) == Some(bits));
    let same: BTreeMap<_, _> = same.map(|(n, b)| (n.clone(), b.clone())).collect();
    (same, first.values.len())
}

/// The interpreter that has PyTorch, or why there is none.
fn python(place: &Place) -> Result<PathBuf, String> {
    let python = place.python.clone().unwrap_or_else(|| "python3".into());
    let why = |what: &str| {
        format!(
            "{} {what}; name an interpreter that has PyTorch for CUDA with --python",
            python.display()
        )
    };
    let mut probe = place.direct(&python);
    match process::run(probe.args(["-c", PROBE]), LIMIT) {
        Err(error) => Err(why(&format!("does not run: {error:#}"))),
        Ok(outcome) if !outcome.status.success() => Err(why("has no PyTorch")),
        Ok(outcome) if outcome.stdout.trim_end().ends_with("None") => {
            Err(why("has a PyTorch without CUDA"))
        }
        Ok(_) => Ok(python),
    }
}

fn content(outcome: Outcome, how: &str) -> Result<Printed> {
    ensure!(outcome.status.success(), "{how}: {outcome}");
    Ok(Printed::parse(&outcome.stdout))
}

fn compared(place: &Place, name: &'static str, steps: u32) -> Result<Done> {
    if !place.ground.real {
        return Ok(Done::skipped(
            "the CPU emulator does not execute the machine code that PyTorch brings",
        ));
    }
    let python = match python(place) {
        Ok(python) => python,
        Err(why) => return Ok(Done::skipped(why)),
    };
    let script = place.parts.python.join("torch_workloads.py");
    let steps = steps.to_string();
    let arguments = |command: &mut Command, python: Option<&Path>| {
        command.args(python).arg(&script).args([name, &steps]);
    };
    let direct = || -> Result<Printed> {
        let mut command = place.direct(&python);
        arguments(&mut command, None);
        content(process::run(&mut command, LIMIT)?, "directly")
    };
    // What differs from run to run, through atomics say, can be compared with nothing.
    let (first, second) = (direct()?, direct()?);
    let (wanted, all) = steady(&first, &second);
    ensure!(!wanted.is_empty(), "directly, no number is the same twice");
    let locally = second.step.context("the script printed no time")?;
    let server = Server::start_with(&place.ground.gtrace, &place.ground.gpu, &[], &[])?;
    let mut notes = vec![format!(
        "{} of {all} numbers the same bit by bit",
        wanted.len()
    )];
    for via in Via::ALL {
        let mut command = server.exec(via);
        place.ground.clean(&mut command);
        command.arg("--");
        arguments(&mut command, Some(&python));
        let remote = content(process::run(&mut command, LIMIT)?, via.name())?;
        for (name, bits) in &wanted {
            let found = remote.values.get(name).map_or("nothing", String::as_str);
            ensure!(
                found == bits,
                "over {}, {name} is {found} and not {bits}",
                via.name()
            );
        }
        let remotely = remote.step.context("the script printed no time")?;
        notes.push(format!("{} {:.2} x", via.name(), remotely / locally));
    }
    notes.push(format!("of {:.3} ms a step", locally * 1e3));
    Ok(Done::passed(notes.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_the_same_twice_are_compared() {
        let first = Printed::parse("value loss 1 3ff0\nvalue a b 40\nnoise\nstep 0.5\n");
        assert_eq!((first.values.len(), first.step), (2, Some(0.5)));
        let second = Printed::parse("value loss 1 3ff0\nvalue a b 41\nstep 0.5\n");
        let (same, all) = steady(&first, &second);
        assert_eq!(same.into_keys().collect::<Vec<_>>(), ["loss 1"]);
        assert_eq!(all, 2);
    }
}
