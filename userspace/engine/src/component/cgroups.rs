//! Limits of memory: how near the control groups of GPU processes, and that of the daemon, are to the memory that they may have. Beyond it the
//! kernel kills.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst: memory.max, memory.current, memory.stat, memory.events. A limit of a group holds
//! for those below it, so the tightest above a process counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gtrace_api::{ComponentHealth, SourceState};
use gtrace_devices::{Metric, read_pseudo_file};

use super::{About, Component, Context, Snapshot, show, start_unless_off};
use crate::supervise::{self, Task, names};

/// Name of component and thread.
pub const NAME: &str = names::CGROUPS;
/// Between two readings.
const EVERY: Duration = Duration::from_secs(30);
/// Longest time between two heartbeats.
const SILENCE: Duration = Duration::from_secs(90);
/// Groups that have series of their own.
const MAX_GROUPS: usize = 32;
/// Processes that are looked at.
const MAX_PROCESSES: usize = 256;
/// Above this share of a limit the next allocation may be the last.
const NEAR: f64 = 0.95;
/// Groups above each other, at most.
const DEPTH: usize = 32;

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct ControlGroups;

impl Component for ControlGroups {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "how near the control groups of GPU processes and of the daemon are to their limits of memory",
            needs: "unified control groups (cgroup v2) with the memory controller",
            remedy: "boot with systemd.unified_cgroup_hierarchy=1; in a container mount the host's /sys",
            task: NAME,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        let file = root(context).join("cgroup.controllers");
        let controllers =
            read_pseudo_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        match controllers
            .split_ascii_whitespace()
            .any(|name| name == "memory")
        {
            true => Ok(()),
            false => Err(format!("{} has no memory controller", file.display())),
        }
    }

    fn start(&self, context: &Context) -> std::io::Result<()> {
        let task = Task::optional(NAME, SILENCE);
        start_unless_off(context, NAME, task, |context, pulse| {
            while !pulse.is_stopping() {
                supervise::beat();
                round(context);
                pulse.wait_for_next(EVERY);
            }
        })
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        context.cgroups.judge("it was not read yet")
    }
}

fn root(context: &Context) -> PathBuf {
    context.sysfs_root.join("fs/cgroup")
}

/// A group with a limit.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// Share of the limit that cannot be taken back: all but pages of files, and objects of the kernel that it can free.
    share: f64,
    limit: f64,
    kills: f64,
    /// Who is in it, or below it.
    who: String,
}

/// Reads the groups of all GPU processes and of this one.
fn round(context: &Context) {
    if let Err(why) = ControlGroups.supported(context) {
        show(&context.hub, NAME, SourceState::Absent, Some(why));
        return;
    }
    let root = root(context);
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let users = context.hub.status().gpu_processes;
    let processes = users.iter().take(MAX_PROCESSES);
    let processes = processes.map(|user| {
        (
            user.pid.to_string(),
            format!("{} ({})", user.comm, user.pid),
        )
    });
    let own = ("self".to_owned(), "gtrace itself".to_owned());
    for (pid, who) in [own].into_iter().chain(processes) {
        let path = context.proc_root.join(&pid).join("cgroup");
        // A process that has ended has none.
        let Some(path) = read_pseudo_file(&path).ok().as_deref().and_then(unified) else {
            continue;
        };
        if let Some((name, group)) = tightest(&root, &path, who)
            && groups.len() < MAX_GROUPS
        {
            groups.entry(name).or_insert(group);
        }
    }
    if supervise::is_revoked() {
        return;
    }
    let near = groups.iter().filter(|(_, group)| group.share > NEAR);
    let reasons = near.map(|(name, group)| {
        let (percent, mib) = (group.share * 100.0, group.limit / 1_048_576.0);
        format!(
            "{}: {percent:.0} % of the {mib:.0} MiB that the control group {name} may have are in use",
            group.who
        )
    });
    context.cgroups.set(reasons);
    context.hub.samples.publish_now(
        NAME,
        EVERY,
        groups
            .iter()
            .flat_map(|(name, group)| measured(name, group))
            .collect(),
    );
    show(&context.hub, NAME, SourceState::Active, None);
}

fn measured(name: &str, group: &Group) -> [Metric; 3] {
    gtrace_devices::metric_table! {
        gauge "gtrace_cgroup_memory_ratio" ["ratio"] "Share of a control group's limit of memory that is in use, less pages of files and objects of the kernel that it can take back" =>
            group.share;
        gauge "gtrace_cgroup_memory_limit_bytes" ["bytes"] "Memory that a control group may have: that of GPU processes, or the one above with the tightest limit" =>
            group.limit;
        counter "gtrace_cgroup_oom_kills" [""] "Processes that the kernel has killed in a control group for lack of memory" =>
            group.kills;
    }
    .map(|metric| metric.with(vec![("cgroup", name.to_owned())]))
}

/// The path in the unified hierarchy.
fn unified(text: &str) -> Option<String> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // One outside of what this container sees begins with `..`.
    (!path.split('/').any(|part| part == "..")).then(|| path.to_owned())
}

/// The group at or above `path` that is nearest to its limit.
fn tightest(root: &Path, path: &str, who: String) -> Option<(String, Group)> {
    let mut found: Option<(String, Group)> = None;
    let mut path = Path::new(path);
    for _ in 0..DEPTH {
        if let Some((share, limit, kills)) = read(&root.join(path))
            && found.as_ref().is_none_or(|(_, known)| share > known.share)
        {
            let who = who.clone();
            let group = Group {
                share,
                limit,
                kills,
                who,
            };
            found = Some((format!("/{}", path.display()), group));
        }
        // The root is a group with a limit where the container has a namespace of groups. That of the host has none.
        let Some(above) = path.parent() else { break };
        path = above;
    }
    found
}

