//! Work on a GPU that waits for the host (starvation, F8), or that shares GPU or CPUs with the work of others (noisy
//! neighbour, F5): suspected where samples of NVML, the pressure of the process's control group and the use of the CPUs say
//! the same for a whole window.
//!
//! An idle GPU alone is no finding: a notebook holds one and does nothing. What its process waits for says whether it wants
//! to work. Sources: Documentation/accounting/psi.rst, admin-guide/cgroup-v2.rst (`*.pressure`, `cpu.stat`).

mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gtrace_event::{
    Confidence, ContentionDetail, Gpu, Kind, Occurrence, PciAddress, Process, Provenance, Severity,
    Timestamp,
};
use gtrace_incident::job_of;

pub use self::read::Reader;

/// A GPU that works for less of the time is hardly used.
const IDLE: f64 = 0.3;
/// One that works for more is busy.
const BUSY: f64 = 0.9;
/// Share of the time in which all tasks of a group have to wait for storage, or some have to, to call that the cause.
const IO_ALL: f64 = 0.3;
const IO_SOME: f64 = 0.6;
/// The same for memory.
const MEMORY_ALL: f64 = 0.2;
/// Share of the time in which some task of a group waited for a CPU.
const CPU_SOME: f64 = 0.5;
/// Share of the time in which a group was held back by its own limit of CPUs.
const THROTTLED: f64 = 0.2;
/// The host's CPUs are taken.
const HOST_BUSY: f64 = 0.85;
/// Others have taken so much of them.
const OTHERS: f64 = 0.5;
/// Samples further apart than this share of a window begin a new one: nothing is known of the time between.
const GAP: u32 = 4;
/// A window has at least so many samples.
pub const SAMPLES_LEAST: u32 = GAP + 1;
/// What lasts is reported again after so long: an incident without further events is taken for over.
const SAY_AGAIN: Duration = Duration::from_secs(1800);
/// A GPU that works for less of the time is not used at all.
const UNUSED: f64 = 0.01;
/// Rivals that an event names.
const RIVALS: usize = 8;

/// What was read at one moment.
#[derive(Clone, Debug)]
pub struct Reading {
    /// When.
    pub time: Timestamp,
    /// The GPUs with a sample.
    pub gpus: Vec<GpuReading>,
    /// The host's CPUs since the boot, where /proc/stat can be read.
    pub host: Option<HostCpu>,
}

/// A GPU.
#[derive(Clone, Debug)]
pub struct GpuReading {
    /// Which.
    pub gpu: Gpu,
    /// Share of the time in which it worked, 0 to 1.
    pub busy: f64,
    /// Who has it.
    pub holders: Vec<HolderReading>,
}

/// A process that has a GPU.
#[derive(Clone, Debug)]
pub struct HolderReading {
    /// With control group and container.
    pub process: Process,
    /// Its GPU instance of MIG.
    pub instance: Option<u32>,
    /// It shares the GPU by an MPS server, which is on purpose.
    pub by_mps: bool,
    /// Of its control group, where the kernel keeps it.
    pub group: Option<GroupReading>,
}

/// Totals of a control group since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupReading {
    /// Some task waited for storage.
    pub io_some: Duration,
    /// All did.
    pub io_all: Duration,
    /// All waited for memory.
    pub memory_all: Duration,
    /// Some task waited for a CPU.
    pub cpu_some: Duration,
    /// It was held back by its own limit of CPUs.
    pub throttled: Duration,
    /// CPU time that it used.
    pub cpu_used: Duration,
}

/// CPU time of the host since the boot, of all CPUs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCpu {
    /// In which they worked.
    pub busy: Duration,
    /// All of it.
    pub total: Duration,
}

/// See the module.
#[derive(Debug)]
pub struct Contention {
    window: Duration,
    gpus: BTreeMap<PciAddress, Track>,
}

/// A GPU in the window that is under way.
#[derive(Debug)]
struct Track {
    begin: Timestamp,
    host: Option<HostCpu>,
    holders: Vec<HolderReading>,
    last: Timestamp,
    /// Seconds in which it worked, and all of them.
    busy: f64,
    seconds: f64,
    /// What was found in the window before, and when it was last reported.
    reported: BTreeMap<Finding, Timestamp>,
}

