//! Processes that use a GPU, each with all that the daemon knows of it: `/api/v1/processes`, `gtrace top`.

use std::collections::BTreeMap;
use std::path::Path;

use gtrace_api::{Coverage, LayerCounts, ProcessUse};
use gtrace_profile::Histogram;
use gtrace_uprobes::procfs;

use crate::hub::Hub;
use crate::process;

/// Sums up rows of one process.
#[derive(Default)]
struct Sum {
    calls: u64,
    errors: u64,
    histogram: Histogram,
    coverage: Coverage,
    coverage_now: Coverage,
}

impl Sum {
    fn add(&mut self, calls: u64, errors: u64, histogram: Histogram) {
        self.calls += calls;
        self.errors += errors;
        self.histogram.merge(&histogram);
    }

    fn counts(&self) -> LayerCounts {
        LayerCounts {
            calls: self.calls,
            coverage: self.coverage,
            coverage_now: self.coverage_now,
            errors: self.errors,
            total_ns: self.histogram.sum_ns(),
            p50_ns: self.histogram.quantile(0.5),
            p99_ns: self.histogram.quantile(0.99),
            max_ns: self.histogram.max_ns(),
            buckets: self.histogram.buckets().collect(),
        }
    }
}

/// What the hub knows of a process.
#[derive(Default)]
struct Known {
    devices: Vec<String>,
    api: Option<Sum>,
    driver: Option<Sum>,
    memory_bytes: Option<u64>,
    ledger_bytes: Option<u64>,
    full_in_s: Option<f64>,
}

/// Every live process that has a device of the driver open, makes CUDA or driver calls, or is known to NVML.
/// Reads /proc.
pub fn of(hub: &Hub) -> Vec<ProcessUse> {
    let proc_root = Path::new("/proc");
    let holders = hub.holders.get();
    let known = known(hub).into_iter();
    known
        .filter_map(|(pid, known)| {
            let started = procfs::started(proc_root, pid)?;
            let process = process::of(pid);
            Some(ProcessUse {
                pid,
                started,
                comm: process.comm.unwrap_or_default(),
                cgroup: process.cgroup,
                container: process.container,
                holder: holders.of_process(pid).cloned(),
                cpu_seconds: procfs::cpu_ns(proc_root, pid)? as f64 / 1e9,
                devices: known.devices,
                api: known.api.as_ref().map(Sum::counts),
                driver: known.driver.as_ref().map(Sum::counts),
                memory_bytes: known.memory_bytes,
                ledger_bytes: known.ledger_bytes,
                full_in_s: known.full_in_s,
            })
        })
        .collect()
}

fn known(hub: &Hub) -> BTreeMap<u32, Known> {
    let mut processes: BTreeMap<u32, Known> = BTreeMap::new();
    for user in hub.gpu_processes() {
        processes.entry(user.pid).or_default().devices = user.devices;
    }
    for call in hub.calls().into_iter().filter(|call| call.pid != 0) {
        let histogram = Histogram::from_buckets(&call.buckets, call.total_ns, call.max_ns);
        let sum = &mut processes.entry(call.pid).or_default().driver;
        sum.get_or_insert_default().add(
            call.count,
            call.errors + call.failures,
            histogram.unwrap_or_default(),
        );
    }
    let cuda = hub.cuda();
    for row in &cuda.0.calls {
        let Some(pid) = row.pid else { continue };
        let histogram = Histogram::from_buckets(&row.buckets, row.total_ns, row.max_ns);
        let sum = &mut processes.entry(pid).or_default().api;
        let sum = sum.get_or_insert_default();
        sum.add(row.calls, row.errors, histogram.unwrap_or_default());
        sum.coverage = sum.coverage.max(row.coverage);
        sum.coverage_now = cuda.0.coverage_now(pid);
    }
    for memory in cuda.0.memory.iter().filter(|memory| !memory.ended) {
        let process = processes.entry(memory.pid).or_default();
        process.ledger_bytes = Some(memory.live_bytes);
        process.full_in_s = memory.full_in_s;
    }
    for gpu in hub.gpus() {
        let sample = gpu.sample.as_ref();
        for user in sample.map_or(&[][..], |sample| &sample.processes) {
            let process = processes.entry(user.pid).or_default();
            if let Some(bytes) = user.used_memory {
                *process.memory_bytes.get_or_insert(0) += bytes;
            }
        }
    }
    let mut functions = cuda.0.cost.functions.iter();
    if functions.any(|function| function.detached) {
        // Whether a process calls them nobody sees, and one that calls nothing else has no row.
        for process in processes.values_mut() {
            let sum = process.api.get_or_insert_default();
            (sum.coverage, sum.coverage_now) = (Coverage::Partial, Coverage::Partial);
        }
    }
    processes
}

