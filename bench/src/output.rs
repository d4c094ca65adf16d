//! All reports of one run, with where and when they were made.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::machine::Machine;
use crate::report::Report;

#[derive(Debug)]
pub(crate) struct Results {
    machine: Machine,
    length: &'static str,
    pub(crate) reports: Vec<Report>,
}

impl Results {
    pub(crate) fn new(machine: Machine, length: &'static str) -> Self {
        Self {
            machine,
            length,
            reports: Vec::new(),
        }
    }

    pub(crate) fn heading(&self) -> String {
        format!("{}length: {}\n", self.machine.text(), self.length)
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "machine": self.machine.json(),
            "length": self.length,
            "benchmarks": self.reports.iter().map(Report::json).collect::<Vec<_>>(),
        })
    }

    fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n```text\n{}", self.machine.date, self.heading());
        for report in &self.reports {
            text += &report.text();
        }
        let _ = writeln!(text, "```\n");
        text
    }

    /// Appends the results to `file`, which is begun if it is not there.
    pub(crate) fn append_to(&self, file: &Path) -> anyhow::Result<()> {
        let cannot = || format!("{} cannot be written", file.display());
        let begin = !file.exists();
        let mut out = OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .with_context(cannot)?;
        if begin {
            writeln!(
                out,
                "# Results\n\nWhat `cargo xtask bench -- --write` printed, oldest first; \
                 `docs/benchmarks.md` says how to read it.\n"
            )
            .with_context(cannot)?;
        }
        out.write_all(self.markdown().as_bytes())
            .with_context(cannot)
    }
}
