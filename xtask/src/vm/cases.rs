//! The cases that the guest's program has, asked from itself.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use gtrace_vm_tests::scenario::Scenario;

use crate::shell;

/// A case, as far as the host needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// Its name.
    pub(crate) name: String,
    /// The machine that it wants.
    pub(crate) scenario: Scenario,
    /// After so long without a word it is taken to hang.
    pub(crate) patience: Duration,
    /// Whether it is one of the core set, which every run has.
    pub(crate) core: bool,
}

/// All cases of `program`, in the order in which they run.
pub(crate) fn list(program: &Path) -> Result<Vec<Case>> {
    let printed = shell::read(Command::new(program).arg("list"))?;
    printed.lines().map(parse).collect()
}

/// `NAME SCENARIO SECONDS core`, or `rotating`.
fn parse(line: &str) -> Result<Case> {
    let mut words = line.split(' ');
    let mut word = || words.next().unwrap_or_default();
    let (name, scenario, seconds, set) = (word(), word(), word(), word());
    let scenario = scenario
        .parse()
        .map_err(|error: String| anyhow::anyhow!(error))?;
    let seconds = seconds
        .parse()
        .with_context(|| format!("the guest's program lists {line:?}"))?;
    Ok(Case {
        name: name.to_owned(),
        scenario,
        patience: Duration::from_secs(seconds),
        core: set == "core",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_guest_lists_is_read() {
        let case = parse("driver_xid pcie-inject 90 core").unwrap();
        assert_eq!(case.name, "driver_xid");
        assert_eq!(case.scenario, Scenario::PcieInject);
        assert_eq!(case.patience, Duration::from_secs(90));
        assert!(case.core && !parse("driver_xid driver 90 rotating").unwrap().core);
        parse("driver_xid").unwrap_err();
        parse("driver_xid driver soon core").unwrap_err();
    }
}