#[cfg(test)]
mod tests {
    use gtrace_api::{CallStats, CudaCalls, CudaMemory, CudaReport, DeviceUser, FunctionCost};

    use super::*;
    use crate::hub::bare_status;
    use crate::tally::Tally;

    #[test]
    fn what_the_parts_of_the_daemon_know_of_a_process_is_one_row() {
        let pid = std::process::id();
        let mut status = bare_status();
        status.gpu_processes = vec![DeviceUser {
            pid,
            comm: "x".into(),
            devices: vec!["nvidia0".into()],
            open_files: 1,
        }];
        let (hub, _commands) = Hub::new(status);
        let bucket = |ns| gtrace_abi::bucket_of(ns) as u16;
        let call = |pid, errors| CallStats {
            pid,
            count: 2,
            errors,
            total_ns: 4_000,
            max_ns: 2_000,
            buckets: vec![(bucket(2_000), 2)],
            ..CallStats::default()
        };
        hub.set_calls(vec![
            call(pid, 1),
            call(pid, 0),
            call(u32::MAX - 1, 0),
            call(0, 0),
        ]);
        let calls = |function: &str, ns: u64| CudaCalls {
            pid: Some(pid),
            function: function.into(),
            calls: 3,
            timed: 3,
            total_ns: 3 * ns,
            max_ns: ns,
            buckets: vec![(bucket(ns), 3)],
            ..CudaCalls::default()
        };
        let memory = CudaMemory {
            pid,
            live_bytes: 4096,
            ..CudaMemory::default()
        };
        let report = CudaReport {
            calls: vec![calls("f", 1_000), calls("g", 500)],
            memory: vec![memory],
            ..CudaReport::default()
        };
        hub.set_cuda(report, Tally::default());
        let rows = of(&hub);
        // One that is gone is not reported.
        assert_eq!(rows.len(), 1, "{rows:?}");
        let row = &rows[0];
        assert_eq!(
            (row.pid, row.devices.len(), row.ledger_bytes),
            (pid, 1, Some(4096))
        );
        assert!(!row.comm.is_empty() && row.started > 0);
        let (api, driver) = (row.api.as_ref().unwrap(), row.driver.as_ref().unwrap());
        assert_eq!((api.calls, api.total_ns, api.max_ns), (6, 4_500, 1_000));
        assert_eq!((driver.calls, driver.errors), (4, 1));
        assert!(api.p50_ns < 520 && api.p99_ns > 980, "{api:?}");
    }

    #[test]
    fn a_process_shows_that_not_all_of_its_calls_are_seen() {
        let pid = std::process::id();
        let (hub, _commands) = Hub::new(bare_status());
        let row = |function: &str, coverage| CudaCalls {
            pid: Some(pid),
            function: function.into(),
            calls: 100,
            coverage,
            ..CudaCalls::default()
        };
        let cost = |function: &str, time_every, detached| FunctionCost {
            function: function.into(),
            time_every,
            detached,
            ..FunctionCost::default()
        };
        for (cost, coverage, want) in [
            (
                cost("f", 1, false),
                Coverage::All,
                [Coverage::All, Coverage::All],
            ),
            (
                cost("f", 64, false),
                Coverage::Sampled,
                [Coverage::Sampled, Coverage::Sampled],
            ),
            // It is timed in full again.
            (
                cost("f", 1, false),
                Coverage::Sampled,
                [Coverage::Sampled, Coverage::All],
            ),
            (
                cost("f", 1, false),
                Coverage::Partial,
                [Coverage::Partial, Coverage::All],
            ),
            (
                cost("g", 1, true),
                Coverage::All,
                [Coverage::Partial, Coverage::Partial],
            ),
        ] {
            let mut report = CudaReport {
                calls: vec![row("f", coverage), row("other", Coverage::All)],
                ..CudaReport::default()
            };
            report.cost.functions = vec![cost];
            hub.set_cuda(report, Tally::default());
            let api = of(&hub).remove(0).api.unwrap();
            assert_eq!([api.coverage, api.coverage_now], want);
        }
    }
}
