//! Carries out a site's policy of remediation: looks for what it has rules for, finds out what holds, has the state machine of
//! `gtrace_fleet::remedy` say what is next, and does that once it is written down.
//!
//! One head of those that share a database does so, by a lease; of processes that have one file, the one that holds its lock. It has a
//! thread and a connection to the database of its own; each look at a manager, and each order that may take long, has a thread.

mod facts;
mod kubernetes;
mod looks;
mod orders;
mod runner;
mod slurm;
mod ticket;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gtrace_event::PciAddress;
use gtrace_fleet::Ask;
use gtrace_fleet::remedy::scontrol::Node;
use gtrace_fleet::remedy::{Mode, Order, Outcome, Policy, Step};
use tokio::sync::watch;

use self::looks::Nodes;
use self::runner::Runner;
use crate::db::{HostRow, Place};

/// Which policy is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remediation {
    /// File with the policy.
    pub policy: PathBuf,
}

/// Why a policy cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy of remediation {}: {cause}", path.display())]
pub struct PolicyError {
    path: PathBuf,
    cause: String,
}

/// Reads a policy.
///
/// # Errors
/// [`PolicyError`], with line and column where it is the form.
pub fn load(path: &Path) -> Result<Policy, PolicyError> {
    let failed = |cause: String| PolicyError {
        path: path.to_owned(),
        cause,
    };
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let policy: Policy = toml::from_str(&text).map_err(|e| failed(e.to_string()))?;
    policy.check().map_err(failed)?;
    Ok(policy)
}

/// How it stands with remediation at this head.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Whether plans are carried out or only made.
    pub(crate) mode: Mode,
    /// Whether it is this head that does so.
    pub(crate) is_here: bool,
    /// What is wrong: with a policy that was changed, or in the last turn.
    pub(crate) problem: Option<String>,
    /// Causes for which no plan was made, as their hosts, or the fleet, had as many as they may.
    pub(crate) unplanned_of_hosts: u64,
    /// The same of the fleet.
    pub(crate) unplanned_of_fleet: u64,
}

/// The same for whoever answers about it.
pub(crate) type Shared = Arc<Mutex<Standing>>;

/// What threads say to the one that carries plans out.
enum Word {
    /// What came of an order.
    Ended(Order, Outcome),
    /// What Kubernetes says, in which look.
    Kubernetes(u64, Result<Nodes, String>),
    /// What Slurm says, in which look.
    Slurm(u64, Result<BTreeMap<String, Node>, String>),
}

/// How long one answer of a manager may take.
fn answer_within(policy: &Policy) -> Duration {
    Duration::from_secs(policy.answer_s.into())
}

/// Starts the thread, which ends soon after `stop` holds true.
pub(crate) fn start(
    place: Place,
    options: Remediation,
    policy: Policy,
    shared: Shared,
    stop: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let owner = crate::secret::draw().map_err(std::io::Error::other)?;
    let mut runner = Runner::new(place, options, policy, owner, shared);
    std::thread::Builder::new()
        .name("gtrace-remedy".to_owned())
        .spawn(move || runner.run(&stop))
        .map(drop)
}

/// What a host is asked for a step, if it permits that.
fn request_of(
    step: Step,
    gpu: Option<&str>,
    host: &str,
    row: Option<&HostRow>,
) -> Result<Ask, String> {
    let ask = match (step, gpu) {
        (Step::Reboot, _) => Ask::Reboot,
        (_, Some(gpu)) => match PciAddress::parse(gpu) {
            Some(pci) => Ask::ResetGpu { pci },
            None => return Err(format!("`{gpu}` is no PCI address")),
        },
        (_, None) => return Err("it is not known which GPU to reset".to_owned()),
    };
    let permits = row
        .and_then(|row| row.state.as_ref())
        .map(|state| &state.permits);
    match permits.is_some_and(|permits| permits.iter().any(|one| one == ask.name())) {
        true => Ok(ask),
        false => Err(format!(
            "host `{host}` does not permit it: `gtrace agent run --allow {}` there does",
            ask.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_policy_and_a_mistake_is_named() {
        let example = include_str!("../../../../packaging/remediation.example.toml");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        // As it is, it does nothing.
        std::fs::write(&path, example).unwrap();
        let empty = load(&path).unwrap();
        assert_eq!((empty.mode, empty.rules.len()), (Mode::Dry, 0));
        let text = example.replace("#: ", "");
        std::fs::write(&path, &text).unwrap();
        let policy = load(&path).unwrap();
        assert_eq!(policy.rules.len(), 3);
        assert_eq!((policy.max_out, policy.max_out_percent), (1, 10));
        std::fs::write(&path, text.replace("\"reboot\", \"return\"", "\"rebot\"")).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains("rebot") && error.contains("line"), "{error}");
        assert!(load(&dir.path().join("none")).is_err());
    }
}
