//! A worker for the tests of this crate: what `gtrace serve-worker` is in the whole program. With `GTRACE_TEST_ATTACK` it
//! then does what somebody would try who has taken it over.

#![allow(unsafe_code)]

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::ptr::{null, null_mut};

use serde::Deserialize;

/// What is to be tried, and on whom: a file that is empty for workers that are to do nothing.
#[derive(Deserialize)]
struct Order {
    key: String,
    token: String,
    images: String,
    socket: String,
    victim: i32,
    supervisor: i32,
}

fn main() -> ExitCode {
    let Ok(names) = std::env::var("GTRACE_TEST_ATTACK") else {
        return gtrace_server::worker_main();
    };
    // Opened before the worker is confined: by these it gets its orders and reports what came of them.
    let Some((order, report)) = names.split_once(' ') else {
        return ExitCode::FAILURE;
    };
    let open = |path: &str| File::options().read(true).append(true).open(path);
    let (Ok(order), Ok(report)) = (File::open(order), open(report)) else {
        return ExitCode::FAILURE;
    };
    gtrace_server::worker_main_then(move || attack(order, report))
}

fn attack(mut order: File, mut report: File) {
    let mut text = String::new();
    if order.rewind().is_err() || order.read_to_string(&mut text).is_err() {
        return;
    }
    let Ok(order) = serde_json::from_str::<Order>(&text) else {
        return;
    };
    for (name, outcome) in attempts(&order) {
        let outcome = match outcome {
            Ok(()) => "done".to_owned(),
            Err(error) => error
                .raw_os_error()
                .map_or_else(|| error.to_string(), |errno| errno.to_string()),
        };
        let _ = writeln!(report, "{name} {outcome}");
    }
    let _ = writeln!(report, "end");
}

/// The outcome of a system call.
fn outcome(result: libc::c_long) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// As [`outcome`], of a call with arguments that are none: that it complains of them shows that it may be made.
fn reached(result: libc::c_long, complaint: &[i32]) -> io::Result<()> {
    match outcome(result) {
        Err(error) if error.raw_os_error().is_some_and(|e| complaint.contains(&e)) => Ok(()),
        other => other,
    }
}

fn read(path: impl AsRef<Path>) -> io::Result<()> {
    File::open(path)?.read(&mut [0; 1]).map(|_| ())
}

