//! Giving up what the daemon does not need once it is set up.

use anyhow::Context as _;
use caps::{CapSet, Capability, CapsHashSet};

/// kernel.perf_event_paranoid; mainline kernels know no more than 2.
fn perf_event_paranoid() -> i32 {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    text.ok().and_then(|t| t.trim().parse().ok()).unwrap_or(2)
}

/// Drops every capability of this thread, and of those that it will start, but what the daemon goes
/// on to use:
///
/// * CAP_BPF, CAP_PERFMON: load and attach the probes, again after a pause;
/// * CAP_SYSLOG: read /dev/kmsg;
/// * CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE: control group and open devices of other users'
///   processes;
/// * CAP_CHECKPOINT_RESTORE, with `libraries`: open libraries that processes have mapped and that were
///   deleted or replaced since (/proc/PID/map_files);
/// * CAP_SYS_ADMIN, only where kernel.perf_event_paranoid is above 2: the kernels of Debian and Ubuntu
///   then ask for it to attach any probe (their patch of perf_event_open: `perf_paranoid_any() &&
///   !capable(CAP_SYS_ADMIN)`).
pub fn drop_unneeded(libraries: bool) -> anyhow::Result<()> {
    let paranoid = perf_event_paranoid();
    let keep = kept(libraries, paranoid);
    if keep.contains(&Capability::CAP_SYS_ADMIN) {
        tracing::info!(
            "CAP_SYS_ADMIN is kept, as kernel.perf_event_paranoid is {paranoid}; with 2 it is dropped"
        );
    }
    let have = caps::read(None, CapSet::Permitted).context("capabilities cannot be read")?;
    let keep: CapsHashSet = have.intersection(&keep).copied().collect();
    // systemd has narrowed the bounding set already, and taken CAP_SETPCAP with it.
    let may_narrow = have.contains(&Capability::CAP_SETPCAP);
    for capability in have.difference(&keep).filter(|_| may_narrow) {
        caps::drop(None, CapSet::Bounding, *capability)
            .with_context(|| format!("{capability} cannot be dropped from the bounding set"))?;
    }
    caps::clear(None, CapSet::Inheritable).context("inheritable capabilities stay")?;
    caps::set(None, CapSet::Effective, &keep).context("effective capabilities stay")?;
    caps::set(None, CapSet::Permitted, &keep).context("permitted capabilities stay")?;
    Ok(())
}

/// What is kept, see [`drop_unneeded`].
fn kept(libraries: bool, paranoid: i32) -> CapsHashSet {
    let mut keep: CapsHashSet = [
        Capability::CAP_BPF,
        Capability::CAP_PERFMON,
        Capability::CAP_SYSLOG,
        Capability::CAP_DAC_READ_SEARCH,
        Capability::CAP_SYS_PTRACE,
    ]
    .into();
    if libraries {
        keep.insert(Capability::CAP_CHECKPOINT_RESTORE);
    }
    if paranoid > 2 {
        keep.insert(Capability::CAP_SYS_ADMIN);
    }
    keep
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::kept;

    #[test]
    fn unit_profile_and_manifest_give_the_daemon_what_it_keeps_and_no_more() {
        let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
        let lines = |file: &str, start: &str| -> Vec<String> {
            let text = std::fs::read_to_string(packaging.join(file)).unwrap();
            let lines = text
                .lines()
                .filter_map(|line| line.trim().strip_prefix(start));
            lines.map(str::to_owned).collect()
        };
        let names = |lines: &[String]| -> BTreeSet<String> {
            let words = lines
                .iter()
                .flat_map(|line| line.split(|c: char| !(c.is_ascii_alphabetic() || c == '_')));
            let names = words.filter(|word| !word.is_empty());
            let names = names.map(|name| name.to_uppercase().trim_start_matches("CAP_").to_owned());
            names.collect()
        };
        let needed: Vec<String> = kept(true, 3).iter().map(ToString::to_string).collect();
        let needed = names(&needed);
        for (file, start) in [
            ("gtrace.service", "CapabilityBoundingSet="),
            ("apparmor/gtrace-daemon", "capability "),
            ("kubernetes/base/daemonset.yaml", "add: ["),
        ] {
            assert_eq!(names(&lines(file, start)), needed, "{file}");
        }
    }
}
