//! What judges gtrace by where NVIDIA's own driver runs: programs in C of `vm-tests/judge`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{REAL_CALLER, REAL_JUDGE, REAL_UVM};

use super::cpio::Archive;
use super::image::program;
use crate::context::Context;
use crate::folders;
use crate::shell;

/// The folder that has the driver's sources in their archive, whatever its flavour.
const FOLDER: &str = "modules/nvidia-*kernel";

/// What is taken of it: headers, and the files that serve calls of nvidia-uvm.
const HEADERS: [&str; 4] = [
    "common/inc",
    "nvidia-uvm/*.h",
    "nvidia-uvm/uvm.c",
    "nvidia-uvm/uvm_tools.c",
];

/// Builds the programs for the driver whose package is unpacked in `packages`, its archive `sources`, and adds them to the
/// image.
pub(super) fn add(
    archive: &mut Archive,
    context: &Context,
    cache: &Path,
    packages: &Path,
    sources: &Path,
) -> Result<()> {
    let headers = headers(packages, sources)?;
    let plain = Vec::new();
    let of_uvm = [".", "common/inc", "nvidia-uvm"]
        .map(|folder| format!("-isystem{}", headers.join(folder).display()))
        .to_vec();
    for (source, name, options, path) in [
        (
            "judge.c",
            "judge.so",
            vec!["-shared".to_owned(), "-fPIC".to_owned()],
            REAL_JUDGE,
        ),
        ("caller.c", "real-caller", plain, REAL_CALLER),
        ("uvm.c", "real-uvm", of_uvm, REAL_UVM),
    ] {
        let built = cache.join("programs").join(name);
        let source = context.root.join("vm-tests/judge").join(source);
        shell::read(
            Command::new("cc")
                .args(["-O1", "-Wall", "-Werror"])
                .args(options)
                .arg("-o")
                .args([&built, &source])
                .arg("-ldl"),
        )?;
        program(archive, path, &built)?;
    }
    Ok(())
}

/// A folder with the driver's headers, and with `calls.h`: which calls nvidia-uvm serves.
fn headers(packages: &Path, sources: &Path) -> Result<PathBuf> {
    let whole = packages.join("headers");
    if whole.is_dir() {
        return Ok(whole);
    }
    let half = packages.join(".headers.half");
    folders::empty(&half)?;
    shell::run(
        Command::new("tar")
            .arg("--extract")
            .arg("--file")
            .arg(sources)
            .arg("--directory")
            .arg(&half)
            .args(["--strip-components=2", "--wildcards"])
            .args(HEADERS.map(|part| format!("{FOLDER}/{part}"))),
    )?;
    let mut calls = String::new();
    for file in ["uvm.c", "uvm_tools.c"] {
        let file = half.join("nvidia-uvm").join(file);
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for name in served(&text) {
            calls.push_str(&format!("CALL({name})\n"));
        }
    }
    ensure!(
        !calls.is_empty(),
        "{}: no calls are served in uvm.c as it was in earlier versions",
        packages.display()
    );
    fs::write(half.join("calls.h"), calls)?;
    fs::rename(&half, &whole).with_context(|| format!("cannot create {}", whole.display()))?;
    Ok(whole)
}

/// The names in lines such as `UVM_ROUTE_CMD_STACK_INIT_CHECK(UVM_FREE, uvm_api_free);`.
fn served(source: &str) -> Vec<&str> {
    let name = |line| -> Option<&str> {
        let (_, routed) = str::split_once(line, "UVM_ROUTE_CMD_")?;
        let (_, arguments) = routed.split_once('(')?;
        Some(arguments.split_once(',')?.0.trim())
    };
    source.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_out_of_the_drivers_sources() {
        let source = "    switch (cmd)\n        case UVM_DEINITIALIZE:\n            return 0;\n\n        \
                      UVM_ROUTE_CMD_STACK_NO_INIT_CHECK(UVM_INITIALIZE,   uvm_api_initialize);\n        \
                      UVM_ROUTE_CMD_ALLOC_INIT_CHECK(UVM_ALLOC_SEMAPHORE_POOL, uvm_api_alloc_semaphore_pool);\n";
        assert_eq!(
            served(source),
            ["UVM_INITIALIZE", "UVM_ALLOC_SEMAPHORE_POOL"]
        );
        assert!(served("#define UVM_ROUTE_CMD_STACK\n").is_empty());
    }
}
