//! Lanes of the timeline: which part of the host an event shows.

use gtrace_event::{Event, Kind};

use crate::material::CallLayer;

/// A lane, from the bus up to the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Lane {
    Pcie,
    KernelLog,
    Gpu,
    Network,
    DriverCalls,
    CudaCalls,
    Processes,
    RemoteClients,
    Gtrace,
}

impl Lane {
    pub(crate) const ALL: [Self; 9] = [
        Self::Pcie,
        Self::KernelLog,
        Self::Gpu,
        Self::Network,
        Self::DriverCalls,
        Self::CudaCalls,
        Self::Processes,
        Self::RemoteClients,
        Self::Gtrace,
    ];

    /// What people read beside it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Pcie => "PCIe",
            Self::Gpu => "GPU",
            Self::Network => "Network",
            Self::KernelLog => "Kernel log",
            Self::DriverCalls => "Driver calls",
            Self::CudaCalls => "CUDA calls",
            Self::Processes => "Processes",
            Self::RemoteClients => "Remote clients",
            Self::Gtrace => "Monitoring",
        }
    }

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
