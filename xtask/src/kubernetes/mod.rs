//! `cargo xtask kubernetes`: the manifests in packaging/kubernetes: one is generated, all are checked against schemas.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::context::Context;
use crate::report::Report;
use crate::shell::{self, step};

const FOLDER: &str = "packaging/kubernetes";
const RULE: &str = "packaging/kubernetes/monitoring/prometheusrule.yaml";
/// What the rule is made of.
const RULES: [&str; 2] = [
    "packaging/prometheus/recording.rules.yml",
    "packaging/prometheus/alerts.rules.yml",
];
/// What the check is installed from.
const CHECK: [(&str, &str); 3] = [
    ("package.json", include_str!("package.json")),
    ("package-lock.json", include_str!("package-lock.json")),
    ("check.mjs", include_str!("check.mjs")),
];

/// Writes the rule; with `check` compares instead, and checks all manifests.
pub(crate) fn command(context: &Context, check: bool) -> Result<()> {
    if !check {
        let file = context.root.join(RULE);
        return fs::write(&file, rule(&context.root)?).with_context(|| RULE.to_owned());
    }
    compare(&context.root)?;
    schemas(context)
}

/// Adds both checks to `report`; the one by schemas is left out where npm cannot be had.
pub(crate) fn suite(context: &Context, report: &mut Report) {
    const NAME: &str = "manifests of Kubernetes fit their schemas";
    report.begin("manifests of Kubernetes");
    match shell::in_path("node") && shell::in_path("npm") {
        true => report.check(NAME, schemas(context)),
        false => report.skip(NAME, 1, "Node.js and npm are not installed"),
    }
}

/// Whether the rule is as it is generated.
pub(crate) fn compare(root: &Path) -> Result<()> {
    let written = fs::read_to_string(root.join(RULE)).with_context(|| RULE.to_owned())?;
    ensure!(
        written == rule(root)?,
        "{RULE} is not as packaging/prometheus has it: `cargo xtask kubernetes` writes it"
    );
    Ok(())
}

/// The rules of Prometheus as an object of its operator.
fn rule(root: &Path) -> Result<String> {
    let mut out = "# Generated from packaging/prometheus by `cargo xtask kubernetes`.\n\
                   apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: gtrace\n  labels:\n    \
                   app.kubernetes.io/name: gtrace\nspec:\n  groups:\n"
        .to_owned();
    for file in RULES {
        let text = fs::read_to_string(root.join(file)).with_context(|| file.to_owned())?;
        let Some((_, groups)) = text.split_once("\ngroups:\n") else {
            bail!("{file} has no line `groups:`");
        };
        for line in groups.lines() {
            match line.trim().is_empty() {
                true => out.push('\n'),
                false => out.push_str(&format!("  {line}\n")),
            }
        }
    }
    Ok(out)
}

fn schemas(context: &Context) -> Result<()> {
    let work = context.target.join("kubernetes");
    fs::create_dir_all(&work).with_context(|| work.display().to_string())?;
    let is_new = CHECK
        .iter()
        .any(|(name, text)| !fs::read_to_string(work.join(name)).is_ok_and(|old| old == *text));
    if is_new || !work.join("node_modules").is_dir() {
        let _ = fs::remove_dir_all(work.join("node_modules"));
        step("fetching the schemas of Kubernetes from npm");
        for (name, text) in CHECK {
            fs::write(work.join(name), text)?;
        }
        let mut npm = Command::new("npm");
        npm.args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--silent",
        ]);
        shell::run(npm.current_dir(&work))?;
    }
    let mut node = Command::new("node");
    shell::run(
        node.arg("check.mjs")
            .args(manifests(context)?)
            .current_dir(&work),
    )
}

/// Every manifest but those of kustomize, which are no objects of a cluster.
fn manifests(context: &Context) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let folder = context.root.join(FOLDER);
    for folder in ["base", "monitoring", "remote-gpu"].map(|part| folder.join(part)) {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let is_manifest = path.extension().is_some_and(|end| end == "yaml")
                && path.file_stem().is_some_and(|name| name != "kustomization");
            if is_manifest {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_the_operator_are_those_of_prometheus() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        compare(&root).unwrap();
        let text = rule(&root).unwrap();
        assert!(
            text.contains("\n      - name: gtrace-page\n")
                || text.contains("\n    - name: gtrace-page\n")
        );
        assert!(text.contains("alert: GpuDriverCrash"));
    }
}