/// What a finding is of: kind, resource, process.
type Finding = (Kind, &'static str, Option<u32>);

impl Contention {
    /// Findings of windows of this length.
    pub fn new(window: Duration) -> Self {
        Self {
            window,
            gpus: BTreeMap::new(),
        }
    }

    /// Takes a reading; what begins with it.
    pub fn observe(&mut self, reading: &Reading) -> Vec<Occurrence> {
        // One sample may lack what is needed. A clock that was set back begins a new window too, by however much: else more time has
        // gone by than it shows.
        let gap = self.window / GAP;
        let since = |track: &Track| Duration::try_from(reading.time.duration_since(track.last));
        self.gpus
            .retain(|_, track| since(track).is_ok_and(|since| since <= gap));
        let mut found = Vec::new();
        for now in &reading.gpus {
            let Some(pci) = now.gpu.pci else { continue };
            let Some(track) = self.gpus.get_mut(&pci) else {
                self.gpus.insert(pci, Track::begin(reading, now));
                continue;
            };
            let step = reading.time.duration_since(track.last);
            if step.as_nanos() <= 0 {
                continue;
            }
            track.busy += now.busy * step.as_secs_f64();
            track.seconds += step.as_secs_f64();
            track.last = reading.time;
            if track.seconds < self.window.as_secs_f64() {
                continue;
            }
            let mut reported = BTreeMap::new();
            for (finding, occurrence) in track.findings(reading, now) {
                let before = track.reported.get(&finding).copied();
                let is_due = |at| reading.time.duration_since(at) >= say_again();
                match before {
                    Some(at) if !is_due(at) => reported.insert(finding, at),
                    _ => {
                        found.push(occurrence);
                        reported.insert(finding, reading.time)
                    }
                };
            }
            *track = Track {
                reported,
                ..Track::begin(reading, now)
            };
        }
        found
    }
}

fn say_again() -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(SAY_AGAIN).unwrap_or(jiff::SignedDuration::MAX)
}

impl Track {
    fn begin(reading: &Reading, now: &GpuReading) -> Self {
        Self {
            begin: reading.time,
            host: reading.host,
            holders: now.holders.clone(),
            last: reading.time,
            busy: 0.0,
            seconds: 0.0,
            reported: BTreeMap::new(),
        }
    }

    /// What holds for the window that ends now.
    fn findings(&self, reading: &Reading, now: &GpuReading) -> BTreeMap<Finding, Occurrence> {
        let busy = (self.busy / self.seconds).clamp(0.0, 1.0);
        // Those that had the GPU for all of it.
        let stayed: Vec<(&HolderReading, &HolderReading)> = now
            .holders
            .iter()
            .filter_map(|after| {
                let is = |before: &&HolderReading| before.is_same(after);
                Some((self.holders.iter().find(is)?, after))
            })
            .collect();
        let mut found = BTreeMap::new();
        if busy <= IDLE {
            let mut groups = BTreeSet::new();
            for (before, after) in &stayed {
                // In a session others may wait while somebody's notebook does nothing.
                if !after.is_of_job() && busy < UNUSED {
                    continue;
                }
                // Processes of one group wait together.
                if let Some(waits) = self.waits(before, after, reading)
                    && groups.insert(after.process.cgroup.clone())
                {
                    let finding = (waits.kind, waits.resource, after.process.pid);
                    found.insert(finding, self.starved(now, busy, after, &waits));
                }
            }
        }
        if busy >= BUSY {
            for several in owners(&stayed) {
                let occurrence = self.shared(now, busy, &several);
                let first = several.first().and_then(|one| one.process.pid);
                found.insert((Kind::GpuContended, "gpu", first), occurrence);
            }
        }
        found
    }

    /// What the process's group waited for, if for much of the time.
    fn waits(
        &self,
        before: &HolderReading,
        after: &HolderReading,
        reading: &Reading,
    ) -> Option<Waits> {
        let (old, new) = (before.group?, after.group?);
        let seconds = reading.time.duration_since(self.begin).as_secs_f64();
        let share = |of: fn(&GroupReading) -> Duration| {
            of(&new).saturating_sub(of(&old)).as_secs_f64() / seconds
        };
        let starved = |resource, stalled, text| Waits {
            kind: Kind::GpuStarved,
            resource,
            stalled,
            others: None,
            text,
        };
        let (io_all, io_some) = (share(|g| g.io_all), share(|g| g.io_some));
        if io_all >= IO_ALL || io_some >= IO_SOME {
            let text = "its work probably waits for storage: the GPU is hardly used";
            return Some(starved("io", io_some.max(io_all), text));
        }
        let memory = share(|g| g.memory_all);
        if memory >= MEMORY_ALL {
            let text = "its work probably waits for memory of the host: the GPU is hardly used";
            return Some(starved("memory", memory, text));
        }
        let cpu = share(|g| g.cpu_some);
        if cpu < CPU_SOME {
            return None;
        }
        if share(|g| g.throttled) >= THROTTLED {
            let text = "its work probably waits for CPUs, at the limit of its control group: the GPU is hardly used";
            return Some(starved("cpu", cpu, text));
        }
        let host = self.host.zip(reading.host).and_then(|(old, new)| {
            let total = new.total.saturating_sub(old.total).as_secs_f64();
            let busy = new.busy.saturating_sub(old.busy).as_secs_f64();
            let own = share(|g| g.cpu_used) * seconds;
            (total > 0.0).then(|| (busy / total, ((busy - own) / total).max(0.0)))
        });
        Some(match host {
            Some((busy, others)) if busy >= HOST_BUSY && others >= OTHERS => Waits {
                kind: Kind::GpuContended,
                resource: "cpu",
                stalled: cpu,
                others: Some(others),
                text: "others probably take the CPUs that its work needs: the GPU is hardly used",
            },
            _ => starved(
                "cpu",
                cpu,
                "its work probably waits for CPUs: the GPU is hardly used",
            ),
        })
    }

