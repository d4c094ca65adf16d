//! `cargo xtask vm-test`: tests of gtrace on Debian's kernels, in emulated machines.
//!
//! [`prepare`] fetches and builds everything; [`boot`] boots one machine and runs cases in
//! it. docs/vm-tests.md has the whole picture.

mod apt;
pub(crate) mod bench;
mod cases;
mod cpio;
mod image;
mod kernel;
mod machine;
mod modules;
mod qmp;
mod session;
mod stub;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use gtrace_vm_tests::scenario::Scenario;

pub(crate) use self::cases::Case;
pub(crate) use self::kernel::Kernel;
pub(crate) use self::machine::Boot;
pub(crate) use self::session::{Told, Verdict, boot};
use crate::context::{Context, Profile};
use crate::packages;
use crate::report::{Counts, Report};
use crate::setup;
use crate::shell::{self, step};

/// Names another cache than `vm` in the target directory.
const CACHE_VARIABLE: &str = "GTRACE_VM_CACHE";

/// Where the consoles' output goes, in the cache.
const LOGS: &str = "logs";

/// What machines, images and the stub take, beside what building gtrace takes.
const PACKAGES: [&str; 7] = [
    "qemu-system-x86",
    "busybox-static",
    "make",
    "gcc",
    "libc6-dev",
    "libelf1",
    "xz-utils",
];

/// Programs of those packages.
const PROGRAMS: [&str; 5] = [machine::QEMU, "busybox", "make", "cc", "xz"];

/// What to test, and on what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// Lines of kernels, `6.12`; the default ones if there is none.
    pub(crate) kernels: Vec<String>,
    /// Whether cases are to repeat what they repeat a hundred times.
    pub(crate) long: bool,
    /// Only cases whose names contain this.
    pub(crate) filter: Option<String>,
}

/// `cargo xtask vm-test`.
pub(crate) fn command(context: &Context, options: &Options) -> Result<ExitCode> {
    if let Some(why) = impossible() {
        bail!("{why}");
    }
    programs()?;
    let mut report = Report::default();
    let without = |report: &mut Report, name: &str, _: u64, why: anyhow::Error| {
        report.check(name, Err(why));
    };
    if !run(context, options, &mut report, &without)? {
        bail!(
            "no case's name contains {:?}: vm-tests/src/cases has a file a topic",
            options.filter.as_deref().unwrap_or_default()
        );
    }
    Ok(report.finish())
}

/// The same as a part of `cargo xtask test`: that machines cannot be had here is no failure but
/// a skip, with the reason.
pub(crate) fn suite(context: &Context, options: &Options, report: &mut Report) {
    if !concerns(context, options) {
        return;
    }
    let cannot = impossible().or_else(|| programs().err().map(|error| format!("{error:#}")));
    if let Some(why) = cannot {
        return report.skip("tests in virtual machines", 1, why);
    }
    let without = |report: &mut Report, name: &str, cases: u64, why: anyhow::Error| {
        report.skip(name, cases, format!("{why:#}"));
    };
    if let Err(error) = run(context, options, report, &without) {
        report.check("tests in virtual machines", Err(error));
    }
}

/// Whether a case is selected, by the program that the workspace's build has just made: the release
/// build is not worth waiting for if there is none.
fn concerns(context: &Context, options: &Options) -> bool {
    let Some(filter) = &options.filter else {
        return true;
    };
    let program = context.binary(Profile::Dev, "gtrace-vm-init");
    // What is wrong with the program is better told by the whole run.
    cases::list(&program).map_or(true, |cases| {
        cases.iter().any(|case| case.name.contains(filter))
    })
}

/// What keeps machines from being run here, that no package could mend.
fn impossible() -> Option<String> {
    let arch = std::env::consts::ARCH;
    (arch != "x86_64").then(|| {
        format!("the machines are x86-64, and gtrace is built for {arch} here: use such a host")
    })
}

/// Installs what is missing.
fn programs() -> Result<()> {
    if PROGRAMS.iter().all(|program| shell::in_path(program)) {
        return Ok(());
    }
    packages::ensure(
        &PACKAGES,
        "virtual machines, their file system and the stub of the NVIDIA driver need them",
    )
}

/// Everything that machines of one kernel boot from.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The kernel.
    pub(crate) kernel: Kernel,
    /// The guest's file system.
    pub(crate) image: PathBuf,
}

/// The directory of kernels, stub, images and logs, of which one run at a time has the use.
#[derive(Debug)]
pub(crate) struct Cache {
    /// The directory.
    pub(crate) dir: PathBuf,
    _lock: File,
}

