//! Network file systems: whether each answers. A server that does not keeps whoever asks in the kernel, where not even
//! SIGKILL ends him; so a child process asks, one a mount, and none is started before that has ended.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::mounts::{Mount, mounts};
use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread};

pub(super) const INFO: PartInfo = PartInfo {
    name: "network_file_systems",
    gives: "whether each network file system (NFS, SMB, Ceph, Lustre and others) answers",
    needs: "a mounted network file system",
    remedy: "none needed: they are looked for every 30 s",
    every: Duration::from_secs(30),
};

const KINDS: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "ceph",
    "lustre",
    "gpfs",
    "beegfs",
    "wekafs",
    "afs",
    "9p",
    "pvfs2",
    "fuse.ceph",
    "fuse.sshfs",
    "fuse.s3fs",
    "fuse.juicefs",
    "fuse.glusterfs",
    "fuse.gcsfuse",
    "fuse.mount-s3",
    "fuse.weka",
];
/// So many are asked and have series of their own.
const MAX_MOUNTS: usize = 16;
/// How long a reading waits for the answers, all together.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest text that a child's error has.
const MAX_ERROR: u64 = 512;

/// Asks for `path` and says on standard output what failed. This is all that `gtrace statfs-child` does.
pub fn answer(path: &Path) -> bool {
    match rustix::fs::statvfs(path) {
        Ok(_) => true,
        Err(error) => {
            println!("{}", io::Error::from(error));
            false
        }
    }
}

/// This same program, to ask for a path.
pub fn probe_program() -> Command {
    // The link and not the path behind it: that may have been replaced by an upgrade.
    let mut command = Command::new("/proc/self/exe");
    command.arg("statfs-child");
    command
}

pub(super) struct NetworkFs {
    program: fn() -> Command,
    asked: BTreeMap<String, Asked>,
    /// Children of what is no longer mounted, which have not ended yet.
    orphans: Vec<Child>,
}

struct Asked {
    child: Child,
    since: Instant,
}

enum Answer {
    Yes,
    No(String),
    /// For so long.
    None(Duration),
}

impl Default for NetworkFs {
    fn default() -> Self {
        Self {
            program: probe_program,
            asked: BTreeMap::new(),
            orphans: Vec::new(),
        }
    }
}

impl Part for NetworkFs {
    fn read(&mut self, roots: &HostRoots, now: Instant) -> Result<HostReading, Unread> {
        let mut found: Vec<_> = mounts(roots)?;
        // Any user can mount by FUSE, as often as he likes: only what root has mounted is the host's, and what the kernel serves
        // itself comes first.
        let by_fuse = |mount: &Mount| mount.kind.starts_with("fuse.");
        found.retain(|mount| {
            let counts = KINDS.contains(&mount.kind.as_str());
            counts && (!by_fuse(mount) || mount.fuse_user == Some(0))
        });
        found.sort_by(|a, b| (by_fuse(a), &a.at).cmp(&(by_fuse(b), &b.at)));
        found.dedup_by(|a, b| a.at == b.at);
        self.forget(|at| found.iter().any(|mount| mount.at == at));
        if found.is_empty() {
            return Err(Unread::Absent(
                "no network file system is mounted".to_owned(),
            ));
        }
        let left_out = found.len().saturating_sub(MAX_MOUNTS);
        found.truncate(MAX_MOUNTS);
        for mount in &found {
            if self.asked.contains_key(&mount.at) {
                continue;
            }
            let path = roots.root.join(mount.at.trim_start_matches('/'));
            let child = (self.program)()
                .arg(&path)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn();
            match child {
                Ok(child) => {
                    let since = now;
                    self.asked.insert(mount.at.clone(), Asked { child, since });
                }
                Err(error) => {
                    return Err(Unread::Failed(format!("no child process to ask: {error}")));
                }
            }
        }
        let until = Instant::now() + PATIENCE;
        let mut reading = HostReading::default();
        reading.gauge(
            ("gtrace_network_file_systems_left_out", ""),
            "Network file systems beyond the first 16, which are not asked",
            &[],
            left_out as f64,
        );
        for mount in &found {
            let answer = self.wait(&mount.at, until, now);
            let labels = [("mount", mount.at.as_str()), ("type", mount.kind.as_str())];
            let (answers, waits) = match &answer {
                Answer::Yes => (1.0, Duration::ZERO),
                Answer::No(_) => (0.0, Duration::ZERO),
                Answer::None(since) => (0.0, *since),
            };
            reading.gauge(
                ("gtrace_network_file_system_answers", ""),
                "Whether a network file system answered (1) or not (0)",
                &labels,
                answers,
            );
            reading.gauge(
                ("gtrace_network_file_system_unanswered_seconds", "seconds"),
                "How long the newest request to a network file system has had no answer",
                &labels,
                waits.as_secs_f64(),
            );
            match answer {
                Answer::Yes => {}
                Answer::No(error) => {
                    reading.find(HostState::Unhealthy, format!("{}: {error}", mount.at));
                }
                Answer::None(since) => {
                    let state = match since > INFO.every {
                        true => HostState::Unhealthy,
                        false => HostState::Degraded,
                    };
                    let (at, server) = (&mount.at, &mount.device);
                    let reason =
                        format!("{at} ({server}) has not answered for {} s", since.as_secs());
                    reading.find(state, reason);
                }
            }
        }
        Ok(reading)
    }
}

