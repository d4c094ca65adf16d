//! Reads what [`Contention`](super::Contention) judges by.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gtrace_devices::{GpuInfo, GpuProcess, ProcessType, read_pseudo_file};
use gtrace_event::{Gpu, Process, Timestamp};

use super::{GpuReading, GroupReading, HolderReading, HostCpu, Reading};
use crate::process;

/// Processes of a GPU that are read.
const MOST: usize = 64;

/// Where it reads.
#[derive(Clone, Debug)]
pub struct Reader {
    /// Root of procfs.
    pub proc_root: PathBuf,
    /// Root of sysfs, below which control groups are mounted.
    pub sysfs_root: PathBuf,
}

impl Reader {
    /// What holds now of the GPUs with a sample of their use; NVML gives none in MIG mode.
    pub fn read(&self, gpus: &[GpuInfo]) -> Reading {
        let readings = gpus.iter().filter_map(|gpu| {
            let sample = gpu.sample.as_ref()?;
            let busy = f64::from(sample.utilization.gpu?) / 100.0;
            let computes = |process: &&GpuProcess| process.kind != ProcessType::Graphics;
            let holders = sample.processes.iter().filter(computes).take(MOST);
            Some(GpuReading {
                gpu: Gpu {
                    uuid: gpu.uuid.clone(),
                    index: gpu.index,
                    ..Gpu::at(gpu.pci)
                },
                busy,
                holders: holders.map(|process| self.holder(process)).collect(),
            })
        });
        Reading {
            time: Timestamp::now(),
            gpus: readings.collect(),
            host: host_cpu(&self.proc_root.join("stat")),
        }
    }

    fn holder(&self, of: &GpuProcess) -> HolderReading {
        let mut process = Process {
            pid: Some(of.pid),
            comm: of.comm.clone(),
            ..Process::default()
        };
        let directory = self.proc_root.join(of.pid.to_string());
        process::set_cgroup(&mut process, process::cgroup(&directory));
        let group = process.cgroup.as_deref().and_then(|path| self.group(path));
        HolderReading {
            process,
            instance: of.mig_gi,
            by_mps: of.kind == ProcessType::Mps,
            group,
        }
    }

    /// What the kernel says of a group of cgroup v2; nothing of the root, which is the whole host.
    fn group(&self, path: &str) -> Option<GroupReading> {
        let below = path.trim_start_matches('/');
        if below.is_empty() || below.split('/').any(|part| part == "..") {
            return None;
        }
        let directory = self.sysfs_root.join("fs/cgroup").join(below);
        let pressure =
            |resource: &str| read_pseudo_file(&directory.join(format!("{resource}.pressure")));
        let (io, memory, cpu) = (
            pressure("io").ok()?,
            pressure("memory").ok()?,
            pressure("cpu").ok()?,
        );
        let stat = read_pseudo_file(&directory.join("cpu.stat")).unwrap_or_default();
        Some(GroupReading {
            io_some: stalled(&io, "some")?,
            io_all: stalled(&io, "full")?,
            memory_all: stalled(&memory, "full")?,
            cpu_some: stalled(&cpu, "some")?,
            throttled: stat_of(&stat, "throttled_usec"),
            cpu_used: stat_of(&stat, "usage_usec"),
        })
    }
}

/// The total in a file of pressure: `full avg10=0.00 avg60=0.00 avg300=0.00 total=2500000`.
fn stalled(text: &str, kind: &str) -> Option<Duration> {
    let line = text.lines().find(|line| line.starts_with(kind))?;
    let total = line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
}

/// A line of `cpu.stat`, in microseconds; the controller may be off.
fn stat_of(text: &str, name: &str) -> Duration {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let value = value.and_then(|value| value.trim().parse().ok());
    value.map_or(Duration::ZERO, Duration::from_micros)
}

/// The first line of /proc/stat, in clock ticks of 10 ms (proc_stat(5)): all but the fourth and fifth number is work.
fn host_cpu(path: &Path) -> Option<HostCpu> {
    let text = read_pseudo_file(path).ok()?;
    let words = text.lines().next()?.strip_prefix("cpu ")?;
    // Guests are in the first two already.
    let ticks: Vec<u64> = words
        .split_ascii_whitespace()
        .take(8)
        .map_while(|word| word.parse().ok())
        .collect();
    let total: u64 = ticks.iter().fold(0, |sum, one| sum.saturating_add(*one));
    let idle = ticks
        .get(3)?
        .saturating_add(ticks.get(4).copied().unwrap_or(0));
    let time = |ticks: u64| Duration::from_millis(ticks.saturating_mul(10));
    Some(HostCpu {
        busy: time(total.saturating_sub(idle)),
        total: time(total),
    })
}
