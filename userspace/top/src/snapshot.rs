//! One reading as text.

use gtrace_api::ProcessUse;

use super::update::Readings;
use super::{process_lines, processes, view};
use crate::Sort;

/// The processes that fit `filter`, in order, without the buckets of their latencies.
pub fn chosen(readings: &Readings, filter: &str, sort: Sort) -> Vec<ProcessUse> {
    let fits = |process: &&ProcessUse| processes::fits(process, filter);
    let mut chosen: Vec<_> = readings.processes.iter().filter(fits).cloned().collect();
    processes::sort_once(&mut chosen, sort);
    for row in &mut chosen {
        for layer in [&mut row.api, &mut row.driver].into_iter().flatten() {
            layer.buckets.clear();
        }
    }
    chosen
}

/// Tables of GPUs, these processes, driver calls and counters.
pub fn snapshot(readings: &Readings, processes: &[ProcessUse]) -> String {
    let mut text = String::new();
    for (title, lines) in [
        ("GPUS", view::gpu_lines(&readings.gpus)),
        ("PROCESSES", process_lines::lines_once(processes)),
        ("DRIVER CALLS", view::call_lines(&readings.calls)),
        ("COUNTERS", view::counter_lines(&readings.counters)),
    ] {
        text.push_str(&format!("\n{title}\n"));
        for line in lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}
