//! Frameworks in Python, whose libraries carry NVIDIA's runtime and machine code: what they do with memory is
//! the same on the CPU emulator itself and through each link, and where launches are skipped, how often a step of a
//! workload waits for the server is what `docs/round-trips.md` says.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use gtrace_e2e::compatibility::{PROGRAMS, lacking, recorded, words};
use gtrace_e2e::faults::{Faults, Plan};
use gtrace_e2e::server::{Server, Via};
use gtrace_e2e::{artefacts, process, programs};
use serde_json::Value;
use support::{Case, artefacts, script};

/// How long a program may take that compiles its kernels, on a busy machine.
const FRAMEWORK: Duration = Duration::from_secs(300);

/// Where `cargo xtask test --frameworks` puts the packages of `programs/python/frameworks.txt`.
fn python() -> Option<PathBuf> {
    let lacking = ["frameworks", "cargo xtask test --frameworks fetches them"];
    support::python("GTRACE_E2E_FRAMEWORKS", "e2e-frameworks", lacking)
}

/// A program of the table ends in each way as docs/programs.md says.
fn as_reported(id: &str) {
    let file = artefacts::root().join("docs/programs.md");
    let page = fs::read_to_string(&file).expect("docs/programs.md");
    let program = PROGRAMS.iter().find(|program| program.id == id).unwrap();
    match program
        .run(support::artefacts(), &support::ground())
        .unwrap()
    {
        Err(why) => println!("SKIPPED: {why}"),
        Ok(row) => {
            let reported = recorded(&page, id);
            assert_eq!(Some(words(&row)), reported, "{id}: {row:?}");
            assert!(!row.is_of_remoting(), "{row:?}");
        }
    }
}

/// A test for each program that no other test runs.
macro_rules! programs {
    ($($id:ident)*) => {$(
        #[test]
        fn $id() {
            as_reported(stringify!($id));
        }
    )*};
}

programs! {
    torch_loader torch_profiler torch_segments torch_distributed torch_nccl_threads jax jax_profiler onnxruntime pycuda py3nvml
}

#[test]
fn every_program_has_a_row() {
    let file = artefacts::root().join("docs/programs.md");
    let page = fs::read_to_string(&file).expect("docs/programs.md");
    let lacking = lacking(&page);
    assert!(lacking.is_empty(), "cargo xtask programs: {lacking:?}");
}

/// A training run has the same losses, bit by bit, directly and over each link, and over connections that break and come back.
#[test]
fn training() {
    let Some(python) = python() else { return };
    let case = script(python.clone(), "numba_training.py").limit(FRAMEWORK);
    let direct = case.same_everywhere();
    assert!(
        direct.contains("step 50 ") && direct.contains("falls True"),
        "{direct}"
    );
    let server = case.serve(&[]);
    let plan = Plan {
        seed: std::process::id().into(),
        breaks: 30,
        most_bytes: 30_000,
        stall: Duration::from_millis(20),
        whole: 0,
    };
    let faults = Faults::to(&server.address(Via::Tcp), plan).unwrap();
    faults.arm();
    let file = programs::python_sources().join("numba_training.py");
    let mut command = Command::new(&support::artefacts().gtrace);
    command.args(["exec", "--remote", faults.address(), "--link", "tcp", "--"]);
    command.arg(&python).arg(&file);
    command.env_remove("CUDA_VISIBLE_DEVICES");
    let outcome = process::run(&mut command, FRAMEWORK).unwrap();
    assert_eq!(outcome.stdout, direct, "{outcome}");
    assert!(faults.count() >= 10, "{:?}", faults.by_kind());
}

#[test]
fn pytorch_memory() {
    let Some(python) = python() else { return };
    let output = script(python, "torch_memory.py").same_everywhere();
    assert!(output.contains("pinned True"), "{output}");
    assert!(output.contains("through a stream True"), "{output}");
}

#[test]
fn numba() {
    let Some(python) = python() else { return };
    let case = script(python, "numba_arrays.py").limit(FRAMEWORK);
    let output = case.same_everywhere();
    for line in ["matrices True", "mapped True 40000", "a wild address"] {
        assert!(output.contains(line), "{output}");
    }
}

#[test]
fn cupy() {
    let Some(python) = python() else { return };
    let case = script(python, "cupy_arrays.py").limit(FRAMEWORK);
    let output = case.same_everywhere();
    for line in ["reduced True True", "a graph 78.0 78.0", "a wild address 1"] {
        assert!(output.contains(line), "{output}");
    }
}

#[test]
fn cuda_core() {
    let Some(python) = python() else { return };
    let case = script(python, "core_objects.py").limit(FRAMEWORK);
    let output = case.same_everywhere();
    for line in ["launched True", "linked 65280 True", "a graph True"] {
        assert!(output.contains(line), "{output}");
    }
}

