//! One file a family of log lines.

pub(crate) mod aer;
pub(crate) mod aer_line;
pub(crate) mod containment;
pub(crate) mod filesystem;
pub(crate) mod hotplug;
pub(crate) mod link_status;
pub(crate) mod mlx5;
pub(crate) mod nccl;
pub(crate) mod nvlink5;
pub(crate) mod nvme;
pub(crate) mod nvrm;
pub(crate) mod oom;
pub(crate) mod peermem;
pub(crate) mod stall;
pub(crate) mod sxid;
pub(crate) mod xid;
pub(crate) mod xid_process;
