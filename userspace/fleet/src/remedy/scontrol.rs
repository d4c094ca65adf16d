//! What `scontrol --oneliner show node` says of nodes, as scontrol(1) has it: `NodeName=… State=IDLE+DRAIN … Reason=… [user@time]`. A
//! node has the name that the host has in the fleet. The reason says which plan drains it.

use std::collections::BTreeMap;

use super::Effect;

/// States in which a node has jobs, of scontrol(1).
const BUSY: [&str; 3] = ["ALLOCATED", "MIXED", "COMPLETING"];
/// States in which a node gets no new job though nobody drains it, of sinfo(1): it is down or failing, does not answer slurmctld, is in a
/// maintenance reservation, or is being rebooted.
const NO_JOBS: [&str; 11] = [
    "DOWN",
    "FAIL",
    "FAILING",
    "ERROR",
    "UNKNOWN",
    "NOT_RESPONDING",
    "INVAL",
    "INVALID_REG",
    "MAINT",
    "MAINTENANCE",
    "REBOOT_ISSUED",
];
/// What older versions have behind a state for these: no answer, maintenance, a reboot.
const NO_JOBS_SUFFIX: [char; 3] = ['*', '$', '^'];
/// Most nodes that are read: a line for each, so that what another program prints takes no more memory than that.
pub const NODES_MAX: usize = 100_000;
/// Longest reason that is kept, in characters.
const REASON_MAX: usize = 300;

/// A node, as far as plans are concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// `IDLE`, `DRAIN` and so on.
    states: Vec<String>,
    /// The scheduler gives it no jobs, though nobody drains it.
    gets_no_jobs: bool,
    reason: String,
}

impl Node {
    /// Whether it gets no new jobs.
    pub fn is_drained(&self) -> bool {
        self.states
            .iter()
            .any(|state| state == "DRAIN" || state == "DRAINED" || state == "DRAINING")
    }

    /// Whether the scheduler gives it no jobs: it is drained, down or failing, does not answer, or is in maintenance.
    pub fn is_out(&self) -> bool {
        self.is_drained() || self.gets_no_jobs
    }

    /// Jobs that are there, in words.
    pub fn busy(&self) -> Option<String> {
        let busy = self.states.iter().find(|s| BUSY.contains(&s.as_str()));
        busy.map(|state| format!("Slurm has jobs on it ({state})"))
    }

    /// Whether it is drained, from the view of a plan.
    pub fn effect(&self, plan: i64) -> Effect {
        match self.is_drained() {
            true if self.reason.starts_with(&reason(plan)) => Effect::Ours,
            true => Effect::Theirs,
            false => Effect::Absent,
        }
    }
}

/// How the reason of a node begins that a plan drains.
pub fn reason(plan: i64) -> String {
    format!("gtrace plan {plan}:")
}

/// The nodes of scontrol's output, by name; the first [`NODES_MAX`] of them.
pub fn parse(output: &str) -> BTreeMap<String, Node> {
    let mut nodes = BTreeMap::new();
    for line in output.lines() {
        if nodes.len() == NODES_MAX {
            break;
        }
        let Some(name) = line
            .strip_prefix("NodeName=")
            .and_then(|rest| rest.split(' ').next())
        else {
            continue;
        };
        let field = |key: &str| line.split_once(key).map(|(_, rest)| rest);
        let state = field(" State=").and_then(|rest| rest.split(' ').next());
        // A suffix says more of it: `*` does not answer, `~` is powered off, and others.
        let written = state.unwrap_or_default().split('+').take(16);
        let written = written.map(|state| {
            let name = state.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            (name, &state[name.len()..])
        });
        let written: Vec<(&str, &str)> = written.collect();
        let gets_no_jobs = written
            .iter()
            .any(|(name, suffix)| NO_JOBS.contains(name) || suffix.contains(NO_JOBS_SUFFIX));
        let reason = field(" Reason=").unwrap_or_default();
        let node = Node {
            states: written.iter().map(|(name, _)| (*name).to_owned()).collect(),
            gets_no_jobs,
            reason: reason.chars().take(REASON_MAX).collect(),
        };
        nodes.insert(name.to_owned(), node);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_reasons_are_those_of_scontrol() {
        let text = "NodeName=gpu-01 Arch=x86_64 CoresPerSocket=1 State=IDLE+DRAIN ThreadsPerCore=1 MCS_label=N/A \
                    Reason=gtrace plan 7: PCIe failure [root@2026-01-01T00:00:00]\n\
                    NodeName=gpu-02 State=MIXED*+DRAIN Reason=disk [x@y]\n\
                    NodeName=gpu-03 State=ALLOCATED\nnoise\n";
        let nodes = parse(text);
        assert_eq!(nodes.len(), 3);
        let (one, two, three) = (&nodes["gpu-01"], &nodes["gpu-02"], &nodes["gpu-03"]);
        assert_eq!(one.effect(7), Effect::Ours);
        // Not that of plan 70.
        assert_eq!((one.effect(70), one.busy()), (Effect::Theirs, None));
        assert_eq!(two.effect(7), Effect::Theirs);
        assert!(two.busy().is_some() && two.is_out());
        assert_eq!((three.effect(7), three.is_out()), (Effect::Absent, false));
        assert!(three.busy().is_some());
    }

    #[test]
    fn a_node_that_gets_no_jobs_is_out_though_nobody_drains_it() {
        let is_out =
            |state: &str| parse(&format!("NodeName=n State={state} Reason=x"))["n"].is_out();
        for out in [
            "DOWN",
            "IDLE*",
            "IDLE+NOT_RESPONDING",
            "IDLE+COMPLETING+NOT_RESPONDING",
            "ALLOCATED+MAINTENANCE",
            "IDLE$",
            "IDLE+MAINTENANCE+RESERVED",
            "IDLE+REBOOT_ISSUED",
            "IDLE^",
            "UNKNOWN*",
            "IDLE+INVALID_REG",
        ] {
            assert!(is_out(out), "{out}");
        }
        // Power saving starts a node when a job wants it, and a reboot that was asked for waits for the jobs.
        for there in [
            "IDLE",
            "MIXED+PLANNED",
            "ALLOCATED+RESERVED",
            "IDLE~",
            "IDLE+CLOUD+POWERED_DOWN",
            "MIXED+REBOOT_REQUESTED",
        ] {
            assert!(!is_out(there), "{there}");
        }
    }
}
