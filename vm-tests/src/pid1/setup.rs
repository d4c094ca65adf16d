//! What a system needs before a case can run on it: file systems, loopback, modules.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::BUSYBOX;
use gtrace_vm_tests::scenario::{SHARE_DIR, SHARE_TAG, Scenario};
use rustix::mount::{MountFlags, mount};

use crate::agent;
use crate::guest::{self, modules};

/// Kind and place of each file system, in order.
const MOUNTS: [(&str, &str); 11] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("devtmpfs", "/dev"),
    ("devpts", "/dev/pts"),
    ("tracefs", "/sys/kernel/tracing"),
    ("debugfs", "/sys/kernel/debug"),
    ("bpf", "/sys/fs/bpf"),
    ("cgroup2", "/sys/fs/cgroup"),
    ("tmpfs", "/run"),
    ("tmpfs", "/tmp"),
    ("tmpfs", "/var"),
];

/// The host does not change the directory meanwhile, so it may be cached; messages larger than
/// the default of 8 KiB save most of the time.
const SHARE_OPTIONS: &CStr = c"trans=virtio,version=9p2000.L,cache=loose,msize=262144";

/// What cases change in /proc/sys/kernel, with the kernel's own values. Each report of a hung task
/// takes one off the number of those to come.
const SETTINGS: [(&str, &str); 2] = [
    ("hung_task_timeout_secs", "120"),
    ("hung_task_warnings", "10"),
];

/// Where control groups are.
const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// The card of the network for commands, which the kernel finds second.
const COMMANDS: &str = "eth1";

/// Events carry it.
const HOST_NAME: &[u8] = b"gtrace-vm";

/// Sets everything up.
pub(crate) fn system() -> Result<()> {
    for (kind, at) in MOUNTS {
        match fs::create_dir(at) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("cannot create {at}"));
            }
            _ => {}
        }
        mount(kind, at, kind, MountFlags::empty(), None)
            .with_context(|| format!("cannot mount {kind} at {at}"))?;
    }
    console()?;
    scratch()?;
    rustix::system::sethostname(HOST_NAME).context("cannot set the host's name")?;
    let loopback = Command::new(BUSYBOX)
        .args(["ifconfig", "lo", "127.0.0.1", "up"])
        .status()
        .with_context(|| format!("cannot start {BUSYBOX}"))?;
    if !loopback.success() {
        eprintln!("gtrace-vm-init: loopback stays down: ifconfig ended with {loopback}");
    }
    let scenario = guest::scenario()?;
    for name in scenario.modules() {
        modules::load(name)?;
    }
    if scenario == Scenario::Bench {
        mount_share()?;
    }
    if scenario.has_peer() {
        commands()?;
    }
    Ok(())
}

/// The network by which the first machine has the second run commands.
fn commands() -> Result<()> {
    let peer = guest::is_peer();
    let address = agent::ADDRESSES[usize::from(!peer)];
    let up = Command::new(BUSYBOX)
        .args([
            "ifconfig",
            COMMANDS,
            address,
            "netmask",
            "255.255.255.0",
            "up",
        ])
        .status()
        .with_context(|| format!("cannot start {BUSYBOX}"))?;
    ensure!(
        up.success(),
        "{COMMANDS} stays down: ifconfig ended with {up}"
    );
    if peer {
        let agent = Command::new("/proc/self/exe").arg("agent").spawn();
        agent.context("cannot start what runs commands")?;
    }
    Ok(())
}

/// The host's directory, read-only on the host's side as well.
fn mount_share() -> Result<()> {
    let flags = MountFlags::RDONLY;
    mount(SHARE_TAG, SHARE_DIR, "9p", flags, SHARE_OPTIONS)
        .with_context(|| format!("cannot mount the host's directory at {SHARE_DIR}"))
}

/// The console as standard input, output and error: without an init that devtmpfs was mounted
/// for, the kernel may not have opened it.
fn console() -> Result<()> {
    let console = fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/console")
        .context("cannot open /dev/console")?;
    rustix::stdio::dup2_stdin(&console)?;
    rustix::stdio::dup2_stdout(&console)?;
    rustix::stdio::dup2_stderr(&console)?;
    Ok(())
}

/// Sets back what cases change of the system.
pub(crate) fn settings() -> Result<()> {
    for (name, value) in SETTINGS {
        let file = Path::new("/proc/sys/kernel").join(name);
        // Not every kernel has a detector of hung tasks.
        if file.exists() {
            fs::write(&file, value).with_context(|| format!("cannot set {}", file.display()))?;
        }
    }
    Ok(())
}

/// Removes the control groups that cases made. They can be removed a moment after their last process
/// has ended, not at once.
pub(crate) fn control_groups(deadline: Instant) -> Result<()> {
    let root = Path::new(CONTROL_GROUPS);
    loop {
        match remove_groups(root) {
            Ok(()) => return Ok(()),
            Err(error) if Instant::now() > deadline => {
                return Err(error).context("a control group stays");
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// The groups below `dir`, the innermost first.
fn remove_groups(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_groups(&entry.path())?;
            fs::remove_dir(entry.path())?;
        }
    }
    Ok(())
}

/// An empty directory for the next case.
pub(crate) fn scratch() -> Result<()> {
    let dir = Path::new(guest::SCRATCH);
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("cannot clear {}", dir.display()))?;
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}

/// Names and states of the processes that are no kernel threads, for a message.
pub(crate) fn processes() -> String {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let dir = entry.path();
        let program = fs::read(dir.join("cmdline")).unwrap_or_default();
        let is_process = entry.file_name().to_string_lossy().parse::<u32>().is_ok();
        if !is_process || program.is_empty() || entry.file_name() == "1" {
            continue;
        }
        let program = String::from_utf8_lossy(&program).replace('\0', " ");
        let stack = fs::read_to_string(dir.join("wchan")).unwrap_or_default();
        found.push(format!("{} ({})", program.trim(), stack.trim()));
    }
    found.join(", ")
}
