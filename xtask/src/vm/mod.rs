//! `cargo xtask vm-test`: tests of gtrace on Debian's kernels, in emulated machines.
//!
//! [`Base::ensure`] fetches a kernel, [`mod@suite`] runs the cases on it, [`session`] in one machine.
//! docs/vm-tests.md has the whole picture.

pub(crate) mod apt;
pub(crate) mod bench;
mod cases;
mod cpio;
pub(crate) mod distro;
mod fault;
mod image;
mod judge;
mod kbuild;
mod kernel;
mod machine;
mod modules;
mod pair;
mod qemu;
mod qmp;
mod queue;
mod rdma;
mod real;
mod rotation;
mod session;
mod stub;
mod suite;
mod uprobes;

use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use gtrace_vm_tests::scenario::Scenario;

use self::apt::Private;
use self::cases::Case;
use self::kernel::Kernel;
use self::queue::Job;
pub(crate) use self::rotation::Selection;
use self::suite::{Log, Suite};
use crate::context::{Context, Profile};
use crate::ebpf;
use crate::packages;
use crate::report::Report;
use crate::setup;
use crate::shell::{self, step};

/// Names another cache than `vm` in the target directory.
const CACHE_VARIABLE: &str = "GTRACE_VM_CACHE";

/// The series of NVIDIA's driver that everything is tested with; the first one where none is named.
pub(crate) const DRIVERS: [&str; 2] = ["535", "555"];

/// Where the consoles' output goes, in the cache.
const LOGS: &str = "logs";

/// Packages that machines, images and the stub take, beside QEMU and what building gtrace takes, and the
/// program that will do wherever it comes from.
const NEEDED: [(&str, Option<&str>); 11] = [
    ("busybox-static", Some("busybox")),
    ("make", Some("make")),
    ("gcc", Some("gcc")),
    ("libc6-dev", None),
    ("libelf-dev", None),
    ("xz-utils", Some("xz")),
    ("util-linux", Some(machine::SETPRIV)),
    // It lies in /sbin, which is not in everybody's PATH.
    ("e2fsprogs", None),
    ("ibverbs-providers", None),
    ("iproute2", Some("rdma")),
    ("perftest", Some("ib_send_lat")),
];

/// What to test, and on what.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    /// A line of kernels, of which the newest is fetched; may be repeated [default: 6.1, 6.12]
    #[arg(long = "kernel", value_name = "LINE")]
    pub(crate) kernels: Vec<String>,
    /// A series of NVIDIA's driver for the cases that run it, 550 for instance, or 535:proprietary for that flavour; may be
    /// repeated [default: 535]
    #[arg(long = "driver", value_name = "SERIES")]
    pub(crate) drivers: Vec<String>,
    /// Test gtrace as users install it: optimised
    #[arg(long)]
    pub(crate) release: bool,
    /// Repeat a hundred times what is else repeated a few times
    #[arg(long)]
    pub(crate) long: bool,
    /// Run only the cases whose names contain this
    pub(crate) filter: Option<String>,
    /// Which of these.
    #[arg(skip)]
    pub(crate) selection: Selection,
}

impl Options {
    fn profile(&self) -> Profile {
        match self.release {
            true => Profile::Release,
            false => Profile::Dev,
        }
    }
}

