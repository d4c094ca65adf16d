//! Runs the selected cases of a scenario on one kernel, until a deadline.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::scenario::Scenario;

use super::cases::Case;
use super::kernel::Kernel;
use super::machine::Boot;
use super::session::{self, OUT_OF_TIME, Progress, Verdict};
use crate::report::Counts;

/// How many seconds the cases of one kernel may take, instead of [`LIMIT`] and [`LONG_LIMIT`].
const LIMIT_VARIABLE: &str = "GTRACE_VM_LIMIT_S";

/// How long the cases of one kernel may take, on one of two busy cores.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// The same where cases repeat what they repeat a hundred times.
const LONG_LIMIT: Duration = Duration::from_secs(90 * 60);

/// After so many failures in a row a scenario is given up: each may have taken all its patience.
const FAILURES_IN_A_ROW: u32 = 6;

/// So many machines that die by themselves in one run, over all kernels, fail it.
const DEATHS: usize = 3;

/// So many cases that fail in one run, over all kernels, are run again.
const REPEATED: usize = 2;

/// How long the cases of one kernel may take.
///
/// # Errors
///
/// `GTRACE_VM_LIMIT_S` is no number of seconds.
pub(super) fn limit(long: bool) -> Result<Duration> {
    match std::env::var(LIMIT_VARIABLE) {
        Ok(text) => parse_limit(&text),
        Err(_) if long => Ok(LONG_LIMIT),
        Err(_) => Ok(LIMIT),
    }
}

fn parse_limit(text: &str) -> Result<Duration> {
    let seconds = text.parse().with_context(|| {
        format!("{LIMIT_VARIABLE} is {text:?}: give the seconds that a kernel's cases may take")
    })?;
    Ok(Duration::from_secs(seconds))
}

/// What a run has beside counts, over all suites, which run at the same time.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Entries>);

impl Log {
    /// What is in it so far.
    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is in a [`Log`].
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// Cases that were run again, each with what its machine died of.
    pub(super) again: Vec<String>,
    /// Cases that failed and were run again.
    pub(super) repeated: Vec<String>,
    /// Cases that failed for good, each with its message.
    pub(super) failures: Vec<(String, String)>,
}

impl Entries {
    /// Whether a case whose machine died by itself may be run again.
    fn may_run_again(&self) -> bool {
        self.again.len() < DEATHS
    }

    /// Whether a case that failed may be run again.
    fn may_repeat(&self) -> bool {
        self.repeated.len() < REPEATED
    }

    /// That machines died too often for the run to count as good, if so.
    pub(super) fn check(&self) -> Result<()> {
        ensure!(
            self.may_run_again(),
            "{} machines died by themselves, which is too often to be chance: {}",
            self.again.len(),
            self.again.join("; ")
        );
        Ok(())
    }
}

/// How cases ended.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// How many ended how.
    pub(super) counts: Counts,
    /// For the report, where some were not run to their end.
    pub(super) note: String,
    /// How long machines of a scenario ran, and what they were.
    pub(super) times: Vec<(String, Duration)>,
}

impl Outcome {
    /// Adds how other cases ended.
    pub(super) fn add(&mut self, other: Self) {
        self.counts += other.counts;
        if self.note.is_empty() {
            self.note = other.note;
        }
        self.times.extend(other.times);
    }
}

/// Why a case is run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    Died,
    Failed,
}

/// Where cases run.
pub(super) struct Suite<'a> {
    /// The kernel.
    pub(super) kernel: &'a Kernel,
    /// Begins the names of the consoles' files.
    pub(super) name: String,
    /// The guest's file system.
    pub(super) image: &'a Path,
    /// Where the consoles' output goes.
    pub(super) logs: &'a Path,
    /// Whether cases are to repeat what they repeat a hundred times.
    pub(super) long: bool,
    /// How long all suites together may take, and when that is over.
    pub(super) limit: Duration,
    pub(super) deadline: Instant,
}

