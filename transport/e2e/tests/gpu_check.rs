//! The check of machines with a GPU, rehearsed with the CPU emulator.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gtrace_e2e::gpu_check::pack::{Built, By, assemble};
use gtrace_e2e::process::{self, Outcome};
use serde_json::Value;
use support::{LIMIT, artefacts};

const CHECK: &str = env!("CARGO_BIN_EXE_gpu-check");

/// The parts as the archive has them, by links.
fn assembled(folder: &Path) -> PathBuf {
    let built = Built {
        profile: artefacts().profile.clone(),
        gtrace: artefacts().gtrace.clone(),
        softgpu: artefacts().softgpu.clone(),
        libraries: Vec::new(),
    };
    let parts = folder.join("parts");
    fs::create_dir(&parts).unwrap();
    assemble(&built, &parts, By::Link).unwrap();
    parts
}

fn check(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(CHECK);
    command
        .arg("--parts")
        .arg(folder.join("parts"))
        .arg("--out")
        .arg(folder.join("results"))
        .args(arguments);
    process::run(&mut command, LIMIT).unwrap()
}

fn results(folder: &Path) -> (String, Value) {
    let read = |name: &str| fs::read_to_string(folder.join("results").join(name)).unwrap();
    let json = serde_json::from_str(&read("gpu-results.json")).unwrap();
    (read("gpu-results.md"), json)
}

#[test]
fn a_rehearsal_passes_and_says_that_it_is_one() {
    let folder = tempfile::tempdir().unwrap();
    assembled(folder.path());
    let steps = [
        "NVML",
        "program vector_add",
        "program cudarc",
        "round trips",
        "killed",
    ];
    let only = steps.iter().flat_map(|step| ["--only", step]);
    let arguments: Vec<&str> = ["--softgpu", "--short"].into_iter().chain(only).collect();
    let outcome = check(folder.path(), &arguments);
    assert!(outcome.status.success(), "{outcome}");
    let (text, json) = results(folder.path());
    assert!(
        text.starts_with("# GPU-over-IP on the CPU EMULATOR"),
        "{text}"
    );
    assert_eq!(json["cpu_emulator"], true);
    let mut names = Vec::new();
    for step in json["steps"].as_array().unwrap() {
        assert_eq!(step["outcome"], "passed", "{step:#}");
        names.push(step["name"].as_str().unwrap().to_owned());
    }
    assert_eq!(names.len(), 8, "{names:?}");
}

/// A check that cannot fail checks nothing: here a program is one that computes something else remotely.
#[test]
fn a_program_that_differs_fails_its_step_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let program = assembled(folder.path()).join("programs/link");
    let script = "#!/bin/sh\necho ${GTRACE_REMOTE:+elsewhere} $0\n";
    fs::remove_file(&program).unwrap();
    fs::write(&program, script).unwrap();
    fs::set_permissions(
        &program,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let outcome = check(
        folder.path(),
        &["--softgpu", "--short", "--only", "program l"],
    );
    assert_eq!(outcome.status.code(), Some(1), "{outcome}");
    let (text, json) = results(folder.path());
    let outcomes: Vec<_> = json["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            (
                step["name"].as_str().unwrap(),
                step["outcome"].as_str().unwrap(),
            )
        })
        .collect();
    assert!(outcomes.len() > 1, "{outcomes:?}");
    for (name, outcome) in outcomes {
        let expected = if name == "program link" {
            "failed"
        } else {
            "passed"
        };
        assert_eq!(outcome, expected, "{name}");
    }
    assert!(text.contains("line 1, remotely: elsewhere"), "{text}");
}

#[test]
fn without_a_driver_it_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    assembled(folder.path());
    let outcome = check(folder.path(), &["--libcuda", "/nonexistent/libcuda.so.1"]);
    assert_eq!(outcome.status.code(), Some(3), "{outcome}");
    assert!(
        outcome
            .stderr
            .contains("there is no /nonexistent/libcuda.so.1"),
        "{outcome}"
    );
    assert!(!folder.path().join("results").exists());
}
