//! Collects what checks and test suites found and where the time went, and prints it at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How much of what a failed test printed is printed again at the end.
const LINES_OF_A_FAILURE: usize = 30;

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

/// How long a step took.
struct Step {
    name: String,
    begin: Instant,
    /// What the host's processors had done by then.
    work: Option<Work>,
    /// Unless it is still under way.
    time: Option<Duration>,
    /// How busy all processors of the host were meanwhile, in percent.
    busy: Option<u64>,
    /// Whether it ran beside other steps, whose time it shares.
    beside: bool,
    /// Parts of it, which may overlap.
    details: Vec<(String, Duration)>,
}

/// What the processors of this host have done since it started, in ticks of all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Work {
    busy: u64,
    idle: u64,
}

impl Work {
    fn now() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = (line.split_whitespace().take(8))
            .map(|word| word.parse().ok())
            .collect::<Option<_>>()?;
        let [user, nice, system, idle, iowait, rest @ ..] = ticks.as_slice() else {
            return None;
        };
        Some(Self {
            busy: user + nice + system + rest.iter().sum::<u64>(),
            idle: idle + iowait,
        })
    }

    /// How busy they were from `self` to `until`, in percent.
    fn share(self, until: Self) -> Option<u64> {
        let busy = until.busy.saturating_sub(self.busy);
        let all = busy + until.idle.saturating_sub(self.idle);
        (100 * busy + all / 2).checked_div(all)
    }
}

/// Everything found so far, in the order in which it was run.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
    steps: Vec<Step>,
    remarks: Vec<String>,
    failures: Vec<String>,
}

impl Report {
    /// Begins a step, and ends the one before it.
    pub(crate) fn begin(&mut self, name: &str) {
        let begin = self.end();
        self.steps.push(Step {
            name: name.to_owned(),
            begin,
            work: Work::now(),
            time: None,
            busy: None,
            beside: false,
            details: Vec::new(),
        });
    }

    /// Ends the step that is under way; the time.
    pub(crate) fn end(&mut self) -> Instant {
        let now = Instant::now();
        if let Some(step) = self.steps.last_mut()
            && step.time.is_none()
        {
            step.time = Some(now - step.begin);
            step.busy = step.work.zip(Work::now()).and_then(|(a, b)| a.share(b));
        }
        now
    }

    /// Adds what was found at the same time as the last steps.
    pub(crate) fn join(&mut self, mut other: Self) {
        self.end();
        other.end();
        for step in &mut other.steps {
            step.beside = true;
        }
        self.rows.append(&mut other.rows);
        self.steps.append(&mut other.steps);
        self.remarks.append(&mut other.remarks);
        self.failures.append(&mut other.failures);
    }

    /// Adds how long a part of the last step took.
    pub(crate) fn detail(&mut self, name: impl Into<String>, time: Duration) {
        if let Some(step) = self.steps.last_mut() {
            step.details.push((name.into(), time));
        }
    }

