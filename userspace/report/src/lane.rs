//! Lanes of the timeline: which part of the host an event shows.

use gtrace_event::{Event, Kind};

use crate::material::CallLayer;

gtrace_event::shown_enum! {
    /// A lane, from the bus up to the programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum Lane {
        Pcie = "PCIe",
        KernelLog = "Kernel log",
        Gpu = "GPU",
        Network = "Network",
        DriverCalls = "Driver calls",
        CudaCalls = "CUDA calls",
        Processes = "Processes",
        RemoteClients = "Remote clients",
        Gtrace = "Monitoring",
    }
}

impl Lane {
    /// The lane of an event.
    pub(crate) fn of(event: &Event) -> Self {
        match event.kind {
            Kind::Aer | Kind::IommuFault | Kind::PcieLink | Kind::PcieHotplug => Self::Pcie,
            Kind::Xid
            | Kind::Sxid
            | Kind::GpuLost
            | Kind::GpuHang
            | Kind::DriverInitFailed
            | Kind::DriverMismatch
            | Kind::Throttle
            | Kind::Ecc
            | Kind::RowRemap
            | Kind::Nvlink
            | Kind::MigLayout
            | Kind::VgpuLicense
            | Kind::RecoveryAction => Self::Gpu,
            Kind::RdmaPort
            | Kind::RdmaErrors
            | Kind::RdmaLost
            | Kind::PeermemError
            | Kind::Mlx5SlotPower
            | Kind::Mlx5Overheat
            | Kind::Mlx5AccessReg
            | Kind::Mlx5Health
            | Kind::Mlx5CmdTimeout
            | Kind::Mlx5PortModule
            | Kind::NetTimeout
            | Kind::EfaError => Self::Network,
            Kind::HungTask
            | Kind::SoftLockup
            | Kind::CpuStall
            | Kind::CpuThrottle
            | Kind::MachineCheck
            | Kind::DimmError
            | Kind::KernelPanic
            | Kind::HostRestart
            | Kind::BaselineDrift
            | Kind::KernelOops
            | Kind::FileLimit
            | Kind::ServiceFailed
            | Kind::NetfsStall
            | Kind::FsReadonly
            | Kind::NvmeTimeout
            | Kind::DiskLost
            | Kind::RaidDegraded
            | Kind::IoError
            | Kind::FsError => Self::KernelLog,
            Kind::SlowCall | Kind::ApiError => Self::DriverCalls,
            Kind::OomKill
            | Kind::GpuProcessExit
            | Kind::NcclSegfault
            | Kind::MemoryGrowth
            | Kind::GpuContended
            | Kind::GpuStarved => Self::Processes,
            Kind::SourceLost
            | Kind::RecordsRemoved
            | Kind::SiteTrigger
            | Kind::PluginCheck
            | Kind::Capture => Self::Gtrace,
        }
    }

    /// Whether it is shown where nothing happened on it.
    pub(crate) const fn is_usual(self) -> bool {
        !matches!(self, Self::Network | Self::Gtrace)
    }

    pub(crate) const fn of_calls(layer: CallLayer) -> Self {
        match layer {
            CallLayer::Driver => Self::DriverCalls,
            CallLayer::Cuda => Self::CudaCalls,
            CallLayer::Remote => Self::RemoteClients,
        }
    }
}
