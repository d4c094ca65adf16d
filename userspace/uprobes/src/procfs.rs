//! Reads processes in procfs.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Inode of the initial PID namespace (`PROC_PID_INIT_INO`, include/linux/proc_ns.h).
const INITIAL_PIDS: u64 = 0xefff_fffc;

/// Who a process is or was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its name.
    pub comm: String,
    /// Its control groups, a line for each hierarchy (cgroups(7)).
    pub cgroups: String,
    /// Whether it has ended.
    pub ended: bool,
}

/// Whether this process knows others by the numbers that the kernel's probes have for them: not so in a PID namespace of its own.
pub fn has_the_kernels_numbers() -> bool {
    // Where it cannot be read, nothing speaks against it.
    fs::metadata("/proc/self/ns/pid").map_or(true, |own| own.ino() == INITIAL_PIDS)
}

/// Pages of a process's address space, proc_pid_statm(5).
pub(crate) fn address_space(proc_root: &Path, pid: u32) -> Option<u64> {
    // Read for each process each second: seven numbers, without a file's size asked for first.
    let mut text = [0; 160];
    let mut file = fs::File::open(proc_root.join(format!("{pid}/statm"))).ok()?;
    let read = file.read(&mut text).ok()?;
    let text = std::str::from_utf8(text.get(..read)?).ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The fields of proc_pid_stat(5) from the third on. The name before is in parentheses and can be anything,
/// so that fields are counted from its end.
fn stat(proc_root: &Path, pid: u32) -> Option<Vec<String>> {
    let stat = fs::read(proc_root.join(format!("{pid}/stat"))).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

/// Whether a process has not ended.
pub(crate) fn lives(proc_root: &Path, pid: u32) -> bool {
    let Some(fields) = stat(proc_root, pid) else {
        return false;
    };
    let ended = matches!(fields.first().map(String::as_str), Some("Z" | "X"));
    // A process whose first thread has ended is shown as a zombie too, while others run on.
    let threads: u32 = fields.get(17).and_then(|n| n.parse().ok()).unwrap_or(1);
    !ended || threads > 1
}

/// User and system time of a process, nanoseconds; `None` if there is none of that number.
pub fn cpu_ns(proc_root: &Path, pid: u32) -> Option<u64> {
    let fields = stat(proc_root, pid)?;
    let user: u64 = fields.get(11)?.parse().ok()?;
    let system: u64 = fields.get(12)?.parse().ok()?;
    // USER_HZ is 100 on every architecture that CUDA runs on.
    Some((user + system) * 10_000_000)
}

/// When a process began, clock ticks since boot; `None` if there is none of that number.
pub fn started(proc_root: &Path, pid: u32) -> Option<u64> {
    stat(proc_root, pid)?.get(19)?.parse().ok()
}

/// Major and minor number of a kernel by its release: 6 and 10 of `6.10.0-rc1`. What is no number is 0.
pub fn kernel_version(release: &str) -> (u32, u32) {
    let mut numbers = release
        .split(|c: char| !c.is_ascii_digit())
        .map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Who a process is.
pub(crate) fn identify(proc_root: &Path, pid: u32) -> Identity {
    let dir = proc_root.join(pid.to_string());
    let read = |name| {
        let bytes = fs::read(dir.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    };
    Identity {
        comm: read("comm"),
        cgroups: read("cgroup"),
        ended: false,
    }
}
