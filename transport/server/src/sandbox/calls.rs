//! The system calls of a worker, by seccomp.
//!
//! The driver is closed and differs from version to version, so a list of what it may call would break with each. This is
//! the list of what no driver needs and what would lead somebody out of a worker. A refused call answers EPERM. Calls that
//! are newer than this list answer ENOSYS, as on an older kernel, so that nothing new is open by itself; and so does
//! clone3(2), whose flags a filter cannot see: the C library falls back to clone(2). connect(2) answers ENOENT: a driver
//! that asks for NVIDIA's Multi-Process Service finds none.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::{Confinement, Layer};

/// The newest system call that was looked at: mseal(2) of Linux 6.10. Since 424 all architectures number them alike.
const NEWEST: u32 = 462;
/// clone3(2).
const CLONE3: u32 = 435;

/// Calls that are refused whatever their arguments, by what they would be used for.
const REFUSED: &[i64] = &[
    // Into another process.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_tkill,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Another program.
    libc::SYS_execve,
    libc::SYS_execveat,
    // Another view of the host.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_nfsservctl,
    libc::SYS_lookup_dcookie,
    // Other keys, users and capabilities.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_setgroups,
    libc::SYS_capset,
    // Sockets past this filter, or of others.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Memory and queues that workers would share.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Device files.
    libc::SYS_mknodat,
];

// The list was checked for these alone: the numbers of system calls, and how many bits of their arguments count. On another
// architecture workers would run without a filter and nobody would know.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("gtrace serve has a list of system calls for x86-64 and arm64 only");

/// The same of this architecture alone.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[i64] = &[
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_mknod,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
    libc::SYS_ustat,
    libc::SYS_sysfs,
    libc::SYS__sysctl,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[i64] = &[];

/// prctl(2): be killed with the supervisor, be traced, move what the kernel takes for the program.
const PRCTL: &[libc::c_int] = &[
    libc::PR_SET_PDEATHSIG,
    libc::PR_SET_DUMPABLE,
    libc::PR_SET_MM,
    libc::PR_SET_PTRACER,
];

/// ioctl(2) of a terminal: put characters into the input of who started the server.
const IOCTL: &[u64] = &[0x5412, 0x541c];

/// ioprio_set(2): a process, not a group or a user (linux/ioprio.h).
const IOPRIO_WHO_PROCESS: u64 = 1;

/// Netlink of RDMA, by which its library finds devices (linux/netlink.h).
const NETLINK_RDMA: u64 = 20;

fn condition(
    argument: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that are refused with some arguments.
fn rules(confinement: &Confinement, own: u64) -> Result<Rules, seccompiler::BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let mut rules = Rules::new();
    for call in REFUSED.iter().chain(REFUSED_HERE) {
        rules.insert(*call, Vec::new());
    }
    let mut refuse = |call: i64, conditions: Vec<SeccompCondition>| {
        let rule = SeccompRule::new(conditions)?;
        rules.entry(call).or_default().push(rule);
        Ok(())
    };
    // Sockets: of this host, and such as have to be connected, which is refused below. NVIDIA's driver makes some of
    // SOCK_SEQPACKET at its start, and fails without them.
    let unix = libc::AF_UNIX as u64;
    match confinement.rdma {
        false => refuse(libc::SYS_socket, vec![condition(0, Ne, unix)?])?,
        true => {
            let netlink = libc::AF_NETLINK as u64;
            let neither = vec![condition(0, Ne, unix)?, condition(0, Ne, netlink)?];
            refuse(libc::SYS_socket, neither)?;
            let other = vec![condition(0, Eq, netlink)?, condition(2, Ne, NETLINK_RDMA)?];
            refuse(libc::SYS_socket, other)?;
        }
    }
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        let other = vec![
            condition(0, Eq, unix)?,
            condition(1, MaskedEq(0xf), kind as u64)?,
        ];
        refuse(libc::SYS_socket, other)?;
    }
    // A socket of a pair can be sent from to any address, which sendmsg(2) has in memory.
    let datagrams = vec![condition(1, MaskedEq(0xf), libc::SOCK_DGRAM as u64)?];
    refuse(libc::SYS_socketpair, datagrams)?;
    if !confinement.rdma {
        let some = SeccompCondition::new(4, SeccompCmpArgLen::Qword, Ne, 0)?;
        refuse(libc::SYS_sendto, vec![some])?;
    }
    // Threads, and no processes.
    let thread = libc::CLONE_THREAD as u64;
    refuse(libc::SYS_clone, vec![condition(0, MaskedEq(thread), 0)?])?;
    // Signals to itself alone: abort(3) is one.
    for call in [
        libc::SYS_kill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        refuse(call, vec![condition(0, Ne, own)?])?;
    }
    // Workers of one credential have one user, who may set how his processes are scheduled and where their memory is.
    // sched_setaffinity(2) is not among these: by it a thread sets where another one of its own process runs, and a filter
    // cannot distinguish the two.
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setattr,
        libc::SYS_move_pages,
        libc::SYS_migrate_pages,
    ] {
        let other = vec![condition(0, Ne, 0)?, condition(0, Ne, own)?];
        refuse(call, other)?;
    }
    for (call, itself) in [
        (libc::SYS_setpriority, u64::from(libc::PRIO_PROCESS)),
        (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS),
    ] {
        refuse(call, vec![condition(0, Ne, itself)?])?;
        let other = vec![condition(1, Ne, 0)?, condition(1, Ne, own)?];
        refuse(call, other)?;
    }
    for what in PRCTL {
        let what = u64::from(what.cast_unsigned());
        refuse(libc::SYS_prctl, vec![condition(0, Eq, what)?])?;
    }
    for what in IOCTL {
        refuse(libc::SYS_ioctl, vec![condition(1, Eq, *what)?])?;
    }
    // Asking which it is remains possible.
    let asks = u64::from(u32::MAX);
    refuse(libc::SYS_personality, vec![condition(0, Ne, asks)?])?;
    Ok(rules)
}

