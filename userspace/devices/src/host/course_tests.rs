//! The course of each part: absent, working, broken, hanging, recovering; and that no other part notices.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::super::nvme::Nvme;
use super::super::part::HostThresholds;
use super::super::{HostState, PARTS};
use super::*;

type Files = &'static [(&'static str, &'static str)];

/// A part that reads files.
struct Course {
    name: &'static str,
    /// All that it needs.
    working: Files,
    /// What is another way, or there besides, once something is wrong; empty: nothing can be wrong here.
    broken: Files,
    /// The file that does not answer.
    hangs: &'static str,
}

const INIT: &str =
    "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 18446744073709551615\n";

const COURSES: [Course; 9] = [
    Course {
        name: "disk",
        working: &[("proc/1/mounts", "/dev/sda1 / ext4 rw 0 0\n")],
        broken: &[
            ("sys/block/md0/md/degraded", "1\n"),
            ("sys/block/md0/md/array_state", "clean\n"),
        ],
        hangs: "proc/1/mounts",
    },
    Course {
        name: "limits",
        working: &[("proc/sys/fs/file-nr", "5 0 100\n")],
        broken: &[("proc/sys/fs/file-nr", "99 0 100\n")],
        hangs: "proc/sys/fs/file-nr",
    },
    Course {
        name: "memory",
        working: &[("proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 90 kB\n")],
        broken: &[("proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 3 kB\n")],
        hangs: "proc/meminfo",
    },
    Course {
        name: "tasks",
        working: &[("proc/1/stat", INIT)],
        broken: &[(
            "proc/2/stat",
            "2 (gone) Z 1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 18446744073709551615\n",
        )],
        hangs: "proc/1/stat",
    },
    Course {
        name: "cpu",
        working: &[("proc/stat", "cpu  1 0 0 9 0 0 0 0 0 0\n")],
        // Stolen time.
        broken: &[("proc/stat", "cpu  1 0 0 9 0 0 0 900 0 0\n")],
        hangs: "proc/stat",
    },
    Course {
        name: "kernel",
        working: &[("proc/sys/kernel/tainted", "0\n")],
        // An oops.
        broken: &[("proc/sys/kernel/tainted", "128\n")],
        hangs: "proc/sys/kernel/tainted",
    },
    Course {
        name: "services",
        working: &[
            ("proc/1/root/usr/lib/systemd/system/docker.service", ""),
            (
                "proc/1/root/etc/systemd/system/multi-user.target.wants/docker.service",
                "",
            ),
            (
                "sys/fs/cgroup/system.slice/docker.service/cgroup.events",
                "populated 1\n",
            ),
        ],
        broken: &[(
            "sys/fs/cgroup/system.slice/docker.service/cgroup.events",
            "populated 0\n",
        )],
        hangs: "sys/fs/cgroup/system.slice/docker.service/cgroup.events",
    },
    Course {
        name: "fabric_manager",
        working: &[
            ("proc/1/root/var/log/fabricmanager.log", ""),
            (
                "proc/1/root/usr/share/nvidia/nvswitch/fabricmanager.cfg",
                "LOG_LEVEL=4\n",
            ),
        ],
        broken: &[],
        hangs: "proc/1/root/usr/share/nvidia/nvswitch/fabricmanager.cfg",
    },
    Course {
        name: "isolation",
        working: &[
            ("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n"),
            ("sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n"),
        ],
        broken: &[],
        hangs: "sys/bus/pci/devices/0000:3b:00.0/class",
    },
];

/// Parts of another kind: the first two are below, the third has a child for each mount and a course of its own in network.rs.
const OTHERS: [&str; 3] = ["clock", "nvme", "network_file_systems"];

/// A part that is there all the time.
const NEIGHBOUR: (&str, &str, &str) = ("limits", "proc/sys/fs/file-nr", "5 0 100\n");
const OTHER_NEIGHBOUR: (&str, &str, &str) = ("kernel", "proc/sys/kernel/tainted", "0\n");

/// For what would else wait for ever.
const PATIENCE: Duration = Duration::from_secs(30);

