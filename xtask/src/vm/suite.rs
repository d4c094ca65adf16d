//! Runs every selected case on one kernel, for so long and no longer.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use gtrace_vm_tests::scenario::Scenario;

use super::cases::Case;
use super::kernel::Kernel;
use super::machine::Boot;
use super::session::{self, OUT_OF_TIME, Told, Verdict};
use crate::report::Counts;

/// How many seconds the cases of one kernel may take, instead of [`LIMIT`] and [`LONG_LIMIT`].
const LIMIT_VARIABLE: &str = "GTRACE_VM_LIMIT_S";

/// How long the cases of one kernel may take: half as long again as they take on two busy cores.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// The same where cases repeat what they repeat a hundred times.
const LONG_LIMIT: Duration = Duration::from_secs(90 * 60);

/// After so many failures in a row a scenario is given up: each may have taken all its patience.
const HOPELESS: u32 = 6;

/// How often in a scenario the emulator may break a machine until that counts as a failure.
const EMULATOR: u32 = 2;

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

/// The cases of each scenario, in order.
pub(super) type Plan<'a> = [(Scenario, Vec<&'a Case>)];

/// All cases on one kernel.
pub(super) struct Suite<'a> {
    /// The kernel.
    pub(super) kernel: &'a Kernel,
    /// The guest's file system.
    pub(super) image: &'a Path,
    /// Where the consoles' output goes.
    pub(super) logs: &'a Path,
    /// Whether cases are to repeat what they repeat a hundred times.
    pub(super) long: bool,
    /// How long all of it may take.
    pub(super) limit: Duration,
}

impl Suite<'_> {
    /// Runs the cases of `plan` and prints how each one ended; how many ended how, and a note for
    /// the report where some were not run to their end.
    pub(super) fn run(&self, plan: &Plan<'_>) -> (Counts, String) {
        let mut tally = Tally::new(Instant::now() + self.limit);
        let mut note = String::new();
        for (scenario, cases) in plan {
            tally.in_a_row = 0;
            if let Some((left, why)) = self.scenario(*scenario, cases, &mut tally) {
                for case in left {
                    let verdict = Verdict::Failed(why.clone());
                    self.over(*scenario, &mut tally, &case.name, 0.0, verdict);
                }
                note = why;
            }
        }
        if note.is_empty() && tally.late(Instant::now()) {
            note = self.why_late();
        }
        (tally.counts, note)
    }

    /// Runs the cases of one scenario, in as many machines as it takes. Those that were not run,
    /// and why.
    fn scenario<'c>(
        &self,
        scenario: Scenario,
        cases: &'c [&'c Case],
        tally: &mut Tally,
    ) -> Option<(&'c [&'c Case], String)> {
        let mut left = cases;
        let (mut broken, mut in_turns) = (0, false);
        for nth in 1.. {
            if left.is_empty() {
                break;
            }
            if tally.late(Instant::now()) {
                return Some((left, self.why_late()));
            }
            if tally.hopeless() {
                let why = format!("not run: {HOPELESS} cases in a row failed before it");
                return Some((left, why));
            }
            let console = format!("{}-{scenario}-{nth}.log", self.kernel.line);
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
            // What broke a machine runs by itself where it cannot; that is slower.
            let now = match in_turns {
                true => &left[..1],
                false => left,
            };
            in_turns = false;
            let mut told = 0;
            let ran = session::boot(&boot, now, &mut |what| {
                if let Told::Over {
                    case,
                    verdict: Verdict::Emulator(_),
                    ..
                } = &what
                    && broken < EMULATOR
                {
                    broken += 1;
                    in_turns = true;
                    println!(
                        "     note            {} {scenario} {case}: the emulator broke the machine (int3 \
                         while the kernel patched itself): once more in one whose CPUs take turns",
                        self.kernel.line
                    );
                    return ControlFlow::Break(());
                }
                told += usize::from(matches!(what, Told::Over { .. }));
                self.hear(scenario, tally, what)
            });
            left = &left[told..];
            if let Err(error) = ran {
                return Some((left, format!("not run: {error:#}")));
            }
        }
        None
    }

    /// Prints and counts what was told; whether to go on in this machine.
    fn hear(&self, scenario: Scenario, tally: &mut Tally, told: Told<'_>) -> ControlFlow<()> {
        let line = &self.kernel.line;
        match told {
            Told::Note { case, text } => {
                println!("     note            {line} {scenario} {case}: {text}");
            }
            Told::Over {
                case,
                seconds,
                verdict,
            } => self.over(scenario, tally, case, seconds, verdict),
            Told::BadEnd { message } => {
                let verdict = Verdict::Failed(message);
                self.over(scenario, tally, "(the machine's end)", 0.0, verdict);
            }
        }
        if tally.late(Instant::now()) || tally.hopeless() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn over(
        &self,
        scenario: Scenario,
        tally: &mut Tally,
        case: &str,
        seconds: f64,
        verdict: Verdict,
    ) {
        tally.count(&verdict);
        let (word, text) = match verdict {
            Verdict::Passed => ("PASS", String::new()),
            Verdict::Failed(message) | Verdict::Emulator(message) => ("FAIL", message),
            Verdict::Skipped(reason) => ("SKIP", reason),
        };
        println!(
            "     {word} [{seconds:8.3}s] {} {scenario} {case}",
            self.kernel.line
        );
        for line in text.lines() {
            println!("          {line}");
        }
    }

    fn why_late(&self) -> String {
        format!(
            "{OUT_OF_TIME}: the cases of a kernel have {} s ({LIMIT_VARIABLE} gives them more)",
            self.limit.as_secs()
        )
    }
}

/// What has happened so far.
#[derive(Debug)]
struct Tally {
    counts: Counts,
    /// Failures of this scenario with no success between them.
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
            Verdict::Failed(_) | Verdict::Emulator(_) => {
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

    fn hopeless(&self) -> bool {
        self.in_a_row >= HOPELESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Verdict {
        Verdict::Failed("x".to_owned())
    }

    #[test]
    fn failures_in_a_row_are_hopeless_and_others_are_not() {
        let mut tally = Tally::new(Instant::now());
        for _ in 1..HOPELESS {
            tally.count(&failed());
            tally.count(&Verdict::Skipped("y".to_owned()));
        }
        assert!(!tally.hopeless());
        tally.count(&failed());
        assert!(tally.hopeless());
        tally.count(&Verdict::Passed);
        assert!(!tally.hopeless());
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
            image: dir,
            logs: dir,
            long: false,
            limit,
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
        };
        let one = case("a_one", Scenario::Driver);
        let two = case("a_two", Scenario::Hotplug);
        let plan = [
            (Scenario::Driver, vec![&one, &one]),
            (Scenario::Hotplug, vec![&two]),
        ];
        let all_failed = Counts {
            failed: 3,
            ..Counts::default()
        };
        let hour = Duration::from_secs(3600);
        let (counts, note) = suite(&kernel, dir.path(), hour).run(&plan);
        assert_eq!(counts, all_failed);
        assert!(note.contains("/boot"), "{note}");
        let (counts, note) = suite(&kernel, dir.path(), Duration::ZERO).run(&plan);
        assert_eq!(counts, all_failed);
        assert!(note.starts_with(OUT_OF_TIME), "{note}");
    }
}
