//! How long each holder had which GPU, and how busy it was meanwhile: counted from the readings of holders.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gtrace_devices::GpuInfo;
use gtrace_event::{Gpu, GpuUsage, Holder, PciAddress, ProcessEnds, Timestamp};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::holders::Table;
use crate::lock::lock;
use crate::rows::Rows;

/// A reading counts for the time since the one before, if that is no longer ago: a host that slept has used nothing.
const LONGEST: Duration = Duration::from_secs(60);
/// Rows that are kept.
const ROWS: usize = 512;

/// What is counted apart.
type Key = (Date, PciAddress, Option<String>, Option<Holder>);

/// What was counted.
#[derive(Debug, Default)]
pub struct Usage(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    read: Option<Instant>,
    rows: Rows<Key, GpuUsage, ROWS>,
    ends: Rows<(Date, Holder), ProcessEnds, ROWS>,
}

impl Usage {
    /// Takes a reading of `now`.
    pub fn observe(
        &self,
        gpus: &[GpuInfo],
        table: &Table,
        proc_root: &Path,
        now: (Timestamp, Instant),
    ) {
        let known = || std::fs::read("/etc/passwd").unwrap_or_default();
        let holders = with_owners(gpus, table, proc_root, known);
        lock(&self.0).observe(holders.into_iter(), now);
    }

    /// Rows that were seen last at `since` or later, by day and GPU.
    pub fn rows(&self, since: Timestamp) -> Vec<GpuUsage> {
        let counted = lock(&self.0);
        let rows = counted.rows.values().filter(|row| row.last >= since);
        rows.cloned().collect()
    }

    /// A process of `holder` that had a GPU's device file open has ended.
    pub fn ended(&self, holder: &Holder, failed: bool, time: Timestamp) {
        let day = time.to_zoned(TimeZone::UTC).date();
        let holder = owner(holder);
        let mut counted = lock(&self.0);
        let row = counted.ends.entry((day, holder.clone()), || ProcessEnds {
            day,
            since: time,
            last: time,
            holder,
            ended: 0,
            failed: 0,
        });
        row.last = time;
        row.ended += 1;
        row.failed += u64::from(failed);
    }

    /// How processes ended, of holders of whom one ended at `since` or later.
    pub fn ends(&self, since: Timestamp) -> Vec<ProcessEnds> {
        let counted = lock(&self.0);
        let rows = counted.ends.values().filter(|row| row.last >= since);
        rows.cloned().collect()
    }
}

impl Counted {
    fn observe<'a>(
        &mut self,
        gpus: impl Iterator<Item = (&'a GpuInfo, Vec<Holder>)>,
        (time, instant): (Timestamp, Instant),
    ) {
        let before = self.read.replace(instant);
        let passed = before.map_or(Duration::ZERO, |before| instant.duration_since(before));
        let seconds = match passed <= LONGEST {
            true => passed.as_secs_f64(),
            false => 0.0,
        };
        let day = time.to_zoned(TimeZone::UTC).date();
        for (gpu, holders) in gpus {
            let share = seconds / holders.len().max(1) as f64;
            let sample = gpu.sample.as_ref().filter(|_| !gpu.stale);
            let busy = sample.and_then(|sample| sample.utilization.gpu);
            let owners: Vec<_> = match holders.is_empty() {
                true => vec![None],
                false => holders.into_iter().map(Some).collect(),
            };
            for holder in owners {
                let key = (day, gpu.pci, gpu.uuid.clone(), holder.clone());
                let row = self.rows.entry(key, || GpuUsage {
                    day,
                    // Not the daemon's start: a row that was dropped and comes again is another.
                    since: time,
                    pci: gpu.pci,
                    uuid: gpu.uuid.clone(),
                    model: gpu.name.clone(),
                    holder,
                    first: time,
                    last: time,
                    seconds: 0.0,
                    measured_s: 0.0,
                    busy_s: 0.0,
                    idle_s: 0.0,
                });
                row.last = time;
                row.seconds += share;
                if let Some(percent) = busy {
                    row.measured_s += share;
                    row.busy_s += share * (f64::from(percent) / 100.0).min(1.0);
                    if percent == 0 {
                        row.idle_s += share;
                    }
                }
            }
        }
    }
}

/// Names of users by their numbers.
type Users = HashMap<u32, String>;

/// GPUs with who has them. `known` reads /etc/passwd, once for all processes, if at all.
fn with_owners<'a>(
    gpus: &'a [GpuInfo],
    table: &Table,
    proc_root: &Path,
    known: impl FnOnce() -> Vec<u8>,
) -> Vec<(&'a GpuInfo, Vec<Holder>)> {
    let users = LazyCell::new(|| names_of(&known()));
    let with_owners = |gpu| (gpu, owners(gpu, table, proc_root, &users));
    gpus.iter().map(with_owners).collect()
}

