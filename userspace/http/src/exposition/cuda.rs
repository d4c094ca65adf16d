//! CUDA calls and device memory.

use std::fmt;

use gtrace_api::{CudaMemory, CudaReport, CudaState};
use gtrace_engine::tally::{BOUNDS_NS, Series, Tally};
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

use super::{Family, Labels};

/// Processes whose memory is distinguished, those with the most first.
const MOST_PROCESSES: usize = 64;

fn labels(process: &str, function: &str) -> Labels {
    vec![
        ("process", process.to_owned()),
        ("function", function.to_owned()),
    ]
}

/// Counters and gauges; none while CUDA calls are not asked for.
pub(super) fn families(report: &CudaReport, tally: &Tally) -> Vec<Family> {
    if report.state == CudaState::Off {
        return Vec::new();
    }
    let states = CudaState::ALL.map(|state| {
        let labels = vec![("state", state.name().to_owned())];
        (labels, f64::from(state == report.state))
    });
    let named = |value: fn(&Series) -> f64| -> Vec<(Labels, f64)> {
        tally
            .series()
            .map(|(process, function, series)| (labels(process, function), value(series)))
            .collect()
    };
    let functions = |value: fn(&gtrace_api::FunctionCost) -> f64| -> Vec<(Labels, f64)> {
        let functions = report.cost.functions.iter();
        functions
            .map(|cost| (vec![("function", cost.function.clone())], value(cost)))
            .collect()
    };
    let mut families = Vec::from(families! {
        gauge "cuda_api_state" [""] "1 for the state that counting CUDA calls is in" => values(states);
        counter "cuda_calls" [""] "CUDA calls by process name and function, of those seen: none while gtrace_cuda_sample_interval of the function is 0" =>
            values(named(|series| series.calls as f64));
        counter "cuda_call_errors" [""] "CUDA calls that failed, of those timed: see gtrace_cuda_sample_interval" =>
            values(named(|series| series.errors as f64));
        counter "cuda_call_data" ["bytes"] "Bytes that CUDA calls copied, set or allocated, of those timed" =>
            values(named(|series| series.bytes as f64));
        counter "cuda_probe_cost" ["seconds"] "CPU time that the probes of a function took from the traced processes" =>
            values(functions(|cost| cost.seconds));
        gauge "cuda_sample_interval" [""] "One call in so many is timed; 0 where the probes were taken away for their cost" =>
            values(functions(|cost| if cost.detached { 0.0 } else { f64::from(cost.time_every) }));
        counter "cuda_unseen" ["seconds"] "How long calls of a function were not seen, as its probes were taken away for their cost" =>
            values(functions(|cost| cost.unseen_s));
        gauge "cuda_probe_share" ["ratio"] "Share of the traced processes' CPU time that all probes took since start" =>
            value(report.cost.share.unwrap_or(0.0));
        gauge "cuda_probe_maps" ["bytes"] "Kernel memory of the maps of the probes on CUDA calls" =>
            value(report.map_bytes as f64);
        gauge "cuda_memory_tracking_disabled" [""] "1 where device memory is no longer followed, as its probes cost too much" =>
            value(f64::from(report.memory_ends_early));
    });
    families.extend(of_memory(&report.memory));
    families
}

fn of_memory(memory: &[CudaMemory]) -> [Family; 4] {
    let mut live: Vec<&CudaMemory> = memory.iter().filter(|memory| !memory.ended).collect();
    live.sort_by_key(|memory| std::cmp::Reverse(memory.live_bytes));
    let (distinct, rest) = live.split_at(live.len().min(MOST_PROCESSES));
    let named = |value: fn(&CudaMemory) -> Option<f64>| -> Vec<(Labels, f64)> {
        let of = |memory: &&CudaMemory| {
            let labels = vec![
                ("process", memory.comm.clone()),
                ("pid", memory.pid.to_string()),
            ];
            Some((labels, value(memory)?))
        };
        distinct.iter().filter_map(of).collect()
    };
    let mut live = named(|memory| Some(memory.live_bytes as f64));
    if !rest.is_empty() {
        let labels = vec![("process", "other".to_owned()), ("pid", String::new())];
        live.push((labels, rest.iter().map(|m| m.live_bytes as f64).sum()));
    }
    families! {
        gauge "cuda_memory_live" ["bytes"] "Device memory that a process has allocated and not freed" => values(live);
        gauge "cuda_memory_peak" ["bytes"] "Most device memory that a process had allocated at once" =>
            values(named(|memory| Some(memory.peak_bytes as f64)));
        gauge "cuda_memory_growth" ["bytes_per_second"] "Growth of a process's device memory over the last two minutes" =>
            values(named(|memory| memory.bytes_per_second));
        gauge "cuda_memory_full_in" ["seconds"] "When the device's memory is full if a process goes on allocating as it does" =>
            values(named(|memory| memory.full_in_s));
    }
}

