use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the text says of host faults: memory, scheduler, file systems, NVMe, adapters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostDetail {
    /// Hung task, soft lockup, stall of a CPU or a queue: seconds blocked or stuck.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seconds: Option<u64>,
    /// Soft lockup, stall, machine check, heat: the CPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<u32>,
    /// OOM kill: which memory ran out: `cgroup` (the limit of a control group), `numa` (the nodes that the victim was
    /// confined to) or `host`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub oom_scope: Option<String>,
    /// OOM kill: the control group whose limit was reached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit_cgroup: Option<String>,
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
    /// Segfault, IOMMU fault, failed page of memory: the address, hex.
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
    /// mlx5, EFA, NVMe: the command, verbatim.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// mlx5: power that the slot gives, watts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slot_power_w: Option<u64>,
    /// What is wrong, in the words of the kernel or the driver.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Machine check, memory error: whether the hardware corrected it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corrected: Option<bool>,
    /// Memory error: how many the line reports.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_count: Option<u64>,
    /// Memory error: the module as the EDAC driver names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dimm: Option<String>,
    /// Machine check: the bank that reports.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mce_bank: Option<u32>,
    /// Machine check: the bank's status register, hex.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mce_status: Option<String>,
    /// mlx5: number of the port's module.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub port_module: Option<u32>,
    /// Network interface: the queue that stands still.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<u32>,
    /// Restart of the host: the boot that ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub previous_boot_id: Option<String>,
    /// Network file system: the server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server: Option<String>,
    /// Service: its unit, without `.service`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unit: Option<String>,
    /// Service: how it ended, in systemd's word (`exit-code`, `signal`, `oom-kill`, `start-limit-hit`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<String>,
    /// Service: how often systemd has restarted it within ten minutes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub restarts: Option<u64>,
}

fill_fields!(HostDetail {
    seconds,
    cpu,
    oom_scope,
    limit_cgroup,
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
    slot_power_w,
    error,
    corrected,
    error_count,
    dimm,
    mce_bank,
    mce_status,
    port_module,
    queue,
    previous_boot_id,
    server,
    unit,
    result,
    restarts
});
