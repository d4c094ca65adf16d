//! `gtrace runbook`: the steps for a class of failure, a kind of event, or an incident.

use std::process::ExitCode;

use gtrace_catalogue::Catalogue;
use gtrace_event::{FailureClass, Kind};

use super::explain::{Explanation, Subject};
use super::ids::Failure;
use super::incidents;
use super::shared::{self, Exit, StorePlace};

/// Print the steps for a class of failure (such as pcie), a kind of event (such as xid), a code (xid 79) or an incident.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A class, a kind, a code (`xid 79`, `xid:79`, `79`), or the id of an incident; without it the classes are listed.
    #[arg(num_args = 0..=2)]
    subject: Vec<String>,
    /// Where daemon and store are, for an incident.
    #[command(flatten)]
    place: StorePlace,
}

macro_rules! pages {
    ($folder:literal: $($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../docs/", $folder, "/", $name, ".md")))),*]
    };
}

const CLASSES: &[(&str, &str)] = &pages!("runbooks":
    "gpu_oom" "thermal" "driver_crash" "pcie" "noisy_neighbour" "memory_leak" "library_mismatch" "starvation"
    "gpu_memory" "nvlink" "network" "application" "host" "monitoring" "unknown");

const KINDS: &[(&str, &str)] = &pages!("events":
    "xid" "sxid" "aer" "gpu_lost" "driver_init_failed" "driver_mismatch" "oom_kill" "hung_task" "soft_lockup"
    "nccl_segfault" "peermem_error" "mlx5_slot_power" "mlx5_overheat" "mlx5_access_reg" "mlx5_health"
    "mlx5_cmd_timeout" "fs_readonly" "nvme_timeout" "gpu_process_exit" "slow_call" "api_error" "throttle" "ecc"
    "gpu_hang" "iommu_fault" "cpu_stall" "cpu_throttle" "machine_check" "dimm_error" "kernel_panic" "kernel_oops"
    "file_limit" "mlx5_port_module" "net_timeout" "efa_error" "netfs_stall" "disk_lost" "raid_degraded" "io_error"
    "fs_error" "host_restart" "memory_growth" "baseline_drift"
    "row_remap" "nvlink" "pcie_link" "pcie_hotplug" "rdma_port" "rdma_errors" "rdma_lost" "source_lost"
    "records_removed" "site_trigger" "plugin_check" "capture");

fn page(pages: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    pages
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The page of that name. Where a word is both, as `nvlink`, the steps of the class say more.
pub(super) fn known(name: &str) -> Option<&'static str> {
    page(CLASSES, name).or_else(|| page(KINDS, name))
}

/// Runs the command.
///
/// # Errors
///
/// What standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(subject) = args.subject.first() else {
        let lines = FailureClass::ALL
            .iter()
            .map(|class| format!("{:<17} {}\n", class.name(), class.title()));
        shared::print(&lines.collect::<String>())?;
        return Ok(Exit::Success.into());
    };
    if let Some(code @ (Subject::Xid(_) | Subject::Sxid(_))) = Subject::parse(&args.subject) {
        return of_code(code);
    }
    if args.subject.len() > 1 {
        say!(
            "`{}` is no code; give `xid CODE` or `sxid CODE`",
            args.subject.join(" ")
        );
        return Ok(Exit::Usage.into());
    }
    let found = match known(subject) {
        Some(text) => Ok(text),
        None => of_incident(subject, &args),
    };
    Ok(match found {
        Ok(text) => {
            shared::print(text)?;
            Exit::Success.into()
        }
        Err(Failure(exit, why)) => {
            shared::say(&why);
            exit.into()
        }
    })
}

/// What the code means, and the steps for the class of its incidents.
fn of_code(code: Subject) -> anyhow::Result<ExitCode> {
    let explanation = Explanation::of(code, &Catalogue::builtin())?;
    let steps = page(CLASSES, explanation.class.name()).unwrap_or_default();
    shared::print(&format!("{}\n{steps}", explanation.text()))?;
    Ok(match explanation.known {
        true => Exit::Success.into(),
        false => Exit::Problem.into(),
    })
}

fn of_incident(subject: &str, args: &Args) -> Result<&'static str, Failure> {
    // A word in small letters was meant as a name.
    let is_word = |c: char| c.is_ascii_lowercase() || c == '_';
    if subject.chars().all(is_word) {
        let classes: Vec<_> = FailureClass::ALL.iter().map(|class| class.name()).collect();
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let why = format!(
            "there is no runbook `{subject}`; classes: {}; kinds of events: {}",
            classes.join(", "),
            kinds.join(", ")
        );
        return Err(Failure(Exit::Usage, why));
    }
    let instance = args.place.resolve().map_err(Failure::not_possible)?;
    let incident = incidents::lookup(subject, &instance)?;
    page(CLASSES, incident.class.name())
        .ok_or_else(|| Failure::not_possible(format!("class {} has no runbook", incident.class)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_and_every_kind_has_a_page() {
        for class in FailureClass::ALL {
            let text = page(CLASSES, class.name()).unwrap_or_else(|| panic!("{class}"));
            assert!(text.starts_with("# "), "{class}");
        }
        for kind in Kind::ALL {
            assert!(page(KINDS, kind.name()).is_some(), "{kind}");
        }
    }
}