/// Who has the GPU: containers, jobs and remote clients; without them the users of the processes that compute on it.
fn owners<F: FnOnce() -> Users>(
    gpu: &GpuInfo,
    table: &Table,
    proc_root: &Path,
    users: &LazyCell<Users, F>,
) -> Vec<Holder> {
    let named = Gpu {
        pci: Some(gpu.pci),
        ..Gpu::default()
    };
    let mut owners: Vec<Holder> = table.of_gpu(Some(&named)).iter().map(owner).collect();
    if owners.is_empty() {
        let users = gpu.processes().iter().map(|process| Holder {
            user: user_of(proc_root, process.pid, users),
            ..Holder::default()
        });
        owners = users.collect();
    }
    owners.sort();
    owners.dedup();
    owners
}

/// Steps of one job, and programs of one client, are one owner.
fn owner(holder: &Holder) -> Holder {
    let client = holder.remote_client.as_deref();
    let client = client.map(|client| client.split_once(": ").map_or(client, |(host, _)| host));
    Holder {
        step: None,
        remote_client: client.map(str::to_owned),
        container_name: holder
            .container_name
            .clone()
            .filter(|_| holder.pod.is_none()),
        ..holder.clone()
    }
}

/// The user that a process runs as: its name in /etc/passwd, or its number.
fn user_of<F: FnOnce() -> Users>(
    proc_root: &Path,
    pid: u32,
    users: &LazyCell<Users, F>,
) -> Option<String> {
    let uid = std::fs::metadata(proc_root.join(pid.to_string()))
        .ok()?
        .uid();
    let name = users.get(&uid).cloned();
    Some(name.unwrap_or_else(|| uid.to_string()))
}

