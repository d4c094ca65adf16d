//! Readings of a GPU that is made of memory: what the case sets, what NVIDIA's own nvidia-smi prints, and what gtrace
//! shows are the same.

use anyhow::{Context as _, Result, ensure};

use super::real_gsp::{SAMPLE, daemon, gpu, smi};
use crate::guest::Guest;
use crate::guest::real::{GPU, is_before_545, version};

cases! {
    Real "real_gsp_readings" => readings, patience(180);
}

/// A reading of the stand-in, as nvidia-smi and gtrace show it.
struct Reading {
    /// Elements of `nvidia-smi -q -x`, the outer one first.
    path: Vec<&'static str>,
    /// The metric with its labels beside the GPU's.
    metric: &'static str,
    labels: Vec<(&'static str, &'static str)>,
    /// How much of the metric's unit one of nvidia-smi's is.
    factor: f64,
    /// What the control file calls it, and what it is set to.
    set: Option<(&'static str, u32)>,
}

impl Reading {
    /// A line of [`READINGS`].
    fn parse(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ');
        let path = words.next()?.split('.').collect();
        let named = words.next()?;
        let (metric, labels) = named.split_once('{').unwrap_or((named, "}"));
        let labels = labels.strip_suffix('}')?.split_terminator(',');
        let labels: Option<Vec<_>> = labels.map(|label| label.split_once('=')).collect();
        let factor = words.next()?.parse().ok()?;
        let set = match words.next() {
            Some(set) => {
                let (name, value) = set.split_once('=')?;
                Some((name, value.parse().ok()?))
            }
            None => None,
        };
        Some(Self {
            path,
            metric,
            labels: labels?,
            factor,
            set,
        })
    }
}

const MIB: f64 = 1_048_576.0;

/// A reading a line: its path, its metric, the factor, and what is set.
const READINGS: &str = "\
temperature.gpu_temp gtrace_gpu_temperature_celsius{sensor=gpu} 1 temperature=47
utilization.gpu_util gtrace_gpu_utilization_ratio 0.01 gpu_utilization=37
utilization.memory_util gtrace_gpu_memory_utilization_ratio 0.01 memory_utilization=12
performance_state gtrace_gpu_performance_state 1 performance_state=2
pci.replay_counter gtrace_gpu_pcie_replays_total 1 pcie_replays=5
remapped_rows.remapped_row_corr gtrace_gpu_remapped_rows_total{cause=correctable} 1 remapped_correctable=3
remapped_rows.remapped_row_unc gtrace_gpu_remapped_rows_total{cause=uncorrectable} 1 remapped_uncorrectable=2
remapped_rows.remapped_row_pending gtrace_gpu_remapped_rows_pending 1 remap_pending=1
remapped_rows.remapped_row_failure gtrace_gpu_remapped_rows_failure 1
ecc_mode.current_ecc gtrace_gpu_ecc_enabled 1
fb_memory_usage.total gtrace_gpu_memory_size_bytes 1048576
fb_memory_usage.reserved gtrace_gpu_memory_reserved_bytes 1048576
fb_memory_usage.used gtrace_gpu_memory_used_bytes 1048576
fb_memory_usage.free gtrace_gpu_memory_free_bytes 1048576
persistence_mode gtrace_gpu_persistence_mode 1
gpu_power_readings.power_draw gtrace_gpu_power_watts 1
gpu_power_readings.current_power_limit gtrace_gpu_power_limit_watts 1
temperature.gpu_temp_slow_threshold gtrace_gpu_temperature_limit_celsius{limit=slowdown} 1 slowdown_limit=88
temperature.gpu_temp_max_threshold gtrace_gpu_temperature_limit_celsius{limit=shutdown} 1 shutdown_limit=95
clocks.graphics_clock gtrace_gpu_clock_hertz{domain=graphics} 1e6 clock_graphics=1410
clocks.sm_clock gtrace_gpu_clock_hertz{domain=sm} 1e6
clocks.mem_clock gtrace_gpu_clock_hertz{domain=memory} 1e6 clock_memory=2520
clocks_event_reasons.clocks_event_reason_sw_power_cap gtrace_gpu_clock_event_reason{reason=SwPowerCap} 1
clocks_event_reasons.clocks_event_reason_hw_slowdown gtrace_gpu_clock_event_reason{reason=HwSlowdown} 1
clocks_event_reasons.clocks_event_reason_hw_thermal_slowdown gtrace_gpu_clock_event_reason{reason=HwThermalSlowdown} 1
clocks_event_reasons.clocks_event_reason_hw_power_brake_slowdown gtrace_gpu_clock_event_reason{reason=HwPowerBrakeSlowdown} 1
clocks_event_reasons.clocks_event_reason_sync_boost gtrace_gpu_clock_event_reason{reason=SyncBoost} 1
clocks_event_reasons.clocks_event_reason_sw_thermal_slowdown gtrace_gpu_clock_event_reason{reason=SwThermalSlowdown} 1
clocks_event_reasons.clocks_event_reason_gpu_idle gtrace_gpu_clock_event_reason{reason=GpuIdle} 1
pci.tx_util gtrace_gpu_pcie_throughput_bytes_per_second{direction=tx} 1024 pcie_sent=20000
pci.rx_util gtrace_gpu_pcie_throughput_bytes_per_second{direction=rx} 1024 pcie_received=40000
ecc_errors.volatile.dram_correctable gtrace_gpu_ecc_errors_total{scope=volatile,type=corrected} 1 ecc_corrected=3
ecc_errors.volatile.dram_uncorrectable gtrace_gpu_ecc_errors_total{scope=volatile,type=uncorrected} 1 ecc_uncorrected=2
ecc_errors.aggregate.dram_correctable gtrace_gpu_ecc_errors_total{scope=aggregate,type=corrected} 1 ecc_corrected=3
ecc_errors.aggregate.dram_uncorrectable gtrace_gpu_ecc_errors_total{scope=aggregate,type=uncorrected} 1 ecc_uncorrected=2
";

/// What the control file is given in units that nvidia-smi does not print.
const ALSO_SET: &[&str] = &[
    "reading power 123450",
    "reading power_limit 650000",
    // Power cap (4), thermal slowdown by hardware (0x40), which is a slowdown by hardware (8) too.
    "reading throttle_reasons 0x44",
    "reading violation_power 1500",
    "reading violation_sync_boost 2500",
    "reading violation_reliability 3500",
    "reading violation_board_limit 4500",
    "reading violation_low_utilization 5500",
];

/// Metrics that nvidia-smi prints nothing of, and what `ALSO_SET` makes of them.
const WITHOUT_PRINT: &[(&str, &str, f64)] = &[
    ("gtrace_gpu_violation_seconds_total", "power", 1.5),
    ("gtrace_gpu_violation_seconds_total", "sync_boost", 2.5),
    ("gtrace_gpu_violation_seconds_total", "reliability", 3.5),
    ("gtrace_gpu_violation_seconds_total", "board_limit", 4.5),
    ("gtrace_gpu_violation_seconds_total", "low_utilization", 5.5),
];

/// The text of an element within others.
pub(super) fn element<'a>(xml: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(xml, |rest, name| {
        let (_, inside) = rest.split_once(&format!("<{name}>"))?;
        Some(inside.split_once(&format!("</{name}>"))?.0)
    })
}

