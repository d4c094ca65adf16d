//! Tasks that do not get on: zombies, and those in uninterruptible sleep that have a GPU open or are ending.
//!
//! Source: /proc/PID/stat, third field and flags (proc_pid_stat(5)); /proc/PID/status, context switches and whether a core is
//! written. Threads other than the first of a process are not read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::part::{HostReading, HostRoots, HostState, Part, PartInfo, Unread};
use crate::sysfs;

pub(super) const INFO: PartInfo = PartInfo {
    name: "tasks",
    gives: "processes by state, and GPU processes that are stuck in the kernel",
    needs: "/proc, and CAP_SYS_PTRACE to know which have a GPU open",
    remedy: "run as root or with CAP_SYS_PTRACE",
    every: Duration::from_secs(60),
};

/// A GPU process that is stuck for so many times the threshold will hardly come back.
const FOR_GOOD: u32 = 10;
/// PF_EXITING and PF_KTHREAD (include/linux/sched.h).
const EXITING: u32 = 0x4;
const KERNEL_THREAD: u32 = 0x20_0000;
/// So many stuck processes are named.
const MAX_NAMED: usize = 4;

const STATES: [(char, &str); 7] = [
    ('R', "running"),
    ('S', "sleeping"),
    ('D', "uninterruptible"),
    ('Z', "zombie"),
    ('T', "stopped"),
    ('t', "traced"),
    ('I', "idle"),
];

#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Since when each process, by pid and start time, is in uninterruptible sleep, and its context switches so far.
    waiting: BTreeMap<(u32, u64), (Instant, Option<u64>)>,
}

struct Stat {
    comm: String,
    state: char,
    /// PF_* of the kernel.
    flags: u32,
    started: u64,
}

impl Part for Tasks {
    fn read(&mut self, roots: &HostRoots, now: Instant) -> Result<HostReading, Unread> {
        let entries = fs::read_dir(&roots.proc)
            .map_err(|e| Unread::Failed(format!("{}: {e}", roots.proc.display())))?;
        let limit = roots.thresholds.stuck_process;
        let mut counts = [0_u32; STATES.len()];
        let mut waiting = BTreeMap::new();
        let mut stuck = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|n| n.parse::<u32>().ok());
            let Some(pid) = pid else { continue };
            let Some(stat) = sysfs::text(&entry.path().join("stat")).and_then(|t| parse(&t)) else {
                continue;
            };
            if let Some(at) = STATES.iter().position(|(state, _)| *state == stat.state)
                && let Some(count) = counts.get_mut(at)
            {
                *count += 1;
            }
            if stat.state == 'D' {
                let key = (pid, stat.started);
                let switches = switches(&entry.path());
                // One that has run meanwhile sleeps anew.
                let known = self.waiting.get(&key);
                let known = known.filter(|(_, before)| *before == switches);
                let since = known.map_or(now, |(since, _)| *since);
                waiting.insert(key, (since, switches));
                let waits = now.saturating_duration_since(since);
                if waits >= limit
                    && let Some(tie) = tie(&entry.path(), &stat)
                {
                    stuck.push((waits, tie, format!("{} ({pid})", stat.comm)));
                }
            }
        }
        self.waiting = waiting;
        if counts.iter().all(|count| *count == 0) {
            let why = format!("no process in {}", roots.proc.display());
            return Err(Unread::Absent(why));
        }
        let mut reading = HostReading::default();
        for ((_, name), count) in STATES.iter().zip(counts) {
            reading.gauge(
                ("gtrace_processes", ""),
                "Processes of the host by the state of their first thread",
                &[("state", name)],
                f64::from(count),
            );
        }
        reading.gauge(
            ("gtrace_gpu_processes_stuck", ""),
            "Processes with a GPU open, and programs of the driver, that have been in uninterruptible sleep for stuck_process_s or longer",
            &[],
            stuck.iter().filter(|(_, tie, _)| *tie != IS_ENDING).count() as f64,
        );
        // Those of GPUs first, then the longest.
        stuck.sort_by(|a, b| (b.1 != IS_ENDING, b).cmp(&(a.1 != IS_ENDING, a)));
        for (waits, tie, who) in stuck.iter().take(MAX_NAMED) {
            let is_for_good = *waits >= limit.saturating_mul(FOR_GOOD);
            let state = match is_for_good && *tie != IS_ENDING {
                true => HostState::Unhealthy,
                false => HostState::Degraded,
            };
            let reason = format!(
                "{who} {tie} and has been stuck in the kernel for {} s",
                waits.as_secs()
            );
            reading.find(state, reason);
        }
        let zombies = counts.get(3).copied().unwrap_or(0);
        if zombies > roots.thresholds.zombies {
            let reason = format!("{zombies} zombies: their parents do not wait for them");
            reading.find(HostState::Degraded, reason);
        }
        Ok(reading)
    }
}