    /// Adds a line that is printed before the last one.
    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        let text = text.into();
        println!("gtrace: {text}");
        self.remarks.push(text);
    }

    /// Adds a test that failed, with what it printed, the end of which is printed again before the last lines.
    pub(crate) fn failure(&mut self, name: &str, printed: &str) {
        let lines: Vec<_> = printed
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let end = lines.len().saturating_sub(LINES_OF_A_FAILURE);
        let mut text = format!("FAILED {name}");
        for line in &lines[end..] {
            text.push_str("\n    ");
            text.push_str(line.trim_end());
        }
        self.failures.push(text);
    }

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
        let mut counts = Counts::default();
        let mut note = String::new();
        match result {
            Ok(()) => counts.passed = 1,
            Err(error) => {
                counts.failed = 1;
                note = format!("{error:#}");
                eprintln!("gtrace: {name}: {note}");
            }
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
        let mut sum = Counts::default();
        self.rows.iter().for_each(|row| sum += row.counts);
        sum
    }

    /// Prints the tables, remarks and, as the last line, the sum; the exit code says whether all is well.
    pub(crate) fn finish(&mut self) -> ExitCode {
        self.end();
        println!("\n{}", self.times());
        for failure in &self.failures {
            println!("{failure}\n");
        }
        println!("{}", self.table());
        for remark in &self.remarks {
            println!("{remark}");
        }
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

    /// Where the time went.
    fn times(&self) -> String {
        let mut table = format!("{:>8}  {:>5}  where the time went\n", "min:s", "busy");
        let begin = self.steps.iter().map(|step| step.begin).min();
        let end = self.steps.iter().filter_map(|s| Some(s.begin + s.time?));
        let whole = begin.zip(end.max()).map_or(Duration::ZERO, |(b, e)| e - b);
        for step in &self.steps {
            let time = step.time.unwrap_or_default();
            let beside = match step.beside {
                true => " (beside the above)",
                false => "",
            };
            let busy = step
                .busy
                .map_or(String::new(), |share| format!("{share} %"));
            let (time, name) = (clock(time), &step.name);
            table.push_str(&format!("{time:>8}  {busy:>5}  {name}{beside}\n"));
            for (name, time) in &step.details {
                table.push_str(&format!("{:>15}  {:>8}  {name}\n", "", clock(*time)));
            }
        }
        table.push_str(&format!("{:>8}  {:>5}  all of it\n", clock(whole), ""));
        table
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

/// Minutes and seconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn sum_line(total: Counts) -> String {
    format!(
        "{} passed, {} failed, {} skipped",
        total.passed, total.failed, total.skipped
    )
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
    fn what_ran_beside_counts_and_its_time_does_not() {
        let mut report = Report::default();
        report.begin("machines");
        report.check("machines", Ok(()));
        report.end();
        report.steps[0].time = Some(Duration::from_secs(600));
        report.steps[0].busy = Some(97);
        let mut beside = Report::default();
        beside.begin("tests as root");
        beside.check("tests as root", Err(anyhow::anyhow!("one failed")));
        beside.failure("a_test", "it was so");
        beside.end();
        beside.steps[0].time = Some(Duration::from_secs(300));
        beside.steps[0].busy = None;
        report.join(beside);
        assert_eq!(sum_line(report.total()), "1 passed, 1 failed, 0 skipped");
        assert_eq!(report.failures.len(), 1);
        let table: Vec<_> = report.times().lines().map(str::to_owned).collect();
        assert_eq!(
            table[1..],
            [
                "   10:00   97 %  machines",
                "    5:00         tests as root (beside the above)",
                "   10:00         all of it"
            ]
        );
    }

    #[test]
    fn a_note_of_many_lines_does_not_break_the_table() {
        let mut report = Report::default();
        report.check("build", Err(anyhow::anyhow!("first\nsecond")));
        assert_eq!(report.table().lines().count(), 2);
    }

    #[test]
    fn steps_end_when_the_next_one_begins_and_add_up() {
        let mut report = Report::default();
        report.begin("clippy");
        report.begin("tests");
        report.detail("gtrace-e2e", Duration::from_secs(61));
        assert!(report.steps[0].time.is_some() && report.steps[1].time.is_none());
        report.end();
        let first = Duration::from_millis(125_600);
        report.steps[0].time = Some(first);
        report.steps[1].begin = report.steps[0].begin + first;
        report.steps[1].time = Some(Duration::from_secs(3600));
        (report.steps[0].busy, report.steps[1].busy) = (Some(100), Some(8));
        let table: Vec<_> = report.times().lines().map(str::to_owned).collect();
        assert_eq!(
            table[1..],
            [
                "    2:06  100 %  clippy",
                "   60:00    8 %  tests",
                "                     1:01  gtrace-e2e",
                "   62:06         all of it"
            ]
        );
    }

    #[test]
    fn how_busy_the_processors_were_is_of_the_time_between() {
        let read = |line: &str| Work::parse(&format!("{line}\ncpu0 1 2\n"));
        let begin = read("cpu  10 0 10 100 20 0 0 0 5 0").unwrap();
        // Guests' time is in the user's already.
        let end = read("cpu  60 10 20 120 30 5 3 2 90 0").unwrap();
        assert_eq!(begin.share(end), Some(73));
        assert_eq!(begin.share(begin), None);
        assert_eq!(read("cpu  10 0 10 x 20 0 0 0"), None);
        assert_eq!(read("intr 1"), None);
    }
}