/// The figure that nvidia-smi means: `47 C`, `P2`, `Yes`.
fn figure(text: &str) -> Option<f64> {
    match text.split(' ').next()? {
        "Yes" | "Enabled" | "Active" => Some(1.0),
        "No" | "Disabled" | "Not" => Some(0.0),
        word => word.trim_start_matches('P').parse().ok(),
    }
}

/// The value of a line of `/metrics` with these labels beside the GPU's.
pub(super) fn metric(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let line = text.lines().find(|line| {
        let own = |(key, value): &(&str, &str)| line.contains(&format!("{key}=\"{value}\""));
        let named = line
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['{', ' ']));
        named && line.contains(GPU) && labels.iter().all(own)
    })?;
    line.rsplit(' ').next()?.parse().ok()
}

fn readings(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let known: Option<Vec<_>> = READINGS.lines().map(Reading::parse).collect();
    let known = known.context("a line that is no reading")?;
    for (name, value) in known.iter().filter_map(|reading| reading.set) {
        guest.gpu(&format!("reading {name} {value}"))?;
    }
    for line in ALSO_SET {
        guest.gpu(line)?;
    }
    let daemon = daemon(guest, SAMPLE)?;
    let xml = smi(&["-q", "-x"])?;
    let metrics = daemon.get_text("/metrics")?;
    let mut wrong = Vec::new();
    let newer = !is_before_545(&version()?)?;
    for reading in &known {
        // Where NVML of the newer driver reads it was not found.
        if newer && reading.path == ["performance_state"] {
            continue;
        }
        let printed = element(&xml, &reading.path).unwrap_or("-");
        let shown = metric(&metrics, reading.metric, &reading.labels);
        let name = reading.path.join(".");
        let ours = shown.map_or_else(|| "-".to_owned(), |shown| shown.to_string());
        guest.note(format!(
            "{name:40} {printed:>12} {ours:>14} {}",
            reading.metric
        ))?;
        let displayed = figure(printed);
        // nvidia-smi prints whole units.
        let unit = if reading.factor == MIB { 1.0 } else { 1e-6 };
        let agrees = displayed
            .zip(shown)
            .is_some_and(|(displayed, shown)| (shown / reading.factor - displayed).abs() < unit);
        let as_set = reading.set.is_none_or(|(name, value)| {
            // It counts on in thousands.
            let factor = match newer && name.starts_with("pcie_") {
                true if name != "pcie_replays" => 1.024,
                _ => 1.0,
            };
            displayed == Some(f64::from(value) * factor)
        });
        if !agrees || !as_set {
            wrong.push(format!(
                "{name}: set {:?}, nvidia-smi {printed}, gtrace {ours}",
                reading.set
            ));
        }
    }
    for (name, policy, expected) in WITHOUT_PRINT {
        let shown = metric(&metrics, name, &[("policy", policy)]);
        if shown != Some(*expected) {
            wrong.push(format!("{name} of {policy}: {shown:?}, set {expected}"));
        }
    }
    ensure!(wrong.is_empty(), "{wrong:#?}\n{:#}", gpu(&daemon)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_reading() {
        for line in READINGS.lines() {
            assert!(Reading::parse(line).is_some(), "{line}");
        }
    }
}