/// `cargo xtask vm-test`.
pub(crate) fn command(context: &Context, options: &Options) -> Result<ExitCode> {
    if let Some(why) = impossible() {
        bail!("{why}");
    }
    programs(context)?;
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
    let cannot = impossible().or_else(|| programs(context).err().map(|error| format!("{error:#}")));
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

/// Fetches in advance what [`suite()`] needs. What cannot be had is reported there.
pub(crate) fn fetch(context: &Context) {
    let all = || -> Result<()> {
        if impossible().is_some() {
            return Ok(());
        }
        programs(context)?;
        let cache = cache(context)?;
        for line in kernel::DEFAULT_LINES {
            Base::ensure(context, &cache, line)?;
        }
        Ok(())
    };
    if let Err(error) = all() {
        step(format!("virtual machines: {error:#}"));
    }
}

/// Builds in advance what takes longest, NVIDIA's driver for the kernel that a run of `selection` needs it for, with the
/// least priority: tests that wait leave a processor to it. What cannot be had is reported by [`suite()`].
pub(crate) fn prepare(context: &Context, selection: Selection) {
    let Some(nth) = selection.kernel_of_driver(kernel::DEFAULT_LINES.len()) else {
        return;
    };
    // Of this thread and of what it starts.
    if impossible().is_some() || rustix::process::setpriority_process(None, 19).is_err() {
        return;
    }
    let line = kernel::DEFAULT_LINES[nth];
    let build = || -> Result<()> {
        let cache = cache(context)?;
        let base = Base::ensure(context, &cache, line)?;
        real::ensure(context, &cache, &base.kernel, DRIVERS[0])?;
        Ok(())
    };
    if let Err(error) = build() {
        step(format!("virtual machines: {error:#}"));
    }
}

/// Whether a case is selected, by the program that the workspace's build has just made: QEMU is not worth
/// installing if there is none.
fn concerns(context: &Context, options: &Options) -> bool {
    let Some(filter) = &options.filter else {
        return true;
    };
    let program = context.binary(Profile::Dev, "gtrace-vm-init");
    // The whole run reports what is wrong with the program.
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
fn programs(context: &Context) -> Result<()> {
    const WHY: &str =
        "virtual machines, their file system and the stub of the NVIDIA driver need them";
    let missing = |program: &Option<&str>| program.is_none_or(|program| !shell::in_path(program));
    if shell::in_path("dpkg-query") {
        let packages = NEEDED.iter().filter(|(_, program)| missing(program));
        let packages: Vec<_> = packages.map(|(package, _)| *package).collect();
        packages::ensure(&packages, WHY)?;
        return qemu::ensure(context, WHY);
    }
    // Who has no dpkg cannot be asked for libraries: their lack shows when the stub is built.
    let programs: Vec<_> = NEEDED
        .iter()
        .filter_map(|(_, program)| program.filter(|program| !shell::in_path(program)))
        .collect();
    if programs.is_empty() {
        return qemu::ensure(context, WHY);
    }
    bail!(
        "{} missing here: {WHY}; install what has them by this system's package manager",
        programs.join(" ")
    )
}

/// A kernel with the stub of the driver for it: what it takes to know that machines can be run.
#[derive(Clone, Debug)]
struct Base {
    kernel: Kernel,
    /// The directory with the stub's modules.
    stub: PathBuf,
}

impl Base {
    /// Fetches the kernel of `line` and builds the stub for it.
    fn ensure(context: &Context, cache: &Cache, line: &str) -> Result<Self> {
        let kernel = kernel::ensure(&cache.dir, &cache.apt, line)?;
        let stub = stub::build(context, &cache.dir, &kernel)?;
        Ok(Self { kernel, stub })
    }

    /// Makes the guest's file system of what [`build`] has built, with NVIDIA's drivers where there are any.
    fn image(
        &self,
        context: &Context,
        cache: &Cache,
        profile: Profile,
        drivers: &[real::Driver],
    ) -> Result<PathBuf> {
        let (kernel, stub) = (&self.kernel, &self.stub);
        image::build(context, profile, &cache.dir, kernel, stub, drivers)
    }
}

/// Says what this host has not that a test takes, which is no failure of gtrace.
#[derive(Debug)]
struct Lack(String);

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Lack {}

/// The directory of kernels, stub, images and logs, of which one run at a time has the use.
#[derive(Debug)]
struct Cache {
    /// The directory.
    dir: PathBuf,
    /// An apt in it.
    apt: Private,
    _lock: File,
}

/// `vm` in the target directory, or what `GTRACE_VM_CACHE` names; waits for its turn.
fn cache(context: &Context) -> Result<Cache> {
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
        apt: Private::new(cache.join("apt")),
        dir: cache,
        _lock: lock,
    })
}

/// Builds gtrace, the guest's program and what the cases about RDMA run; returns the cases.
///
/// In the dev profile all of the workspace is built at once, as `cargo xtask test` does: features of dependencies
/// depend on what is built together, and so nothing is compiled twice.
fn build(context: &Context, profile: Profile) -> Result<Vec<Case>> {
    setup::host_packages(context)?;
    ebpf::build(context)?;
    step("building gtrace and the guest's program");
    let what: &[&[&str]] = match profile {
        Profile::Dev => &[&["--workspace", "--all-targets"]],
        // What the others want of common dependencies must not change gtrace.
        Profile::Release => &[
            &["--package=gtrace"],
            &["--package=gtrace-vm-tests"],
            &["--package=gtrace-link", "--example=exchange"],
        ],
    };
    for what in what {
        shell::run(context.cargo_in(profile, "build").args(*what))?;
    }
    cases::list(&context.binary(profile, "gtrace-vm-init"))
}