/// `1234 (a name) S 1 …`: the name may hold brackets and blanks; the start time is the 22nd field.
fn parse(text: &str) -> Option<Stat> {
    let (_, rest) = text.split_once(" (")?;
    let (comm, rest) = rest.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    let flags = fields.nth(5)?.parse().ok()?;
    let started = fields.nth(12)?.parse().ok()?;
    Some(Stat {
        comm: comm.to_owned(),
        state,
        flags,
        started,
    })
}

/// How often the first thread was switched off its CPU; `None` where the kernel does not say.
fn switches(process: &Path) -> Option<u64> {
    let text = sysfs::text(&process.join("status"))?;
    let counts = text.lines().filter_map(|line| {
        let (name, count) = line.split_once(':')?;
        let is_count = name.ends_with("voluntary_ctxt_switches");
        is_count.then(|| count.trim().parse::<u64>().ok())?
    });
    counts.reduce(u64::saturating_add)
}

/// A process that is ending has no descriptors any more: whether it had a GPU open is not known.
const IS_ENDING: &str = "is ending";

/// Whether the kernel writes a core of it: until that ends, for minutes where the core is large, its threads sleep.
fn is_dumped(process: &Path) -> bool {
    let status = sysfs::text(&process.join("status")).unwrap_or_default();
    let dumping = status
        .lines()
        .find_map(|line| line.strip_prefix("CoreDumping:"));
    dumping.is_some_and(|is| is.trim() == "1")
}