struct Watched {
    watch: HostWatch,
    neighbour: &'static str,
    now: Instant,
}

impl Watched {
    fn new(root: &Path, name: &str, clock: fn() -> io::Result<ClockReading>) -> Self {
        let neighbour = match name == NEIGHBOUR.0 {
            true => OTHER_NEIGHBOUR.0,
            false => NEIGHBOUR.0,
        };
        let off: Vec<_> = PARTS.iter().map(|info| info.name).collect();
        let off: Vec<_> = off
            .into_iter()
            .filter(|other| *other != name && *other != neighbour)
            .collect();
        let thresholds = HostThresholds {
            // The disk is this host's.
            disk_low: 0.0,
            disk_empty: 0.0,
            memory_low: 0.5,
            zombies: 0,
            service_down: Duration::ZERO,
            ..HostThresholds::default()
        };
        let roots = HostRoots {
            thresholds,
            ..HostRoots::new(root.join("proc"), root.join("sys"))
        };
        Self {
            watch: HostWatch::new(roots, &off, clock, Duration::from_millis(50)),
            neighbour,
            now: Instant::now(),
        }
    }

    /// Reads both parts an hour later, and again until the neighbour has answered, as it does whatever happens to the other; a busy
    /// machine can take longer than the deadline.
    fn read(&mut self, name: &str) -> HostOutcome {
        let until = Instant::now() + PATIENCE;
        loop {
            self.now += Duration::from_secs(3600);
            let mut found = BTreeMap::new();
            while let Some((name, outcome)) = self.watch.read_next(self.now) {
                found.insert(name, outcome);
            }
            match &found[self.neighbour] {
                HostOutcome::Read(_) => return found.remove(name).unwrap(),
                HostOutcome::Unanswered(_) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                outcome => panic!("beside {name}: {outcome:?}"),
            }
        }
    }

    /// Reads until a reading that hung, or was slow, has ended.
    fn answered(&mut self, name: &str) -> HostOutcome {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.read(name) {
                HostOutcome::Unanswered(_) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                outcome => return outcome,
            }
        }
    }
}

