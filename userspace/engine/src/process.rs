//! What /proc shows of a process while it lives.

use std::path::{Path, PathBuf};

use gtrace_abi::{CMD_CLOSE, CMD_MMAP, CMD_OPEN};
use gtrace_devices::read_pseudo_file;
use gtrace_event::Process;

/// Process `pid`, with what /proc shows of it while it lives.
pub fn of(pid: u32) -> Process {
    let mut process = Process {
        pid: Some(pid),
        ..Process::default()
    };
    enrich(&mut process);
    process
}

/// Adds name, control group and container where they are not known and the process still lives.
pub fn enrich(process: &mut Process) {
    let Some(pid) = process.pid else { return };
    let dir = PathBuf::from(format!("/proc/{pid}"));
    if process.comm.is_none() {
        process.comm = comm(&dir);
    }
    if process.cgroup.is_none() {
        process.cgroup = cgroup(&dir);
    }
    if process.container.is_none() {
        process.container = process.cgroup.as_deref().and_then(container_of);
    }
}

/// Clocks of the kernel's log and of processes may be so far apart.
const APART_NS: u64 = 10_000_000_000;
/// The kernel gives the number of a process that is gone to another only when it has given all others: not so soon.
const REUSED_AFTER_NS: u64 = 100_000_000;

/// As [`enrich`] of the process `pid` that was there at `boottime_ns`; false if it is gone. Its number may be another's by now.
pub fn enrich_since(process: &mut Process, pid: u32, boottime_ns: u64) -> bool {
    let ago_ns = crate::clock::boottime_ns().saturating_sub(boottime_ns);
    let is_there = match ago_ns < REUSED_AFTER_NS {
        // What is known of it already, such as its control group, does not show that.
        true => PathBuf::from(format!("/proc/{pid}")).exists(),
        false => lives_since(pid, boottime_ns),
    };
    if is_there {
        enrich(process);
    }
    is_there
}

/// Whether process `pid` is there and began before `boottime_ns`.
fn lives_since(pid: u32, boottime_ns: u64) -> bool {
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
    let begun = start_time(pid).map(|ticks| ticks.saturating_mul(tick_ns));
    begun.is_some_and(|begun| begun <= boottime_ns.saturating_add(APART_NS))
}

/// What a file of /proc has. The name of a process in it need not be UTF-8: the kernel cuts it after 15 bytes, within a character too.
pub(crate) fn read(path: impl AsRef<Path>) -> Option<String> {
    read_pseudo_file(path.as_ref()).ok()
}

/// The words of a stat file (proc_pid_stat(5)) from the third on, the state. Reading it takes no lock that a process can hold for long.
fn stat_words(stat: &str) -> std::str::Split<'_, char> {
    // The name may have anything in it; the last parenthesis ends it.
    let (_, rest) = stat.rsplit_once(") ").unwrap_or_default();
    rest.split(' ')
}

/// When a process began, in ticks since the boot.
pub fn start_time(pid: u32) -> Option<u64> {
    let stat = read(format!("/proc/{pid}/stat"))?;
    stat_words(&stat).nth(19)?.parse().ok()
}

/// Names the control group of a process that is gone, and the container that it reports.
pub fn set_cgroup(process: &mut Process, path: Option<String>) {
    if process.cgroup.is_none() {
        process.cgroup = path;
    }
    if process.container.is_none() {
        process.container = process.cgroup.as_deref().and_then(container_of);
    }
}

