//! Programs that NVIDIA's compiler has built: each prints the same on the CPU emulator itself and through each
//! link, and is content with what it computed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;

use gtrace_e2e::nvcc::{Nvcc, Runtime};
use gtrace_e2e::server::Via;
use support::{Case, artefacts};

/// The program of this name, or `None` where there is no compiler.
fn program(name: &str, runtime: Runtime<'_>, options: &[&str]) -> Option<Case> {
    let Some(nvcc) = Nvcc::find(artefacts()) else {
        println!("SKIPPED: no nvcc: cargo xtask test --frameworks fetches it from PyPI");
        return None;
    };
    Some(Case::new(nvcc.program(name, runtime, options).unwrap()))
}

/// What the program prints everywhere.
fn same_everywhere(name: &str, options: &[&str]) -> Option<String> {
    Some(program(name, Runtime::Static, options)?.same_everywhere())
}

/// A test for each program, with its name and nothing special.
macro_rules! programs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            same_everywhere(stringify!($name), &[]);
        }
    )*};
}

programs! {
    symbols streams reduction templates cooperative occupancy pitched textures
    page_locked managed_streams barriers graph_nodes warps
}

/// PTX for a later architecture beside that for the earliest.
const AMPERE: [&str; 2] = ["-gencode", "arch=compute_80,code=compute_80"];
const HOPPER: [&str; 2] = ["-gencode", "arch=compute_90,code=compute_90"];
/// Its machine code, which the emulator takes where it executes none.
const HOPPER_CODE: [&str; 2] = ["-gencode", "arch=compute_90,code=sm_90"];

#[test]
fn query() {
    if let Some(case) = program("query", Runtime::Static, &[]) {
        case.server("GTRACE_SOFTGPU_DEVICES", "2").same_everywhere();
    }
}

#[test]
fn openmp() {
    same_everywhere("openmp", &["-Xcompiler", "-fopenmp"]);
}

#[test]
fn async_copies() {
    same_everywhere("async_copies", &AMPERE);
}

#[test]
fn sorting() {
    same_everywhere("sorting", &HOPPER);
}

/// Where the emulator executes it has no clusters; where it skips launches it has.
#[test]
fn clusters() {
    let Some(output) = same_everywhere("clusters", &HOPPER_CODE) else {
        return;
    };
    assert!(output.starts_with("clusters 0"), "{output}");
    let case = program("clusters", Runtime::Static, &HOPPER_CODE).unwrap();
    let output = case
        .server("GTRACE_SOFTGPU_LAUNCH", "skip")
        .same_everywhere();
    assert!(output.contains("launched: cudaSuccess"), "{output}");
}

/// What the emulator has not, it says so the same way through each link.
#[test]
fn device_launches() {
    let options = ["-rdc=true", "-lcudadevrt"];
    if let Some(output) = same_everywhere("device_launches", &options) {
        assert!(output.starts_with("launched: "), "{output}");
    }
}

#[test]
fn vector_add() {
    if let Some(output) = same_everywhere("vector_add", &[]) {
        assert!(
            output.starts_with("runtime 13000, driver 13000, device 9.0\n"),
            "{output}"
        );
    }
}

#[test]
fn per_thread() {
    same_everywhere("per_thread", &["--default-stream", "per-thread"]);
}

#[test]
fn assertion() {
    let Some(case) = program("assertion", Runtime::Static, &[]) else {
        return;
    };
    let server = case.serve(&[]);
    let direct = case.outcome_directly();
    let reported = "thread: [31,0,0] Assertion `(int)threadIdx.x < limit` failed.";
    assert!(direct.stderr.contains(reported), "{direct}");
    assert!(
        direct.stdout.contains("failed: cudaErrorAssert"),
        "{direct}"
    );
    for via in Via::ALL {
        let remote = case.outcome(&server, via, &[]);
        assert_eq!(remote.stdout, direct.stdout);
        assert!(remote.stderr.contains(reported), "{remote}");
    }
}

/// The same program with the runtime as a library, in each version whose interface is the compiler's.
#[test]
fn shared_runtimes() {
    let folder = artefacts().profile.with_file_name("e2e-runtimes");
    let versions = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut seen = 0;
    for version in versions {
        let name = version.file_name().into_string().unwrap();
        let library = version.path().join("nvidia/cu13/lib");
        if !library.join("libcudart.so.13").is_file() {
            continue;
        }
        let Some(case) = program("vector_add", Runtime::Shared(&name, &library), &[]) else {
            return;
        };
        let output = case.same_everywhere();
        let mut numbers = name.split('.').filter_map(|n| n.parse::<u32>().ok());
        let number = numbers.next().unwrap() * 1000 + numbers.next().unwrap() * 10;
        assert!(
            output.starts_with(&format!("runtime {number}, ")),
            "{output}"
        );
        seen += 1;
    }
    if seen == 0 {
        println!(
            "SKIPPED: no runtime of CUDA 13 at {}: cargo xtask test fetches them from PyPI",
            folder.display()
        );
    }
}

/// What a kernel prints comes when the program waits, and in its place.
#[test]
fn output() {
    let Some(output) = same_everywhere("output", &[]) else {
        return;
    };
    let at = |line: &str| {
        output
            .find(line)
            .unwrap_or_else(|| panic!("no {line}: {output}"))
    };
    let order = [
        "before",
        "kernel 1, thread 1: text 0.333     7|-2  |x%",
        "between",
        "kernel 2",
        "after a stream",
        "kernel 3",
        "after an event",
        "kernel 4",
        "after a copy: 1",
        "line 299",
        "after lines",
        "kernel 5",
        "after the end of the context",
    ];
    assert!(order.map(at).is_sorted(), "{output}");
}
