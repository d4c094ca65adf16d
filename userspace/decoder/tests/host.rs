//! OOM kills, stalls, NCCL crashes, mlx5, file systems, NVMe.

mod common;

use common::{assert_fields, check, json, live, saved, table, table_of};
use serde_json::{Value, json as j};

#[test]
fn oom_kill_in_one_line() {
    table(
        r#"
Out of memory: Killed process 123 (python3) total-vm:31763532kB, anon-rss:13928044kB, file-rss:12208kB, shmem-rss:0kB, UID:0 pgtables:28092kB oom_score_adj:-17
= oom_kill critical {"process/pid": 123, "process/comm": "python3", "detail/total_vm_kib": 31763532, "detail/anon_rss_kib": 13928044, "detail/oom_score_adj": -17}
Memory cgroup out of memory: Killed process 9 (my, odd (proc)) total-vm:10kB, anon-rss:5kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:4kB oom_score_adj:0
= oom_kill critical {"process/pid": 9, "process/comm": "my, odd (proc)", "detail/total_vm_kib": 10, "detail/anon_rss_kib": 5, "detail/oom_score_adj": 0}
Killed process 123, UID 0, (java) total-vm:5kB, anon-rss:4kB, file-rss:0kB
= oom_kill critical {"process/pid": 123, "process/comm": "java", "detail/total_vm_kib": 5, "detail/anon_rss_kib": 4, "detail/oom_score_adj": null}
Killed process 123 (java), UID 1000, total-vm:5kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB
= oom_kill critical {"process/pid": 123, "process/comm": "java", "detail/total_vm_kib": 5, "detail/anon_rss_kib": 4, "detail/oom_score_adj": null}
Killed process 77 (a b) total-vm:5kB, anon-rss:4kB, file-rss:0kB
= oom_kill critical {"process/pid": 77, "process/comm": "a b", "detail/total_vm_kib": 5, "detail/anon_rss_kib": 4, "detail/oom_score_adj": null}
Out of memory (oom_kill_allocating_task): Killed process 5 (x) total-vm:5kB, anon-rss:4kB
= oom_kill critical {"process/pid": 5, "process/comm": "x", "detail/total_vm_kib": 5, "detail/anon_rss_kib": 4, "detail/oom_score_adj": null}
"#,
    );
}

#[test]
fn oom_kill_with_its_constraint() {
    let killed = "Memory cgroup out of memory: Killed process 2343 (ray::Worker, x) total-vm:10kB, anon-rss:5kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:0";
    let text = format!(
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm/job_1,\
         task_memcg=/slurm/job_1/step,a,task=ray::Worker, x,pid=2343,uid=0\n{killed}"
    );
    let want = [
        ("process/pid", j!(2343)),
        ("process/comm", j!("ray::Worker, x")),
        ("process/cgroup", j!("/slurm/job_1/step,a")),
        ("detail/cgroup", j!("/slurm/job_1/step,a")),
        ("detail/constraint", j!("CONSTRAINT_MEMCG")),
        ("detail/oom_scope", j!("cgroup")),
        ("detail/limit_cgroup", j!("/slurm/job_1")),
        ("detail/total_vm_kib", j!(10)),
        ("lines", j!([1, 2])),
    ];
    check(&text, &want);
    // The last line alone says as much.
    let alone = [
        ("detail/constraint", j!("CONSTRAINT_MEMCG")),
        ("detail/oom_scope", j!("cgroup")),
        ("detail/limit_cgroup", Value::Null),
    ];
    check(killed, &alone);
    // With the report of another kill, and other lines, between.
    let other = text.replace("2343", "99").replace("job_1", "job_2");
    let lines: Vec<&str> = text.lines().collect();
    let others: Vec<&str> = other.lines().collect();
    let mixed = [lines[0], others[0], "Tasks state:", others[1], lines[1]].join("\n");
    let found = live(&mixed);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].message, other);
    assert_eq!(found[1].message, text);
    // The global kind.
    table(
        r#"
oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/user.slice,task=node,pid=5678,uid=1000
Out of memory: Killed process 5678 (node) total-vm:1234567kB, anon-rss:987654kB
= {"detail/cgroup": "/user.slice", "detail/constraint": "CONSTRAINT_NONE", "detail/oom_scope": "host", "detail/limit_cgroup": null, "process/comm": "node"}
"#,
    );
    // Nothing after it: the kill was decided all the same.
    check(
        lines[0],
        &[
            ("process/pid", j!(2343)),
            ("process/comm", j!("ray::Worker, x")),
        ],
    );
}

