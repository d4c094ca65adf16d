//! Who is about to unload the driver.

use crate::process;

/// `CAP_SYS_MODULE` of include/uapi/linux/capability.h.
const SYS_MODULE: u32 = 16;

/// Whether process `pid`, a program `name` that loads and unloads modules, is about to unload one of
/// the driver's. What cannot be read any more has ended.
pub(super) fn unloads_the_driver(name: &str, pid: u32) -> bool {
    let line = process::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    asks_to_unload(name, &line) && may_unload(pid)
}

/// Whether the kernel lets process `pid` unload modules: root of a container asks for it in vain. The probes report root alone, so one
/// that has ended meanwhile counts.
pub(super) fn may_unload(pid: u32) -> bool {
    let status = process::read(format!("/proc/{pid}/status"));
    status.is_none_or(|status| has_sys_module(&status) != Some(false))
}

/// By its `/proc/PID/status`.
fn has_sys_module(status: &str) -> Option<bool> {
    let mut lines = status.lines();
    let effective = lines.find_map(|line| line.strip_prefix("CapEff:"))?;
    let effective = u64::from_str_radix(effective.trim(), 16).ok()?;
    Some(effective & (1 << SYS_MODULE) != 0)
}

/// The same, by the program's arguments, separated by NUL.
fn asks_to_unload(name: &str, line: &str) -> bool {
    let mut arguments = line.split('\0').skip(1).filter(|a| !a.is_empty());
    // The installers unload the driver in the course of their work. nvidia-imex does not, nor does nvidia-imex-ctl, which probes of pods
    // run all the time.
    if name.starts_with("nvidia-") {
        return name.starts_with("nvidia-install") || name.starts_with("nvidia-uninstal");
    }
    let names_driver = arguments.clone().any(|a| a.contains("nvidia"));
    let removes = name == "rmmod"
        || arguments.any(|a| {
            let short = a.starts_with('-') && !a.starts_with("--") && a.contains('r');
            short || a == "--remove" || a == "rmmod" || a == "remove"
        });
    names_driver && removes
}

#[cfg(test)]
mod tests {
    use super::{asks_to_unload, has_sys_module};

    #[test]
    fn root_of_a_container_unloads_nothing() {
        let status =
            |effective: &str| format!("Name:\trmmod\nCapPrm:\t{effective}\nCapEff:\t{effective}\n");
        // Of root, and as Docker has it by default.
        assert_eq!(has_sys_module(&status("000001ffffffffff")), Some(true));
        assert_eq!(has_sys_module(&status("00000000a80425fb")), Some(false));
        assert_eq!(has_sys_module("Name:\trmmod\n"), None);
    }

    #[test]
    fn who_unloads_the_driver_is_distinguished_from_who_does_something_else() {
        for (name, line) in [
            ("rmmod", "rmmod\0nvidia\0"),
            ("rmmod", "rmmod\0-f\0nvidia_uvm\0"),
            ("modprobe", "modprobe\0-r\0nvidia_uvm\0nvidia\0"),
            ("modprobe", "modprobe\0-qr\0nvidia-drm\0"),
            ("modprobe", "modprobe\0--remove\0nvidia\0"),
            ("kmod", "kmod\0rmmod\0nvidia\0"),
            ("nvidia-installe", "nvidia-installer\0--uninstall\0"),
            ("nvidia-uninstal", ""),
        ] {
            assert!(asks_to_unload(name, line), "{line:?}");
        }
        for (name, line) in [
            ("rmmod", "rmmod\0e1000e\0"),
            ("modprobe", "modprobe\0nvidia\0"),
            ("modprobe", "modprobe\0-q\0--\0net-pf-10\0"),
            ("modprobe", "modprobe\0-r\0e1000e\0"),
            ("kmod", "kmod\0list\0"),
            (
                "nvidia-imex",
                "/usr/bin/nvidia-imex\0-c\0/etc/nvidia-imex/config.cfg\0",
            ),
            ("nvidia-imex-ctl", "nvidia-imex-ctl\0-q\0"),
            ("modprobe", ""),
        ] {
            assert!(!asks_to_unload(name, line), "{line:?}");
        }
    }
}