fn read(group: &Path) -> Option<(f64, f64, f64)> {
    let text = |name: &str| read_pseudo_file(&group.join(name)).unwrap_or_default();
    let number = |name: &str| -> Option<f64> { text(name).trim().parse().ok() };
    // `max`, which is no number, is no limit.
    let limit = number("memory.max").filter(|limit| *limit > 0.0)?;
    let current = number("memory.current")?;
    let field = |text: &str, name: &str| -> Option<f64> {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line?.parse().ok()
    };
    // A job that reads files has them in the active list too. Memory of tmpfs and of shared memory is in neither: it cannot be taken back.
    let freed = ["inactive_file", "active_file", "slab_reclaimable"];
    // Read once: the kernel adds it up for each reader.
    let stat = text("memory.stat");
    let freed = freed.map(|name| field(&stat, name).unwrap_or(0.0));
    let freed: f64 = freed.iter().sum();
    let kills = field(&text("memory.events"), "oom_kill").unwrap_or(0.0);
    Some(((current - freed).max(0.0) / limit, limit, kills))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use gtrace_api::{DeviceUser, HealthState};

    use super::*;

    struct World {
        dir: tempfile::TempDir,
        context: Context,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let context = Context {
                proc_root: dir.path().join("proc"),
                sysfs_root: dir.path().join("sys"),
                ..Context::shown()
            };
            context.hub.set_gpu_processes(vec![DeviceUser {
                pid: 7,
                comm: "train".to_owned(),
                devices: Vec::new(),
                open_files: 1,
            }]);
            Self { dir, context }
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn group(&self, path: &str, max: &str, current: u64, cache: u64) {
            let at = format!("sys/fs/cgroup/{path}");
            self.write(&format!("{at}/memory.max"), &format!("{max}\n"));
            self.write(&format!("{at}/memory.current"), &format!("{current}\n"));
            self.write(
                &format!("{at}/memory.stat"),
                &format!("anon 1\ninactive_file {cache}\nslab_reclaimable 4\n"),
            );
            self.write(&format!("{at}/memory.events"), "oom 3\noom_kill 2\n");
        }

        fn state(&self) -> SourceState {
            self.context.source(NAME).state
        }

        fn health(&self) -> ComponentHealth {
            round(&self.context);
            self.context.checked(NAME)
        }
    }

    #[test]
    fn the_tightest_limit_above_a_gpu_process_counts_and_caches_do_not() {
        let world = World::new();
        assert_eq!(world.health().state, HealthState::Unknown);
        assert_eq!(world.state(), SourceState::Absent);
        world.write("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n");
        world.write("proc/7/cgroup", "0::/pods/pod1/main\n");
        world.write("proc/self/cgroup", "0::/system.slice/gtrace.service\n");
        world.group("pods/pod1/main", "max", 999, 0);
        world.group("pods/pod1", "1000", 994, 500);
        world.group("system.slice/gtrace.service", "1000", 104, 0);
        assert_eq!(world.health().state, HealthState::Healthy);
        assert_eq!(world.state(), SourceState::Active);
        let metrics = world.context.hub.samples.newest();
        let value = |name: &str, group: &str| {
            let has = |m: &&Metric| m.name == name && m.labels[0].1 == group;
            metrics.iter().find(has).map(|m| m.value)
        };
        assert_eq!(
            value("gtrace_cgroup_memory_ratio", "/pods/pod1"),
            Some(0.49)
        );
        assert_eq!(value("gtrace_cgroup_oom_kills", "/pods/pod1"), Some(2.0));
        assert_eq!(
            value("gtrace_cgroup_memory_ratio", "/system.slice/gtrace.service"),
            Some(0.1)
        );
        // Files that are used are no need: the kernel drops their pages too.
        world.group("pods/pod1", "1000", 994, 10);
        let stat = "sys/fs/cgroup/pods/pod1/memory.stat";
        world.write(stat, "inactive_file 10\nactive_file 700\nshmem 5\n");
        assert_eq!(world.health().state, HealthState::Healthy);
        world.group("pods/pod1", "1000", 994, 10);
        let judged = world.health();
        assert_eq!(judged.state, HealthState::Degraded);
        assert!(
            judged.reasons[0].contains("train (7)") && judged.reasons[0].contains("/pods/pod1"),
            "{judged:?}"
        );
        // The process has ended.
        fs::remove_file(world.dir.path().join("proc/7/cgroup")).unwrap();
        assert_eq!(world.health().state, HealthState::Healthy);
        for wrong in ["", "1:memory:/x\n", "0::/../../x\n", "0::/nowhere\n"] {
            world.write("proc/7/cgroup", wrong);
            assert_eq!(world.health().state, HealthState::Healthy);
        }
    }

    #[test]
    fn the_root_of_a_container_with_its_own_namespace_has_a_limit_too() {
        let world = World::new();
        world.write("sys/fs/cgroup/cgroup.controllers", "memory\n");
        world.write("proc/self/cgroup", "0::/\n");
        assert_eq!(world.health().state, HealthState::Healthy, "as on a host");
        world.group("", "1000", 980, 10);
        let judged = world.health();
        assert_eq!(judged.state, HealthState::Degraded);
        let reason = &judged.reasons[0];
        assert!(reason.starts_with("gtrace itself: 97 %"), "{reason}");
        assert!(reason.contains("the control group / may"), "{reason}");
    }
}
