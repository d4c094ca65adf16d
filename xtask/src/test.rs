//! `cargo xtask test`: every check, every test, and each benchmark once.
//!
//! Tests that need root are functions, or lie in modules, whose names begin with `root_`. Where
//! this user is not root they run through sudo, test binary by test binary, so that nothing is
//! compiled as root.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use clap::Args;

use crate::context::Context;
use crate::packages::Privilege;
use crate::report::{Counts, Report};
use crate::shell::{self, step};
use crate::summary::{self, Quiet, Ran};
use crate::{bench, book, calls, deny, dist, e2e, ebpf, kubernetes, lint, setup, vm};

/// How the name of a function or module begins that needs root.
const NEEDS_ROOT: &str = "root_";

/// What to test.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Scope {
    /// Leave out what needs root
    #[arg(long)]
    pub(crate) no_root: bool,
    /// Leave out what runs in virtual machines
    #[arg(long, conflicts_with = "all")]
    pub(crate) no_vm: bool,
    /// Run every case in virtual machines on every kernel; without it, the core set and the part of the others that
    /// falls to the commit
    #[arg(long)]
    pub(crate) all: bool,
    /// Repeat a hundred times what is else repeated a few times
    #[arg(long)]
    pub(crate) long: bool,
    /// Fetch what is large from PyPI, and run the tests that need it: PyTorch and others,
    /// programs in CUDA C++
    #[arg(long)]
    pub(crate) frameworks: bool,
    /// Run only the tests whose names contain this; checks and benchmarks are left out
    pub(crate) filter: Option<String>,
}

/// `cargo xtask test`. The exit code is 0 only if nothing failed.
pub(crate) fn command(context: Context, scope: &Scope) -> Result<ExitCode> {
    let context = &match &scope.filter {
        None => context.with_clippy()?,
        Some(_) => context,
    };
    step("testing everything: checks, tests, benchmarks");
    let mut report = Report::default();
    report.begin("packages and probes");
    setup::host_packages(context)?;
    ebpf::build(context)?;
    let privilege = if scope.no_root {
        Privilege::None
    } else {
        Privilege::find()
    };
    setup::mounts(privilege);
    let can_run = thread::scope(|threads| {
        let fetched = threads.spawn(|| fetch(context, scope));
        if scope.filter.is_none() {
            lint::checks(context, &mut report);
        }
        let can_run = lint::build(context, &mut report);
        if scope.all && can_run {
            lint::documentation(context, &mut report);
        }
        report.begin("what is fetched, so far as it took longer");
        match fetched.join() {
            Ok(fetched) => fetched.add_to(&mut report),
            Err(_) => report.check("what is fetched", Err(anyhow!("its thread panicked"))),
        }
        can_run
    });
    if can_run {
        Suites {
            context,
            runner: Runner::find(context),
            privilege,
            scope,
        }
        .run(&mut report)?;
    }
    Ok(report.finish())
}

/// What took the network rather than processors.
struct Fetched {
    /// The result of checking dependencies; with a filter they are not checked.
    dependencies: Option<deny::Found>,
    times: Vec<(&'static str, Duration)>,
}

impl Fetched {
    fn add_to(self, report: &mut Report) {
        if let Some(found) = self.dependencies {
            found.add_to(report);
        }
        for (name, time) in self.times {
            report.detail(name, time);
        }
    }
}

/// Fetches what tests need, and checks dependencies against what is fetched, while others compile.
fn fetch(context: &Context, scope: &Scope) -> Fetched {
    let mut times = Vec::new();
    let mut begin = Instant::now();
    let mut took = |name| {
        times.push((name, begin.elapsed()));
        begin = Instant::now();
    };
    let everything = scope.filter.is_none();
    e2e::prepare(context, scope.frameworks);
    took("Python tools, NVIDIA's runtimes");
    if everything && !scope.no_vm {
        vm::fetch(context);
        took("QEMU, kernels, stub of the driver");
    }
    let dependencies = everything.then(|| deny::check(context));
    if everything {
        took("cargo-deny, licences and advisories");
    }
    Fetched {
        dependencies,
        times,
    }
}

/// What runs the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Nextest,
    CargoTest,
}

impl Runner {
    fn find(context: &Context) -> Self {
        if shell::succeeds(context.cargo().args(["nextest", "--version"])) {
            Self::Nextest
        } else {
            Self::CargoTest
        }
    }

    fn command(self, context: &Context, filter: Option<&str>, only: Only) -> Command {
        let mut command = context.cargo();
        match self {
            Self::Nextest => {
                let pattern = format!("/(^|::){NEEDS_ROOT}/");
                command.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
                command.args(["--no-tests=pass", "--status-level=pass"]);
                // Two cores that do other work too now and then outlast a test's patience. What passes at the second
                // try is named in the last lines.
                command.arg("--retries=1");
                // A test that leaves itself out passes, and says so in its output, which is read and not shown.
                command.arg("--success-output=immediate");
                command.args(filter);
                match only {
                    Only::NeedsRoot => {
                        command.args(["-E", &format!("test({pattern})"), "--test-threads=1"]);
                    }
                    Only::Others => {
                        command.args(["-E", &format!("not test({pattern})")]);
                    }
                }
            }
            Self::CargoTest => {
                command.args(["test", "--workspace", "--no-fail-fast", "--all-targets"]);
                command.args(["--", "--show-output"]);
                // Two substrings would select what has either; the narrower one is passed.
                match only {
                    Only::NeedsRoot => command.args([NEEDS_ROOT, "--test-threads=1"]),
                    Only::Others => command.args(filter).args(["--skip", NEEDS_ROOT]),
                };
            }
        }
        command
    }
}

