//! What was found, as Markdown for people and JSON for programs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::machine::Machine;
use super::portable::{PROGRAMS, Portable};
use crate::measure::{BULK, Found};

/// Bytes of a failure's text that go into the results.
const DETAIL: usize = 4000;

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All was as it should be; with figures.
    Passed(String),
    /// It was not.
    Failed(String),
    /// It could not be done here, and why.
    Skipped(String),
}

/// A step that was done.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
}

/// A way to the driver, and what was measured on it.
pub type Measured = (String, Found);

/// All that was found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The steps in their order.
    pub steps: Vec<Step>,
    /// Figures of the ways to the driver.
    pub measured: Vec<Measured>,
    /// What of NVML and nvidia-smi was compared by presence and status only.
    pub changing: Vec<String>,
}

impl Report {
    /// Whether every step passed or was skipped with a reason.
    pub fn is_good(&self) -> bool {
        !self
            .steps
            .iter()
            .any(|step| matches!(step.outcome, Outcome::Failed(_)))
    }

    /// Writes `gpu-results.md` and `gpu-results.json`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let json = format!("{:#}\n", self.json());
        for (name, text) in [
            ("gpu-results.md", self.markdown()),
            ("gpu-results.json", json),
        ] {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// For the first column of each table.
    fn mark(&self) -> &'static str {
        match self.machine.cpu_emulator {
            true => " (CPU EMULATOR)",
            false => "",
        }
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        text += match self.machine.cpu_emulator {
            true => {
                "# GPU-over-IP on the CPU EMULATOR of a GPU\n\nA rehearsal: no GPU and no driver took part.\n"
            }
            false => "# GPU-over-IP on a real GPU\n",
        };
        text += "\nWritten by `gpu-check` of `cargo xtask gpu-check`; what it does is in \
                 [remoting.md](remoting.md#checking-a-machine-with-a-gpu).\n\n";
        self.machine_table(&mut text);
        self.step_table(&mut text);
        self.measured_table(&mut text);
        self.left_out(&mut text);
        self.failures(&mut text);
        text
    }

    fn machine_table(&self, text: &mut String) {
        let _ = writeln!(text, "| machine{} | |\n|---|---|", self.mark());
        for (name, value) in self.machine.rows() {
            let _ = writeln!(text, "| {name} | {} |", cell(&value));
        }
    }

    fn step_table(&self, text: &mut String) {
        let count = |of: fn(&Outcome) -> bool| self.steps.iter().filter(|s| of(&s.outcome)).count();
        let _ = writeln!(
            text,
            "\n## Steps\n\n{} passed, {} failed, {} skipped.\n\n| step{} | outcome | seconds | |\n|---|---|---:|---|",
            count(|o| matches!(o, Outcome::Passed(_))),
            count(|o| matches!(o, Outcome::Failed(_))),
            count(|o| matches!(o, Outcome::Skipped(_))),
            self.mark()
        );
        for step in &self.steps {
            let (outcome, note) = match &step.outcome {
                Outcome::Passed(note) => ("passed", note.as_str()),
                Outcome::Failed(note) => ("**failed**", note.lines().next().unwrap_or_default()),
                Outcome::Skipped(note) => ("skipped", note.as_str()),
            };
            let _ = writeln!(
                text,
                "| {} | {outcome} | {:.1} | {} |",
                cell(&step.name),
                step.took.as_secs_f64(),
                cell(note)
            );
        }
    }

