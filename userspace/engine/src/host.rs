//! What the host is: names, kernel, capabilities, lockdown.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

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

/// Identifies the machine, whatever its name: a UUID derived from /etc/machine-id, the same after each
/// boot. machine-id(5) asks not to show that file's id itself, so this is what
/// `systemd-id128 machine-id --app-specific=` gives for `MACHINE_APP`. `None` where there is no such
/// id, as in most containers.
pub fn machine_id() -> Option<String> {
    app_specific(&fs::read_to_string("/etc/machine-id").ok()?)
}

/// gtrace's own id, which machine ids are hashed with; random, made once.
const MACHINE_APP: [u8; 16] = 0x7c1f_0a8e_5d0b_4c64_9b1e_3a0d_6f52_c8e7_u128.to_be_bytes();

/// HMAC-SHA256 (RFC 2104) of the application's id with the machine's as the key, the first 16 bytes as
/// a UUID of version 4: sd_id128_get_machine_app_specific(3).
fn app_specific(machine_id: &str) -> Option<String> {
    let machine_id = machine_id.trim();
    // Also not before the first boot is done: `uninitialized`.
    let id = u128::from_str_radix(machine_id, 16).ok();
    let id = id.filter(|_| machine_id.len() == 32)?.to_be_bytes();
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(id).for_each(|(b, key)| *b ^= key);
        Sha256::new().chain_update(block)
    };
    let inner = padded(0x36).chain_update(MACHINE_APP).finalize();
    let outer = padded(0x5c).chain_update(inner).finalize();
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&outer[..16]);
    uuid[6] = (uuid[6] & 0x0f) | 0x40;
    uuid[8] = (uuid[8] & 0x3f) | 0x80;
    Some(format!("{:032x}", u128::from_be_bytes(uuid)))
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
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{app_specific, lockdown_mode};

    #[test]
    fn the_machine_is_known_by_what_systemd_derives_and_a_container_without_id_has_none() {
        // systemd-id128 machine-id --app-specific=7c1f0a8e5d0b4c649b1e3a0d6f52c8e7
        let derived = app_specific("3d1219c7c4c5404aaa1f6d2a48adfda4\n");
        assert_eq!(derived.as_deref(), Some("4376a659d96544b4b35c9fcd1551730b"));
        for none in ["", "uninitialized\n", "3d12"] {
            assert_eq!(app_specific(none), None);
        }
    }

    #[test]
    fn the_mode_in_brackets_is_in_force() {
        let mode = lockdown_mode("none [integrity] confidentiality\n");
        assert_eq!(mode.as_deref(), Some("integrity"));
        assert_eq!(lockdown_mode("none"), None);
    }
}
