use std::collections::VecDeque;
use std::time::Duration;

use gtrace_event::{Kind, Severity, Timestamp};

use super::{Findings, Reading, rise};
use crate::{GpuSample, NvLinkSample};

/// NVLink states and error counters.
pub(super) fn observe(last: Option<&GpuSample>, now: &GpuSample, found: &mut Findings<'_>) {
    let Some(last) = last else { return };
    for link in &now.nvlinks {
        let Some(old) = last.nvlinks.iter().find(|l| l.link == link.link) else {
            continue;
        };
        if old.active == Some(true) && link.active == Some(false) {
            let text = format!("NVLink {} went down", link.link);
            let reading = Reading {
                value: Some(0.0),
                previous: Some(1.0),
                ..Reading::of("gtrace_gpu_nvlink_active")
            };
            let event = found.add((Kind::Nvlink, Severity::Critical), text, reading, 1);
            event.detail.fabric.link = Some(i64::from(link.link));
        }
        errors(old, link, found);
    }
}

fn errors(old: &NvLinkSample, new: &NvLinkSample, found: &mut Findings<'_>) {
    let counters = [
        ("recovery", old.recovery, new.recovery),
        ("replay", old.replay, new.replay),
        ("crc_flit", old.crc_flit, new.crc_flit),
        ("crc_data", old.crc_data, new.crc_data),
    ];
    for (name, old_count, new_count) in counters {
        if let (count @ 1.., Some(value)) = (rise(old_count, new_count), new_count) {
            // A recovery trains the link anew; the others repeat a packet.
            let severity = if name == "recovery" {
                Severity::Warning
            } else {
                Severity::Info
            };
            let text = format!("NVLink {} counted {name} errors", new.link);
            let reading = Reading::counter("gtrace_gpu_nvlink_errors", old_count, value);
            let event = found.add((Kind::Nvlink, severity), text, reading, count);
            event.detail.fabric.link = Some(i64::from(new.link));
        }
    }
}

/// PCIe replays within [`WINDOW`] that are more than noise: DCGM's health check uses the same
/// rate, 8 a minute.
const MAX_REPLAYS: u64 = 8;
const WINDOW: Duration = Duration::from_secs(60);
/// Readings kept at most, however fast the samples come.
const MAX_READINGS: usize = 128;

/// The PCIe replay counter over the last minute.
#[derive(Debug, Default)]
pub(super) struct Replays(VecDeque<(Timestamp, u64)>);

impl Replays {
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        let Some(count) = now.pcie_replays else {
            return;
        };
        if self.0.back().is_some_and(|&(_, newest)| count < newest) {
            self.0.clear();
            self.0.push_back((now.time, 0));
        }
        // One reading that is older than the window stays, so that the window is full.
        while self
            .0
            .get(1)
            .is_some_and(|&(t, _)| now.time.duration_since(t).unsigned_abs() >= WINDOW)
            || self.0.len() >= MAX_READINGS
        {
            self.0.pop_front();
        }
        let (since, oldest) = self.0.front().copied().unwrap_or((now.time, count));
        self.0.push_back((now.time, count));
        let rose = count - oldest.min(count);
        // After a gap in the samples the rise is spread over all of it.
        let over = now.time.duration_since(since).unsigned_abs().max(WINDOW);
        let a_minute = rose as f64 * WINDOW.as_secs_f64() / over.as_secs_f64();
        if a_minute > MAX_REPLAYS as f64 {
            self.0.clear();
            self.0.push_back((now.time, count));
            let reading = Reading {
                limit: Some(MAX_REPLAYS as f64),
                ..Reading::counter("gtrace_gpu_pcie_replays", Some(oldest), count)
            };
            let text = "The PCIe replay counter rose faster than 8 a minute";
            found.add((Kind::PcieLink, Severity::Warning), text, reading, rose);
        }
    }
}