impl Suite<'_> {
    /// Runs the cases of one scenario and prints how each one ended.
    pub(super) fn run(&self, scenario: Scenario, cases: &[&Case], log: &Log) -> Outcome {
        let begin = Instant::now();
        let mut tally = Tally::new(self.deadline);
        let mut machines = 0;
        let mut note = String::new();
        if let Some((left, why)) = self.scenario(scenario, cases, &mut tally, log, &mut machines) {
            for case in left {
                let verdict = Verdict::Failed(why.clone());
                self.over(scenario, &mut tally, log, &case.name, 0.0, verdict);
            }
            note = why;
        } else if tally.late(Instant::now()) {
            note = self.why_late();
        }
        let name = format!(
            "{} {scenario}, cases: {}, machines: {machines}",
            self.kernel.line,
            cases.len()
        );
        Outcome {
            counts: tally.counts,
            note,
            times: vec![(name, begin.elapsed())],
        }
    }

    /// Runs the cases of one scenario, in as many machines as it takes, which are counted. Those that were not run,
    /// and why.
    fn scenario<'c>(
        &self,
        scenario: Scenario,
        cases: &'c [&'c Case],
        tally: &mut Tally,
        log: &Log,
        machines: &mut usize,
    ) -> Option<(&'c [&'c Case], String)> {
        let mut left = cases;
        // Whether the next machine is for the first of them alone, which it is run in again.
        let mut again = None;
        while let Some(first) = left.first() {
            if tally.late(Instant::now()) {
                return Some((left, self.why_late()));
            }
            if tally.given_up() {
                let why = format!("not run: {FAILURES_IN_A_ROW} cases in a row failed before it");
                return Some((left, why));
            }
            *machines += 1;
            let console = format!("{}-{scenario}-{}-{machines}.log", self.name, first.name);
            let this = again.take();
            let now = match this {
                Some(_) => &left[..1],
                None => left,
            };
            // A machine whose CPUs take turns is slower.
            let in_turns = this == Some(Again::Died);
            let boot = Boot {
                kernel: self.kernel,
                image: self.image,
                scenario,
                console: &self.logs.join(console),
                long: self.long,
                in_turns,
                share: None,
                deadline: tally.deadline,
            };
            let mut done = 0;
            let booted = session::boot(&boot, now, &mut |progress| {
                if let Progress::Over { case, verdict, .. } = &progress {
                    match verdict {
                        Verdict::Died { cause, message }
                            if this != Some(Again::Died) && log.entries().may_run_again() =>
                        {
                            self.run_again(scenario, case, cause, message, log);
                            again = Some(Again::Died);
                            return ControlFlow::Break(());
                        }
                        Verdict::Failed(message)
                            if this.is_none() && log.entries().may_repeat() =>
                        {
                            self.repeat(scenario, case, message, log);
                            again = Some(Again::Failed);
                            return ControlFlow::Break(());
                        }
                        _ => {}
                    }
                }
                done += usize::from(matches!(progress, Progress::Over { .. }));
                self.progress(scenario, tally, log, progress)
            });
            left = &left[done..];
            match booted {
                Ok(Ok(())) => {}
                Ok(Err(why)) if this != Some(Again::Died) && log.entries().may_run_again() => {
                    let cause = "the machine did not come up";
                    self.run_again(scenario, &first.name, cause, &why, log);
                    again = Some(Again::Died);
                }
                Ok(Err(why)) => return Some((left, format!("not run: {why}"))),
                Err(error) => return Some((left, format!("not run: {error:#}"))),
            }
        }
        None
    }

    /// A machine died by itself: its case is run again.
    fn run_again(&self, scenario: Scenario, case: &str, cause: &str, message: &str, log: &Log) {
        let what = format!("{} {scenario} {case} ({cause})", self.kernel.line);
        println!("     AGAIN           {what}: once more in a machine whose CPUs take turns");
        print_indented(message);
        log.entries().again.push(what);
    }

    /// A case failed: it is run again in a machine of its own.
    fn repeat(&self, scenario: Scenario, case: &str, message: &str, log: &Log) {
        let what = format!("{} {scenario} {case}", self.kernel.line);
        println!(
            "     AGAIN           {what}: it failed, and is run once more in a machine of its own"
        );
        print_indented(message);
        log.entries().repeated.push(what);
    }

    /// Prints and counts what happened; whether to go on in this machine.
    fn progress(
        &self,
        scenario: Scenario,
        tally: &mut Tally,
        log: &Log,
        progress: Progress<'_>,
    ) -> ControlFlow<()> {
        const END: &str = "(the machine's end)";
        let line = &self.kernel.line;
        match progress {
            Progress::Note { case, text } => {
                println!("     note            {line} {scenario} {case}: {text}");
            }
            Progress::Over {
                case,
                seconds,
                verdict,
            } => self.over(scenario, tally, log, case, seconds, verdict),
            // Its cases have passed: none is run again.
            Progress::BadEnd(Verdict::Died { cause, message }) if log.entries().may_run_again() => {
                let what = format!("{line} {scenario} {END} ({cause})");
                println!("     note            {what}");
                print_indented(&message);
                log.entries().again.push(what);
            }
            Progress::BadEnd(verdict) => self.over(scenario, tally, log, END, 0.0, verdict),
        }
        if tally.late(Instant::now()) || tally.given_up() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn over(
        &self,
        scenario: Scenario,
        tally: &mut Tally,
        log: &Log,
        case: &str,
        seconds: f64,
        verdict: Verdict,
    ) {
        tally.count(&verdict);
        let (word, text) = match verdict {
            Verdict::Passed => ("PASS", String::new()),
            Verdict::Failed(message) | Verdict::Died { message, .. } => ("FAIL", message),
            Verdict::Skipped(reason) => ("SKIP", reason),
        };
        let name = format!("{} {scenario} {case}", self.kernel.line);
        println!("     {word} [{seconds:8.3}s] {name}");
        print_indented(&text);
        if word == "FAIL" {
            log.entries().failures.push((name, text));
        }
    }

    fn why_late(&self) -> String {
        format!(
            "{OUT_OF_TIME}: all machines together have {} s ({LIMIT_VARIABLE} gives them more)",
            self.limit.as_secs()
        )
    }
}