impl NetworkFs {
    /// Lets go what is no longer mounted.
    fn forget(&mut self, is_mounted: impl Fn(&str) -> bool) {
        let gone: Vec<String> = self
            .asked
            .keys()
            .filter(|at| !is_mounted(at))
            .cloned()
            .collect();
        for at in gone {
            if let Some(mut asked) = self.asked.remove(&at) {
                let _ = asked.child.kill();
                self.orphans.push(asked.child);
            }
        }
        self.orphans
            .retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }

    fn wait(&mut self, at: &str, until: Instant, now: Instant) -> Answer {
        let Some(asked) = self.asked.get_mut(at) else {
            return Answer::None(Duration::ZERO);
        };
        loop {
            match asked.child.try_wait() {
                Ok(Some(status)) => {
                    let answer = ended(&mut asked.child, status);
                    self.asked.remove(at);
                    return answer;
                }
                Ok(None) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(None) => {
                    return Answer::None(now.saturating_duration_since(asked.since).max(PATIENCE));
                }
                Err(error) => return Answer::No(error.to_string()),
            }
        }
    }
}

fn ended(child: &mut Child, status: ExitStatus) -> Answer {
    if status.success() {
        return Answer::Yes;
    }
    let mut text = String::new();
    if let Some(out) = child.stdout.take() {
        let _ = out.take(MAX_ERROR).read_to_string(&mut text);
    }
    match text.trim() {
        "" => Answer::No(format!("the child process that asks ended with {status}")),
        error => Answer::No(error.to_owned()),
    }
}

