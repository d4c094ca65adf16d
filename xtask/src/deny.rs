//! Licences, bans and sources of the dependencies; advisories where their database can be had.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::context::Context;
use crate::report::Report;
use crate::shell::{self, display, step};
use crate::tools;

/// A fetch through a firewall that drops packets would otherwise wait for many minutes.
const ADVISORY_LIMIT: Duration = Duration::from_secs(180);

/// What the two checks found.
pub(crate) struct Found {
    licences: Result<()>,
    /// None where they were not come to.
    advisories: Option<Result<Option<String>>>,
}

impl Found {
    /// Adds both to `report`.
    pub(crate) fn add_to(self, report: &mut Report) {
        report.check("licences, bans, sources", self.licences);
        match self.advisories {
            None => {}
            Some(Ok(None)) => report.check("advisories", Ok(())),
            Some(Ok(Some(why))) => report.skip("advisories", 1, why),
            Some(Err(error)) => report.check("advisories", Err(error)),
        }
    }
}

/// Checks dependencies.
pub(crate) fn check(context: &Context) -> Found {
    let program = match tools::DENY.ensure(context) {
        Ok(program) => program,
        Err(error) => {
            return Found {
                licences: Err(error),
                advisories: None,
            };
        }
    };
    let deny = || {
        let mut command = Command::new(&program);
        command.arg("deny").current_dir(&context.root);
        command
    };
    step("checking licences, bans and sources of the dependencies");
    let what = ["licenses", "bans", "sources"];
    // The probes stand outside the workspace and are shipped all the same.
    let licences = ["Cargo.toml", "ebpf/Cargo.toml"]
        .iter()
        .try_for_each(|manifest| {
            let mut command = deny();
            command.args(["--manifest-path", manifest, "check"]);
            shell::run(command.arg("--hide-inclusion-graph").args(what))
        });
    step("checking advisories against the dependencies");
    Found {
        licences,
        advisories: Some(advisories(deny().args(["check", "advisories"]))),
    }
}

/// `None` where the check was made and found nothing, the reason where it could not be made.
fn advisories(command: &mut Command) -> Result<Option<String>> {
    let log = std::env::temp_dir().join(format!("gtrace-advisories-{}", std::process::id()));
    let file =
        std::fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .env("GIT_TERMINAL_PROMPT", "0")
        .spawn()
        .with_context(|| format!("cannot start `{}`", display(command)))?;
    let status = shell::wait_for(ADVISORY_LIMIT, || Ok(child.try_wait()?))?;
    if status.is_none() {
        child.kill().context("cannot stop cargo-deny")?;
        child.wait().context("cannot stop cargo-deny")?;
    }
    let output = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    match status {
        None => Ok(Some(format!(
            "the advisory database did not arrive within {} s",
            ADVISORY_LIMIT.as_secs()
        ))),
        Some(status) if status.success() => Ok(None),
        Some(status) => {
            if let Some(cause) = unreachable(&output) {
                return Ok(Some(format!(
                    "the advisory database could not be fetched: {cause}"
                )));
            }
            eprint!("{output}");
            bail!("`{}` failed ({status})", display(command))
        }
    }
}

/// Why the database could not be fetched, if that is what cargo-deny's output says.
fn unreachable(output: &str) -> Option<String> {
    let at = output.find("failed to fetch advisory database")?;
    let first = output[at..].lines().next()?;
    // git, which cargo-deny starts, says the cause in a line of its own.
    let cause = output[at..]
        .lines()
        .find_map(|line| line.trim().strip_prefix("fatal: "));
    Some(cause.unwrap_or(first).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_out_of_reach_is_distinguished_from_an_advisory() {
        let offline = "[ERROR] failed to fetch advisory database \
                       https://github.com/RustSec/advisory-db with cli: failed to clone\n\
                       Cloning into 'advisory-db'...\n\
                       fatal: unable to access the host: Could not resolve host: github.com\n";
        assert_eq!(
            unreachable(offline).unwrap(),
            "unable to access the host: Could not resolve host: github.com"
        );
        let found = "error[vulnerability]: RUSTSEC-2020-0001\n";
        assert_eq!(unreachable(found), None);
    }
}