    fn measured_table(&self, text: &mut String) {
        if self.measured.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "\n## Times\n\nClient and server on this machine; medians, in microseconds, and of bulk copies of {} MiB \
             of pageable memory in GB/s.\n\n\
             | way{} | cuMemGetInfo | p99 | cuLaunchKernel, its caller | until done | to the device | to the host |\n\
             |---|---:|---:|---:|---:|---:|---:|",
            BULK >> 20,
            self.mark()
        );
        let gb_s = |us: f64| BULK as f64 / us / 1e3;
        for (way, found) in &self.measured {
            let _ = writeln!(
                text,
                "| {way} | {:.2} | {:.2} | {:.3} | {:.3} | {:.2} | {:.2} |",
                found.query,
                found.query_p99,
                found.launch,
                found.launch_done,
                gb_s(found.to_device),
                gb_s(found.to_host)
            );
        }
    }

    fn left_out(&self, text: &mut String) {
        if !self.changing.is_empty() {
            let _ = writeln!(
                text,
                "\n## Compared by presence and status only\n\nValues that change by themselves: {}.",
                self.changing.join(", ")
            );
        }
        let _ = writeln!(
            text,
            "\n## Not for real GPUs\n\n| program or test{} | what is left out, and why |\n|---|---|",
            self.mark()
        );
        for program in PROGRAMS {
            let _ = match program.portable {
                Portable::Yes => Ok(()),
                Portable::Partly(why) => writeln!(text, "| {} | in part: {why} |", program.name),
                Portable::No(why) => writeln!(text, "| {} | {why} |", program.name),
            };
        }
    }

    fn failures(&self, text: &mut String) {
        for step in &self.steps {
            if let Outcome::Failed(output) = &step.outcome {
                let _ = writeln!(
                    text,
                    "\n## Failure: {}\n\n```text\n{}\n```",
                    step.name,
                    cut(output).replace("```", "'''")
                );
            }
        }
    }

    fn json(&self) -> Value {
        let steps = self.steps.iter().map(|step| {
            let (outcome, text) = match &step.outcome {
                Outcome::Passed(text) => ("passed", text),
                Outcome::Failed(text) => ("failed", text),
                Outcome::Skipped(text) => ("skipped", text),
            };
            json!({
                "name": step.name,
                "outcome": outcome,
                "seconds": step.took.as_secs_f64(),
                "text": cut(text),
            })
        });
        let measured = self.measured.iter().map(|(way, found)| {
            let mut value = found.json();
            value["way"] = way.as_str().into();
            value
        });
        json!({
            "cpu_emulator": self.machine.cpu_emulator,
            "machine": self.machine.rows().into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)))
                .collect::<serde_json::Map<_, _>>(),
            "steps": steps.collect::<Vec<_>>(),
            "microseconds": measured.collect::<Vec<_>>(),
            "changing": self.changing,
        })
    }
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The beginning of a long text and, as the cause is often last, its end.
fn cut(text: &str) -> String {
    let letters: Vec<char> = text.trim_end().chars().collect();
    if letters.len() <= DETAIL {
        return letters.into_iter().collect();
    }
    let begin: String = letters[..DETAIL / 2].iter().collect();
    let end: String = letters[letters.len() - DETAIL / 2..].iter().collect();
    format!("{begin}\n...\n{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(cpu_emulator: bool, outcome: Outcome) -> Report {
        Report {
            machine: Machine {
                cpu_emulator,
                ..Machine::default()
            },
            steps: vec![Step {
                name: "program a|b".into(),
                outcome,
                took: Duration::from_millis(1500),
            }],
            measured: vec![("directly".into(), Found::default())],
            changing: vec!["nvmlDeviceGetPowerUsage".into()],
        }
    }

    #[test]
    fn a_failure_is_in_the_table_and_with_its_output_below() {
        let report = report(false, Outcome::Failed("it broke\nline two".into()));
        assert!(!report.is_good());
        let text = report.markdown();
        assert!(
            text.contains("| program a\\|b | **failed** | 1.5 | it broke |"),
            "{text}"
        );
        assert!(text.contains("line two"), "{text}");
        assert!(!text.contains("CPU EMULATOR"), "{text}");
    }

    #[test]
    fn every_table_of_a_rehearsal_says_so() {
        let report = report(true, Outcome::Passed("fine".into()));
        assert!(report.is_good());
        let text = report.markdown();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("CPU EMULATOR"), "{text}");
        let heads = lines.windows(2).filter(|pair| pair[1].starts_with("|---"));
        let heads: Vec<&str> = heads.map(|pair| pair[0]).collect();
        assert_eq!(heads.len(), 4, "{text}");
        assert!(
            heads.iter().all(|head| head.contains("CPU EMULATOR")),
            "{text}"
        );
        assert_eq!(report.json()["cpu_emulator"], true);
    }

    #[test]
    fn of_long_output_begin_and_end_are_kept() {
        let text = format!("begin{}end", "x".repeat(3 * DETAIL));
        let short = cut(&text);
        assert!(short.starts_with("begin") && short.ends_with("end") && short.len() < DETAIL + 10);
    }
}