/// The users of /etc/passwd, where full names need not be UTF-8. Of several with one number it is the first.
fn names_of(known: &[u8]) -> Users {
    let mut users = Users::new();
    for line in String::from_utf8_lossy(known).lines() {
        let mut fields = line.split(':');
        let (name, number) = (fields.next(), fields.nth(1));
        if let (Some(name), Some(Ok(uid))) = (name, number.map(str::parse)) {
            users.entry(uid).or_insert_with(|| name.to_owned());
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use gtrace_devices::{GpuProcess, GpuSample, ProcessType};

    use super::*;

    fn gpu(pci: &str, percent: Option<u32>) -> GpuInfo {
        let mut gpu = GpuInfo::at(pci.parse().unwrap());
        let mut sample = GpuSample::at(Timestamp::UNIX_EPOCH);
        sample.utilization.gpu = percent;
        gpu.sample = Some(sample);
        gpu
    }

    fn job(name: &str) -> Holder {
        Holder {
            job: Some(name.to_owned()),
            ..Holder::default()
        }
    }

    /// Readings every 10 s, from `at` on.
    fn count(counted: &mut Counted, at: &str, readings: &[(&GpuInfo, &[Holder])]) {
        let begin: Timestamp = at.parse().unwrap();
        let start = counted.read.unwrap_or_else(Instant::now);
        for (n, (gpu, holders)) in (0_u32..).zip(readings) {
            let passed = Duration::from_secs(10) * n;
            let time = begin + jiff::SignedDuration::try_from(passed).unwrap();
            let one = std::iter::once((*gpu, holders.to_vec()));
            counted.observe(one, (time, start + passed));
        }
    }

    fn of<'a>(counted: &'a Counted, holder: Option<&Holder>) -> Vec<&'a GpuUsage> {
        let rows = counted.rows.values();
        rows.filter(|row| row.holder.as_ref() == holder).collect()
    }

    #[test]
    fn a_gpu_is_held_busy_idle_and_shared() {
        let mut counted = Counted::default();
        let (busy, idle, unknown) = (
            gpu("0000:3b:00.0", Some(80)),
            gpu("0000:3b:00.0", Some(0)),
            gpu("0000:3b:00.0", None),
        );
        let (ada, bob) = (job("slurm:1"), job("slurm:2"));
        let both = [ada.clone(), bob.clone()];
        count(
            &mut counted,
            "2026-11-28T10:00:00Z",
            &[
                (&busy, &both[..1]),
                (&busy, &both[..1]),
                (&idle, &both),
                (&unknown, &both[1..]),
                (&idle, &[]),
            ],
        );
        let [of_ada] = of(&counted, Some(&ada))[..] else {
            panic!("{counted:?}");
        };
        let four = |row: &GpuUsage| [row.seconds, row.measured_s, row.busy_s, row.idle_s];
        // 10 s at 80 %, and half of 10 s in which nothing ran.
        assert_eq!(four(of_ada), [15.0, 15.0, 8.0, 5.0]);
        assert_eq!(of_ada.first.to_string(), "2026-11-28T10:00:00Z");
        assert_eq!(of_ada.last.to_string(), "2026-11-28T10:00:20Z");
        assert_eq!(four(of(&counted, Some(&bob))[0]), [15.0, 5.0, 0.0, 5.0]);
        assert_eq!(four(of(&counted, None)[0]), [10.0, 10.0, 0.0, 10.0]);
    }

    #[test]
    fn days_are_apart_and_time_without_readings_is_nobodys() {
        let mut counted = Counted::default();
        let busy = gpu("0000:3b:00.0", Some(100));
        let ada = [job("slurm:1")];
        count(
            &mut counted,
            "2026-11-28T23:59:50Z",
            &[(&busy, &ada), (&busy, &ada), (&busy, &ada)],
        );
        let days: Vec<_> = counted.rows.values().map(|r| (r.day, r.seconds)).collect();
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert_eq!(days, [(day("2026-11-28"), 0.0), (day("2026-11-29"), 20.0)]);
        // An hour later.
        counted.read = counted.read.map(|read| read - Duration::from_secs(3600));
        let one = std::iter::once((&busy, ada.to_vec()));
        let time = "2026-11-29T01:00:00Z".parse().unwrap();
        counted.observe(one, (time, Instant::now()));
        assert_eq!(counted.rows.values().map(|r| r.seconds).sum::<f64>(), 20.0);
    }

    #[test]
    fn rows_are_bounded_and_the_oldest_goes() {
        let mut counted = Counted::default();
        let busy = gpu("0000:3b:00.0", Some(100));
        let begin = Instant::now();
        for n in 0..ROWS as i64 + 10 {
            let time = Timestamp::from_second(1_800_000_000 + n).unwrap();
            let one = std::iter::once((&busy, vec![job(&format!("slurm:{n}"))]));
            counted.observe(one, (time, begin));
        }
        assert!(of(&counted, Some(&job("slurm:9"))).is_empty());
        assert_eq!(of(&counted, Some(&job("slurm:10"))).len(), 1);
        // By a clock that was set back, too.
        let new = job("slurm:new");
        let one = std::iter::once((&busy, vec![new.clone()]));
        counted.observe(one, (Timestamp::UNIX_EPOCH, begin));
        assert_eq!(of(&counted, Some(&new)).len(), 1);
        assert_eq!(counted.rows.values().count(), ROWS);
    }

    #[test]
    fn ends_of_processes_are_counted_by_job_and_day() {
        let usage = Usage::default();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let step = Holder {
            step: Some("0".to_owned()),
            ..job("slurm:1")
        };
        let evening = at("2026-11-28T23:59:59Z");
        usage.ended(&step, false, evening);
        usage.ended(&job("slurm:1"), true, evening);
        usage.ended(&job("slurm:2"), false, evening);
        usage.ended(&step, false, at("2026-11-29T00:00:00Z"));
        let of = |row: ProcessEnds| (row.day.day(), row.holder, row.ended, row.failed);
        let all: Vec<_> = usage.ends(Timestamp::MIN).into_iter().map(of).collect();
        let (one, two) = (job("slurm:1"), job("slurm:2"));
        let want = [(28, one.clone(), 2, 1), (28, two, 1, 0), (29, one, 1, 0)];
        assert_eq!(all, want);
        assert_eq!(usage.ends(at("2026-11-29T00:00:00Z")).len(), 1);
        for n in 0..ROWS + 10 {
            let time = Timestamp::from_second(1_900_000_000 + n as i64).unwrap();
            usage.ended(&job(&format!("slurm:{n}")), false, time);
        }
        assert_eq!(usage.ends(Timestamp::MIN).len(), ROWS);
    }

    #[test]
    fn users_are_read_once_for_all_processes() {
        let mut busy = gpu("0000:3b:00.0", Some(100));
        let process = GpuProcess {
            pid: std::process::id(),
            comm: None,
            used_memory: None,
            kind: ProcessType::Compute,
            mig_gi: None,
            mig_ci: None,
        };
        busy.sample.as_mut().unwrap().processes = vec![process; 3];
        let gpus = [busy.clone(), busy];
        let uid = std::fs::metadata("/proc/self").unwrap().uid();
        let known = || format!("ada:x:{uid}:1::/:\n").into_bytes();
        // A function that can be called once alone.
        let found = with_owners(&gpus, &Table::default(), Path::new("/proc"), known);
        for (_, owners) in found {
            assert_eq!(owners.len(), 1);
            assert_eq!(owners[0].user.as_deref(), Some("ada"));
        }
        // Without processes they are not read.
        let idle = [gpu("0000:3b:00.0", Some(0))];
        let never = || -> Vec<u8> { panic!("users are read") };
        let found = with_owners(&idle, &Table::default(), Path::new("/proc"), never);
        assert!(found[0].1.is_empty());
    }

    #[test]
    fn a_process_outside_jobs_is_its_users() {
        let known =
            b"+::::::\njm:x:7:7:J\xfcrgen M:/home/jm:/bin/sh\nada:x:8:8::/:\neve:x:8:8::/:\n";
        let users = names_of(known);
        let names = [7, 8, 9].map(|uid| users.get(&uid).map(String::as_str));
        assert_eq!(names, [Some("jm"), Some("ada"), None]);
        let holder = Holder {
            remote_client: Some("client-7: python3 (4711)".to_owned()),
            job: Some("slurm:9".to_owned()),
            step: Some("0".to_owned()),
            ..Holder::default()
        };
        let owner = owner(&holder);
        assert_eq!(owner.remote_client.as_deref(), Some("client-7"));
        assert_eq!((owner.step, owner.job.as_deref()), (None, Some("slurm:9")));
    }
}