fn attempts(order: &Order) -> Vec<(&'static str, io::Result<()>)> {
    let victim = order.victim;
    let of_victim = |file: &str| format!("/proc/{victim}/{file}");
    let mut all = vec![
        ("read_key", read(&order.key)),
        ("read_token", read(&order.token)),
        ("read_shadow", read("/etc/shadow")),
        ("list_images", fs::read_dir(&order.images).map(|_| ())),
        (
            "write_image",
            fs::write(Path::new(&order.images).join("poison"), b"x"),
        ),
        ("write_tmp", fs::write("/tmp/gtrace-test-attack", b"x")),
        ("victim_mem", File::open(of_victim("mem")).map(|_| ())),
        ("victim_environ", read(of_victim("environ"))),
        ("victim_maps", read(of_victim("maps"))),
        ("victim_fds", fs::read_dir(of_victim("fd")).map(|_| ())),
        (
            "supervisor_environ",
            read(format!("/proc/{}/environ", order.supervisor)),
        ),
        (
            "connect_unix",
            UnixStream::connect(&order.socket).map(|_| ()),
        ),
        (
            "exec_shell",
            Command::new("/bin/sh")
                .args(["-c", "true"])
                .status()
                .map(|_| ()),
        ),
    ];
    // SAFETY: none of these calls reads or writes memory of this process other than `byte`, which lives as long as they do;
    // those with addresses that are none fail before.
    unsafe {
        let mut byte = 0u8;
        let own = libc::iovec {
            iov_base: (&raw mut byte).cast(),
            iov_len: 1,
        };
        let far = libc::iovec {
            iov_base: 0x1000 as *mut libc::c_void,
            iov_len: 1,
        };
        all.push((
            "process_vm_readv",
            reached(
                libc::process_vm_readv(victim, &own, 1, &far, 1, 0) as libc::c_long,
                &[libc::EFAULT],
            ),
        ));
        let pidfd = libc::syscall(libc::SYS_pidfd_open, victim, 0);
        all.push((
            "pidfd_getfd",
            outcome(libc::syscall(libc::SYS_pidfd_getfd, pidfd, 1, 0)),
        ));
        all.push((
            "pidfd_signal",
            outcome(libc::syscall(libc::SYS_pidfd_send_signal, pidfd, 0, 0, 0)),
        ));
        all.push(("signal", outcome(libc::kill(victim, 0).into())));
        all.push((
            "signal_supervisor",
            outcome(libc::kill(order.supervisor, 0).into()),
        ));
        all.push((
            "ptrace",
            outcome(libc::ptrace(libc::PTRACE_SEIZE, victim, 0, 0)),
        ));
        let schedule = libc::sched_param { sched_priority: 0 };
        all.push((
            "schedule",
            outcome(
                libc::sched_setscheduler(victim, libc::SCHED_BATCH, &raw const schedule).into(),
            ),
        ));
        all.push((
            "priority",
            outcome(libc::setpriority(libc::PRIO_PROCESS, victim as libc::id_t, 1).into()),
        ));
        // linux/ioprio.h: a process, and the lowest priority of the best-effort class.
        let lowest = (2 << 13) | 7;
        all.push((
            "io_priority",
            outcome(libc::syscall(libc::SYS_ioprio_set, 1, victim, lowest)),
        ));
        all.push((
            "limits",
            outcome(libc::prlimit(victim, libc::RLIMIT_CORE, null(), null_mut()).into()),
        ));
        all.push((
            "move_pages",
            outcome(libc::syscall(libc::SYS_move_pages, victim, 0, 0, 0, 0, 0)),
        ));
        for (name, domain, kind) in [
            ("socket_inet", libc::AF_INET, libc::SOCK_STREAM),
            ("socket_inet6", libc::AF_INET6, libc::SOCK_DGRAM),
            ("socket_netlink", libc::AF_NETLINK, libc::SOCK_RAW),
            ("socket_packet", libc::AF_PACKET, libc::SOCK_RAW),
            ("socket_unix_datagram", libc::AF_UNIX, libc::SOCK_DGRAM),
        ] {
            all.push((name, outcome(libc::socket(domain, kind, 0).into())));
        }
        let mut pair = [0; 2];
        all.push((
            "socketpair_datagram",
            outcome(libc::socketpair(libc::AF_UNIX, libc::SOCK_DGRAM, 0, pair.as_mut_ptr()).into()),
        ));
        let nowhere = c"/no/such/file".as_ptr();
        all.push((
            "execve",
            reached(
                libc::execve(nowhere, null(), null()).into(),
                &[libc::ENOENT, libc::EFAULT],
            ),
        ));
        all.push(("fork", {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(0);
            }
            outcome(child.into())
        }));
        all.push(("unshare", outcome(libc::unshare(libc::CLONE_NEWNS).into())));
        all.push((
            "mount",
            reached(
                libc::mount(nowhere, nowhere, c"tmpfs".as_ptr(), 0, null()).into(),
                &[libc::ENOENT],
            ),
        ));
        all.push((
            "chroot",
            reached(libc::chroot(nowhere).into(), &[libc::ENOENT]),
        ));
        all.push(("become_root", outcome(libc::setresuid(0, 0, 0).into())));
        all.push((
            "become_another",
            outcome(libc::setresgid(12, 12, 12).into()),
        ));
        all.push((
            "dumpable",
            outcome(libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0).into()),
        ));
        all.push((
            "outlive_supervisor",
            outcome(libc::prctl(libc::PR_SET_PDEATHSIG, 0, 0, 0, 0).into()),
        ));
        let invalid = [libc::EINVAL, libc::EFAULT, libc::E2BIG, libc::EBADF];
        for (name, call, first) in [
            ("bpf", libc::SYS_bpf, 0xffff),
            ("perf_event_open", libc::SYS_perf_event_open, 0),
            ("keyctl", libc::SYS_keyctl, 0xffff),
            ("io_uring", libc::SYS_io_uring_setup, 0),
            ("init_module", libc::SYS_init_module, 0),
            ("userfaultfd", libc::SYS_userfaultfd, 0xffff),
            ("clone3", 435, 0),
        ] {
            let complaints = [&invalid[..], &[libc::EOPNOTSUPP]].concat();
            let called = libc::syscall(call, first, null_mut::<u8>(), 0, -1, 0);
            all.push((name, reached(called, &complaints)));
        }
        all.push((
            "system_v_memory",
            outcome(libc::shmget(libc::IPC_PRIVATE, 4096, 0o600).into()),
        ));
    }
    all
}
