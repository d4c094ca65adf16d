//! What is attached to the driver's modules, and the programs in C.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;

use aya::Ebpf;
use aya::maps::MapData;
use aya::programs::kprobe::KProbeLinkId;
use aya::programs::trace_point::TracePointLinkId;
use libbpf_rs::{Object, ObjectBuilder};

use super::objects::core_object;
use super::programs::{DriverModule, REPORT_ERROR};
use super::stats::{RunStats, run_stats_of};

/// What is attached to the driver.
#[derive(Debug)]
pub(super) struct DriverLinks {
    pub(super) kprobes: BTreeMap<DriverModule, Vec<(&'static str, KProbeLinkId)>>,
    /// The loaded object in C, or why it is not.
    pub(super) core: Result<Object, String>,
    pub(super) report_error: Option<libbpf_rs::Link>,
    pub(super) dev_xid: Option<TracePointLinkId>,
    /// Whether the syscall's tracepoints are not needed.
    pub(super) replaces_syscalls: bool,
}

impl DriverLinks {
    /// Loads the programs in C, which write to the rings and counters of the others.
    pub(super) fn load(ebpf: &Ebpf) -> Self {
        let core = load_core(ebpf);
        if let Err(reason) = &core {
            tracing::warn!("the probe on nv_report_error cannot be loaded: {reason}");
        }
        Self {
            kprobes: BTreeMap::new(),
            core,
            report_error: None,
            dev_xid: None,
            replaces_syscalls: false,
        }
    }

    pub(super) fn core_run_stats(&self) -> Option<(&'static str, RunStats)> {
        let core = self.core.as_ref().ok()?;
        let program = core.progs().find(|p| p.name() == REPORT_ERROR)?;
        Some((REPORT_ERROR, run_stats_of(program.as_fd())?))
    }
}

fn load_core(ebpf: &Ebpf) -> Result<Object, String> {
    libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Debug, |_, line| {
        tracing::debug!("libbpf: {}", line.trim_end());
    })));
    let mut open = ObjectBuilder::default()
        .open_memory(&core_object())
        .map_err(|e| format!("{e:#}"))?;
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if let Some(shared) = ebpf.map(&name) {
            let shared: &MapData = match shared {
                aya::maps::Map::RingBuf(data) | aya::maps::Map::PerCpuArray(data) => data,
                _ => return Err(format!("map {name} is of another type")),
            };
            map.reuse_fd(shared.fd().as_fd())
                .map_err(|e| format!("map {name} cannot be shared: {e:#}"))?;
        }
    }
    open.load().map_err(|e| format!("{e:#}"))
}