/// Latencies of timed calls.
pub(super) fn histograms(tally: &Tally, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    if tally.series().next().is_none() {
        return Ok(());
    }
    let mut metric = encoder.encode_descriptor(
        "cuda_call",
        "Latency of CUDA calls by process name and function, of those timed",
        Some(&Unit::Seconds),
        MetricType::Histogram,
    )?;
    for (process, function, series) in tally.series() {
        let bounds = BOUNDS_NS.map(|bound| bound as f64 / 1e9);
        let bounds = bounds.into_iter().chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = bounds.zip(series.buckets).collect();
        metric
            .encode_family(&labels(process, function))?
            .encode_histogram::<NoLabelSet>(
                series.total_ns as f64 / 1e9,
                series.timed(),
                &buckets,
                None,
            )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gtrace_api::{
        CudaCalls, CudaCost, CudaMemory, CudaReport, CudaState, FunctionCost, Status,
    };
    use gtrace_engine::hub::Hub;
    use gtrace_engine::tally::Tally;

    use super::super::{Clients, Format, text};

    #[test]
    fn calls_are_counters_and_histograms_by_name_and_memory_gauges_by_process() {
        let (hub, _commands) = Hub::new(Status::default());
        let off = text(&Arc::clone(&hub), Clients::default(), Format::OpenMetrics).unwrap();
        assert!(!off.contains("cuda"), "{off}");
        let report = CudaReport {
            state: CudaState::Active,
            calls: vec![CudaCalls {
                pid: Some(7),
                comm: "train".into(),
                function: "cuLaunchKernel".into(),
                calls: 5,
                timed: 3,
                errors: 1,
                bytes: 64,
                total_ns: 3_000,
                buckets: vec![(gtrace_abi::bucket_of(1_000) as u16, 3)],
                ..CudaCalls::default()
            }],
            memory: vec![CudaMemory {
                pid: 7,
                comm: "train".into(),
                live_bytes: 4096,
                full_in_s: Some(90.0),
                ..CudaMemory::default()
            }],
            cost: CudaCost {
                functions: vec![FunctionCost {
                    function: "cuLaunchKernel".into(),
                    detached: true,
                    unseen_s: 1.5,
                    ..FunctionCost::default()
                }],
                ..CudaCost::default()
            },
            ..CudaReport::default()
        };
        let mut tally = Tally::default();
        tally.take(&report);
        hub.set_cuda(report, tally);
        let on = text(&hub, Clients::default(), Format::OpenMetrics).unwrap();
        let of = "{process=\"train\",function=\"cuLaunchKernel\"";
        for line in [
            format!("gtrace_cuda_calls_total{of}}} 5.0"),
            format!("gtrace_cuda_call_errors_total{of}}} 1.0"),
            format!("gtrace_cuda_call_data_bytes_total{of}}} 64.0"),
            format!("gtrace_cuda_call_seconds_count{of}}} 3"),
            format!(
                "gtrace_cuda_call_seconds_bucket{{le=\"2.56e-7\",{}}} 0",
                &of[1..]
            ),
            format!(
                "gtrace_cuda_call_seconds_bucket{{le=\"0.000001024\",{}}} 3",
                &of[1..]
            ),
            "gtrace_cuda_memory_live_bytes{process=\"train\",pid=\"7\"} 4096.0".to_owned(),
            "gtrace_cuda_memory_full_in_seconds{process=\"train\",pid=\"7\"} 90.0".to_owned(),
            "gtrace_cuda_api_state{state=\"active\"} 1.0".to_owned(),
            "gtrace_cuda_unseen_seconds_total{function=\"cuLaunchKernel\"} 1.5".to_owned(),
            "gtrace_cuda_sample_interval{function=\"cuLaunchKernel\"} 0.0".to_owned(),
        ] {
            assert!(on.lines().any(|l| l == line), "{line}\n{on}");
        }
    }
}