    fn starved(
        &self,
        now: &GpuReading,
        busy: f64,
        holder: &HolderReading,
        waits: &Waits,
    ) -> Occurrence {
        let mut occurrence = occurrence(waits.kind, waits.text, &now.gpu, holder.instance);
        occurrence.process = Some(holder.process.clone());
        occurrence.detail.contention = ContentionDetail {
            resource: Some(waits.resource.to_owned()),
            window_s: Some(self.seconds),
            gpu_busy: Some(busy),
            stalled: Some(waits.stalled.clamp(0.0, 1.0)),
            others_cpu: waits.others,
            rivals: Vec::new(),
            // The group of a container or job is that of the work; the group of a session may be of anything.
            confidence: Some(match holder.is_of_job() {
                true => Confidence::Medium,
                false => Confidence::Low,
            }),
        };
        occurrence
    }

    fn shared(&self, now: &GpuReading, busy: f64, several: &[&HolderReading]) -> Occurrence {
        let instance = several.first().and_then(|one| one.instance);
        let text = "processes of different owners share the GPU, which is busy all the time";
        let mut occurrence = occurrence(Kind::GpuContended, text, &now.gpu, instance);
        let processes = several.iter().map(|one| one.process.clone());
        occurrence.detail.contention = ContentionDetail {
            resource: Some("gpu".to_owned()),
            window_s: Some(self.seconds),
            gpu_busy: Some(busy),
            stalled: None,
            others_cpu: None,
            rivals: processes.take(RIVALS).collect(),
            // Nothing says which of them kept it busy.
            confidence: Some(Confidence::Low),
        };
        occurrence
    }
}

/// What a process waits for.
struct Waits {
    kind: Kind,
    resource: &'static str,
    stalled: f64,
    others: Option<f64>,
    text: &'static str,
}

impl HolderReading {
    fn is_same(&self, other: &Self) -> bool {
        let of = |holder: &Self| {
            (
                holder.process.pid,
                holder.process.cgroup.clone(),
                holder.instance,
            )
        };
        of(self) == of(other)
    }

    /// Whether its control group is that of a container or of a scheduler's job.
    fn is_of_job(&self) -> bool {
        self.process.container.is_some()
            || self.process.cgroup.as_deref().and_then(job_of).is_some()
    }

    /// Whose process it is.
    fn owner(&self) -> Option<String> {
        let cgroup = self.process.cgroup.as_ref()?;
        // The containers of a pod, and the steps of a job, belong together, and so do the sessions of a user.
        let is_user = |part: &&str| part.starts_with("user-") && part.ends_with(".slice");
        let of_user = || cgroup.split('/').find(is_user).map(str::to_owned);
        let job = job_of(cgroup).or_else(|| self.process.container.clone());
        Some(job.or_else(of_user).unwrap_or_else(|| cgroup.clone()))
    }
}

/// For each part of the GPU that holders of different owners share one of each.
fn owners<'a>(stayed: &[(&HolderReading, &'a HolderReading)]) -> Vec<Vec<&'a HolderReading>> {
    let mut parts: BTreeMap<Option<u32>, BTreeMap<String, &'a HolderReading>> = BTreeMap::new();
    let holders = stayed.iter().map(|(_, holder)| *holder);
    for holder in holders.filter(|holder| !holder.by_mps) {
        if let Some(owner) = holder.owner() {
            let of_part = parts.entry(holder.instance).or_default();
            of_part.entry(owner).or_insert(holder);
        }
    }
    let parts = parts.into_values().filter(|owners| owners.len() > 1);
    parts.map(|owners| owners.into_values().collect()).collect()
}

fn occurrence(kind: Kind, text: &str, gpu: &Gpu, instance: Option<u32>) -> Occurrence {
    let mut occurrence = Occurrence::new(kind, Severity::Warning, text);
    occurrence.gpu = Some(Gpu {
        mig_gi: instance,
        ..gpu.clone()
    });
    occurrence.provenance = Provenance::Kernel;
    occurrence
}

#[cfg(test)]
mod tests;
