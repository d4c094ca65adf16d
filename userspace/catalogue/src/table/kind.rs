//! Every kind of event: what it means before code and detail are looked at.
//!
//! Sources of the facts, said in our own words: for NVIDIA's devices the vendor's driver and
//! NVML documentation; for the rest the kernel's documentation (AER, OOM killer, lockup and hung
//! task watchdogs, ext4/xfs error handling, NVMe) and the mlx5 driver's.

use gtrace_event::Kind;
use gtrace_event::Severity::{Critical, Fatal, Info, Warning};

use crate::entry::Category::{
    Application, Driver, HardwareMemory, Nvlink, Pcie, System, ThermalPower,
};
use crate::entry::KindEntry;
use crate::steps::{EVIDENCE, HOST_EVIDENCE};

macro_rules! kinds {
    ($($kind:ident: $cat:ident, $sev:ident, $meaning:literal, [$($step:expr),+];)*) => {
        pub(crate) const fn kind_entry(kind: Kind) -> &'static KindEntry {
            match kind {
                $(Kind::$kind => &KindEntry {
                    kind: Kind::$kind,
                    meaning: $meaning,
                    category: $cat,
                    severity: $sev,
                    steps: &[$($step),+],
                },)*
            }
        }
    };
}

// Kinds whose severity depends on the detail carry the one that holds when the detail is silent.
kinds! {
    Xid: Driver, Warning,
        "The NVIDIA driver reported an error under a code that this version's catalogue does not have.",
        ["Look the code up in NVIDIA's public Xid catalogue.",
         "Update gtrace, or give the code a rule in the site's policy.",
         "If work was lost, run nvidia-bug-report.sh and open a case with the vendor."];
    Sxid: Nvlink, Warning,
        "The NVSwitch driver reported an error under a code that this version's catalogue does not have.",
        ["Look the code up in NVIDIA's fabric manager guide.",
         "Update gtrace, or give the code a rule in the site's policy.",
         "Read the fabric manager log of the same minute."];
    Aer: Pcie, Warning,
        "PCIe Advanced Error Reporting named a device.",
        ["Find the device and its slot: lspci -s <address> -vv.",
         "Compare link speed and width with the maximum.",
         "If it stays with one slot, reseat the card, then swap riser or cable."];
    GpuLost: Pcie, Fatal,
        "The GPU no longer answers on the bus. It and all its work are lost until the host restarts.",
        [EVIDENCE,
         "Restart the host; a power cycle where a restart does not bring the GPU back.",
         "If it happens again, check seating, power cables and cooling of the card."];
    GpuHang: Driver, Warning,
        "The driver reports that a GPU hangs, without an Xid of its own.",
        ["Look for an Xid of the same GPU at that time, and follow it.",
         EVIDENCE,
         "If calls of its programs do not return, drain the host and reset the GPU.",
         "If it happens again, run nvidia-bug-report.sh and open a case with the vendor."];
    IommuFault: Pcie, Warning,
        "The IOMMU blocked an access of a device to memory: the device or its driver used an address that it must not use.",
        ["See which device it is: lspci -s <address> -k.",
         "With GPUDirect between devices, set the IOMMU to passthrough (iommu=pt) or off, and ACS off, as the vendor advises.",
         "If it stays with one device, update its driver and firmware."];
    DriverInitFailed: Driver, Fatal,
        "The driver could not initialise the GPU. No program can use it.",
        ["Read the lines before it in the kernel log: an Xid or a PCIe error is often the cause.",
         EVIDENCE,
         "Reset the GPU or restart the host.",
         "If it fails again, run nvidia-bug-report.sh and open a case with the vendor."];
    DriverMismatch: Driver, Warning,
        "A program's NVIDIA library and the loaded kernel module are of different versions. The program cannot use the GPU; those already running go on.",
        ["Compare /proc/driver/nvidia/version with the library's version: on the host, or in the container image.",
         EVIDENCE,
         "After an upgrade on the host: stop the GPU programs and reload the module, or restart the host.",
         "In a container: restart it, so that it gets the host's libraries."];
    OomKill: System, Critical,
        "The kernel killed a process for lack of memory: that of the host, of a NUMA node, or the limit of its control group.",
        ["See which of them it was: the line oom-kill:constraint= of the kernel log says so.",
         "Find what filled the memory: the kernel log lists all processes at that moment.",
         "Lower the job's host memory use (loader workers, pinned buffers); raise its limit, or move it, if it needs more."];
    HungTask: System, Warning,
        "A task waits in the kernel and cannot be interrupted. A dead GPU, disk or network file system is the usual cause.",
        ["Read the stack in the kernel log to see what it waits for.",
         EVIDENCE,
         "If it waits in the NVIDIA driver: look for an Xid of the same time; the host needs a restart as a rule.",
         "If it waits for storage: check disk and network file system first."];
    SoftLockup: System, Warning,
        "A CPU ran kernel code for too long without giving other work a chance.",
        ["Read the stack in the kernel log to see which driver it is.",
         "On a virtual machine, check whether the host is overcommitted.",
         HOST_EVIDENCE,
         "Restart the host if it returns."];
    CpuStall: System, Warning,
        "A CPU does not get on in the kernel, where not even interrupts or RCU do.",
        ["Read the stack in the kernel log to see which driver it is.",
         "On a virtual machine, check whether the host is overcommitted or was paused.",
         HOST_EVIDENCE,
         "Restart the host if it returns."];
    CpuThrottle: ThermalPower, Warning,
        "A CPU lowered its clock because it is too hot. Data loading and launches become slower.",
        ["Check fans, airflow and inlet temperature of the host.",
         "Read the sensors: ipmitool sdr type Temperature.",
         "Check heat sink and thermal paste if it stays with one socket."];
    MachineCheck: System, Warning,
        "The CPU or the firmware reported a hardware error of the host.",
        ["Decode it: journalctl -t rasdaemon, or mcelog; the board's log: ipmitool sel elist.",
         "If it stays with one CPU, slot or module, have it replaced.",
         "Update firmware and microcode."];
    DimmError: System, Warning,
        "A memory module of the host had errors.",
        ["See which module it is: the event's dimm, and ipmitool sel elist.",
         "Take the host out of service and have the module replaced if errors go on."];
    KernelPanic: System, Fatal,
        "The kernel stopped the host. All its work is lost.",
        ["Read what came before it: the serial console, /sys/fs/pstore or a crash dump.",
         "Keep the dump for the vendor of the module that the stack names.",
         "Return the host to service only once the cause is known."];
    HostRestart: System, Warning,
        "The boot before this one did not end in order. All work of the host was lost then.",
        ["Read the end of its log: journalctl -b -1 -n 100, and the board's: ipmitool sel elist.",
         "Look for power, temperature and machine checks at that time.",
         "Keep the host out of service if it happens again."];
    KernelOops: System, Critical,
        "Kernel code failed. The task is gone, and what it held stays locked: the kernel cannot be trusted any more.",
        ["Read the stack in the kernel log: it names the module.",
         HOST_EVIDENCE,
         "Drain and restart the host.",
         "Keep the text for the vendor of that module."];
    FileLimit: System, Critical,
        "The host has no file handle left: programs cannot open files or sockets.",
        ["Find who has most: lsof -n, counted by process.",
         "Restart the program that leaks, or raise fs.file-max."];
    NcclSegfault: Application, Warning,
        "A process died of a segmentation fault inside the NCCL library. The whole job usually hangs or fails with it.",
        ["Restart the job; look for an Xid or a network error just before on any of its hosts.",
         "Check that all ranks use the same NCCL version and that it fits driver and network plugin.",
         "Keep the core dump and run with NCCL_DEBUG=INFO."];
    PeermemError: Driver, Warning,
        "nvidia-peermem failed, so the network adapter cannot reach GPU memory directly. Jobs fail or fall back to slower copies.",
        ["Check that nvidia-peermem was built for the loaded driver and network stack.",
         "Reload nvidia-peermem while no GPU program runs."];
    Mlx5SlotPower: ThermalPower, Warning,
        "A network adapter gets less power from its slot than it asked for. It may switch ports off.",
        ["Check the slot's power setting in the firmware and the adapter's auxiliary power cable.",
         "Move the adapter to a slot that gives its full power."];
    Mlx5Overheat: ThermalPower, Critical,
        "A network adapter is too hot. It will switch itself off to protect itself, and jobs lose their network.",
        ["Check fans, airflow and inlet temperature of the host.",
         "Check the optical modules: mlxlink -d <device> -m shows their temperature.",
         "Drain the host if the temperature does not fall."];
    Mlx5AccessReg: System, Warning,
        "The firmware of a network adapter refused a register access. One alone is often a feature that the firmware does not know.",
        ["Compare firmware and driver versions with the vendor's matrix.",
         "If it returns, watch for health errors of the same adapter."];
    Mlx5Health: System, Critical,
        "The driver's health check found a network adapter ill. Its traffic stops, and jobs that use it fail.",
        ["Check whether it recovered: devlink health show.",
         HOST_EVIDENCE,
         "If not, reload the driver or restart the host.",
         "If it returns, update the firmware and open a case with the vendor."];
    Mlx5CmdTimeout: System, Critical,
        "A network adapter's firmware did not answer a command. The adapter is likely stuck.",
        ["Check the adapter's health: devlink health show.",
         HOST_EVIDENCE,
         "Reload the driver or restart the host.",
         "Look for PCIe errors of the same slot."];
    Mlx5PortModule: System, Warning,
        "The module or cable in a port of a network adapter is missing or faulty.",
        ["Read it: mlxlink -d <device> -m shows the module.",
         "Seat it again; clean the fibre; then swap cable or module for one on the vendor's list."];
    NetTimeout: System, Warning,
        "A queue of a network interface stood still, and the driver resets it. Connections stall meanwhile.",
        ["Look for errors of the adapter at that time: PCIe, firmware, link.",
         "Read the interface's counters: ethtool -S <interface>.",
         "If it returns, update driver and firmware of the adapter."];
    EfaError: System, Critical,
        "An Elastic Fabric Adapter does not answer its driver. Jobs that use it fail or fall back to TCP.",
        [HOST_EVIDENCE,
         "Stop and start the instance: that moves it to another host.",
         "If it returns, update the EFA driver and open a case with the cloud provider."];
    NetfsStall: System, Warning,
        "The server of a network file system does not answer. Programs that use it hang until it does.",
        ["Look whether other hosts wait for the same server: then it is the server or the network.",
         "Check the way to it: ping, ss -tn, the switch's port.",
         "Do not kill what waits: it cannot end before the server answers."];
    FsReadonly: System, Critical,
        "A file system was remounted read-only after an error. Checkpoints and logs can no longer be written.",
        ["Check the disk below it: kernel log, smartctl -a.",
         "Move the jobs off, then unmount and repair the file system with fsck.",
         "Restore what cannot be repaired from a backup."];
    NvmeTimeout: System, Warning,
        "An NVMe device did not answer a command in time. The driver aborts it or resets the device; data loading stalls.",
        ["Check the device: smartctl -a, nvme error-log.",
         "Update its firmware; look for PCIe errors of the same slot.",
         "Replace the device if it returns."];
    DiskLost: System, Critical,
        "The kernel gave up a disk or has no path to it. What it stores is out of reach.",
        ["Look whether the device still answers: lspci, nvme list.",
         "Move the jobs off; look for PCIe errors of the same slot.",
         HOST_EVIDENCE,
         "A power cycle of the host can bring it back once; then replace it."];
    RaidDegraded: System, Warning,
        "An array of disks lost one of them.",
        ["Read its state: cat /proc/mdstat, mdadm --detail /dev/<device>.",
         "Replace the disk and add it: mdadm --add; the array rebuilds."];
    IoError: System, Warning,
        "A disk failed a read or a write.",
        ["Check the disk: smartctl -a, nvme error-log.",
         "Look for PCIe errors or timeouts of the same disk.",
         "Replace the disk if it returns."];
    FsError: System, Warning,
        "A file system met an error in its own data, or could not write it.",
        ["Look for errors of the disk below it first.",
         "Move the jobs off, unmount and check it: fsck, xfs_repair or btrfs scrub.",
         "Restore from a checkpoint that was verified."];
    GpuProcessExit: Application, Warning,
        "A process that had a GPU device open ended.",
        ["Read the job's own log.",
         "Look for an Xid or an OOM kill of the same process just before."];
    SlowCall: Driver, Info,
        "A call into the driver took longer than its threshold.",
        ["Look at the latency of the same call in other processes: gtrace profile.",
         "Check what shares the GPU, and whether the GPU throttles."];
    ApiError: Application, Warning,
        "The driver failed a call of a process. ioctl(2) itself may have returned 0.",
        ["Read the process's own log for the CUDA or NVML error that the failure became.",
         "Look for an Xid of the same GPU at that time: the failure is then its consequence."];
    Throttle: ThermalPower, Warning,
        "The GPU lowered its clocks.",
        ["Read the reasons: nvidia-smi -q -d PERFORMANCE.",
         "Check fans, airflow, inlet temperature and power of the host."];
    MemoryGrowth: Application, Warning,
        "A process takes more and more GPU memory and gives none back. If that goes on, its allocations fail, or those of its neighbours.",
        ["See how much is left and how fast it goes: gtrace top --sort memory, the page's view of the GPU.",
         "Ask the owner to write a checkpoint and restart the program before the memory is full.",
         "Find what is allocated and not freed: gtrace trace --pid <pid> --duration 30s -o leak.pftrace."];
    GpuContended: System, Warning,
        "Work on a GPU probably loses time to the work of others: several have the GPU and it is busy all the time, or others take the CPUs that its process needs.",
        ["See who has the GPU and the CPUs: gtrace top, nvidia-smi pmon; the event's detail has the shares.",
         "Place the jobs apart: whole GPUs, and CPUs of their own for each job.",
         "GPUs that are shared on purpose: switch the search off with contention_s = 0."];
    GpuStarved: System, Warning,
        "A process holds a GPU and hardly uses it, as it probably waits for the host: for storage, memory or CPUs. Nothing is broken.",
        ["See what it waits for in the event's detail: io, memory or cpu, and for how much of the time.",
         "io: more data-loader workers, local copies of the data, fewer small files. cpu: more CPUs for the job. memory: a higher limit.",
         "Look at the gaps between its calls: gtrace trace --pid <pid> --duration 30s -o gaps.pftrace."];
    MigLayout: System, Info,
        "MIG mode of the GPU was switched, or it has other instances. Programs find their part by UUID or number, which a new instance may not keep.",
        ["Compare with what was meant: nvidia-smi -L, nvidia-smi mig -lgi, gtrace baseline check.",
         "Restart what still names an instance that is gone: the device plugin of the cluster, jobs with a MIG- UUID that is no longer listed."];
    VgpuLicense: System, Warning,
        "The driver of a vGPU has no licence. The longer that lasts, the more it restricts performance and functions of the vGPU.",
        ["See what the driver says: nvidia-smi -q (vGPU Software Licensed Product); its log: journalctl -u nvidia-gridd.",
         "Check that the guest reaches the license server, its token (/etc/nvidia/ClientConfigToken) and its clock.",
         "See on the server whether licences are left."];
    RecoveryAction: Driver, Critical,
        "The driver asks for a recovery action of the GPU: NVML reads the same advice that an Xid 154 logs when it changes.",
        ["Read it: nvidia-smi -q (GPU Recovery Action); the cause is an Xid of the same GPU before it."];
    Ecc: HardwareMemory, Warning,
        "The ECC counters of the GPU's memory rose.",
        ["Read the counters: nvidia-smi -q -d ECC.",
         "Check row remapping: nvidia-smi -q -d ROW_REMAPPER."];
    RowRemap: HardwareMemory, Warning,
        "The state of the GPU's row remapping changed.",
        ["Read it: nvidia-smi -q -d ROW_REMAPPER.",
         "A pending remap takes effect at the next reset of the GPU."];
    Nvlink: Nvlink, Warning,
        "Error counters of an NVLink rose.",
        ["Read the counters: nvidia-smi nvlink -e.",
         "Compare the two ends of the link; if it stays with one link, check seating and cable."];
    PcieLink: Pcie, Warning,
        "A PCIe link is not what it could be.",
        ["Compare under load: lspci -s <address> -vv, LnkSta with LnkCap.",
         "Check the slot's set-up in the firmware; reseat the card, then swap riser or cable."];
    PcieHotplug: Pcie, Warning,
        "A card came into a PCIe slot or left it, or its link went up or down.",
        ["See what is in the slot: lspci -tv, and the address in /sys/bus/pci/slots/<slot>.",
         "Look for PCIe errors and power faults of the same port just before.",
         "If nobody touched the card: check seating, riser, cables and power."];
    RdmaPort: System, Critical,
        "A port of an RDMA device (InfiniBand or RoCE) changed its state.",
        ["Read it: ibstat, or rdma link show; for the cable and its module: mlxlink -d <device> -m.",
         "Look at the other end: the switch's port, its log and its counters.",
         "If it stays with one port, swap the cable, then the module, then the adapter."];
    RdmaErrors: System, Warning,
        "The error counters of an RDMA port rose faster than they should.",
        ["Read the counters of both ends: perfquery -x, or rdma statistic show.",
         "If it stays with one link, clean or swap the cable, then the module."];
    RdmaLost: System, Critical,
        "An RDMA device that was there is gone. Every connection through it has ended.",
        ["Look for PCIe errors, slot events and mlx5 errors of the same moment in the kernel log.",
         "If it was taken away on purpose, acknowledge the event; gtrace expects it until it is restarted.",
         HOST_EVIDENCE,
         "If not: lspci shows whether the adapter still answers; a power cycle of the host is the next step."];
    BaselineDrift: System, Warning,
        "The host or a GPU is not as its baseline says: a version, a setting, or how many devices there are.",
        ["Compare everything: gtrace baseline check.",
         "If it was changed on purpose, save the new state: gtrace baseline save --force.",
         "If not, set it back: nvidia-smi sets ECC, MIG, persistence mode and power limit; versions need an update."];
    ServiceFailed: System, Warning,
        "A service that GPUs or jobs of the host need has failed, or systemd restarts it again and again.",
        ["Read why: systemctl status <unit>, journalctl -u <unit> -b.",
         "After the cause is gone: systemctl reset-failed <unit>; systemctl start <unit>.",
         "If it came with an update of the driver, the versions of driver and service have to match."];
    SourceLost: System, Warning,
        "gtrace lost one of its sources, or records of one: events of that time may be missing.",
        ["Run gtrace doctor: it names what the source needs.",
         "For a gap in the kernel log, read the saved system log of that minute with gtrace decode."];
    RecordsRemoved: System, Info,
        "Records are no longer in the store of gtrace.",
        ["If they are kept too short a time, raise retention_days or retention_mb.",
         "To keep records for longer, copy them to another host: gtrace events --follow --json."];
    SiteTrigger: System, Warning,
        "A trigger of this site held: a sample beyond its limit, or an event too often.",
        ["Read which one in the message; gtrace samples shows how the value went.",
         "If it fires without need, change it in the file that triggers names."];
    PluginCheck: System, Warning,
        "A check of a plugin of this site changed.",
        ["Read the plugin, the check and its reason in the message.",
         "Run the plugin by hand as root: it prints a line of JSON for each check."];
    Capture: System, Info,
        "Somebody asked for the state of this host to be kept.",
        ["Half a minute later the recording is complete: gtrace report writes it into one file.",
         "Close the incident when it is no longer needed: gtrace incidents resolve."];
}