/// `vm` in the target directory, or what `GTRACE_VM_CACHE` names; waits for its turn.
pub(crate) fn cache(context: &Context) -> Result<Cache> {
    let cache =
        std::env::var_os(CACHE_VARIABLE).map_or_else(|| context.target.join("vm"), PathBuf::from);
    let cache = std::path::absolute(&cache)
        .with_context(|| format!("{CACHE_VARIABLE} names no directory"))?;
    let logs = cache.join(LOGS);
    fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
    let lock = File::create(cache.join("lock"))
        .with_context(|| format!("cannot write to {}", cache.display()))?;
    if lock.try_lock().is_err() {
        step(format!(
            "waiting for another run that uses {}",
            cache.display()
        ));
        lock.lock()
            .with_context(|| format!("cannot lock {}", cache.display()))?;
    }
    Ok(Cache {
        dir: cache,
        _lock: lock,
    })
}

/// Builds gtrace as users install it, and the guest's program; returns the latter's cases.
pub(crate) fn build(context: &Context) -> Result<Vec<Case>> {
    setup::build(context, Profile::Release, &["gtrace"])?;
    // By itself: what the guest's program wants of common dependencies must not change gtrace.
    step("building the guest's program");
    shell::run(context.cargo().args([
        "build",
        Profile::Release.argument(),
        "--package=gtrace-vm-tests",
    ]))?;
    cases::list(&context.binary(Profile::Release, "gtrace-vm-init"))
}

/// Fetches the kernel of `line` and makes the image for it. gtrace and the guest's program have
/// been built.
pub(crate) fn prepare(context: &Context, cache: &Cache, line: &str) -> Result<Prepared> {
    let kernel = kernel::ensure(&cache.dir, line)?;
    let image = image::build(context, &cache.dir, &kernel)?;
    Ok(Prepared { kernel, image })
}

/// What to report where a kernel cannot be had: its row, how many cases that concerns, and why.
type Without = dyn Fn(&mut Report, &str, u64, anyhow::Error);

/// Prepares everything, then runs every selected case; whether there was one.
fn run(
    context: &Context,
    options: &Options,
    report: &mut Report,
    without: &Without,
) -> Result<bool> {
    let cases = build(context)?;
    let scenarios = Scenario::ALL.into_iter().filter(|s| *s != Scenario::Bench);
    let plan: Vec<_> = scenarios
        .map(|scenario| {
            let filter = options.filter.as_deref();
            (scenario, cases::select(&cases, scenario, filter))
        })
        .filter(|(_, cases)| !cases.is_empty())
        .collect();
    if plan.is_empty() {
        return Ok(false);
    }
    let mut lines = options.kernels.clone();
    if lines.is_empty() {
        lines.extend(kernel::DEFAULT_LINES.map(str::to_owned));
    }
    let cache = cache(context)?;
    let mut prepared = Vec::new();
    for line in &lines {
        match prepare(context, &cache, line) {
            Ok(ready) => prepared.push(ready),
            Err(error) if error.is::<kernel::NoKernel>() => {
                let cases = plan.iter().map(|(_, cases)| cases.len()).sum::<usize>();
                let cases = u64::try_from(cases).unwrap_or(u64::MAX);
                without(report, &row(line), cases, error);
            }
            Err(error) => return Err(error),
        }
    }
    for Prepared { kernel, image } in &prepared {
        step(format!("testing on kernel {}", kernel.key));
        let mut counts = Counts::default();
        for (scenario, cases) in &plan {
            let mut left = cases.as_slice();
            for nth in 1.. {
                let console = cache
                    .dir
                    .join(LOGS)
                    .join(format!("{}-{scenario}-{nth}.log", kernel.line));
                let machine = Boot {
                    kernel,
                    image,
                    scenario: *scenario,
                    console: &console,
                    long: options.long,
                    share: None,
                };
                let told = boot(&machine, left, &mut |told| {
                    counts += show(kernel, *scenario, told);
                })?;
                left = &left[told..];
                if left.is_empty() {
                    break;
                }
            }
        }
        report.suite(&row(&kernel.line), counts, "");
    }
    Ok(true)
}

/// The name of a kernel's row in the report.
fn row(line: &str) -> String {
    format!("virtual machines, kernel {line}")
}

/// Prints what was told, and counts it.
fn show(kernel: &Kernel, scenario: Scenario, told: Told<'_>) -> Counts {
    let mut counts = Counts::default();
    let (case, seconds, verdict) = match told {
        Told::Note { case, text } => {
            println!(
                "     note            {} {scenario} {case}: {text}",
                kernel.line
            );
            return counts;
        }
        Told::Over {
            case,
            seconds,
            verdict,
        } => (case, seconds, verdict),
    };
    let (word, text) = match verdict {
        Verdict::Passed => {
            counts.passed = 1;
            ("PASS", String::new())
        }
        Verdict::Failed(message) => {
            counts.failed = 1;
            ("FAIL", message)
        }
        Verdict::Skipped(reason) => {
            counts.skipped = 1;
            ("SKIP", reason)
        }
    };
    println!(
        "     {word} [{seconds:8.3}s] {} {scenario} {case}",
        kernel.line
    );
    for line in text.lines() {
        println!("          {line}");
    }
    counts
}