/// Which tests, by whether they need root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Only {
    NeedsRoot,
    Others,
}

struct Suites<'a> {
    context: &'a Context,
    runner: Runner,
    privilege: Privilege,
    scope: &'a Scope,
}

impl Suites<'_> {
    /// Tests without root take both cores; those as root run one after the other and mostly wait, as machines do, so
    /// these two run at the same time.
    fn run(&self, report: &mut Report) -> Result<()> {
        let selection = self.selection();
        let ran = thread::scope(|threads| {
            if self.scope.filter.is_none() && !self.scope.no_vm {
                threads.spawn(move || vm::prepare(self.context, selection));
            }
            self.without_root(report)
        })?;
        let mut beside = Report::default();
        let rooted = thread::scope(|threads| {
            let one_at_a_time = threads.spawn(|| self.one_at_a_time(&mut beside, ran));
            self.machines(report);
            one_at_a_time
                .join()
                .unwrap_or_else(|_| Err(anyhow!("the thread that runs tests as root panicked")))
        });
        report.join(beside);
        if let Err(error) = rooted {
            report.check("tests as root, and what follows them", Err(error));
        }
        if self.scope.all && self.scope.filter.is_none() {
            book::suite(self.context, report);
            kubernetes::suite(self.context, report);
            dist::check::suite(self.context, report);
        }
        Ok(())
    }

    /// The tests that need no root; how many ran, and how many were left out.
    fn without_root(&self, report: &mut Report) -> Result<Ran> {
        report.begin("tests");
        step("running the tests that need no root");
        let (variable, folder) = calls::prepare(self.context)?;
        let ran = self.suite(report, "tests", Only::Others, &mut |command| {
            command.env(variable, &folder);
        })?;
        if self.scope.filter.is_none() {
            report.check("functions that programs call", calls::check(self.context));
        }
        Ok(ran)
    }

    /// What needs this host's kernel log for itself, examples, and benchmarks.
    fn one_at_a_time(&self, report: &mut Report, ran: Ran) -> Result<()> {
        if self.privilege == Privilege::None {
            self.left_out(report, ran, ran.left_out, self.why_no_root());
        } else {
            report.begin("tests as root");
            step("running the tests that need root, one at a time: there is one kernel log");
            let sudo = self.privilege == Privilege::Sudo;
            let host = host(self.context)?;
            let rooted = self.suite(report, "tests as root", Only::NeedsRoot, &mut |command| {
                if sudo {
                    command.env(runner_variable(&host), "sudo --preserve-env --");
                }
            })?;
            let neither = ran.left_out.saturating_sub(rooted.passed + rooted.failed);
            self.left_out(report, ran, neither, "marked #[ignore]");
        }
        report.begin("documentation tests");
        step("running the examples in the documentation");
        let mut doc = self.context.cargo();
        doc.args(["test", "--workspace", "--doc", "--no-fail-fast", "--"]);
        doc.args(&self.scope.filter);
        self.counted(report, "documentation tests", &mut doc)?;
        if self.scope.filter.is_none() {
            // Each runs once, to see that it works: what it measures beside machines is of no use to anybody.
            report.begin("benchmarks");
            bench::short(self.context, self.privilege, report);
        }
        report.end();
        Ok(())
    }

    /// Which cases run in virtual machines; who names some wants these.
    fn selection(&self) -> vm::Selection {
        match self.scope.all || self.scope.filter.is_some() {
            true => vm::Selection::All,
            false => vm::Selection::of_commit(self.context),
        }
    }

    fn suite(
        &self,
        report: &mut Report,
        name: &str,
        only: Only,
        prepare: &mut dyn FnMut(&mut Command),
    ) -> Result<Ran> {
        let mut command = self
            .runner
            .command(self.context, self.scope.filter.as_deref(), only);
        // All that they run was built before.
        command.env("GTRACE_E2E_BUILT", "1");
        if self.scope.long {
            command.env("GTRACE_TEST_LONG", "1");
            command.env("NEXTEST_PROFILE", "long");
        }
        prepare(&mut command);
        self.counted(report, name, &mut command)
    }

    /// Runs one suite and adds what its closing lines say. An exit status that they do not
    /// explain counts as a failure, a test that says `SKIPPED: reason` as skipped.
    fn counted(&self, report: &mut Report, name: &str, command: &mut Command) -> Result<Ran> {
        let mut quiet = Quiet::default();
        let (status, output) = shell::tee(command, |line| quiet.hides(line))?;
        let summary = summary::parse(&output);
        let (ran, note) = explain(summary.as_ref().map(|s| s.ran), status.success());
        let summary = summary.unwrap_or_default();
        for (name, time) in slowest(summary.times) {
            report.detail(name, time);
        }
        for (test, printed) in &summary.failures {
            report.failure(test, printed);
        }
        for test in &summary.flaky {
            report.remark(format!("passed only when it was run again: {test}"));
        }
        let skips = summary.skips;
        let skipped = u64::try_from(skips.len()).unwrap_or(u64::MAX);
        let counts = Counts {
            passed: ran.passed.saturating_sub(skipped),
            failed: ran.failed,
            skipped: 0,
        };
        report.suite(name, counts, note);
        for (reason, count) in tally(skips) {
            report.skip(&format!("{name}, by themselves"), count, reason);
        }
        Ok(ran)
    }

    /// Adds the tests that were not run as skipped. With a filter, most tests are not selected,
    /// which is no skip.
    fn left_out(&self, report: &mut Report, ran: Ran, count: u64, why: &str) {
        if count > 0 && self.scope.filter.is_none() {
            report.skip(&format!("{count} of {} tests", ran.all()), count, why);
        }
    }

    fn machines(&self, report: &mut Report) {
        if self.scope.no_vm {
            return report.skip("virtual machines", 1, "--no-vm was given");
        }
        let options = vm::Options {
            kernels: Vec::new(),
            drivers: match self.scope.all {
                true => vm::DRIVERS.map(str::to_owned).to_vec(),
                false => Vec::new(),
            },
            long: self.scope.long,
            filter: self.scope.filter.clone(),
            selection: self.selection(),
            release: self.scope.all,
        };
        vm::suite(self.context, &options, report);
    }

    fn why_no_root(&self) -> &'static str {
        if self.scope.no_root {
            "they need root, and --no-root was given (or marked #[ignore])"
        } else {
            "they need root: run as root, or let sudo work (or marked #[ignore])"
        }
    }
}