/// What comes with numba-cuda.
#[test]
fn tests_of_numba() {
    // Of 0.30.4 some 500 are; fewer would mean that they were not found.
    const CONTENT: usize = 450;
    let Some(python) = python() else { return };
    content_everywhere(script(python, "numba_tests.py"), CONTENT);
}

/// What comes with CuPy's sources, some of it on two devices.
#[test]
fn tests_of_cupy() {
    // Of 14.2.0 788 are; fewer would mean that they were not found.
    const CONTENT: usize = 700;
    let Some(python) = python() else { return };
    let Some(tests) = python
        .ancestors()
        .nth(2)
        .map(|root| root.join("cupy-tests"))
    else {
        return;
    };
    if !tests.is_dir() {
        println!("SKIPPED: no tests of CuPy at {}", tests.display());
        return;
    }
    let program = programs::python_sources().join("cupy_tests.py");
    let arguments = [program.to_str().unwrap(), tests.to_str().unwrap()];
    let case = Case::new(python).arguments(&arguments);
    content_everywhere(case.server("GTRACE_SOFTGPU_DEVICES", "2"), CONTENT);
}

/// The tests that a program runs are content, directly and remotely the same ones.
fn content_everywhere(case: Case, content: usize) {
    let case = case.limit(Duration::from_secs(900));
    let direct = case.direct();
    let server = case.serve(&[]);
    let remote = case.remote(&server, Via::Unix, &[]);
    assert_eq!(remote.stdout, direct.stdout, "{remote}");
    let counted = |what: &str| {
        let lines = direct.stdout.lines();
        lines.filter(|line| line.starts_with(what)).count()
    };
    assert_eq!(counted("failed"), 0, "{direct}");
    assert!(counted("ok") >= content, "{direct}");
}

/// Kernels are machine code that Triton's assembler made, so that none is executed.
#[test]
fn torch_compile() {
    let Some(python) = python() else { return };
    let case = script(python, "torch_compile.py").server("GTRACE_SOFTGPU_LAUNCH", "skip");
    let case = case.limit(Duration::from_secs(600));
    let server = case.serve(&[]);
    let direct = case.direct().stdout;
    let remote = case.remote(&server, Via::Unix, &[]).stdout;
    assert_eq!(remote, direct);
    assert!(direct.contains("graphs 1 breaks 0"), "{direct}");
}

/// What a step of each workload of `torch_steps.py` waits for at most.
fn reported() -> BTreeMap<String, f64> {
    let file = artefacts::root().join("docs/round-trips.md");
    let text = fs::read_to_string(&file).expect("docs/round-trips.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let reported: BTreeMap<_, _> = rows
        .map(|row| {
            let (name, rest) = row.split_once('`').expect("a name");
            let count = rest.trim_matches([' ', '|']).split('|').next();
            let count = count.expect("a count").trim().parse().expect("a number");
            (name.to_owned(), count)
        })
        .collect();
    assert!(reported.len() >= 4, "{} has no table", file.display());
    reported
}

/// The calls of a run that were awaited, all and by operation.
fn awaited(server: &Server, python: PathBuf, name: &str, steps: u32) -> BTreeMap<String, f64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stats.json");
    let script = programs::python_sources().join("torch_steps.py");
    let steps = steps.to_string();
    let case = Case::new(python).arguments(&[script.to_str().unwrap(), name, &steps]);
    let options = ["--stats-file", file.to_str().unwrap()];
    let outcome = case.remote(server, Via::Unix, &options);
    assert_eq!(outcome.stdout, "done\n", "{outcome}");
    let statistics: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let operations = statistics["operations"].as_array().expect("operations");
    let count = |of: &Value| of["waiting"].as_f64().expect("a count");
    let mut counts: BTreeMap<_, _> = operations
        .iter()
        .map(|of| (of["name"].as_str().expect("a name").to_owned(), count(of)))
        .collect();
    counts.insert("all".to_owned(), count(&statistics["totals"]));
    counts
}

#[test]
fn pytorch_waits_as_often_as_is_reported() {
    const FEW: u32 = 5;
    const MANY: u32 = 25;
    let Some(python) = python() else { return };
    let skips = ("GTRACE_SOFTGPU_LAUNCH", "skip");
    let server = Server::start(&artefacts().gtrace, &[skips], &[]).unwrap();
    for (name, reported) in reported() {
        // Its images are at the server from then on.
        awaited(&server, python.clone(), &name, 0);
        let few = awaited(&server, python.clone(), &name, FEW);
        let many = awaited(&server, python.clone(), &name, MANY);
        let step = |of: &str| {
            let before = few.get(of).copied().unwrap_or(0.0);
            (many[of] - before) / f64::from(MANY - FEW)
        };
        let all = step("all");
        let costly: Vec<_> = many.keys().filter(|of| step(of) > 0.0).collect();
        // Both ways, so that the table stays true.
        assert!(
            (all - reported).abs() < 0.25,
            "a step of {name} waits {all} times, and docs/round-trips.md says {reported}: {costly:?}"
        );
    }
}