fn print_indented(text: &str) {
    for line in text.lines() {
        println!("          {line}");
    }
}

/// What has happened so far.
#[derive(Debug)]
struct Tally {
    counts: Counts,
    /// Failures with no success between them.
    in_a_row: u32,
    deadline: Instant,
}

impl Tally {
    fn new(deadline: Instant) -> Self {
        Self {
            counts: Counts::default(),
            in_a_row: 0,
            deadline,
        }
    }

    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => {
                self.counts.passed += 1;
                self.in_a_row = 0;
            }
            Verdict::Failed(_) | Verdict::Died { .. } => {
                self.counts.failed += 1;
                self.in_a_row += 1;
            }
            // It says nothing of what comes after it.
            Verdict::Skipped(_) => self.counts.skipped += 1,
        }
    }

    fn late(&self, now: Instant) -> bool {
        now >= self.deadline
    }

    fn given_up(&self) -> bool {
        self.in_a_row >= FAILURES_IN_A_ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Verdict {
        Verdict::Failed("x".to_owned())
    }

    #[test]
    fn failures_in_a_row_give_a_scenario_up_and_others_do_not() {
        let mut tally = Tally::new(Instant::now());
        for _ in 1..FAILURES_IN_A_ROW {
            tally.count(&failed());
            tally.count(&Verdict::Skipped("y".to_owned()));
        }
        assert!(!tally.given_up());
        tally.count(&failed());
        assert!(tally.given_up());
        tally.count(&Verdict::Passed);
        assert!(!tally.given_up());
        let sum = Counts {
            passed: 1,
            failed: 6,
            skipped: 5,
        };
        assert_eq!(tally.counts, sum);
    }

    #[test]
    fn time_is_up_at_the_deadline() {
        let now = Instant::now();
        let tally = Tally::new(now + Duration::from_secs(1));
        assert!(!tally.late(now));
        assert!(tally.late(now + Duration::from_secs(1)));
    }

    #[test]
    fn the_limit_is_a_number_of_seconds() {
        assert_eq!(parse_limit("600").unwrap(), Duration::from_secs(600));
        for wrong in ["", "10m", "-1"] {
            parse_limit(wrong).unwrap_err();
        }
    }

    fn suite<'a>(kernel: &'a Kernel, dir: &'a Path, limit: Duration) -> Suite<'a> {
        Suite {
            kernel,
            name: kernel.line.clone(),
            image: dir,
            logs: dir,
            long: false,
            limit,
            deadline: Instant::now() + limit,
        }
    }

    /// A kernel whose packages hold nothing to boot.
    fn empty_kernel(dir: &Path) -> Kernel {
        Kernel {
            line: "6.12".to_owned(),
            key: "6.12.0_1".to_owned(),
            tree: dir.to_owned(),
        }
    }

    #[test]
    fn cases_that_could_not_be_run_are_failures_and_are_all_counted() {
        let dir = tempfile::tempdir().unwrap();
        let kernel = empty_kernel(dir.path());
        let case = |name: &str, scenario| Case {
            name: name.to_owned(),
            scenario,
            patience: Duration::from_secs(1),
            core: false,
            idle: false,
        };
        let one = case("a_one", Scenario::Driver);
        let two = case("a_two", Scenario::Hotplug);
        let log = Log::default();
        let run = |limit| {
            let suite = suite(&kernel, dir.path(), limit);
            let mut ended = suite.run(Scenario::Driver, &[&one, &one], &log);
            ended.add(suite.run(Scenario::Hotplug, &[&two], &log));
            ended
        };
        let all_failed = Counts {
            failed: 3,
            ..Counts::default()
        };
        let ended = run(Duration::from_secs(3600));
        assert_eq!(ended.counts, all_failed);
        assert_eq!(ended.times.len(), 2);
        assert!(ended.note.contains("/boot"), "{ended:?}");
        let ended = run(Duration::ZERO);
        assert_eq!(ended.counts, all_failed);
        assert!(ended.note.starts_with(OUT_OF_TIME), "{ended:?}");
    }

    #[test]
    fn three_machines_that_die_by_themselves_fail_the_run() {
        let mut log = Entries::default();
        for nth in 1..=DEATHS {
            assert!(log.may_run_again() && log.check().is_ok());
            log.again
                .push(format!("6.12 driver case_{nth} (Oops: int3)"));
        }
        assert!(!log.may_run_again());
        let why = log.check().unwrap_err().to_string();
        assert!(why.contains("case_1") && why.contains("case_3"), "{why}");
    }
}
