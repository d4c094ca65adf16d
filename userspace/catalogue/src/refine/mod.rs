//! From an occurrence and its decoded detail to meaning, severity, steps and rule.

mod aer;
mod api;
mod host;
mod hotplug;
mod kernel_log;
mod rdma;
mod sample;
mod sxid;
mod xid;

use gtrace_event::{Kind, Occurrence, Severity};

use crate::entry::KindEntry;
use crate::steps::{EVIDENCE, SUPPORT_NOW};
use crate::table;

/// What the catalogue says of one occurrence, before the site's policy.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) severity: Severity,
    pub(crate) meaning: String,
    pub(crate) vendor: Vec<String>,
    pub(crate) rule: String,
}

impl Verdict {
    fn new(severity: Severity, meaning: &str, vendor: &[&str], rule: impl Into<String>) -> Self {
        Self {
            severity,
            meaning: meaning.to_owned(),
            vendor: vendor.iter().map(|s| (*s).to_owned()).collect(),
            rule: rule.into(),
        }
    }

    fn of_kind(entry: &KindEntry) -> Self {
        Self::new(
            entry.severity,
            entry.meaning,
            entry.steps,
            entry.kind.name(),
        )
    }

    /// The detail decided: `part` names the branch in the rule.
    fn refined(mut self, part: &str, severity: Severity) -> Self {
        self.rule.push(':');
        self.rule.push_str(part);
        self.severity = severity;
        self
    }

    /// Adds a sentence to the meaning.
    fn and(mut self, sentence: &str) -> Self {
        self.meaning.push(' ');
        self.meaning.push_str(sentence);
        self
    }

    /// Replaces the meaning.
    fn meaning(mut self, sentence: &str) -> Self {
        sentence.clone_into(&mut self.meaning);
        self
    }

    /// Puts `step`, which destroys the state of the GPU, before all others, and what keeps its evidence before it.
    fn after_evidence(mut self, step: &'static str) -> Self {
        let again = [EVIDENCE, SUPPORT_NOW, step];
        self.vendor.retain(|known| !again.contains(&known.as_str()));
        self.vendor.insert(0, step.to_owned());
        self.first(EVIDENCE)
    }

    /// Puts a step before all others.
    fn first(mut self, step: &str) -> Self {
        self.vendor.insert(0, step.to_owned());
        self
    }

    /// Replaces the steps.
    fn steps(mut self, steps: &[&str]) -> Self {
        self.vendor = steps.iter().map(|s| (*s).to_owned()).collect();
        self
    }
}

/// The catalogue's verdict on `occ`.
pub(crate) fn verdict(occ: &Occurrence) -> Verdict {
    let base = Verdict::of_kind(table::kind(occ.kind));
    match occ.kind {
        Kind::Xid => xid::verdict(occ, base),
        Kind::RecoveryAction => xid::recovery(&occ.detail.xid, base),
        Kind::Sxid => sxid::verdict(occ, base),
        Kind::Aer => aer::verdict(occ, base),
        Kind::OomKill => host::oom_kill(occ, base),
        Kind::HungTask => host::hung_task(occ, base),
        Kind::SoftLockup => host::soft_lockup(occ, base),
        Kind::NvmeTimeout => host::nvme_timeout(occ, base),
        Kind::GpuHang => kernel_log::gpu_hang(occ, base),
        Kind::IommuFault => kernel_log::iommu_fault(occ, base),
        Kind::CpuStall => kernel_log::cpu_stall(occ, base),
        Kind::MachineCheck => kernel_log::machine_check(occ, base),
        Kind::DimmError => kernel_log::dimm_error(occ, base),
        Kind::EfaError => kernel_log::efa_error(occ, base),
        Kind::NetfsStall => kernel_log::netfs_stall(occ, base),
        Kind::DiskLost => kernel_log::disk_lost(occ, base),
        Kind::RaidDegraded => kernel_log::raid_degraded(occ, base),
        Kind::IoError => kernel_log::io_error(occ, base),
        Kind::HostRestart => kernel_log::host_restart(occ, base),
        Kind::FsError => kernel_log::fs_error(occ, base),
        Kind::GpuProcessExit => host::process_exit(occ, base),
        Kind::SlowCall => host::slow_call(occ, base),
        Kind::ApiError => api::failed_call(occ, base),
        Kind::DriverMismatch => host::driver_mismatch(occ, base),
        Kind::SourceLost => host::source_lost(occ, base),
        Kind::RecordsRemoved => host::records_removed(occ, base),
        Kind::Throttle => sample::throttle(occ, base),
        Kind::Ecc => sample::ecc(occ, base),
        Kind::RowRemap => sample::row_remap(occ, base),
        Kind::Nvlink => sample::nvlink(occ, base),
        Kind::PcieLink => sample::pcie_link(occ, base),
        Kind::PcieHotplug => hotplug::verdict(occ, base),
        Kind::ServiceFailed => host::service_failed(occ, base),
        Kind::RdmaPort => rdma::port(occ, base),
        Kind::RdmaErrors => rdma::errors(occ, base),
        Kind::VgpuLicense if occ.severity == Severity::Info => {
            base.refined("ok", Severity::Info).and("It has one again.")
        }
        // The site says how bad it is.
        Kind::BaselineDrift if occ.severity >= Severity::Critical => base
            .refined("missing", Severity::Critical)
            .and("Devices or links that should be there are not."),
        Kind::SiteTrigger | Kind::PluginCheck => base.refined(occ.severity.name(), occ.severity),
        Kind::GpuLost
        | Kind::Capture
        | Kind::RdmaLost
        | Kind::DriverInitFailed
        | Kind::NcclSegfault
        | Kind::PeermemError
        | Kind::Mlx5SlotPower
        | Kind::Mlx5Overheat
        | Kind::Mlx5AccessReg
        | Kind::Mlx5Health
        | Kind::Mlx5CmdTimeout
        | Kind::Mlx5PortModule
        | Kind::NetTimeout
        | Kind::CpuThrottle
        | Kind::MemoryGrowth
        | Kind::GpuContended
        | Kind::GpuStarved
        | Kind::MigLayout
        | Kind::VgpuLicense
        | Kind::KernelPanic
        | Kind::KernelOops
        | Kind::FileLimit
        | Kind::BaselineDrift
        | Kind::FsReadonly => base,
    }
}
