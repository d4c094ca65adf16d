//! A control group of version 2 for each worker (cgroups(7)): so many processes and threads, so much memory of this host,
//! and a part of its CPUs that does not grow with the number of threads.
//!
//! The server needs a part of the hierarchy that is its own and empty but for itself: a unit of systemd with `Delegate=`,
//! or a container of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::sandbox::Layer;

/// The controllers that are wanted.
const CONTROLLERS: [&str; 3] = ["memory", "pids", "cpu"];
/// Processes and threads of a worker besides its lanes: its own, and those of the driver.
const PIDS_BESIDES: u64 = 256;
/// The share of each worker: that of any group unless somebody says otherwise.
const CPU_WEIGHT: &str = "100";

/// The part of the hierarchy that is the server's.
#[derive(Debug)]
pub(super) struct Groups {
    folder: PathBuf,
    controllers: Vec<&'static str>,
    memory: Option<u64>,
    pids: u64,
}

/// Where this process is in the hierarchy of version 2, by what the kernel says of its groups and mounts.
fn own_folder(cgroup: &str, mountinfo: &str) -> Option<PathBuf> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    // proc_pid_mountinfo(5): behind the optional fields and " - " stands the kind of file system.
    let (root, point) = mountinfo.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then_some(())?;
        let mut fields = mount.split(' ').skip(3);
        Some((fields.next()?, fields.next()?))
    })?;
    let below = Path::new(path).strip_prefix(root).ok()?;
    Some(Path::new(point).join(below))
}

impl Groups {
    /// Takes the group that this process is in, with a limit of `memory` bytes and of threads for `lanes` for each worker.
    pub(super) fn take(memory: Option<u64>, lanes: u16) -> Result<Self, String> {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let folder = own_folder(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
            .ok_or("no control groups of version 2 are mounted here")?;
        Self::take_folder(folder, std::process::id(), memory, lanes)
    }

    fn take_folder(
        folder: PathBuf,
        own: u32,
        memory: Option<u64>,
        lanes: u16,
    ) -> Result<Self, String> {
        let shown = folder.display();
        let failed = |what: &str, error: io::Error| {
            format!(
                "{what} of {shown}: {error}; run the server as a unit of systemd with Delegate=yes"
            )
        };
        let controllers = fs::read_to_string(folder.join("cgroup.controllers"))
            .map_err(|error| failed("the controllers", error))?;
        let has = |name: &&str| controllers.split_whitespace().any(|one| one == *name);
        if !CONTROLLERS.iter().any(has) {
            return Err(format!(
                "{shown} has none of the controllers memory, pids and cpu: they are not delegated to it, or belong to \
                 version 1"
            ));
        }
        let processes = fs::read_to_string(folder.join("cgroup.procs"))
            .map_err(|error| failed("the processes", error))?;
        if processes
            .split_whitespace()
            .any(|pid| pid != own.to_string())
        {
            return Err(format!(
                "{shown} has other processes too: run the server as a unit of systemd with Delegate=yes"
            ));
        }
        // A group with processes of its own has no controllers for those below it.
        let leaf = folder.join("supervisor");
        fs::create_dir(&leaf)
            .or_else(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            })
            .and_then(|()| fs::write(leaf.join("cgroup.procs"), own.to_string()))
            .map_err(|error| failed("a group below that", error))?;
        let control = folder.join("cgroup.subtree_control");
        let controllers: Vec<&str> = CONTROLLERS
            .into_iter()
            .filter(|name| has(name) && fs::write(&control, format!("+{name}")).is_ok())
            .collect();
        if controllers.is_empty() {
            let _ = fs::write(folder.join("cgroup.procs"), own.to_string());
            return Err(format!("{shown} gives its controllers to no group below"));
        }
        Ok(Self {
            folder,
            controllers,
            memory,
            pids: u64::from(lanes) + PIDS_BESIDES,
        })
    }

