//! What the host is: names, kernel, capabilities, lockdown.

use std::fs;
use std::path::Path;

use gtrace_devices::read_pseudo_file;

/// Names the host where the system's own name is not it, as in a pod.
const NAME_VARIABLE: &str = "GTRACE_HOST_NAME";

/// The host's name.
pub fn name() -> String {
    if let Ok(name) = std::env::var(NAME_VARIABLE)
        && !name.is_empty()
    {
        return name;
    }
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// The kernel's release, as `uname -r` gives it.
pub fn kernel_release() -> String {
    rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned()
}

/// The machine, as `uname -m` gives it.
pub fn machine() -> String {
    rustix::system::uname()
        .machine()
        .to_string_lossy()
        .into_owned()
}

/// The kernel's boot id.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Identifies the machine, whatever its name, by /etc/machine-id. `None` where there is no such id, as in most containers.
pub fn machine_id() -> Option<String> {
    gtrace_fleet::machine_id(&fs::read_to_string("/etc/machine-id").ok()?)
}

/// Whether the effective user is root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The lockdown mode in force (`none`, `integrity`, `confidentiality`); `None` where the kernel
/// has no lockdown or the file cannot be read.
pub fn lockdown() -> Option<String> {
    let text = fs::read_to_string("/sys/kernel/security/lockdown").ok()?;
    lockdown_mode(&text)
}

/// The word in brackets of `none [integrity] confidentiality`.
fn lockdown_mode(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Whether Secure Boot is on, by the firmware's variable; `None` where it cannot be reported.
pub fn secure_boot() -> Option<bool> {
    let dir = fs::read_dir("/sys/firmware/efi/efivars").ok()?;
    let variable = dir.filter_map(Result::ok).find(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .starts_with("SecureBoot-")
    })?;
    // Four bytes of attributes, then the value.
    Some(fs::read(variable.path()).ok()?.get(4)? == &1)
}

/// Effective capabilities, as a mask (linux/capability.h numbers the bits).
pub fn effective_capabilities() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok())
        .unwrap_or(0)
}

/// CAP_SYS_ADMIN.
pub const CAP_SYS_ADMIN: u32 = 21;
/// CAP_SYSLOG.
pub const CAP_SYSLOG: u32 = 34;
/// CAP_PERFMON.
pub const CAP_PERFMON: u32 = 38;
/// CAP_BPF.
pub const CAP_BPF: u32 = 39;

/// Whether this process has what loading and attaching probes needs.
pub fn may_trace() -> bool {
    let has = |cap: u32| effective_capabilities() & (1 << cap) != 0;
    has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON))
}

/// A number in a file under /proc or /sys.
pub fn sysctl(path: impl AsRef<Path>) -> Option<String> {
    Some(read_pseudo_file(path.as_ref()).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::lockdown_mode;

    #[test]
    fn the_mode_in_brackets_is_in_force() {
        let mode = lockdown_mode("none [integrity] confidentiality\n");
        assert_eq!(mode.as_deref(), Some("integrity"));
        assert_eq!(lockdown_mode("none"), None);
    }
}