/// Connecting, which answers ENOENT.
fn connecting() -> Result<Rules, seccompiler::BackendError> {
    // Any address at all.
    let some = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let rule = SeccompRule::new(vec![some])?;
    Ok(Rules::from([(libc::SYS_connect, vec![rule])]))
}

fn filter(
    rules: Rules,
    errno: libc::c_int,
) -> Result<seccompiler::BpfProgram, seccompiler::BackendError> {
    let refused = SeccompAction::Errno(errno.cast_unsigned());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refused, arch)?.try_into()
}

/// What stands before the rules: calls that are too new, those of the x32 interface (their numbers have bit 30), and
/// clone3(2).
fn before() -> [sock_filter; 5] {
    // linux/bpf_common.h
    const LOAD: u16 = 0x20;
    const GREATER: u16 = 0x25;
    const EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let enosys = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    [
        // The call's number is the first word of struct seccomp_data.
        step(LOAD, 0, 0, 0),
        step(GREATER, 1, 0, NEWEST),
        step(EQUAL, 0, 1, CLONE3),
        step(RETURN, 0, 0, enosys),
        // The rules load the number anew.
        step(LOAD, 0, 0, 0),
    ]
}

fn programs(
    confinement: &Confinement,
) -> Result<Vec<seccompiler::BpfProgram>, seccompiler::BackendError> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let rules = rules(confinement, u64::from(own.cast_unsigned()))?;
    let mut program = before().to_vec();
    program.extend(filter(rules, libc::EPERM)?);
    let mut programs = vec![program];
    if confinement.mps.is_none() {
        programs.push(filter(connecting()?, libc::ENOENT)?);
    }
    Ok(programs)
}

/// Refuses them from here on.
pub(super) fn restrict(confinement: &Confinement) -> io::Result<Layer> {
    const NAME: &str = "system_calls";
    let programs = programs(confinement).map_err(io::Error::other)?;
    let mut programs = programs.iter();
    match programs.try_for_each(|program| seccompiler::apply_filter(program)) {
        Ok(()) => Ok(Layer::active(
            NAME,
            match &confinement.mps {
                None => "seccomp: no other programs, processes, namespaces, sockets beyond this host's, nor tracing".into(),
                Some(folder) => format!(
                    "seccomp, without the rule against connecting, for NVIDIA's Multi-Process Service in {}",
                    folder.display()
                ),
            },
        )),
        Err(seccompiler::Error::Seccomp(error))
            if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) =>
        {
            Ok(Layer::missing(NAME, format!("this kernel filters no system calls: {error}")))
        }
        Err(error) => Err(io::Error::other(error)),
    }
}