impl Drop for NetworkFs {
    fn drop(&mut self) {
        for asked in self.asked.values_mut() {
            let _ = asked.child.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::part::value;
    use super::*;

    fn program(text: &'static str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text, "sh"]);
        command
    }

    fn with(program: fn() -> Command) -> NetworkFs {
        let mut part = NetworkFs::default();
        part.program = program;
        part
    }

    fn mount(dir: &Path, text: &str) -> HostRoots {
        fs::create_dir_all(dir.join("proc/1")).unwrap();
        fs::write(dir.join("proc/1/mounts"), text).unwrap();
        HostRoots::new(dir.join("proc"), dir.join("sys"))
    }

    const TWO: &str = "filer:/a /a nfs4 rw 0 0\n/dev/sda1 / ext4 rw 0 0\n//s/b /b cifs rw 0 0\n";

    #[test]
    fn without_any_it_is_absent_and_with_some_each_is_asked() {
        let dir = tempfile::tempdir().unwrap();
        let roots = mount(dir.path(), "/dev/sda1 / ext4 rw 0 0\n");
        let mut part = with(|| program("exit 0"));
        assert!(matches!(
            part.read(&roots, Instant::now()),
            Err(Unread::Absent(_))
        ));
        let roots = mount(dir.path(), TWO);
        let reading = part.read(&roots, Instant::now()).unwrap();
        assert_eq!(reading.state, HostState::Healthy);
        for at in ["/a", "/b"] {
            assert_eq!(
                value(
                    &reading,
                    "gtrace_network_file_system_answers",
                    &[("mount", at)]
                ),
                Some(1.0)
            );
        }
        assert!(part.asked.is_empty());
    }

    #[test]
    fn what_users_mount_by_fuse_pushes_nothing_out() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for n in 0..2 * MAX_MOUNTS {
            text.push_str(&format!(
                "u@h:/ /a{n} fuse.sshfs rw,user_id=1000,group_id=1000 0 0\n"
            ));
            text.push_str(&format!("juice /b{n} fuse.juicefs rw,user_id=0 0 0\n"));
        }
        text.push_str("filer:/z /z nfs4 rw 0 0\n");
        let roots = mount(dir.path(), &text);
        let mut part = with(|| program("exit 0"));
        let reading = part.read(&roots, Instant::now()).unwrap();
        let answers = |at: &str| {
            let labels = [("mount", at)];
            value(&reading, "gtrace_network_file_system_answers", &labels)
        };
        assert_eq!(answers("/z"), Some(1.0));
        assert_eq!((answers("/a0"), answers("/b0")), (None, Some(1.0)));
        let left_out = value(&reading, "gtrace_network_file_systems_left_out", &[]);
        assert_eq!(left_out, Some((MAX_MOUNTS + 1) as f64));
    }

    #[test]
    fn one_that_hangs_is_asked_once_and_does_not_keep_the_other_waiting_and_recovers() {
        let dir = tempfile::tempdir().unwrap();
        let roots = mount(dir.path(), TWO);
        let gate = dir.path().join("proc/1/root/a.answers");
        fs::create_dir_all(gate.parent().unwrap()).unwrap();
        // `/a` answers once the file beside it is there.
        let mut part = with(|| {
            program("case $1 in */a) while [ ! -e $1.answers ]; do sleep 0.02; done;; esac")
        });
        let now = Instant::now();
        let first = part.read(&roots, now).unwrap();
        assert_eq!(first.state, HostState::Degraded);
        assert_eq!(first.reasons, ["/a (filer:/a) has not answered for 2 s"]);
        assert_eq!(
            value(
                &first,
                "gtrace_network_file_system_answers",
                &[("mount", "/b")]
            ),
            Some(1.0)
        );
        let pid = part.asked["/a"].child.id();
        let second = part.read(&roots, now + Duration::from_secs(60)).unwrap();
        assert_eq!(second.state, HostState::Unhealthy);
        assert_eq!(part.asked["/a"].child.id(), pid, "it was asked again");
        fs::write(&gate, "").unwrap();
        let third = part.read(&roots, now + Duration::from_secs(90)).unwrap();
        assert_eq!(third.state, HostState::Healthy, "{third:?}");
    }

    #[test]
    fn an_error_is_named_and_what_is_unmounted_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let mut part = with(|| program("echo Stale file handle; exit 1"));
        let reading = part.read(&mount(dir.path(), TWO), Instant::now()).unwrap();
        assert_eq!(reading.state, HostState::Unhealthy);
        assert_eq!(reading.reasons[0], "/a: Stale file handle");
        part.program = || program("sleep 60");
        part.read(
            &mount(dir.path(), "filer:/a /a nfs4 rw 0 0\n"),
            Instant::now(),
        )
        .unwrap();
        assert_eq!(part.asked.len(), 1);
        let absent = part.read(&mount(dir.path(), ""), Instant::now());
        assert!(matches!(absent, Err(Unread::Absent(_))));
        assert!(part.asked.is_empty());
    }
}
