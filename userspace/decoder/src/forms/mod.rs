//! One file a family of log lines.

pub(crate) mod aer;
pub(crate) mod aer_line;
pub(crate) mod block;
pub(crate) mod containment;
pub(crate) mod cpu_heat;
pub(crate) mod efa;
pub(crate) mod filesystem;
pub(crate) mod hotplug;
pub(crate) mod iommu;
pub(crate) mod kernel;
pub(crate) mod link_status;
pub(crate) mod machine_check;
pub(crate) mod mlx5;
pub(crate) mod nccl;
pub(crate) mod netfs;
pub(crate) mod network;
pub(crate) mod nvidia_device;
pub(crate) mod nvlink5;
pub(crate) mod nvme;
pub(crate) mod nvrm;
pub(crate) mod oom;
pub(crate) mod peermem;
pub(crate) mod stall;
pub(crate) mod sxid;
pub(crate) mod xid;
pub(crate) mod xid_process;
