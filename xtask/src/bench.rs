//! `cargo xtask bench`: runs the benchmarks in release form.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::context::{Context, Profile};
use crate::packages::Privilege;
use crate::report::{Counts, Report};
use crate::setup;
use crate::shell::{self, display, step};

/// Builds gtrace and the benchmarks, and runs the latter with `args`, as root where that can be.
pub(crate) fn run(context: &Context, args: impl Iterator<Item = String>) -> Result<()> {
    setup::build(
        context,
        Profile::Release,
        &["gtrace", "gtrace-bench", "gtrace-softgpu"],
    )?;
    let privilege = Privilege::find();
    if privilege == Privilege::None {
        step("not root, and no sudo: benchmarks that load BPF programs will skip themselves");
    } else {
        setup::mounts(privilege);
    }
    let program = context.binary(Profile::Release, "gtrace-bench");
    let mut command = privilege.command(&program.to_string_lossy());
    command.current_dir(&context.root).args(args);
    step(format!("running {}", display(&command)));
    shell::run(&mut command)
}

/// Runs every benchmark once and small with what `cargo build` made, and adds each to `report`: it fails if one does not
/// run or gives no figure, never for a time.
pub(crate) fn short(context: &Context, privilege: Privilege, report: &mut Report) {
    step("running each benchmark once, to see that it works");
    let results = match small(context, privilege, None) {
        Ok(results) => results,
        Err(error) => return report.check("benchmarks", Err(error)),
    };
    let mut counts = Counts::default();
    let mut notes = Vec::new();
    let text = |result: &Value, name: &str| result[name].as_str().unwrap_or_default().to_owned();
    for mut result in results {
        let name = text(&result, "name");
        if !result["failure"].is_null() {
            let why = text(&result, "failure");
            report.remark(format!("run again, as it failed: benchmark {name}: {why}"));
            let again = small(context, privilege, Some(&name)).unwrap_or_default();
            result = again.into_iter().next().unwrap_or(result);
        }
        if !result["failure"].is_null() {
            counts.failed += 1;
            notes.push(format!("{name}: {}", text(&result, "failure")));
        } else if result["skipped"].is_null() {
            counts.passed += 1;
        } else {
            report.skip(&format!("benchmark {name}"), 1, text(&result, "skipped"));
        }
    }
    for note in &notes {
        eprintln!("gtrace: benchmark {note}");
    }
    report.suite("benchmarks", counts, notes.join("; "));
}

/// What the benchmarks found, one by one, or what `name` found.
fn small(context: &Context, privilege: Privilege, name: Option<&str>) -> Result<Vec<Value>> {
    let program = context.binary(Profile::Dev, "gtrace-bench");
    let mut command = privilege.command(&program.to_string_lossy());
    command
        .current_dir(&context.root)
        .args(["--short", "--json"])
        .args(name);
    // Its status says that one has failed, which is reported one by one.
    let output = command.output().with_context(|| display(&command))?;
    let message = String::from_utf8_lossy(&output.stderr);
    let results: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("what `{}` printed; it said: {message}", display(&command)))?;
    let all = results["benchmarks"].as_array().cloned();
    let all = all.filter(|all| !all.is_empty());
    all.with_context(|| format!("`{}` ran no benchmark", display(&command)))
}
