//! NVIDIA's runtime, in every version of the matrix, starts and works on the CPU emulator itself and through each
//! link. It starts only where the tables of `cuGetExportTable` and the answer to its question are right.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;

use support::{Case, artefacts, library};

/// Runs `test` with the name of each version that was fetched, and its library.
fn each_version(test: impl Fn(&str, &str)) {
    let folder = artefacts().profile.with_file_name("e2e-runtimes");
    let mut versions: Vec<_> = fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    versions.sort();
    if versions.is_empty() {
        println!(
            "SKIPPED: no runtime at {}: cargo xtask test fetches them from PyPI",
            folder.display()
        );
    }
    for version in versions {
        let library = library(&version).expect("a package of the runtime has its library");
        let name = version.file_name().unwrap().to_string_lossy();
        test(&name, library.to_str().unwrap());
        println!("{name}: the same on the CPU emulator and through each link");
    }
}

/// 12.4.127 is the runtime 12040.
fn number(name: &str) -> u32 {
    let mut numbers = name.split('.').filter_map(|n| n.parse::<u32>().ok());
    numbers.next().unwrap() * 1000 + numbers.next().unwrap() * 10
}

#[test]
fn every_version_of_the_runtime() {
    each_version(|name, library| {
        let output = Case::c("runtime")
            .arguments(&[library])
            .server("GTRACE_SOFTGPU_DEVICES", "2")
            .same_everywhere();
        let number = number(name);
        assert!(
            output.starts_with(&format!("runtime {number} on driver 13000, 2 devices")),
            "{name}: {output}"
        );
        assert!(
            output.contains("memory of type 2:") && output.ends_with("can be used again\n"),
            "{name}: {output}"
        );
    });
}

/// Kernels and symbols that a program has registered as the output of NVIDIA's compiler does.
#[test]
fn kernels_of_every_version() {
    each_version(|name, library| {
        let output = Case::c("runtime_kernels")
            .arguments(&[library])
            .same_everywhere();
        assert!(
            output.starts_with(&format!("runtime {}\n", number(name))),
            "{name}: {output}"
        );
        assert!(output.ends_with("done\n"), "{name}: {output}");
    });
}