fn put(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Nothing but what the neighbours read.
fn reset(root: &Path) {
    for folder in ["proc", "sys"] {
        let _ = fs::remove_dir_all(root.join(folder));
        fs::create_dir_all(root.join(folder)).unwrap();
    }
}

fn neighbours(root: &Path, name: &str) {
    for (part, path, text) in [NEIGHBOUR, OTHER_NEIGHBOUR] {
        if part != name {
            put(root, &[(path, text)]);
        }
    }
}

fn state(name: &str, outcome: HostOutcome) -> HostState {
    match outcome {
        HostOutcome::Read(reading) => reading.state,
        outcome => panic!("{name}: {outcome:?}"),
    }
}

#[test]
fn every_part_has_a_course() {
    let mut named: Vec<_> = COURSES.iter().map(|course| course.name).collect();
    named.extend(OTHERS);
    named.sort_unstable();
    let mut parts: Vec<_> = PARTS.iter().map(|info| info.name).collect();
    parts.sort_unstable();
    assert_eq!(named, parts);
}

#[test]
fn parts_that_read_files_are_absent_work_break_hang_and_recover() {
    for course in &COURSES {
        let name = course.name;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let mut watched = Watched::new(root, name, || Err(io::Error::other("no clock")));
        let begin = |files: Files| {
            reset(root);
            neighbours(root, name);
            put(root, files);
        };
        begin(&[]);
        let absent = watched.answered(name);
        assert!(
            matches!(absent, HostOutcome::Unread(_)),
            "{name}: {absent:?}"
        );
        begin(course.working);
        assert_eq!(
            state(name, watched.answered(name)),
            HostState::Healthy,
            "{name}"
        );
        if !course.broken.is_empty() {
            put(root, course.broken);
            assert!(
                state(name, watched.answered(name)) > HostState::Healthy,
                "{name}"
            );
        }
        begin(course.working);
        assert_eq!(
            state(name, watched.answered(name)),
            HostState::Healthy,
            "{name}"
        );

        let file = root.join(course.hangs);
        fs::remove_file(&file).unwrap();
        let made = Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        for _ in 0..3 {
            let hung = watched.read(name);
            assert!(
                matches!(hung, HostOutcome::Unanswered(_)),
                "{name}: {hung:?}"
            );
        }
        // A writer that has nothing to say lets the reading end.
        drop(fs::OpenOptions::new().write(true).open(&file).unwrap());
        begin(course.working);
        assert_eq!(
            state(name, watched.answered(name)),
            HostState::Healthy,
            "{name}"
        );
    }
}

const ABSENT: u8 = 0;
const WORKING: u8 = 1;
const BROKEN: u8 = 2;
const HANGING: u8 = 3;

/// Waits while `phase` says so, as a system call does whose device does not answer; gives the phase.
fn answered(phase: &AtomicU8) -> u8 {
    loop {
        match phase.load(Ordering::SeqCst) {
            HANGING => std::thread::sleep(Duration::from_millis(1)),
            phase => return phase,
        }
    }
}

fn course_of_a_call(watched: &mut Watched, name: &str, phase: &AtomicU8) {
    let mut read = |at: u8| {
        phase.store(at, Ordering::SeqCst);
        match at {
            HANGING => watched.read(name),
            _ => watched.answered(name),
        }
    };
    let absent = read(ABSENT);
    assert!(
        matches!(absent, HostOutcome::Unread(_)),
        "{name}: {absent:?}"
    );
    assert_eq!(state(name, read(WORKING)), HostState::Healthy, "{name}");
    assert!(state(name, read(BROKEN)) > HostState::Healthy, "{name}");
    for _ in 0..3 {
        let hung = read(HANGING);
        assert!(
            matches!(hung, HostOutcome::Unanswered(_)),
            "{name}: {hung:?}"
        );
    }
    phase.store(WORKING, Ordering::SeqCst);
    assert_eq!(
        state(name, watched.answered(name)),
        HostState::Healthy,
        "{name}"
    );
}

#[test]
fn a_clock_that_does_not_answer_keeps_nobody_waiting_and_recovers() {
    static PHASE: AtomicU8 = AtomicU8::new(ABSENT);
    fn clock() -> io::Result<ClockReading> {
        let phase = answered(&PHASE);
        if phase == ABSENT {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(ClockReading {
            synchronised: phase == WORKING,
            max_error: Duration::ZERO,
            offset_ns: 0,
        })
    }
    let dir = tempfile::tempdir().unwrap();
    neighbours(dir.path(), "clock");
    let mut watched = Watched::new(dir.path(), "clock", clock);
    course_of_a_call(&mut watched, "clock", &PHASE);
}

/// The first of two disks does not answer: the driver waits for it in the system call.
#[test]
fn an_nvme_disk_that_does_not_answer_keeps_nobody_waiting_and_recovers() {
    static PHASE: AtomicU8 = AtomicU8::new(ABSENT);
    fn ask(disk: &str) -> io::Result<[u8; 512]> {
        let mut log = [0; 512];
        log[..6].copy_from_slice(&[0, 0x3b, 0x01, 90, 10, 1]);
        if disk == "nvme0" {
            match answered(&PHASE) {
                ABSENT => return Err(io::ErrorKind::PermissionDenied.into()),
                // Read-only.
                BROKEN => log[0] = 0x08,
                _ => {}
            }
        } else if PHASE.load(Ordering::SeqCst) == ABSENT {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(log)
    }
    let dir = tempfile::tempdir().unwrap();
    neighbours(dir.path(), "nvme");
    for disk in ["nvme0", "nvme1"] {
        fs::create_dir_all(dir.path().join("sys/class/nvme").join(disk)).unwrap();
    }
    let mut watched = Watched::new(dir.path(), "nvme", || Err(io::Error::other("no clock")));
    for (info, slot, _) in &mut watched.watch.slots {
        if info.name == "nvme" {
            *slot = Slot::Idle(Box::new(Nvme(ask)));
        }
    }
    course_of_a_call(&mut watched, "nvme", &PHASE);
}
