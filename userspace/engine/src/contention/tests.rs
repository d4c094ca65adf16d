use std::fs;
use std::path::Path;

use gtrace_devices::{GpuInfo, GpuProcess, GpuSample, ProcessType};
use jiff::SignedDuration;

use super::*;

const GPU: &str = "0000:3b:00.0";
const WINDOW: Duration = Duration::from_secs(600);
/// Group of a Slurm step.
const JOB: &str = "/system.slice/slurmstepd.scope/job_77/step_0";

fn holder(pid: u32, cgroup: &str, group: GroupReading) -> HolderReading {
    HolderReading {
        process: Process {
            pid: Some(pid),
            cgroup: Some(cgroup.to_owned()),
            ..Process::default()
        },
        instance: None,
        by_mps: false,
        group: Some(group),
    }
}

/// The job as one process, which has waited so long for storage.
fn waiting(pid: u32, io_all: Duration) -> Vec<HolderReading> {
    let group = GroupReading {
        io_all,
        ..GroupReading::default()
    };
    vec![holder(pid, JOB, group)]
}

/// Samples of ten seconds each, for `seconds`, of a GPU that is busy for `busy` of the time. `holders`: after how many
/// seconds.
fn play(
    contention: &mut Contention,
    (from, seconds): (u64, u64),
    busy: f64,
    holders: &dyn Fn(u64) -> Vec<HolderReading>,
) -> Vec<(u64, Occurrence)> {
    let begin: Timestamp = "2026-03-03T03:00:00Z".parse().unwrap();
    let mut found = Vec::new();
    for at in (from..=from + seconds).step_by(10) {
        let reading = Reading {
            time: begin + SignedDuration::from_secs(at as i64),
            gpus: vec![GpuReading {
                gpu: Gpu::at(GPU.parse().unwrap()),
                busy,
                holders: holders(at),
            }],
            // Four CPUs of which all work.
            host: Some(HostCpu {
                busy: Duration::from_secs(at * 4),
                total: Duration::from_secs(at * 4),
            }),
        };
        let of_reading = contention.observe(&reading);
        found.extend(of_reading.into_iter().map(|occurrence| (at, occurrence)));
    }
    found
}

/// A share of the time since the begin.
fn share(at: u64, percent: u64) -> Duration {
    Duration::from_millis(at * percent * 10)
}

#[test]
fn a_gpu_whose_job_waits_for_storage_is_reported_once_until_it_works_again() {
    let mut contention = Contention::new(WINDOW);
    let waits = |at: u64| {
        let group = GroupReading {
            io_all: share(at, 45),
            io_some: share(at, 70),
            ..GroupReading::default()
        };
        // Two ranks of one step wait together.
        vec![holder(11, JOB, group), holder(12, JOB, group)]
    };
    let found = play(&mut contention, (0, 1900), 0.05, &waits);
    let [(at, one)] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(
        (*at, one.kind, one.severity),
        (600, Kind::GpuStarved, Severity::Warning)
    );
    let process = one.process.as_ref().unwrap();
    assert_eq!(
        (process.pid, process.cgroup.as_deref()),
        (Some(11), Some(JOB))
    );
    let detail = &one.detail.contention;
    assert_eq!(
        (detail.resource.as_deref(), detail.confidence),
        (Some("io"), Some(Confidence::Medium))
    );
    assert!((detail.stalled.unwrap() - 0.7).abs() < 0.01, "{detail:?}");
    assert!((detail.gpu_busy.unwrap() - 0.05).abs() < 0.01, "{detail:?}");
    // It works for a window, and starves again.
    assert!(play(&mut contention, (1910, 1200), 0.8, &waits).is_empty());
    assert_eq!(play(&mut contention, (3120, 1200), 0.05, &waits).len(), 1);
    // What lasts is said again, or its incident were taken for over.
    let reports = play(&mut Contention::new(WINDOW), (0, 4300), 0.05, &waits);
    let times: Vec<u64> = reports.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [600, 2400, 4200]);
    // In a session something else may wait.
    let session = "/user.slice/user-1000.slice/session-3.scope";
    let others = |at: u64| vec![holder(11, session, waits(at)[0].group.unwrap())];
    assert!(play(&mut Contention::new(WINDOW), (0, 700), 0.0, &others).is_empty());
    assert_eq!(
        play(&mut Contention::new(WINDOW), (0, 700), 0.05, &others).len(),
        1
    );
}