/// Rows of tests in the table of times.
const SLOWEST: usize = 12;

/// The test programs that took longest, each with how long its tests ran, one after the other, and the slowest tests.
fn slowest(times: Vec<(String, Duration)>) -> Vec<(String, Duration)> {
    let mut programs = BTreeMap::<String, (u32, Duration)>::new();
    for (name, time) in &times {
        let program = name.split(' ').next().unwrap_or_default();
        let (count, sum) = programs.entry(program.to_owned()).or_default();
        *count += 1;
        *sum += *time;
    }
    let programs = programs
        .into_iter()
        .map(|(program, (count, sum))| (format!("{program}, tests: {count}"), sum));
    let longest = |mut rows: Vec<(String, Duration)>| {
        rows.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        rows.truncate(SLOWEST);
        rows
    };
    let mut rows = longest(programs.collect());
    rows.extend(longest(times));
    rows.retain(|(_, time)| *time >= Duration::from_secs(1));
    rows
}

/// How often each reason was given.
fn tally(reasons: Vec<String>) -> BTreeMap<String, u64> {
    reasons
        .into_iter()
        .fold(BTreeMap::new(), |mut tally, reason| {
            *tally.entry(reason).or_default() += 1;
            tally
        })
}

/// What to count for a run whose closing lines say `ran`, and a note for people.
fn explain(ran: Option<Ran>, success: bool) -> (Ran, &'static str) {
    let mut ran = ran.unwrap_or_default();
    if success || ran.failed > 0 {
        return (ran, "");
    }
    ran.failed = 1;
    (ran, "it ended with an error that is no test's")
}

/// `CARGO_TARGET_<triple>_RUNNER`: cargo and nextest start each test binary through it.
fn runner_variable(host: &str) -> String {
    format!(
        "CARGO_TARGET_{}_RUNNER",
        host.to_uppercase().replace('-', "_")
    )
}

fn host(context: &Context) -> Result<String> {
    let printed = shell::read(Command::new(&context.cargo).arg("-vV"))?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("cargo -vV names no host")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_ends_badly_without_a_failed_test_is_a_failure() {
        assert_eq!(explain(None, false).0.failed, 1);
        let passed = Ran {
            passed: 3,
            ..Ran::default()
        };
        assert_eq!(explain(Some(passed), false).0.failed, 1);
        assert_eq!(explain(Some(passed), true).0, passed);
    }

    #[test]
    fn the_runner_variable_is_named_after_the_host() {
        assert_eq!(
            runner_variable("x86_64-unknown-linux-gnu"),
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"
        );
    }
    #[test]
    fn the_slowest_programs_and_tests_have_rows() {
        let of = |name: &str, seconds| (name.to_owned(), Duration::from_secs(seconds));
        let rows = slowest(vec![of("a::x one", 3), of("a::x two", 9), of("b three", 0)]);
        assert_eq!(
            rows,
            [
                of("a::x, tests: 2", 12),
                of("a::x two", 9),
                of("a::x one", 3)
            ]
        );
    }
}
