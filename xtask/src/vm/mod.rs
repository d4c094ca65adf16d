//! `cargo xtask vm-test`: tests of gtrace on Debian's kernels, in emulated machines.
//!
//! [`Base::ensure`] fetches a kernel, [`mod@suite`] runs the cases on it, [`session`] in one machine.
//! docs/vm-tests.md has the whole picture.

pub(crate) mod apt;
pub(crate) mod bench;
mod cases;
mod cpio;
mod image;
mod kernel;
mod machine;
mod modules;
mod pair;
mod qemu;
mod qmp;
mod rdma;
mod session;
mod stub;
mod suite;
mod uprobes;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use gtrace_vm_tests::scenario::Scenario;

use self::apt::Private;
use self::cases::Case;
use self::kernel::Kernel;
use self::suite::Suite;
use crate::context::{Context, Profile};
use crate::packages;
use crate::report::Report;
use crate::setup;
use crate::shell::{self, step};

/// Names another cache than `vm` in the target directory.
const CACHE_VARIABLE: &str = "GTRACE_VM_CACHE";

/// Where the consoles' output goes, in the cache.
const LOGS: &str = "logs";

/// Packages that machines, images and the stub take, beside QEMU and what building gtrace takes, and the
/// program that will do wherever it comes from.
const NEEDED: [(&str, Option<&str>); 10] = [
    ("busybox-static", Some("busybox")),
    ("make", Some("make")),
    ("gcc", Some("gcc")),
    ("libc6-dev", None),
    ("libelf-dev", None),
    ("xz-utils", Some("xz")),
    ("util-linux", Some(machine::SETPRIV)),
    ("ibverbs-providers", None),
    ("iproute2", Some("rdma")),
    ("perftest", Some("ib_send_lat")),
];

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

    /// Makes the guest's file system. gtrace and the guest's program have been built.
    fn image(&self, context: &Context, cache: &Cache) -> Result<PathBuf> {
        image::build(context, &cache.dir, &self.kernel, &self.stub)
    }
}

/// Whether the error says that this host has not what it takes, which is no failure of gtrace.
fn is_lack(error: &anyhow::Error) -> bool {
    error.is::<kernel::NoKernel>() || error.is::<stub::NoCompiler>()
}

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

/// Builds the guest's program; returns its cases. By itself: what it wants of common dependencies
/// must not change gtrace.
fn build_guest(context: &Context) -> Result<Vec<Case>> {
    setup::host_packages(context)?;
    step("building the guest's program");
    shell::run(context.cargo().args([
        "build",
        Profile::Release.argument(),
        "--package=gtrace-vm-tests",
    ]))?;
    cases::list(&context.binary(Profile::Release, "gtrace-vm-init"))
}

/// Builds gtrace as users install it.
fn build_gtrace(context: &Context) -> Result<()> {
    setup::build(context, Profile::Release, &["gtrace"])
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
    let limit = suite::limit(options.long)?;
    let mut lines = options.kernels.clone();
    if lines.is_empty() {
        lines.extend(kernel::DEFAULT_LINES.map(str::to_owned));
    }
    for line in &lines {
        kernel::check_line(line)?;
    }
    let cases = build_guest(context)?;
    // That one is for measurements.
    let scenarios = Scenario::ALL
        .into_iter()
        .filter(|scenario| *scenario != Scenario::Bench);
    let mut plan: Vec<_> = scenarios
        .map(|scenario| {
            let filter = options.filter.as_deref();
            (scenario, cases::select(&cases, scenario, filter))
        })
        .filter(|(_, cases)| !cases.is_empty())
        .collect();
    if plan.is_empty() {
        return Ok(false);
    }
    if let Some(why) = qemu::no_pairs() {
        for (scenario, cases) in plan.extract_if(.., |(scenario, _)| scenario.has_peer()) {
            let count = u64::try_from(cases.len()).unwrap_or(u64::MAX);
            let row = format!("virtual machines, {scenario}");
            without(report, &row, count, anyhow!("{why}"));
        }
    }
    let cache = cache(context)?;
    // Before gtrace is built, which takes minutes and is of no use where there is no kernel.
    let mut bases = Vec::new();
    for line in &lines {
        match Base::ensure(context, &cache, line) {
            Ok(base) => bases.push(base),
            Err(error) if is_lack(&error) => {
                let cases = plan.iter().map(|(_, cases)| cases.len()).sum::<usize>();
                let cases = u64::try_from(cases).unwrap_or(u64::MAX);
                without(report, &row(line), cases, error);
            }
            Err(error) => report.check(&row(line), Err(error)),
        }
    }
    if bases.is_empty() {
        return Ok(true);
    }
    build_gtrace(context)?;
    for base in &bases {
        let row = row(&base.kernel.line);
        let image = match base.image(context, &cache) {
            Ok(image) => image,
            Err(error) => {
                report.check(&row, Err(error));
                continue;
            }
        };
        step(format!("testing on kernel {}", base.kernel.key));
        let suite = Suite {
            kernel: &base.kernel,
            image: &image,
            logs: &cache.dir.join(LOGS),
            long: options.long,
            limit,
        };
        let (counts, note) = suite.run(&plan);
        report.suite(&row, counts, note);
    }
    Ok(true)
}

/// The name of a kernel's row in the report.
fn row(line: &str) -> String {
    format!("virtual machines, kernel {line}")
}