#[test]
fn oom_kill_of_older_kernels() {
    table(
        r#"
Out of memory: Kill process 123 (na(me)) score 900 or sacrifice child
Killed process 123 (na(me)) total-vm:2345678kB, anon-rss:1234567kB, file-rss:0kB, shmem-rss:0kB
= {"process/pid": 123, "process/comm": "na(me)", "detail/anon_rss_kib": 1234567}
"#,
    );
    // The child is sacrificed.
    table(
        r#"
Out of memory: Kill process 123 (httpd) score 900 or sacrifice child
Killed process 124 (worker) total-vm:1kB, anon-rss:1kB, file-rss:0kB
= {"process/pid": 124, "process/comm": "worker"}
"#,
    );
    // 4.19 to 5.2 write all three.
    table(
        r#"
oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/a,task=node,pid=5678,uid=1000
Out of memory: Kill process 5678 (node) score 500 or sacrifice child
Killed process 5678 (node) total-vm:1234567kB, anon-rss:987654kB, file-rss:0kB, shmem-rss:0kB
= {"process/cgroup": "/a", "detail/total_vm_kib": 1234567}
Memory cgroup out of memory: Kill process 8 (a) score 0 or sacrifice child
= {"process/pid": 8, "process/comm": "a"}
"#,
    );
    let found = live(
        "Task in /docker/abc killed as a result of limit of /docker\n\
         Memory cgroup out of memory: Kill process 8 (a) score 0 or sacrifice child\n\
         Killed process 8 (a) total-vm:1kB, anon-rss:1kB, file-rss:0kB",
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].detail.host.cgroup.as_deref(), Some("/docker/abc"));
}

#[test]
fn hung_tasks() {
    table(
        r#"
INFO: task python3:1234 blocked for more than 122 seconds.
= hung_task warning {"process/comm": "python3", "process/pid": 1234, "detail/seconds": 122}
INFO: task kworker/u64:3:99 blocked for more than 241 seconds.
= hung_task warning {"process/comm": "kworker/u64:3", "process/pid": 99, "detail/seconds": 241}
INFO: task ray::IDLE w x:7 blocked for more than 120 seconds.
= hung_task warning {"process/comm": "ray::IDLE w x", "process/pid": 7, "detail/seconds": 120}
INFO: task fio:7 blocked in I/O wait for more than 120 seconds.
= hung_task warning {"process/comm": "fio", "process/pid": 7, "detail/seconds": 120}
"#,
    );
}

#[test]
fn soft_lockups() {
    table(
        r#"
watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [my:odd]x:1234]
= soft_lockup critical {"detail/cpu": 3, "detail/seconds": 23, "process/comm": "my:odd]x", "process/pid": 1234}
BUG: soft lockup - CPU#3 stuck for 23s! [my:odd]x:1234]
= soft_lockup critical {"detail/cpu": 3, "detail/seconds": 23, "process/comm": "my:odd]x", "process/pid": 1234}
NMI watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [my:odd]x:1234]
= soft_lockup critical {"detail/cpu": 3, "detail/seconds": 23, "process/comm": "my:odd]x", "process/pid": 1234}
"#,
    );
}

#[test]
fn nccl_crashes() {
    table(
        r#"
pt_main_thread[2536443]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]
= nccl_segfault critical {"process/pid": 2536443, "process/comm": "pt_main_thread", "detail/library": "libnccl.so.2", "detail/fault_at": "0x7f797fe00000", "detail/fault_ip": "0x7f7c7ac69996"}
my app[x][7]: segfault at 0 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 6 in libnccl.so.2.18.1[69996,7f7c7ac00000+d3d3000] likely on CPU 10 (core 5, socket 0)
= nccl_segfault critical {"process/pid": 7, "process/comm": "my app[x]", "detail/library": "libnccl.so.2.18.1", "detail/fault_at": "0x0", "detail/fault_ip": "0x7f7c7ac69996"}
python: segfault at 10 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 4 in libnccl.so.2
= nccl_segfault critical {"process/pid": null, "process/comm": "python", "detail/library": "libnccl.so.2", "detail/fault_at": "0x10", "detail/fault_ip": "0x7f7c7ac69996"}
traps: python3[99] general protection fault ip:7f7c7ac69996 sp:7f7c12fd7c30 error:0 in libnccl.so.2[7f7c7ac00000+d3d3000]
= nccl_segfault critical {"process/pid": 99, "process/comm": "python3", "detail/library": "libnccl.so.2", "detail/fault_at": null, "detail/fault_ip": "0x7f7c7ac69996"}
python3[99]: unhandled exception: DABT (lower EL), ESR 0x92000006, level 2 translation fault in libnccl.so.2[ffff8000+d3d3000]
= nccl_segfault critical {"process/pid": 99, "process/comm": "python3", "detail/library": "libnccl.so.2", "detail/fault_at": null, "detail/fault_ip": null}
"#,
    );
}