#[test]
fn a_gpu_that_is_held_by_somebody_who_does_nothing_is_no_finding() {
    let mut contention = Contention::new(WINDOW);
    let idle = |_| vec![holder(11, JOB, GroupReading::default())];
    assert!(play(&mut contention, (0, 3600), 0.0, &idle).is_empty());
    // Nor is one that waits for a while, or whose process has just begun, or of which nothing is known.
    let short = |at: u64| waiting(11, share(at.min(3700) - 3600.min(at), 100));
    assert!(play(&mut contention, (3610, 1200), 0.0, &short).is_empty());
    let others = |at: u64| waiting(at as u32, share(at, 100));
    assert!(play(&mut contention, (4820, 1200), 0.0, &others).is_empty());
    let unknown = |_| {
        vec![HolderReading {
            group: None,
            ..holder(11, "/", GroupReading::default())
        }]
    };
    assert!(play(&mut contention, (6030, 1200), 0.0, &unknown).is_empty());
}

#[test]
fn cpus_are_short_by_the_own_limit_by_the_own_threads_or_by_others() {
    for (throttled, used, kind, others) in [
        (40, 100, Kind::GpuStarved, None),
        // It uses three of the four CPUs itself.
        (0, 300, Kind::GpuStarved, None),
        (0, 40, Kind::GpuContended, Some(0.9)),
    ] {
        let mut contention = Contention::new(WINDOW);
        let waits = |at: u64| {
            let group = GroupReading {
                cpu_some: share(at, 80),
                throttled: share(at, throttled),
                cpu_used: share(at, used),
                ..GroupReading::default()
            };
            vec![holder(
                11,
                "/user.slice/user-1000.slice/session-3.scope",
                group,
            )]
        };
        let found = play(&mut contention, (0, 700), 0.1, &waits);
        assert_eq!(found.len(), 1, "{throttled} {used}");
        let one = &found[0].1;
        assert_eq!(one.kind, kind, "{throttled} {used}");
        let detail = &one.detail.contention;
        assert_eq!(detail.resource.as_deref(), Some("cpu"));
        // The group of a session may hold other things too.
        assert_eq!(detail.confidence, Some(Confidence::Low));
        match (detail.others_cpu, others) {
            (Some(is), Some(want)) => assert!((is - want).abs() < 0.01, "{is}"),
            (is, want) => assert_eq!(is, want),
        }
    }
}

#[test]
fn owners_that_share_a_busy_gpu_are_named_and_ranks_of_one_job_are_none() {
    let quiet = GroupReading::default();
    let other = "/system.slice/slurmstepd.scope/job_78/step_0";
    let found = |busy: f64, holders: Vec<HolderReading>| {
        let mut contention = Contention::new(WINDOW);
        play(&mut contention, (0, 1300), busy, &|_| holders.clone())
    };
    let two = vec![
        holder(11, JOB, quiet),
        holder(12, JOB, quiet),
        holder(21, other, quiet),
    ];
    let [(600, one)] = &found(0.98, two.clone())[..] else {
        panic!("not one")
    };
    assert_eq!((one.kind, &one.process), (Kind::GpuContended, &None));
    let detail = &one.detail.contention;
    let pids: Vec<_> = detail.rivals.iter().map(|rival| rival.pid).collect();
    assert_eq!(pids, [Some(11), Some(21)]);
    assert_eq!(detail.confidence, Some(Confidence::Low));
    assert!(found(0.6, two.clone()).is_empty(), "there is room for both");
    assert!(found(0.98, two[..2].to_vec()).is_empty(), "one job");
    let session = |pid, id: &str| {
        holder(
            pid,
            &format!("/user.slice/user-1000.slice/session-{id}.scope"),
            quiet,
        )
    };
    assert!(
        found(0.98, vec![session(31, "3"), session(32, "7")]).is_empty(),
        "one user"
    );
    let mut by_mps = two.clone();
    by_mps[2].by_mps = true;
    assert!(found(0.98, by_mps).is_empty(), "on purpose");
    let mut parts = two;
    parts[2].instance = Some(3);
    assert!(found(0.98, parts).is_empty(), "each its own part");
}

