//! Collects what checks and test suites found, and says it at the end.

use std::process::ExitCode;

/// How many tests passed, failed and were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Passed.
    pub(crate) passed: u64,
    /// Failed, or could not be run though they should have been.
    pub(crate) failed: u64,
    /// Left out, for a reason that was said.
    pub(crate) skipped: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// What one check or suite found.
struct Row {
    name: String,
    counts: Counts,
    note: String,
}

/// Everything found so far, in the order in which it was run.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Adds a suite of tests.
    pub(crate) fn suite(&mut self, name: &str, counts: Counts, note: impl Into<String>) {
        self.rows.push(Row {
            name: name.to_owned(),
            counts,
            note: note.into(),
        });
    }

    /// Adds a check, which counts as one test.
    pub(crate) fn check(&mut self, name: &str, result: anyhow::Result<()>) {
        let (counts, note) = match result {
            Ok(()) => (one_passed(), String::new()),
            Err(error) => (one_failed(), format!("{error:#}")),
        };
        if !note.is_empty() {
            eprintln!("gtrace: {name}: {note}");
        }
        self.suite(name, counts, note);
    }

    /// Adds a check that was left out, and says why.
    pub(crate) fn skip(&mut self, name: &str, count: u64, why: impl Into<String>) {
        let why = why.into();
        println!("gtrace: skipping {name}: {why}");
        let counts = Counts {
            skipped: count,
            ..Counts::default()
        };
        self.suite(name, counts, why);
    }

    /// The sum of all rows.
    pub(crate) fn total(&self) -> Counts {
        self.rows.iter().fold(Counts::default(), |mut sum, row| {
            sum += row.counts;
            sum
        })
    }

    /// Prints the table and, as the last line, the sum; the exit code says whether all is well.
    pub(crate) fn finish(&self) -> ExitCode {
        println!("\n{}", self.table());
        println!("{}", sum_line(self.total()));
        self.exit_code()
    }

    fn exit_code(&self) -> ExitCode {
        if self.total().failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn table(&self) -> String {
        let width = self
            .rows
            .iter()
            .map(|row| row.name.len())
            .max()
            .unwrap_or(0);
        let mut table = format!("{:width$}  passed  failed  skipped\n", "");
        for Row { name, counts, note } in &self.rows {
            let note = note.lines().next().unwrap_or_default();
            let line = format!(
                "{name:width$}  {:6}  {:6}  {:7}  {note}",
                counts.passed, counts.failed, counts.skipped
            );
            table.push_str(line.trim_end());
            table.push('\n');
        }
        table
    }
}

fn sum_line(total: Counts) -> String {
    format!(
        "{} passed, {} failed, {} skipped",
        total.passed, total.failed, total.skipped
    )
}

fn one_passed() -> Counts {
    Counts {
        passed: 1,
        ..Counts::default()
    }
}

fn one_failed() -> Counts {
    Counts {
        failed: 1,
        ..Counts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_sums_suites_checks_and_skips() {
        let mut report = Report::default();
        report.check("fmt", Ok(()));
        report.check("clippy", Err(anyhow::anyhow!("it found something")));
        report.skip("advisories", 1, "no network");
        let counts = Counts {
            passed: 40,
            failed: 2,
            skipped: 3,
        };
        report.suite("tests", counts, "");
        assert_eq!(sum_line(report.total()), "41 passed, 3 failed, 4 skipped");
        assert_eq!(report.exit_code(), ExitCode::FAILURE);
    }

    #[test]
    fn a_note_of_many_lines_does_not_break_the_table() {
        let mut report = Report::default();
        report.check("build", Err(anyhow::anyhow!("first\nsecond")));
        assert_eq!(report.table().lines().count(), 2);
    }
}