/// What to report where a kernel cannot be had: its row, how many cases that concerns, and why.
type Without = dyn Fn(&mut Report, &str, u64, anyhow::Error);

/// The cases of each scenario, in order.
type Plan<'a> = Vec<(Scenario, Vec<&'a Case>)>;

/// The cases of each scenario that the options select for the `kernel`th of `kernels`.
fn plan<'a>(cases: &'a [Case], options: &Options, kernel: usize, kernels: usize) -> Plan<'a> {
    let filter = options.filter.as_deref().unwrap_or_default();
    let wanted = |case: &&Case| {
        let scenario = match case.scenario {
            // For measurements.
            Scenario::Bench => false,
            // Its driver takes minutes to build, and its cases minutes to run: where all is wanted, or just this.
            Scenario::Real => {
                case.core || options.selection == Selection::All || filter.starts_with("real")
            }
            _ => true,
        };
        scenario && case.name.contains(filter)
    };
    let wanted: Vec<_> = cases.iter().filter(wanted).collect();
    let taken = options.selection.of(&wanted, kernel, kernels);
    Scenario::ALL
        .into_iter()
        .map(|scenario| {
            let cases = taken.iter().filter(|case| case.scenario == scenario);
            (scenario, cases.copied().collect::<Vec<_>>())
        })
        .filter(|(_, cases)| !cases.is_empty())
        .collect()
}

fn count(plan: &Plan<'_>) -> usize {
    plan.iter().map(|(_, cases)| cases.len()).sum()
}