    /// What is in force.
    pub(super) fn layer(&self) -> Layer {
        let missing: Vec<&str> = CONTROLLERS
            .into_iter()
            .filter(|name| !self.controllers.contains(name))
            .collect();
        match missing.is_empty() {
            true => Layer::active(
                "cgroup",
                match self.memory {
                    Some(bytes) => {
                        format!("processes, CPU and memory ({bytes} bytes) of each worker")
                    }
                    None => {
                        "processes and CPU of each worker; memory too with --worker-memory".into()
                    }
                },
            ),
            false => Layer::missing(
                "cgroup",
                format!(
                    "without {}: not delegated to the server",
                    missing.join(", ")
                ),
            ),
        }
    }

    /// Puts a process into a group of its own.
    pub(super) fn add(&self, pid: u32) -> io::Result<Group> {
        let group = Group(self.folder.join(format!("worker-{pid}")));
        match fs::create_dir(&group.0) {
            // Of one that had the same number.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let set = |file: &str, value: &str| fs::write(group.0.join(file), value);
        if self.controllers.contains(&"pids") {
            set("pids.max", &self.pids.to_string())?;
        }
        if self.controllers.contains(&"cpu") {
            set("cpu.weight", CPU_WEIGHT)?;
        }
        if let (true, Some(bytes)) = (self.controllers.contains(&"memory"), self.memory) {
            set("memory.max", &bytes.to_string())?;
            // Without one of its threads a worker cannot go on.
            set("memory.oom.group", "1")?;
        }
        set("cgroup.procs", &pid.to_string())?;
        Ok(group)
    }
}

/// The group of a worker; removed when dropped, which works once the worker has ended.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        // One that stays is empty, and used again by the next process with this number.
        let _ = fs::remove_dir(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n\
                      31 23 0:27 / /proc rw - proc proc rw\n";
        let found = own_folder("0::/system.slice/gtrace-serve.service\n", mounts).unwrap();
        assert_eq!(
            found,
            Path::new("/sys/fs/cgroup/system.slice/gtrace-serve.service")
        );
        // A container sees its own part only.
        let mounts = "30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        assert_eq!(
            own_folder("4:memory:/x\n0::/docker/1/a\n", mounts).unwrap(),
            Path::new("/sys/fs/cgroup/a")
        );
        assert!(own_folder("4:memory:/x\n", mounts).is_none());
        assert!(own_folder("0::/\n", "31 23 0:27 / /proc rw - proc proc rw\n").is_none());
    }

    /// A folder with the files that a group has: what is written to them stays there, and nothing else happens.
    fn folder(controllers: &str, processes: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("cgroup.controllers", controllers);
        write("cgroup.procs", processes);
        folder
    }

    #[test]
    fn a_group_is_taken_where_the_server_is_alone_and_each_worker_gets_limits() {
        let folder = folder("cpu memory pids io\n", "42\n");
        let groups = Groups::take_folder(folder.path().into(), 42, Some(1 << 30), 1024).unwrap();
        assert!(groups.layer().active, "{:?}", groups.layer());
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        assert_eq!(read("supervisor/cgroup.procs"), "42");
        let _group = groups.add(43).unwrap();
        assert_eq!(read("worker-43/cgroup.procs"), "43");
        assert_eq!(read("worker-43/memory.max"), "1073741824");
        assert_eq!(read("worker-43/pids.max"), "1280");
    }

    #[test]
    fn why_there_is_no_group_is_said() {
        for (controllers, processes, wanted) in [
            ("hugetlb\n", "42\n", "version 1"),
            ("memory pids\n", "42\n4711\n", "other processes"),
        ] {
            let folder = folder(controllers, processes);
            let why = Groups::take_folder(folder.path().into(), 42, None, 1).unwrap_err();
            assert!(why.contains(wanted), "{why}");
            assert!(!folder.path().join("supervisor").exists());
        }
        let some = folder("pids\n", "42\n");
        let groups = Groups::take_folder(some.path().into(), 42, None, 1).unwrap();
        assert!(!groups.layer().active);
        assert!(groups.layer().note.contains("without memory, cpu"));
    }
}
