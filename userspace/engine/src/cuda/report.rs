//! What the probes counted of CUDA calls, as [`CudaReport`].

use std::collections::BTreeMap;
use std::time::Duration;

use gtrace_api::{
    Coverage, CudaCalls, CudaCost, CudaLibrary, CudaMemory, CudaReport, CudaState, FunctionCost,
};
use gtrace_uprobes::{Class, ENDED, Identity, Report, Row, Site, Tracer, Watch};

use crate::process::{best_cgroup, container_of};

/// The name of an error.
pub fn result_name(result: u32) -> String {
    let found = gtrace_tables::results::driver(result);
    found.map_or_else(
        || result.to_string(),
        |(name, _)| name.to_string_lossy().into(),
    )
}

/// The control group of a process, unless it is in the root's.
pub fn cgroup_of(process: &Identity) -> Option<String> {
    best_cgroup(&process.cgroups).filter(|path| path != "/")
}

/// The name of a probed function.
pub fn function_name(tracer: &Tracer, function: u32) -> String {
    match tracer.functions().get(function as usize) {
        Some(function) => function.name.clone(),
        None => "(others)".to_owned(),
    }
}

/// The report of what was counted in `counted_for`.
pub fn report_of(
    watch: &Watch,
    report: &Report,
    counted_for: Duration,
    notes: Vec<String>,
) -> CudaReport {
    let tracer = watch.tracer();
    let name = |function: u32| function_name(tracer, function);
    let comm = |pid: u32| {
        let known = report.processes.get(&pid).map(|process| &process.comm);
        match known.filter(|comm| !comm.is_empty()) {
            Some(comm) => comm.clone(),
            None => "(ended)".to_owned(),
        }
    };
    let libraries = tracer.libraries().map(|probed| CudaLibrary {
        path: probed.path.display().to_string(),
        deleted: probed.deleted,
        functions: probed.sites.len(),
        offsets: offsets(&probed.sites),
        single_stepped: probed
            .sites
            .iter()
            .filter(|site| site.place.class == Class::SingleStepped)
            .map(|site| name(site.function))
            .collect(),
        folded: probed
            .sites
            .iter()
            .filter(|site| !site.folded.is_empty())
            .map(|site| (name(site.function), site.folded.clone()))
            .collect(),
    });
    let calls = report.rows.iter().map(|row| {
        let process = report.processes.get(&row.pid);
        let cgroup = process.and_then(cgroup_of);
        let coverage = if report.partial.contains(&(row.pid, row.function)) {
            Coverage::Partial
        } else if row.timed < row.calls {
            Coverage::Sampled
        } else {
            Coverage::All
        };
        CudaCalls {
            coverage,
            comm: comm(row.pid),
            container: cgroup.as_deref().and_then(container_of),
            cgroup,
            function: name(row.function),
            ..numbers(row)
        }
    });
    let ended = |pid: &u32| report.processes.get(pid).is_some_and(|p| p.ended);
    let memory = report.memory.iter().map(|(pid, memory)| CudaMemory {
        pid: *pid,
        comm: comm(*pid),
        allocated_bytes: memory.ledger.allocated,
        freed_bytes: memory.ledger.freed,
        live_bytes: memory.ledger.live,
        peak_bytes: memory.ledger.peak,
        allocations: memory.ledger.allocations,
        frees: memory.ledger.frees,
        failed_allocations: memory.ledger.failed_allocations,
        failed_frees: memory.ledger.failed_frees,
        unknown_frees: memory.ledger.unknown_frees,
        replaced: memory.ledger.replaced,
        forgotten: memory.ledger.forgotten,
        bytes_per_second: memory.rate,
        full_in_s: memory.full_in.map(|left| left.as_secs_f64()),
        ended: ended(pid),
    });
    let share = |ns: f64| (report.cpu_ns > 0.0).then_some(ns / report.cpu_ns);
    let functions = report.costs.iter().map(|(function, cost)| FunctionCost {
        function: name(*function),
        seconds: cost.ns / 1e9,
        share: share(cost.ns),
        time_every: cost.time_every,
        detached: cost.shed,
        unseen_s: cost.unseen.as_secs_f64(),
    });
    let lost = report.lost().filter(|(_, n)| *n > 0);
    CudaReport {
        state: CudaState::Active,
        reason: None,
        way: tracer.way().name().to_owned(),
        seconds: counted_for.as_secs_f64(),
        libraries: libraries.collect(),
        calls: calls.collect(),
        memory: memory.collect(),
        memory_ends_early: report.tracking_disabled,
        cost: CudaCost {
            cpu_s: report.cpu_ns / 1e9,
            share: share(report.costs.values().map(|cost| cost.ns).sum()),
            budget: watch.budget(),
            emulated_ns: tracer.trap().emulated_ns,
            single_stepped_ns: tracer.trap().single_stepped_ns,
            seen_emulated_ns: tracer.trap().seen_emulated_ns,
            seen_single_stepped_ns: tracer.trap().seen_single_stepped_ns,
            functions: functions.collect(),
        },
        map_bytes: tracer.map_bytes(),
        lost: lost.map(|(what, n)| (what.to_owned(), n)).collect(),
        notes,
    }
}

/// The numbers of a row; names are the caller's.
fn numbers(row: &Row) -> CudaCalls {
    let results = row.failures.iter();
    let filled = row.buckets.iter().enumerate().filter(|(_, n)| **n > 0);
    CudaCalls {
        pid: (row.pid != ENDED).then_some(row.pid),
        calls: row.calls,
        timed: row.timed,
        errors: row.errors,
        results: results.map(|(code, n)| (result_name(*code), *n)).collect(),
        bytes: row.bytes,
        p50_ns: row.quantile(0.5),
        p90_ns: row.quantile(0.9),
        p99_ns: row.quantile(0.99),
        p999_ns: row.quantile(0.999),
        max_ns: row.max_ns,
        total_ns: row.total_ns,
        // There are 896.
        buckets: filled.map(|(at, n)| (at as u16, *n)).collect(),
        ..CudaCalls::default()
    }
}

/// How many functions are probed so many bytes behind their start.
fn offsets(sites: &[Site]) -> BTreeMap<u64, usize> {
    let mut offsets = BTreeMap::new();
    for site in sites {
        *offsets.entry(site.place.behind()).or_default() += 1;
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_unknown_ones_numbers() {
        assert_eq!(result_name(2), "CUDA_ERROR_OUT_OF_MEMORY");
        assert_eq!(result_name(123_456), "123456");
    }

    #[test]
    fn the_root_is_no_processs_control_group() {
        let of = |cgroups: &str| {
            cgroup_of(&Identity {
                cgroups: cgroups.to_owned(),
                ..Identity::default()
            })
        };
        assert_eq!(of("0::/"), None);
        assert_eq!(of("1:cpu:/a\n0::/").as_deref(), Some("/a"));
        assert_eq!(of(""), None);
    }
}