/// Prepares everything, then runs every selected case; whether there was one.
fn run(
    context: &Context,
    options: &Options,
    report: &mut Report,
    without: &Without,
) -> Result<bool> {
    let limit = suite::limit(options.long)?;
    let mut lines = options.kernels.clone();
    if lines.is_empty() {
        lines.extend(kernel::DEFAULT_LINES.map(str::to_owned));
    }
    for line in &lines {
        kernel::check_line(line)?;
    }
    for series in &options.drivers {
        real::check_series(series)?;
    }
    let cache = cache(context)?;
    // What is asked for by name and cannot be had is said before anything is compiled.
    for line in &options.kernels {
        kernel::ensure(&cache.dir, &cache.apt, line)?;
    }
    report.begin("virtual machines: build");
    let mut cases = build(context, options.profile())?;
    if options.long {
        // What is repeated a hundred times is silent for longer.
        cases.iter_mut().for_each(|case| case.patience *= 10);
    }
    let mut plans: Vec<_> = (0..lines.len())
        .map(|nth| plan(&cases, options, nth, lines.len()))
        .collect();
    if plans.iter().all(Vec::is_empty) {
        return Ok(false);
    }
    let everything = Options {
        selection: Selection::All,
        ..options.clone()
    };
    let all = count(&plan(&cases, &everything, 0, 1)) * lines.len();
    let chosen: usize = plans.iter().map(count).sum();
    if let Some(text) = options.selection.describe(all - chosen) {
        report.remark(text);
    }
    if let Some(why) = qemu::no_pairs() {
        for plan in &mut plans {
            for (scenario, cases) in plan.extract_if(.., |(scenario, _)| scenario.has_peer()) {
                let count = u64::try_from(cases.len()).unwrap_or(u64::MAX);
                let row = format!("virtual machines, {scenario}");
                without(report, &row, count, anyhow!("{why}"));
            }
        }
    }
    report.begin("virtual machines: kernels, stub of the driver");
    let mut bases = Vec::new();
    for (line, plan) in lines.iter().zip(plans) {
        match Base::ensure(context, &cache, line) {
            Ok(base) => bases.push((base, plan)),
            Err(error) if error.is::<Lack>() => {
                let cases = u64::try_from(count(&plan)).unwrap_or(u64::MAX);
                without(report, &row(line), cases, error);
            }
            Err(error) => report.check(&row(line), Err(error)),
        }
    }
    if bases.is_empty() {
        return Ok(true);
    }
    let drivers = match options.drivers.is_empty() {
        true => vec![DRIVERS[0].to_owned()],
        false => options.drivers.clone(),
    };
    let mut runs = Vec::new();
    for (base, mut plan) in bases {
        let real = plan.extract_if(.., |(scenario, _)| *scenario == Scenario::Real);
        let real: Vec<_> = real.collect();
        let name = row(&base.kernel.line);
        if !plan.is_empty() {
            runs.push(Run {
                row: name.clone(),
                base: base.clone(),
                drivers: Vec::new(),
                plan,
            });
        }
        if real.is_empty() {
            continue;
        }
        let mut had = Vec::new();
        for series in &drivers {
            let name = format!("{name}, driver {series}");
            match real::ensure(context, &cache, &base.kernel, series) {
                Ok(driver) => had.push((name, driver)),
                Err(error) if error.is::<Lack>() => {
                    let cases = u64::try_from(count(&real)).unwrap_or(u64::MAX);
                    without(report, &name, cases, error);
                }
                Err(error) => report.check(&name, Err(error)),
            }
        }
        for nth in 0..had.len() {
            let (name, driver) = &had[nth];
            let next = &had[(nth + 1) % had.len()].1;
            // A case changes between two.
            let both = match had.len() {
                1 => vec![driver.clone()],
                _ => vec![driver.clone(), next.clone()],
            };
            runs.push(Run {
                row: name.clone(),
                base: base.clone(),
                drivers: both,
                plan: real.clone(),
            });
        }
    }
    report.begin("virtual machines: their file systems");
    let mut images = Vec::new();
    runs.retain(|run| {
        let drivers = &run.drivers;
        match run.base.image(context, &cache, options.profile(), drivers) {
            Ok(image) => images.push(image),
            Err(error) => {
                report.check(&run.row, Err(error));
                return false;
            }
        }
        true
    });
    report.begin("virtual machines");
    let log = Log::default();
    let logs = cache.dir.join(LOGS);
    // What the kernels' cases may take by themselves, shared by the workers.
    let (kernels, workers) = (u32::try_from(runs.len())?, u32::try_from(queue::workers())?);
    let limit = limit.max(limit * kernels / workers);
    let deadline = Instant::now() + limit;
    let suites: Vec<_> = runs
        .iter()
        .zip(&images)
        .map(|(run, image)| Suite {
            kernel: &run.base.kernel,
            name: run.name(),
            image,
            logs: &logs,
            long: options.long,
            limit,
            deadline,
        })
        .collect();
    let jobs: Vec<_> = (runs.iter().enumerate())
        .flat_map(|(suite, run)| {
            (run.plan.iter()).flat_map(move |(scenario, cases)| Job::split(suite, *scenario, cases))
        })
        .collect();
    for (run, outcome) in runs.iter().zip(queue::run(&suites, &jobs, &log)) {
        report.suite(&run.row, outcome.counts, outcome.note);
        for (name, time) in outcome.times {
            report.detail(name, time);
        }
    }
    let log = log.entries();
    if !log.again.is_empty() {
        report.remark(format!(
            "cases run again, as their machines died by themselves: {} ({})",
            log.again.len(),
            log.again.join("; ")
        ));
    }
    if !log.repeated.is_empty() {
        report.remark(format!(
            "cases that failed and were run again: {} ({})",
            log.repeated.len(),
            log.repeated.join("; ")
        ));
    }
    for (case, message) in &log.failures {
        report.failure(case, message);
    }
    if let Err(error) = log.check() {
        report.check("virtual machines that died by themselves", Err(error));
    }
    Ok(true)
}

/// What is run on one kernel: cases without NVIDIA's driver, or cases with one.
struct Run<'a> {
    /// Its row in the report.
    row: String,
    base: Base,
    /// The driver that is tested, and another one that a case changes to.
    drivers: Vec<real::Driver>,
    plan: Plan<'a>,
}

impl Run<'_> {
    /// Begins the names of the consoles' files.
    fn name(&self) -> String {
        let line = &self.base.kernel.line;
        match self.drivers.first() {
            None => line.clone(),
            Some(driver) => format!("{line}-{}", driver.version()),
        }
    }
}

/// The name of a kernel's row in the report.
fn row(line: &str) -> String {
    format!("virtual machines, kernel {line}")
}