/// System calls by the numbers of programs for 64 bits, and by those of programs for 32 bits on x86-64 (arch/x86/entry/syscalls/syscall_32.tbl).
type Numbers = [&'static [libc::c_long]; 2];
/// Those that open a file.
const OPENING: Numbers = [
    &[
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open,
        libc::SYS_openat,
        libc::SYS_openat2,
    ],
    &[5, 295, 437],
];
const MAPPING: Numbers = [&[libc::SYS_mmap], &[90, 192]];
const CLOSING: Numbers = [&[libc::SYS_close, libc::SYS_close_range], &[6, 436]];
const IOCTL: Numbers = [&[libc::SYS_ioctl], &[54]];
/// `PF_EXITING` (include/linux/sched.h): the thread ends or has ended.
const EXITING: u64 = 0x4;

/// Whether a thread waits in the kernel while it ends, which may be for a file to close, by its stat. One that runs counts as not, as in
/// a system call; the files of a zombie are closed.
fn waits_at_its_end(stat: &str) -> bool {
    let mut words = stat_words(stat);
    let state = words.next();
    let flags = words.nth(5).and_then(|flags| flags.parse::<u64>().ok());
    matches!(state, Some("D" | "S")) && flags.is_some_and(|flags| flags & EXITING != 0)
}

/// Whether a thread waits in one of these calls, by its file syscall (proc_pid_syscall(5)): number, arguments, stack and program counter.
/// A running thread shows no number.
fn waits_in([long, short]: Numbers, syscall: &str) -> bool {
    let mut words = syscall.split_whitespace();
    let number = words.next().and_then(|number| number.parse().ok());
    let is_low = |word: &str| {
        let address = word.strip_prefix("0x");
        address.is_some_and(|address| u32::from_str_radix(address, 16).is_ok())
    };
    // Only a program for 32 bits has both there, or one for 64 that is linked to a fixed address and gives its threads such stacks.
    let may_be_short = words.rev().take(2).all(is_low);
    number.is_some_and(|number| long.contains(&number) || may_be_short && short.contains(&number))
}

/// Whether thread `id` (`tgid << 32 | tid`) is right now in a system call that can be the driver call `cmd`, as
/// [`CallStart::cmd`](gtrace_abi::CallStart::cmd) has it. A running thread shows no system call and counts as not.
pub fn is_in_call(id: u64, cmd: u32) -> bool {
    let (tgid, tid) = (id >> 32, id & u64::from(u32::MAX));
    let thread = format!("/proc/{tgid}/task/{tid}");
    let syscall = read(format!("{thread}/syscall")).unwrap_or_default();
    match cmd {
        CMD_OPEN => waits_in(OPENING, &syscall),
        CMD_MMAP => waits_in(MAPPING, &syscall),
        CMD_CLOSE => {
            waits_in(CLOSING, &syscall)
                || read(format!("{thread}/stat")).is_some_and(|stat| waits_at_its_end(&stat))
        }
        _ => waits_in(IOCTL, &syscall),
    }
}

/// The name of a live process.
pub fn comm(dir: &Path) -> Option<String> {
    let text = read(dir.join("comm"))?;
    Some(text.trim_end_matches('\n').to_owned())
}

/// The control group of a live process.
pub(crate) fn cgroup(dir: &Path) -> Option<String> {
    best_cgroup(&read(dir.join("cgroup"))?)
}

/// The control group of a process, by the text of its file in /proc: that of v2 if it says something, else the longest of v1. On a host
/// with both, container runtimes and Slurm make groups of v1 alone, and v2 has the service that they are. So a group that names a
/// container or a job comes first.
pub(crate) fn best_cgroup(text: &str) -> Option<String> {
    let unified = text.lines().find_map(|line| line.strip_prefix("0::"));
    let longest = |is_wanted: &dyn Fn(&str) -> bool| {
        let paths = text.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        paths
            .filter(|path| is_wanted(path))
            .max_by_key(|path| path.len())
    };
    let best = unified
        .filter(|path| names_owner(path))
        .or_else(|| longest(&names_owner))
        .or_else(|| unified.filter(|path| path.len() > 1))
        .or_else(|| longest(&|_: &str| true));
    best.map(str::to_owned)
}

fn names_owner(cgroup: &str) -> bool {
    container_of(cgroup).is_some() || gtrace_incident::job_of(cgroup).is_some()
}

/// The 64 hex digits that container runtimes put into the path: `/docker/ID`,
/// `docker-ID.scope`, `cri-containerd-ID.scope`, `crio-ID`, `libpod-ID.scope`.
pub(crate) fn container_of(cgroup: &str) -> Option<String> {
    const ID_LEN: usize = 64;
    cgroup
        .split(['/', '-', '.', ':'])
        .rfind(|part| part.len() == ID_LEN && part.bytes().all(|b| b.is_ascii_hexdigit()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    const RM_CONTROL: u32 = 0xc020_462a;

    fn until(what: &str, is: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_thread_that_waits_for_a_file_to_open_is_in_open_and_a_zombie_closes_none() {
        if !Path::new("/proc/self/syscall").exists() {
            eprintln!("skipped: this kernel does not show the system calls of threads");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        let mut child = Command::new("cat").arg(&fifo).spawn().unwrap();
        let pid = child.id();
        let id = u64::from(pid) << 32 | u64::from(pid);
        let calls = [CMD_OPEN, CMD_MMAP, CMD_CLOSE, RM_CONTROL];
        until("it is not seen in open(2), and in nothing else", || {
            calls
                .iter()
                .all(|one| is_in_call(id, *one) == (*one == CMD_OPEN))
        });
        child.kill().unwrap();
        until("it does not end", || {
            let stat = read(format!("/proc/{pid}/stat")).unwrap();
            stat_words(&stat).next() == Some("Z")
        });
        assert!(!is_in_call(id, CMD_CLOSE));
        child.wait().unwrap();
        assert!(!calls.iter().any(|cmd| is_in_call(id, *cmd)));
    }

    #[test]
    fn a_call_of_a_program_for_32_bits_is_known_by_its_own_number() {
        // As Linux 6.18 shows both.
        let short = |number: libc::c_long| {
            format!("{number} 0x3 0x0 0x0 0x0 0x0 0x0 0xffc0b800 0x8048062\n")
        };
        let long = |number: libc::c_long| {
            format!("{number} 0x3 0x0 0x0 0x0 0x0 0x0 0x7ffdd5a53c38 0x7ffb3eb012ad\n")
        };
        let calls = [OPENING, MAPPING, CLOSING, IOCTL];
        for (number, of) in [(5, 0), (295, 0), (192, 1), (6, 2), (54, 3)] {
            let text = short(number);
            let is_in = |i: usize| waits_in(calls[i], &text);
            assert_eq!([0, 1, 2, 3].map(is_in), [0, 1, 2, 3].map(|i| i == of));
            // setsockopt(2) and the like.
            let text = long(number);
            assert!(!calls.iter().any(|one| waits_in(*one, &text)), "{text}");
        }
        assert!(waits_in(IOCTL, &long(libc::SYS_ioctl)));
        assert!(!waits_in(IOCTL, "running\n") && !waits_in(IOCTL, ""));
    }

    #[test]
    fn a_thread_that_ends_closes_files_while_it_waits_and_not_while_it_runs() {
        let of = |state: &str, flags: u64| {
            waits_at_its_end(&format!("7 (a) b) {state} 1 7 7 0 -1 {flags} 4 4 4"))
        };
        assert!(of("D", 0x40_0000 | EXITING) && of("S", EXITING));
        assert!(!["R", "Z", "X"].iter().any(|state| of(state, EXITING)));
        assert!(!of("D", 0x40_0000) && !waits_at_its_end(""));
    }

    #[test]
    fn containers_of_all_runtimes_are_found() {
        let id = "0123456789abcdef".repeat(4);
        for path in [
            format!("/docker/{id}"),
            format!("/system.slice/docker-{id}.scope"),
            format!("/kubepods.slice/kubepods-pod1.slice/cri-containerd-{id}.scope"),
            format!("/machine.slice/libpod-{id}.scope/container"),
        ] {
            assert_eq!(container_of(&path).as_deref(), Some(id.as_str()), "{path}");
        }
        assert_eq!(
            container_of("/user.slice/user-0.slice/session-1.scope"),
            None
        );
    }

    #[test]
    fn a_process_of_which_more_is_known_may_be_gone_all_the_same() {
        let since = |pid: u32| {
            let mut process = Process {
                pid: Some(pid),
                cgroup: Some("/a".to_owned()),
                ..Process::default()
            };
            let is_there = enrich_since(&mut process, pid, crate::clock::boottime_ns());
            (is_there, process.comm.is_some())
        };
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(since(child.id()), (false, false));
        assert_eq!(since(std::process::id()), (true, true));
    }

    #[test]
    fn a_process_whose_name_is_cut_within_a_character_has_a_name_and_a_start() {
        // The name is the shell's own, as it opens the file and writes to it itself.
        let script = r"printf 'a\346\250' > /proc/$$/comm && echo && read -r _";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let named = shell.stdout.as_mut().unwrap().read_exact(&mut [0]);
        let (comm, started) = (of(shell.id()).comm, start_time(shell.id()));
        drop(shell.stdin.take());
        shell.wait().unwrap();
        named.unwrap();
        assert_eq!(comm.as_deref(), Some("a\u{fffd}"));
        assert!(started.is_some());
    }

    #[test]
    fn the_unified_path_wins_unless_it_is_the_root() {
        assert_eq!(best_cgroup("1:cpu:/a/b\n0::/x\n").as_deref(), Some("/x"));
        assert_eq!(best_cgroup("1:cpu:/a/b\n0::/\n").as_deref(), Some("/a/b"));
        assert_eq!(best_cgroup("0::/\n").as_deref(), Some("/"));
    }

    #[test]
    fn a_container_or_job_is_found_where_v1_and_v2_are_mounted() {
        let id = "0123456789abcdef".repeat(4);
        let docker = format!("/docker/{id}");
        let pod = format!("/kubepods/burstable/pod12345678-9abc-def0-1234-56789abcdef0/{id}");
        let job = "/slurm/uid_1000/job_12/step_0/task_0".to_owned();
        for (path, service) in [
            (docker, "containerd.service"),
            (pod, "containerd.service"),
            (job, "slurmd.service"),
        ] {
            // As on Ubuntu 20.04: Slurm has no group of its own for pids.
            let text = format!(
                "12:memory:{path}\n11:pids:/system.slice/{service}\n1:name=systemd:{path}\n0::/system.slice/{service}\n"
            );
            assert_eq!(best_cgroup(&text), Some(path), "{text}");
        }
        let text =
            "12:memory:/user.slice/user-1000.slice/session-3.scope\n0::/system.slice/x.service\n";
        let service = best_cgroup(text);
        assert_eq!(service.as_deref(), Some("/system.slice/x.service"));
    }
}