#[test]
fn a_time_without_samples_begins_a_new_window() {
    let mut contention = Contention::new(WINDOW);
    let waits = |at: u64| waiting(11, share(at, 90));
    assert!(play(&mut contention, (0, 500), 0.0, &waits).is_empty());
    assert!(play(&mut contention, (1000, 500), 0.0, &waits).is_empty());
    assert_eq!(play(&mut contention, (1510, 200), 0.0, &waits).len(), 1);
}

#[test]
fn a_clock_that_was_set_back_begins_a_new_window() {
    let mut contention = Contention::new(WINDOW);
    let waits = |at: u64| waiting(11, share(at, 90));
    assert!(play(&mut contention, (5000, 500), 0.0, &waits).is_empty());
    assert_eq!(play(&mut contention, (1000, 700), 0.0, &waits).len(), 1);
    // By less than a gap. It waits for too little of the time.
    let mut contention = Contention::new(WINDOW);
    let before = |at: u64| waiting(11, share(at, 28));
    assert!(play(&mut contention, (0, 500), 0.0, &before).is_empty());
    let after = |at: u64| before(at + 100);
    assert!(play(&mut contention, (410, 700), 0.0, &after).is_empty());
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn groups_and_cpus_are_read_as_the_kernel_writes_them() {
    let directory = tempfile::tempdir().unwrap();
    let (proc_root, sysfs_root) = (directory.path().join("proc"), directory.path().join("sys"));
    write(&proc_root.join("4711/cgroup"), &format!("0::{JOB}\n"));
    write(
        &proc_root.join("stat"),
        "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 100 0 50 800 50 0 0 0 7 0\n",
    );
    let group = sysfs_root
        .join("fs/cgroup")
        .join(JOB.trim_start_matches('/'));
    let pressure = |some: u64, full: u64| {
        format!(
            "some avg10=0.00 avg60=0.00 avg300=0.00 total={some}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={full}\n"
        )
    };
    write(&group.join("io.pressure"), &pressure(3_000_000, 2_000_000));
    write(
        &group.join("memory.pressure"),
        &pressure(1_000_000, 500_000),
    );
    write(&group.join("cpu.pressure"), &pressure(4_000_000, 0));
    write(
        &group.join("cpu.stat"),
        "usage_usec 9000000\nuser_usec 1\nsystem_usec 1\nnr_periods 3\nnr_throttled 1\nthrottled_usec 250000\n",
    );
    let mut gpu = GpuInfo::at(GPU.parse().unwrap());
    let mut sample = GpuSample::at(Timestamp::now());
    sample.utilization.gpu = Some(7);
    let process = |pid, kind| GpuProcess {
        pid,
        comm: Some("train".to_owned()),
        used_memory: None,
        kind,
        mig_gi: None,
        mig_ci: None,
    };
    sample.processes = vec![
        process(4711, ProcessType::Compute),
        process(4712, ProcessType::Graphics),
        process(4713, ProcessType::Mps),
    ];
    gpu.sample = Some(sample);
    let reader = Reader {
        proc_root,
        sysfs_root,
    };
    let reading = reader.read(std::slice::from_ref(&gpu));
    assert_eq!(
        reading.host,
        Some(HostCpu {
            busy: Duration::from_millis(1500),
            total: Duration::from_secs(10),
        })
    );
    let [of_gpu] = &reading.gpus[..] else {
        panic!()
    };
    assert!((of_gpu.busy - 0.07).abs() < 1e-9);
    let [train, mps] = &of_gpu.holders[..] else {
        panic!("{:?}", of_gpu.holders)
    };
    assert_eq!(train.process.cgroup.as_deref(), Some(JOB));
    assert_eq!(
        train.group,
        Some(GroupReading {
            io_some: Duration::from_secs(3),
            io_all: Duration::from_secs(2),
            memory_all: Duration::from_millis(500),
            cpu_some: Duration::from_secs(4),
            throttled: Duration::from_millis(250),
            cpu_used: Duration::from_secs(9),
        })
    );
    // It has ended.
    assert!(mps.by_mps && mps.group.is_none() && mps.process.cgroup.is_none());
    gpu.sample = None;
    assert!(reader.read(&[gpu]).gpus.is_empty(), "without a sample");
}
