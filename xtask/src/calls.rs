//! Which functions the end-to-end tests call: `transport/e2e/calls.txt`, which docs/cuda-coverage.md quotes.
//!
//! The tests ask each program's client for its statistics, in a folder of the target directory. `cargo xtask
//! codegen --calls` writes the file from what lies there; `cargo xtask test` fails if the file says more
//! than the programs did.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use gtrace_e2e::case;
use serde_json::Value;

use crate::context::Context;
use crate::folders;

const FILE: &str = "transport/e2e/calls.txt";
const FOLDER: &str = "e2e-calls";

const HEAD: &str = "\
# What calls which function in the end-to-end tests, through gtrace.
# Written by `cargo xtask codegen --calls` from the statistics of a run of `cargo xtask test`.
";

/// Programs by the function that they call.
pub(crate) type Calls = BTreeMap<String, BTreeSet<String>>;

/// Where the tests leave the statistics of programs.
fn folder(context: &Context) -> PathBuf {
    context.target.join(FOLDER)
}

/// An empty folder for the statistics of a run, and the variable that gives it to the tests.
pub(crate) fn prepare(context: &Context) -> Result<(&'static str, PathBuf)> {
    let folder = folder(context);
    folders::empty(&folder)?;
    Ok((case::CALLS, folder))
}

/// What the file says.
pub(crate) fn written(context: &Context) -> Result<Calls> {
    let text = fs::read_to_string(context.root.join(FILE)).context(FILE)?;
    let mut calls = Calls::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace().map(str::to_owned);
        if let Some(function) = words.next() {
            calls.insert(function, words.collect());
        }
    }
    Ok(calls)
}

/// Writes the file from the statistics of the last run.
pub(crate) fn write(context: &Context) -> Result<()> {
    let (calls, _) = seen(context)?;
    if calls.is_empty() {
        bail!(
            "{} has no statistics: run `cargo xtask test` first",
            context.short(&folder(context))
        );
    }
    let mut text = HEAD.to_owned();
    for (function, programs) in calls {
        text.push_str(&function);
        for program in programs {
            text.push(' ');
            text.push_str(&program);
        }
        text.push('\n');
    }
    fs::write(context.root.join(FILE), text).context(FILE)
}

/// Whether each function that the file knows was called by one of its programs, unless none of them ran.
pub(crate) fn check(context: &Context) -> Result<()> {
    let (calls, ran) = seen(context)?;
    let none = BTreeSet::new();
    let not: Vec<_> = written(context)?
        .into_iter()
        .filter(|(_, programs)| !programs.is_disjoint(&ran))
        .filter(|(function, programs)| calls.get(function).unwrap_or(&none).is_disjoint(programs))
        .map(|(function, _)| function)
        .collect();
    if !not.is_empty() {
        bail!(
            "docs/cuda-coverage.md says that programs of the tests call {}, and none did: \
             `cargo xtask codegen --calls`, then `cargo xtask codegen`, write it anew",
            not.join(", ")
        );
    }
    Ok(())
}

/// What the last run's programs called, and which programs ran.
fn seen(context: &Context) -> Result<(Calls, BTreeSet<String>)> {
    let folder = folder(context);
    let mut calls = Calls::new();
    let mut ran = BTreeSet::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let Some(program) = case::called_by(&path) else {
            continue;
        };
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        // A program that was killed leaves none, or half of it.
        let Ok(statistics) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        ran.insert(program.to_owned());
        for function in functions(&statistics) {
            calls
                .entry(function)
                .or_default()
                .insert(program.to_owned());
        }
    }
    Ok((calls, ran))
}

/// The functions in a client's statistics.
fn functions(statistics: &Value) -> Vec<String> {
    let local = statistics["local"].as_object().into_iter().flatten();
    let sent = statistics["operations"].as_array().into_iter().flatten();
    local
        .map(|(name, _)| name.as_str())
        .chain(sent.filter_map(|row| row["name"].as_str()))
        // The protocol's own operations have a point in their names.
        .filter(|name| !name.contains('.'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_that_were_answered_here_and_there() {
        let statistics = serde_json::json!({
            "local": {"cuInit": 1},
            "operations": [{"name": "cuMemAlloc_v2"}, {"name": "gtrace.snapshot"}],
        });
        assert_eq!(functions(&statistics), ["cuInit", "cuMemAlloc_v2"]);
    }
}
