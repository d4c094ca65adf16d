//! What system this is, and who we are on it.

use std::collections::HashMap;
use std::fs;

/// `/etc/os-release`, as far as it is needed here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct OsRelease {
    /// `debian`, `ubuntu`, `fedora`, …
    pub(crate) id: String,
    /// What it is derived from.
    pub(crate) id_like: Vec<String>,
    /// For people.
    pub(crate) pretty_name: String,
}

impl OsRelease {
    /// Reads `/etc/os-release`, or `/usr/lib/os-release` where that one is missing.
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string("/etc/os-release")
            .or_else(|_| fs::read_to_string("/usr/lib/os-release"))
            .unwrap_or_default();
        Self::parse(&text)
    }

    /// Parses the format of os-release(5): shell-like assignments, values maybe quoted.
    pub(crate) fn parse(text: &str) -> Self {
        let mut values: HashMap<&str, String> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .filter_map(|line| line.trim().split_once('='))
            .map(|(key, value)| (key, unquote(value)))
            .collect();
        Self {
            id: values.remove("ID").unwrap_or_else(|| "linux".into()),
            id_like: values
                .remove("ID_LIKE")
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            pretty_name: values
                .remove("PRETTY_NAME")
                .unwrap_or_else(|| "Linux".into()),
        }
    }

    /// Whether packages come from apt under Debian's names.
    pub(crate) fn is_debian_like(&self) -> bool {
        std::iter::once(&self.id)
            .chain(&self.id_like)
            .any(|id| id == "debian" || id == "ubuntu")
    }
}

fn unquote(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
        {
            return inner.replace("\\\"", "\"");
        }
    }
    value.to_owned()
}

/// Whether this process runs with the effective user id 0.
pub(crate) fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| effective_uid(&status) == Some(0))
}

/// The second number of the `Uid:` line, proc_pid_status(5).
fn effective_uid(status: &str) -> Option<u32> {
    status
        .lines()
        .find_map(|line| line.strip_prefix("Uid:"))?
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

/// Whether a file system of `kind` is mounted at `at`, by the text of /proc/self/mounts.
pub(crate) fn is_mounted(mounts: &str, kind: &str, at: &str) -> bool {
    mounts.lines().any(|line| {
        let mut fields = line.split(' ').skip(1);
        fields.next() == Some(at) && fields.next() == Some(kind)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_debian_and_what_is_derived_from_it() {
        let debian = OsRelease::parse(
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nID=debian\n",
        );
        assert_eq!(debian.pretty_name, "Debian GNU/Linux 12 (bookworm)");
        assert!(debian.is_debian_like());
        let mint = OsRelease::parse("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n");
        assert_eq!(mint.id_like, ["ubuntu", "debian"]);
        assert!(mint.is_debian_like());
    }

    #[test]
    fn a_system_without_apt_is_not_taken_for_debian() {
        let rocky = OsRelease::parse("ID='rocky'\nID_LIKE=\"rhel centos fedora\"\n#ID=debian\n");
        assert_eq!(rocky.id, "rocky");
        assert!(!rocky.is_debian_like());
        assert!(!OsRelease::parse("").is_debian_like());
    }

    #[test]
    fn the_effective_user_counts_not_the_real_one() {
        assert_eq!(
            effective_uid("Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t1\n"),
            Some(0)
        );
        assert_eq!(effective_uid("Uid:\t0\t1000\t1000\t1000\n"), Some(1000));
        assert_eq!(effective_uid("Name:\tx\n"), None);
    }

    #[test]
    fn a_mount_is_known_by_place_and_kind() {
        let mounts = "proc /proc proc rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\n";
        assert!(is_mounted(mounts, "tracefs", "/sys/kernel/tracing"));
        assert!(!is_mounted(mounts, "tracefs", "/sys/kernel"));
        assert!(!is_mounted(mounts, "bpf", "/sys/kernel/tracing"));
    }
}
