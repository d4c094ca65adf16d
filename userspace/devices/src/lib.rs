//! What a host shows of its GPUs and their network besides the kernel log: PCI and RDMA devices in
//! sysfs, /proc/driver/nvidia, and NVML, which runs in a child process because a dead GPU can hang it in the kernel; and of
//! itself: memory, disks, tasks, clock, services.
//!
//! Nothing here prints or logs: readings are types, findings are [`gtrace_event::Occurrence`]s.
//! A daemon keeps one [`NvmlClient`] and one [`Devices`], and every few seconds gives the
//! snapshot of the first to the second:
//!
//! ```no_run
//! use gtrace_devices::{Devices, NvmlClient, NvmlConfig, ProcRoot, SysRoot, metrics};
//!
//! # fn main() -> std::io::Result<()> {
//! let nvml = NvmlClient::new(NvmlConfig::this_program())?;
//! let mut devices = Devices::new(SysRoot::default(), ProcRoot::default());
//! let report = devices.poll(nvml.sample().ok());
//! for event in &report.events {
//!     println!("{} {} x{}", event.witness, event.occurrence.message, event.count);
//! }
//! println!("{} readings", metrics(&report.gpus).len());
//! # Ok(())
//! # }
//! ```

mod baseline;
mod clock_event;
mod devices;
mod fabric;
mod host;
mod info;
mod metric;
mod nvlink;
mod nvml;
mod observed;
mod pci;
mod procfs;
mod rdma;
mod reads;
mod sample;
mod sysfs;
mod watch;

pub use baseline::{
    Baseline, BaselineFacts, Comparison, Difference, Expected, GpuBaseline, HostBaseline, Setting,
};
pub use clock_event::ClockEventReasons;
pub use devices::{DeviceReport, Devices};
pub use fabric::{Fabric, FabricState};
pub use host::{
    ClockReading, HostNews, HostOutcome, HostReading, HostRoots, HostState, HostThresholds,
    HostWatch, PARTS, PartInfo, RUNS_AGAIN, Unread, answer, probe_program, service_runs,
};
pub use info::{GpuInfo, PciId, PcieLink, PresentIn};
pub use metric::{Metric, MetricKind, metrics};
pub use nvlink::{C2cLinkSample, NvLinkSample};
pub use nvml::{
    NvmlClient, NvmlConfig, NvmlError, NvmlGpu, NvmlSnapshot, NvmlState, NvmlStatus, Readings,
    UnreadableGpu, child_main,
};
pub use observed::Observed;
pub use pci::{
    AerCounters, AerReport, AerSeverity, PciClass, PciDevice, PciReport, PciTree, PciWatch,
    Relation, inventory,
};
pub use procfs::{DriverVersion, ProcGpu, ProcGpus, proc_gpus};
pub use rdma::{
    CounterClass, PORT_COUNTERS, PortCounter, RdmaExpected, RdmaHealth, RdmaPort, RdmaReport,
    RdmaState, RdmaWatch,
};
pub use sample::{
    Activity, Bar1, Clocks, EccCounts, EccErrors, GpuBoard, GpuMemory, GpuProcess, GpuSample,
    LicenseTerm, MigInstance, MigMode, Power, ProcessType, RecoveryAction, RemappedRows, Repair,
    RetiredPages, SpareRows, SramEcc, SramErrors, SramSources, Temperature, Utilization,
    VgpuLicense, Violations,
};
pub use sysfs::{ProcRoot, SysRoot, read_pseudo_file};
pub use watch::SampleWatch;

/// Parsers that take text from outside, for tests with random bytes.
#[doc(hidden)]
pub mod parsers {
    pub use crate::nvml::parse_response;
    pub use crate::pci::{parse_aer, parse_speed};
    pub use crate::rdma::{parse_rate, parse_state};
}