/// Why a process counts that is stuck. A program of the driver, such as nvidia-smi, may be stuck before it has a GPU open.
fn tie(process: &Path, stat: &Stat) -> Option<&'static str> {
    if is_dumped(process) {
        return None;
    }
    let open = fs::read_dir(process.join("fd")).into_iter().flatten();
    let has_gpu = open
        .filter_map(|fd| fs::read_link(fd.ok()?.path()).ok())
        .any(|target| target.to_string_lossy().starts_with("/dev/nvidia"));
    if has_gpu {
        return Some("has a GPU open");
    }
    if stat.flags & EXITING != 0 {
        return Some(IS_ENDING);
    }
    let is_of_driver = stat.flags & KERNEL_THREAD == 0 && stat.comm.starts_with("nvidia-");
    is_of_driver.then_some("is a program of the driver")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::part::value;
    use super::*;

    fn process(dir: &Path, pid: u32, comm: &str, state: char, started: u64, gpu: bool) {
        let at = dir.join("proc").join(pid.to_string());
        fs::create_dir_all(at.join("fd")).unwrap();
        let between = "1 ".repeat(18);
        fs::write(
            at.join("stat"),
            format!("{pid} ({comm}) {state} {between}{started} 0 0\n"),
        )
        .unwrap();
        let _ = fs::remove_file(at.join("fd/3"));
        symlink(
            if gpu { "/dev/nvidia0" } else { "/dev/null" },
            at.join("fd/3"),
        )
        .unwrap();
    }

    fn read(tasks: &mut Tasks, dir: &Path, now: Instant) -> HostReading {
        let roots = HostRoots::new(dir.join("proc"), dir.join("sys"));
        tasks.read(&roots, now).unwrap()
    }

    #[test]
    fn a_gpu_process_that_stays_in_the_kernel_is_named_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let (mut tasks, now) = (Tasks::default(), Instant::now());
        let at = |seconds| now + Duration::from_secs(seconds);
        process(dir.path(), 7, "a) D (b", 'S', 5, true);
        process(dir.path(), 8, "train", 'D', 6, true);
        process(dir.path(), 9, "tar", 'D', 6, false);
        let first = read(&mut tasks, dir.path(), at(0));
        assert_eq!((first.state, first.reasons.len()), (HostState::Healthy, 0));
        assert_eq!(
            value(&first, "gtrace_processes", &[("state", "uninterruptible")]),
            Some(2.0)
        );
        let second = read(&mut tasks, dir.path(), at(60));
        assert_eq!(second.state, HostState::Degraded);
        assert_eq!(
            second.reasons,
            ["train (8) has a GPU open and has been stuck in the kernel for 60 s"]
        );
        assert_eq!(
            read(&mut tasks, dir.path(), at(700)).state,
            HostState::Unhealthy
        );
        // It comes back, and another process gets its number.
        process(dir.path(), 8, "train", 'S', 6, true);
        assert_eq!(
            read(&mut tasks, dir.path(), at(760)).state,
            HostState::Healthy
        );
        process(dir.path(), 8, "other", 'D', 900, true);
        read(&mut tasks, dir.path(), at(820));
        process(dir.path(), 8, "third", 'D', 901, true);
        assert_eq!(
            read(&mut tasks, dir.path(), at(890)).state,
            HostState::Healthy
        );
    }

    #[test]
    fn a_gpu_process_that_has_run_between_two_readings_is_not_stuck() {
        let dir = tempfile::tempdir().unwrap();
        let (mut tasks, now) = (Tasks::default(), Instant::now());
        process(dir.path(), 8, "train", 'D', 6, true);
        let mut state = |seconds, switches: u32| {
            let text = format!(
                "Name:\ttrain\nvoluntary_ctxt_switches:\t{switches}\n\
                 nonvoluntary_ctxt_switches:\t3\n"
            );
            fs::write(dir.path().join("proc/8/status"), text).unwrap();
            read(&mut tasks, dir.path(), now + Duration::from_secs(seconds)).state
        };
        assert_eq!(state(0, 10), HostState::Healthy);
        assert_eq!(state(60, 900), HostState::Healthy, "it waits for a disk");
        assert_eq!(state(120, 900), HostState::Degraded);
    }

    /// Sets the flags of a process.
    fn flag(dir: &Path, pid: u32, flags: u32) {
        let stat = dir.join("proc").join(pid.to_string()).join("stat");
        let text = fs::read_to_string(&stat).unwrap();
        let (before, after) = text.split_once(") D ").unwrap();
        let after = after.replacen("1 1 1 1 1 1 ", &format!("1 1 1 1 1 {flags} "), 1);
        fs::write(&stat, format!("{before}) D {after}")).unwrap();
    }

    #[test]
    fn a_program_of_the_driver_may_be_stuck_before_it_has_a_gpu_open() {
        let dir = tempfile::tempdir().unwrap();
        let (mut tasks, now) = (Tasks::default(), Instant::now());
        process(dir.path(), 8, "nvidia-smi", 'D', 6, false);
        process(dir.path(), 9, "nvidia-modeset/", 'D', 6, false);
        flag(dir.path(), 9, KERNEL_THREAD | 0x40);
        read(&mut tasks, dir.path(), now);
        let later = read(&mut tasks, dir.path(), now + Duration::from_secs(60));
        assert_eq!(
            later.reasons,
            ["nvidia-smi (8) is a program of the driver and has been stuck in the kernel for 60 s"]
        );
    }

    #[test]
    fn a_process_that_was_killed_and_cannot_end_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (mut tasks, now) = (Tasks::default(), Instant::now());
        process(dir.path(), 8, "python3", 'D', 6, false);
        flag(dir.path(), 8, EXITING | 0x40_0000);
        read(&mut tasks, dir.path(), now);
        let later = read(&mut tasks, dir.path(), now + Duration::from_secs(700));
        assert_eq!(later.state, HostState::Degraded);
        assert_eq!(
            later.reasons,
            ["python3 (8) is ending and has been stuck in the kernel for 700 s"]
        );
        // Whether it is one of a GPU is not known.
        assert_eq!(value(&later, "gtrace_gpu_processes_stuck", &[]), Some(0.0));
    }

    #[test]
    fn a_process_whose_core_is_written_is_not_stuck() {
        let dir = tempfile::tempdir().unwrap();
        let (mut tasks, now) = (Tasks::default(), Instant::now());
        process(dir.path(), 8, "train", 'D', 6, true);
        process(dir.path(), 9, "python3", 'D', 6, false);
        flag(dir.path(), 9, EXITING);
        let mut reasons = |seconds, dumping: u32| {
            for pid in ["8", "9"] {
                let status = dir.path().join("proc").join(pid).join("status");
                fs::write(status, format!("Name:\tx\nCoreDumping:\t{dumping}\n")).unwrap();
            }
            let at = now + Duration::from_secs(seconds);
            read(&mut tasks, dir.path(), at).reasons.len()
        };
        assert_eq!(reasons(0, 1), 0);
        assert_eq!(reasons(700, 1), 0);
        assert_eq!(reasons(760, 0), 2);
    }

    #[test]
    fn zombies_are_counted_and_many_are_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        for pid in 10..=60 {
            process(dir.path(), pid, "z", 'Z', 1, false);
        }
        assert_eq!(
            read(&mut Tasks::default(), dir.path(), Instant::now()).state,
            HostState::Healthy
        );
        for pid in 61..=120 {
            process(dir.path(), pid, "z", 'Z', 1, false);
        }
        let many = read(&mut Tasks::default(), dir.path(), Instant::now());
        assert_eq!(many.state, HostState::Degraded);
        assert!(many.reasons[0].starts_with("111 zombies"), "{many:?}");
    }

    #[test]
    fn lines_of_another_form_are_left_out() {
        for text in ["", "1", "1 (x", "1 (x) ", "1 (x) S 1 2", "1 (x) S \u{e9}"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
