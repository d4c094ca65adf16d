use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the text says of host faults: memory, scheduler, file systems, NVMe, adapters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostDetail {
    /// Hung task, soft lockup: seconds blocked or stuck.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seconds: Option<u64>,
    /// Soft lockup: the CPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<u32>,
    /// OOM kill: control group of the victim or of the limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cgroup: Option<String>,
    /// OOM kill: `CONSTRAINT_MEMCG` and its like, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub constraint: Option<String>,
    /// OOM kill: total virtual memory of the victim, KiB.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total_vm_kib: Option<u64>,
    /// OOM kill: anonymous resident memory of the victim, KiB.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub anon_rss_kib: Option<u64>,
    /// OOM kill: the victim's adjustment.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub oom_score_adj: Option<i64>,
    /// Segfault: the mapped file, verbatim (`libnccl.so.2.18.1`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub library: Option<String>,
    /// Segfault: instruction pointer, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fault_ip: Option<String>,
    /// Segfault: faulting address, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fault_at: Option<String>,
    /// Block device, network interface or NVMe controller.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device: Option<String>,
    /// mlx5: register id, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub register: Option<String>,
    /// mlx5: syndrome, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub syndrome: Option<String>,
    /// mlx5, NVMe: the command, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// mlx5: power that the slot gives, watts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot_power_w: Option<u64>,
}

fill_fields!(HostDetail {
    seconds,
    cpu,
    cgroup,
    constraint,
    total_vm_kib,
    anon_rss_kib,
    oom_score_adj,
    library,
    fault_ip,
    fault_at,
    device,
    register,
    syndrome,
    command,
    slot_power_w
});