#[test]
fn mlx5() {
    let of_port = [
        ("gpu/pci", j!("0000:5d:00.1")),
        ("process/pid", j!(268_269)),
    ];
    table_of(
        |text| format!("mlx5_core 0000:5d:00.1: {text}"),
        &of_port,
        r#"
mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).
= mlx5_slot_power {"detail/slot_power_w": 27}
temp_warn:171:(pid 268269): High temperature on sensors with bit set 0 8000000000000001
= mlx5_overheat {"severity": "critical"}
mlx5_cmd_out_err:835:(pid 268269): ACCESS_REG(0x805) op_mod(0x1) failed, status bad parameter(0x3), syndrome (0x0015c356), err(-22)
= mlx5_access_reg {"detail/syndrome": "0x15c356"}
mlx5_cmd_check:792:(pid 268269): ACCESS_REG(0x805) op_mod(0x0) failed, status bad operation(0x2), syndrome (0x15c356)
= mlx5_access_reg {"detail/command": "ACCESS_REG(0x805)"}
print_health_info:431:(pid 268269): Health issue observed, firmware internal error, severity(3) ERROR:
= mlx5_health {"severity": "critical"}
poll_health:471:(pid 268269): device's health compromised - reached miss count
= mlx5_health {"severity": "critical"}
mlx5_health_try_recover:381:(pid 268269): health recovery flow aborted, PCI reads still not working
= mlx5_health {"severity": "critical"}
mlx5_health_try_recover:391:(pid 268269): health recovery succeeded
= mlx5_health {"severity": "info"}
wait_func:1195:(pid 268269): CREATE_MKEY(0x200) timeout. Will cause a leak of a command resource
= mlx5_cmd_timeout {"detail/command": "CREATE_MKEY(0x200)"}
cb_timeout_handler:880:(pid 268269): cmd[3]: 2ERR_QP(0x507) Async, timeout. Will cause a leak of a command resource
= mlx5_cmd_timeout {"detail/command": "2ERR_QP(0x507)"}
"#,
    );
    table(
        r#"
mlx5_core 0000:5d:00.0 ens3f0np0: mlx5_pcie_event:299:(pid 0): Detected insufficient power on the PCIe slot (27W).
= mlx5_slot_power {"process": null}
"#,
    );
}

#[test]
fn file_systems() {
    table(
        r#"
EXT4-fs (nvme0n1p1): Remounting filesystem read-only
= fs_readonly critical {"detail/device": "nvme0n1p1"}
EXT3-fs (sda1): error: remounting filesystem read-only
= fs_readonly critical {"detail/device": "sda1"}
FAT-fs (sdb1): Filesystem has been set read-only
= fs_readonly critical {"detail/device": "sdb1"}
XFS (dm-0): Corruption of in-memory data (0x8) detected at xfs_defer_finish+0x5/0x9 (fs/xfs/libxfs/xfs_defer.c:573).  Shutting down filesystem.
= fs_readonly critical {"detail/device": "dm-0"}
XFS (nvme1n1): Filesystem has been shut down due to log error (0x2).
= fs_readonly critical {"detail/device": "nvme1n1"}
BTRFS info (device sda1): forced readonly
= fs_readonly critical {"detail/device": "sda1"}
BTRFS info (device sda1 state EA): forced readonly
= fs_readonly critical {"detail/device": "sda1"}
"#,
    );
}

#[test]
fn nvme_timeouts() {
    table(
        r#"
nvme nvme0: I/O 123 QID 4 timeout, aborting
= nvme_timeout warning {"detail/device": "nvme0", "detail/command": null}
nvme nvme12: I/O 0 QID 0 timeout, reset controller
= nvme_timeout warning {"detail/device": "nvme12", "detail/command": null}
nvme nvme0: I/O 24 (I/O Cmd) QID 2 timeout, aborting
= nvme_timeout warning {"detail/device": "nvme0", "detail/command": null}
nvme nvme0: I/O tag 123 (1000) opcode 0x2 (I/O Cmd) QID 4 timeout, aborting req_op:READ(0) size:4096
= nvme_timeout warning {"detail/device": "nvme0", "detail/command": "opcode 0x2 (I/O Cmd)"}
nvme nvme3: queue 1: timeout cid 0x5 type 4 opcode 0x2 (Read)
= nvme_timeout warning {"detail/device": "nvme3", "detail/command": "opcode 0x2 (Read)"}
"#,
    );
    let found = saved(
        "4,1,5,-;nvme nvme0: I/O 123 QID 4 timeout, aborting\n SUBSYSTEM=nvme\n DEVICE=+pci:0000:e1:00.0\n",
    );
    assert_fields(
        "dictionary",
        &json(&found[0]),
        &[("gpu/pci", j!("0000:e1:00.0")), ("lines", j!([1, 3]))],
    );
}
