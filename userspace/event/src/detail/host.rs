section! {
    /// What the text says of host faults: memory, scheduler, file systems, NVMe, adapters.
    HostDetail {
        /// Hung task, soft lockup, stall of a CPU or a queue: seconds blocked or stuck.
        seconds: Option<u64>,
        /// Soft lockup, stall, machine check, heat: the CPU.
        cpu: Option<u32>,
        /// OOM kill: which memory ran out: `cgroup` (the limit of a control group), `numa` (the nodes that the victim was
        /// confined to) or `host`.
        oom_scope: Option<String>,
        /// OOM kill: the control group whose limit was reached.
        limit_cgroup: Option<String>,
        /// OOM kill: control group of the victim or of the limit.
        cgroup: Option<String>,
        /// OOM kill: `CONSTRAINT_MEMCG` and its like, verbatim.
        constraint: Option<String>,
        /// OOM kill: total virtual memory of the victim, KiB.
        total_vm_kib: Option<u64>,
        /// OOM kill: anonymous resident memory of the victim, KiB.
        anon_rss_kib: Option<u64>,
        /// OOM kill: the victim's adjustment.
        oom_score_adj: Option<i64>,
        /// Segfault: the mapped file, verbatim (`libnccl.so.2.18.1`).
        library: Option<String>,
        /// Segfault: instruction pointer, hex.
        fault_ip: Option<String>,
        /// Segfault, IOMMU fault, failed page of memory: the address, hex.
        fault_at: Option<String>,
        /// Block device, network interface or NVMe controller.
        device: Option<String>,
        /// mlx5: register id, hex.
        register: Option<String>,
        /// mlx5: syndrome, hex.
        syndrome: Option<String>,
        /// mlx5, EFA, NVMe: the command, verbatim.
        command: Option<String>,
        /// mlx5: power that the slot gives, watts.
        slot_power_w: Option<u64>,
        /// What is wrong, in the words of the kernel or the driver.
        error: Option<String>,
        /// Machine check, memory error: whether the hardware corrected it.
        corrected: Option<bool>,
        /// Memory error: how many the line reports.
        error_count: Option<u64>,
        /// Memory error: the module as the EDAC driver names it.
        dimm: Option<String>,
        /// Machine check: the bank that reports.
        mce_bank: Option<u32>,
        /// Machine check: the bank's status register, hex.
        mce_status: Option<String>,
        /// mlx5: number of the port's module.
        port_module: Option<u32>,
        /// Network interface: the queue that stands still.
        queue: Option<u32>,
        /// Restart of the host: the boot that ended.
        previous_boot_id: Option<String>,
        /// Network file system: the server.
        server: Option<String>,
        /// Service: its unit, without `.service`.
        unit: Option<String>,
        /// Service: how it ended, in systemd's word (`exit-code`, `signal`, `oom-kill`, `start-limit-hit`).
        result: Option<String>,
        /// Service: how often systemd has restarted it within ten minutes.
        restarts: Option<u64>,
    }
}
